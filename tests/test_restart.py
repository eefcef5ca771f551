"""Processes replaced under load: no request refused, no flow lost; and what a stopping process does with its legs."""

import asyncio
import contextlib
import functools
import re
import signal
import socket
import threading
import time
import uuid
from datetime import timedelta
from pathlib import Path
from typing import Any

import httpx2
import pytest
from django.contrib.auth.models import User
from django.utils import timezone
from pytest_django import Settings

from mrtr_web.connections import LINGER
from mrtr_web.models import Flow, Leg, Server
from mrtr_web.turns import Turns
from tests.desk import TOOL, always, asks, calls, desk, done, start
from tests.person import BOUND, Person
from tests.processes import listening, serving
from tests.servers import Answer, side_by_side, until
from tests.visitors import cookies_of

pytestmark = pytest.mark.django_db(transaction=True)
HANG = always(Answer(b": still working\n\n", 200, {"content-type": "text/event-stream"}, "hang"))


class Load:
    """Clients that keep their connections, and start one flow after the other and look at pages, until they stop."""

    def __init__(self, person: Person) -> None:
        person.get(TOOL)
        person.fill("Topic", "cheese")
        form, _, _ = person.page.button("Start")
        self.base, self.form, self.cookies = person.base, form.data(), dict(person.client.cookies)
        self.trouble: list[str] = []
        self.posts = self.pages = 0
        self.over = threading.Event()

    def running(self, clients: int) -> contextlib.AbstractContextManager[None]:
        return side_by_side([self._client] * clients, self.over)

    def has(self, posts: int) -> bool:
        return self.posts > posts

    def _client(self) -> None:
        with httpx2.Client(base_url=self.base, cookies=self.cookies, timeout=BOUND, trust_env=False) as client:
            while not self.over.is_set():
                try:
                    data = self.form | {"flow": [str(uuid.uuid4())]}
                    posted = client.post(TOOL, data=data, headers={"Origin": self.base})
                    shown = client.get("/flows/")
                except httpx2.TransportError as error:
                    self.trouble.append(repr(error))
                    continue
                self.posts, self.pages = self.posts + 1, self.pages + 1
                self.trouble += [
                    str(each.status_code) for each in (posted, shown) if each.status_code not in (200, 302)
                ]


def test_processes_are_replaced_under_load_without_a_refusal(alice: User, server: Server, tmp_path: Path) -> None:
    quick = {"MRTR_HEARTBEAT": "0.3", "MRTR_LEASE": "2"}
    with desk(server, done()) as recorder, listening() as socket_, contextlib.ExitStack() as first:
        old = [first.enter_context(serving(tmp_path, socket_, **quick)) for _ in range(2)]
        with Person(old[0].base) as person:
            person.client.cookies.update(cookies_of(alice))
            load = Load(person)
        with contextlib.ExitStack() as second, load.running(4):  # what is still asked for is answered before all end
            for leaving in old:
                new = serving(tmp_path, socket_, **quick)
                second.enter_context(new)
                enough = load.posts + 5
                leaving.handle.send_signal(signal.SIGTERM)
                leaving.handle.wait(BOUND)
                until(functools.partial(load.has, enough))
        assert load.trouble == []
        assert load.posts >= 20
        assert Flow.objects.count() == len(calls(recorder)) == load.posts
        assert set(Flow.objects.values_list("state", flat=True)) == {"completed"}


def _received(connection: socket.socket, end: bytes) -> bytes:
    """What came, up to an end of it or of the connection."""
    found = b""
    while not found.endswith(end) and (more := connection.recv(65536)):
        found += more
    return found


def _one_sent_one_waiting(person: Person) -> tuple[str, str]:
    """Two flows at a server that takes one leg at a time: their pages."""
    return start(person).path, start(person).path


def test_a_request_that_arrives_while_the_process_stops_is_answered(tmp_path: Path) -> None:
    """Half of it was there before; the rest comes after the signal, and so does a whole one on an idle connection."""
    with serving(tmp_path) as process:
        host, port = process.base.removeprefix("http://").split(":")
        ask = b"GET /healthz HTTP/1.1\r\nHost: 127.0.0.1\r\n"
        with (
            socket.create_connection((host, int(port)), timeout=BOUND) as half,
            socket.create_connection((host, int(port)), timeout=BOUND) as idle,
            socket.create_connection((host, int(port)), timeout=BOUND) as stuck,
        ):
            half.sendall(ask)
            idle.sendall(ask + b"\r\n")
            assert _received(idle, b"ok").startswith(b"HTTP/1.1 200")
            process.handle.send_signal(signal.SIGTERM)
            until(lambda: b"Shutting down" in process.log.read_bytes())
            stuck.sendall(ask)  # and no end of it: this must not hold the process
            for connection, rest in ((half, b"\r\n"), (idle, ask + b"\r\n")):
                connection.sendall(rest)
                answer = b"".join(iter(functools.partial(connection.recv, 65536), b""))
                assert answer.startswith(b"HTTP/1.1 200")
                assert b"connection: close" in answer.lower()
            assert process.handle.wait(4) == -signal.SIGTERM


UPGRADE = (
    b"GET /ws/flows/00000000-0000-4000-8000-000000000000/ HTTP/1.1\r\nHost: 127.0.0.1\r\nUpgrade: websocket\r\n"
    b"Connection: Upgrade\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n\r\n"
)
HALF = b"POST /accounts/login/ HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 9\r\n\r\n"


def test_nobody_holds_a_stopping_process(tmp_path: Path) -> None:
    """A byte, half a request or a handshake on connections that were idle; the last gets an answer."""
    with serving(tmp_path) as process, contextlib.ExitStack() as stack:
        host, port = process.base.removeprefix("http://").split(":")
        ask = b"GET /healthz HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n"
        connections = [
            stack.enter_context(socket.create_connection((host, int(port)), timeout=BOUND)) for _ in range(3)
        ]
        for connection in connections:
            connection.sendall(ask)
            assert _received(connection, b"ok").startswith(b"HTTP/1.1 200")
        process.handle.send_signal(signal.SIGTERM)
        until(lambda: b"Shutting down" in process.log.read_bytes())
        start = time.monotonic()
        for connection, sent in zip(connections, (b"G", HALF, UPGRADE), strict=True):
            connection.sendall(sent)
        answers = [b"".join(iter(functools.partial(each.recv, 65536), b"")) for each in connections]
        assert answers[:2] == [b"", b""]
        assert answers[2].startswith(b"HTTP/1.1 503 ") and b"connection: close" in answers[2].lower()
        assert process.handle.wait(BOUND) == -signal.SIGTERM
        assert time.monotonic() - start < 2 * LINGER
        assert "timeout graceful shutdown exceeded" not in process.log.read_text()


def test_a_stopped_process_marks_what_it_could_not_finish(alice: User, server: Server, tmp_path: Path) -> None:
    """One leg is with the server and one still waits for its turn: unknown, and not sent."""
    limits = {"MRTR_DRAIN_TIMEOUT": "0.3", "MRTR_LEGS_PER_SERVER": "1"}
    with desk(server, HANG) as recorder, serving(tmp_path, **limits) as process, Person(process.base) as person:
        person.client.cookies.update(cookies_of(alice))
        start(person)
        assert person.page.state == "running"
        start(person)
        assert "Waiting for its turn" in person.page.text
        process.handle.send_signal(signal.SIGTERM)
        process.handle.wait(BOUND)
        outcomes = set(Flow.objects.values_list("state", "outcome"))
        assert outcomes == {("unknown", "lease"), ("unsent", "killed")}
        assert (len(calls(recorder)), Leg.objects.filter(sent_at=None).count()) == (1, 1)


def test_whoever_waits_for_a_turn_keeps_the_lease_and_can_stop(
    person: Person, server: Server, settings: Settings
) -> None:
    settings.CONFIG = settings.CONFIG.model_copy(update={"legs_per_server": 1, "heartbeat": 0.2, "lease": 0.5})
    with desk(server, HANG, asks()) as recorder:
        hanging, queued = _one_sent_one_waiting(person)
        start(person)
        stopped = person.page.path
        assert 'data-poll="queued"' in person.page.response.text
        person.press("Stop this request")
        person.until("stopped")
        person.get(queued)
        assert ("Waiting for its turn" in person.page.text, person.page.state) == (True, "running")
        person.get("/flows/")
        assert [person.page.text.count(tag) for tag in ("With the server", "Waiting for its turn")] == [1, 1]
        Flow.objects.filter(pk=hanging.split("/")[2]).update(changed_at=timezone.now() - timedelta(hours=2))
        person.get(hanging)
        assert re.search(r'data-elapsed="\d\d?"', person.page.response.text), (
            "its turn came long after it was asked for"
        )
        person.press("Stop this request")
        person.get(queued)
        person.until("waiting")
        assert len(calls(recorder)) == 2
        assert Leg.objects.get(flow__pk=stopped.split("/")[2]).sent_at is None


@pytest.mark.parametrize(
    ("change", "why"),
    [
        ({"enabled": False}, "switched off for you"),
        ({"url": "http://127.0.0.1:9/other"}, "address of this server was changed"),
    ],
)
def test_what_may_not_be_sent_any_more_when_its_turn_comes_is_not_sent(
    person: Person, server: Server, settings: Settings, change: dict[str, Any], why: str
) -> None:
    settings.CONFIG = settings.CONFIG.model_copy(update={"legs_per_server": 1, "heartbeat": 0.2, "lease": 0.5})
    with desk(server, HANG, asks()) as recorder:
        hanging, queued = _one_sent_one_waiting(person)
        Server.objects.filter(pk=server.pk).update(**change)
        person.get(hanging)
        person.press("Stop this request")
        person.get(queued)
        assert why in person.until("unsent").text
        assert len(calls(recorder)) == 1


def test_people_take_turns() -> None:
    """One person's hundred do not keep another's one waiting; no more are out than may be."""

    async def scene() -> list[int]:
        turns, order = Turns(), list[int]()

        async def leg(person: int) -> None:
            with turns.place(1, person, 2) as turn:
                await turn
                order.append(person)
                await asyncio.sleep(0)

        await asyncio.gather(*(leg(person) for person in [1] * 100 + [2, 3]))
        with turns.place(1, 4, 1) as turn, turns.place(1, 5, 1) as second, turns.place(2, 5, 1) as elsewhere:
            assert (turn.done(), second.done(), elsewhere.done()) == (True, False, True)
        return order

    async def full_house() -> tuple[list[bool], bool]:
        """One person never has all the places, and who gives a turn up keeps nobody behind."""
        turns = Turns()
        with contextlib.ExitStack() as places, turns.place(1, 3, 4) as other:
            mine = [places.enter_context(turns.place(1, 1, 4)) for _ in range(5)]
            with turns.place(1, 2, 4) as second, turns.place(1, 1, 1):
                return [turn.done() for turn in mine], second.done() and other.done()

    assert asyncio.run(full_house()) == ([True, True, False, False, False], True)
    order = asyncio.run(scene())
    assert len(order) == 102
    assert set(order[:6]) == {1, 2, 3}


@pytest.mark.parametrize(("limit", "share"), [(1, 1), (2, 1), (3, 2), (4, 2), (64, 32)])
def test_nobody_holds_more_than_half_of_the_places(limit: int, share: int) -> None:
    """Whoever comes later finds one, however long the legs of another hang."""

    async def scene() -> tuple[int, bool]:
        turns = Turns()
        with contextlib.ExitStack() as held:
            hanging = [held.enter_context(turns.place(1, 7, limit)) for _ in range(limit * 2)]
            other = held.enter_context(turns.place(1, 8, limit))
            return sum(turn.done() for turn in hanging), other.done()

    assert asyncio.run(scene()) == (share, limit > 1)


def test_whoever_leaves_the_queue_does_not_cost_others_their_turn() -> None:
    async def scene() -> tuple[bool, bool]:
        turns = Turns()
        with contextlib.ExitStack() as out, contextlib.ExitStack() as left, contextlib.ExitStack() as held:
            out.enter_context(turns.place(1, 9, 1))
            left.enter_context(turns.place(1, 1, 1))
            first, second = (held.enter_context(turns.place(1, person, 1)) for person in (1, 2))
            left.close()
            out.close()
            return first.done(), second.done()

    assert asyncio.run(scene()) == (True, False)
