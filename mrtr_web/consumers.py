"""WebSockets, as a plain ASGI application: /ws/flows/<id>/?seen=<mark> and /ws/review/?seen=<mark>

The one of a flow says {"type": "moved", "flow"}, upon which the page fetches itself, and {"progress", "total",
"message"}, of which the message is server text, opened for the owner. The one of the desk says {"type": "moved"}.
They take nothing: a browser that sends something is shown out. Whoever may not come in is refused before the
handshake, all with the same answer. Afterwards they close with SESSION_OVER, or as the ASGI server does when it goes
away.
"""

import asyncio
import io
import json
import re
import uuid
from urllib.parse import parse_qs

from django.core.handlers.asgi import ASGIRequest
from django.db import DatabaseError

from mrtr_web import sessions
from mrtr_web.handler import Receive, Scope, Send
from mrtr_web.origins import own_origin
from mrtr_web.sessions import Visitor
from mrtr_web.sockets import DeskSocket, FlowSocket, Full, Socket, sockets
from mrtr_web.threads import threaded

PATH = re.compile(r"/ws/flows/([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})/")
DESK = "/ws/review/"
SESSION_OVER = 4401
SHOWN_OUT = 1008


async def page(scope: Scope, receive: Receive, send: Send) -> None:
    """One socket, from its handshake to its end."""
    await receive()
    visitor = await _visitor(scope)
    socket = _socket(scope, visitor) if visitor is not None else None
    if socket is None:
        return await _refuse(scope, send)
    accepted = False
    try:
        with sockets.keeping(socket):  # before the look, so that nothing happens unseen between the two
            found = await threaded(socket.look)
            if found is None:
                return await _refuse(scope, send)
            socket.enter(found)
            accepted = True
            await send({"type": "websocket.accept"})
            await _talk(socket, receive, send)
    except (DatabaseError, Full):
        await (_close(send) if accepted else _refuse(scope, send))
    except OSError:  # the browser went away in the middle of a word
        return


async def _refuse(scope: Scope, send: Send) -> None:
    """Before the handshake: 403, an answer like any other where the ASGI server can send one."""
    if "websocket.http.response" not in scope.get("extensions", {}):
        return await _close(send)
    headers = [(b"content-type", b"text/plain; charset=utf-8")]
    await send({"type": "websocket.http.response.start", "status": 403, "headers": headers})
    await send({"type": "websocket.http.response.body", "body": b""})


async def _close(send: Send) -> None:
    """Before the handshake the ASGI server makes of it a 403."""
    await send({"type": "websocket.close", "code": SHOWN_OUT})


def _socket(scope: Scope, visitor: Visitor) -> Socket | None:
    """What is asked for. None where there is no such page."""
    seen = parse_qs(scope["query_string"].decode("latin-1")).get("seen", [""])[0]
    if scope["path"] == DESK:
        return DeskSocket(visitor, seen)
    path = PATH.fullmatch(scope["path"])
    return FlowSocket(visitor, seen, uuid.UUID(path[1])) if path else None


async def _visitor(scope: Scope) -> Visitor | None:
    """Who asks, if it is a page of ours that does: its origin is exactly this site, as Django sees it."""
    scheme = "https" if scope["scheme"] == "wss" else "http"
    request = ASGIRequest({**scope, "method": "GET", "scheme": scheme}, io.BytesIO())
    if request.headers.get("origin", "").lower() != own_origin(request):
        return None
    try:
        return await threaded(sessions.peek, request.COOKIES)
    except DatabaseError:
        return None


async def _talk(socket: Socket, receive: Receive, send: Send) -> None:
    """Until the browser goes away or says something, or its session ends."""
    gone = asyncio.ensure_future(receive())
    speaking = asyncio.create_task(_speak(socket, send))
    try:
        await asyncio.wait({gone, speaking}, return_when=asyncio.FIRST_COMPLETED)
        if gone.done() and gone.result()["type"] != "websocket.disconnect":
            await _close(send)
        if speaking.done():
            speaking.result()
    finally:
        gone.cancel()
        speaking.cancel()
        await asyncio.wait({gone, speaking})


async def _speak(socket: Socket, send: Send) -> None:
    while (message := await socket.due())["type"] != "over":
        await send({"type": "websocket.send", "text": json.dumps(socket.says(message))})
        await asyncio.sleep(socket.gap)
    await send({"type": "websocket.close", "code": SESSION_OVER})
