"""Django's pages on threads that live on: one hop for a page, and a database connection that need not be opened (D8a).

Django's own handler hands over three times for each, to a thread that it starts for it.
"""

from collections.abc import Awaitable, Callable, MutableMapping
from concurrent.futures import ThreadPoolExecutor
from typing import IO, Any

from asgiref.sync import sync_to_async
from django.core import signals
from django.core.handlers.asgi import ASGIHandler, get_script_prefix
from django.core.handlers.base import BaseHandler
from django.db import close_old_connections
from django.http.response import HttpResponseBase
from django.urls import set_script_prefix

Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]
Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]
THREADS = 128
"""Requests that one process works on at a time; they are started as they are needed."""
PROBES = ("/healthz", "/readyz")
"""They have a thread of their own: a process whose pages all wait for a server is alive."""


class PageHandler(ASGIHandler):
    """Takes bodies that were read to their end: it does not look whether the browser has gone since."""

    def __init__(self) -> None:
        BaseHandler.__init__(self)
        self.load_middleware(is_async=False)
        pool = ThreadPoolExecutor(THREADS, thread_name_prefix="page")
        aside = ThreadPoolExecutor(1, thread_name_prefix="page-probe")
        self._answered = sync_to_async(self._answer, thread_sensitive=False, executor=pool)
        self._probed = sync_to_async(self._answer, thread_sensitive=False, executor=aside)
        self._closed = sync_to_async(HttpResponseBase.close, thread_sensitive=False, executor=pool)

    async def handle(self, scope: Scope, receive: Receive, send: Send) -> None:  # type: ignore[override]
        body = await self.read_body(receive)
        try:
            answered = self._probed if scope["path"] in PROBES else self._answered
            response = await answered(scope, body)
            try:
                await self.send_response(response, send)  # type: ignore[arg-type]
            finally:
                if response.streaming:
                    await self._closed(response)
        finally:
            body.close()

    def _answer(self, scope: Scope, body: IO[bytes]) -> HttpResponseBase:
        """A page, closed: what it says is all there. A stream goes on, and is closed at its end."""
        set_script_prefix(get_script_prefix(scope))
        signals.request_started.send(sender=self.__class__, scope=scope)
        request, refusal = self.create_request(scope, body)
        response = refusal if request is None else self.get_response(request)
        assert response is not None
        if response.streaming:
            close_old_connections()  # it ends on another thread, whose connection is not this one's
        else:
            response.close()
        return response
