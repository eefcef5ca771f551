"""Tokens that end while people work: renewed without a word, once, whoever asks at the same moment."""

import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.utils import timezone

from mrtr_web import authserver, tokens
from mrtr_web.access import Challenge, Client, Tokens
from mrtr_web.models import Connection, Flow, Server
from tests.person import Person
from tests.processes import serving
from tests.servers import run
from tests.signing_in import ASK, begin, calls, connected, protected, token_of

pytestmark = pytest.mark.django_db(transaction=True)


def soon_over() -> None:
    """The time to renew has come; the token still serves."""
    Connection.objects.update(renew_at=timezone.now() - timedelta(seconds=1))


def over() -> None:
    soon_over()
    Connection.objects.update(ends_at=timezone.now() - timedelta(seconds=1))


@pytest.mark.parametrize("end", [soon_over, over])
def test_a_token_is_renewed_before_it_is_sent(person: Person, server: Server, end: Callable[[], None]) -> None:
    with protected(server) as world:
        connected(person)
        before = token_of(world.mcp.posts[-1])
        end()
        assert "ada" in begin(person).text
        (call,) = calls(world)
        assert token_of(call) not in ("", before)
        assert (world.refreshes, world.burnt, world.faults) == (1, 0, [])
        assert "ada" in begin(person).text
        assert world.refreshes == 1


def test_a_token_that_ends_in_the_middle_of_a_round_costs_the_person_nothing(person: Person, server: Server) -> None:
    """O02: refused, though nothing said that it had ended"""
    with protected(server) as world:
        connected(person)
        begin(person, ASK)
        person.fill("Treat", "cake")
        world.end_access()
        person.press("Send")
        assert "cake for ada; asked ada" in person.until("completed").text
        first, second, third = calls(world)
        assert token_of(second) == token_of(first) != token_of(third) != ""
        assert second.id != third.id
        assert second.params["inputResponses"] == third.params["inputResponses"]
        assert (world.refreshes, world.burnt, world.faults) == (1, 0, [])


def test_a_listing_that_meets_an_ended_token_is_asked_for_again(person: Person, server: Server) -> None:
    with protected(server) as world:
        connected(person)
        world.end_access()
        person.get("/s/demo/")
        page = person.post("/s/demo/", person.page.reader.forms[0].data())
        assert "Who am I?" in page.text
        assert (world.refreshes, world.burnt) == (1, 0)


@pytest.mark.parametrize("end", [over, soon_over, None])
def test_two_processes_at_the_same_moment_renew_once(
    alice: User, server: Server, tmp_path: Path, end: Callable[[], None] | None, settings: Any
) -> None:
    """O01"""
    settings.PASSWORD_HASHERS = ["django.contrib.auth.hashers.Argon2PasswordHasher"]
    alice.set_password("alice's password")
    alice.save()
    with protected(server, refresh_delay=0.5) as world, serving(tmp_path) as one, serving(tmp_path) as two:
        with Person(one.base) as first, Person(two.base) as second:
            for each in (first, second):
                each.sign_in("alice")
            connected(first)
            begin(second)
            if end is None:
                world.end_access()
            else:
                end()
            start = threading.Barrier(4)

            def go(base: Person) -> str:
                with Person(base.base) as tab:
                    tab.client.cookies = base.client.cookies
                    tab.get("/s/demo/tools/whoami/")
                    start.wait(20)
                    tab.press("Start")
                    return tab.until("completed", "unsent").state

            with ThreadPoolExecutor(4) as tabs:
                assert list(tabs.map(go, (first, second, first, second))) == ["completed"] * 4
        assert (world.refreshes, world.burnt, world.faults) == (1, 0, [])


def test_a_sign_in_server_that_is_away_keeps_everything(person: Person, server: Server) -> None:
    with protected(server, refresh_status=503) as world:
        connected(person)
        soon_over()
        assert "ada" in begin(person).text  # it still serves
        over()
        page = begin(person)
        assert (page.state, Flow.objects.latest("started_at").outcome) == ("unsent", "renewal")
        assert "could not be renewed just now" in page.text
        assert Connection.objects.get().claimed_until is None
        world.knobs.refresh_status = None
        person.press("Send again")
        assert "ada" in person.until("completed").text
        assert (world.refreshes, world.burnt) == (1, 0)


def test_who_cannot_be_renewed_signs_in_again(person: Person, server: Server) -> None:
    with protected(server) as world:
        connected(person)
        world.end_all()
        over()
        page = begin(person)
        assert (page.state, "The server wants you to sign in first" in page.text) == ("unsent", True)
        assert Connection.objects.count() == 0
        assert token_of(calls(world)[-1]) == ""


def test_a_refresh_token_that_does_not_rotate_is_kept(person: Person, server: Server) -> None:
    with protected(server, rotating=False) as world:
        connected(person)
        for count in (1, 2):
            over()
            assert "ada" in begin(person).text
            assert world.refreshes == count


def test_a_process_that_died_while_it_renewed_is_waited_for_only_so_long(person: Person, server: Server) -> None:
    with protected(server) as world:
        connected(person)
        over()
        row = Connection.objects.get()
        assert isinstance(tokens.claim(server.pk, row.user_id, None), tokens.Claimed)
        assert tokens.claim(server.pk, row.user_id, None) == tokens.Busy(serves=False)
        Connection.objects.update(claimed_until=timezone.now() - timedelta(seconds=1))
        assert "ada" in begin(person).text
        assert world.refreshes == 1


def test_who_disconnects_while_it_is_renewed_stays_disconnected(person: Person, server: Server) -> None:
    with protected(server):
        connected(person)
        over()
        row = Connection.objects.get()
        claimed = tokens.claim(server.pk, row.user_id, None)
        assert isinstance(claimed, tokens.Claimed)
        tokens.drop(row)
        tokens.renewed(claimed, claimed.tokens)
        tokens.give_back(claimed)
        assert Connection.objects.count() == 0


def test_not_everybodys_token_is_renewed_at_once(server: Server) -> None:
    """O03"""
    with protected(server):
        sample = Tokens(
            access="a",
            refresh="r",
            lifetime=3600,
            issuer="https://login.example",
            resource="https://mcp.example/",
            token_endpoint="https://login.example/token",
            client=Client(client_id="c"),
        )
        people = [User.objects.create_user(f"person{number}") for number in range(50)]
        for someone in people:
            tokens.keep(server, someone.pk, sample)
        left = sorted((row.ends_at - row.renew_at).total_seconds() for row in Connection.objects.all())  # type: ignore[operator]
        assert left[0] >= 100 and left[-1] <= 300
        assert left[-1] - left[0] > 60


@pytest.mark.parametrize("private", [["10.0.0.0/8"], []])
def test_the_same_networks_are_allowed_when_a_token_is_renewed(server: Server, private: list[str]) -> None:
    """O05: the rule is the server's, whatever the request is for"""
    with protected(server) as world:
        with pytest.raises(authserver.Trouble) as found:
            run(authserver.find(world.url, Challenge(), private))
        assert found.value.code == "insecure"
        sample = Tokens(
            access="a",
            refresh="r",
            issuer=world.issuer,
            resource=world.url,
            token_endpoint=f"{world.issuer}/token",
            client=Client(client_id="c"),
        )
        with pytest.raises(authserver.Trouble) as refused:
            run(authserver.renew(sample, private))
        assert refused.value.code == "insecure"
        assert world.auth.posts == []
