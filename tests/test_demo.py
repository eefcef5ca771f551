"""The demo server, through our own relay and over real HTTP: what a person meets in it, round after round."""

import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx2
import pytest

from mrtr_web import relay
from mrtr_web.demo.server import build
from mrtr_web.networks import PRIVATE
from mrtr_web.relay import CAPABILITIES, Call, Endpoint, Limits, Progress, Refused
from tests.servers import BOUND, Recorder, run, serve

LIMITS = Limits(connect=5, silence=10, total=30, max_bytes=1024 * 1024)
TRIP = {"destination": "Lyon <b>", "nights": 2, "departure": "2027-03-01"}
TRAVELLER = {
    "full_name": "Ada Lovelace",
    "email": "ada@example.com",
    "birthday": "1990-12-10",
    "travellers": 2,
    "room": "double",
    "activities": ["museum", "food"],
    "conditions": True,
}


class Desk:
    """A demo server and what it was sent."""

    def __init__(self, base: str, recorder: Recorder) -> None:
        self.base = base
        self.recorder = recorder
        self.endpoint = Endpoint(f"{base}/mcp", private=PRIVATE)

    def send(self, method: str, params: dict[str, Any], **more: Any) -> dict[str, Any]:
        schema = more.pop("schema", None)
        sent = Call(method, params, dict(CAPABILITIES), schema)
        return run(relay.send(self.endpoint, sent, LIMITS, **more)).result

    def tool(self, name: str, arguments: dict[str, Any], **more: Any) -> dict[str, Any]:
        return self.send("tools/call", {"name": name, "arguments": arguments}, **more)

    def trip(self, asked: dict[str, Any] | None = None, **answers: Any) -> dict[str, Any]:
        """One leg of book_trip: the first, or the answers to what was asked."""
        params: dict[str, Any] = {"name": "book_trip", "arguments": TRIP}
        if asked is not None:
            params |= {"inputResponses": answers, "requestState": asked["requestState"]}
        return self.send("tools/call", params)

    def listing(self, method: str) -> list[dict[str, Any]]:
        return run(relay.listing(self.endpoint, LIMITS, method)).entries


@pytest.fixture(scope="module")
def desk() -> Iterator[Desk]:
    recorder = Recorder(build("one key"))
    with serve(recorder) as base:
        yield Desk(base, recorder)


def accept(**content: Any) -> dict[str, Any]:
    return {"action": "accept", "content": content}


def request(result: dict[str, Any], key: str) -> dict[str, Any]:
    """The params of the one thing asked, which is asked under this key."""
    assert result["resultType"] == "input_required"
    ((found, entry),) = result["inputRequests"].items()
    assert found == key
    assert entry["method"] == "elicitation/create"
    params: dict[str, Any] = entry["params"]
    return params


def text(result: dict[str, Any]) -> str:
    assert result["resultType"] == "complete"
    found: str = result["content"][0]["text"]
    return found


def page(desk: Desk, url: str, method: str = "GET") -> httpx2.Response:
    """A page as a browser would see it; localhost is not resolved, to be the same everywhere."""
    assert url.startswith(desk.base.replace("127.0.0.1", "localhost") + "/pay/")
    return httpx2.request(method, url.replace("localhost", "127.0.0.1"), follow_redirects=True)


def test_what_is_on_offer(desk: Desk) -> None:
    assert relay.REVISION in run(relay.discover(desk.endpoint, LIMITS))["supportedVersions"]
    tools = {tool["name"]: tool["title"] for tool in desk.listing("tools/list")}
    assert tools == {
        "book_trip": "Book a trip",
        "slow_report": "Slow report",
        "fails": "Always fails",
        "patience": "Patience",
        "weather": "Weather",
        "redeem_voucher": "Redeem a voucher",
        "plan_walk": "Plan a walk",
        "show_result": "Every kind of result",
        "arrange_outing": "Arrange an outing",
    }
    assert [prompt["name"] for prompt in desk.listing("prompts/list")] == ["packing_list", "directions"]
    templates = desk.listing("resources/templates/list")
    assert [template["uriTemplate"] for template in templates] == ["trip://{reference}/itinerary"]


def test_every_input_has_a_title_and_all_but_one_schema_is_flat(desk: Desk) -> None:
    for tool in desk.listing("tools/list"):
        assert tool["description"]
        for schema in tool["inputSchema"]["properties"].values():
            assert schema["title"]
            assert tool["name"] == "arrange_outing" or schema["type"] in ("string", "integer")


KINDS: dict[str, dict[str, Any]] = {
    "plain text with lengths": {"type": "string", "minLength": 2, "maxLength": 80},
    "email": {"type": "string", "format": "email"},
    "uri": {"type": "string", "format": "uri"},
    "date": {"type": "string", "format": "date"},
    "date-time": {"type": "string", "format": "date-time"},
    "number": {"type": "number"},
    "integer with a default": {"type": "integer", "default": 2},
    "boolean": {"type": "boolean"},
}


def test_the_first_round_has_every_kind_of_field(desk: Desk) -> None:
    asked = request(desk.trip(), "traveller")
    schema = asked["requestedSchema"]
    fields = schema["properties"]
    for kind in KINDS.values():
        assert any(kind.items() <= field.items() for field in fields.values()), kind
    assert any("oneOf" in field for field in fields.values())
    assert any("enum" in field and "enumNames" not in field for field in fields.values())
    assert any("enumNames" in field for field in fields.values())
    multi = [field for field in fields.values() if field["type"] == "array"]
    assert {("anyOf" in field["items"], "enum" in field["items"]) for field in multi} == {
        (True, False),
        (False, True),
    }
    assert all({"minItems", "maxItems"} <= set(field) for field in multi)
    booleans = {name for name, field in fields.items() if field["type"] == "boolean"}
    assert len(booleans & set(schema["required"])) == len(booleans - set(schema["required"])) == 1
    assert all(field["title"] for field in fields.values())


def test_a_trip_in_three_rounds(desk: Desk) -> None:
    first = desk.trip()
    second = desk.trip(first, traveller=accept(**TRAVELLER))
    deposit = request(second, "deposit")
    assert deposit["mode"] == "url"

    early = desk.trip(second, deposit={"action": "accept"})
    assert request(early, "deposit") == deposit  # not paid yet: the same page again

    before = page(desk, deposit["url"])
    assert "Pay the deposit (demo)" in before.text
    assert "Lyon &lt;b&gt;" in before.text and "<b>" not in before.text
    after = page(desk, deposit["url"], "POST")
    assert after.status_code == 200 and "is paid" in after.text

    third = desk.trip(early, deposit={"action": "accept"})
    confirm = request(third, "confirm")
    assert "2 nights in Lyon <b> for 2 travellers" in confirm["message"]
    last = desk.trip(third, confirm=accept(confirmed=True, note="Late arrival"))
    assert "Booked: 2 nights in Lyon <b>" in text(last)
    facts = last["structuredContent"]
    assert last["isError"] is False
    assert (facts["booked"], facts["traveller"], facts["note"]) == (True, "Ada Lovelace", "Late arrival")


def test_the_pay_page_is_strict_and_self_contained(desk: Desk) -> None:
    asked = desk.trip(desk.trip(), traveller=accept(**TRAVELLER))
    found = page(desk, request(asked, "deposit")["url"])
    policy = found.headers["content-security-policy"]
    assert policy.startswith("default-src 'none'; style-src 'self'; form-action 'self'")
    assert "unsafe" not in policy
    assert not re.search(r"<script|<style|style=|\son\w+=|https?://", found.text)
    assert found.headers["cache-control"] == "no-store"
    css = httpx2.get(f"{desk.base}/style.css")
    assert css.headers["content-type"].startswith("text/css") and "url(" not in css.text
    for method in ("GET", "POST"):
        assert httpx2.request(method, f"{desk.base}/pay/guessed/").status_code == 404


@pytest.mark.parametrize("action", ["decline", "cancel"])
@pytest.mark.parametrize("round_", [1, 2, 3])
def test_no_answer_ends_it_politely(desk: Desk, action: str, round_: int) -> None:
    asked = desk.trip()
    key = "traveller"
    if round_ > 1:
        asked, key = desk.trip(asked, traveller=accept(**TRAVELLER)), "deposit"
    if round_ > 2:
        page(desk, request(asked, "deposit")["url"], "POST")
        asked, key = desk.trip(asked, deposit={"action": "accept"}), "confirm"
    last = desk.trip(asked, **{key: {"action": action}})
    assert "Nothing was booked" in text(last)
    assert last["structuredContent"] == {"booked": False}


def test_not_confirming_books_nothing(desk: Desk) -> None:
    asked = desk.trip(desk.trip(), traveller=accept(**TRAVELLER))
    page(desk, request(asked, "deposit")["url"], "POST")
    asked = desk.trip(asked, deposit={"action": "accept"})
    assert "did not confirm" in text(desk.trip(asked, confirm=accept(confirmed=False)))


@pytest.mark.parametrize(
    "wrong",
    [{"email": "nobody"}, {"travellers": "2"}, {"room": "castle"}, {"activities": []}, {"birthday": "soon"}],
)
def test_answers_that_do_not_fit_are_asked_again(desk: Desk, wrong: dict[str, Any]) -> None:
    first = desk.trip()
    again = desk.trip(first, traveller=accept(**TRAVELLER | wrong))
    assert request(again, "traveller") == request(first, "traveller")


def test_another_process_with_the_same_key_goes_on(desk: Desk) -> None:
    asked = desk.trip(desk.trip(), traveller=accept(**TRAVELLER))
    recorder = Recorder(build("one key"))
    with serve(recorder) as base:
        other = Desk(base, recorder)
        again = other.trip(asked, deposit={"action": "accept"})
        url = request(again, "deposit")["url"]
        page(other, url, "POST")
        assert request(other.trip(again, deposit={"action": "accept"}), "confirm")


def test_another_key_refuses_the_state(desk: Desk) -> None:
    asked = desk.trip()
    recorder = Recorder(build("another key"))
    with serve(recorder) as base, pytest.raises(Refused) as caught:
        Desk(base, recorder).trip(asked, traveller=accept(**TRAVELLER))
    assert caught.value.code == -32602


def test_the_prompt_asks_one_question(desk: Desk) -> None:
    params: dict[str, Any] = {"name": "packing_list", "arguments": {"destination": "Lyon"}}
    asked = desk.send("prompts/get", params)
    assert request(asked, "bags")["requestedSchema"]["required"] == ["bags"]
    assert "requestState" not in asked
    last = desk.send("prompts/get", params | {"inputResponses": {"bags": accept(bags=2, sports=True)}})
    assert "number of bags: 2. I want to do sports." in last["messages"][0]["content"]["text"]
    last = desk.send("prompts/get", params | {"inputResponses": {"bags": {"action": "decline"}}})
    assert "short packing list" in last["messages"][0]["content"]["text"]


def test_the_resource_asks_one_question(desk: Desk) -> None:
    params: dict[str, Any] = {"uri": "trip://TRIP-1/itinerary"}
    asked = desk.send("resources/read", params)
    assert request(asked, "surname")["message"]
    params |= {"requestState": asked["requestState"]}
    last = desk.send("resources/read", params | {"inputResponses": {"surname": accept(surname="Lovelace")}})
    assert "Trip TRIP-1, traveller Lovelace" in last["contents"][0]["text"]
    last = desk.send("resources/read", params | {"inputResponses": {"surname": {"action": "cancel"}}})
    assert "to the traveller only" in last["contents"][0]["text"]


def test_patience_says_not_yet_six_times(desk: Desk) -> None:
    params: dict[str, Any] = {"name": "patience", "arguments": {}}
    rounds = 0
    result = desk.send("tools/call", params)
    while result["resultType"] == "input_required":
        rounds += 1
        assert "inputRequests" not in result
        result = desk.send("tools/call", params | {"requestState": result["requestState"]})
    assert (rounds, result["structuredContent"]) == (6, {"waited": 6})


def test_the_slow_report_tells_how_far_it_is(desk: Desk) -> None:
    seen: list[Progress] = []
    result = desk.tool("slow_report", {"seconds": 1}, on_progress=seen.append)
    assert result["structuredContent"] == {"pages": 1}
    assert seen == [Progress(0, 1, "Page 1 of 1"), Progress(1, 1, "Done")]


def test_fails_fails_as_a_result(desk: Desk) -> None:
    result = desk.tool("fails", {})
    assert result["isError"] is True
    assert "always fails" in text(result)


def test_the_weather_wants_its_region_in_a_header_which_is_repaired_where_it_is_missing(desk: Desk) -> None:
    start = len(desk.recorder.posts)
    schema = next(tool for tool in desk.listing("tools/list") if tool["name"] == "weather")["inputSchema"]
    assert "sunny in M\u00fcnchen" in text(desk.tool("weather", {"region": "M\u00fcnchen"}, schema=schema))
    assert "sunny in Lyon" in text(desk.tool("weather", {"region": "Lyon"}))
    posts = desk.recorder.posts[start:]
    assert [post.json["method"] for post in posts] == [
        "tools/list",
        "tools/call",
        "tools/call",
        "tools/list",
        "tools/call",
    ]
    regions = [post.headers.get("mcp-param-region") for post in posts]
    assert regions == [None, "=?base64?TcO8bmNoZW4=?=", None, None, "Lyon"]


def test_arguments_outside_the_schema_are_an_error_result(desk: Desk) -> None:
    assert desk.tool("book_trip", TRIP | {"nights": 31})["isError"] is True


def test_the_command_runs_it() -> None:
    command = [sys.executable, "-m", "mrtr_web.demo", "--port", "0", "--key", "k"]
    root = Path(__file__).parents[1]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=root) as process:
        try:
            assert process.stdout is not None
            url = process.stdout.readline().split()[-1]
            found = run(relay.discover(Endpoint(url, private=PRIVATE), LIMITS))
            assert found["instructions"].startswith("A make-believe travel desk")
        finally:
            process.terminate()
            process.wait(BOUND)
