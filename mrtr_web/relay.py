"""One leg: one request of MCP 2026-07-28 to a server on a fresh connection, and its raw result.

Nothing survives between legs. Each attempt has its own id and carries everything: the exact capabilities,
params just as given, the headers that mirror them. Two refusals are repaired, once each, because the server
did not act: -32022 where it does speak our revision, and -32020 (headers) after a look at the tool's schema.

RelayError     .sent, .received (JSON-RPC messages, for their owner's eyes), .size (bytes received), .status (HTTP)
├─ Unsent      not acted upon. .reason: refused dns tls blocked connect_timeout unsendable
│              proxy proxy_login proxy_refused credential renewal unauthorized forbidden too_many switched_off
│              moved database;
│              .retry_after: seconds; .challenge: what a server asks for that let nobody in
├─ Lost        bytes were sent, then the leg broke. .reason: cut timeout too_big encoding server_error
├─ Refused     a JSON-RPC error. .code; .message and .data are text of the server
├─ LegacyServer   it speaks only older revisions
└─ Broken      the answer breaks a rule of the specification. .rule: its id, or HT- and the HTTP status

str(), repr() and args of all of them hold codes only.
"""

import uuid
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import anyio

from mrtr_web import egress
from mrtr_web.access import Challenge
from mrtr_web.lifetimes import Lifetime, lifetime
from mrtr_web.rawjson import MAX_ENTRIES as MAX_ENTRIES
from mrtr_web.screen import Fault, Wire
from mrtr_web.screen import Progress as Progress
from mrtr_web.wire import REVISION as REVISION
from mrtr_web.wire import Route, Unsendable, compose, exchange
from mrtr_web.wire import quiet_libraries as quiet_libraries

CAPABILITIES: Mapping[str, Any] = {"elicitation": {"form": {}, "url": {}}}
LISTED = {
    "tools/list": "tools",
    "prompts/list": "prompts",
    "resources/list": "resources",
    "resources/templates/list": "resourceTemplates",
}
MAX_PAGES = 100

HEADER_MISMATCH, MISSING_CAPABILITY, UNSUPPORTED_VERSION = -32020, -32021, -32022
INTERNAL_ERROR = -32603


@dataclass(frozen=True, slots=True)
class Endpoint:
    url: str
    headers: Mapping[str, str] | None = field(default_factory=dict, repr=False)
    """None: there is a credential, but it cannot be had, so nothing is sent."""
    private: tuple[str, ...] = ()
    """Networks that the address may be in although they are private."""


@dataclass(frozen=True, slots=True)
class Limits:
    """In seconds and bytes. `silence`: without a byte; `total` and `max_bytes`: of all attempts together."""

    connect: float
    silence: float
    total: float
    max_bytes: int


@dataclass(frozen=True, slots=True, repr=False)
class Call:
    """What to send. `params` without _meta, with inputResponses and requestState where they belong."""

    method: str
    params: dict[str, Any]
    capabilities: dict[str, Any]
    input_schema: dict[str, Any] | None = None


@dataclass(frozen=True, slots=True, repr=False)
class Reply:
    """The raw result object, every message that went out and came in for it, and how many bytes came in."""

    result: dict[str, Any]
    sent: tuple[dict[str, Any], ...]
    received: tuple[dict[str, Any], ...]
    size: int


@dataclass(frozen=True, slots=True)
class Listed:
    """The raw entries of a listing, whatever they are (None: one cannot be read), and how long they serve."""

    entries: list[Any]
    lifetime: Lifetime


class RelayError(Exception):
    """A leg without a result."""

    def __init__(self, *code: str) -> None:
        super().__init__(*code)
        self.sent: tuple[dict[str, Any], ...] = ()
        self.received: tuple[dict[str, Any], ...] = ()
        self.size = 0
        self.status: int | None = None


class Unsent(RelayError):
    """The request did not reach the server, or was refused before the server acted."""

    def __init__(self, reason: str, retry_after: int | None = None, challenge: Challenge | None = None) -> None:
        super().__init__(reason)
        self.reason = reason
        self.retry_after = retry_after
        self.challenge = challenge


class Lost(RelayError):
    """Bytes were sent, then the leg broke: nobody knows whether the server acted."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


class Refused(RelayError):
    """The server answered with a JSON-RPC error."""

    def __init__(self, code: int, message: str = "", data: Any = None) -> None:
        super().__init__(str(code))
        self.code = code
        self.message = message
        self.data = data


class LegacyServer(RelayError):
    """The server speaks only older revisions of MCP."""


class Broken(RelayError):
    """The answer breaks a rule of the specification."""

    def __init__(self, rule: str) -> None:
        super().__init__(rule)
        self.rule = rule


async def send(
    endpoint: Endpoint, call: Call, limits: Limits, on_progress: Callable[[Progress], None] | None = None
) -> Reply:
    """Send one call. Cancelling it closes the stream, which tells the server to stop. Raises RelayError.

    `on_progress` is called from the event loop and must neither block nor raise.
    """
    leg = _Leg(endpoint, limits, call.capabilities, on_progress)
    try:
        result = await leg.ask(call.method, call.params, call.input_schema)
    except Refused as refused:
        schema = await leg.newer_schema(refused, call)
        if schema is None:
            raise leg.noted(refused) from None
        result = await leg.ask(call.method, call.params, schema)
    return Reply(result, tuple(leg.sent), tuple(leg.received), leg.size)


async def discover(
    endpoint: Endpoint, limits: Limits, *, capabilities: Mapping[str, Any] = CAPABILITIES
) -> dict[str, Any]:
    """The raw DiscoverResult. Raises LegacyServer where only older revisions are spoken, or RelayError."""
    leg = _Leg(endpoint, limits, capabilities)
    try:
        result = await leg.complete("server/discover", {})
    except (Refused, Broken) as error:
        if not _looks_legacy(error):
            raise
        raise leg.noted(LegacyServer()) from None
    versions = result.get("supportedVersions")
    if not isinstance(versions, list):
        raise leg.noted(Broken("VE-2"))
    if REVISION not in versions:
        raise leg.noted(LegacyServer())
    return result


def _looks_legacy(error: Refused | Broken) -> bool:
    """Whether a refused server/discover means an older server, rather than trouble with this one (VE-4)."""
    status = error.status or 0
    if isinstance(error, Broken):
        return 400 <= status < 500
    modern = (HEADER_MISMATCH, MISSING_CAPABILITY, UNSUPPORTED_VERSION, INTERNAL_ERROR)
    return status < 500 and error.code not in modern


async def listing(
    endpoint: Endpoint, limits: Limits, method: str, *, capabilities: Mapping[str, Any] = CAPABILITIES
) -> Listed:
    """A tools/list, prompts/list, resources/list or resources/templates/list, with all its pages.

    One more than MAX_ENTRIES means that there are more.
    """
    pages = await _Leg(endpoint, limits, capabilities).pages(method)
    found = [entry for page in pages for entry in page[LISTED[method]]]
    return Listed(found[: MAX_ENTRIES + 1], lifetime(*pages))


async def complete(
    endpoint: Endpoint, limits: Limits, params: dict[str, Any], *, capabilities: Mapping[str, Any]
) -> list[str]:
    """What the server suggests for a half-typed value (CO-1): the texts among its values. Raises RelayError."""
    leg = _Leg(endpoint, limits, capabilities)
    result = await leg.complete("completion/complete", params)
    completion = result.get("completion")
    values = completion.get("values") if isinstance(completion, dict) else None
    if not isinstance(values, list):
        raise leg.noted(Broken("CO-1"))
    return [value for value in values if isinstance(value, str)]


class _Leg:
    """The attempts at one call within its limits: what went out, what came in, and what went wrong."""

    def __init__(
        self,
        endpoint: Endpoint,
        limits: Limits,
        capabilities: Mapping[str, Any],
        on_progress: Callable[[Progress], None] | None = None,
    ) -> None:
        self.endpoint = endpoint
        self.limits = limits
        self.capabilities = capabilities
        self.on_progress = on_progress
        self.deadline = anyio.current_time() + limits.total
        self.size = 0
        self.status: int | None = None
        self.sent: list[dict[str, Any]] = []
        self.received: list[dict[str, Any]] = []

    def noted(self, error: RelayError) -> RelayError:
        error.sent, error.received, error.size = tuple(self.sent), tuple(self.received), self.size
        error.status = self.status if error.status is None else error.status
        return error

    async def ask(
        self, method: str, params: Mapping[str, Any], input_schema: Mapping[str, Any] | None = None
    ) -> dict[str, Any]:
        """The raw result of one request; it is sent once more where the server mistook our revision."""
        answer = await self._attempt(method, params, input_schema)
        if _mistaken(answer):
            answer = await self._attempt(method, params, input_schema)
        if "error" in answer:
            raise self.noted(_failure(answer["error"]))
        result: dict[str, Any] = answer["result"]
        return result

    async def complete(self, method: str, params: Mapping[str, Any]) -> dict[str, Any]:
        """The raw result of a request that may not be answered with a round (MR-11, MR-12)."""
        result = await self.ask(method, params)
        kind = result.get("resultType", "complete")
        if kind != "complete":
            raise self.noted(Broken("MR-11" if kind == "input_required" else "MR-12"))
        return result

    async def newer_schema(self, refused: Refused, call: Call) -> dict[str, Any] | None:
        """The tool's schema as it is now, where its headers were refused (HT-8); None: nothing to repair."""
        if refused.code != HEADER_MISMATCH or call.method != "tools/call":
            return None
        try:
            pages = await self.pages("tools/list")
        except RelayError:  # the call was refused for certain, whatever became of the listing
            return None
        for tool in (tool for page in pages for tool in page["tools"] if isinstance(tool, dict)):
            schema = tool.get("inputSchema")
            if tool.get("name") == call.params.get("name") and isinstance(schema, dict):
                return schema
        return None

    async def pages(self, method: str) -> list[dict[str, Any]]:
        """The raw pages of a listing, to its end or until there is more of it than we take."""
        found: list[dict[str, Any]] = []
        size, params, cursors = 0, dict[str, Any](), set[str]()
        for _ in range(MAX_PAGES):
            page = await self.complete(method, params)
            entries, cursor = page.get(LISTED[method]), page.get("nextCursor")
            if not isinstance(entries, list):
                raise self.noted(Broken("PG-1"))
            found.append(page)
            size += len(entries)
            if cursor is None or size > MAX_ENTRIES:
                return found
            if not isinstance(cursor, str) or cursor in cursors:
                break
            cursors.add(cursor)
            params = {"cursor": cursor}
        raise self.noted(Broken("PG-1"))

    async def _attempt(
        self, method: str, params: Mapping[str, Any], input_schema: Mapping[str, Any] | None
    ) -> dict[str, Any]:
        """One exchange under a new id: the answer, with a result or an error in it."""
        wire = Wire(f"r{uuid.uuid4().hex}", self.on_progress, is_listing=method in LISTED)
        try:
            message = compose(wire.request_id, method, params, self.capabilities, input_schema)
        except Unsendable:
            raise self.noted(Unsent("unsendable")) from None
        with anyio.CancelScope(deadline=self.deadline) as scope:
            await exchange(self._route(), message, wire)
        if scope.cancelled_caught and wire.fault is None:
            wire.fault = Fault("lost", "timeout") if wire.begun else Fault("unsent", "connect_timeout")
        self.size += wire.size
        self.status = wire.status
        if wire.sent is not None:
            self.sent.append(wire.sent)
        if wire.answer is None:
            assert wire.fault is not None
            raise self.noted(_error(wire.fault))
        self.received.append(wire.answer)
        return wire.answer

    def _route(self) -> Route:
        if self.endpoint.headers is None:
            raise self.noted(Unsent("credential"))
        left = max(self.limits.max_bytes - self.size, 0)
        policy = egress.Policy(self.endpoint.private, left, self.limits.connect)
        return Route(self.endpoint.url, self.endpoint.headers, policy, self.limits.silence)


def _mistaken(answer: Mapping[str, Any]) -> bool:
    """Whether the server refused our revision although it speaks it."""
    error = answer.get("error", {})
    return error.get("code") == UNSUPPORTED_VERSION and _speaks_ours(error)


def _speaks_ours(error: Mapping[str, Any]) -> bool:
    data = error.get("data")
    supported = data.get("supported") if isinstance(data, dict) else None
    return isinstance(supported, list) and REVISION in supported


def _failure(error: Mapping[str, Any]) -> RelayError:
    if error["code"] == UNSUPPORTED_VERSION and not _speaks_ours(error):
        return LegacyServer()
    message = error.get("message")
    return Refused(error["code"], message if isinstance(message, str) else "", error.get("data"))


def _error(fault: Fault) -> RelayError:
    match fault.kind:
        case "unsent":
            return Unsent(fault.code, fault.retry_after, fault.challenge)
        case "lost":
            return Lost(fault.code)
        case "broken":
            return Broken(fault.code)
