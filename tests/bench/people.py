"""300 people in mid-wizard on a whole deployment: nginx with TLS, two processes, PostgreSQL, Redis, an MCP server.

First with time to think, so that all are in the middle of a booking at once; then a few without, as fast as they can:
what the machine can do. Each has a session, a connection and the socket of the open page of their own.
"""

import asyncio
import contextlib
import os
import statistics
import sys
import tempfile
import time
from collections import Counter
from collections.abc import AsyncIterator
from pathlib import Path

from django.contrib.auth.models import User
from django.db import connection

from mrtr_web.models import Flow
from tests.bench.rows import row
from tests.bench.walkers import Script, Tally, Walker, rehearse
from tests.bench.world import World, deployed
from tests.visitors import cookies_of

PEOPLE = 300
THINK = 60.0
"""Seconds from one page to the next post, on average: there are 14 fields, a deposit and a confirmation."""
MEASURED = 40.0
HURRIED = 16
"""People at once who do not think, and who begin."""
HURRY = 20.0
"""Seconds that they have."""
BOUND = 60.0
"""Seconds for all to begin, or for what is under way to end."""


def run() -> None:
    users = User.objects.bulk_create(User(username=f"person {n}", password="!") for n in range(PEOPLE))
    cookies = [cookies_of(user) for user in users]
    with tempfile.TemporaryDirectory() as folder, deployed(Path(folder)) as world:
        script = rehearse(world, cookies[0])
        wrong = asyncio.run(_all(world, cookies, script))
    if wrong:
        sys.exit(f"{len(wrong)} went wrong: {Counter(wrong).most_common(5)}")


async def _all(world: World, cookies: list[dict[str, str]], script: Script) -> list[str]:
    tally = Tally()
    walkers = [Walker(world, each, script, tally, THINK) for each in cookies]
    async with asyncio.timeout(BOUND), _measured(world, tally, f"{PEOPLE} people begin, {HURRIED} at once"):
        await _begin(walkers)
    await _walk(world, tally, walkers, MEASURED, f"{PEOPLE} people who think for {THINK:.0f} s")
    hurried = [Walker(world, each, script, tally, 0) for each in cookies[:HURRIED]]
    await _walk(world, tally, hurried, HURRY, f"{HURRIED} people who do not think")
    await asyncio.gather(*(walker.close() for walker in (*walkers, *hurried)), world.elsewhere.aclose())
    return tally.wrong


async def _begin(walkers: list[Walker]) -> None:
    coming = iter(walkers)

    async def one_after_the_other() -> None:
        for walker in coming:
            await walker.begin()

    await asyncio.gather(*(one_after_the_other() for _ in range(HURRIED)))


async def _walk(world: World, tally: Tally, walkers: list[Walker], seconds: float, what: str) -> None:
    end = time.monotonic() + seconds
    async with asyncio.timeout(seconds + BOUND), asyncio.TaskGroup() as walking:
        for walker in walkers:
            walking.create_task(walker.walk(end))
        async with _measured(world, tally, what):
            await asyncio.sleep(seconds)


@contextlib.asynccontextmanager
async def _measured(world: World, tally: Tally, what: str) -> AsyncIterator[None]:
    """Everything in the block, and the table of it."""
    tally.clear()
    began, before = time.monotonic(), world.processor()
    peak = dict.fromkeys(world.parts, 0.0)
    watching = asyncio.create_task(_watch(world, peak))
    yield
    watching.cancel()
    took, legs, after = time.monotonic() - began, list(tally.legs), world.processor()
    waiting = await asyncio.to_thread(_waiting)
    print(f"{what}, for {took:.0f} s (load {os.getloadavg()[0]:.1f}):")
    row("people", f"{what}: legs per second", len(legs) / took, "/s")
    row("people", f"{what}: in mid-wizard", waiting, "people")
    row("people", f"{what}: errors", len(tally.wrong), "")
    row("people", f"{what}: sockets refused", tally.refused, "")
    for name, seconds in (("post to the page of the next round", legs), ("a page", tally.pages)):
        parts = statistics.quantiles(seconds, n=20)
        row("people", f"{what}: {name}, p50", parts[9] * 1000, "ms")
        row("people", f"{what}: {name}, p95", parts[18] * 1000, "ms")
    for name in world.parts:
        spent = after[name] - before[name]
        note = f"{spent:.2f} s of processor, {spent / took:.0%} of one; {peak[name]:.0f} MiB at most"
        row(
            "people",
            f"{what}: {name}, per leg",
            1000 * spent / len(legs),
            "ms",
            note=note,
            spent=spent,
            peak=peak[name],
        )


async def _watch(world: World, peak: dict[str, float]) -> None:
    while True:
        for name, now in (await asyncio.to_thread(world.memory)).items():
            peak[name] = max(now, peak[name])
        await asyncio.sleep(5)


def _waiting() -> int:
    try:
        return Flow.objects.filter(state="waiting").values("user").distinct().count()
    finally:
        connection.close()
