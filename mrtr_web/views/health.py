"""Is this process alive, and can it work."""

import concurrent.futures

from django.conf import settings
from django.db import DatabaseError
from django.http import HttpRequest, HttpResponse

from mrtr_web import line
from mrtr_web.models import Session

PATIENCE = 1.0
"""Seconds for Redis."""
_aside = concurrent.futures.ThreadPoolExecutor(1, thread_name_prefix="ready")


def healthz(request: HttpRequest) -> HttpResponse:
    return HttpResponse("ok", content_type="text/plain")


def readyz(request: HttpRequest) -> HttpResponse:
    """503 without the database alone: Redis is told of, but pages work without it (docs/decisions/0016)."""
    url = settings.CONFIG.redis_url.get_secret_value()
    asked = _aside.submit(line.ping, url, PATIENCE) if url else None
    has_database = _has_database()
    down = [*([] if has_database else ["database"]), *([] if asked is None or _is_well(asked) else ["redis"])]
    words = "\n".join(f"{part}: down" for part in down) or "ok"
    return HttpResponse(words, status=200 if has_database else 503, content_type="text/plain")


def _has_database() -> bool:
    try:
        Session.objects.exists()  # also where the database is there and nobody has made its tables
    except DatabaseError:
        return False
    return True


def _is_well(asked: "concurrent.futures.Future[None]") -> bool:
    """Within PATIENCE, also where a name takes longer to be looked up."""
    try:
        asked.result(PATIENCE)
    except Exception:  # whatever Redis raises; its text may hold the address
        asked.cancel()
        return False
    return True
