"""What 50 legs that hang at one server do to the legs to another one: in blocks with them and without, by turns."""

import asyncio
import contextlib
import statistics
import sys
import tempfile
import time
import uuid
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from django.contrib.auth.models import User

from mrtr_web.models import Flow, Server
from mrtr_web.networks import PRIVATE
from tests.bench.rows import milliseconds, quartiles
from tests.desk import Desk, done
from tests.person import Person
from tests.processes import Process, documented, serving
from tests.servers import BOUND, Receive, Recorder, Scope, Send, serve
from tests.visitors import cookies_of

HUNG = 50
PEOPLE = 5
"""Whose legs hang; no person has more than half of a server's places."""
BLOCKS = 6
"""Of each kind."""
LEGS = 40
"""In one block."""
GOAL = 1.2
"""By how much the p95 may grow."""


@dataclass
class Hanging(Desk):
    """Says nothing to a call until it is let go."""

    out: int = 0
    gate: asyncio.Event = field(default_factory=asyncio.Event)
    loop: asyncio.AbstractEventLoop | None = None

    def __post_init__(self) -> None:
        super().__init__(done())

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        post = scope.get("mrtr.post")
        if post and post.json and post.json["method"] == "tools/call":
            self.loop = asyncio.get_running_loop()
            self.out += 1
            await self.gate.wait()
            self.out -= 1
        await super().__call__(scope, receive, send)

    def let_go(self) -> None:
        assert self.loop is not None
        self.loop.call_soon_threadsafe(self._open)
        _until(lambda: self.out == 0)

    def _open(self) -> None:
        self.gate.set()
        self.gate = asyncio.Event()


@dataclass
class Starter:
    """A person with the form of one server at hand."""

    person: Person
    path: str
    form: Mapping[str, list[str]]

    def leg(self) -> float:
        """Seconds from Start until the leg has landed."""
        began = time.perf_counter()
        data = {**self.form, "flow": [str(uuid.uuid4())]}
        self.person.client.post(self.path, data=data, headers={"Origin": self.person.base}, follow_redirects=False)
        return time.perf_counter() - began


@contextlib.contextmanager
def _starter(process: Process, user: User, slug: str) -> Iterator[Starter]:
    with Person(process.base) as person:
        person.client.cookies.update(cookies_of(user))
        path = f"/s/{slug}/tools/ask/"
        person.get(path)
        person.fill("Topic", "x")
        yield Starter(person, path, person.page.button("Start")[0].data())


def run() -> None:
    hanging = Hanging()
    with (
        tempfile.TemporaryDirectory() as folder,
        serve(Recorder(hanging), lifespan="on") as bad,
        serve(Recorder(Desk(done())), lifespan="on") as good,
        _registered(hangs=bad, answers=good),
        serving(Path(folder), None, documented) as process,
        contextlib.ExitStack() as stack,
    ):
        users = [User.objects.create(username=f"hung {n}") for n in range(PEOPLE + 1)]
        stuck = [stack.enter_context(_starter(process, user, "hangs")) for user in users[1:]]
        free = stack.enter_context(_starter(process, users[0], "answers"))
        _block(free)
        pairs = [_pair(hanging, stuck, free) for _ in range(BLOCKS)]
    _report(pairs)


@contextlib.contextmanager
def _registered(**bases: str) -> Iterator[None]:
    made = [
        Server.objects.create(slug=slug, name=slug, url=f"{base}/mcp", private_networks=list(PRIVATE))
        for slug, base in bases.items()
    ]
    yield
    Flow.objects.filter(server__in=made).delete()
    for server in made:
        server.delete()


def _pair(hanging: Hanging, stuck: list[Starter], free: Starter) -> tuple[list[float], list[float]]:
    """A block with nothing in the way, and one beside the legs that hang."""
    alone = _block(free)
    with ThreadPoolExecutor(HUNG) as pool:
        for number in range(HUNG):
            pool.submit(stuck[number % PEOPLE].leg)
        _until(lambda: hanging.out == HUNG)
    beside = _block(free)
    hanging.let_go()
    return alone, beside


def _block(free: Starter) -> list[float]:
    return [free.leg() for _ in range(LEGS)]


def _p95(seconds: list[float]) -> float:
    return statistics.quantiles(seconds, n=20)[-1]


def _until(happened: Any) -> None:
    end = time.monotonic() + BOUND
    while not happened():
        assert time.monotonic() < end, "the legs did not come"
        time.sleep(0.02)


def _report(pairs: list[tuple[list[float], list[float]]]) -> None:
    alone, beside = ([leg for pair in pairs for leg in pair[side]] for side in (0, 1))
    for name, legs in (("alone", alone), (f"beside {HUNG} legs that hang", beside)):
        milliseconds("hung", f"a leg through the app, {name}", legs, p95=_p95(legs) * 1000)
    ratios = [_p95(pair[1]) / _p95(pair[0]) for pair in pairs]
    quartiles("hung", "p95 beside legs that hang / alone", ratios, "")
    if statistics.quantiles(ratios, n=4)[0] >= GOAL:  # else it is what the machine does besides
        sys.exit("legs that hang at one server slow down those to another one")
