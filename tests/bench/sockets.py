"""What 500 open pages cost one process: memory (MiB, resident), at rest and after each was told something."""

import asyncio
import contextlib
import os
from pathlib import Path

from django.contrib.auth.models import User
from websockets.asyncio.client import connect

from mrtr_web import sockets
from mrtr_web.models import Flow, Server
from tests.processes import Process, serving
from tests.visitors import cookie_header, cookies_of

PAGES = 500
REST = "unknown.0.0.1"
"""Where the flows are. A page that shows something else is told that it moved."""


def run(folder: Path, server: Server) -> None:
    people = [User.objects.create(username=f"p{n}") for n in range(PAGES // sockets.MOST)]
    for seen in (REST, "other.0"):
        with serving(folder) as process:
            pages = []
            for user in people:
                flow = Flow.objects.create(user=user, server=server, method="tools/call", state="unknown")
                cookies = cookie_header(cookies_of(user))
                pages += [(f"/ws/flows/{flow.pk}/", cookies)] * sockets.MOST
            asyncio.run(_open(process, pages[:5], seen))  # so that what the first socket loads does not count
            asyncio.run(_open(process, pages, seen))


async def _open(process: Process, pages: list[tuple[str, str]], seen: str) -> None:
    before, spent = _resident(process), _busy(process)
    async with contextlib.AsyncExitStack() as stack:
        for path, cookies in pages:
            url = process.base.replace("http", "ws") + f"{path}?seen={seen}"
            opened = connect(url, origin=process.base, additional_headers={"Cookie": cookies}, proxy=None)  # type: ignore[arg-type]
            socket = await stack.enter_async_context(opened)
            if seen != REST:
                await socket.recv()
        opening = _busy(process) - spent
        spent = _busy(process)
        await asyncio.sleep(5)
        after = _resident(process)
        watching = (_busy(process) - spent) / 5
        if len(pages) == PAGES:
            kind = "at rest" if seen == REST else "each told once"
            print(f"{f'{PAGES} open pages, {kind}':45} {after - before:8.1f} MiB")
            print(f"{'  processor time: opening all, then per second':45} {opening:8.2f} s, {watching * 1000:.1f} ms")


def _resident(process: Process) -> float:
    for line in Path(f"/proc/{process.handle.pid}/status").read_text().splitlines():
        if line.startswith("VmRSS"):
            return int(line.split()[1]) / 1024
    raise RuntimeError("no VmRSS")


def _busy(process: Process) -> float:
    """Processor seconds that it has used."""
    fields = Path(f"/proc/{process.handle.pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
