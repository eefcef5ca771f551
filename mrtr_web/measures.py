"""What this process counts for whoever watches it: numbers by server, route and kind of outcome, nothing of people.

Each process counts for itself, from its start; docs/deploy/metrics.md says how to add them up. A label is one of few
words: the slug of a server that is set up, the name of a route, a word of the code. Never an id, a path or a name.
"""

import contextlib
import time
from collections.abc import Iterator

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, ProcessCollector

REGISTRY = CollectorRegistry()
ProcessCollector(registry=REGISTRY)

LEGS = Counter("mrtr_legs", "Legs that ended, each once.", ["server", "outcome"], registry=REGISTRY)
LEG_SECONDS = Histogram(
    "mrtr_leg_seconds",
    "From when a leg may leave until its server answered, or it broke or was given up.",
    ["server"],
    buckets=(0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300, 900, 1800),
    registry=REGISTRY,
)
ROUNDS = Counter("mrtr_rounds", "Rounds in which a server asked a person.", ["server"], registry=REGISTRY)
QUEUED = Gauge("mrtr_legs_queued", "Legs that wait for their turn at a server.", ["server"], registry=REGISTRY)
OUT = Gauge("mrtr_legs_out", "Legs that are with a server.", ["server"], registry=REGISTRY)
LEASES = Counter("mrtr_leases_expired", "Legs whose process gave no sign of life any more.", registry=REGISTRY)
LISTINGS = Counter("mrtr_listings", "Looks at what a server offers, kept or asked for.", ["source"], registry=REGISTRY)
REFUSED = Counter("mrtr_refused", "What was refused because of a limit.", ["limit"], registry=REGISTRY)
FAILED_SIGN_INS = Counter(
    "mrtr_sign_ins_failed", "Sign-ins by password that failed, also for having failed too often.", registry=REGISTRY
)
SOCKETS = Gauge("mrtr_sockets", "WebSockets that are open.", registry=REGISTRY)
REQUESTS = Counter("mrtr_requests", "Requests to pages.", ["route", "status"], registry=REGISTRY)
REQUEST_SECONDS = Histogram(
    "mrtr_request_seconds",
    "From the start of a page's work until its answer is ready.",
    ["route"],
    buckets=(0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10),
    registry=REGISTRY,
)


@contextlib.contextmanager
def under_way(server: str) -> Iterator[None]:
    """Around one exchange with a server, however it ends."""
    start = time.monotonic()
    with OUT.labels(server).track_inprogress():
        try:
            yield
        finally:
            LEG_SECONDS.labels(server).observe(time.monotonic() - start)


def answered(route: str, status: int, seconds: float) -> None:
    """A page was answered; of the status only its class counts."""
    REQUESTS.labels(route, f"{status // 100}xx").inc()
    REQUEST_SECONDS.labels(route).observe(seconds)
