"""A leg through the app against the same leg sent by the SDK, in turn, in one run: only ratios hold on a busy machine.

One thing is varied at a time. What is compared is taken in turn again and again, A B C A B C, so that what else the
machine does falls on all alike.
"""

import asyncio
import contextlib
import subprocess
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable, Iterator
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
from tests.bench.clients import Browser, Load, Warm, fresh
from tests.bench.rows import milliseconds, quartiles
from tests.desk import on_this_machine
from tests.processes import Process, documented, serving
from tests.visitors import cookies_of

WARM_UP = 8
PAIRS = 60
LOADS = {  # of the states: the SDK's server seals them, which makes a third more of them; 256 kB is all we take
    "": Load(),
    "upstream 50 ms": Load(work=50),
    "state 64 kB": Load(state=48_000),
    "state 240 kB": Load(state=180_000),
    "100 fields": Load(fields=100),
}
AT_ONCE = 16
BLOCK = 4.0
"""Seconds of legs by AT_ONCE at a time."""
BLOCKS = 4
Work = Callable[[], Awaitable[object]]
Counted = Callable[[], Awaitable[int]]
"""It gives how many legs it sent."""


@dataclass
class Way:
    """One way of sending a leg: seconds of each, and processor seconds where it goes through the app."""

    send: Work
    prepare: Callable[[], object] = lambda: None
    pids: tuple[int, ...] = ()

    def __post_init__(self) -> None:
        self.took: list[float] = []
        self.spent: list[float] = []

    async def once(self) -> None:
        await asyncio.to_thread(self.prepare)
        before, began = spent.exactly(*self.pids), time.perf_counter()
        await self.send()
        self.took.append(time.perf_counter() - began)
        self.spent.append(spent.exactly(*self.pids) - before)


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
    storage = "PostgreSQL and Redis" if many else "SQLite"
    cookies = [cookies_of(User.objects.create(username=f"person {number}")) for number in range(AT_ONCE)]
    with upstream() as url, tempfile.TemporaryDirectory() as name, contextlib.ExitStack() as stack:
        registered(url)
        processes = [stack.enter_context(serving(Path(name), None, documented)) for _ in range(3 if many else 1)]
        for title, load in list(LOADS.items())[: 1 if many else None]:
            what = ", ".join(filter(None, (storage, title)))
            asyncio.run(_in_turn(what, url, load, cookies[0], processes))
        asyncio.run(_at_once(storage, url, cookies, processes))


async def _in_turn(what: str, url: str, load: Load, cookies: dict[str, str], processes: list[Process]) -> None:
    """Each way once, over and over."""
    async with Client(url, mode=REVISION) as client:
        warm = Warm(client, load)
        await warm.prepare()
        posts: dict[str, list[float]] = {}
        ways = {"raw": Way(warm.leg), "fresh": Way(lambda: fresh(url, warm))}
        for name, members in _sites(processes).items():
            browser = await asyncio.to_thread(Browser, cookies, load, *(each.base for each in members))
            pids = tuple(each.handle.pid for each in members)
            ways[name] = Way(partial(asyncio.to_thread, browser.leg), browser.prepare, pids)
            posts[name] = browser.posts
        for _ in range(WARM_UP + PAIRS):
            for way in ways.values():
                await way.once()
    for name, seconds in posts.items():
        milliseconds("legs", f"{what}: {name}, to the redirect alone", seconds[WARM_UP:])
    _report(
        what, {name: way.took[WARM_UP:] for name, way in ways.items()}, {n: w.spent[WARM_UP:] for n, w in ways.items()}
    )


def _sites(processes: list[Process]) -> dict[str, list[Process]]:
    """One process by itself; and two beside it, where there are three."""
    return {"app": processes[:1]} | ({"app, two processes": processes[1:]} if len(processes) > 1 else {})


def _report(what: str, took: dict[str, list[float]], cost: dict[str, list[float]]) -> None:
    for name, seconds in took.items():
        milliseconds("legs", f"{what}: {name}", seconds)
    for name in took.keys() - {"raw", "fresh"}:
        milliseconds("legs", f"{what}: {name}, processor time", cost[name])
        for other in ("raw", "fresh"):
            pairs = [a / b for a, b in zip(took[name], took[other], strict=True)]
            quartiles("legs", f"{what}: {name} / {other}", pairs, "")
    if "app, two processes" in cost:
        pairs = [a / b for a, b in zip(cost["app, two processes"], cost["app"], strict=True)]
        quartiles("legs", f"{what}: processor time, two processes / one", pairs, "")


async def _at_once(storage: str, url: str, cookies: list[dict[str, str]], processes: list[Process]) -> None:
    """AT_ONCE people who do not think, and as many calls by the SDK, in blocks by turns."""
    load = Load()
    rates: dict[str, list[float]] = {}
    costs: dict[str, list[float]] = {}
    async with contextlib.AsyncExitStack() as stack, Client(url, mode=REVISION) as client:
        people = {}
        for name, members in _sites(processes).items():
            made = [Browser(each, load, *(member.base for member in members)) for each in cookies]
            pool = stack.enter_context(ThreadPoolExecutor(AT_ONCE))
            people[name] = (made, pool, tuple(each.handle.pid for each in members))
        warm = Warm(client, load)
        await warm.prepare()
        for _ in range(BLOCKS):
            count, seconds, _cost = await _block([partial(_counted, warm.leg)] * AT_ONCE, ())
            rates.setdefault("raw", []).append(count / seconds)
            for name, (made, pool, pids) in people.items():
                count, seconds, cost = await _block([_loop(each, pool) for each in made], pids)
                rates.setdefault(name, []).append(count / seconds)
                costs.setdefault(name, []).append(cost / count)
    for name, found in rates.items():
        quartiles("legs", f"{storage}, {AT_ONCE} at once: {name}, legs per second", found, "/s")
    for name, found in costs.items():
        milliseconds("legs", f"{storage}, {AT_ONCE} at once: {name}, processor time per leg", found)


def _loop(browser: Browser, pool: ThreadPoolExecutor) -> Counted:
    def once() -> int:
        begun = browser.prepare()
        browser.leg()
        return begun + 1

    return lambda: asyncio.get_running_loop().run_in_executor(pool, once)


async def _counted(work: Work) -> int:
    await work()
    return 1


async def _block(works: list[Counted], pids: tuple[int, ...]) -> tuple[int, float, float]:
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
