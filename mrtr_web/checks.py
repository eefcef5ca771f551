"""Start-up checks: settings that would break a promise of the design."""

from typing import Any

from django.conf import settings
from django.core import checks


@checks.register(checks.Tags.security)
def sound_settings(**_: Any) -> list[checks.CheckMessage]:
    """Refuses request-wide transactions, which would hold a connection while a leg is awaited."""
    found: list[checks.CheckMessage] = []
    if any(database.get("ATOMIC_REQUESTS") for database in settings.DATABASES.values()):
        found.append(
            checks.Error("ATOMIC_REQUESTS must be off.", hint="A leg is awaited in a request.", id="mrtr_web.E001")
        )
    if len(settings.SECRET_KEY) < 50 or settings.SECRET_KEY.startswith("django-insecure-"):
        found.append(
            checks.Error(
                "SECRET_KEY is too short.",
                hint="Use 50 random characters or more: it is the server's share of every record's key.",
                id="mrtr_web.E002",
            )
        )
    return found
