"""The ASGI application: sockets, headers, body cap, UTF-8, static files, Django; its lifespan owns hub, runner and
sweeper."""

import asyncio
import contextlib
import gc
import logging
import os
from collections.abc import Awaitable, Callable, Iterable, MutableMapping
from typing import Any

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "mrtr_web.settings")

import django
from django.conf import settings
from django.utils.http import parse_header_parameters
from servestatic import ServeStaticASGI

django.setup(set_prefix=False)

from mrtr_web.checks import refuse_unsound

refuse_unsound()

from mrtr_web import about, allowances, consumers, egress, guard, ledger, measures, plain, renewal, scrape
from mrtr_web import urls as urls  # loaded before the first requests, which come at once
from mrtr_web.handler import PageHandler, Receive, Scope, Send
from mrtr_web.live import hub
from mrtr_web.logs import guard_hooks, guard_server_logs
from mrtr_web.policies import EVERYWHERE, STATIC_CACHE
from mrtr_web.runner import runner
from mrtr_web.sessions import SessionStore
from mrtr_web.threads import threaded

App = Callable[[Scope, Receive, Send], Awaitable[None]]

log = logging.getLogger(__name__)
guard_server_logs(settings.CONFIG.log_format)
guard_hooks()
SWEEP_EVERY = 60.0
HEADERS = {name.lower().encode(): value.encode() for name, value in EVERYWHERE.items()}
OF_PAGES = b"permissions-policy"
"""Longer than most scripts: what a page may do says nothing about the files that it is made of."""
STRICT_TRANSPORT = f"max-age={settings.SECURE_HSTS_SECONDS}; includeSubDomains; preload"


class TooLarge(Exception):
    """The body of this request is over the cap."""


class BodyCap:
    """Reads a request's body into memory, up to a cap, before Django sees it: nothing typed is spooled to disk.

    A post that arrived whole is carried out even where the browser has gone since: Django is not told.
    """

    def __init__(self, app: App, limit: int) -> None:
        self.app, self.limit = app, limit

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            return await self.app(scope, receive, send)
        try:
            body = await self._body(receive)
        except TooLarge:
            measures.REFUSED.labels("body").inc()
            return await _refuse(send, 413, "text/html", plain.page_before_django(scope, "413.html", most=self.limit))
        if body is None:
            return None
        pending = [{"type": "http.request", "body": body, "more_body": False}]

        async def replay() -> MutableMapping[str, Any]:
            return pending.pop() if pending else await asyncio.Future()

        return await self.app(scope, replay, send)

    async def _body(self, receive: Receive) -> bytes | None:
        """The whole body; None where the browser went away before its end. Raises TooLarge."""
        chunks: list[bytes] = []
        size = 0
        while True:
            message = await receive()
            if message["type"] != "http.request":
                return None
            chunks.append(message.get("body", b""))
            size += len(chunks[-1])
            if size > self.limit:
                raise TooLarge
            if not message.get("more_body", False):
                return b"".join(chunks)


class Utf8Only:
    """Refuses what says that it is written in anything but UTF-8, as no browser does with our pages.

    Django would decode what was typed by any codec of Python: that fails with the typed text in the log.
    """

    def __init__(self, app: App) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or _is_utf8(scope["headers"]):
            return await self.app(scope, receive, send)
        return await _refuse(send, 400, "text/html", plain.page_before_django(scope, "400.html"))


def _is_utf8(headers: Iterable[tuple[bytes, bytes]]) -> bool:
    """Read as Django does it, which puts a comma between several headers of one name."""
    stated = b",".join(value for name, value in headers if name == b"content-type")
    try:
        _, params = parse_header_parameters(stated.decode("latin-1"))
    except ValueError:
        return False
    return params.get("charset", "utf-8").lower() == "utf-8"


async def _refuse(send: Send, status: int, kind: str, text: str) -> None:
    headers = [(b"content-type", f"{kind}; charset=utf-8".encode())]
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": text.encode()})


async def _lifespan(receive: Receive, send: Send) -> None:
    """Start the runner and the sweeper; at the end let running legs finish, then mark them."""
    await receive()
    gc.freeze()  # what is there by now stays: to look through it again and again took 4 to 7 % of a leg's time
    hub.start()
    runner.start()
    sweeper = asyncio.create_task(_sweep())
    await send({"type": "lifespan.startup.complete"})
    await receive()
    sweeper.cancel()
    with contextlib.suppress(asyncio.CancelledError):
        await sweeper
    await runner.drain(settings.CONFIG.drain_timeout)
    await renewal.finish()
    await hub.close()
    await egress.aclose()
    await send({"type": "lifespan.shutdown.complete"})


async def _sweep() -> None:
    """Once a minute: end what ran out or lost its record, give up on legs whose lease ran out, forget allowances."""
    ended = (SessionStore.clear_expired, ledger.expire_old_orphans, ledger.expire_leases)
    while True:
        for work in (*ended, allowances.forget_free, guard.forget_old):
            try:
                await threaded(work)
            except Exception as error:  # a lost database must not end the sweeper
                log.warning("sweep failed: %s", type(error).__name__)
        await asyncio.sleep(SWEEP_EVERY)


def _static_headers(headers: MutableMapping[str, str], path: str, url: str) -> None:
    headers["Cache-Control"] = STATIC_CACHE


static = ServeStaticASGI(
    PageHandler(),
    root=settings.STATIC_ROOT,
    prefix=settings.STATIC_URL,
    allow_all_origins=False,
    add_headers_function=_static_headers,
)
capped = BodyCap(Utf8Only(static), settings.CONFIG.max_request_bytes)


async def application(scope: Scope, receive: Receive, send: Send) -> None:
    """The entry point for the ASGI server."""
    if scope["type"] == "lifespan":
        return await _lifespan(receive, send)
    sending = _with_policy(scope, send, about.begin())
    if scrape.is_asked(scope):
        return await scrape.page(scope, sending)
    app = consumers.page if scope["type"] == "websocket" else capped
    return await app(scope, receive, sending)


def _with_policy(scope: Scope, send: Send, request: str) -> Send:
    """Every answer has the headers of all, also where Django's middleware never saw it, and the id of its request."""
    wanted = {**HEADERS, b"x-request-id": request.encode()}
    if scope["path"] in static.files:
        del wanted[OF_PAGES]
    if scope["scheme"] in ("https", "wss") and settings.SECURE_HSTS_SECONDS:
        wanted[b"strict-transport-security"] = STRICT_TRANSPORT.encode()

    async def sending(message: MutableMapping[str, Any]) -> None:
        if message["type"] in ("http.response.start", "websocket.http.response.start"):
            given = [(name.lower(), value) for name, value in message["headers"]]
            missing = wanted.keys() - {name for name, _ in given}
            message = {**message, "headers": given + [(name, wanted[name]) for name in sorted(missing)]}
        await send(message)

    return sending
