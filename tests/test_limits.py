"""How often people may do what costs something: exact, told with the time to wait, and nothing typed is lost."""

import math
import uuid
from datetime import timedelta

import pytest
from django.conf import settings as site
from django.contrib.auth.models import User
from django.db import connection
from django.db.models.functions import Now
from django.http import HttpResponse
from django.test import Client
from hypothesis import given
from hypothesis import strategies as st
from pytest_django import Settings

from mrtr_web import allowances, rates
from mrtr_web.flow import State
from mrtr_web.models import Allowance, Flow, Leg, Server
from tests.desk import TOOL, asks, calls, desk, done, on_this_machine, start
from tests.person import Person
from tests.reviewers import flow_of, looking, reviewer_of
from tests.servers import Answer
from tests.test_races import at_once, post_raw

pytestmark = pytest.mark.django_db(transaction=True)


@given(st.lists(st.floats(0, 5), max_size=60), st.integers(1, 9), st.floats(0.1, 3))
def test_no_span_of_time_holds_more_than_it_may(gaps: list[float], at_once: int, interval: float) -> None:
    limit, due, now, taken = rates.Limit(at_once, interval), 0.0, 100.0, list[float]()
    for gap in gaps:
        now += gap
        due, wait = rates.take(limit, due, now)
        if not wait:
            taken.append(now)
        else:
            assert rates.take(limit, due, now + wait + 1e-6)[1] == 0  # what is said of the wait is true
    for first, begin in enumerate(taken):
        for last in range(first, len(taken)):
            assert last - first + 1 <= at_once + (taken[last] - begin) / interval + 1e-6


def test_a_clock_that_was_set_back_locks_nobody_out() -> None:
    assert rates.take(rates.Limit(3, 2.0), 1e9, 0)[1] == 2.0


def limited(settings: Settings, **changes: int) -> None:
    settings.CONFIG = site.CONFIG.model_copy(update=changes)


def test_a_start_too_many_is_drawn_again_and_sent_a_moment_later(
    person: Person, server: Server, settings: Settings
) -> None:
    limited(settings, legs_per_minute=4)
    with desk(server, done()) as recorder:
        start(person)
        start(person)
        page = start(person, "smelly cheese")
        wait = page.response.headers["retry-after"]
        assert (page.status, page.path, int(wait) in range(20, 31)) == (429, TOOL, True), wait
        assert f"Wait {wait} seconds" in page.text and 'value="smelly cheese"' in page.response.text
        assert (len(calls(recorder)), Flow.objects.count(), Leg.objects.count()) == (2, 2, 2)
        Allowance.objects.update(due=Now() - timedelta(seconds=1))
        person.press("Start")
        assert person.until("completed").status == 200
        assert len(calls(recorder)) == 3


def test_answers_too_many_are_kept(person: Person, server: Server, settings: Settings) -> None:
    with desk(server, asks(), done()) as recorder:
        start(person)
        person.until("waiting")
        limited(settings, legs_per_minute=2)
        allowances.spend(Flow.objects.get().user_id, "legs", server.pk)
        person.fill("Name", "Ada of Hull")
        page = person.press("Send")
        assert (page.status, page.state, page.response.headers["retry-after"]) == (429, "waiting", "60")
        assert 'value="Ada of Hull"' in page.response.text and "Wait 60 seconds" in page.text
        assert len(calls(recorder)) == 1
        Allowance.objects.all().delete()
        person.press("Send")
        person.until("completed")
        assert len(calls(recorder)) == 2


def test_sending_again_too_often_stays_where_it_is(person: Person, server: Server, settings: Settings) -> None:
    with desk(server, lambda post: Answer(b"", then="cut")):
        start(person)
        person.until("unknown")
        limited(settings, legs_per_minute=1)
        allowances.spend(Flow.objects.get().user_id, "legs")
        page = person.press("Send again")
        assert (page.status, page.state, page.response.headers["retry-after"]) == (429, "unknown", "60")


def test_half_of_it_may_go_to_one_server(alice: User, server: Server, settings: Settings) -> None:
    limited(settings, legs_per_minute=5)
    other = Server.objects.create(slug="other", name="Other", url="http://127.0.0.1:9/o")
    for which in (server, server, server, other, other):
        allowances.spend(alice.pk, "legs", which.pk)
    for which, wait in ((server, 24), (other, 12)):
        with pytest.raises(allowances.TooMany) as told:
            allowances.spend(alice.pk, "legs", which.pk)
        assert (told.value.why, told.value.seconds) == ("pace", wait)


def test_people_do_not_share(alice: User, bob: User, server: Server, settings: Settings) -> None:
    limited(settings, legs_per_minute=1)
    allowances.spend(alice.pk, "legs", server.pk)
    allowances.spend(bob.pk, "legs", server.pk)


@pytest.mark.parametrize(
    ("limit", "words"),
    [({"running_legs": 2}, "2 requests under way already"), ({"open_flows": 2}, "2 open requests, and no more")],
)
def test_who_has_enough_open_is_told_what_to_do(
    person: Person, server: Server, alice: User, settings: Settings, limit: dict[str, int], words: str
) -> None:
    limited(settings, **limit)
    rows = [flow_of(alice, server, state=State.RUNNING) for _ in range(2)]
    with desk(server, done()) as recorder:
        page = start(person)
        assert (page.status, page.response.headers["retry-after"]) == (429, "10")
        assert words in page.text and page.link("My requests (opens") == "/flows/"
        assert calls(recorder) == [] and Flow.objects.count() == 2
        Flow.objects.filter(pk=rows[0].pk).update(state="stopped")
        person.press("Start")
        person.until("completed")


def test_a_double_click_costs_nothing(person: Person, server: Server, settings: Settings) -> None:
    limited(settings, legs_per_minute=2)  # one at this server
    with desk(server, done()) as recorder:
        person.get(TOOL)
        person.fill("Topic", "cheese")
        form, _, _ = person.page.button("Start")
        statuses: list[int] = []
        at_once(20, lambda _: statuses.append(post_raw(person, TOOL, form.data())))
        assert statuses == [302] * 20
        assert (len(calls(recorder)), Flow.objects.count()) == (1, 1)


def test_twenty_starts_at_once_are_as_many_as_may_be(person: Person, server: Server, settings: Settings) -> None:
    limited(settings, legs_per_minute=6)  # three at this server
    with desk(server, done()) as recorder:
        person.get(TOOL)
        person.fill("Topic", "cheese")
        data = person.page.button("Start")[0].data()
        statuses: list[int] = []
        at_once(20, lambda _: statuses.append(post_raw(person, TOOL, {**data, "flow": [str(uuid.uuid4())]})))
        assert sorted(statuses) == [302] * 3 + [429] * 17
        assert (len(calls(recorder)), Flow.objects.count()) == (3, 3)


def test_first_uses_at_once_of_several_servers_do_not_wait_for_each_other(alice: User) -> None:
    servers = [on_this_machine(f"server-{number}", "Desk").pk for number in range(3)]

    def ask(index: int) -> None:
        try:
            allowances.spend(alice.pk, "ask", servers[index % 3])
            spent.append(index)
        except allowances.TooMany:
            pass
        finally:
            connection.close()

    for _ in range(8):
        Allowance.objects.all().delete()
        spent: list[int] = []
        at_once(20, ask)
        assert len(spent) == 12


def times(client: Client, method: str, path: str, most: int, **data: str) -> HttpResponse:
    """The answer to one time more than may be."""
    for _ in range(most):
        assert getattr(client, method)(path, data).status_code != 429
    response: HttpResponse = getattr(client, method)(path, data)
    return response


@pytest.mark.parametrize(
    ("method", "path", "most", "seconds"),
    [
        ("post", "/s/demo/", 6, 10),
        ("post", "/connections/demo/", 6, 10),
        ("get", "/review/audit.csv", 6, 10),
        ("post", "/accounts/password/", 5, 180),
    ],
)
def test_what_else_costs_something(server: Server, method: str, path: str, most: int, seconds: int) -> None:
    Server.objects.update(credential_kind="each")
    root = User.objects.create_superuser("root", password="root's password")
    response = times(looking(root), method, path, most, old_password="wrong", token_password="two words")
    assert response.status_code == 429
    assert seconds - 5 <= int(response.headers["Retry-After"]) <= seconds
    page = response.content.decode()
    assert "Not so fast" in page and (method == "get" or "wrong" not in page)


def test_free_allowances_are_forgotten(alice: User, server: Server) -> None:
    for action in ("export", "password"):
        allowances.spend(alice.pk, action)
    Allowance.objects.filter(action="export").update(due=Now() - timedelta(seconds=1))
    allowances.forget_free()
    assert [row.action for row in Allowance.objects.all()] == ["password"]


def test_what_is_said_of_the_wait_is_whole_seconds() -> None:
    assert [allowances.TooMany("pace", wait).seconds for wait in (0.01, 1.0, 1.2)] == [1, 1, 2]
    assert math.isclose(rates.per_minute(60).half().interval, 2.0)


def test_too_many_fields_and_too_large_posts_get_a_page(person: Person) -> None:
    form = {"Content-Type": "application/x-www-form-urlencoded", "Origin": person.base}
    many = person.client.post("/accounts/login/", content=b"a&" * 20_001, headers=form)
    assert many.status_code == 400 and "This has too many parts" in many.text and "Edit as JSON" in many.text
    files = [("f", ("x", b"", "text/plain"))] * 101
    sent = person.client.post("/accounts/login/", files=files, headers={"Origin": person.base})
    assert sent.status_code == 400 and "This has too many parts" in sent.text
    large = person.client.post("/accounts/login/", content=b"a" * (site.CONFIG.max_request_bytes + 1), headers=form)
    assert large.status_code == 413 and "larger than the 4.0" in large.text
    assert large.headers["content-type"].startswith("text/html")


def test_reviewers_share_nothing_with_the_people_they_look_after(server: Server) -> None:
    rita = reviewer_of("rita", server)
    assert times(looking(rita), "get", "/review/audit.csv", 6).status_code == 429
    other = reviewer_of("olaf", server)
    assert looking(other).get("/review/audit.csv").status_code == 200
