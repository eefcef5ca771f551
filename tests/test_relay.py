"""One leg on the wire: what goes out, byte for byte, and what becomes of every kind of answer."""

import asyncio
import gc
import itertools
import json
import logging
import socket
import time
import tomllib
from collections.abc import Callable, Coroutine, Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from pathlib import Path
from typing import Any

import pytest

from mrtr_web import wire
from mrtr_web.networks import PRIVATE
from mrtr_web.relay import (
    CAPABILITIES,
    REVISION,
    Broken,
    Call,
    Endpoint,
    Limits,
    Lost,
    Progress,
    Refused,
    RelayError,
    Reply,
    Unsent,
    discover,
    listing,
    send,
)
from tests.servers import (
    BOUND,
    Answer,
    Post,
    Receive,
    Recorder,
    Scope,
    Send,
    error,
    events,
    free_port,
    html,
    raw_json,
    result,
    run,
    scripted,
    serve,
)

LIMITS = Limits(connect=5, silence=5, total=10, max_bytes=2 * 1024 * 1024)
QUICK = Limits(connect=5, silence=0.3, total=10, max_bytes=10_000)
FORM_ONLY: dict[str, Any] = {"elicitation": {"form": {}}}
DONE = {"content": [], "resultType": "complete"}
CANARY = "c4n4ry"
Server = Callable[[Post], Answer]


def endpoint(url: str, **headers: str) -> Endpoint:
    return Endpoint(url, headers, private=PRIVATE)


def call(**params: Any) -> Call:
    return Call("tools/call", {"name": "x", "arguments": {}} | params, FORM_ONLY)


def leg(url: str, sent: Call | None = None, limits: Limits = LIMITS, **more: Any) -> Reply:
    return run(send(endpoint(url), sent or call(), limits, **more))


def outcome(coroutine: Coroutine[Any, Any, Any]) -> RelayError:
    with pytest.raises(RelayError) as caught:
        run(coroutine)
    return caught.value


def fault(*steps: Server, limits: Limits = LIMITS) -> RelayError:
    """What a leg to a server that answers like this raises."""
    with scripted(*steps) as (url, _):
        return outcome(send(endpoint(url), call(), limits))


# What goes out


def test_a_request_on_the_wire() -> None:
    """BA-5, BA-6, HT-1, HT-2, LO-1"""
    with scripted(lambda post: result(post, DONE)) as (url, server):
        reply = run(send(endpoint(url, Authorization="Bearer t"), call(arguments={"a": 1}), LIMITS))
    (post,) = server.posts
    assert post.method == "POST"
    assert post.path == "/mcp"
    assert post.json == {
        "jsonrpc": "2.0",
        "id": post.id,
        "method": "tools/call",
        "params": {
            "name": "x",
            "arguments": {"a": 1},
            "_meta": {
                "io.modelcontextprotocol/protocolVersion": "2026-07-28",
                "io.modelcontextprotocol/clientInfo": {"name": "mrtr_web", "version": "0.1.0"},
                "io.modelcontextprotocol/clientCapabilities": {"elicitation": {"form": {}}},
                "progressToken": post.id,
            },
        },
    }
    for name, value in {
        "accept": "application/json, text/event-stream",
        "content-type": "application/json",
        "mcp-protocol-version": "2026-07-28",
        "mcp-method": "tools/call",
        "mcp-name": "x",
        "authorization": "Bearer t",
        "accept-encoding": "identity",
    }.items():
        assert post.headers[name] == value
    assert not {"cookie", "mcp-session-id", "last-event-id"} & set(post.headers)
    assert reply == Reply(DONE, (post.json,), ({"jsonrpc": "2.0", "id": post.id, "result": DONE},), reply.size)


def test_the_version_is_the_project_s() -> None:
    """BA-3"""
    project = tomllib.loads((Path(__file__).parents[1] / "pyproject.toml").read_text())["project"]
    assert {"name": project["name"], "version": project["version"]} == wire.CLIENT_INFO


def test_every_leg_has_its_own_id_which_is_no_number() -> None:
    """MR-6, BA-1"""
    with scripted(lambda post: result(post, DONE)) as (url, server):
        for _ in range(3):
            leg(url)
    ids = [post.id for post in server.posts]
    assert len(set(ids)) == 3
    for request_id in ids:
        with pytest.raises(ValueError, match="invalid literal"):
            int(request_id)


@pytest.mark.parametrize(
    "capabilities",
    [
        {},
        {"elicitation": {}},
        {"elicitation": {"form": {}, "url": {}}, "sampling": {}, "roots": {}},
        {"extensions": {"a/b": {}}},
    ],
)
def test_capabilities_are_declared_exactly(capabilities: dict[str, Any]) -> None:
    with scripted(lambda post: result(post, DONE)) as (url, server):
        run(send(endpoint(url), Call("tools/call", {"name": "x"}, capabilities), LIMITS))
    assert server.posts[0].meta["io.modelcontextprotocol/clientCapabilities"] == capabilities


def test_a_finished_tool_call_is_not_followed_by_a_hidden_listing() -> None:
    with scripted(lambda post: result(post, DONE | {"structuredContent": {"a": 1}})) as (url, server):
        leg(url)
    assert server.methods == ["tools/call"]


PARAMS = [
    {"name": "x"},
    {"name": "x", "arguments": None},
    {"name": "x", "arguments": {}},
    {"arguments": {"z": 1, "a": 2}, "name": "x"},
    {
        "name": "x",
        "arguments": {
            "i": 1,
            "f": 1.0,
            "huge": 2**70,
            "tiny": 1e-300,
            "none": None,
            "deep": {"a": [[{}], []]},
        },
    },
    {
        "name": "x",
        "arguments": {"text": "5", "yes": True, "ctl": "\x00\x1f\x7f\u2028\ufeff", "e": "\U0001f600"},
    },
    {"name": "x", "inputResponses": {}},
    {
        "name": "x",
        "inputResponses": {
            "": {"action": "accept", "content": {"b": 1.0, "a": [1], "n": {"x": None}}},
            "z": {"action": "decline"},
            "r": {"roots": [{"uri": "not a file"}]},
            "odd": {"action": "whatever", "extra": 1},
        },
        "requestState": "s",
    },
]


@pytest.mark.parametrize("params", PARAMS)
def test_params_are_sent_exactly_as_given(params: dict[str, Any]) -> None:
    """T-5"""
    with scripted(lambda post: result(post, DONE)) as (url, server):
        leg(url, Call("tools/call", params, {}))
    sent = server.posts[0].params
    sent.pop("_meta")
    assert json.dumps(sent) == json.dumps(params)  # types and the order of keys, too


STATES = [
    "",
    " ",
    " edges \t\r\n",
    "\x00",
    "a\u2028b\u2029c\x85d\ufeff",
    "\U0001f600 \u202e e\u0301 \u00e9",
    "</script><!--",
    '{"a": 1}',
    "null",
    "007",
    '\\"\\u0041',
    "\x7f\x1b[0m",
    "x" * 200_000,
    "\u00e9" * 200_000,
]


@pytest.mark.parametrize("state", STATES, ids=range(len(STATES)))
@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize("escaped", [False, True])
def test_request_state_comes_back_byte_for_byte(state: str, stream: bool, escaped: bool) -> None:
    """MR-3"""
    asked = {"resultType": "input_required", "requestState": state}

    def step(post: Post) -> Answer:
        message = {"jsonrpc": "2.0", "id": post.id, "result": asked}
        text = json.dumps(message, ensure_ascii=escaped)
        if not stream:
            return raw_json(text)
        return Answer(f"data: {text}\n\n".encode(), headers={"content-type": "text/event-stream"})

    with scripted(step) as (url, server):
        got = leg(url).result["requestState"]
        assert got == state
        leg(url, call(requestState=got))
    assert server.posts[0].params.get("requestState") is None
    assert "requestState" not in server.posts[0].params
    assert server.posts[1].params["requestState"] == state
    assert json.dumps(state, ensure_ascii=False).encode() in server.posts[1].raw


@pytest.mark.parametrize(
    ("method", "params", "header"),
    [
        ("prompts/get", {"name": "p", "arguments": {"n": 1}}, "p"),
        ("resources/read", {"uri": "trip://a b/%7E?q#f"}, "trip://a b/%7E?q#f"),
        ("resources/read", {"uri": "HTTP://Host/"}, "HTTP://Host/"),
        ("tools/call", {"name": "caf\u00e9"}, "=?base64?Y2Fmw6k=?="),
        ("tools/call", {"name": " x"}, "=?base64?IHg=?="),
        ("tools/call", {"name": "a\r\nb: c"}, "=?base64?YQ0KYjogYw==?="),
        ("tools/call", {"name": "=?base64?eA==?="}, "=?base64?PT9iYXNlNjQ/ZUE9PT89?="),
    ],
)
def test_every_method_and_its_name_header(method: str, params: dict[str, Any], header: str) -> None:
    """HT-4, HT-5"""
    with scripted(lambda post: result(post, {"any": "thing"})) as (url, server):
        assert leg(url, Call(method, params, {})).result == {"any": "thing"}
    (post,) = server.posts
    assert (post.headers["mcp-method"], post.headers["mcp-name"]) == (method, header)
    assert {name: value for name, value in post.params.items() if name != "_meta"} == params


def schema(**headers: str) -> dict[str, Any]:
    properties = {name: {"type": "string", "x-mcp-header": header} for name, header in headers.items()}
    return {"type": "object", "properties": properties}


def test_param_headers_come_from_the_stored_schema() -> None:
    """HT-6"""
    stored = schema(city="City", note="Note", gone="Gone", empty="Empty")
    stored["properties"]["nights"] = {"type": "integer", "x-mcp-header": "Nights"}
    stored["properties"]["deep"] = schema(flag="Flag")
    stored["properties"]["deep"]["properties"]["flag"]["type"] = "boolean"
    arguments = {"city": "Lyon", "note": "\u00fc", "empty": None, "nights": 2, "deep": {"flag": True}}
    sent = Call("tools/call", {"name": "x", "arguments": arguments}, {}, stored)
    with scripted(lambda post: result(post, DONE)) as (url, server):
        leg(url, sent)
    found = {name: value for name, value in server.posts[0].headers.items() if name.startswith("mcp-param-")}
    assert found == {
        "mcp-param-city": "Lyon",
        "mcp-param-note": "=?base64?w7w=?=",
        "mcp-param-nights": "2",
        "mcp-param-flag": "true",
    }


def test_a_schema_with_a_bad_header_sends_none() -> None:
    sent = Call("tools/call", {"name": "x", "arguments": {"a": "1", "b": "2"}}, {}, schema(a="A", b="a"))
    with scripted(lambda post: result(post, DONE)) as (url, server):
        leg(url, sent)
    assert not [name for name in server.posts[0].headers if name.startswith("mcp-param-")]


def deep(levels: int) -> Any:
    value: Any = 1
    for _ in range(levels):
        value = [value]
    return value


@pytest.mark.parametrize(
    "params",
    [
        {"name": "x", "arguments": {"a": "\ud800"}},
        {"name": "\ud800"},
        {"name": "x", "requestState": "\udfff"},
        {"name": "x", "arguments": {"a": float("nan")}},
        {"name": "x", "arguments": {"a": deep(100_000)}},
        {"name": "x", "arguments": {"a": deep(600)}},
        {"name": "x", "arguments": {"a": b"bytes"}},
    ],
    ids=range(7),
)
def test_what_cannot_be_written_is_not_sent(params: dict[str, Any]) -> None:
    with scripted(lambda post: result(post, DONE)) as (url, server):
        found = outcome(send(endpoint(url), Call("tools/call", params, {}), LIMITS))
    assert repr(found) == "Unsent('unsendable')"
    assert server.posts == []


# What comes back


RAW = [
    {"content": []},
    {"resultType": "complete", "content": [{"type": "from the future"}], "huge": 2**70, "f": 1.0},
    {"resultType": "weird"},
    {"resultType": "input_required", "content": [], "inputRequests": {}, "requestState": None},
    {"resultType": "input_required", "inputRequests": {"z": 5, "a": {"method": "un/known"}, "": {}}},
    {"resultType": "input_required"},
    {"resultType": None, "structuredContent": {"b": 1, "a": 2}},
    {},
]


@pytest.mark.parametrize("value", RAW, ids=range(len(RAW)))
@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize("method", ["tools/call", "prompts/get", "resources/read"])
def test_results_come_raw_whatever_they_are(value: dict[str, Any], stream: bool, method: str) -> None:
    """HT-2"""

    def step(post: Post) -> Answer:
        return events({"jsonrpc": "2.0", "id": post.id, "result": value}) if stream else result(post, value)

    with scripted(step) as (url, _):
        reply = leg(url, Call(method, {"name": "x", "uri": "a:b"}, {}))
    assert json.dumps(reply.result) == json.dumps(value)


def test_a_result_counts_at_any_status() -> None:
    with scripted(lambda post: result(post, DONE, status=500)) as (url, _):
        assert leg(url).result == DONE


def test_progress_arrives_in_order_under_our_string_id() -> None:
    """HT-9, PR-1, LO-1"""

    def note(post: Post, **params: Any) -> dict[str, Any]:
        progress = {"progressToken": post.id} | params
        return {"jsonrpc": "2.0", "method": "notifications/progress", "params": progress}

    def step(post: Post) -> Answer:
        return events(
            note(post, progress=1, total=3, message="one"),
            note(post, progress=1.5),
            note(post, progress="2"),
            note(post, progress=True),
            note(post, progress=10**400),
            note(post, progress=9, progressToken="another"),
            note(post, progress=2, total="x", message=5),
            {"jsonrpc": "2.0", "method": "notifications/message", "params": {"data": "x"}},
            {"jsonrpc": "2.0", "method": "notifications/progress"},
            {"jsonrpc": "2.0", "id": post.id, "result": DONE},
            prefix=": ping\n\nid: 7\nretry: 1\ndata:\n\nevent: other\ndata: x\n\n",
        )

    seen: list[Progress] = []
    with scripted(step) as (url, server):
        assert leg(url, on_progress=seen.append).result == DONE
    assert seen == [Progress(1, 3, "one"), Progress(1.5, None, None), Progress(2, None, None)]
    assert len(server.posts) == 1


@pytest.mark.parametrize("status", [200, 400, 404, 500, 503])
def test_a_json_rpc_error_is_refused_with_its_text_out_of_sight(status: int) -> None:
    """ER-3"""
    with scripted(lambda post: error(post, -32602, {"a": CANARY}, status, CANARY)) as (url, server):
        found = outcome(send(endpoint(url), call(), LIMITS))
    assert isinstance(found, Refused)
    assert (found.code, found.message, found.data) == (-32602, CANARY, {"a": CANARY})
    assert (found.status, found.sent) == (status, (server.posts[0].json,))
    assert found.received[0]["error"]["message"] == CANARY
    assert (repr(found), str(found), found.args) == ("Refused('-32602')", "-32602", ("-32602",))


@pytest.mark.parametrize("start", ['"id":null,', ""])
def test_an_error_without_an_id_is_refused(start: str) -> None:
    found = fault(lambda post: raw_json('{"jsonrpc":"2.0",' + start + '"error":{"code":1}}'))
    assert isinstance(found, Refused) and (found.code, found.message) == (1, "")


@pytest.mark.parametrize(("status", "reason"), [(401, "unauthorized"), (403, "forbidden"), (429, "too_many")])
def test_refusals_before_the_server_acted_are_unsent(status: int, reason: str) -> None:
    """ER-3"""
    gzip = {"content-type": "application/json", "content-encoding": "gzip"}
    for step in (
        lambda post: html(status, retry_after="17"),
        lambda post: error(post, -32001, status=status),
        lambda post: result(post, DONE, status=status),
        lambda post: Answer(b"\x1f", status, gzip),
        lambda post: Answer(b"", status, {"content-type": "text/event-stream"}, "hang"),
    ):
        found = fault(step)
        assert isinstance(found, Unsent)
        assert (found.reason, found.status, repr(found)) == (reason, status, f"Unsent('{reason}')")


@pytest.mark.parametrize(
    ("text", "seconds"),
    [("17", 17), ("0", 0), ("9" * 11, 604800), ("-1", None), ("soon", None), ("\u0661", None), ("", None)],
)
def test_retry_after_in_seconds(text: str, seconds: int | None) -> None:
    try:
        text.encode("latin-1")
    except UnicodeEncodeError:
        text = text.encode().decode("latin-1")
    found = fault(lambda post: html(429, retry_after=text))
    assert isinstance(found, Unsent) and found.retry_after == seconds


def test_retry_after_as_a_date() -> None:
    then = datetime.now(UTC) + timedelta(seconds=100)
    found = fault(lambda post: html(429, retry_after=format_datetime(then, usegmt=True)))
    assert isinstance(found, Unsent) and found.retry_after is not None
    assert 80 <= found.retry_after <= 100
    found = fault(lambda post: html(429, retry_after="Wed, 21 Oct 2015 07:28:00 GMT"))
    assert isinstance(found, Unsent) and found.retry_after == 0


BREACHES: list[tuple[str, Server]] = [
    ("HT-2", lambda post: html(200)),
    ("HT-2", lambda post: Answer(b"", 200, {})),
    ("HT-2", lambda post: Answer(b"", 202, {})),
    ("HT-2", lambda post: raw_json("")),
    ("HT-2", lambda post: raw_json("{")),
    ("HT-2", lambda post: raw_json("[]")),
    ("HT-2", lambda post: raw_json('"x"')),
    ("HT-2", lambda post: raw_json("{}")),
    ("HT-2", lambda post: raw_json(b'{"jsonrpc":"2.0","id":"\xff"}')),
    ("HT-2", lambda post: raw_json(json.dumps({"id": post.id, "result": DONE}))),
    ("HT-2", lambda post: raw_json(json.dumps({"jsonrpc": "1.0", "id": post.id, "result": DONE}))),
    ("HT-2", lambda post: raw_json(json.dumps({"jsonrpc": "2.0", "id": post.id, "result": 5}))),
    ("HT-2", lambda post: raw_json(json.dumps({"jsonrpc": "2.0", "id": post.id, "result": {}, "error": {}}))),
    ("HT-2", lambda post: raw_json(json.dumps({"jsonrpc": "2.0", "id": post.id}))),
    ("HT-2", lambda post: raw_json(json.dumps({"jsonrpc": "2.0", "id": post.id, "error": "x"}))),
    ("HT-2", lambda post: raw_json(json.dumps({"jsonrpc": "2.0", "id": post.id, "error": {"code": True}}))),
    ("HT-2", lambda post: raw_json('{"jsonrpc":"2.0","method":"notifications/progress"}')),
    ("HT-2", lambda post: result(post, {"a": deep(500)})),
    ("HT-2", lambda post: result(post, {"requestState": "\ud800"})),
    ("HT-2", lambda post: result(post, {"a": float("nan")})),
    ("HT-2", lambda post: raw_json(f'{{"jsonrpc":"2.0","id":"{post.id}","result":{{"a":[1e999]}}}}')),
    ("HT-2", lambda post: raw_json(f'{{"jsonrpc":"2.0","id":"{post.id}","result":{{"a":-{"9" * 400}.5}}}}')),
    ("HT-2", lambda post: events({"jsonrpc": "2.0", "id": post.id, "result": {"a": "\udfff"}})),
    ("HT-2", lambda post: events("x", then="hang")),
    ("HT-9", lambda post: events({"jsonrpc": "2.0", "id": 1, "method": "roots/list"}, then="hang")),
    ("BA-1", lambda post: raw_json(json.dumps({"jsonrpc": "2.0", "id": "foreign", "result": DONE}))),
    ("BA-1", lambda post: raw_json(json.dumps({"jsonrpc": "2.0", "id": 1, "result": DONE}))),
    ("BA-1", lambda post: raw_json(json.dumps({"jsonrpc": "2.0", "id": [], "result": DONE}))),
    ("BA-1", lambda post: raw_json(json.dumps({"jsonrpc": "2.0", "id": None, "result": DONE}))),
    ("BA-1", lambda post: raw_json(json.dumps({"jsonrpc": "2.0", "result": DONE}))),
    ("BA-1", lambda post: raw_json(json.dumps({"jsonrpc": "2.0", "id": 1, "error": {"code": 1}}))),
    ("BA-1", lambda post: events({"jsonrpc": "2.0", "id": "foreign", "result": DONE})),
    ("BA-1", lambda post: events({"jsonrpc": "2.0", "id": "foreign", "result": DONE}, then="hang")),
    ("HT-400", lambda post: html(400)),
    ("HT-404", lambda post: html(404)),
    ("HT-404", lambda post: raw_json("{}", 404)),
    ("HT-405", lambda post: Answer(b"", 405, {})),
    ("HT-415", lambda post: Answer(b"\x1f", 415, {"content-encoding": "gzip"})),
    ("HT-301", lambda post: html(301, location="/mcp")),
    ("HT-302", lambda post: html(302, location="/mcp")),
    ("HT-307", lambda post: html(307, location="http://127.0.0.2:1/mcp")),
    ("HT-308", lambda post: html(308, location="https://example.com/mcp")),
    ("HT-304", lambda post: Answer(b"", 304, {})),
]


@pytest.mark.parametrize(("rule", "step"), BREACHES, ids=range(len(BREACHES)))
def test_breaches_are_recognised_at_once(rule: str, step: Server) -> None:
    """BA-1, HT-9, T-35"""
    with scripted(step) as (url, server):
        found = outcome(send(endpoint(url), call(), LIMITS))
    assert repr(found) == f"Broken('{rule}')"
    assert isinstance(found, Broken) and found.rule == rule
    assert found.sent == (server.posts[0].json,)
    assert found.received == ()
    assert len(server.posts) == 1


def test_a_redirect_within_the_origin_is_followed_with_the_same_message() -> None:
    with scripted(lambda post: html(307, location="mcp/"), lambda post: result(post, DONE)) as (url, server):
        reply = leg(url)
    assert [post.path for post in server.posts] == ["/mcp", "/mcp/"]
    assert server.posts[0].raw == server.posts[1].raw
    assert len(reply.sent) == 1


LOSSES: list[tuple[str, Server]] = [
    ("server_error", lambda post: html(500)),
    ("server_error", lambda post: raw_json('{"jsonrpc":"2.0"}', 502)),
    ("server_error", lambda post: Answer(b"\x1f", 503, {"content-encoding": "gzip"})),
    ("cut", lambda post: Answer(b'{"jsonrpc":', then="cut")),
    ("cut", lambda post: Answer(b"data: {", 200, {"content-type": "text/event-stream"}, "cut")),
    ("cut", lambda post: events()),
    ("cut", lambda post: events(prefix="id: 1\nretry: 1\ndata:\n\n")),
    ("cut", lambda post: events({"jsonrpc": "2.0", "method": "notifications/progress"})),
    (
        "encoding",
        lambda post: Answer(b"\x1f", headers={"content-encoding": "gzip", "content-type": "application/json"}),
    ),
    ("too_big", lambda post: result(post, {"a": "x" * 10_000})),
    ("too_big", lambda post: events({"jsonrpc": "2.0", "id": post.id, "result": {"a": "x" * 10_000}})),
    ("too_big", lambda post: events(*[{"jsonrpc": "2.0", "method": "n/x"}] * 300, then="hang")),
    (
        "too_big",
        lambda post: Answer(b"data: " + b"x" * 10_000, 200, {"content-type": "text/event-stream"}, "hang"),
    ),
    ("timeout", lambda post: Answer(b'{"jsonrpc"', then="hang")),
    ("timeout", lambda post: events(then="hang")),
]


@pytest.mark.parametrize(("reason", "step"), LOSSES, ids=range(len(LOSSES)))
def test_a_leg_that_breaks_after_it_was_sent_is_lost(reason: str, step: Server) -> None:
    """HT-10, CA-1, T-35"""
    with scripted(step) as (url, server):
        found = outcome(send(endpoint(url), call(), QUICK))
    assert repr(found) == f"Lost('{reason}')"
    assert isinstance(found, Lost) and found.reason == reason
    assert found.sent == (server.posts[0].json,)
    assert len(server.posts) == 1  # and no stream is opened again


@pytest.mark.parametrize("value", [[{}] * 500_000, [[1, 2]] * 200_000, {str(n): n for n in range(510_000)}])
def test_more_values_than_anybody_can_look_at_are_too_big(value: Any) -> None:
    """T-35: 15 MB of them would take 2.7 GB of memory, and 20 s of the process."""
    with scripted(lambda post: result(post, {"structuredContent": value})) as (url, _):
        found = outcome(send(endpoint(url), call(), replace(LIMITS, max_bytes=2**24)))
    assert repr(found) == "Lost('too_big')"


@pytest.mark.parametrize("text", [",[{" * 1_000_000, 'a\\",[' * 500_000])
def test_texts_may_hold_as_many_commas_as_they_like(text: str) -> None:
    with scripted(lambda post: result(post, DONE | {"text": text})) as (url, _):
        found = run(send(endpoint(url), call(), replace(LIMITS, max_bytes=2**24)))
    assert found.result["text"] == text


def test_a_text_without_an_end_is_looked_through_once() -> None:
    """T-35: to look from each of its 120,000 quotation marks to its end would hold up the whole process."""
    began = time.monotonic()
    with scripted(lambda post: raw_json("," * 500_001 + '"' + '\\"' * 120_000)) as (url, _):
        assert repr(outcome(send(endpoint(url), call(), LIMITS))) == "Lost('too_big')"
    assert time.monotonic() - began < BOUND


def test_the_total_time_is_bounded_though_the_stream_stays_alive() -> None:
    """CA-1"""
    limits = Limits(connect=5, silence=5, total=0.4, max_bytes=1000)
    with scripted(lambda post: events(then="hang")) as (url, server):
        assert repr(outcome(send(endpoint(url), call(), limits))) == "Lost('timeout')"
        assert server.gone.wait(BOUND)


@pytest.mark.parametrize(
    "params",
    [
        '{"progress":1e400}',
        '{"progress":NaN}',
        '{"progress":' + "9" * 5000 + "}",
        '{"message":"\\ud800"}',
        "[-Infinity]",
    ],
)
def test_a_notification_that_is_no_json_ends_no_call(params: str) -> None:
    def step(post: Post) -> Answer:
        odd = f'data: {{"jsonrpc":"2.0","method":"notifications/progress","params":{params}}}\n\n'
        return events({"jsonrpc": "2.0", "id": post.id, "result": DONE}, prefix=odd)

    with scripted(step) as (url, _server):
        assert leg(url).result == DONE


def test_progress_ends_no_silence_too_late_and_extends_the_total_time_by_nothing() -> None:
    """CA-1: a server that reports progress for ever is left when the total time is over, and not before."""

    async def restless(scope: Scope, receive: Receive, send_back: Send) -> None:
        token = scope["mrtr.post"].meta["progressToken"]
        told = {"jsonrpc": "2.0", "method": "notifications/progress"}
        headers = [(b"content-type", b"text/event-stream")]
        await send_back({"type": "http.response.start", "status": 200, "headers": headers})
        for done in itertools.count():
            params = {"progressToken": token, "progress": done}
            event = f"data: {json.dumps(told | {'params': params})}\n\n".encode()
            await send_back({"type": "http.response.body", "body": event, "more_body": True})
            await asyncio.sleep(0.05)

    limits = Limits(connect=5, silence=0.4, total=1, max_bytes=100_000)
    heard: list[Progress] = []
    with serve(Recorder(restless), lifespan="off") as base:
        began = time.monotonic()
        assert repr(outcome(send(endpoint(base), call(), limits, heard.append))) == "Lost('timeout')"
        assert 0.9 < time.monotonic() - began < 2.5
    assert len(heard) >= 5


def test_a_handshake_that_hangs_is_unsent_after_the_time_to_connect() -> None:
    limits = Limits(connect=0.3, silence=5, total=10, max_bytes=1000)
    with socket.create_server(("127.0.0.1", 0)) as mute:
        began = time.monotonic()
        found = outcome(send(endpoint(f"https://127.0.0.1:{mute.getsockname()[1]}/"), call(), limits))
        assert (repr(found), time.monotonic() - began < 2) == ("Unsent('connect_timeout')", True)


def test_cancelling_closes_the_stream() -> None:
    """HT-12"""

    async def cancelled(url: str, server: Recorder) -> None:
        task = asyncio.create_task(send(endpoint(url), call(), LIMITS))
        await asyncio.to_thread(server.arrived.wait, BOUND)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    with scripted(lambda post: events(then="hang")) as (url, server):
        run(cancelled(url, server))
        assert server.gone.wait(BOUND)
    assert len(server.posts) == 1


def test_what_never_reached_the_server_is_unsent() -> None:
    with scripted(lambda post: result(post, DONE)) as (url, server):
        tls = url.replace("http:", "https:")
        cases = {
            "refused": Endpoint(f"http://127.0.0.1:{free_port()}/", private=PRIVATE),
            "dns": Endpoint("http://a..b/", private=PRIVATE),
            "tls": Endpoint(tls, private=PRIVATE),
            "blocked": Endpoint(tls),
            "unsendable": Endpoint(url, {"Authorization": "a\r\nb"}, private=PRIVATE),
        }
        for reason, target in cases.items():
            found = outcome(send(target, call(), LIMITS))
            assert isinstance(found, Unsent) and found.reason == reason
            assert (repr(found), found.status) == (f"Unsent('{reason}')", None)
        for bad in (Endpoint(url), Endpoint(url.replace("//", "//u:p@"), private=PRIVATE)):
            assert repr(outcome(send(bad, call(), LIMITS))) == "Unsent('blocked')"
        for bad in (
            Endpoint("http://127.0.0.1:99999/", private=PRIVATE),
            Endpoint(url, {"A": "\u2028"}, private=PRIVATE),
        ):
            assert repr(outcome(send(bad, call(), LIMITS))) == "Unsent('unsendable')"
        assert repr(outcome(send(Endpoint(url, None, PRIVATE), call(), LIMITS))) == "Unsent('credential')"
    assert server.posts == []


def test_cookies_do_not_reach_the_next_leg() -> None:
    async def twice(url: str) -> None:
        for _ in range(2):
            await send(endpoint(url), call(), LIMITS)

    with scripted(lambda post: result(post, DONE, set_cookie="a=b")) as (url, server):
        run(twice(url))
    assert not any("cookie" in post.headers for post in server.posts)


# The two repairs


def unsupported(*versions: Any) -> Server:
    return lambda post: error(post, -32022, {"supported": list(versions), "requested": REVISION})


def test_a_server_that_mistook_our_revision_is_asked_once_more() -> None:
    """VE-1"""
    with scripted(unsupported("2025-11-25", REVISION), lambda post: result(post, DONE)) as (url, server):
        reply = leg(url)
    first, second = server.posts
    assert first.id != second.id
    assert first.params["name"] == second.params["name"]
    assert reply.sent == (first.json, second.json)
    assert [sorted(message) for message in reply.received] == [
        ["error", "id", "jsonrpc"],
        ["id", "jsonrpc", "result"],
    ]


def test_and_only_once() -> None:
    with scripted(unsupported(REVISION)) as (url, server):
        found = outcome(send(endpoint(url), call(), LIMITS))
    assert repr(found) == "Refused('-32022')"
    assert len(server.posts) == len(found.sent) == len(found.received) == 2


@pytest.mark.parametrize("data", [None, {}, {"supported": "x"}, {"supported": ["2025-11-25"]}, []])
def test_a_server_without_our_revision_is_a_legacy_server(data: Any) -> None:
    """VE-1"""
    with scripted(lambda post: error(post, -32022, data)) as (url, server):
        for coroutine in (
            send(endpoint(url), call(), LIMITS),
            discover(endpoint(url), LIMITS),
            listing(endpoint(url), LIMITS, "tools/list"),
        ):
            assert repr(outcome(coroutine)) == "LegacyServer()"
    assert len(server.posts) == 3


def header_server(fresh: dict[str, Any]) -> Server:
    """Wants Mcp-Param-Region, which the tool's schema says since today."""

    def step(post: Post) -> Answer:
        if post.json["method"] == "tools/list":
            return result(post, {"tools": [{"name": "other"}, {"name": "x", "inputSchema": fresh}]})
        if post.headers.get("mcp-param-region") == "North":
            return result(post, DONE)
        return error(post, -32020)

    return step


def test_refused_headers_are_repaired_with_the_tool_s_new_schema() -> None:
    """HT-8, T-34"""
    sent = Call("tools/call", {"name": "x", "arguments": {"region": "North"}}, FORM_ONLY, schema(region="Area"))
    with scripted(header_server(schema(region="Region"))) as (url, server):
        reply = leg(url, sent)
    assert server.methods == ["tools/call", "tools/list", "tools/call"]
    assert reply.result == DONE
    assert reply.sent == tuple(post.json for post in server.posts)
    assert len({post.id for post in server.posts}) == 3
    assert all(post.meta["io.modelcontextprotocol/clientCapabilities"] == FORM_ONLY for post in server.posts)


def test_headers_are_repaired_only_once() -> None:
    """HT-8"""
    with scripted(header_server(schema(region="Wrong"))) as (url, server):
        found = outcome(send(endpoint(url), call(arguments={"region": "North"}), LIMITS))
    assert repr(found) == "Refused('-32020')"
    assert server.methods == ["tools/call", "tools/list", "tools/call"]


@pytest.mark.parametrize("listed", [lambda post: html(500), lambda post: result(post, {"tools": []})])
def test_headers_that_cannot_be_repaired_stay_refused(listed: Server) -> None:
    with scripted(lambda post: error(post, -32020), listed) as (url, server):
        found = outcome(send(endpoint(url), call(), LIMITS))
    assert repr(found) == "Refused('-32020')"
    assert (found.status, server.methods) == (400, ["tools/call", "tools/list"])


def test_only_tools_have_headers_to_repair() -> None:
    with scripted(lambda post: error(post, -32020)) as (url, server):
        assert repr(outcome(send(endpoint(url), Call("prompts/get", {"name": "p"}, {}), LIMITS))) == "Refused('-32020')"
    assert server.methods == ["prompts/get"]


# Discovery and listings


def test_discover() -> None:
    """VE-2"""
    found = {"supportedVersions": ["2025-11-25", REVISION], "capabilities": {}, "other": 1.0}
    with scripted(lambda post: result(post, found)) as (url, server):
        assert run(discover(endpoint(url), LIMITS)) == found
        run(discover(endpoint(url), LIMITS, capabilities=FORM_ONLY))
    assert server.methods == ["server/discover"] * 2
    declared = [post.meta["io.modelcontextprotocol/clientCapabilities"] for post in server.posts]
    assert declared == [CAPABILITIES, FORM_ONLY]
    assert server.posts[0].headers["mcp-method"] == "server/discover"
    assert "mcp-name" not in server.posts[0].headers


DISCOVERY: list[tuple[str, Server]] = [
    ("LegacyServer()", lambda post: html(400)),
    ("LegacyServer()", lambda post: html(404)),
    ("LegacyServer()", lambda post: Answer(b"", 405, {})),
    ("LegacyServer()", lambda post: raw_json('{"error": "no session"}', 400)),
    ("LegacyServer()", lambda post: error(post, -32601, status=404)),
    ("LegacyServer()", lambda post: error(post, -32600)),
    ("LegacyServer()", lambda post: error(post, -32000, status=200)),
    (
        "LegacyServer()",
        lambda post: raw_json('{"jsonrpc":"2.0","id":"server-error","error":{"code":-32600}}', 400),
    ),
    ("LegacyServer()", lambda post: result(post, {"supportedVersions": ["2025-11-25"]})),
    ("Broken('VE-2')", lambda post: result(post, {})),
    ("Broken('HT-2')", lambda post: html(200)),
    ("Broken('HT-302')", lambda post: html(302, location="/login")),
    ("Refused('-32021')", lambda post: error(post, -32021)),
    ("Refused('-32603')", lambda post: error(post, -32603, status=200)),
    ("Refused('-32601')", lambda post: error(post, -32601, status=500)),
    ("Unsent('unauthorized')", lambda post: error(post, -32600, status=401)),
    ("Unsent('forbidden')", lambda post: html(403)),
    ("Unsent('too_many')", lambda post: html(429)),
    ("Lost('server_error')", lambda post: html(502)),
]


@pytest.mark.parametrize(("expected", "step"), DISCOVERY, ids=range(len(DISCOVERY)))
def test_what_discovery_makes_of_refusals(expected: str, step: Server) -> None:
    """VE-4, ER-1"""
    with scripted(step) as (url, server):
        found = outcome(discover(endpoint(url), LIMITS))
    assert repr(found) == expected
    assert found.sent == (server.posts[0].json,)


@pytest.mark.parametrize(
    ("method", "key"),
    [
        ("tools/list", "tools"),
        ("prompts/list", "prompts"),
        ("resources/list", "resources"),
        ("resources/templates/list", "resourceTemplates"),
    ],
)
def test_a_listing_reads_all_pages(method: str, key: str) -> None:
    """PG-1"""
    pages = {
        None: ([{"name": "a", "x": 1.0}, 5], ""),
        "": ([{}], " c\u2028"),
        " c\u2028": ([{"name": "b"}], None),
    }

    def step(post: Post) -> Answer:
        entries, cursor = pages[post.params.get("cursor")]
        return result(post, {key: entries} | ({} if cursor is None else {"nextCursor": cursor}))

    with scripted(step) as (url, server):
        found = run(listing(endpoint(url), LIMITS, method))
    assert found.entries == [{"name": "a", "x": 1.0}, 5, {}, {"name": "b"}]
    assert [post.params.get("cursor", None) for post in server.posts] == [None, "", " c\u2028"]
    assert "cursor" not in server.posts[0].params
    assert len({post.id for post in server.posts}) == 3


def test_a_listing_without_end_is_read_until_there_is_more_than_is_kept() -> None:
    def step(post: Post) -> Answer:
        return result(post, {"tools": [{"name": "t"}] * 600, "nextCursor": post.id})

    with scripted(step) as (url, server):
        assert len(run(listing(endpoint(url), LIMITS, "tools/list")).entries) == 1001
    assert len(server.posts) == 2


NO_ENTRIES = [
    '{"name":"b","inputSchema":{"minimum":1e400}}',
    '{"name":"b","inputSchema":{"maximum":%s}}' % ("9" * 4999),
    '{"name":"b","title":"\\ud800"}',
    '{"name":"b","x":%s}' % ("[" * 50_000 + "]" * 50_000),
    '{"name":"b","x":%s}' % ('{"a":' * 197 + "[]" + "}" * 197),
    '{"name":"b","x":NaN}',
    '{"name":b}',
    "{]",
    "-1e400",
    '"\\udfff ,]"',
]


@pytest.mark.parametrize("entry", NO_ENTRIES, ids=range(len(NO_ENTRIES)))
@pytest.mark.parametrize("stream", [False, True])
def test_an_entry_of_a_listing_that_cannot_be_read_hides_only_itself(entry: str, stream: bool) -> None:
    """HT-2, LIST-ENTRY"""

    def step(post: Post) -> Answer:
        good = '{"name":"good","title":"[a, {b]\\""}'
        text = f'{{"jsonrpc":"2.0","id":"{post.id}","result":{{"tools":[{good} , {entry},{good},{entry} ],"ttlMs":5}}}}'
        return events(prefix=f"data: {text}\n\n") if stream else raw_json(text)

    with scripted(step) as (url, _):
        found = run(listing(endpoint(url), LIMITS, "tools/list"))
    good = {"name": "good", "title": '[a, {b]"'}
    assert found.entries == [good, None, good, None]


def test_a_listing_of_any_number_of_entries_that_cannot_be_read_takes_little_time() -> None:
    def step(post: Post) -> Answer:
        entries = "1e400," * 300_000
        return raw_json(f'{{"jsonrpc":"2.0","id":"{post.id}","result":{{"tools":[1,{entries}2]}}}}')

    with scripted(step) as (url, _):
        found = run(listing(endpoint(url), LIMITS, "tools/list"))
    assert found.entries == [1] + [None] * 1000


def counting(post: Post) -> Answer:
    return result(post, {"tools": [], "nextCursor": str(int(post.params.get("cursor", "0")) + 1)})


LISTINGS: list[tuple[str, Server, int]] = [
    ("Broken('PG-1')", lambda post: result(post, {"tools": [], "nextCursor": "x"}), 2),
    ("Broken('PG-1')", lambda post: result(post, {"tools": [], "nextCursor": 5}), 1),
    ("Broken('PG-1')", counting, 100),
    ("Broken('PG-1')", lambda post: result(post, {"tools": {}}), 1),
    ("Broken('MR-11')", lambda post: result(post, {"resultType": "input_required", "requestState": "x"}), 1),
    ("Refused('-32601')", lambda post: error(post, -32601, status=404), 1),
    ("Broken('HT-2')", lambda post: raw_json(f'{{"jsonrpc":"2.0","id":"{post.id}","result":{{"tools":[1,2,'), 1),
    ("Broken('HT-2')", lambda post: raw_json(f'{{"jsonrpc":"2.0","id":"{post.id}","result":{{"tools":[1,]}}}}'), 1),
    ("Broken('HT-2')", lambda post: result(post, {"tools": [], "nextCursor": "\ud800"}), 1),
    (
        "Lost('too_big')",
        lambda post: result(post, {"tools": [{"a": "x" * 800_000}], "nextCursor": post.id}),
        3,
    ),
]


@pytest.mark.parametrize(("expected", "step", "pages"), LISTINGS, ids=range(len(LISTINGS)))
def test_listings_that_cannot_be_read(expected: str, step: Server, pages: int) -> None:
    """PG-1"""
    with scripted(step) as (url, server):
        assert repr(outcome(listing(endpoint(url), LIMITS, "tools/list"))) == expected
    assert len(server.posts) == pages


# Silence


@pytest.fixture
def loud() -> Iterator[list[str]]:
    """Every logger there is at DEBUG: what reaches the root's handlers."""
    lines: list[str] = []

    class Keep(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            lines.append(logging.Formatter().format(record))

    keep = Keep()
    found = [logging.getLogger(), *map(logging.getLogger, list(logging.root.manager.loggerDict))]
    levels = [logger.level for logger in found]
    logging.root.addHandler(keep)
    for logger in found:
        logger.setLevel(logging.DEBUG)
    yield lines
    logging.root.removeHandler(keep)
    for logger, level in zip(found, levels, strict=True):
        logger.setLevel(level)


NOISES: list[Server] = [
    lambda post: result(post, {"content": CANARY}),
    lambda post: error(post, -32602, {"a": CANARY}, 400, CANARY),
    lambda post: error(post, -32022, {"supported": [CANARY]}, 400, CANARY),
    lambda post: raw_json(CANARY),
    lambda post: events(CANARY),
    lambda post: events({"jsonrpc": "2.0", "id": CANARY, "result": {}}),
    lambda post: events({"jsonrpc": "2.0", "method": CANARY, "params": {CANARY: CANARY}}, then="cut"),
    lambda post: Answer(CANARY.encode(), 500, {"content-type": "text/plain"}),
    lambda post: html(307, location=f"https://{CANARY}.example/"),
    lambda post: result(post, {CANARY: CANARY * 2_000}),
    lambda post: events({"jsonrpc": "2.0", "method": CANARY}, then="hang"),
]


def test_no_content_is_ever_logged_or_put_into_an_exception(loud: list[str], capfd: Any) -> None:
    sent = Call("tools/call", {"name": "x", "arguments": {"a": CANARY}, "requestState": CANARY}, {})
    bad = Endpoint("http://127.0.0.1:1/", {"Authorization": f"{CANARY}\u2028"}, private=PRIVATE)
    raised = [outcome(send(bad, sent, QUICK))]
    for step in NOISES:
        with scripted(step) as (url, _):
            target = Endpoint(f"{url}?token={CANARY}", {"Authorization": CANARY}, private=PRIVATE)
            try:
                run(send(target, sent, QUICK, lambda progress: None))
            except RelayError as one:
                raised.append(one)
    assert len(raised) == len(NOISES)
    for found in raised:
        assert CANARY not in f"{found} {found!r} {found.args}"
        assert found.__cause__ is None
        assert found.__suppress_context__ or found.__context__ is None
    gc.collect()
    assert [line for line in loud if CANARY in line] == []
    assert CANARY not in "".join(capfd.readouterr())
