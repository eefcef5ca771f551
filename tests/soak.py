"""Many people through many rounds while processes are killed: counts what must never happen.

Two processes serve one database; every few seconds one is killed in the middle of whatever it does and started again.
A person goes on by what the page says, as anybody would. The scripted server knows each flow by its state and keeps
what came, so that afterwards every call and every answer can be accounted for.
"""

import collections
import contextlib
import json
import random
import re
import threading
import time
import uuid
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import httpx2
from django.contrib.auth.models import User

from mrtr_web.models import Flow, Server
from tests.desk import TOOL, calls, desk, done, required
from tests.person import Page, Person
from tests.processes import Process, listening, serving
from tests.servers import Answer, Post, html
from tests.visitors import cookies_of

ROUNDS = 5
MARK = re.compile(r"mark-(\d+)-")
SETTINGS = {"MRTR_HEARTBEAT": "0.5", "MRTR_LOG_LEVEL": "ERROR"}
GOES_ON = {"unknown": "Send again", "unsent": "Send again", "not_yet": "Check again"}


@dataclass
class Tally:
    """What happened. `sent` and `again` count by (flow, round): calls that came, and what people had sent again."""

    sent: collections.Counter[tuple[str, int]] = field(default_factory=collections.Counter)
    again: collections.Counter[tuple[str, int]] = field(default_factory=collections.Counter)
    states: collections.Counter[str] = field(default_factory=collections.Counter)
    finished: int = 0
    kills: int = 0
    broken_connections: int = 0
    wrong: list[str] = field(default_factory=list)

    @property
    def doubled(self) -> list[tuple[str, int]]:
        """Rounds that were called more often than people had said."""
        return [key for key, count in self.sent.items() if count > 1 + self.again[key]]


def answer(post: Post) -> Answer:
    """Asks ROUNDS times; the state carries the flow's topic and all answers so far, so the last result tells them."""
    if post.json is None:  # its sender was killed in the middle of it
        return html(400)
    topic = post.params["arguments"]["topic"]
    told: list[str] = json.loads(post.params.get("requestState", "[]"))
    if "inputResponses" in post.params:
        told = [*told, post.params["inputResponses"]["who"]["content"]["name"]]
    time.sleep(random.uniform(0, 0.002))
    if len(told) == ROUNDS:
        return done(f"{topic} told {' '.join(told)}")(post)
    schema = {"type": "object", "properties": {"name": {"type": "string", "title": "Name"}}, "required": ["name"]}
    params = {"message": f"{topic} round {len(told) + 1}", "requestedSchema": schema}
    return required({"who": {"method": "elicitation/create", "params": params}}, json.dumps(told))(post)


class Walker(Person):
    """A person behind a balancer: who meets a broken connection looks again, wherever they are led to."""

    def __init__(self, base: str, number: int, cookies: dict[str, str], tally: Tally, pace: float) -> None:
        super().__init__(base)
        self.client.cookies.update(cookies)
        self.number, self.tally, self.pace = number, tally, pace

    def walk(self, until: float) -> None:
        while time.monotonic() < until:
            self._flow()

    def _flow(self) -> None:
        mark = f"mark-{self.number}-{uuid.uuid4().hex[:8]}"
        self._look(TOOL)
        self.fill("Topic", mark)
        form, _, _ = self.page.button("Start")
        path = f"/flows/{form.data()['flow'][0]}/"
        self._try("Start")
        end = time.monotonic() + 120
        while time.monotonic() < end:
            self._look(path)
            if self.page.status == 404:  # the start never arrived: this form may be sent again
                self._look(TOOL)
                self.fill("Topic", mark)
                path = f"/flows/{self.page.button('Start')[0].data()['flow'][0]}/"
                self._try("Start")
            elif self.page.state == "waiting":
                self.fill("Name", f"{mark}.{self._round()}")
                self._try("Send")
            elif self.page.state in GOES_ON:
                self.tally.again[mark, self._round_of_flow()] += 1
                self._try(GOES_ON[self.page.state])
            elif self.page.state != "running":
                return self._finished(mark)
            time.sleep(random.uniform(self.pace / 2, self.pace * 1.5))
        self.tally.wrong.append(f"{mark} never ended: {self.page.state}")

    def _round(self) -> int:
        found = re.search(r"round (\d)", self.page.text)
        assert found is not None
        return int(found[1])

    def _round_of_flow(self) -> int:
        flow = Flow.objects.get(pk=self.page.path.split("/")[2])
        return flow.round

    def _finished(self, mark: str) -> None:
        self.tally.finished += 1
        told = " ".join(f"{mark}.{number}" for number in range(1, ROUNDS + 1))
        if self.page.state != "completed" or f"{mark} told {told}" not in self.page.text:
            self.tally.wrong.append(f"{mark} ended {self.page.state}: {self.page.text[:300]}")

    def _try(self, label: str) -> None:
        with self._unbroken():
            self.press(label)
            self._seen(self.page)

    def _look(self, path: str) -> None:
        end = time.monotonic() + 30
        while time.monotonic() < end:
            with self._unbroken():
                self._seen(self.get(path))
                if self.page.status != 503:
                    return
            time.sleep(0.1)
        raise AssertionError(f"{path} is out of reach")

    @contextlib.contextmanager
    def _unbroken(self) -> Iterator[None]:
        try:
            yield
        except httpx2.TransportError:
            self.tally.broken_connections += 1

    def _seen(self, page: Page) -> None:
        others = {found for found in MARK.findall(page.response.text) if int(found) != self.number}
        if others:
            self.tally.wrong.append(f"{self.number} saw something of {others}")


def soak(folder: Path, server: Server, *, people: int, seconds: float, kill_every: float, pace: float) -> Tally:
    """Run it on the database at hand. Everybody finishes the flow that they are in when the time is over.

    `pace` is the seconds that a person looks at a page.
    """
    tally = Tally()
    environ = SETTINGS | {"MRTR_LEASE": str(kill_every)}
    cookies = [cookies_of(User.objects.create(username=f"walker-{number}")) for number in range(people)]
    with desk(server, answer) as recorder, listening() as socket_, contextlib.ExitStack() as stack:
        slots = [stack.enter_context(contextlib.ExitStack()) for _ in range(2)]
        running = [slot.enter_context(serving(folder, socket_, **environ)) for slot in slots]
        until = time.monotonic() + seconds
        walkers = [Walker(running[0].base, number, each, tally, pace) for number, each in enumerate(cookies)]
        threads = [threading.Thread(target=_walk, args=(walker, until)) for walker in walkers]
        for thread in threads:
            thread.start()
        while (left := until - time.monotonic()) > 0:
            time.sleep(min(kill_every, left))
            if time.monotonic() < until:
                _kill(running.pop(0), slots.pop(0))
                tally.kills += 1
                slots.append(stack.enter_context(contextlib.ExitStack()))
                running.append(slots[-1].enter_context(serving(folder, socket_, **environ)))
        for thread in threads:
            thread.join(150)
        for post in calls(recorder):
            told = len(json.loads(post.params.get("requestState", "[]"))) + ("inputResponses" in post.params)
            tally.sent[post.params["arguments"]["topic"], told] += 1
    tally.states.update(Flow.objects.values_list("state", flat=True))
    return tally


def _kill(process: Process, slot: contextlib.ExitStack) -> None:
    process.handle.kill()
    slot.close()


def _walk(walker: Walker, until: float) -> None:
    from django.db import connections

    try:
        with walker:
            walker.walk(until)
    except Exception as error:
        walker.tally.wrong.append(f"{walker.number}: {error!r}"[:500])
    finally:
        connections.close_all()
