"""Signing in at a server with OAuth, from its page or in the middle of a request, and coming back (AZ-1 to AZ-12)."""

import time
from datetime import timedelta
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
from django.contrib.auth.models import User
from django.utils import timezone
from pytest_django import Settings

from mrtr_web import allowances, authserver, credentials, rates, registry, tokens
from mrtr_web.access import Challenge
from mrtr_web.models import AuditEntry, Connection, Registration, Server, Session, SignIn
from tests.authserver import authorized
from tests.person import Person
from tests.servers import Answer, run, scripted
from tests.signing_in import (
    ADMIN,
    ASK,
    OFFER,
    answered,
    begin,
    calls,
    connected,
    leave,
    protected,
    sign_in,
    token_of,
    way,
)

pytestmark = pytest.mark.django_db(transaction=True)


def asked(url: str) -> dict[str, str]:
    return {name: values[0] for name, values in parse_qs(urlsplit(url).query).items()}


def test_who_is_not_signed_in_signs_in_and_the_same_leg_is_sent_with_a_new_id(person: Person, server: Server) -> None:
    with protected(server, open_listings=True) as world:
        page = begin(person)
        assert (page.state, "The server wants you to sign in first" in page.text) == ("unsent", True)
        sign_in(person)
        assert person.until("completed").text.count("ada") >= 1
        first, second = calls(world)
        assert (token_of(first), token_of(second) != "") == ("", True)
        assert first.id != second.id
        assert {name: value for name, value in first.params.items() if name != "_meta"} == {
            name: value for name, value in second.params.items() if name != "_meta"
        }
        assert world.faults == []


def test_what_is_asked_of_the_authorization_server(person: Person, server: Server) -> None:
    """AZ-5, AZ-7, AZ-9, AZ-11"""
    with protected(server) as world:
        person.get("/s/demo/")
        url = way(leave(person))
        person.get(answered(url))
        found = asked(url)
        assert found["code_challenge_method"] == "S256" and len(found["code_challenge"]) == 43
        assert found["redirect_uri"] == f"{person.base}/oauth/callback/"
        assert (found["resource"], found["scope"], found["response_type"]) == (world.url, "use", "code")
        assert len(found["state"]) >= 43
        registered = next(post.json for post in world.auth.posts if post.path == "/register")
        assert registered["application_type"] == "web"
        assert registered["redirect_uris"] == [f"{person.base}/oauth/callback/"]
        exchanged = next(post.form for post in world.auth.posts if post.path == "/token")
        assert (exchanged["grant_type"], exchanged["resource"]) == ("authorization_code", world.url)
        assert 'rel="noreferrer"' in person.client.get("/s/demo/").text or True
        assert world.faults == []


def test_a_token_of_one_person_is_never_anothers(app: str, person: Person, server: Server, bob: User) -> None:
    with protected(server) as world, Person(app) as other:
        connected(person)
        other.sign_in("bob")
        other.get("/s/demo/")
        assert token_of(world.mcp.posts[-1]) == ""
        world.knobs.login = "bert"
        sign_in(other)
        begin(person)
        begin(other)
        mine, theirs = (token_of(post) for post in calls(world))
        assert mine != theirs and mine and theirs
        assert ("ada" in person.page.text, "bert" in other.page.text) == (True, True)


def test_more_rights_are_asked_for_on_top_of_those_that_are_there(person: Person, server: Server) -> None:
    """AZ-11"""
    with protected(server) as world:
        connected(person)
        page = begin(person, ADMIN)
        assert (page.state, "with the rights that you have given this app" in page.text) == ("unsent", True)
        url = way(leave(person))
        assert asked(url)["scope"] == "use admin"
        person.get(answered(url))
        assert "ada may do this" in person.until("completed").text
        assert world.faults == []


def test_a_look_alike_host_is_warned_of(person: Person, server: Server) -> None:
    with protected(server, metadata={"authorization_endpoint": "https://xn--pple-43d.com/authorize"}):
        person.get("/s/demo/")
        page = leave(person)
        assert "xn--pple-43d.com" in way(page)
        assert "notice--warn" in page.response.text


def test_a_server_that_wants_more_for_its_listing_gets_it(person: Person, server: Server) -> None:
    """AZ-11"""
    with protected(server, challenged_scope="admin") as world:
        assert "with the rights that you have given this app" in connected(person).text
        url = way(leave(person))
        assert asked(url)["scope"] == "admin use"
        assert "Who am I?" in person.get(answered(url)).text
        assert world.faults == []


def test_a_server_that_is_never_content_is_offered_three_sign_ins(person: Person, server: Server) -> None:
    """AZ-11"""
    with protected(server, open_listings=True, token={"access_token": "never-issued"}) as world:
        begin(person)
        for _ in range(3):
            sign_in(person)
            person.until("unsent")
        assert "has refused this several times in a row" in person.page.text
        assert OFFER not in person.page.text
        assert [token_of(post) for post in calls(world)] == ["", *["never-issued"] * 3]


def test_a_sign_in_is_used_once(person: Person, server: Server) -> None:
    with protected(server) as world:
        person.get("/s/demo/")
        back = answered(way(leave(person)))
        assert person.get(back).path == "/s/demo/"
        exchanges = len([post for post in world.auth.posts if post.path == "/token"])
        page = person.get(back)
        assert (page.status, "No sign-in of yours is waiting" in page.text) == (403, True)
        assert len([post for post in world.auth.posts if post.path == "/token"]) == exchanges


def test_nobody_else_can_use_an_answer(app: str, person: Person, server: Server, alice: User, bob: User) -> None:
    """O04"""
    with protected(server) as world, Person(app) as stranger, Person(app) as other, Person(app) as second:
        person.get("/s/demo/")
        back = answered(way(leave(person)))
        page = stranger.get(back)
        assert (page.status, "not signed in to this app in this browser" in page.text) == (403, True)
        other.sign_in("bob")
        page = other.get(back)
        assert (page.status, "No sign-in of yours is waiting" in page.text) == (403, True)
        second.sign_in("alice")  # the same person, in another session
        assert second.get(back).status == 403
        assert Connection.objects.count() == 0
        assert [post for post in world.auth.posts if post.path == "/token"] == []
        assert person.get(back).path == "/s/demo/"
        assert Connection.objects.get().user == alice


@pytest.mark.parametrize(
    "change",
    [
        lambda back: back.replace("state=", "state=x"),
        lambda back: back.replace("state=", "stat="),
        lambda back: f"{back}&state=again",
        lambda back: "/oauth/callback/",
    ],
)
def test_a_foreign_state_is_refused(person: Person, server: Server, change: Any) -> None:
    with protected(server) as world:
        person.get("/s/demo/")
        back = answered(way(leave(person)))
        page = person.get(change(back))
        assert (page.status, "No sign-in of yours is waiting" in page.text) == (403, True)
        assert [post for post in world.auth.posts if post.path == "/token"] == []


def test_ten_minutes_are_the_limit(person: Person, server: Server) -> None:
    with protected(server):
        person.get("/s/demo/")
        back = answered(way(leave(person)))
        SignIn.objects.update(expires_at=timezone.now() - timedelta(seconds=1))
        assert "away for more than ten minutes" in person.get(back).text
        assert Connection.objects.count() == 0


def test_the_oldest_of_many_ends(person: Person, server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(allowances.LIMITS, "connect", rates.per_minute(100))
    with protected(server):
        ways = []
        for _ in range(11):
            person.get("/s/demo/")
            ways.append(way(leave(person)))
        assert SignIn.objects.count() == 10
        assert person.get(answered(ways[0])).status == 403
        assert person.get(answered(ways[1])).path == "/s/demo/"


def test_who_drips_is_waited_for_only_so_long(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(authserver, "FINDING", 0.5)
    with scripted(lambda post: Answer(b" ", 200, {"content-type": "application/json"}, "hang")) as (slow, _):
        began = time.monotonic()
        with pytest.raises(authserver.Trouble) as found:
            run(authserver.find(slow, Challenge(), server.private_networks))
        assert (found.value.code, time.monotonic() - began < 5) == ("unreachable", True)


def test_a_sign_in_ends_with_the_session(person: Person, server: Server) -> None:
    with protected(server):
        person.get("/s/demo/")
        back = answered(way(leave(person)))
        person.press("Sign out")
        assert (Session.objects.count(), SignIn.objects.count()) == (0, 0)
        person.sign_in("alice")
        assert person.get(back).status == 403


@pytest.mark.parametrize(
    ("knobs", "words"),
    [
        ({"iss": "wrong"}, "came from another sign-in server"),
        ({"iss": "missing"}, "came from another sign-in server"),
        ({"iss": "wrong", "iss_advertised": False}, "came from another sign-in server"),
        ({"consent": "deny"}, "You did not allow it"),
        ({"consent": "deny", "iss": "wrong"}, "came from another sign-in server"),
        (
            {"callback": {"code": None, "error": "server_error", "error_description": "Buy<b>gold</b>"}},
            "could not sign you in",
        ),
        ({"callback": {"code": "wrong"}}, "did not accept its own answer"),
        ({"token": {"token_type": "mac"}}, "in a way that cannot be used"),
        ({"token": {"access_token": "a\r\nX-Evil: 1"}}, "in a way that cannot be used"),
        ({"token": {"access_token": "a" * 9_000}}, "in a way that cannot be used"),
        ({"token": {"expires_in": -5}}, "in a way that cannot be used"),
        ({"token_answered": "garbage"}, "in a way that cannot be used"),
        ({"token_answered": "list"}, "in a way that cannot be used"),
        ({"token_answered": "huge"}, "in a way that cannot be used"),
        ({"token_answered": "redirect"}, "in a way that cannot be used"),
    ],
)
def test_an_answer_that_is_not_taken(person: Person, server: Server, knobs: dict[str, Any], words: str) -> None:
    """AZ-8"""
    with protected(server, **knobs) as world:
        person.get("/s/demo/")
        page = sign_in(person)
        assert (page.status, words in page.text, "gold" in page.text) == (403, True, False)
        assert Connection.objects.count() == 0
        assert not any(post.path.startswith("/moved") for post in world.auth.posts)


@pytest.mark.parametrize("knobs", [{"iss_advertised": False, "iss": "missing"}, {"iss_advertised": False}])
def test_an_issuer_that_is_not_announced(person: Person, server: Server, knobs: dict[str, Any]) -> None:
    with protected(server, **knobs):
        connected(person)
        assert Connection.objects.count() == 1


@pytest.mark.parametrize(
    ("knobs", "words"),
    [
        ({"prm_at": "absent"}, "does not say where people sign in"),
        ({"prm_answered": "garbage"}, "does not say where people sign in"),
        ({"prm_answered": "list"}, "does not say where people sign in"),
        ({"prm_answered": "redirect"}, "does not say where people sign in"),
        ({"prm_answered": "huge"}, "in a way that cannot be used"),
        ({"prm": {"resource": "https://other.example/mcp"}}, "describes itself as another one"),
        ({"prm": {"authorization_servers": []}}, "does not say where people sign in"),
        (
            {
                "prm": {"authorization_servers": ["https://127.0.0.9"]},
            },
            "could not be reached",
        ),
        ({"prm": {"authorization_servers": ["http://169.254.169.254"]}}, "at an address that this app may not use"),
        ({"metadata": {"issuer": "http://localhost:1/"}}, "does not bear the name"),
        ({"prm": {"authorization_servers": ["http://a[b@host"]}}, "does not say where people sign in"),
        ({"metadata_answered": "garbage"}, "does not say where people sign in"),
        ({"metadata_answered": "redirect"}, "does not say where people sign in"),
        ({"metadata": {"code_challenge_methods_supported": None}}, "lacks a safeguard"),
        ({"metadata": {"code_challenge_methods_supported": ["plain"]}}, "lacks a safeguard"),
        ({"metadata": {"authorization_endpoint": "javascript:alert(1)"}}, "does not say where people sign in"),
        ({"metadata": {"authorization_endpoint": "http://evil.example/a"}}, "at an address that this app may not use"),
        ({"metadata": {"authorization_endpoint": "https://a@evil.example/a"}}, "in a way that cannot be used"),
        ({"metadata": {"authorization_endpoint": "https://127.0.0.1/a"}}, "in a way that cannot be used"),
        ({"registration": "absent"}, "takes no registrations"),
        ({"registration": "refusing"}, "takes no registrations"),
        ({"client": {"client_id": None}}, "takes no registrations"),
        ({"client": {"token_endpoint_auth_method": "private_key_jwt"}}, "takes no registrations"),
    ],
)
def test_an_authorization_server_that_nobody_is_led_to(
    person: Person, server: Server, knobs: dict[str, Any], words: str
) -> None:
    with protected(server, **knobs) as world:
        person.get("/s/demo/")
        page = leave(person)
        assert (page.status, words in page.text) == (502, True)
        assert SignIn.objects.count() == 0
        assert not any(post.path.startswith("/moved") for post in [*world.auth.posts, *world.mcp.posts])
        assert "Go on to" not in page.text


@pytest.mark.parametrize(
    "knobs",
    [
        {"prm_named": False},
        {"prm_named": False, "prm_at": "root"},
        {"prm_at": "own"},
        {"issuer_path": "/tenant", "metadata_at": "oauth"},
        {"issuer_path": "/tenant", "metadata_at": "openid"},
        {"issuer_path": "/tenant", "metadata_at": "openid appended"},
        {"metadata_at": "openid"},
        {"challenge": "Bearer"},
        {"auth_methods": ["client_secret_post"]},
        {"auth_methods": ["none"]},
        {"scopes": ["use", "admin", "offline_access"]},
    ],
)
def test_wherever_it_describes_itself_people_get_there(person: Person, server: Server, knobs: dict[str, Any]) -> None:
    """AZ-1, AZ-2"""
    with protected(server, **knobs) as world:
        connected(person)
        assert "ada" in begin(person).text
        assert world.faults == []


def test_offline_access_is_asked_for_where_it_is_offered(person: Person, server: Server) -> None:
    with protected(server, scopes=["use", "admin", "offline_access"]):
        person.get("/s/demo/")
        assert asked(way(leave(person)))["scope"] == "use offline_access"


def test_one_registration_serves_everybody_and_is_made_anew_when_it_is_forgotten(
    app: str, person: Person, server: Server, bob: User
) -> None:
    with protected(server) as world, Person(app) as other:
        connected(person)
        other.sign_in("bob")
        connected(other)
        assert [post.path for post in world.auth.posts].count("/register") == 1
        other.get("/connections/demo/")
        url = way(leave(other))
        back = answered(url)
        world.forget_clients()
        assert "Sign in once more" in other.get(back).text
        other.get("/connections/demo/")
        assert sign_in(other).path == "/s/demo/"
        assert [post.path for post in world.auth.posts].count("/register") == 2


def test_another_authorization_server_gets_nothing_that_was_for_the_first(person: Person, server: Server) -> None:
    """AZ-6"""
    with protected(server) as first:
        connected(person)
        held = token_of(first.mcp.posts[-1])
        port = urlsplit(first.url).port
        client = tokens.tokens_of(Connection.objects.get())
    assert client is not None and port is not None
    with protected(server) as second:
        person.get("/s/demo/")
        assert token_of(second.mcp.posts[-1]) == ""  # another origin, too
        sign_in(person)
        assert Registration.objects.count() == 2
        sent = " ".join(post.raw.decode() + str(post.headers) for post in [*second.auth.posts, *second.mcp.posts])
        for secret in (held, client.client.client_id, client.client.secret, client.refresh):
            assert secret and secret not in sent


def test_a_client_that_an_admin_has_had_registered(person: Person, server: Server) -> None:
    """AZ-3: before any other way, and only where it belongs to"""
    secret = "secret+of/the:client %41"
    with protected(server, cimd=True) as world:
        server.refresh_from_db()
        credentials.give(server, "oauth", "client_id: registered-by-hand\nclient_secret: secret+of/the:client%41")
        server.save()
        world.knobs.secret = secret.replace(" ", "")
        connected(person)
        assert "ada" in begin(person).text
        assert "/register" not in [post.path for post in world.auth.posts]
        assert world.faults == []
        world.grants.knobs.issuer_path = "/other"
        person.get("/connections/demo/")
        leave(person)
        assert [post.path for post in world.auth.posts].count("/register") == 1


def test_a_client_of_a_named_issuer_goes_to_no_other(person: Person, server: Server) -> None:
    with protected(server) as world:
        server.refresh_from_db()
        lines = "client_id: registered-by-hand\nclient_secret: s3cret\nissuer: https://login.example"
        credentials.give(server, "oauth", lines)
        server.save()
        connected(person)
        assert [post.path for post in world.auth.posts].count("/register") == 1
        assert not any(b"s3cret" in post.raw for post in world.auth.posts)


def test_our_metadata_document(person: Person, server: Server, settings: Settings) -> None:
    """AZ-4"""
    assert person.client.get("/oauth/client-metadata.json").status_code == 404
    address = "https://mrtr.example/oauth/client-metadata.json"
    settings.CONFIG = settings.CONFIG.model_copy(update={"client_metadata_url": address})
    settings.ALLOWED_HOSTS = ["127.0.0.1", "mrtr.example"]
    told = person.client.get("/oauth/client-metadata.json").json()
    assert (told["client_id"], told["token_endpoint_auth_method"]) == (address, "none")
    assert "https://mrtr.example/oauth/callback/" in told["redirect_uris"]
    with protected(server, cimd=True) as world:
        person.get("/s/demo/")
        assert asked(way(leave(person)))["client_id"] == address
        person.get("/s/demo/")
        assert sign_in(person).path == "/s/demo/"
        assert "/register" not in [post.path for post in world.auth.posts]
        assert next(post.form for post in world.auth.posts if post.path == "/token")["client_id"] == address
        assert world.faults == []


def test_disconnecting_revokes_and_forgets(person: Person, server: Server) -> None:
    with protected(server) as world:
        connected(person)
        held = tokens.tokens_of(Connection.objects.get())
        assert held is not None
        person.get("/connections/")
        person.get(person.page.link("Disconnect"))
        page = person.press("Disconnect")
        assert "no longer accepted there" in page.text
        assert world.revoked == [held.refresh, held.access]
        assert Connection.objects.count() == 0
        person.get("/s/demo/")
        assert token_of(world.mcp.posts[-1]) == ""
        events = list(AuditEntry.objects.filter(flow=None).order_by("id").values_list("event", "person", "server"))
        assert events[-2:] == [("connected", "alice", "demo"), ("disconnected", "alice", "demo")]


@pytest.mark.parametrize(
    ("knob", "words"), [("absent", "Your token is deleted here."), ("refusing", "could not be told")]
)
def test_disconnecting_where_nothing_can_be_revoked(person: Person, server: Server, knob: Any, words: str) -> None:
    with protected(server, revocation=knob):
        connected(person)
        person.get("/connections/")
        person.get(person.page.link("Disconnect"))
        assert words in person.press("Disconnect").text
        assert Connection.objects.count() == 0


def test_a_token_goes_with_its_person(person: Person, server: Server, alice: User) -> None:
    with protected(server):
        connected(person)
        alice.delete()
        assert Connection.objects.count() == 0


def test_a_token_is_not_sent_where_the_server_has_moved_to(person: Person, server: Server) -> None:
    with protected(server) as world:
        connected(person)
        row = Server.objects.get()
        row.url = row.url.replace("127.0.0.1", "localhost")
        registry.settle(row, None)
        row.save()
        assert Connection.objects.count() == 0
        begin(person)
        assert [token_of(post) for post in calls(world)] == [""]


def test_who_may_no_longer_use_the_server_is_not_connected(person: Person, server: Server) -> None:
    with protected(server):
        person.get("/s/demo/")
        back = answered(way(leave(person)))
        Server.objects.update(enabled=False)
        assert "The server was changed while you were away" in person.get(back).text
        assert Connection.objects.count() == 0


def test_what_another_server_asks_for_leads_nobody_anywhere(person: Person, server: Server) -> None:
    with authorized(open_listings=True, challenged_scope="foreign", prm_at="own") as foreign:
        other = Server.objects.create(
            slug="other", name="Other", url=foreign.url, private_networks=server.private_networks
        )
        credentials.give(other, "oauth", "")
        other.save()
        person.get("/s/other/tools/whoami/")
        person.press("Start")
        left = person.until("unsent").button("Sign in to Other")[0].data()
        with protected(server) as world:
            url = way(person.post("/connections/demo/", left))
            assert asked(url)["scope"] == "use"
            assert urlsplit(url).port == urlsplit(world.issuer).port
            person.get(answered(url))
            assert person.page.path == "/s/demo/"
        assert not any(post.path.startswith("/about/") for post in foreign.mcp.posts)


def test_a_server_that_is_changed_while_a_token_is_fetched_gets_none(server: Server, alice: User) -> None:
    with protected(server) as world:
        held = Server.objects.get()
        Server.objects.update(url=f"{world.url}/elsewhere")
        with pytest.raises(tokens.Changed):
            tokens.paste(held, alice.pk, "t0ken")
        assert Connection.objects.count() == 0


def test_nothing_is_kept_without_a_key(person: Person, server: Server, settings: Settings) -> None:
    with protected(server):
        person.get("/s/demo/")
        back = answered(way(leave(person)))
        settings.CONFIG = settings.CONFIG.model_copy(update={"credential_keys": ()})
        page = person.get(back)
        assert page.status == 403
        person.get("/s/demo/")
        assert "no key" in leave(person).text
        assert Connection.objects.count() == 0


def test_a_person_in_the_middle_of_a_round_signs_in_and_the_answers_go_out(person: Person, server: Server) -> None:
    with protected(server, refresh_tokens=False) as world:
        connected(person)
        begin(person, ASK)
        person.fill("Treat", "cake")
        world.end_access()
        assert person.press("Send").state == "unsent"
        sign_in(person)
        assert "cake for ada; asked ada" in person.until("completed").text
        *_, second, third = calls(world)
        assert second.id != third.id and token_of(second) != token_of(third)
        assert second.params["inputResponses"] == third.params["inputResponses"]
        assert second.params["requestState"] == third.params["requestState"]


def test_nothing_secret_is_in_the_database_or_the_log(
    person: Person, server: Server, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level("DEBUG")
    with protected(server) as world:
        person.get("/s/demo/")
        url = way(leave(person))
        back = answered(url)
        half = everything()
        person.get(back)
        begin(person)
        world.end_access()
        begin(person)
        held = tokens.tokens_of(Connection.objects.get())
        assert held is not None and world.refreshes == 1
        exchange = next(post.form for post in world.auth.posts if post.path == "/token")
        used = {token_of(post) for post in world.mcp.posts} - {""}
        secrets = {held.access, held.refresh, held.client.secret, exchange["code"], exchange["code_verifier"], *used}
        stores = (
            half
            + everything()
            + caplog.text
            + person.get("/connections/").response.text
            + person.get("/connections/demo/").response.text
        )
        for secret in {*secrets, asked(url)["state"]}:
            assert secret and secret not in stores


def everything() -> str:
    """Every text and byte of the database."""
    from django.apps import apps

    return " ".join(
        str(bytes(value)) if isinstance(value, memoryview | bytes) else str(value)
        for model in apps.get_models()
        for row in model._default_manager.values_list()
        for value in row
    )
