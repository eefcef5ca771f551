"""People's own tokens through the pages: given, replaced, refused, taken back, and seen nowhere."""

import logging
from typing import Any
from urllib.parse import urlencode

import pytest
from django.contrib.auth.models import User
from django.urls import reverse
from pytest_django import Settings

from mrtr_web.models import AuditEntry, Connection, Server, Session
from tests.desk import LISTED, asks, calls, desk, done, start
from tests.gate import gate, token_of
from tests.offers import store
from tests.person import Page, Person
from tests.test_canaries import admin_pages, tables

pytestmark = pytest.mark.django_db(transaction=True)
GOOD, OTHER, LATER = "c4n4ry-good-t0ken", "c4n4ry-other-t0ken", "c4n4ry-later-t0ken"
MINE = "/connections/demo/"
TOOLS: Any = LISTED["tools/list"]["tools"]


@pytest.fixture
def each(server: Server) -> Server:
    """A server that wants a token of each person, and has told before what it offers."""
    Server.objects.update(credential_kind="each")
    server.refresh_from_db()
    return server


def offered(server: Server) -> None:
    """Everybody has heard of the tool."""
    store(server, tools=TOOLS)


def give(person: Person, token: str, path: str = MINE) -> Page:
    person.get(path)
    person.fill("Your token for Demo desk", token)
    return person.press("Replace the token" if "A token of yours is kept" in person.page.text else "Keep this token")


def give_from_the_request(person: Person, token: str) -> Page:
    label = "Replace your token" if Connection.objects.exists() else "Give a token"
    return give(person, token, person.page.link(label))


def test_a_request_waits_for_the_token_and_goes_on_by_itself(person: Person, each: Server) -> None:
    with gate(each, {GOOD}, asks(), done()) as recorder:
        offered(each)
        start(person)
        person.until("unsent")
        assert "The server wants a token of your own, and you have not given one yet." in person.page.text
        assert "Send again" not in person.page.text
        assert recorder.posts == []
        give_from_the_request(person, GOOD)
        assert "Your token for Demo desk is kept." in person.page.text
        person.until("waiting")
        person.fill("Name", "Ada")
        person.press("Send")
        person.until("completed")
    first, second = calls(recorder)
    assert first.params["arguments"] == second.params["arguments"] == {"topic": "cheese"}
    assert second.params["inputResponses"]["who"]["content"] == {"name": "Ada"}
    assert {token_of(post) for post in recorder.posts} == {GOOD}
    assert [entry.event for entry in AuditEntry.objects.filter(event__in=("connected", "token_given"))] == [
        "token_given"
    ]


def test_answers_outlast_a_token_that_is_no_longer_taken(person: Person, each: Server) -> None:
    taken = {GOOD}
    with gate(each, taken, asks("s1"), done(), open_listings=True) as recorder:
        give(person, GOOD)
        start(person)
        person.until("waiting")
        taken.clear()
        person.fill("Name", "Ada")
        person.press("Send")
        person.until("unsent")
        refused = "The server does not accept your token: it may have been withdrawn or have run out."
        for token in (OTHER, OTHER, OTHER, OTHER):  # as often as it takes
            assert refused in person.page.text
            give_from_the_request(person, token)
            person.until("unsent")
        taken.add(LATER)
        give_from_the_request(person, LATER)
        person.until("completed")
    legs = calls(recorder)
    assert [token_of(leg) for leg in legs] == [GOOD, GOOD, OTHER, OTHER, OTHER, OTHER, LATER]
    assert len({leg.id for leg in legs}) == len(legs)
    for leg in legs[1:]:
        assert leg.params["inputResponses"]["who"]["content"] == {"name": "Ada"}
        assert leg.params["requestState"] == "s1"


def test_the_server_can_be_asked_again_once_it_takes_the_token(person: Person, each: Server) -> None:
    taken = set[str]()
    with gate(each, taken, done(), open_listings=True) as recorder:
        offered(each)
        give(person, GOOD)
        start(person)
        person.until("unsent")
        taken.add(GOOD)
        person.press("Send again")
        person.until("completed")
    assert [token_of(leg) for leg in calls(recorder)] == [GOOD, GOOD]


def test_a_token_is_its_persons_alone(person: Person, each: Server, bob: User) -> None:
    with gate(each, {GOOD, OTHER}, done()) as recorder, Person(person.base) as other:
        give(person, GOOD)
        other.sign_in("bob")
        assert "You have not given a token yet." in other.get("/connections/").text
        before = len(recorder.posts)
        start(other)
        other.until("unsent")
        assert len(recorder.posts) == before
        assert other.post("/connections/demo/disconnect/", _token_of_form(other)).path == "/connections/"
        give_from_the_request_of(other, OTHER)
        other.until("completed")
        start(person)
        person.until("completed")
    assert [token_of(leg) for leg in calls(recorder)] == [OTHER, GOOD]
    assert {row.user.username for row in Connection.objects.select_related("user")} == {"alice", "bob"}


def _token_of_form(person: Person) -> dict[str, list[str]]:
    return {"csrfmiddlewaretoken": person.page.reader.forms[0].data()["csrfmiddlewaretoken"]}


def give_from_the_request_of(person: Person, token: str) -> Page:
    """For somebody who has none, while others have."""
    person.get(person.get("/flows/").link("Ask me"))
    return give(person, token, person.page.link("Give a token"))


def test_who_disconnects_is_let_in_no_longer(person: Person, each: Server) -> None:
    with gate(each, {GOOD}, done()) as recorder:
        offered(each)
        give(person, GOOD)
        assert "A token of yours is used here." in person.get("/s/demo/").text
        person.get(person.get("/connections/").link("Disconnect from Demo desk"))
        assert "Disconnect from Demo desk?" in person.page.text and Connection.objects.exists()
        person.press("Disconnect")
        assert "You are disconnected from Demo desk. Your token is deleted here." in person.page.text
        assert "You have not given a token yet." in person.page.text
        assert not Connection.objects.exists()
        before = len(recorder.posts)
        start(person)
        person.until("unsent")
        assert len(recorder.posts) == before
    assert list(AuditEntry.objects.filter(event="disconnected").values_list("person", flat=True)) == ["alice"]


def test_a_page_of_the_catalogue_asks_for_the_token_first(person: Person, each: Server) -> None:
    with gate(each, {GOOD}, done()):
        for path in ("/s/demo/", "/s/demo/tools/ask/"):
            page = person.get(path)
            assert "The server wants a token of your own, and you have not given one yet." in page.text
            back = "" if path == "/s/demo/" else "?page=%2Fs%2Fdemo%2Ftools%2Fask%2F"
            assert page.link("Give a token for Demo desk") == MINE + back
            assert 'action="/s/demo/"' not in page.response.text and "no longer offered" not in page.text
        assert give(person, GOOD).path == "/s/demo/"
        assert "Ask me" in person.page.text


@pytest.mark.parametrize(
    ("token", "told"),
    [
        ("", "The token is empty."),
        (f"Bearer {GOOD}", "The token has a space in it. Give the token alone, without the word Bearer."),
        (GOOD * 1000, "A value is longer than 8 KiB."),
        (f"{GOOD}é", "A value is empty, or has characters that cannot be sent in a header: only visible ASCII can."),
    ],
)
def test_a_token_that_cannot_be_sent_is_refused_beside_its_field(
    person: Person, each: Server, token: str, told: str
) -> None:
    page = give(person, token)
    assert page.status == 422
    assert page.link(told) == "#id_token_password"
    html = page.response.text
    assert 'aria-describedby="id_token_password_helptext id_token_password_error"' in html
    assert 'aria-invalid="true"' in html and "c4n4ry" not in html
    assert not Connection.objects.exists()


def test_without_a_key_ring_nothing_is_kept(person: Person, each: Server, settings: Settings) -> None:
    settings.CONFIG = settings.CONFIG.model_copy(update={"credential_keys": ()})
    page = give(person, GOOD)
    assert page.status == 503
    assert "Your token was not kept" in page.text and "MRTR_CREDENTIAL_KEYS is empty" in page.text
    assert "c4n4ry" not in page.response.text


def follow(person: Person, label: str) -> Page:
    """Press the button of a form that posts nothing."""
    form, _, action = person.page.button(label)
    assert form.method == "get"
    return person.get(f"{action}?{urlencode(form.data(), doseq=True)}")


def test_a_token_that_came_too_late_is_not_shown_again(person: Person, each: Server) -> None:
    person.get(MINE)
    person.fill("Your token", GOOD)
    Session.objects.all().delete()
    page = person.press("Keep this token")
    assert (page.status, "c4n4ry" in page.response.text) == (403, False)
    assert "Your token was not kept. It is shown nowhere, so paste it once more." in page.text
    assert follow(person, "Sign in again").path == "/accounts/login/"
    person.press("Sign in", {"username": "alice", "password": "alice's password"})
    assert person.page.path == MINE
    person.fill("Your token", GOOD)
    page = person.press("Keep this token", {"csrfmiddlewaretoken": "x" * 64})
    assert (page.status, "c4n4ry" in page.response.text) == (403, False)
    assert "The page was open for so long that it went stale. Your token was not kept." in page.text
    assert follow(person, "Open the page again").path == MINE
    assert not Connection.objects.exists()


def test_a_token_is_seen_nowhere(person: Person, each: Server, caplog: pytest.LogCaptureFixture) -> None:
    User.objects.create_superuser("root", password="root's password")
    caplog.set_level(logging.DEBUG)
    taken = {GOOD}
    texts = list[str]()
    with gate(each, taken, done()), Person(person.base) as root:
        root.sign_in("root")
        texts.append(give(person, GOOD).response.text)
        start(person)
        person.until("completed")
        texts.append(person.page.response.text)
        taken.clear()
        start(person)
        person.until("unsent")
        texts += [person.page.response.text, person.get(person.page.link("Replace your token")).response.text]
        texts += [person.get(path).response.text for path in ("/connections/", "/s/demo/", "/accounts/profile/")]
        texts += admin_pages(root)
        texts += [root.get(reverse(name)).response.text for name in ("audit", "audit_csv", "findings_list", "review")]
        texts.append(person.get(MINE).response.text)
        texts += [tables(), str(Connection.objects.get()), repr(Connection.objects.get())]
        texts.append(person.get(person.page.link("Disconnect")).response.text)
        texts.append(person.press("Disconnect").response.text)
    assert not [text for text in (*texts, caplog.text) if "c4n4ry" in text]


# Signing in


def test_a_server_that_says_nothing_of_signing_in_is_told_of(person: Person, server: Server) -> None:
    Server.objects.update(credential_kind="oauth")
    with gate(server, set(), done()):
        page = person.get("/s/demo/")
        assert "The server wants you to sign in first." in page.text
        page = person.press("Sign in to Demo desk")
        assert page.status == 502
        assert "You cannot sign in just now" in page.text
        assert "The server does not say where people sign in, so this app cannot lead you there." in page.text
    page = person.press("Sign in to Demo desk")
    assert "could not be reached" in page.text


def test_an_answer_that_nobody_waits_for_changes_nothing(person: Person, server: Server) -> None:
    Server.objects.update(credential_kind="oauth")
    page = person.get("/oauth/callback/?code=c4n4ry&state=c4n4ry&iss=https://evil.example")
    assert (page.status, "c4n4ry" in page.response.text, "evil" in page.response.text) == (403, False, False)
    assert "No sign-in of yours is waiting for this answer" in page.text
    assert person.get(page.link("My connections")).path == "/connections/"
    with Person(person.base) as stranger:
        page = stranger.get("/oauth/callback/?code=c4n4ry&state=c4n4ry")
        assert (page.status, "c4n4ry" in page.response.text) == (403, False)
        assert "You are not signed in to this app in this browser any more" in page.text
        assert stranger.get(page.link("Sign in to this app")).path == "/accounts/login/"
    assert not Connection.objects.exists()


def test_who_has_nothing_to_connect_is_told_so(person: Person, server: Server) -> None:
    assert person.get(person.get("/accounts/profile/").link("See my connections")).path == "/connections/"
    assert "None of the servers that you may use wants you to sign in" in person.page.text
    assert person.get(MINE).status == 404
    with desk(server, done()):
        assert "My connection" not in person.get("/s/demo/").text
