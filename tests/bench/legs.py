"""A leg through the app against the same leg sent by the SDK, in turn, in one run: only ratios hold on a busy machine.

One thing is varied at a time. What is compared is taken in turn again and again, A B C A B C, so that what else the
machine does falls on all alike.
"""

import asyncio
import contextlib
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from django.contrib.auth.models import User
from django.db import connection
from mcp import Client

from mrtr_web.models import Server
from mrtr_web.wire import REVISION
from tests.bench import spent
from tests.bench.clients import Browser, Load, Plain, Warm, fresh
from tests.bench.peer import Proxy, inspector
from tests.bench.rows import milliseconds, quartiles
from tests.desk import on_this_machine
from tests.processes import Process, documented, serving
from tests.visitors import cookies_of

WARM_UP = 8
PAIRS = 120
PAIRS_EACH = 40
"""Where something is varied; beyond that it would take too long."""
BASE = ""
LOADS = {  # 256 kB is all that the app takes
    BASE: Load(),
    "upstream 50 ms": Load(work=50),
    "state 64 kB": Load(state=64 * 1024),
    "state 256 kB": Load(state=256 * 1024),
    "100 fields": Load(fields=100),
}
PEER = "Inspector's proxy"
AT_ONCE = 16
BLOCK = 2.0
"""Seconds of legs by AT_ONCE at a time."""
BLOCKS = 4
Work = Callable[[], Awaitable[object]]
Counted = Callable[[], Awaitable[int]]
"""It gives how many legs it sent."""


@dataclass
class Way:
    """One way of sending a leg: seconds of each, processor seconds of `pids`, and what it is a multiple `of`."""

    send: Work
    prepare: Callable[[], object] = lambda: None
    pids: tuple[int, ...] = ()
    of: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        self.took: list[float] = []
        self.spent: list[float] = []

    async def once(self) -> None:
        await asyncio.to_thread(self.prepare)
        before, began = spent.exactly(*self.pids), time.perf_counter()
        await self.send()
        self.took.append(time.perf_counter() - began)
        self.spent.append(spent.exactly(*self.pids) - before)


@dataclass(frozen=True)
class Site:
    """What is measured: where the server is, who serves the app, and the proxy where there is one."""

    storage: str
    url: str
    processes: list[Process]
    proxy: Proxy | None

    @property
    def apps(self) -> dict[str, list[Process]]:
        """One process by itself; and two beside it, where there are three."""
        two = {"app, two processes": self.processes[1:]} if len(self.processes) > 1 else {}
        return {"app": self.processes[:1]} | two

    @contextlib.asynccontextmanager
    async def without_app(self, load: Load) -> AsyncIterator[dict[str, Way]]:
        """The floor, what people write with the SDK, and the peer with a floor of its own."""
        here = (os.getpid(),)
        async with contextlib.AsyncExitStack() as stack:
            warm = Warm(await stack.enter_async_context(Client(self.url, mode=REVISION)), load)
            await warm.prepare()
            ways = {"raw": Way(warm.leg, pids=here), "fresh": Way(partial(fresh, self.url, warm), pids=here)}
            if self.proxy:
                plain = Plain(await stack.enter_async_context(Client(self.url, mode="legacy")), load)
                through = Plain(await stack.enter_async_context(self.proxy.client(self.url)), load)
                ways["plain"] = Way(plain.leg, pids=here)
                ways[PEER] = Way(through.leg, pids=(self.proxy.pid,), of=("plain",))
            yield ways


@contextlib.contextmanager
def upstream() -> Iterator[str]:
    """The server in a process of its own: its address."""
    command = [sys.executable, "-m", "tests.bench.upstream"]
    with subprocess.Popen(command, stdout=subprocess.PIPE) as server:
        try:
            assert server.stdout is not None
            yield server.stdout.readline().decode().strip()
        finally:
            server.terminate()


def registered(url: str) -> Server:
    return on_this_machine("bench", "Bench", url)


def run() -> None:
    many = connection.vendor == "postgresql"
    cookies = [cookies_of(User.objects.create(username=f"person {number}")) for number in range(AT_ONCE)]
    with (
        upstream() as url,
        inspector() as proxy,
        tempfile.TemporaryDirectory() as name,
        contextlib.ExitStack() as stack,
    ):
        registered(url)
        processes = [stack.enter_context(serving(Path(name), None, documented)) for _ in range(3 if many else 1)]
        site = Site("PostgreSQL and Redis" if many else "SQLite", url, processes, proxy)
        for title, load in LOADS.items():
            asyncio.run(_in_turn(site, title, load, cookies[0]))
        asyncio.run(_at_once(site, cookies))


async def _in_turn(site: Site, title: str, load: Load, cookies: dict[str, str]) -> None:
    """Each way once, over and over."""
    what = ", ".join(filter(None, (site.storage, title)))
    browsers: dict[str, Browser] = {}
    async with site.without_app(load) as ways:
        others = tuple(name for name in ways if name != "plain")
        for name, members in site.apps.items():
            browsers[name] = await asyncio.to_thread(Browser, cookies, load, *(each.base for each in members))
            ways[name] = _through(browsers[name], members, others)
        for _ in range(WARM_UP + (PAIRS if title == BASE else PAIRS_EACH)):
            for way in ways.values():
                await way.once()
    for name, browser in browsers.items():
        milliseconds("legs", f"{what}: {name}, to the redirect alone", browser.posts[WARM_UP:])
    _report(what, ways)


def _through(browser: Browser, members: list[Process], others: tuple[str, ...]) -> Way:
    pids = tuple(each.handle.pid for each in members)
    return Way(partial(asyncio.to_thread, browser.leg), browser.prepare, pids, others)


def _report(what: str, ways: dict[str, Way]) -> None:
    for name, way in ways.items():
        milliseconds("legs", f"{what}: {name}", way.took[WARM_UP:])
        milliseconds("legs", f"{what}: {name}, processor time", way.spent[WARM_UP:])
        for other in way.of:
            _ratio(f"{what}: {name} / {other}", way.took, ways[other].took)
    if "app, two processes" in ways:
        one, two = ways["app"].spent, ways["app, two processes"].spent
        _ratio(f"{what}: processor time, two processes / one", two, one)


def _ratio(what: str, some: list[float], others: list[float]) -> None:
    pairs = zip(some[WARM_UP:], others[WARM_UP:], strict=True)
    quartiles("legs", what, [a / b for a, b in pairs], "")


async def _at_once(site: Site, cookies: list[dict[str, str]]) -> None:
    """AT_ONCE people who do not think, and as many calls in the other ways, in blocks by turns."""
    load = Load()
    rates: dict[str, list[float]] = {}
    costs: dict[str, list[float]] = {}
    async with contextlib.AsyncExitStack() as stack:
        ways = await stack.enter_async_context(site.without_app(load))
        crowds: dict[str, tuple[Sequence[Counted], tuple[int, ...]]] = {}
        crowds |= {name: ([partial(_counted, way.send)] * AT_ONCE, way.pids) for name, way in ways.items()}
        for name, members in site.apps.items():
            made = [Browser(each, load, *(member.base for member in members)) for each in cookies]
            pool = stack.enter_context(ThreadPoolExecutor(AT_ONCE))
            crowds[name] = ([_loop(each, pool) for each in made], tuple(each.handle.pid for each in members))
        for _ in range(BLOCKS):
            for name, (works, pids) in crowds.items():
                count, seconds, cost = await _block(works, pids)
                rates.setdefault(name, []).append(count / seconds)
                costs.setdefault(name, []).append(cost / count)
    for name, found in rates.items():
        quartiles("legs", f"{site.storage}, {AT_ONCE} at once: {name}, legs per second", found, "/s")
        milliseconds("legs", f"{site.storage}, {AT_ONCE} at once: {name}, processor time per leg", costs[name])


def _loop(browser: Browser, pool: ThreadPoolExecutor) -> Counted:
    def once() -> int:
        begun = browser.prepare()
        browser.leg()
        return begun + 1

    return lambda: asyncio.get_running_loop().run_in_executor(pool, once)


async def _counted(work: Work) -> int:
    await work()
    return 1


async def _block(works: Sequence[Counted], pids: tuple[int, ...]) -> tuple[int, float, float]:
    """How many legs, in how many seconds, with how much processor time: starts count as legs, stops as cost."""
    began, before = time.perf_counter(), spent.exactly(*pids)
    done = 0

    async def over_and_over(work: Counted) -> None:
        nonlocal done
        while time.perf_counter() < began + BLOCK:
            sent = await work()
            done += sent  # in two lines: the sum must not begin with what it was before the wait

    await asyncio.gather(*(over_and_over(work) for work in works))
    return done, time.perf_counter() - began, spent.exactly(*pids) - before
