"""Connections on which both sides end at once: the process ends in order, whatever browsers do at that moment."""

import asyncio

import pytest
import uvicorn
from uvicorn.server import ServerState

from mrtr_web.connections import Connection
from tests.servers import Receive, Scope, Send, run

HANDSHAKE = (
    b"GET / HTTP/1.1\r\nHost: h\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
    b"Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n"
)
GOES = b"\x88\x82\x00\x00\x00\x00\x03\xe9"
"""What a browser sends whose page is left: close, 1001, under a mask of nothing."""
GOING_AWAY, RESTARTING, SESSION_OVER = b"\x88\x02\x03\xe9", b"\x88\x02\x03\xf4", b"\x88\x02\x11\x31"


async def _open(scope: Scope, receive: Receive, send: Send) -> None:
    await receive()
    await send({"type": "websocket.accept"})
    if scope["path"] == "/over":
        await send({"type": "websocket.close", "code": 4401})
    while (await receive())["type"] != "websocket.disconnect":
        pass


@pytest.mark.parametrize(
    ("path", "arrives", "told"),
    [
        (b"/", b"", RESTARTING),
        (b"/", GOES, GOING_AWAY),
        (b"/over", b"", SESSION_OVER),
        (b"/over", GOES, SESSION_OVER),
    ],
)
def test_a_socket_ends_with_the_process_whoever_was_first(path: bytes, arrives: bytes, told: bytes) -> None:
    async def scene() -> bytes:
        state, config = ServerState(), uvicorn.Config(_open, log_config=None)
        config.load()
        server = await asyncio.get_running_loop().create_server(
            lambda: Connection(config=config, server_state=state, app_state={}), "127.0.0.1", 0
        )
        async with server:
            reader, writer = await asyncio.open_connection(*server.sockets[0].getsockname())
            writer.write(HANDSHAKE.replace(b"GET /", b"GET " + path))
            await reader.readuntil(b"\r\n\r\n")
            found = await reader.readexactly(len(told)) if path == b"/over" else b""
            (socket,) = state.connections
            socket.data_received(arrives)
            socket.shutdown()
            found += await reader.read()
            writer.close()
            await asyncio.gather(*state.tasks)
        return found

    assert run(scene()) == told
