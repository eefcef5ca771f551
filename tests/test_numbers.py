"""The numbers of the review desk: exact, of the reader's servers alone, in a constant number of queries."""

from datetime import timedelta

import pytest
from django.contrib.auth.models import User
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from mrtr_web import figures
from mrtr_web.figures import Operation
from mrtr_web.flow import State
from mrtr_web.models import Flow, Leg, Round, Server
from tests.offers import store, tool
from tests.reviewers import looking, other_server, page, reviewer_of

NUMBERS = "/review/numbers/"
pytestmark = pytest.mark.django_db


@pytest.fixture
def rita(server: Server) -> User:
    """She reviews the demo server."""
    return reviewer_of("rita", server)


def ran(
    user: User,
    server: Server,
    name: str = "ask",
    *,
    legs: tuple[float, ...] = (),
    rounds: tuple[tuple[float, list[str]], ...] = (),
    state: State = State.COMPLETED,
    days_ago: float = 1,
) -> None:
    """A request with legs of so many seconds, and rounds of so many seconds with these actions."""
    then = timezone.now() - timedelta(days=days_ago)
    flow = Flow.objects.create(
        user=user, server=server, method="tools/call", name=name, state=state, round=len(rounds), started_at=then
    )
    for number, seconds in enumerate(legs):
        Leg.objects.create(flow=flow, round=number, sent_at=then, ended_at=then + timedelta(seconds=seconds))
    for number, (seconds, actions) in enumerate(rounds, 1):
        answered = then + timedelta(seconds=seconds)
        Round.objects.create(
            flow=flow, number=number, kinds=["form"], actions=actions, asked_at=then, answered_at=answered
        )


def test_an_operation_has_its_medians_and_shares(rita: User, alice: User, server: Server) -> None:
    ran(alice, server, legs=(1, 2), rounds=((60, ["accept"]),))
    ran(alice, server, legs=(9,), rounds=((120, ["decline"]), (300, ["cancel", "accept"])))
    ran(alice, server)
    ran(alice, server, "other", state=State.WAITING)
    found = figures.read(rita)
    seconds = timedelta(seconds=1)
    assert found.operations == [
        Operation("Demo desk", "tools/call", "ask", 3, 2 * seconds, 120 * seconds, 1, 2, 25, 25),
        Operation("Demo desk", "tools/call", "other", 1, None, None, 0, 0, None, None),
    ]
    assert found.states == {"waiting": 1, "completed": 3}


def test_legs_and_rounds_that_are_not_over_do_not_count(rita: User, alice: User, server: Server) -> None:
    ran(alice, server, legs=(4,), rounds=((60, ["accept"]),))
    flow = Flow.objects.get()
    Leg.objects.create(flow=flow, round=1, sent_at=timezone.now())
    Leg.objects.create(flow=flow, round=2, ended_at=timezone.now())
    Round.objects.create(flow=flow, number=2, kinds=["form"])
    (row,) = figures.read(rita).operations
    assert (row.server_time, row.people_time) == (timedelta(seconds=4), timedelta(seconds=60))


def test_what_is_older_than_the_days_does_not_count(rita: User, alice: User, server: Server) -> None:
    ran(alice, server, days_ago=29.9)
    ran(alice, server, days_ago=30.1)
    assert [row.flows for row in figures.read(rita).operations] == [1]


def test_only_the_newest_are_looked_at(
    rita: User, alice: User, server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(figures, "MOST", 2)
    for days, seconds in ((3, 100), (2, 5), (1, 7)):
        ran(alice, server, legs=(seconds,), rounds=((seconds, ["accept"]),), days_ago=days)
    found = figures.read(rita)
    assert [(row.flows, row.server_time, row.people_time) for row in found.operations] == [
        (2, timedelta(seconds=6), timedelta(seconds=6))
    ]
    assert found.cut
    assert found.states == {"completed": 3}


def test_a_reviewer_of_another_group_sees_none_of_it(rita: User, alice: User, server: Server) -> None:
    other = other_server()
    ran(alice, other, "secret tool", legs=(1,), rounds=((1, ["accept"]),))
    assert "secret tool" in page(reviewer_of("olaf", other), NUMBERS)[1]
    html = page(rita, NUMBERS)[1]
    assert "secret tool" not in html
    assert "No request was started in this time." in html
    assert page(alice, NUMBERS)[0] == 404


def test_the_page_says_it_in_words(rita: User, alice: User, server: Server) -> None:
    ran(alice, server, legs=(2,), rounds=((125, ["decline"]), (125, ["accept"])))
    ran(alice, server, "<b>&\u202e", state=State.FAILED)
    html = page(rita, NUMBERS)[1]
    words = ["2 min 5 s", "2 s", "2 (2)", "50%", "Failed", '<bdi lang="">&lt;b&gt;&amp;\ufffd</bdi>']
    assert [each for each in words if each not in html] == []


def test_columns_that_nothing_is_told_in_are_left_out(rita: User, alice: User, server: Server) -> None:
    ran(alice, server, legs=(2,))
    html = page(rita, NUMBERS)[1]
    assert "Server, per call" in html
    assert [each for each in ("People, per round", "Declined", "Undecided", "0 (0)") if each in html] == []


def test_an_operation_is_called_what_the_reader_knows_it_by(rita: User, alice: User, server: Server) -> None:
    store(server, tools=[tool("ask", title="Ask me")])
    ran(alice, server)
    ran(alice, server)
    ran(alice, server, "gone")
    assert [(row.name, row.title) for row in figures.read(rita).operations] == [("ask", "Ask me"), ("gone", "")]
    shown = " ".join(looking(rita).get(NUMBERS).content.decode().split())
    assert '<bdi lang="">Ask me</bdi><span class="queue__more"><bdi lang="">ask</bdi> · Tool · Demo desk' in shown
    assert '<bdi lang="">gone</bdi><span class="queue__more">Tool · Demo desk' in shown


def test_the_page_takes_the_same_number_of_queries_for_one_request_and_for_many(
    rita: User, alice: User, server: Server
) -> None:
    client = looking(rita)

    def queries() -> int:
        with CaptureQueriesContext(connection) as counted:
            assert client.get(NUMBERS).status_code == 200
        return len(counted)

    ran(alice, server, legs=(1,), rounds=((1, ["accept"]),))
    few = queries()
    for number in range(30):
        ran(alice, server, f"tool {number}", legs=(1, 2), rounds=((1, ["accept"]),))
    assert queries() == few
