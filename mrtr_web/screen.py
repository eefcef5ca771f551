"""Reads a server's answer to one POST and judges it, raw, before the SDK sees any of it.

The SDK would lose what a person must be told: it swallows the HTTP status, gives an SSE answer with a foreign
id our own id, re-opens a broken stream with GET, reads JSON without a limit and puts bodies into its errors.
So the Screen is the HTTP transport under it. It hands the SDK one clean JSON-RPC message: the result just as
it came (of a listing: without the entries that cannot be read), or an empty error where there is none. What was
found is kept in the Wire, of which relay.py makes a result or an exception. Nothing here raises for what a server
does.
"""

import json
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any, Literal

import httpx2
from mcp.client.auth.utils import extract_field_from_www_auth

from mrtr_web import egress, rawjson
from mrtr_web.access import MAX_SCOPE, MAX_URL, Challenge
from mrtr_web.pace import MOST_PROGRESS

REFUSALS = {401: "unauthorized", 403: "forbidden", 429: "too_many"}
LONGEST_WAIT = 7 * 86400


@dataclass(frozen=True, slots=True, repr=False)
class Progress:
    """A progress notification. The message is server text."""

    progress: float
    total: float | None
    message: str | None


@dataclass(frozen=True, slots=True)
class Fault:
    """Why there is no answer: `code` is a reason of relay.Unsent or relay.Lost, or a rule of relay.Broken."""

    kind: Literal["unsent", "lost", "broken"]
    code: str
    retry_after: int | None = None
    challenge: Challenge | None = None


@dataclass(slots=True, repr=False)
class Wire:
    """What happened to one request. `answer` is the final JSON-RPC message, result or error, as received.

    Entries of a listing that cannot be read are null in it.
    """

    request_id: str
    on_progress: Callable[[Progress], None] | None = None
    is_listing: bool = False
    sent: dict[str, Any] | None = None
    begun: bool = False
    status: int | None = None
    size: int = 0
    reached: float = -1.0
    answer: dict[str, Any] | None = None
    fault: Fault | None = None

    def begin(self) -> None:
        self.begun = True


class _Breach(Exception):
    """The message breaks this rule; the id of the rule is all that it carries."""


class Screen(httpx2.AsyncBaseTransport):
    """The guarded transport for one request, with the answer judged."""

    def __init__(self, policy: egress.Policy, wire: Wire) -> None:
        self.inner = egress.GuardedTransport(policy, wire.begin)
        self.max_bytes = policy.max_bytes
        self.wire = wire

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        if self.wire.sent is None:  # else it is on its way again, after a redirect
            self.wire.sent = json.loads(request.content)
        clean = None
        try:
            response = await self.inner.handle_async_request(request)
            self.wire.status = response.status_code
            try:
                if 300 <= response.status_code < 400:
                    return _redirect(response)
                clean = await self._read(response)
            finally:
                await response.aclose()
        except egress.Unreached as error:
            self.wire.fault = Fault("unsent", error.code)
        except egress.Interrupted as error:
            self.wire.fault = Fault("lost", error.code)
        except _Breach as breach:
            self.wire.fault = Fault("broken", str(breach))
        content = clean or _empty_error(self.wire.request_id)
        return httpx2.Response(200, headers={"content-type": "application/json"}, content=content)

    async def _read(self, response: httpx2.Response) -> bytes | None:
        """The bytes of the result; None where the answer is an error. JSON-RPC counts at any status."""
        status = response.status_code
        if status in REFUSALS:  # whatever the body says
            asked = challenge(response) if status in (401, 403) else None
            self.wire.fault = Fault("unsent", REFUSALS[status], retry_after(response), asked)
            return None
        try:
            return await self._read_body(response)
        except (egress.Interrupted, _Breach):
            if status < 400:
                raise
        server_error = status >= 500
        self.wire.fault = Fault("lost", "server_error") if server_error else Fault("broken", f"HT-{status}")
        return None

    async def _read_body(self, response: httpx2.Response) -> bytes | None:
        kind = response.headers.get("content-type", "").partition(";")[0].strip().lower()
        if kind == "text/event-stream":
            return await self._read_events(response)
        if kind != "application/json" and response.status_code < 400:
            raise _Breach("HT-2")
        body = await response.aread()
        self.wire.size += len(body)
        if not self._take(body):  # a notification is no answer
            raise _Breach("HT-2")
        return self._clean(body)

    async def _read_events(self, response: httpx2.Response) -> bytes | None:
        # Wrapped anew, without the server's charset: MCP is UTF-8.
        stream = httpx2.Response(
            200, headers={"content-type": "text/event-stream"}, stream=response.stream, request=_NO_REQUEST
        )
        try:
            async for event in httpx2.EventSource(stream, max_event_size=self.max_bytes):
                data = event.data.encode()
                self.wire.size += len(data)
                if event.event == "message" and data and self._take(data):
                    return self._clean(data)
        except httpx2.SSEError:
            raise egress.Interrupted("too_big") from None
        raise egress.Interrupted("cut")

    def _clean(self, raw: bytes) -> bytes | None:
        if self.wire.answer is None or "result" not in self.wire.answer:
            return None
        return json.dumps(self.wire.answer).encode() if self.wire.is_listing else raw

    def _take(self, raw: bytes) -> bool:
        """Take in one message; true for the final answer. Raises _Breach; egress.Interrupted where it is too big."""
        if rawjson.parts(raw) > rawjson.MAX_PARTS:
            raise egress.Interrupted("too_big")
        try:
            message = _parsed(raw, self.wire.is_listing)
        except _Breach:
            if _is_notification(raw):  # what nobody waits for ends no call
                return False
            raise
        if "method" in message:
            self._take_call(message)
            return False
        if "result" in message:
            _check_result(message, self.wire.request_id)
        else:
            # At an HTTP error older servers put a placeholder where the id should be.
            _check_error(message, None if (self.wire.status or 0) >= 400 else self.wire.request_id)
        self.wire.answer = message
        return True

    def _take_call(self, message: Mapping[str, Any]) -> None:
        if "id" in message:  # a request, which would wait for our answer for ever
            raise _Breach("HT-9")
        params = message.get("params")
        if message["method"] == "notifications/progress" and isinstance(params, dict):
            self._report(params)

    def _report(self, params: Mapping[str, Any]) -> None:
        """Progress that is ours and goes on (PR-1); a total that says nothing is left out."""
        progress, total = _number(params.get("progress")), _number(params.get("total"))
        if self.wire.on_progress is None or params.get("progressToken") != self.wire.request_id:
            return
        if progress is None or not 0 <= progress <= MOST_PROGRESS or progress <= self.wire.reached:
            return
        self.wire.reached = progress
        text = params.get("message")
        known = total if total is not None and 0 < total <= MOST_PROGRESS else None
        self.wire.on_progress(Progress(progress, known, text if isinstance(text, str) else None))


def _parsed(raw: bytes, is_listing: bool) -> dict[str, Any]:
    try:
        message = rawjson.read_listing(raw) if is_listing else rawjson.read(raw)
    except ValueError:
        raise _Breach("HT-2") from None
    if not isinstance(message, dict) or message.get("jsonrpc") != "2.0":
        raise _Breach("HT-2")
    if "method" not in message and ("result" in message) == ("error" in message):
        raise _Breach("HT-2")
    return message


def _is_notification(raw: bytes) -> bool:
    """Whether this is one, were its numbers and letters such as JSON allows."""
    try:
        message = json.loads(raw, parse_int=len, parse_float=len, parse_constant=len)
    except (ValueError, RecursionError):
        return False
    return isinstance(message, dict) and "method" in message and "id" not in message


def _check_result(message: Mapping[str, Any], request_id: str) -> None:
    if message.get("id") != request_id:
        raise _Breach("BA-1")
    if not isinstance(message["result"], dict):
        raise _Breach("HT-2")


def _check_error(message: Mapping[str, Any], request_id: str | None) -> None:
    """An error may come without an id (the server could not read it); request_id None: any id will do."""
    if request_id is not None and message.get("id") not in (None, request_id):
        raise _Breach("BA-1")
    error = message["error"]
    if not isinstance(error, dict) or type(error.get("code")) is not int:
        raise _Breach("HT-2")


_NO_REQUEST = httpx2.Request("POST", "http://localhost/")


def _empty_error(request_id: str) -> bytes:
    return json.dumps({"jsonrpc": "2.0", "id": request_id, "error": {"code": -32000, "message": ""}}).encode()


def _redirect(response: httpx2.Response) -> httpx2.Response:
    """The SDK follows 307 and 308 within the origin, and nothing else."""
    location = response.headers.get("location")
    return httpx2.Response(response.status_code, headers={"location": location} if location else {})


def _number(value: object) -> float | None:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    try:
        number = float(value)
    except OverflowError:
        return None
    return number if math.isfinite(number) else None


def challenge(response: httpx2.Response) -> Challenge:
    """What a server that let nobody in asks for (AZ-1, AZ-11); what is too long to be true is left out."""
    scope = extract_field_from_www_auth(response, "scope")
    metadata = extract_field_from_www_auth(response, "resource_metadata")
    return Challenge(
        scope=scope if scope is not None and len(scope) <= MAX_SCOPE else None,
        metadata=metadata if metadata is not None and len(metadata) <= MAX_URL else None,
        wants_more=extract_field_from_www_auth(response, "error") == "insufficient_scope",
    )


def retry_after(response: httpx2.Response) -> int | None:
    """Retry-After in seconds, from either of its forms."""
    text = response.headers.get("retry-after", "").strip()
    if text.isascii() and text.isdecimal() and len(text) < 12:
        return min(int(text), LONGEST_WAIT)
    try:
        when = parsedate_to_datetime(text)
        if when.tzinfo is None:
            when = when.replace(tzinfo=UTC)
        seconds = math.ceil((when - datetime.now(UTC)).total_seconds())
    except (ValueError, OverflowError):
        return None
    return min(max(seconds, 0), LONGEST_WAIT)
