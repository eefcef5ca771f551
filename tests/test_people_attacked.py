"""What hostile people try on the way in, on other people's requests, and on the database: and what they get."""

import logging
import re
import statistics
import time
import uuid
from datetime import timedelta

import pytest
from axes.models import AccessAttempt
from django.contrib.auth.models import User
from django.core.management import call_command
from django.db import connection
from django.test import Client
from django.urls import get_resolver, reverse
from django.utils import timezone
from pytest_django import Settings

from mrtr_web import guard, kept, tokens
from mrtr_web.models import Flow, KeptMessages, SealedRecord, Server, Session
from mrtr_web.vault import Record
from mrtr_web.verdicts import asked_in
from tests.desk import TOOL, asks, calls, desk, done, start
from tests.person import Person
from tests.reviewers import flow_of, looking
from tests.test_races import at_once, post_raw
from tests.visitors import cookies_of

pytestmark = pytest.mark.django_db(transaction=True)
HERE, ELSEWHERE = "192.0.2.1", "198.51.100.7"


def attempt(name: str, password: str = "wrong", ip: str = HERE, client: Client | None = None, agent: str = "x") -> int:
    return said(name, password, ip, client, agent)[0]


def said(
    name: str, password: str = "wrong", ip: str = HERE, client: Client | None = None, agent: str = "x"
) -> tuple[int, str]:
    response = (client or Client()).post(
        "/accounts/login/?q=query-canary",
        {"username": name, "password": password, "next": "/canary/"},
        REMOTE_ADDR=ip,
        HTTP_USER_AGENT=agent,
        HTTP_X_FORWARDED_FOR=f"203.0.113.{len(agent)}",
    )
    text = re.sub(r'name="csrfmiddlewaretoken" value="\w+"', "", response.content.decode())
    assert (response.status_code == 429) == ("Retry-After" in response.headers)
    return response.status_code, text.replace(f'value="{name}"', "")


def test_a_password_cannot_be_tried_out(alice: User) -> None:
    """Other browsers and made-up X-Forwarded-For headers do not help; the right password does not, either."""
    assert [attempt("alice", agent="x" * n) for n in range(6)] == [200] * 4 + [429] * 2
    assert attempt("alice", "alice's password") == 429
    assert attempt("alice", "alice's password", ELSEWHERE) == 302  # nobody elsewhere is locked out


def test_the_page_keeps_the_name_and_not_the_password_and_says_how_long(alice: User) -> None:
    client = Client()
    for _ in range(5):
        response = client.post("/accounts/login/", {"username": "alice", "password": "pw-canary"}, REMOTE_ADDR=HERE)
    text = response.content.decode()
    assert 895 <= int(response.headers["Retry-After"]) <= 900
    assert "Try again in 15 minutes" in text and 'value="alice"' in text and "pw-canary" not in text
    AccessAttempt.objects.update(attempt_time=timezone.now() - timedelta(minutes=15, seconds=1))
    assert attempt("alice", "alice's password") == 302
    guard.forget_old()
    assert not AccessAttempt.objects.exists()


def test_the_last_attempt_is_told_before_whoever_it_is(alice: User) -> None:
    for name in ("alice", "nobody"):
        pages = [said(name)[1] for _ in range(5)]
        assert ["If the next one is wrong, too" in each for each in pages] == [False] * 3 + [True, False]
        assert ["do not belong together" in each for each in pages] == [True] * 4 + [False]
        assert all("There is a problem" in each for each in pages)
    assert "If the next one" not in Client().post("/accounts/login/", {"username": "alice"}).content.decode()


def test_the_page_says_how_long_is_left(alice: User) -> None:
    for _ in range(5):
        attempt("alice")
    AccessAttempt.objects.update(attempt_time=timezone.now() - timedelta(minutes=10, seconds=30))
    assert "Try again in 5 minutes" in said("alice")[1]


def test_waiting_is_not_made_longer_by_trying(alice: User) -> None:
    for _ in range(5):
        attempt("alice")
    AccessAttempt.objects.update(attempt_time=timezone.now() - timedelta(minutes=14))
    assert attempt("alice") == 429
    assert AccessAttempt.objects.get().attempt_time < timezone.now() - timedelta(minutes=13)


def test_one_address_cannot_try_one_password_on_everybody(alice: User, monkeypatch: pytest.MonkeyPatch) -> None:
    assert guard.SPREAD == 10  # fifty in earnest
    monkeypatch.setattr(guard, "SPREAD", 2)
    User.objects.create_user("mallory", password="mallory's password")
    for number in range(10):
        assert attempt(f"name{number}") == (429 if number == 9 else 200)
        if number == 7:  # an account of one's own forgets nothing of the others
            assert attempt("mallory", "mallory's password") == 302
    assert attempt("alice", "alice's password") == 429
    assert attempt("alice", "alice's password", ELSEWHERE) == 302


def test_a_network_of_ipv6_is_one_address(alice: User) -> None:
    assert [attempt("alice", ip=f"2001:db8:0:1::{n:x}") for n in range(1, 6)] == [200] * 4 + [429]
    assert attempt("alice", ip="2001:db8:0:2::1") == 200
    assert attempt("alice", ip="") == 200


def test_nobody_learns_which_accounts_there_are(alice: User, bob: User) -> None:
    User.objects.filter(pk=bob.pk).update(is_active=False)
    User.objects.create(username="no-password")
    for _ in range(5):
        answers = {said(name) for name in ("alice", "bob", "no-password", "nobody")}
        answers |= {said("bob", "bob's password", ELSEWHERE)}
        assert len({text for _, text in answers}) <= 2
    names = ["alice", "no-password", "nobody"]
    assert len({said(name) for name in names}) == 1


def test_a_password_check_takes_as_long_whoever_it_is(alice: User, bob: User, settings: Settings) -> None:
    settings.PASSWORD_HASHERS = ["django.contrib.auth.hashers.Argon2PasswordHasher"]
    for user, active in ((alice, True), (bob, False)):
        user.set_password("argon2")
        user.is_active = active
        user.save()
    User.objects.create(username="no-password")
    assert User.objects.get(pk=alice.pk).password.startswith("argon2$argon2id$")
    took: dict[str, list[float]] = {}
    for number in range(2):
        for name in ("alice", "bob", "no-password", "nobody"):
            began = time.process_time()
            attempt(name, ip=f"192.0.2.{number + 1}")
            took.setdefault(name, []).append(time.process_time() - began)
    best = {name: min(each) for name, each in took.items()}
    middle = statistics.median(best.values())
    assert all(0.6 * middle < each < 1.6 * middle for each in best.values()), best


def test_many_at_once_get_no_more_attempts(alice: User) -> None:
    statuses: list[int] = []

    def one(_: int) -> None:
        statuses.append(attempt("alice"))
        connection.close()

    at_once(20, one)
    assert statuses.count(200) <= 4 + guard.AT_ONCE - 1
    assert AccessAttempt.objects.get().failures_since_start <= 5 + guard.AT_ONCE - 1


def test_nothing_typed_is_kept_or_logged(alice: User, caplog: pytest.LogCaptureFixture) -> None:
    """A password in the wrong field, the query and the browser's name included."""
    caplog.set_level(logging.DEBUG)
    for _ in range(6):
        attempt("name-canary", "pw-canary", agent="agent-canary")
        attempt("alice", "pw-canary", agent="agent-canary")
    kept = str(list(AccessAttempt.objects.values()))
    assert "canary" not in kept and "'alice'" in kept
    assert "canary" not in "".join(r.getMessage() for r in caplog.records if r.name.startswith("axes"))
    assert f"alice from {HERE}" in caplog.text


def test_an_operator_lets_somebody_in_again(alice: User) -> None:
    for _ in range(5):
        attempt("alice")
    call_command("axes_reset_username", "alice", verbosity=0)
    assert attempt("alice", "alice's password") == 302


def test_the_admins_sign_in_is_the_same_page(alice: User) -> None:
    response = Client().post("/admin/login/", {"username": "alice", "password": "x"})
    assert (response.status_code, response.headers["Location"]) == (302, "/accounts/login/")
    root = looking(User.objects.create_superuser("root"))
    assert "axes" not in root.get("/admin/").content.decode()


def test_planted_cookies_are_worth_nothing(alice: User, bob: User) -> None:
    """Session fixation: of a session of the attacker's own, signed in or not, and of a key."""
    for planted in (cookies_of(bob), {"mrtr_session": "a" * 32, "mrtr_key": "A" * 43 + "="}):
        client = Client()
        for name, value in planted.items():
            client.cookies[name] = value
        assert attempt("alice", "alice's password", client=client) == 302
        assert all(client.cookies[name].value != value for name, value in planted.items())
        attacker = Client()
        for name, value in planted.items():
            attacker.cookies[name] = value
        assert attacker.get("/flows/").status_code == 302


def routes(flow: Flow, server: Server) -> list[str]:
    """Every route of ours, of this flow and server where it is about one."""
    given = {
        "flow_id": flow.pk,
        "slug": server.slug,
        "name": "ask",
        "number": 1,
        "copy": 2,
        "ident": flow.pk,
        "uidb64": "MQ",
        "token": "x-y",
    }
    found = []
    for pattern in get_resolver().url_patterns:
        if getattr(pattern, "name", None):
            wanted = pattern.pattern.converters
            found.append(reverse(pattern.name, kwargs={key: given[key] for key in wanted}))  # type: ignore[union-attr]
    return found


def test_no_route_takes_a_post_without_our_token(alice: User, server: Server) -> None:
    flow = flow_of(alice, server)
    before = [*Session.objects.values()]
    root = User.objects.create_superuser("root")
    client = Client(enforce_csrf_checks=True)
    for name, value in cookies_of(root).items():
        client.cookies[name] = value
    paths = [*routes(flow, server), "/admin/password_change/", "/admin/auth/user/add/"]
    assert len(paths) > 35
    for path in paths:
        for headers in ({}, {"Origin": "https://evil.example"}):
            response = client.post(path, {"x": "1"}, headers=headers)
            assert response.status_code in (403, 405), (path, headers)
    flow.refresh_from_db()
    assert flow.state == "waiting"
    assert [*Session.objects.exclude(user=root).values()] == before and Session.objects.filter(user=root).count() == 1


@pytest.mark.parametrize("field", ["flow", "again"])
def test_the_flow_of_another_in_a_hidden_field_leads_nowhere(
    person: Person, server: Server, bob: User, field: str
) -> None:
    theirs = flow_of(bob, server)
    with desk(server, done()) as recorder:
        person.get(TOOL)
        page = person.press("Start", {"s0-f0": "cheese", field: str(theirs.pk)})
        assert page.status in (200, 302, 404)
        theirs.refresh_from_db()
        assert (theirs.state, theirs.user_id) == ("waiting", bob.pk)
        assert len(calls(recorder)) == (0 if field == "flow" else 1)
        assert str(bob.username) not in page.text


def test_the_flow_of_another_is_not_gone_on_with_after_a_token(person: Person, server: Server, bob: User) -> None:
    theirs = flow_of(bob, server, leg=uuid.uuid4())
    Server.objects.update(credential_kind="each")
    with desk(server, done()) as recorder:
        page = person.get(f"/connections/demo/?flow={theirs.pk}&leg={theirs.leg}")
        form, *_ = page.button("Keep this token")
        assert not {"flow", "leg"} & form.data().keys() and theirs.reference not in page.text
        person.press("Keep this token", {"token_password": "abc", "flow": str(theirs.pk), "leg": str(theirs.leg)})
        assert person.page.path == "/s/demo/" and calls(recorder) == []


def test_rows_that_were_copied_between_people_do_not_open(
    person: Person, app: str, server: Server, alice: User, bob: User
) -> None:
    with desk(server, asks()) as recorder, Person(app) as other:
        other.sign_in("bob")
        for each in (person, other):
            start(each, f"topic-canary-{each is person}")
            each.until("waiting")
        mine, theirs = (Flow.objects.get(user=user) for user in (alice, bob))
        sealed = SealedRecord.objects.get(flow=theirs).sealed
        SealedRecord.objects.filter(flow=mine).update(sealed=sealed)  # the content of one in the other's row
        page = person.get(f"/flows/{mine.pk}/")
        assert page.status == 200 and "topic-canary" not in page.response.text and "Who are you?" not in page.text
        assert page.button("Stop this request")
        session = Session.objects.get(user=alice)
        Flow.objects.filter(pk=theirs.pk).update(user=alice)  # the whole flow given away
        SealedRecord.objects.filter(flow=theirs).update(session=session)
        page = person.get(f"/flows/{theirs.pk}/")
        assert "topic-canary" not in page.response.text and "Who are you?" not in page.text
        assert len(calls(recorder)) == 2


def test_tokens_that_were_copied_between_servers_do_not_open(person: Person, server: Server) -> None:
    """A person's token for one server in the row for another."""

    other = Server.objects.create(slug="other", name="O", url="http://127.0.0.1:9/mcp", credential_kind="each")
    Server.objects.update(credential_kind="each")
    server.refresh_from_db()
    user = User.objects.get(username="alice")
    tokens.paste(server, user.pk, "token-canary")
    tokens.paste(other, user.pk, "another")
    mine = tokens.of(server, user.pk)
    row = tokens.of(other, user.pk)
    assert mine is not None and row is not None
    type(row).objects.filter(pk=row.pk).update(sealed=mine.sealed)
    with desk(server, done()):
        page = person.get("/connections/other/")
        assert page.status == 200 and "token-canary" not in page.response.text


def test_what_is_kept_of_one_flow_for_reviewers_does_not_open_at_another(alice: User, server: Server) -> None:
    Server.objects.update(keep_messages=True)
    one, two = (flow_of(alice, Server.objects.get()) for _ in range(2))
    schema = {"type": "object", "properties": {"a": {"type": "string"}}}
    asked = {"k": {"method": "elicitation/create", "params": {"message": "words-canary", "requestedSchema": schema}}}
    record = Record(method="tools/call", params={}, capabilities={"elicitation": {"form": {}}}, requests=asked)
    words = kept.seal(one, 1, asked_in(record))
    assert words is not None
    root = looking(User.objects.create_superuser("root"))
    for row, told in ((one, True), (two, False)):
        KeptMessages.objects.create(flow=row, round=1, sealed=words)
        assert ("words-canary" in root.get(f"/review/{row.pk}/").content.decode()) == told


def test_an_old_round_is_not_taken_again(person: Person, server: Server) -> None:
    """After the next round, after the end, twenty at once."""
    with desk(server, asks(), asks("s2", "Next?"), done()) as recorder:
        start(person)
        person.until("waiting")
        person.fill("Name", "Ada")
        form, _, action = person.page.button("Send")
        old = form.data()
        person.press("Send")
        person.until("waiting")
        statuses: list[int] = []
        at_once(20, lambda _: statuses.append(post_raw(person, action, {**old, "x": ["changed"]})))
        assert set(statuses) == {409} and len(calls(recorder)) == 2
        person.get(person.page.path)
        person.fill("Name", "Bea")
        person.press("Send")
        person.until("completed")
        assert post_raw(person, action, old) in (302, 409)
        assert len(calls(recorder)) == 3
