"""Puts the demo server together: an ASGI app with the MCP endpoint at /mcp and its pages at /pay/."""

import hashlib

from mcp.server.mcpserver import MCPServer, RequestStateSecurity
from starlette.types import ASGIApp

from mrtr_web.demo import desk
from mrtr_web.demo.payments import Payments
from mrtr_web.demo.trip import Trips

STATE_TTL = 12 * 3600.0
"""A person may have lunch, or a night's sleep, between two rounds (seconds)."""


def build(key: str, *, pages_host: str = "localhost") -> ASGIApp:
    """The app. Every process that is given the same key can go on where another one stopped.

    `pages_host` must not be the host of the web front end: cookies ignore ports.
    """
    sealing = RequestStateSecurity(keys=[hashlib.sha256(key.encode()).digest()], ttl=STATE_TTL, audience="mrtr-demo")
    server = MCPServer(
        "mrtr-demo",
        title="Demo travel desk",
        version="1.0",
        instructions="A make-believe travel desk. Nothing is booked and nothing is paid.",
        log_level="WARNING",
        request_state_security=sealing,
    )
    payments = Payments(pages_host)
    payments.add_to(server)
    Trips(payments).add_to(server)
    desk.add_to(server)
    return server.streamable_http_app(stateless_http=True)
