"""Rules of the wire that no other file shows: requests of every kind, retries, and what a server may not decide."""

import itertools
import time
from collections.abc import Callable
from typing import Any

import anyio
import pytest

from mrtr_web import credentials, relay
from mrtr_web.models import Flow, Server
from mrtr_web.networks import PRIVATE
from mrtr_web.relay import CAPABILITIES, REVISION, Call, Endpoint, Limits
from tests.desk import asks, calls, desk, done, tools
from tests.person import Person
from tests.servers import BOUND, Post, Receive, Recorder, Scope, Send, Step, error, result, run, scripted, serve
from tests.test_completion import LISTINGS, ask, suggesting
from tests.test_field_notes import progress
from tests.test_kinds import FORM, begin, send

pytestmark = pytest.mark.django_db(transaction=True)

LIMITS = Limits(connect=5, silence=5, total=10, max_bytes=1_000_000)
PROMPTS_AND_RESOURCES = LISTINGS | {
    "resources/list": {"resultType": "complete", "resources": [{"uri": "note://größe", "name": "Notes"}]},
}
GOT: Step = lambda post: result(  # noqa: E731
    post, {"resultType": "complete", "messages": [{"role": "user", "content": {"type": "text", "text": "Hello"}}]}
)
READ: Step = lambda post: result(  # noqa: E731
    post, {"resultType": "complete", "contents": [{"uri": "note://größe", "text": "A note"}]}
)


def start(person: Person, path: str, **filled: str) -> None:
    person.get(path)
    for label, value in filled.items():
        person.fill(label, value)
    person.press("Start")
    person.until("waiting", "completed", "failed")


def lets_in_with(variable: str) -> None:
    found = Server.objects.get()
    credentials.refer(found, "bearer", "env", variable)
    found.save()


def test_requests_of_every_kind_carry_the_same_and_retries_repeat_their_own(
    person: Person, server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    """MR-8, MR-10, MR-11, BA-1, BA-2, BA-3, HT-1, HT-2, HT-3, HT-4, HT-5, HT-10, AZ-10: also what is not a tool."""
    monkeypatch.setenv("DEMO_TOKEN", "t0ken")
    steps = (suggesting("Lyon"), asks("s1"), GOT, asks("s2"), READ)
    with desk(server, *steps, listings=PROMPTS_AND_RESOURCES) as recorder:
        lets_in_with("DEMO_TOKEN")
        person.get("/s/demo/")
        person.get("/s/demo/prompts/greet/")
        ask(person)
        start(person, "/s/demo/prompts/greet/", city="Lyon")
        send(person, Name="Ada")
        start(person, "/s/demo/resources/?uri=note%3A%2F%2Fgr%C3%B6%C3%9Fe")
        send(person, Name="Ida")
    posts = recorder.posts
    assert recorder.methods == [
        "server/discover",
        "prompts/list",
        "resources/list",
        "resources/templates/list",
        "completion/complete",
        *["prompts/get"] * 2,
        *["resources/read"] * 2,
    ]
    assert {(post.method, post.path, post.json["jsonrpc"]) for post in posts} == {("POST", "/mcp", "2.0")}
    assert all(isinstance(post.id, str) for post in posts) and len({post.id for post in posts}) == len(posts)
    for post in posts:
        assert post.raw.decode("utf-8")
        assert post.meta == {
            "io.modelcontextprotocol/protocolVersion": "2026-07-28",
            "io.modelcontextprotocol/clientInfo": {"name": "mrtr_web", "version": "0.1.0"},
            "io.modelcontextprotocol/clientCapabilities": {"elicitation": {"form": {}, "url": {}}},
            "progressToken": post.id,
        }
        assert {name: post.headers[name] for name in ("authorization", "content-type", "accept")} == {
            "authorization": "Bearer t0ken",
            "content-type": "application/json",
            "accept": "application/json, text/event-stream",
        }
        assert post.headers["mcp-protocol-version"] == "2026-07-28"
        assert post.headers["mcp-method"] == post.json["method"]
        assert not {"cookie", "mcp-session-id", "last-event-id"} & post.headers.keys()
    named = "=?base64?bm90ZTovL2dyw7bDn2U=?="
    assert [post.headers.get("mcp-name") for post in posts] == [*[None] * 5, "greet", "greet", named, named]
    _assert_retry_repeats(posts[5], posts[6], {"name": "greet", "arguments": {"city": "Lyon"}}, "Ada", "s1")
    _assert_retry_repeats(posts[7], posts[8], {"uri": "note://größe"}, "Ida", "s2")


def _assert_retry_repeats(first: Post, retry: Post, params: dict[str, Any], name: str, state: str) -> None:
    answered = {"who": {"action": "accept", "content": {"name": name}}}
    assert first.params == params | {"_meta": first.meta}
    assert retry.params == params | {"inputResponses": answered, "requestState": state, "_meta": retry.meta}


def test_a_retry_mirrors_the_same_arguments_in_the_same_headers(person: Person, server: Server) -> None:
    """MR-10, HT-5, HT-6: what is absent has no header; nothing of the answers is mirrored."""

    def mirrored(kind: str, title: str) -> dict[str, Any]:
        return {"type": kind, "title": title, "x-mcp-header": title}

    parts = {
        "topic": mirrored("string", "Topic"),
        "nights": mirrored("integer", "Nights"),
        "late": mirrored("boolean", "Late"),
        "note": mirrored("string", "Note"),
        "name": mirrored("string", "Name"),
    }
    listed = tools({"name": "frage ü", "inputSchema": {"type": "object", "properties": parts}})
    with desk(server, asks("s1", nights={"type": "integer", "title": "Other"}), done(), listings=listed) as recorder:
        person.get("/s/demo/")
        start(person, "/s/demo/tools/frage ü/", Topic="Köln", Nights="3", Late="No", Note="a\n b ")
        send(person, Other="7")
        first, retry = (_mirrors(post) for post in calls(recorder))
        assert (
            first
            == retry
            == {
                "mcp-name": "=?base64?ZnJhZ2Ugw7w=?=",
                "mcp-param-topic": "=?base64?S8O2bG4=?=",
                "mcp-param-nights": "3",
                "mcp-param-late": "false",
                "mcp-param-note": "=?base64?YQogYiA=?=",
            }
        )
        assert calls(recorder)[1].params["inputResponses"]["who"]["content"] == {"nights": 7}


def _mirrors(post: Post) -> dict[str, str]:
    return {name: value for name, value in post.headers.items() if name.startswith(("mcp-param-", "mcp-name"))}


@pytest.mark.parametrize(
    ("refusal", "between"),
    [
        (lambda post: error(post, -32022, {"supported": [REVISION], "requested": REVISION}), []),
        (lambda post: error(post, -32020), ["tools/list"]),
    ],
)
def test_a_refused_retry_is_repaired_with_the_same_answers_and_state(
    person: Person, server: Server, refusal: Step, between: list[str]
) -> None:
    """T-34, VE-1, HT-8: the server did not act, so the same goes out once more under a new id."""
    with desk(server, asks("s1"), refusal, done()) as recorder:
        begin(person)
        assert send(person, Name="Ada").state == "completed"
        assert recorder.methods[-2 - len(between) :] == ["tools/call", *between, "tools/call"]
        refused, repaired = calls(recorder)[1:]
        assert {**refused.params, "_meta": 0} == {**repaired.params, "_meta": 0}
        assert repaired.params["requestState"] == "s1"
        assert refused.id != repaired.id


@pytest.mark.parametrize(
    ("code", "status", "outcome"),
    [
        (-32700, 400, "refused:-32700"),
        (-32600, 400, "refused:-32600"),
        (-32601, 404, "refused:-32601"),
        (-32602, 200, "refused:-32602"),
        (-32603, 500, "refused:-32603"),
        (-32021, 400, "refused:-32021"),
        (-32022, 400, "legacy"),
        (-32002, 200, "refused:-32002"),
        (-32042, 200, "refused:-32042"),
    ],
)
def test_an_error_of_any_code_at_any_status_ends_the_flow_and_is_not_sent_again(
    person: Person, server: Server, code: int, status: int, outcome: str
) -> None:
    """ER-1, ER-2, ER-3, UR-9, T-3: without a state sent, -32602 says nothing of an expired step."""
    with desk(server, lambda post: error(post, code, status=status)) as recorder:
        assert begin(person).state == "failed"
        assert len(calls(recorder)) == 1
    assert Flow.objects.get().outcome == outcome


TOPIC = {"type": "object", "properties": {"topic": {"type": "string", "title": "Topic"}}}
META: list[Any] = [
    None,
    5,
    "text",
    [],
    {"progressToken": {}, "io.modelcontextprotocol/serverInfo": 5, "mcp/x": [1], "": {}},
]


@pytest.mark.parametrize("meta", META, ids=range(len(META)))
def test_whatever_a_server_puts_into_meta_changes_nothing(person: Person, server: Server, meta: Any) -> None:
    """BA-4, BA-5: in discovery, listing, round, question, content and result."""
    marked = {"_meta": meta}
    entry = {"name": "ask", "title": "Ask me", "inputSchema": TOPIC, **marked}
    listed = {name: page | marked for name, page in tools(entry).items()}
    form = FORM | {"params": {**FORM["params"], **marked}}  # type: ignore[dict-item]
    fields = {"resultType": "input_required", "inputRequests": {"who": form}, "requestState": "s"}
    content = [{"type": "text", "text": "Seen.", **marked}]
    with desk(
        server,
        lambda post: result(post, fields | marked),
        lambda post: result(post, {"resultType": "complete", "content": content} | marked),
        listings=listed,
    ) as recorder:
        assert "Ask me" in person.get("/s/demo/").text
        begin(person)
        assert "Seen." in send(person, Name="Ada").text
        assert calls(recorder)[1].meta.keys() == calls(recorder)[0].meta.keys()
        assert calls(recorder)[1].meta["progressToken"] == calls(recorder)[1].id


class Endless:
    """Tells of its progress ten times a second until the client hangs up."""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        post: Post = scope["mrtr.post"]
        await receive()
        await send({"type": "http.response.start", "status": 200, "headers": [(b"content-type", b"text/event-stream")]})
        for number in itertools.count():
            with anyio.move_on_after(0.1):
                assert (await receive())["type"] == "http.disconnect"
                return
            await send({"type": "http.response.body", "body": progress(post, number), "more_body": True})


def test_progress_keeps_a_leg_alive_but_not_beyond_its_hard_maximum() -> None:
    """CA-1, PR-1"""
    limits = Limits(connect=5, silence=1, total=2.5, max_bytes=1_000_000)
    call = Call("tools/call", {"name": "t", "arguments": {}}, dict(CAPABILITIES))
    told: list[float] = []
    recorder = Recorder(Endless())
    with serve(recorder, lifespan="off") as base:
        began = time.monotonic()
        with pytest.raises(relay.Lost, match="timeout"):
            run(relay.send(Endpoint(f"{base}/mcp", private=PRIVATE), call, limits, lambda p: told.append(p.progress)))
        assert time.monotonic() - began >= limits.total > limits.silence
        assert recorder.gone.wait(BOUND)
    assert told == [float(number) for number in range(len(told))] and told


COMPLETE = {"supportedVersions": [REVISION], "capabilities": {}, "tools": [], "completion": {"values": []}}


@pytest.mark.parametrize(
    ("method", "kind", "rule"),
    [
        ("server/discover", "input_required", "MR-11"),
        ("server/discover", "task", "MR-12"),
        ("server/discover", 5, "MR-12"),
        ("tools/list", "input_required", "MR-11"),
        ("tools/list", "task", "MR-12"),
        ("tools/list", 5, "MR-12"),
    ],
)
def test_only_a_complete_result_counts_where_nothing_may_be_asked(method: str, kind: Any, rule: str) -> None:
    """MR-11, MR-12, VE-3: whatever else it holds."""
    ask_for: dict[str, Callable[[Endpoint], Any]] = {
        "server/discover": lambda endpoint: relay.discover(endpoint, LIMITS),
        "tools/list": lambda endpoint: relay.listing(endpoint, LIMITS, "tools/list"),
    }
    step: Step = lambda post: result(post, COMPLETE | {"resultType": kind})  # noqa: E731
    with scripted(step) as (url, _), pytest.raises(relay.Broken) as caught:
        run(ask_for[method](Endpoint(url, private=PRIVATE)))
    assert caught.value.rule == rule


def test_a_missing_capability_on_a_retry_ends_the_flow_and_nothing_more_is_declared(
    person: Person, server: Server
) -> None:
    """T-34, T-40: what is declared is frozen, so there is nothing to repair."""
    refusal: Step = lambda post: error(post, -32021, {"requiredCapabilities": {"sampling": {}}})  # noqa: E731
    with desk(server, asks("s1"), refusal, done()) as recorder:
        begin(person)
        page = send(person, Name="Ada")
        assert (page.state, "sampling" in page.text, len(calls(recorder))) == ("failed", True, 2)
