"""Who gets what, over all routes and roles: whoever is not concerned is told that there is no such page."""

import uuid
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.http import HttpResponse
from django.test import Client
from django.urls import get_resolver, reverse

from mrtr_web.models import AuditEntry, Finding, Flow, Server
from tests.desk import asks, desk, done, start
from tests.hints import listening, refusal
from tests.offers import store, tool
from tests.person import Person
from tests.reviewers import admitted, flow_of, looking, other_server, reviewer_of

pytestmark = pytest.mark.django_db(transaction=True)

OF_A_SERVER: dict[str, dict[str, Any]] = {
    "server": {},
    "tool": {"name": "ask"},
    "prompt": {"name": "greet"},
    "resource": {},
    "suggest": {},
    "connection": {},
    "disconnect": {},
    "leave": {"ident": uuid.UUID(int=1)},
}
OF_A_FLOW: dict[str, dict[str, Any]] = {
    **{name: {} for name in ("flow", "timeline", "check", "answer", "stop", "forget", "again")},
    "content": {"number": 1},
}
OF_A_REVIEWER: dict[str, str] = {
    **dict.fromkeys(("review_flow", "withdraw", "remind", "take", "release", "end_sessions"), "flow_id"),
    **dict.fromkeys(("switch", "findings", "findings_text"), "slug"),
}
OF_THE_DESK = ("review", "review_servers", "audit", "audit_csv", "findings_list", "numbers")
OF_NOBODY = {
    "home",
    "login",
    "logout",
    "sign_out",
    "profile",
    "password",
    "end_others",
    "session",
    "flows",
    "forget_ended",
    "rules",
    "connections",
    "oauth_callback",
    "oauth_refused",
}
"""The same for everybody who is signed in, about themselves alone."""
OF_FORGETTERS = {"reset", "reset_sent", "reset_done", "reset_confirm"}
OF_THE_WORLD = {"client_metadata", "healthz", "logo", "readyz", "set_language", "styleguide"} | OF_FORGETTERS
"""For whoever asks."""


def test_every_route_is_in_this_table() -> None:
    named = {getattr(pattern, "name", None) for pattern in get_resolver().url_patterns} - {None}
    assert named == {*OF_A_SERVER, *OF_A_FLOW, *OF_A_REVIEWER, *OF_THE_DESK, *OF_NOBODY, *OF_THE_WORLD}


class House:
    """One request of alice's to a server of her group, and everybody who may come by."""

    def __init__(self, alice: User, server: Server) -> None:
        store(server, tools=[tool("ask")], prompts=[{"name": "greet"}], resources=[{"uri": "a://b", "name": "b"}])
        Server.objects.filter(pk=server.pk).update(credential_kind="each")
        admitted(alice, server)
        self.flow = flow_of(alice, server)
        self.people = {
            "alice": alice,
            "carol": User.objects.create_user("carol"),
            "rita": reviewer_of("rita", server, may=("switch_server", "end_sessions")),
            "olaf": reviewer_of("olaf", other_server(), may=("switch_server", "end_sessions")),
            "root": User.objects.create_superuser("root"),
        }

    def clients(self, *without: str) -> Iterator[tuple[str, Client]]:
        for name, user in self.people.items():
            if name not in without:
                yield name, looking(user)


@pytest.fixture
def house(alice: User, server: Server) -> House:
    return House(alice, server)


def paths(house: House) -> Iterator[tuple[str, str, str, set[str]]]:
    """Each route: its name, its path, the path of one that does not exist, and who may see it."""
    nobody, mine = uuid.UUID(int=0), house.flow.pk
    for name, more in OF_A_SERVER.items():
        there, gone = (reverse(name, kwargs={"slug": slug, **more}) for slug in ("demo", "no-such"))
        yield name, there, gone, {"alice", "rita", "root"}
    for name, more in OF_A_FLOW.items():
        there, gone = (reverse(name, kwargs={"flow_id": flow, **more}) for flow in (mine, nobody))
        yield name, there, gone, {"alice"}
    for name, key in OF_A_REVIEWER.items():
        ids = (mine, nobody) if key == "flow_id" else ("demo", "no-such")
        there, gone = (reverse(name, kwargs={key: each}) for each in ids)
        yield name, there, gone, {"rita", "root"}


def by_url(client: Client, path: str) -> HttpResponse:
    return client.get(path, follow=True)  # type: ignore[return-value]


def by_post(client: Client, path: str) -> HttpResponse:
    return client.post(path, {"reason": "x", "to": "off"}, follow=True)  # type: ignore[return-value]


@pytest.mark.parametrize("ask", [by_url, by_post])
def test_outsiders_are_told_of_no_such_page(house: House, ask: Callable[[Client, str], HttpResponse]) -> None:
    before = AuditEntry.objects.count()
    for name, path, gone, insiders in paths(house):
        for who, client in house.clients(*insiders):
            response = ask(client, path)
            assert response.status_code in (404, 405), (name, who)
            assert response.status_code == ask(client, gone).status_code, (name, who)
            assert b"Demo desk" not in response.content, (name, who)
    assert AuditEntry.objects.count() == before
    assert Server.objects.get(slug="demo").enabled and Flow.objects.get().state == "waiting"


def test_insiders_are_served(house: House) -> None:
    for name, path, _, insiders in paths(house):
        for who, client in house.clients(*set(house.people) - insiders):
            status = by_url(client, path).status_code
            assert status == (405 if name == "suggest" else 404 if name == "content" else 200), (
                name,
                who,
            )


@pytest.mark.parametrize("ask", [by_url, by_post])
def test_strangers_are_sent_to_sign_in(house: House, ask: Callable[[Client, str], HttpResponse]) -> None:
    for name, path, gone, _ in paths(house):
        response, other = ask(Client(), path), ask(Client(), gone)
        assert response.status_code == other.status_code, name
        assert response.status_code in (200, 403, 405), name
        assert b"Demo desk" not in response.content, name
    for name in OF_THE_DESK:
        assert Client().get(reverse(name)).status_code == 302


def test_the_desk_is_for_reviewers_and_shows_them_their_servers_alone(house: House, server: Server) -> None:
    Finding.objects.create(server=server, rule="FM-5", count=1)
    AuditEntry.objects.create(event="started", server_id=server.pk, server="demo", person="alice", after="running")
    for name in OF_THE_DESK:
        for who, client in house.clients():
            response = client.get(reverse(name))
            if who in ("alice", "carol"):
                assert response.status_code == 404, (name, who)
                continue
            assert response.status_code == 200, (name, who)
            if response.streaming:  # test_audit reads it
                continue
            text = response.content.decode()
            tells = "Demo desk" in text or ",demo," in text or house.flow.reference in text
            assert tells == (who != "olaf"), (name, who)


@pytest.mark.parametrize("query", ["?q=ask", "?server=demo", "?tag=secret-tag", ""])
def test_the_catalogue_says_nothing_of_what_one_may_not_use(house: House, query: str) -> None:
    Server.objects.filter(slug="demo").update(tags=["secret-tag"])
    for who, client in house.clients("alice", "rita", "root"):
        for path in ("/", "/flows/", "/connections/"):
            text = client.get(f"{path}{query}").content.decode()
            assert "Demo desk" not in text and ">secret-tag" not in text, (who, path)


def test_sockets_open_for_whom_their_pages_are(person: Person, alice: User, server: Server) -> None:
    admitted(alice, server)
    people = [
        User.objects.create_superuser("root", password="root's password"),
        reviewer_of("rita", server),
        reviewer_of("olaf", other_server()),
        User.objects.create_user("carol", password="carol's password"),
    ]
    with desk(server, asks(), done()):
        start(person)
        person.until("waiting")
        path = f"/ws{person.page.path}"
        assert refusal(person, cookies={}) == refusal(person, path="/ws/review/", cookies={}) == 403
        assert refusal(person, path="/ws/review/") == 403
        for user in people:
            with Person(person.base) as other:
                other.sign_in(user.username)
                assert refusal(other, path=path) == 403, user
                if user.username == "carol":
                    assert refusal(other, path="/ws/review/") == 403
                else:
                    hears_of_it(other, person, is_theirs=user.username != "olaf")


def hears_of_it(reviewer: Person, person: Person, is_theirs: bool) -> None:
    """Whether the reviewer's queue is told when the person starts something."""
    seen = mark_on(reviewer.get("/review/").response.text)
    with listening(reviewer, seen, path="/ws/review/") as ear:
        start(person)
        person.until("waiting", "completed")
        if is_theirs:
            assert ear.next() == {"type": "moved"}
        else:
            assert ear.is_silent(1.0)


def mark_on(html: str) -> str:
    return html.partition('data-mark="')[2].partition('"')[0]


def test_a_reviewer_who_is_one_no_longer_loses_the_socket(app: str, server: Server, settings: Any) -> None:
    settings.CONFIG = settings.CONFIG.model_copy(update={"heartbeat": 0.2})
    rita = reviewer_of("rita", server)
    with Person(app) as reviewer:
        reviewer.sign_in("rita")
        with listening(reviewer, mark_on(reviewer.get("/review/").response.text), path="/ws/review/") as ear:
            rita.groups.clear()
            assert ear.closed() == 4401
        assert reviewer.get("/review/").status == 404
