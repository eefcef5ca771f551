"""WebSocket of a flow's page, as a plain ASGI application: /ws/flows/<id>/?seen=<mark>

It says {"type": "moved", "flow"}, upon which the page fetches itself, and {"progress", "total", "message"}, of which
the message is server text, opened for the owner. It takes nothing: a browser that sends something is shown out.
Whoever may not come in is refused before the handshake, all with the same answer. Afterwards it closes with
SESSION_OVER, or as the ASGI server does when it goes away.
"""

import asyncio
import io
import json
import re
import uuid
from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any
from urllib.parse import parse_qs

from django.core.handlers.asgi import ASGIRequest
from django.db import DatabaseError

from mrtr_web import sessions, wizard
from mrtr_web.live import Message, hub, mark_of
from mrtr_web.models import Flow
from mrtr_web.origins import own_origin
from mrtr_web.runner import threaded
from mrtr_web.sessions import Visitor
from mrtr_web.sockets import Full, Socket, sockets

Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]
Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]

PATH = re.compile(r"/ws/flows/([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})/")
SESSION_OVER = 4401
SHOWN_OUT = 1008
REFUSED: dict[str, Any] = {"type": "websocket.close", "code": SHOWN_OUT}
"""Before the handshake the ASGI server makes of it a 403."""


async def flow_page(scope: Scope, receive: Receive, send: Send) -> None:
    """One socket, from its handshake to its end."""
    await receive()
    path, visitor = PATH.fullmatch(scope["path"]), await _visitor(scope)
    if path is None or visitor is None:
        return await send(REFUSED)
    seen = parse_qs(scope["query_string"].decode("latin-1")).get("seen", [""])[0]
    socket = Socket(visitor, uuid.UUID(path[1]), seen)
    try:
        with sockets.keeping(socket):  # before the look, so that nothing happens unseen between the two
            row = await threaded(wizard.flow_of, visitor.user, socket.flow)
            if row is None:
                return await send(REFUSED)
            _catch_up(socket, row)
            await send({"type": "websocket.accept"})
            await _talk(socket, receive, send)
    except (DatabaseError, Full):
        await send(REFUSED)
    except OSError:  # the browser went away in the middle of a word
        return


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


def _catch_up(socket: Socket, row: Flow) -> None:
    socket.read = wizard.progress_reader(socket.visitor, row)
    socket.compare(mark_of(row))
    latest = hub.progress_of(row.pk, row.leg)
    if latest is not None:
        socket.hear(latest)


async def _talk(socket: Socket, receive: Receive, send: Send) -> None:
    """Until the browser goes away or says something, or its session ends."""
    gone = asyncio.ensure_future(receive())
    speaking = asyncio.create_task(_speak(socket, send))
    try:
        await asyncio.wait({gone, speaking}, return_when=asyncio.FIRST_COMPLETED)
        if gone.done() and gone.result()["type"] != "websocket.disconnect":
            await send({"type": "websocket.close", "code": SHOWN_OUT})
        if speaking.done():
            speaking.result()
    finally:
        gone.cancel()
        speaking.cancel()
        await asyncio.wait({gone, speaking})


async def _speak(socket: Socket, send: Send) -> None:
    while (message := await socket.due())["type"] != "over":
        await send({"type": "websocket.send", "text": json.dumps(_said(socket, message))})
    await send({"type": "websocket.close", "code": SESSION_OVER})


def _said(socket: Socket, message: Message) -> dict[str, Any]:
    if message["type"] == "moved" or socket.read is None:
        return {"type": "moved", "flow": str(socket.flow)}
    return socket.read(message)
