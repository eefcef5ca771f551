"""Listings: for whom they are kept and until when, and what each of their entries becomes."""

import asyncio
import contextlib
import json
import time
from collections.abc import Iterator
from typing import Any
from urllib.parse import quote

import pytest
from asgiref.sync import sync_to_async
from django.contrib.auth.models import Permission, User
from django.db import connection

from mrtr_web import catalog, egress, sessions
from mrtr_web.lifetimes import LONGEST, SHORTEST, Lifetime, lifetime
from mrtr_web.models import Listing, Server, Session
from tests.desk import LISTED, Desk, asks, calls, desk, done, meanwhile, point_to, relisted, tools
from tests.person import Person
from tests.servers import Answer, Post, Receive, Recorder, Scope, Send, Step, result, serve
from tests.test_kinds import begin, findings, send
from tests.test_rules_listings import let_it_age
from tests.visitors import cookies_of

PAGE = "/s/demo/"
pages = pytest.mark.django_db(transaction=True)


@pytest.mark.parametrize(
    ("ttls", "seconds"),
    [
        ([60_000], 60),
        ([60_000, 20_000, 90_000], 20),
        ([60_000, None], SHORTEST),
        ([0], SHORTEST),
        ([-60_000], SHORTEST),
        (["60000"], SHORTEST),
        ([60_000.5], SHORTEST),
        ([True], SHORTEST),
        ([float("inf")], SHORTEST),
        ([86_400_001], LONGEST),
        ([10**400], LONGEST),
    ],
)
def test_a_lifetime_is_that_of_the_shortest_page(ttls: list[Any], seconds: float) -> None:
    """CH-3: what gives no whole number of milliseconds is stale at once; nothing serves for more than a day."""
    answers = [{"cacheScope": "public"} | ({} if ttl is None else {"ttlMs": ttl}) for ttl in ttls]
    assert lifetime(*answers) == Lifetime(seconds, private=False)


@pytest.mark.parametrize("scope", [None, "private", "Public", 5, ["public"]])
def test_what_does_not_say_that_it_is_public_is_private(scope: Any) -> None:
    """CH-2"""
    first, second = {"cacheScope": "public"}, {} if scope is None else {"cacheScope": scope}
    assert not lifetime(first).private
    assert lifetime(first, second).private


def listings(scope: str, *names: str, **more: Any) -> dict[str, Any]:
    """Of tools with these names, for an hour."""
    entries = [{"name": name, "title": name, "inputSchema": {"type": "object"}} for name in names]
    hints = {"cacheScope": scope, "ttlMs": 3_600_000}
    discover = LISTED["server/discover"] | hints
    return {"server/discover": discover, "tools/list": {"resultType": "complete", "tools": entries, **hints}, **more}


@pytest.fixture
def other(app: str, bob: User) -> Iterator[Person]:
    """Bob, signed in."""
    with Person(app) as someone:
        someone.sign_in("bob")
        yield someone


def owners(kind: str = "tools") -> list[str | None]:
    rows = Listing.objects.filter(kind=kind).order_by("pk")
    return list(rows.values_list("user__username", flat=True))


@pages
def test_a_private_listing_is_given_to_nobody_else(person: Person, other: Person, server: Server) -> None:
    """CH-2"""
    with desk(server, listings=listings("private", "for alice")) as recorder:
        assert "for alice" in person.get(PAGE).text
        assert (owners(), owners("discovery")) == (["alice"], ["alice"])
        relisted(recorder, listings("private", "for bob"))
        page = other.get(PAGE)
        assert "for bob" in page.text and "for alice" not in page.text
        assert other.get("/s/demo/tools/for%20alice/").status == 404
        assert other.get("/?q=alice").text.count("for alice") == 0
        assert "for alice" in person.get(PAGE).text
        assert recorder.methods == ["server/discover", "tools/list"] * 2


@pages
def test_a_public_listing_is_asked_for_once(person: Person, other: Person, server: Server) -> None:
    with desk(server, listings=listings("public", "for all")) as recorder:
        assert "for all" in person.get(PAGE).text
        assert "for all" in other.get(PAGE).text
        assert owners() == [None]
        assert recorder.methods == ["server/discover", "tools/list"]


@pages
def test_of_public_and_private_only_the_last_is_kept(person: Person, other: Person, server: Server) -> None:
    with desk(server, listings=listings("public", "for all")) as recorder:
        person.get(PAGE)
        let_it_age(hours=2)
        relisted(recorder, listings("private", "for one"))
        person.get(PAGE)
        other.get(PAGE)
        assert owners() == ["alice", "bob"]
        let_it_age(hours=2)
        relisted(recorder, listings("public", "for all"))
        person.get(PAGE)
        assert owners() == [None]


@pages
def test_one_private_page_makes_the_whole_listing_private(person: Person, server: Server) -> None:
    """CH-2, CH-3"""
    both = listings("public")
    first = both["tools/list"] | {"tools": [{"name": "first"}], "nextCursor": "c"}
    second = both["tools/list"] | {"tools": [{"name": "second"}], "cacheScope": "private", "ttlMs": 60_000}
    answers: list[Step] = [lambda post: result(post, first), lambda post: result(post, second)]
    with desk(server, *answers, listings={"server/discover": both["server/discover"]}):
        page = person.get(PAGE)
        assert "first" in page.text and "second" in page.text
    row = Listing.objects.get(kind="tools")
    assert (owners(), (row.fresh_until - row.listed_at).total_seconds()) == (["alice"], 60)


@pages
def test_private_listings_go_with_the_last_session_of_their_person(
    person: Person, other: Person, server: Server, alice: User
) -> None:
    cookies_of(alice)
    with desk(server, listings=listings("private", "ask")):
        person.get(PAGE)
        other.get(PAGE)
    first, second = Session.objects.filter(user=alice)
    sessions.end_session(first.pk)
    assert owners() == ["alice", "bob"]
    sessions.end_session(second.pk)
    assert (owners(), owners("discovery")) == (["bob"], ["bob"])


@pages
def test_nothing_private_is_kept_of_a_person_who_signed_out_meanwhile(
    person: Person, server: Server, alice: User
) -> None:
    def leave(post: Post) -> Answer:
        meanwhile(lambda: sessions.end_sessions_of(alice.pk))
        return result(post, listings("private", "late")["tools/list"])

    only_discovery = {"server/discover": LISTED["server/discover"]}
    with desk(server, leave, listings=only_discovery):
        person.get(PAGE)
    assert Server.objects.get().trouble == ""
    assert owners() == []


@pages
def test_who_only_looks_whether_a_server_answers_sees_what_is_private_and_keeps_nothing(server: Server) -> None:
    with desk(server, listings=listings("private", "ask")):
        found = Server.objects.get()

        async def look() -> None:
            await sync_to_async(catalog.refresh)(found, 0)
            await sync_to_async(lambda: connection.close())()
            await egress.aclose()

        asyncio.run(look())
    assert found.discovered["supportedVersions"] == ["2026-07-28"]
    assert [entry["name"] for entry in found.offers["tools"]] == ["ask"]
    assert not Listing.objects.exists()


@pages
def test_what_an_old_address_lists_is_not_kept_for_the_new_one(person: Person, server: Server) -> None:
    def move() -> None:
        catalog.forget_listings(server)
        Server.objects.update(url="http://127.0.0.1:9/mcp")

    def answer(post: Post) -> Answer:
        meanwhile(move)
        return result(post, LISTED["tools/list"])

    with desk(server, answer, listings={"server/discover": LISTED["server/discover"]}):
        assert "Ask me" not in person.get(PAGE).text
    assert not Listing.objects.exists()
    assert (Server.objects.get().trouble, Server.objects.get().checked_at) == ("", None)


class Dripping(Desk):
    """Each listing begins at once and never ends, a space at a time."""

    listed = LISTED | {"server/discover": LISTED["server/discover"] | {"capabilities": {"tools": {}, "prompts": {}}}}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        post = scope.get("mrtr.post")
        if post is None or not post.json["method"].endswith("/list"):
            return await super().__call__(scope, receive, send)
        await send({"type": "http.response.start", "status": 200, "headers": [(b"content-type", b"application/json")]})
        message: Any = {}
        while message.get("type") != "http.disconnect":
            await send({"type": "http.response.body", "body": b" ", "more_body": True})
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(0.05):
                    message = await receive()


@pages
def test_listings_that_drip_are_left_after_one_time_for_all_of_them(
    person: Person, server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(catalog, "LISTING_SECONDS", 1.0)
    recorder = Recorder(Dripping())
    with serve(recorder, lifespan="on") as base:
        point_to(server, base)
        began = time.monotonic()
        page = person.get(PAGE)
        assert (page.status, "took too long" in page.text, time.monotonic() - began < 3) == (502, True, True)
    assert recorder.methods == ["server/discover", "tools/list"]
    assert Server.objects.get().trouble == "timeout"


@pages
def test_of_a_capability_that_is_gone_nothing_is_kept(person: Person, server: Server) -> None:
    prompts = {"resultType": "complete", "prompts": [{"name": "greet"}], "ttlMs": 3_600_000, "cacheScope": "public"}
    offered = listings("public", "ask", **{"prompts/list": prompts})
    discover = offered["server/discover"]
    both = {"server/discover": discover | {"capabilities": {"tools": {}, "prompts": {}}, "ttlMs": 0}}
    with desk(server, listings=offered | both) as recorder:
        assert "greet" in person.get(PAGE).text
        relisted(recorder, offered)
        let_it_age(seconds=6)
        assert "greet" not in person.get(PAGE).text
        assert recorder.methods[3:] == ["server/discover"]
    assert (owners("prompts"), owners("tools")) == ([], [None])


@pages
def test_malformed_entries_hide_only_themselves_and_are_findings(person: Person, server: Server, alice: User) -> None:
    alice.user_permissions.add(Permission.objects.get(codename="view_finding"))
    entries: list[Any] = [5, None, {"title": "nameless"}, {"name": 7}, {"name": "good", "title": "Good one"}]
    with desk(server, listings=tools(*entries)):
        page = person.get(PAGE)
    assert "Good one" in page.text
    told = [f"Entry {number} of tools: It has no name." for number in (1, 3, 4)]
    told.append("Entry 2 of tools: It cannot be read.")
    assert all(each in page.text for each in told)
    assert findings() == {"LIST-ENTRY": 1}


@pages
@pytest.mark.parametrize("odd", [float("inf"), "\ud800", json.loads("[" * 300 + "]" * 300)])
def test_an_entry_that_cannot_be_read_hides_only_itself_and_is_a_finding(
    person: Person, server: Server, alice: User, odd: Any
) -> None:
    alice.user_permissions.add(Permission.objects.get(codename="view_finding"))
    bad = {"name": "bad", "inputSchema": {"type": "object", "properties": {"n": {"default": odd}}}}
    with desk(server, done(), listings=tools(bad, {"name": "good", "title": "Good one"})):
        page = person.get(PAGE)
        assert "Entry 1 of tools: It cannot be read." in page.text
        assert findings() == {"LIST-ENTRY": 1}
        person.get(page.link("Good one"))
        assert "All done." in person.press("Start").text


@pages
@pytest.mark.parametrize("key", ["minimum", "maximum", "multipleOf", "default", "maxLength", "minItems"])
def test_a_number_that_is_as_long_as_can_be_read_ends_no_page(person: Person, server: Server, key: str) -> None:
    huge = 10**4_299
    kind = {"maxLength": "string", "minItems": "array"}.get(key, "integer")
    field = {"type": kind, key: huge, "items": {"type": "string"}}
    for negative in (field, field | {key: -huge}):
        listed = {"name": "huge", "title": "Huge", "inputSchema": {"type": "object", "properties": {"n": negative}}}
        with desk(server, listings=tools(listed)):
            assert person.get(person.get(PAGE).link("Huge")).status == 200


def twin(title: str, key: str) -> dict[str, Any]:
    schema = {"type": "object", "properties": {key: {"type": "string", "title": key.capitalize()}}, "required": [key]}
    return {"name": "twin", "title": title, "inputSchema": schema}


@pages
def test_each_entry_of_one_name_can_be_started(person: Person, server: Server) -> None:
    """TO-7: with its own form, under the name that they share."""
    with desk(server, done(), listings=tools(twin("One", "first"), twin("Two", "second"))) as recorder:
        page = person.get(PAGE)
        assert "Number 2 of several with this name" in page.text
        for title, label in (("One", "First"), ("Two", "Second")):
            person.get(person.get(PAGE).link(title))
            person.fill(label, "x")
            person.press("Start")
            person.until("completed")
        sent = [post.params | {"_meta": None} for post in calls(recorder)]
        assert [(each["name"], each["arguments"]) for each in sent] == [
            ("twin", {"first": "x"}),
            ("twin", {"second": "x"}),
        ]
        assert person.get("/s/demo/3/tools/twin/").status == 404
    assert findings() == {"LIST-TWICE": 1}


@pages
def test_the_headers_of_a_twin_are_mirrored_by_the_schema_that_it_was_started_with(
    person: Person, server: Server
) -> None:
    """HT-6"""
    second = twin("Two", "second")
    second["inputSchema"]["properties"]["second"]["x-mcp-header"] = "Second"
    with desk(server, done(), listings=tools(twin("One", "first"), second)) as recorder:
        person.get(PAGE)
        person.get(person.page.link("Two"))
        person.fill("Second", "cheese")
        person.press("Start")
        person.until("completed")
        assert calls(recorder)[0].headers["mcp-param-second"] == "cheese"


ODD = [
    *("a/b", "/a", "a/", "a//b", "a?b=c", "a#b", "100%", "%2F", "a b", " a", "a\\b", "a;b", "a+b&c", "grüße/日本", "é"),
    *("a\nb", "a\tb", "...", "a/...", "2/tools/x", "x" * 2_000, "😀", "<script>", '"', "{{ x }}"),
]


@pages
def test_odd_names_are_started_as_they_are(person: Person, server: Server) -> None:
    entries = [{"name": name, "title": f"Tool {i}.", "inputSchema": {"type": "object"}} for i, name in enumerate(ODD)]
    with desk(server, done(), listings=tools(*entries)) as recorder:
        person.get(PAGE)
        addresses = [person.page.link(f"Tool {i}.") for i in range(len(ODD))]
        for address in addresses:
            assert person.get(address).status == 200, address
            person.press("Start")
            person.until("completed")
        assert [post.params["name"] for post in calls(recorder)] == ODD
    assert findings() == {}


@pages
@pytest.mark.parametrize("name", [".", "..", "a/../b", "./a"])
def test_a_name_that_no_address_can_hold_is_hidden_with_the_reason(
    person: Person, server: Server, alice: User, name: str
) -> None:
    alice.user_permissions.add(Permission.objects.get(codename="view_finding"))
    with desk(server, listings=tools({"name": name, "title": "Dotted"}, {"name": "good"})):
        page = person.get(PAGE)
    assert "Dotted" not in page.text and "good" in page.text
    assert f"{name}: Its name has a part “.” or “..”, which no web address can hold." in page.text
    assert findings() == {}


@pages
def test_a_name_that_is_too_long_for_an_address_is_hidden_with_the_reason(
    person: Person, server: Server, alice: User
) -> None:
    alice.user_permissions.add(Permission.objects.get(codename="view_finding"))
    with desk(server, listings=tools({"name": "é" * 1_001, "title": "Long"}, {"name": "é" * 1_000, "title": "Short"})):
        page = person.get(PAGE)
    assert page.link("Short").endswith(quote("é" * 1_000) + "/")
    assert "Its name is too long for a web address." in page.text and "Long" not in page.text


@pages
def test_a_hidden_tool_is_like_an_unknown_one_and_what_runs_of_it_goes_on(person: Person, server: Server) -> None:
    with desk(server, asks(), done()) as recorder:
        begin(person)
        flow = person.page.path
        person.get("/s/demo/tools/ask/")
        Server.objects.update(hidden_tools=["ask"])
        assert person.press("Start").status == 404
        assert "Ask me" not in person.get(PAGE).text
        assert "Ask me" not in person.get("/?q=ask").text
        page = person.get("/s/demo/tools/ask/")
        assert page.status == 404 and "no longer offered" in page.text
        page = person.get(flow)
        assert "Ask me" in page.text
        assert send(person, Name="Ada").state == "completed"
        assert len(calls(recorder)) == 2
