"""Bytes that are no proper requests, against the protocol that the README starts uvicorn with: nothing slips in."""

import socket
from collections.abc import Iterator
from urllib.parse import urlsplit

import pytest

from mrtr_web.connections import MOST_AROUND, Connection
from tests.servers import BOUND, Receive, Scope, Send, serve

END = b"\r\n\r\n"
HIDDEN = b"GET /hidden HTTP/1.1\r\nHost: h\r\n\r\n"
POST = b"POST /post HTTP/1.1\r\nHost: h\r\n"
GET = b"GET /get HTTP/1.1\r\nHost: h\r\nConnection: close\r\n"
CHUNKED = POST + b"Connection: close\r\nTransfer-Encoding: chunked\r\n\r\n"


class Echo:
    """Tells how much it was sent, and keeps what it was asked for."""

    def __init__(self) -> None:
        self.paths: list[str] = []

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        self.paths.append(scope["path"])
        size, more = 0, True
        while more:
            message = await receive()
            size, more = size + len(message.get("body", b"")), message.get("more_body", False)
        body = str(size).encode()
        await send({"type": "http.response.start", "status": 200, "headers": [(b"content-length", b"%d" % len(body))]})
        await send({"type": "http.response.body", "body": body})


@pytest.fixture
def echo() -> Echo:
    return Echo()


@pytest.fixture
def base(echo: Echo) -> Iterator[str]:
    with serve(echo, http=Connection, lifespan="off", ws="auto") as base:
        yield base


def send(base: str, *parts: bytes) -> bytes:
    """All that comes back until the end; sending stops where the other side has closed."""
    address = urlsplit(base)
    with socket.create_connection((address.hostname, address.port), BOUND) as connection:
        found = b""
        try:
            for part in parts:
                connection.sendall(part)
            while data := connection.recv(65536):
                found += data
        except (BrokenPipeError, ConnectionResetError):
            pass
        return found


@pytest.mark.parametrize(
    "request_bytes",
    [
        POST + b"Content-Length: 5\r\nTransfer-Encoding: chunked" + END + b"0" + END + HIDDEN,
        POST + b"Transfer-Encoding: chunked\r\nContent-Length: 5" + END + b"0" + END + HIDDEN,
        POST + b"Content-Length: 5\r\nContent-Length: 6" + END + b"abcde" + HIDDEN,
        POST + b"Content-Length: 5, 5" + END + b"abcde" + HIDDEN,
        POST + b"Content-Length: -1" + END + HIDDEN,
        POST + b"Content-Length: +5" + END + b"abcde" + HIDDEN,
        POST + b"Content-Length: 99999999999999999999999" + END + HIDDEN,
        POST + b"Transfer-Encoding: xchunked" + END + b"0" + END + HIDDEN,
        POST + b"Transfer-Encoding: chunked, identity" + END + b"0" + END + HIDDEN,
        POST + b"Transfer-Encoding : chunked" + END + b"0" + END + HIDDEN,
        POST + b"X-A: b\r\n folded" + END + HIDDEN,
        POST + b"X-A: b\x00c" + END + HIDDEN,
        POST + b"X\x00A: b" + END + HIDDEN,
        b"GET /get HTTP/1.1\nHost: h\n\n" + HIDDEN,
        b"GET /get HTTP/1.1\rHost: h\r\r" + HIDDEN,
        b"PRI * HTTP/2.0\r\n\r\nSM" + END + HIDDEN,
        b"\x16\x03\x01\x02\x00\x01\x00" * 20,
    ],
)
def test_what_can_be_read_in_two_ways_is_refused(base: str, echo: Echo, request_bytes: bytes) -> None:
    assert send(base, request_bytes).startswith(b"HTTP/1.1 400 ")
    assert "/hidden" not in echo.paths


@pytest.mark.parametrize("chunk", [b"ZZ\r\nabc\r\n", b"-1\r\nabc\r\n", b"f" * 18 + b"\r\nabc", b"3\r\nabcd\r\n"])
def test_chunks_of_no_proper_size_are_refused(base: str, echo: Echo, chunk: bytes) -> None:
    assert send(base, CHUNKED + chunk + b"0" + END + HIDDEN).startswith(b"HTTP/1.1 400 ")
    assert "/hidden" not in echo.paths


@pytest.mark.parametrize("start", [GET + b"X-A: ", GET, GET[:5]])
def test_headers_have_an_end(base: str, echo: Echo, start: bytes) -> None:
    parts = (b"X-A: b\r\n" * 8192 if start == GET else b"a" * 65536 for _ in range(200))
    answer = send(base, start, *parts)
    assert answer[:12] in (b"HTTP/1.1 431", b"HTTP/1.1 400", b"")  # none: the rest of what was sent met a closed door
    assert echo.paths == []


@pytest.mark.parametrize("start", [b"0\r\nX-A: ", b"1;"])
def test_what_comes_after_or_between_chunks_has_an_end(base: str, start: bytes) -> None:
    sent = 0

    def parts() -> Iterator[bytes]:
        nonlocal sent
        for number in range(1000):
            sent = number
            yield b"a" * 65536

    assert b"200" not in send(base, CHUNKED + start, *parts())
    assert sent < 1000


def test_long_headers_and_bodies_in_small_chunks_are_taken(base: str) -> None:
    assert send(base, GET + b"X-A: " + b"a" * 100_000 + END).endswith(b"\r\n\r\n0")
    body = b"400\r\n" + b"a" * 1024 + b"\r\n"
    assert send(base, CHUNKED, *[body] * 4096, b"0" + END).endswith(b"\r\n\r\n%d" % (4096 * 1024))
    length = 4 * MOST_AROUND
    whole = POST + b"Connection: close\r\nContent-Length: %d" % length + END
    assert send(base, whole, b"a" * length).endswith(b"\r\n\r\n%d" % length)


def test_many_requests_on_one_connection_are_counted_one_by_one(base: str, echo: Echo) -> None:
    one = b"GET /get HTTP/1.1\r\nHost: h\r\nX-A: " + b"a" * 60_000 + END
    answer = send(base, *[one] * 9, GET + END)
    assert (answer.count(b"HTTP/1.1 200 OK"), len(echo.paths)) == (10, 10)


UPGRADE = b"Connection: Upgrade\r\nUpgrade: "
SIZED = b"\r\nContent-Length: %d" % len(HIDDEN) + END


@pytest.mark.parametrize(
    "head",
    [
        POST + UPGRADE + b"h2c" + SIZED,
        POST + UPGRADE + b"h2c\r\nTransfer-Encoding: chunked" + END,
        POST + b"Connection: Upgrade, HTTP2-Settings\r\nUpgrade: TLS/1.0, h2c" + SIZED,
        POST + UPGRADE + b"websocket" + SIZED,
        GET.replace(b"close", b"upgrade") + b"Upgrade: x" + SIZED,
        b"CONNECT h:443 HTTP/1.1\r\nHost: h" + SIZED,
    ],
)
def test_no_body_becomes_a_request_by_an_upgrade_that_nobody_makes(base: str, echo: Echo, head: bytes) -> None:
    assert send(base, head, HIDDEN).startswith(b"HTTP/1.1 400 ")
    assert echo.paths == []
