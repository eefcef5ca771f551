"""Faults that other hosts had, as inputs: rounds and human timing. The rest carry their ids where they belong."""

import json
import time
from collections.abc import Callable
from urllib.parse import urlsplit

import anyio
import pytest

from mrtr_web import relay
from mrtr_web.models import Flow, Server, Session
from mrtr_web.networks import PRIVATE
from mrtr_web.relay import CAPABILITIES, Call, Endpoint, Limits
from mrtr_web.sessions import end_session
from tests.desk import asks, calls, desk, done
from tests.person import Person
from tests.servers import Answer, Post, Receive, Recorder, Scope, Send, run, scripted, serve
from tests.test_kinds import FORM, begin, send

pytestmark = pytest.mark.django_db(transaction=True)

CALL = Call("tools/call", {"name": "t", "arguments": {}}, dict(CAPABILITIES))
STREAM = {"content-type": "text/event-stream"}


def test_a_round_with_meta_is_still_a_round(person: Person, server: Server) -> None:
    """M01"""
    fields = {"resultType": "input_required", "_meta": {}, "inputRequests": {"who": FORM}, "requestState": "m"}
    answer: Callable[[Post], Answer] = lambda post: Answer(  # noqa: E731
        json.dumps({"jsonrpc": "2.0", "id": post.id, "result": fields}).encode()
    )
    with desk(server, answer, done()) as recorder:
        begin(person)
        send(person, Name="Ada")
        assert calls(recorder)[1].params["requestState"] == "m"


def test_nothing_is_held_open_while_a_person_types(person: Person, server: Server) -> None:
    """H01, H02, M11: the server is gone and comes back between two rounds."""
    with desk(server, asks("s1")) as first:
        begin(person)
        assert len(calls(first)) == 1
    with desk(server, done(), port=its_port()) as second:
        send(person, Name="Ada")
        assert calls(second)[0].params["requestState"] == "s1"


def test_answers_are_kept_while_the_server_is_gone(person: Person, server: Server) -> None:
    """M11: an error state with all data, and nothing claimed to be sent."""
    with desk(server, asks("s1")):
        begin(person)
    page = send_unreachable(person)
    assert (page, "was not sent" in person.page.text) == ("unsent", True)
    with desk(server, done(), port=its_port()) as recorder:
        person.press("Send again")
        person.until("completed")
        assert calls(recorder)[0].params["inputResponses"]["who"]["content"] == {"name": "Ada"}


def its_port() -> int:
    """Where the server was, and will be again."""
    return urlsplit(Server.objects.get().url).port or 0


def send_unreachable(person: Person) -> str:
    person.fill("Name", "Ada")
    person.press("Send")
    return person.until("unsent").state


class Ticking:
    """Sends something every `pause` seconds, `count` times, and then the result."""

    def __init__(self, pause: float, count: int, tick: Callable[[Post, int], bytes]) -> None:
        self.pause, self.count, self.tick = pause, count, tick

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        post: Post = scope["mrtr.post"]
        await send({"type": "http.response.start", "status": 200, "headers": [(b"content-type", b"text/event-stream")]})
        for number in range(self.count):
            await anyio.sleep(self.pause)
            await send({"type": "http.response.body", "body": self.tick(post, number), "more_body": True})
        message = {"jsonrpc": "2.0", "id": post.id, "result": {"content": []}}
        await send({"type": "http.response.body", "body": f"data: {json.dumps(message)}\r\n\r\n".encode()})


def progress(post: Post, number: int) -> bytes:
    params = {"progressToken": post.meta["progressToken"], "progress": number}
    message = {"jsonrpc": "2.0", "method": "notifications/progress", "params": params}
    return f"event: message\r\ndata: {json.dumps(message)}\r\n\r\n".encode()


@pytest.mark.parametrize("tick", [progress, lambda post, number: b": alive\r\n\r\n"])
def test_a_tool_that_shows_life_is_not_cut_off_by_the_silence_limit(tick: Callable[[Post, int], bytes]) -> None:
    """H03, H14: progress, comments and CRLF frames, for three times as long as a silence may last."""
    limits = Limits(connect=5, silence=0.5, total=20, max_bytes=100_000)
    with serve(Recorder(Ticking(0.15, 10, tick)), lifespan="off") as base:
        found = run(relay.send(Endpoint(f"{base}/mcp", private=PRIVATE), CALL, limits))
        assert found.result == {"content": []}


def test_a_tool_that_falls_silent_is_cut_off() -> None:
    """H03"""
    limits = Limits(connect=5, silence=0.3, total=20, max_bytes=100_000)
    with scripted(lambda post: Answer(b": hello\n\n", 200, STREAM, "hang")) as (url, recorder):
        began = time.monotonic()
        with pytest.raises(relay.Lost, match="timeout"):
            run(relay.send(Endpoint(url, private=PRIVATE), CALL, limits))
        assert time.monotonic() - began < 5
        assert recorder.gone.wait(5)


def test_a_question_that_nobody_opens_is_never_answered_for_them(person: Person, server: Server) -> None:
    """H04, H05: it waits, and when the session ends it has expired, without a word to the server."""
    with desk(server, asks("s1")) as recorder:
        begin(person)
        assert Flow.objects.get().state == "waiting"
        end_session(Session.objects.get(user__username="alice").pk)
        assert (Flow.objects.get().state, len(calls(recorder))) == ("expired", 1)
