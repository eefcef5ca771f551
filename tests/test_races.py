"""Many at once: one leg for one round, one flow for one form, no result lost, nothing leaked."""

import concurrent.futures
import os
import random
import socket
import threading
import time
from collections.abc import Callable
from urllib.parse import urlencode

import pytest
from django.conf import settings
from django.db import connection

from mrtr_web.flow import State
from mrtr_web.models import Flow, Leg, Server
from tests.desk import TOOL, asks, calls, desk, done
from tests.person import BOUND, Person
from tests.servers import until
from tests.visitors import cookie_header

pytestmark = pytest.mark.django_db(transaction=True)


def at_once(number: int, work: Callable[[int], object]) -> None:
    """Run `work` in this many threads, started together."""
    gate = threading.Barrier(number)

    def one(index: int) -> None:
        gate.wait(BOUND)
        work(index)

    with concurrent.futures.ThreadPoolExecutor(number) as pool:
        list(pool.map(one, range(number)))


def post_raw(person: Person, path: str, data: dict[str, list[str]], *, drop: bool = False) -> int:
    """One POST over a socket of its own; with `drop` the client hangs up as soon as it has sent it."""
    body = urlencode(data, doseq=True).encode()
    host = person.base.removeprefix("http://")
    head = (
        f"POST {path} HTTP/1.1\r\nHost: {host}\r\nOrigin: {person.base}\r\n"
        f"Cookie: {cookie_header(person.client.cookies)}\r\n"
        f"Content-Type: application/x-www-form-urlencoded\r\nContent-Length: {len(body)}\r\nConnection: close\r\n\r\n"
    )
    name, port = host.split(":")
    with socket.create_connection((name, int(port)), timeout=BOUND) as connection:
        connection.sendall(head.encode() + body)
        if drop:
            return 0
        answer = b""
        while chunk := connection.recv(65536):
            answer += chunk
        return int(answer.split(b" ", 2)[1])


def test_twenty_posts_of_one_round_are_one_leg(person: Person, server: Server) -> None:
    with desk(server, asks(), asks("s2", "Next?"), done()) as recorder:
        person.get(TOOL)
        person.fill("Topic", "cheese")
        person.press("Start")
        person.until("waiting")
        person.fill("Name", "Ada")
        form, _, action = person.page.button("Send")
        statuses: list[int] = []
        at_once(20, lambda _: statuses.append(post_raw(person, action, form.data())))
        assert set(statuses) == {302}
        person.get(person.page.path)
        person.until("waiting")
        assert len(calls(recorder)) == 2
        assert (Leg.objects.count(), Flow.objects.get().round) == (2, 2)


def test_twenty_posts_of_one_start_form_are_one_flow(person: Person, server: Server) -> None:
    with desk(server, asks()) as recorder:
        person.get(TOOL)
        person.fill("Topic", "cheese")
        form, _, _ = person.page.button("Start")
        statuses: list[int] = []
        at_once(20, lambda _: statuses.append(post_raw(person, TOOL, form.data())))
        assert set(statuses) == {302}
        until(Flow.objects.filter(state=State.WAITING).exists)
        assert (Flow.objects.count(), Leg.objects.count(), len(calls(recorder))) == (1, 1, 1)


@pytest.mark.timeout(240)
def test_two_hundred_legs_of_people_who_leave_bring_two_hundred_results(person: Person, server: Server) -> None:
    dice = random.Random(7)
    with desk(server, done()) as recorder:
        person.get(TOOL)
        person.fill("Topic", "cheese")
        form, _, _ = person.page.button("Start")
        data = form.data()
        _send_many(person, data, 40, dice)
        before = _held()
        _send_many(person, data, 200, dice)
        assert len(calls(recorder)) == 240
        assert Flow.objects.filter(state="completed").count() == 240
        end = time.monotonic() + BOUND
        while _exceeds(_held(), before) and time.monotonic() < end:
            time.sleep(0.1)
        assert not _exceeds(_held(), before), (before, _held())


def _send_many(person: Person, data: dict[str, list[str]], number: int, dice: random.Random) -> None:
    """Start this many flows, six at a time; half of the clients hang up at once. Waits until all have ended."""
    import uuid

    before = Flow.objects.filter(state="completed").count()
    jobs = [({**data, "flow": [str(uuid.uuid4())]}, dice.random() < 0.5) for _ in range(number)]
    with concurrent.futures.ThreadPoolExecutor(6) as pool:
        list(pool.map(lambda job: post_raw(person, TOOL, job[0], drop=job[1]), jobs))
    end = time.monotonic() + 120
    while Flow.objects.filter(state="completed").count() < before + number:
        assert time.monotonic() < end, Flow.objects.values_list("state", flat=True)
        time.sleep(0.2)


def _held() -> tuple[int, int]:
    """Threads and open file descriptors of this process, but for those of pages, which are kept up to a bound."""
    pages = sum(thread.name.startswith("page") for thread in threading.enumerate())
    files = 2 * pages if connection.vendor == "sqlite" else 0  # PostgreSQL's are a pool's
    return threading.active_count() - pages, len(os.listdir("/proc/self/fd")) - files


def _exceeds(now: tuple[int, int], before: tuple[int, int]) -> bool:
    """More than the few connections that the pools of both sides keep for a moment; a leak would be one a leg."""
    return now[0] > before[0] + 4 or now[1] > before[1] + 20


def test_a_post_that_broke_off_is_not_carried_out(person: Person, server: Server) -> None:
    with desk(server, asks(), done()) as recorder:
        person.get(TOOL)
        person.fill("Topic", "cheese")
        person.press("Start")
        person.until("waiting")
        person.fill("Name", "please pay 100 euro, but only if nobody objects")
        form, _, action = person.page.button("Send")
        body = urlencode(form.data(), doseq=True).encode()
        head = (
            f"POST {action} HTTP/1.1\r\nHost: {person.base.removeprefix('http://')}\r\nOrigin: {person.base}\r\n"
            f"Cookie: {cookie_header(person.client.cookies)}\r\nContent-Type: application/x-www-form-urlencoded\r\n"
            f"Content-Length: {len(body)}\r\n\r\n"
        )
        host, port = person.base.removeprefix("http://").split(":")
        with socket.create_connection((host, int(port)), timeout=BOUND) as connection:
            connection.sendall(head.encode() + body[:-30])
        person.get("/flows/")
        assert len(calls(recorder)) == 1
        assert Flow.objects.get().state == "waiting"


def test_a_get_with_a_large_body_is_refused(person: Person) -> None:
    answer = person.client.request("GET", "/accounts/login/", content=b"x" * (settings.CONFIG.max_request_bytes + 1))
    assert answer.status_code == 413
    assert (answer.headers["cache-control"], answer.headers["x-content-type-options"]) == ("no-store", "nosniff")
