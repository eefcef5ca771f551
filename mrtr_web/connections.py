"""How connections end when a process stops: `uvicorn --http mrtr_web.connections:Connection`.

uvicorn cuts every connection on which it is not answering at that moment, also one that was accepted a moment ago or
on which a request is just arriving: its sender gets no answer and cannot know whether it was carried out. Here such a
connection is kept for a moment; a request that arrives whole meanwhile is answered, with `Connection: close`. Nothing
prolongs the moment: neither bytes that dribble in nor a WebSocket, which is refused. A WebSocket that its browser is
closing at that moment is let go: uvicorn would say so to it once more, fail, and end without the app's own end.

And what of a request is not its body is bounded, for uvicorn keeps headers of any length in memory. A request that
wants to become anything but a WebSocket is refused: uvicorn would go on with it, without its body.
"""

import asyncio
import contextlib
import socket
from typing import Any

import httptools
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol, RequestResponseCycle
from uvicorn.protocols.websockets.websockets_sansio_impl import WebSocketsSansIOProtocol
from websockets.protocol import CLOSING

LINGER = 1.0
"""Seconds that an idle connection is kept once the process stops: requests that are on their way arrive meanwhile."""
MOST_AROUND = 256 * 1024
"""Bytes of a request besides its body: headers, trailers, the sizes of chunks. What is read at once may come on top."""
STOPPING = "mrtr_web.stopping"
UNAVAILABLE = b"HTTP/1.1 503 Service Unavailable\r\ncontent-length: 0\r\nconnection: close\r\n\r\n"
TOO_LONG = b"HTTP/1.1 431 Request Header Fields Too Large\r\ncontent-length: 0\r\nconnection: close\r\n\r\n"


class NoUpgrade(httptools.HttpParserError):
    """Asks for another protocol than there is: the parser would drop the body, or take it for the next request."""


class WebSocket(WebSocketsSansIOProtocol):
    def shutdown(self) -> None:
        if self.conn.state is not CLOSING or self.close_sent:
            super().shutdown()


class Connection(HttpToolsProtocol):
    around = 0
    """Bytes of the request that is arriving, without its body."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.ws_protocol_class = self.ws_protocol_class and WebSocket

    def data_received(self, data: bytes) -> None:
        self.around += len(data)
        super().data_received(data)
        if self.around > MOST_AROUND and not self.transport.is_closing():
            self._refuse_long()

    def _refuse_long(self) -> None:
        cycle: RequestResponseCycle | None = self.cycle
        if cycle is None or cycle.response_complete:
            self.transport.write(TOO_LONG)
        self.transport.close()

    def on_body(self, body: bytes) -> None:
        self.around -= len(body)
        super().on_body(body)

    def on_message_complete(self) -> None:
        self.around = 0
        super().on_message_complete()

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]  # uvicorn's own type
        super().connection_made(transport)
        # Of a socket that was handed over (--fd) the event loop does not know that it is TCP: without this each answer
        # on a kept connection waits 40 ms for an acknowledgement.
        with contextlib.suppress(OSError):
            transport.get_extra_info("socket").setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        if STOPPING in self.app_state:  # accepted before the listening socket was closed, announced after
            self._linger()

    def on_headers_complete(self) -> None:
        if self.parser.should_upgrade() and not self._is_for_a_socket():
            raise NoUpgrade  # which is answered with 400
        super().on_headers_complete()
        if STOPPING in self.app_state and not self._should_upgrade():
            self.cycle.keep_alive = False

    def _is_for_a_socket(self) -> bool:
        return self._should_upgrade() and self.parser.get_method() == b"GET"

    def shutdown(self) -> None:
        self.app_state[STOPPING] = True
        cycle: RequestResponseCycle | None = self.cycle  # none before the first request
        if cycle is None or cycle.response_complete:
            self._linger()
        else:
            super().shutdown()

    def handle_websocket_upgrade(self) -> None:
        if STOPPING in self.app_state:  # it would not be told of the end, and hold it up
            self.transport.write(UNAVAILABLE)
            self.transport.close()
        else:
            super().handle_websocket_upgrade()

    def _linger(self) -> None:
        self._unset_keepalive_if_required()
        self.loop.call_later(LINGER, self._end)

    def _end(self) -> None:
        cycle: RequestResponseCycle | None = self.cycle
        if cycle is None or cycle.response_complete or cycle.more_body:
            self.transport.close()
