"""The review desk: who may review what. Rights are per group; a reviewer sees facts of a request, never content."""

from django.contrib.auth.models import AbstractUser, Permission
from django.db.models import Q, QuerySet

from mrtr_web.models import Flow, Server

PERMISSION = "mrtr_web.review_flow"


def is_reviewer(user: AbstractUser) -> bool:
    """Whether this person may use the desk at all; servers() says for what."""
    return user.has_perm(PERMISSION)


def servers(user: AbstractUser) -> QuerySet[Server]:
    """The servers whose requests this person may review, also those that are switched off.

    Through a group: the servers of that group. In person: those that they may use. A superuser: all.
    """
    if not user.is_active:
        return Server.objects.none()
    if user.is_superuser:
        return Server.objects.all()
    app, name = PERMISSION.split(".")
    given = {"codename": name, "content_type__app_label": app}
    through = user.groups.filter(permissions__in=Permission.objects.filter(**given))
    allowed = Q(groups__in=through)
    if user.user_permissions.filter(**given).exists():
        allowed |= Q(groups=None) | Q(groups__in=user.groups.all())
    return Server.objects.filter(pk__in=Server.objects.filter(allowed).values("pk"))


def flows(user: AbstractUser) -> QuerySet[Flow]:
    """The requests that this person may review."""
    if user.is_active and user.is_superuser:
        return Flow.objects.all()
    return Flow.objects.filter(server__in=servers(user))
