"""The demo server as the site's one MCP server: all that reaches it is kept, and it may be told to keep its answers."""

import asyncio
import contextlib
from collections.abc import Iterator

from mrtr_web.demo.server import build
from mrtr_web.models import Server
from tests.desk import calls, point_to
from tests.servers import App, Receive, Recorder, Scope, Send, serve


class Holding:
    """Passes everything on. While `holds` is true, a call is carried out and its answer never leaves."""

    def __init__(self, app: App) -> None:
        self.app, self.holds = app, False

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        post = scope.get("mrtr.post")
        if self.holds and post and post.json and post.json["method"] == "tools/call":
            return await self._kept(scope, receive)
        await self.app(scope, receive, send)

    async def _kept(self, scope: Scope, receive: Receive) -> None:
        async def nowhere(_: object) -> None:
            pass

        first, carried_out = [await receive()], asyncio.Event()

        async def replayed() -> dict[str, object]:
            if first:
                return dict(first.pop())
            await carried_out.wait()
            return {"type": "http.disconnect"}

        await self.app(scope, replayed, nowhere)
        carried_out.set()
        while (await receive())["type"] != "http.disconnect":
            pass


class Travel:
    def __init__(self, recorder: Recorder, holding: Holding) -> None:
        self.recorder, self._holding = recorder, holding

    @property
    def calls(self) -> int:
        """How many POSTs with a call came so far."""
        return len(calls(self.recorder))

    @contextlib.contextmanager
    def silent(self) -> Iterator[None]:
        self._holding.holds = True
        try:
            yield
        finally:
            self._holding.holds = False


@contextlib.contextmanager
def travel(server: Server) -> Iterator[Travel]:
    """Its own pages are at another host than the site: cookies ignore ports."""
    holding = Holding(build("a key for the tests", pages_host="127.0.0.1"))
    recorder = Recorder(holding)
    with serve(recorder, lifespan="on") as base:
        point_to(server, base)
        yield Travel(recorder, holding)
