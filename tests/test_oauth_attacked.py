"""Attacks on signing in: what another server, another person, a race or a failing part can reach."""

import json
import logging
import time
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlencode, urlsplit

import pytest
from django.contrib.auth.models import User
from django.db import OperationalError
from django.utils import timezone

from mrtr_web import allowances, authserver, catalog, credentials, rates, registry, tokens
from mrtr_web.access import Challenge
from mrtr_web.models import PRIVATE_NETWORKS, Connection, Flow, Server, Session
from tests.authserver import World
from tests.desk import meanwhile
from tests.person import Person
from tests.processes import serving
from tests.servers import Answer, Post, Scripted, raw_json, run, scripted, serve
from tests.signing_in import answered, begin, calls, connected, leave, protected, sign_in, token_of, way
from tests.test_oauth import everything

pytestmark = pytest.mark.django_db(transaction=True)


def another(slug: str) -> Server:
    return Server.objects.create(
        slug=slug,
        name="Other desk",
        url="http://127.0.0.1:9/mcp",
        private_networks=list(PRIVATE_NETWORKS),
        capabilities=["elicitation"],
    )


def paths(world: World) -> list[str]:
    return [post.path for post in world.auth.posts]


def over() -> None:
    past = timezone.now() - timedelta(seconds=1)
    Connection.objects.update(renew_at=past, ends_at=past)


def state_of(url: str) -> str:
    return parse_qs(urlsplit(url).query)["state"][0]


def post_to(person: Person, path: str, **data: str) -> Any:
    """Press a sign-in form of this app with other hidden values."""
    form = next(form for form in person.page.reader.forms if "csrfmiddlewaretoken" in form.data())
    token = form.data()["csrfmiddlewaretoken"]
    return person.post(path, {"csrfmiddlewaretoken": token, **{name: [value] for name, value in data.items()}})


# Another server's challenge


def test_what_one_server_asks_for_does_not_lead_to_another_servers_sign_in(person: Person, server: Server) -> None:
    """A server names metadata of its own; the person's flow there is named in the form of another server."""
    evil_server = another("evil")
    with protected(server) as good, protected(evil_server, open_listings=True) as evil:
        credentials.give(server, "oauth", "client_id: registered-by-hand\nclient_secret: s3cret-of-the-good-one")
        server.save()
        own = f"{evil.url.removesuffix('/mcp')}/about/this-resource.json"
        evil.knobs.prm_at, evil.knobs.prm = "own", {"resource": good.url}
        evil.knobs.challenge = f'Bearer resource_metadata="{own}"'
        page = begin(person, "/s/evil/tools/whoami/")
        assert page.state == "unsent"
        flow = Flow.objects.get()
        page = post_to(person, "/connections/demo/", flow=str(flow.pk), leg=str(flow.leg))
        link = way(page)
        person.get("/oauth/callback/?" + urlencode({"state": state_of(link), "code": "any", "iss": evil.issuer}))
        sent = " ".join(str(post.headers) + post.raw.decode() for post in evil.auth.posts)
        assert urlsplit(link).netloc == urlsplit(good.issuer).netloc
        assert evil.auth.posts == [] and "Basic" not in sent


# Where a token goes


def test_a_token_for_one_path_is_not_sent_to_another_one_of_the_same_host(person: Person, server: Server) -> None:
    with protected(server):
        connected(person)
        row = Server.objects.get()
        row.url = row.url.replace("/mcp", "/mcp2")
        registry.settle(row, None)
        row.save()
        assert tokens.access(row, Connection.objects.get().user_id if Connection.objects.exists() else 0) == ""


def test_a_sign_in_for_one_path_is_not_taken_for_another_one(person: Person, server: Server) -> None:
    with protected(server):
        person.get("/s/demo/")
        back = answered(way(leave(person)))
        Server.objects.update(url=Server.objects.get().url.replace("/mcp", "/mcp2"))
        assert person.get(back).status == 403
        assert Connection.objects.count() == 0


def test_nothing_is_sent_again_to_a_server_that_was_switched_off_meanwhile(person: Person, server: Server) -> None:
    """Refused, renewed for two seconds, and the server is switched off in between."""
    with protected(server, refresh_delay=1.5) as world:
        connected(person)
        person.get("/s/demo/tools/whoami/")
        world.end_access()
        world.auth.arrived.clear()
        person.press("Start")
        assert world.auth.arrived.wait(20)
        Server.objects.update(enabled=False)
        person.until("unsent", "completed", "failed", "unknown")
        assert len(calls(world)) == 1


@pytest.mark.parametrize("resource", ["{url}#part", "{url}?tenant=other"])
def test_a_resource_that_is_not_this_server_is_refused(person: Person, server: Server, resource: str) -> None:
    """AZ-1, AZ-9: the token would serve at whatever else is on that host"""
    with protected(server) as world:
        world.knobs.prm = {"resource": resource.format(url=world.url, root=world.url.removesuffix("/mcp"))}
        person.get("/s/demo/")
        assert leave(person).status == 502


@pytest.mark.parametrize("resource", ["{url}2", "{url}/below", "http://a@{netloc}/mcp", "http://localhost:{port}/mcp"])
def test_a_resource_elsewhere_is_refused(person: Person, server: Server, resource: str) -> None:
    with protected(server) as world:
        parts = urlsplit(world.url)
        world.knobs.prm = {"resource": resource.format(url=world.url, netloc=parts.netloc, port=parts.port)}
        person.get("/s/demo/")
        assert leave(person).status == 502


# What authorization servers say of themselves


@pytest.mark.parametrize(
    "issuer", ["http://a[b@localhost:9", "http://a\u2100b@localhost:9", "http://localhost:9/[", "http://localhost:0"]
)
def test_an_issuer_that_cannot_be_read_is_no_fault_of_ours(person: Person, server: Server, issuer: str) -> None:
    with protected(server, prm={"authorization_servers": [issuer]}):
        person.get("/s/demo/")
        assert leave(person).status == 502


@pytest.mark.parametrize(
    "named",
    [
        "javascript:alert(1)",
        "http://[::1",
        "http://localhost:99999/x",
        "//localhost/x",
        "x" * 2_000,
        "http://" + "a" * 300 + ".example/",
        "http://xn--a/",
        "http://169.254.169.254/latest",
        "http://2852039166/latest",
        "http://[::ffff:169.254.169.254]/latest",
        "http://0xa9fea9fe/",
        "https://a:b@localhost/",
        "http://localhost:9/\\..",
        "ftp://localhost/",
        "http://lo\u00e9calhost/",
        "http://a\u2100b@localhost/",
        "file:///etc/passwd",
    ],
)
def test_hostile_places_of_metadata_are_troubles(named: str) -> None:
    with pytest.raises(authserver.Trouble):
        run(authserver.find("http://127.0.0.1:9/mcp", Challenge(metadata=named), PRIVATE_NETWORKS))


@pytest.mark.parametrize(
    "body",
    [
        b"[" * 100_000,
        b'{"a":' * 50_000 + b"1" + b"}" * 50_000,
        b'{"resource": "\\ud800"}',
        b'{"resource": 1e999}',
        b"\xef\xbb\xbf{}",
        b"1" * 200_000,
        b"null",
        b"",
        b'{"resource":"http://127.0.0.1:9/mcp","authorization_servers":["http://localhost:9"],"x":'
        + b"9" * 5_000
        + b"}",
    ],
)
def test_hostile_metadata_is_a_trouble(body: bytes) -> None:
    with scripted(lambda post: raw_json(body)) as (url, _), pytest.raises(authserver.Trouble):
        run(authserver.find(url, Challenge(metadata=url), PRIVATE_NETWORKS))


@pytest.mark.parametrize("encoding", ["gzip", "br"])
def test_compressed_metadata_is_a_trouble(encoding: str) -> None:
    answer = Answer(b"\x1f\x8b", 200, {"content-type": "application/json", "content-encoding": encoding})
    with scripted(lambda post: answer) as (url, _), pytest.raises(authserver.Trouble):
        run(authserver.find(url, Challenge(metadata=url), PRIVATE_NETWORKS))


def test_an_issuer_is_described_by_its_own_host_alone() -> None:
    """A path that begins with two slashes, put behind a base as a reference, names another host."""
    asked: list[str] = []

    def elsewhere(post: Post) -> Answer:
        asked.append(post.path)
        return Answer(b"", 404)

    async def app(scope: Any, receive: Any, send: Any) -> None:
        await Scripted(elsewhere)(scope, receive, send)

    with serve(app, lifespan="off") as base, scripted(lambda post: Answer(b"", 404)) as (url, _):
        host = urlsplit(url)
        issuer = f"http://{host.netloc}//{urlsplit(base).netloc}/x"
        with (
            scripted(lambda post: raw_json(json.dumps({"resource": url, "authorization_servers": [issuer]}))) as (
                named,
                _,
            ),
            pytest.raises((authserver.Trouble, KeyError)),
        ):
            run(authserver.find(url, Challenge(metadata=named), PRIVATE_NETWORKS))
    assert asked == []


def test_a_sign_in_server_that_drips_is_waited_for_only_so_long(monkeypatch: pytest.MonkeyPatch) -> None:
    """All requests together, not each of them anew."""
    monkeypatch.setattr(authserver, "SECONDS", 1.0)

    def slow(post: Post) -> Answer:
        time.sleep(0.8)
        return Answer(b"", 404)

    with scripted(slow) as (url, _):
        begun = time.monotonic()
        with pytest.raises(authserver.Trouble):
            run(authserver.find(url, Challenge(metadata=f"{url}/named"), PRIVATE_NETWORKS))
        assert time.monotonic() - begun < 1.5


# The answer


@pytest.mark.parametrize(
    ("knobs", "more"),
    [
        ({"iss": "missing", "iss_advertised": False}, "&iss=http://evil.example&iss=http://evil.example"),
        ({}, "&error=server_error"),
        ({}, "&error=access_denied&error=access_denied"),
    ],
)
def test_an_answer_that_contradicts_itself_is_refused(
    person: Person, server: Server, knobs: dict[str, Any], more: str
) -> None:
    """AZ-8, RFC 6749 section 3.1: nothing is said twice; an error comes without a code"""
    with protected(server, **knobs):
        person.get("/s/demo/")
        assert person.get(answered(way(leave(person))) + more).status == 403
        assert Connection.objects.count() == 0


@pytest.mark.parametrize(
    "query",
    [
        "",
        "state=%00&code=%00",
        "state=%ED%A0%80&code=x",
        "state[]=x&code=x",
        "state=" + "x" * 50_000,
        "&".join(f"a{n}=1" for n in range(900)),
        "state=x&state=y",
        "state=%F0%9F&code=%0d%0a",
    ],
)
def test_hostile_answers_are_refused(person: Person, server: Server, query: str) -> None:
    with protected(server):
        page = person.get(f"/oauth/callback/?{query}")
        assert page.status == 403, page.status
        for method in ("HEAD", "POST", "PUT"):
            assert person.client.request(method, f"/oauth/callback/?{query}").status_code in (403, 405)


def test_two_answers_at_the_same_moment_are_one(person: Person, server: Server) -> None:
    with protected(server) as world:
        person.get("/s/demo/")
        back = answered(way(leave(person)))

        def go(_: int) -> int:
            with Person(person.base) as tab:
                tab.client.cookies = person.client.cookies
                return tab.get(back).status

        with ThreadPoolExecutor(4) as tabs:
            assert sorted(tabs.map(go, range(4))) == [200, 403, 403, 403]
        assert paths(world).count("/token") == 1


def test_who_signs_out_while_the_sign_in_server_is_looked_for_meets_no_fault(person: Person, server: Server) -> None:
    with protected(server) as world:
        person.get("/s/demo/")
        plain = world.auth.app

        async def app(scope: Any, receive: Any, send: Any) -> None:
            if scope["path"] == "/register":
                meanwhile(lambda: Session.objects.all().delete())
            await plain(scope, receive, send)

        world.auth.app = app
        assert leave(person).status < 500


def test_the_page_that_leads_away_is_kept_nowhere_and_shown_in_no_frame(person: Person, server: Server) -> None:
    with protected(server) as world:
        quoted = f'{world.issuer}/authorize?client_id=evil&state=evil&redirect_uri=evil&x="<b>&y=%0d%0a#state=evil'
        world.knobs.metadata = {"authorization_endpoint": quoted}
        person.get("/s/demo/")
        page = leave(person)
        found = parse_qs(urlsplit(way(page)).query)
        assert all(len(values) == 1 for values in found.values()) and "evil" not in str(found)
        assert found["x"] == ['"<b>'] and urlsplit(way(page)).fragment == ""
        headers = page.response.headers
        assert "no-store" in headers["cache-control"]
        assert "frame-ancestors 'none'" in headers["content-security-policy"]
        assert headers["referrer-policy"] in ("no-referrer", "same-origin")
        assert 'rel="noreferrer"' in page.response.text


def test_an_answer_that_is_not_right_does_not_have_us_registered_again(person: Person, server: Server) -> None:
    """Only a client that is unknown there needs another registration: else one person makes as many as they like."""
    with protected(server) as world:
        for _ in range(3):
            person.get("/connections/demo/")
            state = state_of(way(leave(person)))
            person.get("/oauth/callback/?" + urlencode({"state": state, "code": "made up", "iss": world.issuer}))
        assert paths(world).count("/register") == 1


# Renewal


def test_a_token_that_could_not_be_written_at_once_is_not_lost(
    person: Person, server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The refresh token is used up by then; to use it again ends the whole sign-in (O01)."""
    kept, tried = tokens.renewed, []

    def locked_once(*args: Any) -> None:
        tried.append(args)
        if len(tried) == 1:
            raise OperationalError("database is locked")
        kept(*args)

    with protected(server) as world:
        connected(person)
        over()
        monkeypatch.setattr(tokens, "renewed", locked_once)
        begin(person)
        Connection.objects.update(claimed_until=None)
        begin(person)
        assert "ada" in person.until("completed", "unsent").text
        assert (world.burnt, world.refreshes) == (0, 1)


def test_a_database_that_fails_after_a_refusal_leaves_the_leg_unsent(
    person: Person, server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The server has said 401, so that nothing was done is certain: it is not `unknown`, and not only after a lease."""
    claim = tokens.claim

    def failing(server: int, user: int, refused: str | None) -> Any:
        if refused:
            raise OperationalError("gone")
        return claim(server, user, refused)

    with protected(server) as world:
        connected(person)
        person.get("/s/demo/tools/whoami/")
        world.end_access()
        monkeypatch.setattr(tokens, "claim", failing)
        person.press("Start")
        end = time.monotonic() + 5
        while (state := Flow.objects.get().state) == "running" and time.monotonic() < end:
            time.sleep(0.1)
        assert state == "unsent"


def claimed_twice(server: Server, user: int) -> tuple[tokens.Claimed, tokens.Claimed]:
    over()
    first = tokens.claim(server.pk, user, None)
    Connection.objects.update(claimed_until=timezone.now() - timedelta(seconds=1))
    second = tokens.claim(server.pk, user, None)
    assert isinstance(first, tokens.Claimed) and isinstance(second, tokens.Claimed)
    return first, second


def test_who_has_lost_a_claim_does_not_give_it_back(person: Person, server: Server, alice: User) -> None:
    with protected(server):
        connected(person)
        first, _ = claimed_twice(server, alice.pk)
        tokens.give_back(first)
        assert isinstance(tokens.claim(server.pk, alice.pk, None), tokens.Busy)


def test_who_has_lost_a_claim_does_not_end_the_sign_in(person: Person, server: Server, alice: User) -> None:
    """Both sent the same refresh token; the one that came too late hears that it is used up."""
    with protected(server):
        connected(person)
        late, holder = claimed_twice(server, alice.pk)
        tokens.give_up(late)
        tokens.renewed(holder, holder.tokens.model_copy(update={"access": "the-new-one"}))
        assert tokens.access(server, alice.pk) == "the-new-one"


@pytest.mark.parametrize("status", [403, 404, 408, 421])
def test_something_in_front_of_the_sign_in_server_ends_nobodys_sign_in(
    person: Person, server: Server, status: int
) -> None:
    """RFC 6749 section 5.2: invalid_grant says that a refresh token is over; a proxy's page says nothing of it."""
    with protected(server, refresh_status=status):
        connected(person)
        over()
        begin(person)
        assert Connection.objects.count() == 1


def test_a_page_of_maintenance_ends_nobodys_sign_in(person: Person, server: Server) -> None:
    with protected(server) as world:
        connected(person)
        over()
        plain = world.auth.app

        async def app(scope: Any, receive: Any, send: Any) -> None:
            if scope["path"] != "/token":
                return await plain(scope, receive, send)
            await Scripted(lambda post: Answer(b"<h1>Back soon</h1>", 200, {"content-type": "text/html"}))(
                scope, receive, send
            )

        world.auth.app = app
        begin(person)
        assert Connection.objects.count() == 1


def test_a_server_that_never_lets_in_does_not_make_us_hammer_its_sign_in_server(person: Person, server: Server) -> None:
    """Every page would have the token renewed, which is good all the while."""
    with protected(server) as world:
        connected(person)
        Server.objects.update(checked_at=None, trouble="")
        world.grants.load_access_token = _nobody  # type: ignore[method-assign]
        catalog.forget_listings(Server.objects.get())
        for _ in range(6):
            person.get("/s/demo/")
        assert world.refreshes <= 2


async def _nobody(token: str) -> None:
    return None


@pytest.mark.parametrize("lasts", [0, 1])
def test_a_token_that_lasts_no_time_still_lets_in_once(person: Person, server: Server, lasts: int) -> None:
    """It was given a moment ago: at worst the server refuses it."""
    with protected(server, token={"expires_in": lasts}, open_listings=True) as world:
        person.get("/connections/demo/")
        sign_in(person)
        begin(person)
        assert token_of(calls(world)[-1]) != "" and world.refreshes <= 2


@pytest.mark.parametrize("lasts", ["3600", 3600.0, 1e9, 3.5, None])
def test_lifetimes_as_servers_write_them(person: Person, server: Server, lasts: Any) -> None:
    with protected(server, token={"expires_in": lasts}):
        connected(person)
        assert Connection.objects.count() == 1


@pytest.mark.parametrize("token", [{"refresh_token": ""}, {"refresh_token": None}, {"scope": "s" * 100_000}])
def test_what_a_renewal_leaves_out_stays(person: Person, server: Server, token: dict[str, Any]) -> None:
    with protected(server, rotating=False) as world:
        connected(person)
        before = tokens.tokens_of(Connection.objects.get())
        world.knobs.token = token
        over()
        begin(person)
        after = tokens.tokens_of(Connection.objects.get())
        assert before and after and (before.refresh, before.scope) == (after.refresh, after.scope)


def test_a_new_token_that_begins_as_the_old_one_is_another_one(person: Person, server: Server) -> None:
    with protected(server) as world:
        connected(person)
        held = token_of(world.mcp.posts[-1])
        world.end_access()
        issue = world.grants._issue

        def longer(*args: Any, **more: Any) -> Any:
            answer = issue(*args, **more)
            kept = world.grants.accesses.pop(answer.access_token)
            answer.access_token = f"{held}2"
            world.grants.accesses[answer.access_token] = kept
            world.grants.issued.add(answer.access_token)
            return answer

        world.grants._issue = longer  # type: ignore[method-assign]
        assert "ada" in begin(person).text


def test_a_search_does_not_wait_for_a_sign_in_server(person: Person, server: Server, alice: User) -> None:
    with protected(server, refresh_delay=9) as world:
        connected(person)
        over()
        from mrtr_web.models import Listing

        Listing.objects.all().delete()
        begun = time.monotonic()
        catalog.look([Server.objects.get()], alice.pk)
        assert time.monotonic() - begun < catalog.LOOK_SECONDS + 1.5
        assert world.burnt == 0


# Others


@pytest.mark.parametrize("status", [429, 503])
def test_trouble_with_one_persons_token_is_not_everybodys(
    app: str, person: Person, server: Server, bob: User, status: int
) -> None:
    """A limit on how often one token may ask, or a broken account, keeps nobody else from their listing."""
    with protected(server) as world, Person(app) as other:
        connected(person)
        held = token_of(world.mcp.posts[-1])
        world.knobs.login = "bert"
        other.sign_in("bob")
        connected(other)
        from mrtr_web.models import Listing

        Listing.objects.all().delete()
        plain = world.mcp.app

        async def door(scope: Any, receive: Any, send: Any) -> None:
            if held.encode() in dict(scope["headers"]).get(b"authorization", b""):
                return await Scripted(lambda post: raw_json("{}", status))(scope, receive, send)
            await plain(scope, receive, send)

        world.mcp.app = door
        person.get("/s/demo/")
        assert Server.objects.get().trouble == ""
        assert "Who am I?" in other.get("/s/demo/").text


def test_a_sign_in_server_that_hangs_keeps_nobody_else_waiting(
    app: str, person: Person, server: Server, bob: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(allowances.LIMITS, "connect", rates.per_minute(100))
    with protected(server) as world, Person(app) as other:
        person.get("/s/demo/")
        other.sign_in("bob")
        plain = world.auth.app

        async def slow(scope: Any, receive: Any, send: Any) -> None:
            import asyncio

            await asyncio.sleep(4)
            await plain(scope, receive, send)

        world.auth.app = slow

        def go(_: int) -> int:
            with Person(app) as tab:
                tab.client.cookies = person.client.cookies
                tab.get("/connections/demo/")
                return leave(tab).status

        with ThreadPoolExecutor(12) as tabs:
            waiting = [tabs.submit(go, n) for n in range(12)]
            assert world.auth.arrived.wait(20)
            begun = time.monotonic()
            other.get("/connections/")
            other.get("/profile/")
            assert time.monotonic() - begun < 3
            assert {each.result() for each in waiting} == {200}


def test_another_persons_flow_is_of_no_use(app: str, person: Person, server: Server, bob: User) -> None:
    with protected(server, open_listings=True) as world, Person(app) as other:
        begin(person)
        flow = Flow.objects.get()
        other.sign_in("bob")
        other.get("/connections/demo/")
        world.knobs.login = "bert"
        page = post_to(other, "/connections/demo/", flow=str(flow.pk), leg=str(flow.leg))
        assert other.get(answered(way(page))).path == "/s/demo/"
        assert (Flow.objects.get().state, len(calls(world))) == ("unsent", 1)
        assert "ada" not in other.page.text


@pytest.mark.parametrize("end", ["stopped", "disabled", "gone"])
def test_a_flow_that_ended_meanwhile_is_not_sent_again(person: Person, server: Server, end: str) -> None:
    with protected(server, open_listings=True) as world:
        begin(person)
        back = answered(way(leave(person)))
        if end == "stopped":
            Flow.objects.update(state="stopped")
        elif end == "gone":
            Flow.objects.all().delete()
        else:
            Server.objects.update(enabled=False)
        assert person.get(back).status in (200, 403)
        assert len(calls(world)) == 1


def test_a_kind_that_was_changed_twice_brings_no_token_back(person: Person, server: Server, alice: User) -> None:
    from mrtr_web import registry

    credentials.give(server, "each", "")
    server.save()
    tokens.paste(server, alice.pk, "pasted")
    for kind in ("oauth", "each"):
        row = Server.objects.get()
        registry.settle(row, registry.Credential(kind, "form", ""))
        row.save()
    assert tokens.access(Server.objects.get(), alice.pk) == ""


# What is told


@pytest.mark.parametrize("where", ["keep", "renewed"])
def test_a_failing_database_tells_no_secret(
    person: Person,
    server: Server,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
    where: str,
) -> None:
    caplog.set_level(logging.DEBUG)
    used: list[str] = []

    def failing(*args: Any) -> None:
        found = args[-1]
        used.extend([found.access, found.refresh, found.client.secret])
        raise OperationalError("gone")

    with protected(server) as world:
        if where == "renewed":
            connected(person)
            over()
        monkeypatch.setattr(tokens, where, failing)
        if where == "keep":
            person.get("/s/demo/")
            sign_in(person)
        else:
            person.get("/s/demo/")
        forms = [post.form for post in world.auth.posts if post.path == "/token"]
        used += [text for form in forms for name in ("code", "code_verifier") if (text := form.get(name))]
        assert used and not any(secret in caplog.text for secret in used if secret)


def test_a_process_that_stops_waits_for_a_renewal_that_nobody_waits_for(
    alice: User, server: Server, tmp_path: Path, settings: Any
) -> None:
    """O01: a leg is stopped while its token is renewed, then the process is: the refresh token is used up by then"""
    settings.PASSWORD_HASHERS = ["django.contrib.auth.hashers.Argon2PasswordHasher"]
    alice.set_password("alice's password")
    alice.save()
    with protected(server) as world, serving(tmp_path) as one, Person(one.base) as person:
        person.sign_in("alice")
        connected(person)
        before = bytes(Connection.objects.get().sealed)
        person.get("/s/demo/tools/whoami/")
        world.end_access()
        world.knobs.refresh_delay = 3
        world.auth.arrived.clear()
        person.press("Start")
        assert world.auth.arrived.wait(20)
        person.press("Stop")
        one.handle.terminate()
        one.handle.wait(20)
        end = time.monotonic() + 10
        while world.refreshes < 1 and time.monotonic() < end:
            time.sleep(0.1)
        assert world.refreshes == 0 or bytes(Connection.objects.get().sealed) != before


def test_what_a_process_logs_of_an_answer(alice: User, server: Server, tmp_path: Path, settings: Any) -> None:
    """Also with an access log, at DEBUG."""
    settings.PASSWORD_HASHERS = ["django.contrib.auth.hashers.Argon2PasswordHasher"]
    alice.set_password("alice's password")
    alice.save()
    with protected(server) as world, serving(tmp_path, MRTR_LOG_LEVEL="DEBUG") as one, Person(one.base) as person:
        person.sign_in("alice")
        person.get("/s/demo/")
        back = answered(way(leave(person)))
        person.get(back)
        begin(person)
        over()
        begin(person)
        held = tokens.tokens_of(Connection.objects.get())
        assert held is not None and world.refreshes == 1
        told = one.log.read_text()
        exchange = next(post.form for post in world.auth.posts if post.path == "/token")
        secrets = [exchange["code"], exchange["code_verifier"], held.access, held.refresh, held.client.secret]
        for secret in [*secrets, parse_qs(urlsplit(back).query)["state"][0]]:
            assert secret and secret not in told


def test_an_answer_that_could_not_be_kept_at_once_is_kept(
    person: Person, server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    kept, tried = tokens.keep, []

    def locked_once(*args: Any) -> None:
        tried.append(args)
        if len(tried) == 1:
            raise OperationalError("database is locked")
        kept(*args)

    monkeypatch.setattr(tokens, "keep", locked_once)
    with protected(server):
        person.get("/s/demo/")
        assert sign_in(person).path == "/s/demo/"
        assert Connection.objects.count() == 1


def test_a_malicious_answer_does_not_reach_the_page(person: Person, server: Server) -> None:
    """Whatever a challenge says is shown nowhere as text, and stored nowhere in clear."""
    odd = "zq-odd<b>javascript:alert(1)"
    with protected(server, open_listings=True, challenge=f'Bearer scope="{odd}"') as world:
        page = begin(person)
        assert "zq-odd" not in page.response.text and page.state == "unsent"
        page = leave(person)
        assert parse_qs(urlsplit(way(page)).query)["scope"][0].startswith(odd)
        assert "<b>" not in page.response.text
        assert "zq-odd" not in everything()
        assert world.auth.posts != []
