"""Suggestions while a person types: what is sent, what comes back, and what never does."""

import logging
import time
from typing import Any

import pytest
from django.contrib.auth.models import Group
from mcp.server.mcpserver import MCPServer
from mcp_types import (
    Completion,
    CompletionArgument,
    CompletionContext,
    PromptReference,
    ResourceTemplateReference,
)
from playwright.sync_api import expect

from mrtr_web import completion
from mrtr_web.models import Server
from tests.desk import LISTED, TOOL, desk, point_to
from tests.person import Person
from tests.servers import Answer, Post, Recorder, Step, error, html, raw_json, result, serve
from tests.window import Opener, in_browser

pytestmark = pytest.mark.django_db(transaction=True)

LISTINGS = LISTED | {
    "server/discover": LISTED["server/discover"]
    | {"capabilities": {"prompts": {}, "resources": {}, "completions": {}}},
    "prompts/list": {
        "resultType": "complete",
        "prompts": [
            {"name": "greet", "arguments": [{"name": "city"}, {"name": "who"}, {"name": "password"}]},
            {"name": "write", "arguments": [{"name": "surname"}, {"name": "message"}]},
            {"name": "open", "arguments": [{"name": "password"}]},
        ],
    },
    "resources/list": {"resultType": "complete", "resources": []},
    "resources/templates/list": {
        "resultType": "complete",
        "resourceTemplates": [{"uriTemplate": "trip://{ref}/day{?lang}", "name": "day"}],
    },
}
GREET = {"kind": "prompts", "name": "greet", "typing": "s0-f0"}
CANARY = "canary-7391"


def suggesting(*values: Any, **more: Any) -> Step:
    return lambda post: result(post, {"resultType": "complete", "completion": {"values": list(values), **more}})


def listed(person: Person) -> None:
    person.get("/s/demo/")
    person.get("/s/demo/prompts/greet/")


def ask(person: Person, origin: str | None = None, **fields: str) -> tuple[int, Any]:
    """What the page's script would post, and what it would get."""
    token = next(c.value for c in person.page.reader.forms[0].controls if c.name == "csrfmiddlewaretoken")
    data = {**GREET, "csrfmiddlewaretoken": token, **fields}
    response = person.client.post("/s/demo/suggest/", data=data, headers={"Origin": origin or person.base})
    is_json = response.headers.get("content-type", "").startswith("application/json")
    return response.status_code, response.json()["values"] if is_json else None


def asked(recorder: Recorder) -> list[Post]:
    return [post for post in recorder.posts if post.json["method"] == "completion/complete"]


def test_a_prompts_argument_is_completed_with_the_others_as_context(person: Person, server: Server) -> None:
    """CO-1, BA-2, HT-4"""
    with desk(server, suggesting("Lyon", "Lisbon", total=2), listings=LISTINGS) as recorder:
        listed(person)
        fields = {"s0-f0": "L", "s0-f1": "Ada", "s0-f2": "hunter2"}
        assert ask(person, **fields) == (200, ["Lyon", "Lisbon"])
        (post,) = asked(recorder)
        params = {key: value for key, value in post.params.items() if key != "_meta"}
        assert params == {
            "ref": {"type": "ref/prompt", "name": "greet"},
            "argument": {"name": "city", "value": "L"},
            "context": {"arguments": {"who": "Ada"}},
        }
        assert post.headers["mcp-method"] == "completion/complete"
        assert post.headers["mcp-protocol-version"] == "2026-07-28"
        assert post.meta["io.modelcontextprotocol/clientCapabilities"] == {"elicitation": {"form": {}, "url": {}}}


def test_a_value_of_an_address_is_completed_by_its_template(person: Person, server: Server) -> None:
    with desk(server, suggesting("T-1"), listings=LISTINGS) as recorder:
        listed(person)
        fields = {"kind": "resources", "name": "trip://{ref}/day{?lang}", "s0-f0": "T"}
        assert ask(person, **fields) == (200, ["T-1"])
        assert asked(recorder)[0].params["ref"] == {"type": "ref/resource", "uri": "trip://{ref}/day{?lang}"}
        assert asked(recorder)[0].params["context"] == {"arguments": {}}


def guide() -> MCPServer:
    """A server on the SDK that suggests what it was asked: the other values decide."""
    server = MCPServer("guide", log_level="ERROR")

    @server.prompt()
    def walk(country: str, city: str) -> str:
        return f"A walk in {city}, {country}"

    @server.resource("trip://{country}/{city}{?day}")
    def plan(country: str, city: str, day: str = "1") -> str:
        return f"{country} {city} {day}"

    async def complete(
        ref: PromptReference | ResourceTemplateReference,
        argument: CompletionArgument,
        context: CompletionContext | None,
    ) -> Completion | None:
        country = (context.arguments or {}).get("country", "") if context else ""
        cities = {"France": ["Lyon", "Lille"], "Portugal": ["Lisbon"]}.get(country, [])
        found = [city for city in cities if city.startswith(argument.value)] if argument.name == "city" else None
        return Completion(values=found, total=len(found), has_more=False) if found is not None else None

    server.completion()(complete)  # type: ignore[no-untyped-call]
    return server


@pytest.mark.parametrize(
    ("kind", "name", "ref"),
    [
        ("prompts", "walk", {"type": "ref/prompt", "name": "walk"}),
        (
            "resources",
            "trip://{country}/{city}{?day}",
            {"type": "ref/resource", "uri": "trip://{country}/{city}{?day}"},
        ),
    ],
)
def test_a_server_on_the_sdk_suggests_by_the_other_values(
    person: Person, server: Server, kind: str, name: str, ref: dict[str, str]
) -> None:
    """CO-1"""
    recorder = Recorder(guide().streamable_http_app(stateless_http=True))
    with serve(recorder, lifespan="on") as base:
        point_to(server, base)
        person.get("/s/demo/")
        person.get("/s/demo/prompts/walk/")
        typed = {"kind": kind, "name": name, "typing": "s0-f1", "s0-f1": "L"}
        assert ask(person, **typed, **{"s0-f0": "France"}) == (200, ["Lyon", "Lille"])
        assert ask(person, **typed, **{"s0-f0": ""}) == (200, [])
        assert ask(person, **{**typed, "typing": "s0-f0", "s0-f0": "F"}) == (200, [])
        sent = [{key: each for key, each in post.params.items() if key != "_meta"} for post in asked(recorder)]
        assert sent == [
            {"ref": ref, "argument": {"name": "city", "value": "L"}, "context": {"arguments": {"country": "France"}}},
            {"ref": ref, "argument": {"name": "city", "value": "L"}, "context": {"arguments": {}}},
            {"ref": ref, "argument": {"name": "country", "value": "F"}, "context": {"arguments": {"city": "L"}}},
        ]
        assert {post.headers["mcp-method"] for post in asked(recorder)} == {"completion/complete"}
        assert not any("mcp-name" in post.headers for post in asked(recorder))


def test_a_long_text_beside_it_has_the_line_breaks_that_starting_would_send(person: Person, server: Server) -> None:
    with desk(server, suggesting("Lovelace"), listings=LISTINGS) as recorder:
        listed(person)
        assert ask(person, name="write", **{"s0-f0": "L", "s0-f1": "Dear\r\nAda"}) == (200, ["Lovelace"])
        assert asked(recorder)[0].params["context"] == {"arguments": {"message": "Dear\nAda"}}


@pytest.mark.parametrize(
    "fields",
    [
        {"kind": "tools", "name": "ask"},
        {"name": "nothing"},
        {"kind": "nothing"},
        {"kind": "resources", "name": ""},
        {"typing": "s0-f9"},
        {"typing": "city"},
        {"typing": "s0-f2"},
    ],
)
def test_nothing_else_is_asked_for(person: Person, server: Server, fields: dict[str, str]) -> None:
    """Tools, unknown names, and what looks secret."""
    with desk(server, suggesting("x"), listings=LISTINGS) as recorder:
        listed(person)
        assert ask(person, **fields)[0] == 404
        assert asked(recorder) == []


def test_a_server_without_completions_is_not_asked(person: Person, server: Server) -> None:
    found = LISTINGS | {"server/discover": LISTED["server/discover"] | {"capabilities": {"prompts": {}}}}
    with desk(server, suggesting("x"), listings=found) as recorder:
        listed(person)
        assert "is asked for suggestions" not in person.page.text
        assert ask(person)[0] == 404
        assert asked(recorder) == []


def test_a_server_that_the_person_may_not_use_is_not_there(person: Person, server: Server) -> None:
    with desk(server, suggesting("x"), listings=LISTINGS) as recorder:
        listed(person)
        server.groups.add(Group.objects.create(name="others"))
        assert ask(person)[0] == 404
        server.groups.clear()
        Server.objects.update(enabled=False)
        assert ask(person)[0] == 404
        assert asked(recorder) == []


def test_it_takes_a_post_of_our_own_page(person: Person, server: Server) -> None:
    with desk(server, suggesting("x"), listings=LISTINGS) as recorder:
        listed(person)
        assert person.get("/s/demo/suggest/").status == 405
        person.get("/s/demo/prompts/greet/")
        assert ask(person, csrfmiddlewaretoken="wrong")[0] == 403
        assert ask(person, origin="https://elsewhere.example")[0] == 403
        assert asked(recorder) == []


def test_a_person_who_signed_out_gets_none(person: Person, server: Server) -> None:
    with desk(server, suggesting("x"), listings=LISTINGS) as recorder:
        listed(person)
        person.press("Sign out")
        person.get("/accounts/login/")
        assert ask(person) == (403, None)
        assert asked(recorder) == []


HANG = Answer(b": wait\n\n", 200, {"content-type": "text/event-stream"}, "hang")


@pytest.mark.parametrize(
    "step",
    [
        lambda post: error(post, -32603),
        lambda post: html(500),
        lambda post: html(302, location="http://127.0.0.1:9/"),
        lambda post: result(post, {"resultType": "complete"}),
        lambda post: result(post, {"resultType": "complete", "completion": {"values": "text"}}),
        lambda post: result(post, {"resultType": "complete", "completion": {"values": {"0": "x"}}}),
        lambda post: result(
            post, {"resultType": "input_required", "requestState": "s", "completion": {"values": ["x"]}}
        ),
        suggesting("x" * completion.MAX_BYTES),
        lambda post: HANG,
    ],
)
def test_a_server_in_trouble_gives_no_suggestions(person: Person, server: Server, step: Step) -> None:
    with desk(server, step, listings=LISTINGS):
        listed(person)
        began = time.monotonic()
        assert ask(person, **{"s0-f0": "L"}) == (200, [])
        assert time.monotonic() - began < 3 * completion.SECONDS


def test_hostile_suggestions_are_left_out(person: Person, server: Server) -> None:
    odd = ["ok", 5, None, "a\u202eb", "a\nb", "\x00", "x" * 201, {"value": "x"}, "<img src=x>"]
    with desk(server, suggesting(*odd), suggesting(*map(str, range(10_000))), listings=LISTINGS):
        listed(person)
        assert ask(person) == (200, ["ok", "<img src=x>"])
        assert len(ask(person)[1]) == completion.MAX_VALUES


def test_a_person_who_asks_too_often_is_slowed_down(person: Person, server: Server) -> None:
    """CO-1"""
    with desk(server, suggesting("x"), listings=LISTINGS) as recorder:
        listed(person)
        statuses = [ask(person)[0] for _ in range(20)]
        assert statuses[0] == 200 and 429 in statuses
        assert len(asked(recorder)) == statuses.count(200)


@pytest.mark.parametrize(
    "step",
    [
        suggesting(CANARY),
        lambda post: error(post, -32602, data={"value": CANARY}, message=CANARY),
        lambda post: raw_json(f"not JSON: {CANARY}"),
        lambda post: html(500, location=f"https://x.example/{CANARY}"),
        lambda post: Answer(b"", then="cut"),
    ],
)
def test_what_is_typed_reaches_no_log(
    person: Person, server: Server, caplog: pytest.LogCaptureFixture, step: Step
) -> None:
    caplog.set_level(logging.DEBUG)
    with desk(server, step, listings=LISTINGS) as recorder:
        listed(person)
        ask(person, **{"s0-f0": CANARY, "s0-f1": CANARY})
        ask(person, origin="https://elsewhere.example", **{"s0-f0": CANARY})
        ask(person, name=CANARY)
        assert asked(recorder)[0].params["argument"]["value"] == CANARY
    assert CANARY not in caplog.text


class TestInABrowser:
    pytestmark = in_browser

    def test_typing_shows_the_suggestions_of_the_server(self, opened: Opener, server: Server) -> None:
        window = opened()
        page = window.page
        with desk(server, suggesting("Lyon", "Lisbon"), listings=LISTINGS) as recorder:
            window.sign_in()
            page.goto(f"{window.base}/s/demo/")
            page.get_by_role("link", name="greet").click()
            expect(page.get_by_text("is asked for suggestions")).to_be_visible()
            page.get_by_label("city").press_sequentially("Ly", delay=20)
            expect(page.locator("datalist option")).to_have_count(2)
            window.check()
            assert [post.params["argument"]["value"] for post in asked(recorder)] == ["Ly"]
            page.get_by_label("password").press_sequentially("hun", delay=20)
            page.get_by_label("who").press_sequentially("A", delay=20)
            expect(page.locator("datalist option")).to_have_count(4)
            assert [post.params["argument"]["name"] for post in asked(recorder)] == ["city", "who"]

    def test_a_suggestion_that_is_chosen_asks_for_nothing(self, opened: Opener, server: Server) -> None:
        window = opened()
        page = window.page
        with desk(server, suggesting("Lyon"), listings=LISTINGS) as recorder:
            window.sign_in()
            page.goto(f"{window.base}/s/demo/")
            page.get_by_role("link", name="greet").click()
            expect(page.get_by_text("is asked for suggestions")).to_be_visible()
            page.get_by_label("city").press_sequentially("Ly", delay=20)
            expect(page.locator("datalist option")).to_have_count(1)
            page.get_by_label("city").fill("Lyon")  # as the browser does with the option that is clicked
            page.get_by_label("who").press_sequentially("A", delay=20)
            expect(page.locator("datalist option")).to_have_count(2)
            assert [post.params["argument"]["value"] for post in asked(recorder)] == ["Ly", "A"]
            assert page.url.endswith("/s/demo/prompts/greet/")

    def test_who_types_on_gets_the_suggestions_for_the_whole(self, opened: Opener, server: Server) -> None:
        window = opened()
        page = window.page
        with desk(server, lambda post: HANG, suggesting("Lyon"), listings=LISTINGS) as recorder:
            window.sign_in()
            page.goto(f"{window.base}/s/demo/")
            page.get_by_role("link", name="greet").click()
            expect(page.get_by_text("is asked for suggestions")).to_be_visible()
            with page.expect_request("**/suggest/"):
                page.get_by_label("city").press_sequentially("L")
            with page.expect_event("requestfailed", lambda request: request.url.endswith("/suggest/")):
                page.get_by_label("city").press_sequentially("y")
            expect(page.locator("datalist option")).to_have_count(1)
            assert [post.params["argument"]["value"] for post in asked(recorder)] == ["L", "Ly"]
            window.check()

    def test_what_says_the_purpose_of_an_input_stays(self, opened: Opener, server: Server) -> None:
        """WCAG 1.3.5"""
        window = opened()
        with desk(server, suggesting("x"), listings=LISTINGS):
            window.sign_in()
            window.page.goto(f"{window.base}/s/demo/")
            window.page.get_by_role("link", name="write").click()
            expect(window.page.get_by_label("surname")).to_have_attribute("autocomplete", "family-name")
            expect(window.page.locator("datalist")).to_have_count(1)
            window.check()

    def test_where_nothing_is_asked_nothing_is_said(self, opened: Opener, server: Server) -> None:
        """A form of secrets alone, and a browser without scripts."""
        with desk(server, suggesting("x"), listings=LISTINGS) as recorder:
            for scripts, prompt in ((True, "open"), (False, "greet")):
                window = opened(java_script_enabled=scripts)
                window.sign_in()
                window.page.goto(f"{window.base}/s/demo/")
                window.page.get_by_role("link", name=prompt).click()
                window.page.get_by_label("password").fill("hunter2")
                expect(window.page.get_by_text("is asked for suggestions")).to_be_hidden()
                assert window.page.locator("datalist").count() == 0
            assert asked(recorder) == []

    def test_without_completions_nothing_is_asked(self, opened: Opener, server: Server) -> None:
        window = opened()
        with desk(server, suggesting("x")) as recorder:
            window.sign_in()
            window.page.goto(f"{window.base}{TOOL}")
            window.page.get_by_label("Topic").fill("Ly")
            window.check()
            assert window.page.locator("datalist").count() == 0
            assert asked(recorder) == []
