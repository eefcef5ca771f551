"""What a leg costs in whole numbers: thread hops and queries of the post, and of the page that follows."""

import contextlib
from collections.abc import Callable

from django.contrib.auth.models import User
from django.core.management import call_command

from mrtr_web.asgi import application
from mrtr_web.connections import WebSocket
from tests import counting
from tests.bench.clients import Browser, Load
from tests.bench.legs import registered, upstream
from tests.bench.rows import row
from tests.servers import serve
from tests.visitors import cookies_of


def run() -> None:
    call_command("collectstatic", interactive=False, verbosity=0)
    cookies = cookies_of(User.objects.create(username="alice"))
    with upstream() as url, serve(application, lifespan="on", ws=WebSocket) as base:
        registered(url)
        browser = Browser(cookies, Load(), base)
        browser.prepare()
        browser.leg()
        browser.prepare()
        target = _counted("the post of an answer", browser.post)
        _counted("the page that follows", lambda: browser.follow(target))


def _counted(what: str, work: Callable[[], str | None]) -> str:
    with contextlib.ExitStack() as stack:
        hops, queries = stack.enter_context(counting.hops()), stack.enter_context(counting.queries())
        found = work()
        counting.settled(hops)
        row("counts", f"{what}: thread hops", len(hops), "", note=" ".join(hops))
        row("counts", f"{what}: queries", len(queries), "", sql=queries)
    return found or ""
