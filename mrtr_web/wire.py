"""One JSON-RPC request of MCP 2026-07-28 over the SDK's transport and dispatcher, on a connection of its own.

compose() writes it, exchange() sends it; the Screen underneath keeps in the Wire what came of it.
"""

import contextlib
import json
import logging
from collections.abc import AsyncGenerator, Mapping
from dataclasses import dataclass, field
from typing import Any

import anyio
import mcp_types
from mcp.client.streamable_http import streamable_http_client
from mcp.shared import inbound
from mcp.shared.exceptions import MCPError
from mcp.shared.jsonrpc_dispatcher import JSONRPCDispatcher

from mrtr_web import egress
from mrtr_web.screen import Fault, Screen, Wire

logger = logging.getLogger(__name__)

REVISION = "2026-07-28"
CLIENT_INFO = {"name": "mrtr_web", "version": "0.1.0"}


class Unsendable(Exception):
    """The request cannot be written as JSON and HTTP headers."""


@dataclass(frozen=True, slots=True, repr=False)
class Route:
    """Where a request goes, with the endpoint's own headers, and how long a silence is borne (seconds)."""

    url: str
    headers: Mapping[str, str] = field(repr=False)
    policy: egress.Policy
    silence: float


@dataclass(frozen=True, slots=True, repr=False)
class Message:
    """A request ready to be sent: `headers` are those that mirror it."""

    method: str
    params: dict[str, Any]
    headers: dict[str, str]


def compose(
    request_id: str,
    method: str,
    params: Mapping[str, Any],
    capabilities: Mapping[str, Any],
    input_schema: Mapping[str, Any] | None = None,
) -> Message:
    """The request with everything that each attempt carries. Raises Unsendable."""
    meta = {
        mcp_types.PROTOCOL_VERSION_META_KEY: REVISION,
        mcp_types.CLIENT_INFO_META_KEY: CLIENT_INFO,
        mcp_types.CLIENT_CAPABILITIES_META_KEY: dict(capabilities),
        "progressToken": request_id,
    }
    try:
        # Half a surrogate pair, NaN, or depth without end cannot be written: find out before connecting.
        json.dumps(params, ensure_ascii=False, allow_nan=False).encode()
        return Message(method, {**params, "_meta": meta}, _headers(method, params, input_schema))
    except (ValueError, TypeError, RecursionError):
        raise Unsendable from None


def _headers(method: str, params: Mapping[str, Any], input_schema: Mapping[str, Any] | None) -> dict[str, str]:
    """The headers that mirror the request (HT-3 to HT-6)."""
    headers = {inbound.MCP_PROTOCOL_VERSION_HEADER: REVISION, inbound.MCP_METHOD_HEADER: method}
    name = params.get(inbound.NAME_BEARING_METHODS.get(method, ""))
    if isinstance(name, str):
        headers[inbound.MCP_NAME_HEADER] = inbound.encode_header_value(name)
    arguments = params.get("arguments")
    if method != "tools/call" or input_schema is None or not isinstance(arguments, Mapping):
        return headers
    if inbound.find_invalid_x_mcp_header(input_schema) is None:
        headers |= inbound.mcp_param_headers(inbound.x_mcp_header_map(input_schema), arguments)
    return headers


async def exchange(route: Route, message: Message, wire: Wire) -> None:
    """Send one request; the wire tells the rest. Cancelling this closes the POST."""
    try:
        async with _dispatcher(route, wire) as dispatcher:
            with contextlib.suppress(MCPError):  # the Screen's own, and empty
                await dispatcher.send_raw_request(
                    message.method,
                    message.params,
                    {"request_id": wire.request_id, "headers": message.headers},
                )
    except Exception as error:
        # The boundary to the SDK: what it lets out may carry content, so the kind alone is kept.
        logger.warning("the transport failed: %s", ", ".join(sorted(_kinds(error))))
    if wire.answer is None and wire.fault is None:
        wire.fault = _unexplained(wire)


def _kinds(error: BaseException) -> set[str]:
    """The names of the exceptions in a group; anything outside the SDK's `async with` arrives as one."""
    if isinstance(error, BaseExceptionGroup):
        return set[str]().union(*map(_kinds, error.exceptions))
    return {type(error).__name__}


def _unexplained(wire: Wire) -> Fault:
    if not wire.begun:
        return Fault("unsent", "unsendable")
    if wire.status is not None and 300 <= wire.status < 400:
        return Fault("broken", f"HT-{wire.status}")  # a redirect that must not be followed
    return Fault("lost", "cut")


@contextlib.asynccontextmanager
async def _dispatcher(route: Route, wire: Wire) -> AsyncGenerator[JSONRPCDispatcher]:
    screen = Screen(route.policy, wire)
    async with (
        egress.client(route.policy, route.headers, read_timeout=route.silence, transport=screen) as http,
        streamable_http_client(route.url, http_client=http, terminate_on_close=False) as (read, write),
        anyio.create_task_group() as tasks,
    ):
        dispatcher: JSONRPCDispatcher = JSONRPCDispatcher(read, write)
        await tasks.start(dispatcher.run, _nothing, _nothing)
        try:
            yield dispatcher
        finally:
            tasks.cancel_scope.cancel()


async def _nothing(*_: object) -> dict[str, Any]:
    """For requests and notifications, of which the Screen lets none through."""
    return {}


def quiet_libraries() -> None:
    """Shut the libraries' loggers: at every level they write bodies, URLs and tracebacks with content."""
    for name in ("mcp", "httpx2", "httpcore2"):
        library = logging.getLogger(name)
        library.handlers = [logging.NullHandler()]
        library.propagate = False
        library.setLevel(logging.CRITICAL + 1)


quiet_libraries()
