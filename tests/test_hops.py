"""D8a: a page costs one thread hop, a request that sends a leg three; and so many queries."""

from collections.abc import Iterator

import pytest

from mrtr_web.models import Server
from tests import counting
from tests.counting import settled
from tests.desk import TOOL, asks, desk, done, start
from tests.person import Person

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def hops() -> Iterator[list[str]]:
    with counting.hops() as found:
        yield found


def test_a_page_costs_one_hop(person: Person, server: Server, hops: list[str]) -> None:
    with desk(server, asks()):
        person.get(TOOL)
        person.fill("Topic", "cheese")
        person.press("Start")
        person.until("waiting")
        for path in (person.page.path, "/flows/", "/", TOOL):
            settled(hops)
            hops.clear()
            assert person.get(path).status == 200
            assert settled(hops) == 1, (path, hops)


def test_a_request_that_sends_a_leg_costs_three_hops(person: Person, server: Server, hops: list[str]) -> None:
    with desk(server, asks(), done()):
        person.get(TOOL)
        person.fill("Topic", "cheese")
        form, _, _ = person.page.button("Start")
        settled(hops)
        hops.clear()
        sent = person.client.post(TOOL, data=form.data(), headers={"Origin": person.base}, follow_redirects=False)
        assert sent.status_code == 302
        assert settled(hops) == 3, hops


def test_an_answer_and_the_page_after_it_cost_so_many_queries(person: Person, server: Server) -> None:
    with desk(server, asks()), counting.hops() as hops:
        start(person)
        path = person.until("waiting").path
        person.fill("Name", "Ada")
        form = person.page.button("Send")[0]
        settled(hops)
        with counting.queries() as queries:
            person.client.post(
                f"{path}answer/", data=form.data(), headers={"Origin": person.base}, follow_redirects=False
            )
            settled(hops)
        assert len(queries) == 23, queries
        with counting.queries() as queries:
            assert person.get(path).state == "waiting"
            settled(hops)
        assert len(queries) == 5, queries
