"""What ties people to their accounts at a sign-in provider stays in the database where single sign-on was turned off.

Django then knows nothing of it, and the database would refuse to delete such a person.
"""

from typing import Any

from django.apps import apps
from django.conf import settings
from django.db import connection
from django.db.models.signals import pre_delete

TABLE = "socialaccount_socialaccount"


def _forget(instance: Any, **_: Any) -> None:
    if apps.is_installed("allauth.socialaccount") or TABLE not in connection.introspection.table_names():
        return
    with connection.cursor() as cursor:
        cursor.execute(f"DELETE FROM {TABLE} WHERE user_id = %s", [instance.pk])  # a constant  # nosec B608


pre_delete.connect(_forget, sender=settings.AUTH_USER_MODEL, dispatch_uid="mrtr_web.linked")
