"""The server's side of MRTR, shown by the demo server over raw HTTP: each rule as a client would meet it."""

import concurrent.futures
import json
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx2
import pytest

from mrtr_web.demo.people import PEOPLE
from mrtr_web.demo.server import build
from mrtr_web.demo.store import MOST, Store
from tests.servers import Recorder, serve

ADA, BOB = PEOPLE
ALL_KINDS: dict[str, Any] = {"elicitation": {"form": {}, "url": {}}, "sampling": {}, "roots": {}}
CAKE = {"choice": {"action": "accept", "content": {"treat": "cake"}}}
META = "io.modelcontextprotocol/"


class Raw:
    """A client that sends what it is told, with the headers that belong to it."""

    def __init__(self, base: str) -> None:
        self.url = f"{base}/mcp"

    def post(self, message: bytes, token: str = "", **headers: str) -> httpx2.Response:
        sent = {"content-type": "application/json", "accept": "application/json, text/event-stream", **headers}
        if token:
            sent["authorization"] = f"Bearer {token}"
        return httpx2.post(self.url, content=message, headers=sent, trust_env=False, timeout=20)

    def ask(
        self,
        method: str,
        params: dict[str, Any],
        token: str = "",
        declared: dict[str, Any] = ALL_KINDS,
    ) -> tuple[int, dict[str, Any]]:
        """The HTTP status and the answering message."""
        meta = {f"{META}protocolVersion": "2026-07-28", f"{META}clientCapabilities": declared}
        message = {"jsonrpc": "2.0", "id": "r1", "method": method, "params": {**params, "_meta": meta}}
        name = params.get("name", params.get("uri", ""))
        headers = {"mcp-protocol-version": "2026-07-28", "mcp-method": method, "mcp-name": name}
        response = self.post(json.dumps(message).encode(), token, **headers)
        return response.status_code, _message(response)

    def tool(self, name: str, token: str = "", declared: dict[str, Any] = ALL_KINDS, **fields: Any) -> dict[str, Any]:
        """The result of a tool, or the error."""
        status, found = self.ask("tools/call", {"name": name, "arguments": {}, **fields}, token, declared)
        return found["result"] if "result" in found else {"status": status, **found["error"]}


def _message(response: httpx2.Response) -> dict[str, Any]:
    lines = [line.removeprefix("data:") for line in response.text.splitlines() if line.startswith("data:")]
    found: dict[str, Any] = json.loads(lines[-1] if lines else response.text)
    return found


@pytest.fixture(scope="module")
def raw() -> Iterator[Raw]:
    with serve(build("one key")) as base:
        yield Raw(base)


def refused(result: dict[str, Any]) -> tuple[int, int]:
    return result["status"], result["code"]


INVALID = (400, -32602)


def test_a_round_has_requests_or_a_state(raw: Raw) -> None:
    """MR-13"""
    assert raw.tool("redeem_voucher").keys() >= {"inputRequests", "requestState"}
    waiting = raw.tool("patience")
    assert (waiting["resultType"], "inputRequests" in waiting) == ("input_required", False)
    assert waiting["requestState"]


def test_keys_are_unique_and_may_be_any_text(raw: Raw) -> None:
    """MR-15"""
    meta = {f"{META}protocolVersion": "2026-07-28", f"{META}clientCapabilities": ALL_KINDS}
    params = {"name": "plan_walk", "arguments": {}, "_meta": meta}
    message = {"jsonrpc": "2.0", "id": "r1", "method": "tools/call", "params": params}
    headers = {"mcp-protocol-version": "2026-07-28", "mcp-method": "tools/call", "mcp-name": "plan_walk"}
    response = raw.post(json.dumps(message).encode(), "", **headers)
    text = response.text.partition("data:")[2] or response.text
    seen: list[list[str]] = []

    def note(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        seen.append([key for key, _ in pairs])
        return dict(pairs)

    json.loads(text, object_pairs_hook=note)
    assert all(len(keys) == len(set(keys)) for keys in seen)
    assert ["walk.pace", "1", "späte Frage", ""] in seen


@pytest.mark.parametrize(
    ("declared", "kinds"),
    [
        ({}, None),
        ({"elicitation": {}}, {"elicitation/create form"}),
        ({"elicitation": {"url": {}}}, {"elicitation/create url"}),
        ({"sampling": {}, "roots": {}}, {"sampling/createMessage", "roots/list"}),
        (ALL_KINDS, {"elicitation/create form", "elicitation/create url", "sampling/createMessage", "roots/list"}),
    ],
)
def test_only_what_was_declared_with_this_request_is_asked(
    raw: Raw, declared: dict[str, Any], kinds: set[str] | None
) -> None:
    """MR-14, EL-1: nothing is remembered from another request."""
    result = raw.tool("plan_walk", declared=declared)
    asked = [_kind(entry) for entry in (result.get("inputRequests") or {}).values()]
    assert (set(asked) or None) == kinds


def _kind(entry: dict[str, Any]) -> str:
    method: str = entry["method"]
    return f"{method} {entry['params']['mode']}" if method == "elicitation/create" else method


def test_a_mixed_round_is_finished_by_one_retry_with_every_answer(raw: Raw) -> None:
    asked = raw.tool("plan_walk")
    answers = {
        "walk.pace": {"action": "accept", "content": {"pace": "brisk", "hours": 1.5}},
        "1": {"role": "assistant", "content": {"type": "text", "text": "Welcome!"}, "model": "human"},
        "späte Frage": {"roots": [{"uri": "file:///home/ada"}]},
        "": {"action": "accept"},
    }
    done = raw.tool("plan_walk", requestState=asked["requestState"], inputResponses=answers)
    assert done["structuredContent"] == {
        "pace": "brisk",
        "hours": 1.5,
        "greeting": "Welcome!",
        "written by": "human",
        "folders": ["file:///home/ada"],
        "map": "seen",
    }


def test_missing_answers_are_asked_for_again(raw: Raw) -> None:
    """MR-18"""
    asked = raw.tool("plan_walk")
    some = {"walk.pace": {"action": "accept", "content": {"pace": "slow", "hours": 2}}}
    again = raw.tool("plan_walk", requestState=asked["requestState"], inputResponses=some)
    assert again["inputRequests"] == asked["inputRequests"]
    again = raw.tool("redeem_voucher", requestState=raw.tool("redeem_voucher")["requestState"], inputResponses={})
    assert list(again["inputRequests"]) == ["choice"]


def test_answers_that_were_not_asked_for_are_ignored(raw: Raw) -> None:
    """MR-18"""
    state = raw.tool("redeem_voucher")["requestState"]
    more = {**CAKE, "other": {"action": "accept", "content": {"x": 1}}, "roots": {"roots": []}}
    assert raw.tool("redeem_voucher", requestState=state, inputResponses=more)["structuredContent"]["treat"] == "cake"


@pytest.mark.parametrize(
    "responses",
    [
        [],
        "text",
        5,
        {"choice": "cake"},
        {"choice": {"action": "maybe"}},
        {"choice": {"content": {"treat": "cake"}}},
        {"choice": {"method": "elicitation/create", "result": {"action": "accept"}}},
        {"choice": {"action": "accept", "content": {"treat": {"nested": 1}}}},
    ],
)
def test_answers_that_are_none_are_invalid_params(raw: Raw, responses: Any) -> None:
    """MR-18, M04"""
    state = raw.tool("redeem_voucher")["requestState"]
    assert refused(raw.tool("redeem_voucher", requestState=state, inputResponses=responses)) == INVALID


@pytest.mark.parametrize("body", [b"{", b"", b"\xff\xfe", b"not json"])
def test_a_body_that_is_no_json_is_a_parse_error(raw: Raw, body: bytes) -> None:
    """ER-1"""
    headers = {"mcp-protocol-version": "2026-07-28", "mcp-method": "tools/call", "mcp-name": "redeem_voucher"}
    response = raw.post(body, "", **headers)
    assert (response.status_code, response.json()["error"]["code"]) == (400, -32700)


def test_a_fault_inside_is_an_internal_error_without_details(raw: Raw) -> None:
    """ER-1"""
    status, found = raw.ask("resources/read", {"uri": "trip://broken"})
    assert (status, found["error"]["code"]) == (200, -32603)
    assert "fire" not in json.dumps(found)


def test_the_state_is_sealed(raw: Raw) -> None:
    """MRTR: what is in it can be neither read nor guessed at."""
    one, two = raw.tool("plan_walk")["requestState"], raw.tool("plan_walk")["requestState"]
    assert one != two
    assert "walk" not in one


def test_a_state_of_another_person_is_refused(raw: Raw) -> None:
    """EL-9, T-4"""
    state = raw.tool("redeem_voucher", ADA)["requestState"]
    for other in (BOB, ""):
        assert refused(raw.tool("redeem_voucher", other, requestState=state, inputResponses=CAKE)) == INVALID
    assert raw.tool("redeem_voucher", ADA, requestState=state, inputResponses=CAKE)["structuredContent"]["redeemed"]


def test_a_state_of_nobody_is_refused_for_a_person(raw: Raw) -> None:
    state = raw.tool("redeem_voucher")["requestState"]
    assert refused(raw.tool("redeem_voucher", ADA, requestState=state, inputResponses=CAKE)) == INVALID


def test_an_unknown_token_is_refused_before_anything_is_read(raw: Raw) -> None:
    response = raw.post(b"{", "stolen")
    assert (response.status_code, response.headers["www-authenticate"]) == (401, 'Bearer realm="mrtr-demo"')


@pytest.mark.parametrize(
    "spoil",
    [
        lambda state: "",
        lambda state: state + "x",
        lambda state: state[:-1],
        lambda state: state[:20] + ("A" if state[20] != "A" else "B") + state[21:],
        lambda state: "v1." + "A" * 200,
        lambda state: "\u0000",
    ],
)
def test_a_state_that_was_touched_is_refused(raw: Raw, spoil: Any) -> None:
    """MR-3, MR-4"""
    state = spoil(raw.tool("redeem_voucher")["requestState"])
    assert refused(raw.tool("redeem_voucher", requestState=state, inputResponses=CAKE)) == INVALID


def test_a_state_is_for_one_request_alone(raw: Raw) -> None:
    """MR-7, T-5: not with other arguments, for another tool, or by another method."""
    name = {"name": "packing_list", "arguments": {"destination": "Lyon"}}
    state = raw.ask("resources/read", {"uri": "trip://TRIP-1/itinerary"})[1]["result"]["requestState"]
    answers = {"surname": {"action": "accept", "content": {"surname": "Lovelace"}}}
    retry = {"requestState": state, "inputResponses": answers}
    others: list[tuple[str, dict[str, Any]]] = [
        ("resources/read", {"uri": "trip://TRIP-2/itinerary"}),
        ("tools/call", {"name": "redeem_voucher", "arguments": {}}),
        ("prompts/get", name),
    ]
    for method, params in others:
        status, found = raw.ask(method, params | retry)
        assert (status, found["error"]["code"]) == INVALID
    assert "result" in raw.ask("resources/read", {"uri": "trip://TRIP-1/itinerary"} | retry)[1]


def test_an_expired_state_is_refused() -> None:
    """T-1"""
    with serve(build("one key", state_ttl=0.2)) as base:
        raw = Raw(base)
        state = raw.tool("redeem_voucher")["requestState"]
        end = time.monotonic() + 10
        result = raw.tool("redeem_voucher", requestState=state)
        while "code" not in result and time.monotonic() < end:
            time.sleep(0.1)
            result = raw.tool("redeem_voucher", requestState=state)
        assert refused(result) == INVALID


def test_a_voucher_is_used_once_however_often_its_retry_arrives(raw: Raw) -> None:
    """MRTR: the state verifies each time; single use is kept in the server's own store."""
    state = raw.tool("redeem_voucher", ADA)["requestState"]

    def redeem(_: int) -> dict[str, Any]:
        return raw.tool("redeem_voucher", ADA, requestState=state, inputResponses=CAKE)

    with concurrent.futures.ThreadPoolExecutor(8) as pool:
        results = list(pool.map(redeem, range(8)))
    assert sum(result["isError"] is False for result in results) == 1
    assert all("used already" in result["content"][0]["text"] for result in results if result["isError"])


def test_a_voucher_that_was_kept_can_be_used_later(raw: Raw) -> None:
    state = raw.tool("redeem_voucher")["requestState"]
    kept = raw.tool("redeem_voucher", requestState=state, inputResponses={"choice": {"action": "decline"}})
    assert kept["structuredContent"] == {"redeemed": False}
    assert raw.tool("redeem_voucher", requestState=state, inputResponses=CAKE)["structuredContent"]["redeemed"]


def test_answers_without_a_state_redeem_nothing(raw: Raw) -> None:
    assert raw.tool("redeem_voucher", inputResponses=CAKE)["isError"] is True


def test_only_calls_ask_for_more(raw: Raw) -> None:
    """MR-11"""
    for method in ("server/discover", "tools/list", "prompts/list", "resources/list", "resources/templates/list"):
        assert raw.ask(method, {})[1]["result"]["resultType"] == "complete"


def test_flows_that_are_abandoned_leave_nothing_in_the_store() -> None:
    """MR-16"""
    store = Store()
    for number in range(MOST + 50):
        assert store.use(f"v{number}")
    assert store.rows() == MOST
    assert not store.use(f"v{MOST}")


def test_the_file_is_shared_by_processes(tmp_path: Path) -> None:
    one, two = Store(str(tmp_path / "store")), Store(str(tmp_path / "store"))
    payment = one.open_payment(50, "Lyon")
    two.pay(payment)
    found = one.payment(payment)
    assert found is not None and found.paid
    assert one.use("v") and not two.use("v")


def test_the_fixtures_of_the_suite_are_there_with_the_flag_alone(raw: Raw) -> None:
    names = {tool["name"] for tool in raw.ask("tools/list", {})[1]["result"]["tools"]}
    assert not any(name.startswith("test_") for name in names)
    recorder = Recorder(build("one key", with_suite=True))
    with serve(recorder) as base:
        suite = Raw(base)
        names = {tool["name"] for tool in suite.ask("tools/list", {})[1]["result"]["tools"]}
        assert len([name for name in names if name.startswith("test_")]) == 20
        missing = suite.tool("test_missing_capability", declared={})
        assert (refused(missing), missing["data"]) == ((400, -32021), {"requiredCapabilities": {"sampling": {}}})
        both = suite.tool("test_input_required_result_capabilities", declared={"sampling": {}})
        assert list(both["inputRequests"]) == ["capital_question"]
