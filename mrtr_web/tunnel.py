"""The way through a forward proxy: a tunnel to an address, never to a name (CONNECT, RFC 9110 section 9.3.6).

The proxy is the operator's, and is trusted to lead where it is told. What it answers is bounded all the same.
"""

import base64
import contextlib
import logging
import re
import ssl
from collections.abc import Awaitable, Callable

import anyio
import httpcore2

from mrtr_web.networks import Address
from mrtr_web.wayout import Proxy

log = logging.getLogger(__name__)
MOST = 8 * 1024
"""Bytes of an answer."""
_ANSWER = re.compile(rb"HTTP/1\.[01] ([2-5]\d\d)(?: [^\r\n]*)?\r\n(?:[^\r\n]+\r\n)*\r\n")
Dial = Callable[[str, int, float], Awaitable[httpcore2.AsyncNetworkStream]]
"""Connects to a host and port, in so many seconds."""


class Shut(Exception):
    """The proxy leads nowhere, and the server got nothing.

    `code`: proxy (it is not there, or answers oddly), proxy_login (it wants to be told who we are, or does not
    believe it) or proxy_refused (it does not lead there).
    """

    def __init__(self, code: str) -> None:
        super().__init__(code)
        self.code = code


async def dig(
    dial: Dial, proxy: Proxy, trust: ssl.SSLContext, address: Address, port: int, seconds: float
) -> httpcore2.AsyncNetworkStream:
    """A connection to this address through the proxy, after so many seconds at most.

    Raises Shut, or httpcore2.ConnectTimeout where the proxy does not say in time whether it has got there.
    """
    end = anyio.current_time() + seconds
    try:
        stream = await dial(proxy.host, proxy.port, seconds)
        if proxy.is_tls:
            stream = await stream.start_tls(trust, proxy.host, end - anyio.current_time())
    except (httpcore2.ConnectError, httpcore2.ConnectTimeout):
        raise Shut("proxy") from None
    async with contextlib.AsyncExitStack() as closing:
        closing.push_async_callback(stream.aclose)
        await _ask(stream, _request(proxy, address, port), end)
        closing.pop_all()
    return stream


async def _ask(stream: httpcore2.AsyncNetworkStream, request: bytes, end: float) -> None:
    """Raises what dig() raises, unless it leads there."""
    try:
        with anyio.fail_after(end - anyio.current_time()):
            await stream.write(request)
            status = await _status(stream)
    except TimeoutError:
        raise httpcore2.ConnectTimeout from None
    except httpcore2.NetworkError:
        raise Shut("proxy") from None
    if status >= 300:
        log.warning("the egress proxy answered with %d", status)
        raise Shut("proxy_login" if status == 407 else "proxy_refused")


def _request(proxy: Proxy, address: Address, port: int) -> bytes:
    place = f"[{address}]:{port}" if address.version == 6 else f"{address}:{port}"
    lines = [f"CONNECT {place} HTTP/1.1", f"Host: {place}"]
    if proxy.login:
        lines.append(f"Proxy-Authorization: Basic {base64.b64encode(proxy.login.encode()).decode()}")
    return "".join(f"{line}\r\n" for line in (*lines, "")).encode("ascii")


async def _status(stream: httpcore2.AsyncNetworkStream) -> int:
    """Of the answer, which ends where the server's own bytes begin: none of them can be there already. Raises Shut."""
    answer = b""
    while b"\r\n\r\n" not in answer and len(answer) < MOST:
        more = await stream.read(MOST - len(answer))
        if not more:
            break
        answer += more
    found = _ANSWER.match(answer)
    # A refusal has a body, of which nothing is wanted; of 2xx, bytes after the head would be taken for the server's.
    if found is None or (found[1] < b"300" and found.end() != len(answer)):
        raise Shut("proxy")
    return int(found[1])
