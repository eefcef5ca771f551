"""The guarded way out: every HTTP request to a server that people have named leaves through here.

What is checked, and where:
1. the URL: https, or http where private networks are listed; no user:password in it;
2. the address, when it is dialled: every address that the name resolves to must be permitted (networks.py), for http
   one of a listed private network; the one that was checked is the one connected to, so a name cannot change its
   mind (SNI and Host stay the name's). Where MRTR_EGRESS_PROXY is set, a public address is reached through a tunnel
   of that proxy (tunnel.py); one of a listed network is on this side of it, and is dialled as ever;
3. the answer: no cookies, no compression, no more bytes than the policy allows, counted while they arrive.

Connections and SSLContext are shared per event loop and process; a client never is (its cookie jar leaks).

EgressError        .code, never a URL and never text of the server
├─ Unreached       nothing of the request was sent: refused dns tls blocked connect_timeout unsendable,
│                  proxy proxy_login proxy_refused (tunnel.Shut)
└─ Interrupted     some of it was: cut timeout too_big encoding
"""

import asyncio
import contextlib
import ipaddress
from collections.abc import (
    AsyncGenerator,
    AsyncIterable,
    AsyncIterator,
    Callable,
    Generator,
    Iterable,
    Mapping,
)
from dataclasses import dataclass
from typing import Any
from weakref import WeakKeyDictionary

import anyio
import httpcore2
import httpx2
from django.conf import settings

from mrtr_web import networks, tunnel
from mrtr_web.networks import Address, Network
from mrtr_web.wayout import Proxy

# Shorter than any common server's keep-alive: a request must not meet a connection that is just being closed,
# for then nobody could say whether it arrived.
KEEP_ALIVE = 2.0
_PORTS = {"https": 443, "http": 80}


class EgressError(Exception):
    """The request failed on its way; `code` says how."""

    def __init__(self, code: str) -> None:
        super().__init__(code)
        self.code = code


class Unreached(EgressError):
    """Nothing of the request was sent."""


class Interrupted(EgressError):
    """Bytes were sent, then the exchange broke."""


@dataclass(frozen=True, slots=True)
class Policy:
    """`private`: networks of loopback, RFC 1918 and ULA that are let in, over plain http, too."""

    private: tuple[str | Network, ...] = ()
    max_bytes: int = 16 * 1024 * 1024
    connect_timeout: float = 10.0


def client(
    policy: Policy,
    headers: Mapping[str, str] | None = None,
    *,
    read_timeout: float = 60.0,
    transport: httpx2.AsyncBaseTransport | None = None,
) -> httpx2.AsyncClient:
    """A fresh client on the shared transport. It is cheap, and closing it closes nothing that is shared."""
    return httpx2.AsyncClient(
        transport=transport or GuardedTransport(policy),
        headers=dict(headers or {}),
        timeout=httpx2.Timeout(read_timeout, connect=policy.connect_timeout),
        trust_env=False,
        follow_redirects=False,
    )


async def aclose() -> None:
    """Close this event loop's connections: when a process or a test ends."""
    for pool in _pools.pop(asyncio.get_running_loop(), {}).values():
        await pool.aclose()


def origin_of(url: str) -> str:
    """Scheme, host and port as the client that dials reads them; "" for what is no http URL."""
    try:
        parts = httpx2.URL(url)
        port = parts.port or _PORTS[parts.scheme]
    except (httpx2.InvalidURL, KeyError):
        return ""
    host = parts.raw_host.decode("ascii").lower()
    return f"{parts.scheme}://[{host}]:{port}" if ":" in host else f"{parts.scheme}://{host}:{port}"


class _Dialler(httpcore2.AnyIOBackend):
    """Resolves, checks every address, and connects to those that were checked, one after the other."""

    def __init__(self, private: frozenset[Network], scheme: str, proxy: Proxy | None) -> None:
        self.private, self.proxy = private, proxy
        self.may_dial = networks.permitted if scheme == "https" else networks.is_listed

    async def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,  # noqa: ASYNC109 (httpcore2's signature)
        local_address: str | None = None,
        socket_options: Iterable[Any] | None = None,
    ) -> httpcore2.AsyncNetworkStream:
        if port >= 1 << 16:
            raise Unreached("unsendable")
        deadline = anyio.current_time() + (10.0 if timeout is None else timeout)
        addresses = await _resolve(host, port, deadline)
        if not all(self.may_dial(address, self.private) for address in addresses):
            raise Unreached("blocked")
        code = "dns"
        for tried, address in enumerate(addresses):
            # A black hole may use up its share of the time only.
            share = max(deadline - anyio.current_time(), 0) / (len(addresses) - tried)
            try:
                return await self._reach(address, port, share)
            except httpcore2.ConnectTimeout:
                code = "connect_timeout"
            except httpcore2.ConnectError:
                code = "refused"
            except tunnel.Shut as shut:
                code = shut.code
        raise Unreached(code)

    async def _reach(self, address: Address, port: int, seconds: float) -> httpcore2.AsyncNetworkStream:
        if self.proxy is None or networks.is_listed(address, self.private):
            return await super().connect_tcp(str(address), port, seconds)
        return await tunnel.dig(super().connect_tcp, self.proxy, settings.CONFIG.trust, address, port, seconds)

    async def connect_unix_socket(
        self,
        path: str,
        timeout: float | None = None,  # noqa: ASYNC109 (httpcore2's signature)
        socket_options: Iterable[Any] | None = None,
    ) -> httpcore2.AsyncNetworkStream:
        raise Unreached("blocked")


async def _resolve(host: str, port: int, deadline: float) -> list[Address]:
    code = "connect_timeout"
    with anyio.move_on_after(max(deadline - anyio.current_time(), 0)):
        try:
            found = await asyncio.get_running_loop().getaddrinfo(host, port, type=1)
            return list(dict.fromkeys(ipaddress.ip_address(entry[4][0]) for entry in found))
        except (OSError, UnicodeError):
            code = "dns"
    raise Unreached(code)


_Pools = dict[tuple[frozenset[Network], str, Proxy | None], httpcore2.AsyncConnectionPool]
_pools: WeakKeyDictionary[asyncio.AbstractEventLoop, _Pools] = WeakKeyDictionary()


def _pool(private: frozenset[Network], scheme: str) -> httpcore2.AsyncConnectionPool:
    """This event loop's pool of connections that were all dialled under the same rules."""
    for loop in [loop for loop in _pools if loop.is_closed()]:
        del _pools[loop]
    pools = _pools.setdefault(asyncio.get_running_loop(), {})
    rules = private, scheme, settings.CONFIG.proxy
    if rules not in pools:
        pools[rules] = httpcore2.AsyncConnectionPool(
            ssl_context=settings.CONFIG.trust,
            max_connections=None,  # the runner bounds the legs
            max_keepalive_connections=20,
            keepalive_expiry=KEEP_ALIVE,
            network_backend=_Dialler(*rules),
        )
    return pools[rules]


class GuardedTransport(httpx2.AsyncBaseTransport):
    """One policy over the shared pool. `on_sending` is called when the first byte is about to leave."""

    def __init__(self, policy: Policy, on_sending: Callable[[], None] | None = None) -> None:
        self.policy = policy
        self.on_sending = on_sending

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        self._check(request.url)
        with _translated():
            pool = _pool(networks.read(self.policy.private), request.url.scheme)
            response = await pool.handle_async_request(self._guarded(request))
        headers = [(name, value) for name, value in response.headers if name.lower() != b"set-cookie"]
        assert isinstance(response.stream, AsyncIterable)
        body = _Body(response.stream, httpx2.Headers(headers), self.policy.max_bytes)
        return httpx2.Response(response.status, headers=headers, stream=body, extensions=dict(response.extensions))

    def _check(self, url: httpx2.URL) -> None:
        may_be = url.scheme == "https" or (url.scheme == "http" and self.policy.private)
        if not may_be or url.userinfo or not url.host:
            raise Unreached("blocked")

    def _guarded(self, request: httpx2.Request) -> httpcore2.Request:
        unwanted = (b"cookie", b"accept-encoding")
        headers = [(name, value) for name, value in request.headers.raw if name.lower() not in unwanted]
        url = request.url
        return httpcore2.Request(
            method=request.method,
            url=httpcore2.URL(scheme=url.raw_scheme, host=url.raw_host, port=url.port, target=url.raw_path),
            headers=[*headers, (b"Accept-Encoding", b"identity")],
            content=request.stream,
            extensions={**request.extensions, "trace": self._trace},
        )

    async def _trace(self, event: str, info: Mapping[str, Any]) -> None:
        if self.on_sending is not None and event.endswith(".send_request_headers.started"):
            self.on_sending()


class _Body(httpx2.AsyncByteStream):
    """The body as it arrives; it breaks off where it is compressed or grows too big."""

    def __init__(self, stream: AsyncIterable[bytes], headers: httpx2.Headers, max_bytes: int) -> None:
        self._stream = stream
        self._encoding = headers.get("content-encoding", "").strip().lower() or "identity"
        length = headers.get("content-length", "")
        self._announced = int(length) if length.isdecimal() and len(length) < 20 else 0
        self._max_bytes = max_bytes

    async def __aiter__(self) -> AsyncIterator[bytes]:
        if self._encoding != "identity":
            raise Interrupted("encoding")
        size = self._announced
        if size <= self._max_bytes:
            size = 0
            async for chunk in _read(self._stream):
                size += len(chunk)
                if size > self._max_bytes:
                    break
                yield chunk
            else:
                return
        raise Interrupted("too_big")

    async def aclose(self) -> None:
        if hasattr(self._stream, "aclose"):
            await self._stream.aclose()


async def _read(stream: AsyncIterable[bytes]) -> AsyncGenerator[bytes]:
    with _translated():
        async for chunk in stream:
            yield chunk


@contextlib.contextmanager
def _translated() -> Generator[None]:
    """httpcore2's exceptions, whose text may name hosts, as our codes."""
    try:
        yield
        return
    except (httpcore2.ConnectTimeout, httpcore2.PoolTimeout):
        error: EgressError = Unreached("connect_timeout")
    except httpcore2.ConnectError:  # the dialler raises its own, so this came from the TLS handshake
        error = Unreached("tls")
    except httpcore2.UnsupportedProtocol:
        error = Unreached("blocked")
    except httpcore2.LocalProtocolError:  # a header that cannot be written
        error = Unreached("unsendable")
    except httpcore2.TimeoutException:
        error = Interrupted("timeout")
    except (httpcore2.NetworkError, httpcore2.ProtocolError):
        error = Interrupted("cut")
    raise error
