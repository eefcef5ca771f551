"""Puts the demo server together: an ASGI app with the MCP endpoint at /mcp and pages of its own."""

import hashlib

from mcp.server.caching import CacheableMethod, CacheHint
from mcp.server.mcpserver import MCPServer, RequestStateSecurity
from starlette.types import ASGIApp

from mrtr_web.demo import desk, gallery, outing, pages, suite
from mrtr_web.demo.payments import Payments
from mrtr_web.demo.people import Door, principal
from mrtr_web.demo.store import Store
from mrtr_web.demo.trip import Trips
from mrtr_web.demo.voucher import Vouchers
from mrtr_web.demo.walk import Walks

STATE_TTL = 3600.0
"""A person may have lunch between two rounds (seconds)."""
LISTINGS: tuple[CacheableMethod, ...] = ("tools/list", "prompts/list", "resources/list", "resources/templates/list")
"""They say the same to everybody."""


def build(
    key: str,
    *,
    pages_host: str = "localhost",
    store: str = ":memory:",
    state_ttl: float = STATE_TTL,
    with_suite: bool = False,
) -> ASGIApp:
    """The app. Every process that is given the same key and store can go on where another one stopped.

    `pages_host` must not be the host of the web front end: cookies ignore ports. `state_ttl` is in seconds.
    """
    server = MCPServer(
        "mrtr-demo",
        title="Demo travel desk",
        version="1.0",
        instructions="A make-believe travel desk. Nothing is booked and nothing is paid.",
        log_level="WARNING",
        request_state_security=_sealing(key, state_ttl),
        cache_hints=dict.fromkeys(LISTINGS, CacheHint(scope="public")),
    )
    kept = Store(store)
    pages.add_to(server)
    Payments(kept).add_to(server)
    Trips(kept, pages_host).add_to(server)
    Vouchers(kept).add_to(server)
    Walks(pages_host).add_to(server)
    desk.add_to(server)
    gallery.add_to(server)
    outing.add_to(server)
    if with_suite:
        suite.add_to(server)
    return Door(server.streamable_http_app(stateless_http=True))


def _sealing(key: str, ttl: float) -> RequestStateSecurity:
    """AES-GCM, bound to the person, the method, the name and the arguments, for one round's time."""
    keys = [hashlib.sha256(key.encode()).digest()]
    return RequestStateSecurity(keys=keys, ttl=ttl, audience="mrtr-demo", bind_principal=principal)
