"""D8a: a page costs at most 5 thread hops, a request that sends a leg at most 8."""

import concurrent.futures
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from mrtr_web.models import Server
from tests.desk import TOOL, asks, desk, done
from tests.person import BOUND, Person

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def hops(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[str]]:
    """What the process hands to threads, while the test runs."""
    found: list[str] = []
    submit = concurrent.futures.ThreadPoolExecutor.submit

    def counted(self: Any, work: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Any:
        found.append(getattr(work, "__qualname__", repr(work)))
        return submit(self, work, *args, **kwargs)

    monkeypatch.setattr(concurrent.futures.ThreadPoolExecutor, "submit", counted)
    yield found


def settled(hops: list[str]) -> int:
    """How many there were, once they have stopped coming."""
    end = time.monotonic() + BOUND
    while time.monotonic() < end:
        before = len(hops)
        threading.Event().wait(0.2)
        if len(hops) == before:
            return before
    raise AssertionError("hops never settled")


def test_a_page_costs_at_most_five_hops(person: Person, server: Server, hops: list[str]) -> None:
    with desk(server, asks()):
        person.get(TOOL)
        person.fill("Topic", "cheese")
        person.press("Start")
        person.until("waiting")
        for path in (person.page.path, "/flows/", "/", TOOL):
            settled(hops)
            hops.clear()
            assert person.get(path).status == 200
            assert 1 <= settled(hops) <= 5, (path, hops)


def test_a_request_that_sends_a_leg_costs_at_most_eight_hops(person: Person, server: Server, hops: list[str]) -> None:
    with desk(server, asks(), done()):
        person.get(TOOL)
        person.fill("Topic", "cheese")
        form, _, _ = person.page.button("Start")
        settled(hops)
        hops.clear()
        sent = person.client.post(TOOL, data=form.data(), headers={"Origin": person.base}, follow_redirects=False)
        assert sent.status_code == 302
        assert 3 <= settled(hops) <= 8, hops
