"""/metrics, as a plain ASGI application: what Prometheus reads, for whoever has MRTR_METRICS_TOKEN.

Before Django, whose middleware wants the public host and https, while a scrape goes to one process at its own port.
"""

import hmac

from django.conf import settings
from django.db import DatabaseError
from django.db.models import Count, Sum
from django.db.models.functions import Length
from prometheus_client import CONTENT_TYPE_LATEST, CollectorRegistry, Gauge, generate_latest

from mrtr_web import measures
from mrtr_web.flow import OPEN
from mrtr_web.handler import Scope, Send
from mrtr_web.models import Flow, SealedRecord
from mrtr_web.threads import threaded

PATH = "/metrics"
METHODS = ("GET", "HEAD")


def is_asked(scope: Scope) -> bool:
    """Whether this is for us: without a token there is no such page, and Django says so."""
    token = settings.CONFIG.metrics_token.get_secret_value()
    return scope["type"] == "http" and scope["path"] == PATH and bool(token)


async def page(scope: Scope, send: Send) -> None:
    if scope["method"] not in METHODS:
        return await _answer(send, 405, {"allow": ", ".join(METHODS)})
    if not _may(scope):
        return await _answer(send, 401, {"www-authenticate": 'Bearer realm="metrics"'})
    return await _answer(send, 200, {"content-type": CONTENT_TYPE_LATEST}, await figures())


def _may(scope: Scope) -> bool:
    given = [value for name, value in scope["headers"] if name == b"authorization"]
    scheme, _, token = given[0].partition(b" ") if len(given) == 1 else (b"", b"", b"")
    wanted = settings.CONFIG.metrics_token.get_secret_value().encode()
    return hmac.compare_digest(token.strip(), wanted) and scheme.lower() == b"bearer"


async def _answer(send: Send, status: int, headers: dict[str, str], body: bytes = b"") -> None:
    named = {"content-type": "text/plain; charset=utf-8", "content-length": str(len(body))} | headers
    lines = [(name.encode(), value.encode()) for name, value in named.items()]
    await send({"type": "http.response.start", "status": status, "headers": lines})
    await send({"type": "http.response.body", "body": body})


async def figures() -> bytes:
    """This process's own, and those of the database, which every process tells alike."""
    shared = CollectorRegistry()
    is_up = Gauge("mrtr_database_up", "Whether this process reaches the database.", registry=shared)
    try:
        await threaded(_read, shared)
        is_up.set(1)
    except DatabaseError:  # what the process itself counted is still told
        is_up.set(0)
    return generate_latest(measures.REGISTRY) + generate_latest(shared)


def _read(shared: CollectorRegistry) -> None:
    """Two queries; sizes are read without what they are the sizes of."""
    found = dict(Flow.objects.filter(state__in=OPEN).values_list("state").annotate(Count("pk")))
    size = SealedRecord.objects.aggregate(size=Sum(Length("sealed")))["size"] or 0
    by_state = Gauge(
        "mrtr_flows_open",
        "Requests of people that are not over; the same from every process.",
        ["state"],
        registry=shared,
    )
    for state in sorted(OPEN):
        by_state.labels(state).set(found.get(state, 0))
    Gauge("mrtr_sealed_bytes", "Sealed records of requests; the same from every process.", registry=shared).set(size)
