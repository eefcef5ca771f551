"""What 500 open pages cost one process: memory (MiB, resident), at rest and after each was told something."""

import asyncio
import contextlib
import tempfile
from pathlib import Path

from django.contrib.auth.models import User
from websockets.asyncio.client import connect

from mrtr_web import sockets
from mrtr_web.models import Flow
from tests.bench import spent
from tests.bench.legs import registered
from tests.bench.rows import row
from tests.processes import Process, documented, serving
from tests.visitors import cookie_header, cookies_of

PAGES = 500
REST = "unknown.0.0.1"
"""Where the flows are. A page that shows something else is told that it moved."""


def run() -> None:
    server = registered("http://127.0.0.1:9/")
    people = [User.objects.create(username=f"p{n}") for n in range(PAGES // sockets.MOST)]
    for seen in (REST, "other.0"):
        with tempfile.TemporaryDirectory() as folder, serving(Path(folder), None, documented) as process:
            pages = []
            for user in people:
                flow = Flow.objects.create(user=user, server=server, method="tools/call", state="unknown")
                cookies = cookie_header(cookies_of(user))
                pages += [(f"/ws/flows/{flow.pk}/", cookies)] * sockets.MOST
            asyncio.run(_open(process, pages[:5], seen))  # so that what the first socket loads does not count
            asyncio.run(_open(process, pages, seen))


async def _open(process: Process, pages: list[tuple[str, str]], seen: str) -> None:
    pid = process.handle.pid
    before, began = spent.resident(pid), spent.exactly(pid)
    async with contextlib.AsyncExitStack() as stack:
        for path, cookies in pages:
            url = process.base.replace("http", "ws") + f"{path}?seen={seen}"
            opened = connect(url, origin=process.base, additional_headers={"Cookie": cookies}, proxy=None)  # type: ignore[arg-type]
            socket = await stack.enter_async_context(opened)
            if seen != REST:
                await socket.recv()
        opened_all = spent.exactly(pid)
        await asyncio.sleep(5)
        after, watching = spent.resident(pid), (spent.exactly(pid) - opened_all) / 5
        if len(pages) == PAGES:
            kind = "at rest" if seen == REST else "each told once"
            what = f"{PAGES} open pages, {kind}"
            row("sockets", what, after - before, "MiB")
            row("sockets", f"{what}: processor time of opening all", opened_all - began, "s")
            row("sockets", f"{what}: processor time per second", watching * 1000, "ms")
