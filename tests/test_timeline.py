"""The timeline of a flow: who had the turn, for how long; its picture, its table, and who may see it."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.db import connection
from django.test.utils import CaptureQueriesContext
from playwright.sync_api import expect

from mrtr_web import lifelines, records, timeline
from mrtr_web.flow import State
from mrtr_web.models import Flow, Leg, Round, Server
from mrtr_web.timeline import Asked, Call, Facts, Side, What
from tests.desk import asks, desk, done, start
from tests.person import Person
from tests.visitors import cookies_of
from tests.window import Opener, in_browser

ZERO = datetime(2026, 3, 1, 12, tzinfo=UTC)


def at(seconds: float) -> datetime:
    return ZERO + timedelta(seconds=seconds)


def call(round_number: int, *times: float | None, outcome: str = "") -> Call:
    """A leg: started, sent, ended, in seconds."""
    started, sent, ended = (None if time is None else at(time) for time in times)
    assert started is not None
    return Call(round_number, started, sent, ended, outcome)


def facts(state: State, changed: float, *calls: Call, rounds: Any = (), now: float = 1000) -> Facts:
    return Facts(state, at(0), at(changed), at(now), calls, rounds)


def told(line: timeline.Timeline) -> list[tuple[str, float, str, float]]:
    """Each row: what, when, who has the turn after it, and for how many seconds."""
    return [
        (row.what.value, (row.at - ZERO).total_seconds(), row.turn or "", row.spent.total_seconds())
        for row in line.rows
    ]


TWO_ROUNDS = facts(
    State.COMPLETED,
    200,
    call(0, 0, 1, 4, outcome="asked"),
    call(1, 64, 65, 70, outcome="asked"),
    call(2, 190, 192, 200, outcome="done"),
    rounds=[
        Asked(1, ("form",), ("accept",), at(64)),
        Asked(2, ("form", "url"), ("decline", "accept"), at(190)),
    ],
)


def test_two_rounds_are_told_from_start_to_result() -> None:
    line = timeline.of(TWO_ROUNDS)
    assert told(line) == [
        ("started", 0, "app", 1),
        ("call", 1, "server", 3),
        ("asks", 4, "person", 60),
        ("answers", 64, "app", 1),
        ("call", 65, "server", 5),
        ("asks", 70, "person", 120),
        ("answers", 190, "app", 2),
        ("call", 192, "server", 8),
        ("result", 200, "", 0),
        ("end", 200, "", 0),
    ]
    assert (line.rows[5].kinds, line.rows[6].actions) == (("form", "url"), ("decline", "accept"))


def test_the_times_of_the_sides_add_up_to_the_whole() -> None:
    line = timeline.of(TWO_ROUNDS)
    assert [time.total_seconds() for time in (line.person, line.app, line.server)] == [180, 4, 16]
    assert line.whole == timedelta(seconds=200)


def test_a_round_that_waits_counts_until_now() -> None:
    line = timeline.of(facts(State.WAITING, 4, call(0, 0, 1, 4, outcome="asked"), rounds=[Asked(1, ("form",))], now=34))
    assert told(line)[-2:] == [("asks", 4, "person", 30), ("now", 34, "", 0)]


def test_a_leg_that_waits_for_its_turn_is_time_in_this_app() -> None:
    line = timeline.of(facts(State.RUNNING, 0, call(0, 0, None, None), now=9))
    assert told(line) == [("started", 0, "app", 9), ("now", 9, "", 0)]


@pytest.mark.parametrize("state", [State.STOPPED, State.WITHDRAWN, State.EXPIRED])
def test_an_end_in_the_middle_of_a_leg_has_no_answer_of_the_server(state: State) -> None:
    line = timeline.of(facts(state, 20, call(0, 0, 1, 30, outcome="done")))
    assert told(line) == [("started", 0, "app", 1), ("call", 1, "server", 19), ("end", 20, "", 0)]
    assert line.rows[-1].outcome == state


def test_a_leg_that_was_never_sent_and_one_that_broke_are_sent_again_by_the_person() -> None:
    legs = [
        call(0, 0, None, 2, outcome="dns"),
        call(0, 10, 11, 15, outcome="cut"),
        call(0, 40, 41, 50, outcome="done"),
    ]
    assert told(timeline.of(facts(State.COMPLETED, 50, *legs))) == [
        ("started", 0, "app", 2),
        ("unsent", 2, "person", 8),
        ("again", 10, "app", 1),
        ("call", 11, "server", 4),
        ("break", 15, "person", 25),
        ("again", 40, "app", 1),
        ("call", 41, "server", 9),
        ("result", 50, "", 0),
        ("end", 50, "", 0),
    ]


def test_a_result_that_came_after_it_was_sent_again_is_not_shown() -> None:
    legs = [call(0, 0, 1, 60, outcome="asked"), call(0, 30, 31, 40, outcome="done")]
    whats = [row.what for row in timeline.of(facts(State.COMPLETED, 40, *legs)).rows]
    assert whats == ["started", "call", "break", "again", "call", "result", "end"]


def test_an_interrupted_leg_waits_for_the_person_since_the_flow_changed() -> None:
    line = timeline.of(facts(State.UNKNOWN, 25, call(0, 0, 1, None), now=40))
    assert told(line)[-2:] == [("break", 25, "person", 15), ("now", 40, "", 0)]


@pytest.mark.parametrize("outcome", ["broken:MR-13", "refused:-32602", "step_expired", "too_many_rounds", "legacy"])
def test_an_error_of_the_server_is_no_result(outcome: str) -> None:
    line = timeline.of(facts(State.FAILED, 5, call(0, 0, 1, 5, outcome=outcome)))
    assert [(row.what, row.outcome) for row in line.rows[-2:]] == [(What.ERROR, outcome), (What.END, State.FAILED)]


def test_ten_calls_that_are_not_ready_are_two_rows() -> None:
    legs = [call(0, 10 * n, 10 * n + 1, 10 * n + 3, outcome="state_only") for n in range(10)]
    line = timeline.of(facts(State.COMPLETED, 110, *legs, call(0, 100, 101, 110, outcome="done")))
    assert [(row.what.value, row.count) for row in line.rows] == [
        ("started", 0),
        ("call", 0),
        ("not_yet", 0),
        ("more_calls", 9),
        ("call", 0),
        ("result", 0),
        ("end", 0),
    ]
    assert (line.rows[3].turn, line.rows[3].spent) == (Side.SERVER, timedelta(seconds=101 - 11))
    assert line.whole == timedelta(seconds=110)


def test_clocks_that_disagree_give_no_negative_times() -> None:
    line = timeline.of(facts(State.WAITING, 4, call(0, 0, 3, 2, outcome="asked"), rounds=[Asked(1, ("form",))], now=1))
    assert min(row.spent for row in line.rows) == timedelta()
    assert line.whole == timedelta(seconds=3)


def many_rounds(number: int) -> Facts:
    legs = [call(n, 10 * n, 10 * n + 1, 10 * n + 2, outcome="asked") for n in range(number)]
    rounds = [Asked(n + 1, ("form",), ("accept",), at(10 * n + 10)) for n in range(number)]
    return facts(State.WAITING, 10 * number, *legs, rounds=rounds, now=10 * number)


def test_fifty_rounds_are_drawn_one_under_the_other() -> None:
    drawing = lifelines.drawn(timeline.of(many_rounds(50)))
    heights = [line.y for line in drawing.lines]
    assert len(heights) == 2 + 3 * 50 - 1
    assert heights == sorted(set(heights))
    assert heights[-1] < drawing.height
    assert {drawing.person < line.label_x < drawing.server for line in drawing.lines} == {True}


def test_what_is_longer_than_a_picture_can_be_has_its_middle_left_out() -> None:
    rows = timeline.of(many_rounds(500)).rows
    assert len(rows) == timeline.MOST_ROWS + 1
    (out,) = [row for row in rows if row.what is What.LEFT_OUT]
    assert out.count == 2 + 3 * 500 - 1 - timeline.MOST_ROWS


def test_an_arrow_goes_from_who_acts_to_whom() -> None:
    lines = lifelines.drawn(timeline.of(TWO_ROUNDS)).lines
    ends = [(line.arrow.start, line.arrow.end) for line in lines if line.arrow]
    person, app, server = (lifelines.LINES[side] for side in Side)
    assert ends[:4] == [(person, app), (app, server), (server, person), (person, app)]
    assert lines[0].bar is not None
    assert lines[0].bar.x + lifelines.BAR // 2 == app


def test_the_time_that_a_server_took_stands_where_there_is_room() -> None:
    bars = [(line.row.turn, line.bar) for line in lifelines.drawn(timeline.of(TWO_ROUNDS)).lines if line.bar]
    assert {side for side, _ in bars} == set(Side)
    for side, bar in bars:
        assert (bar.anchor, bar.text_x < bar.x) == (("end", True) if side is Side.SERVER else ("start", False))


@pytest.mark.django_db
def test_a_timeline_takes_two_queries_however_many_rounds(alice: User, server: Server) -> None:
    row = Flow.objects.create(user=alice, server=server, method="tools/call", name="ask", state=State.WAITING)
    for number in range(30):
        Leg.objects.create(flow=row, round=number, outcome="asked", sent_at=at(0), ended_at=at(1))
        Round.objects.create(flow=row, number=number + 1, kinds=["form"], actions=["accept"], answered_at=at(2))
    with CaptureQueriesContext(connection) as queries:
        drawing = records.timeline_of(row)
    assert len(queries) == 2
    assert len(drawing.lines) > 60


TYPED = "what only Alice knows"


def test_a_person_sees_the_timeline_of_their_request_and_nothing_that_was_said(person: Person, server: Server) -> None:
    with desk(server, asks(message=TYPED), asks(message=TYPED), done(TYPED)):
        start(person, TYPED)
        for _ in range(2):
            person.until("waiting")
            person.fill("Name", TYPED)
            person.press("Send")
        person.until("completed")
        page = person.get(person.page.link("Timeline"))
    picture, _end, table = page.response.text.partition("</svg>")
    for part in (picture.partition("<svg")[2], table):
        order = [part.index(words) for words in ("Starts a request", "Asks 1 question", "Answers round 2", "Gives the")]
        assert order == sorted(order)
    assert "Form: answered" in table and "You:" in table and "with you" in table and "Person:" not in table
    assert "A dot is what happened in this app." in page.text
    assert TYPED not in page.response.text


def test_nobody_else_sees_it(app: str, alice: User, bob: User, server: Server) -> None:
    row = Flow.objects.create(user=alice, server=server, method="tools/call", name="ask", state=State.COMPLETED)
    with Person(app) as other:
        other.client.cookies.update(cookies_of(bob))
        assert other.get(f"/flows/{row.pk}/timeline/").status == 404


def long_flow(alice: User, server: Server) -> Flow:
    """Fifty rounds, each asked, answered and sent."""
    row = Flow.objects.create(user=alice, server=server, method="tools/call", name="ask", state=State.WAITING, round=50)
    Flow.objects.filter(pk=row.pk).update(started_at=at(0), changed_at=at(5000))
    for number in range(50):
        begun = at(100 * number)
        Leg.objects.create(
            flow=row, round=number, outcome="asked", started_at=begun, sent_at=begun, ended_at=at(100 * number + 9)
        )
        answered = {"actions": ["accept"], "answered_at": at(100 * number + 99)} if number < 49 else {}
        Round.objects.create(flow=row, number=number + 1, kinds=["form"], asked_at=at(100 * number + 9), **answered)
    return row


class TestInBrowser:
    pytestmark = in_browser

    @pytest.mark.parametrize(("width", "scheme"), [(390, "light"), (1280, "dark")])
    def test_fifty_rounds_scroll_in_their_box(
        self, opened: Opener, alice: User, server: Server, width: int, scheme: str
    ) -> None:
        row = long_flow(alice, server)
        window = opened(viewport={"width": width, "height": 800}, color_scheme=scheme)
        window.sign_in()
        window.page.goto(f"{window.base}/flows/{row.pk}/timeline/")
        box = window.page.get_by_role("region", name="Timeline", exact=True)
        assert box.evaluate("box => box.scrollHeight > box.clientHeight * 5 && box.clientHeight <= 800")
        window.check()
        window.page.get_by_text("The same as a table").click()
        expect(window.page.get_by_role("row", name="Answers round 49")).to_be_visible()
        window.check()
