"""Sockets of open pages: who may listen, what is on the wire, and that hints come with sessions and go with them."""

import contextlib
import json
import math
import time
import uuid
from typing import Any

import pytest
from django.contrib.auth.models import User

from mrtr_web import live
from mrtr_web.models import Flow, Server, Session
from mrtr_web.sessions import end_session
from mrtr_web.sockets import MOST
from tests.desk import asks, calls, desk, start
from tests.hints import listening, refusal
from tests.person import BOUND, Person
from tests.servers import Answer, Post, events

pytestmark = pytest.mark.django_db(transaction=True)
OTHER = "00000000-0000-4000-8000-000000000000"


def told(post: Post, *params: dict[str, Any]) -> Answer:
    """Progress, one notification after the other, and then nothing more."""
    token = {"progressToken": post.params["_meta"]["progressToken"]}
    notes = [{"jsonrpc": "2.0", "method": "notifications/progress", "params": token | each} for each in params]
    return events(*notes, then="hang", prefix=": hello\n\n")


def of_progress(progress: float, total: float | None = None, message: str | None = None) -> dict[str, Any]:
    return {"progress": progress, "total": total, "message": message}


LEG = "0c1e8a52-4c41-4d0c-9a83-5f4b4b1c5f0e"
PROGRESS: dict[str, Any] = {"type": "progress", "leg": LEG, "progress": 1, "total": None, "words": None}


@pytest.mark.parametrize(
    "message",
    [
        None,
        "moved",
        {},
        {"type": "over"},
        {"type": "moved"},
        {"type": "moved", "mark": 1},
        PROGRESS | {"leg": None},
        PROGRESS | {"words": "text"},
        *(PROGRESS | {"progress": value} for value in (None, "1", True, [1], math.nan, math.inf, 10**400)),
        *(PROGRESS | {"total": value} for value in ("1", False, math.nan)),
    ],
)
def test_what_is_no_hint_is_not_taken_from_other_processes(message: Any) -> None:
    flow, heard = uuid.uuid4(), list[live.Message]()
    hub = live.Hub()
    with hub.listening(flow, heard.append):
        for each in (message, PROGRESS):
            hub.take(flow, each)
    assert heard == [PROGRESS]


def test_only_the_owner_and_only_from_this_site(person: Person, server: Server, bob: User) -> None:
    with desk(server, asks()), Person(person.base) as other:
        start(person)
        person.until("waiting")
        port = person.base.rpartition(":")[2]
        for origin in (None, "null", "https://evil.example", "http://127.0.0.1:9", f"https://127.0.0.1:{port}"):
            assert refusal(person, origin=origin) == 403, origin
        assert refusal(person, origin=f"http://localhost:{port}") == 403
        assert refusal(person, cookies={}) == 403
        cookies = dict(person.client.cookies)
        for name in ("mrtr_session", "mrtr_key"):
            assert refusal(person, cookies={k: v for k, v in cookies.items() if k != name}) == 403, name
        other.sign_in("bob")
        assert refusal(person, cookies=dict(other.client.cookies)) == 403
        assert refusal(person, path=f"/ws/flows/{OTHER}/") == 403
        assert refusal(person, path="/ws/flows/x/") == 403
        assert refusal(person) == 101
        behind_tls = {"X-Forwarded-Proto": "https"}
        assert refusal(person, headers=behind_tls) == 403
        assert refusal(person, headers=behind_tls, origin=f"https://127.0.0.1:{port}") == 101


def test_a_listener_does_not_count_as_activity(person: Person, server: Server) -> None:
    with desk(server, asks()):
        start(person)
        person.until("waiting")
        before = Session.objects.values().get()
        with listening(person):
            pass
        assert Session.objects.values().get() == before


def test_the_wire_carries_progress_and_hints_and_nothing_else(person: Person, server: Server) -> None:
    hostile: list[Any] = [-1, 0.5, "7", None, True, 1e300, 10**400, [3], 3]
    notes = [of_progress(1, 4, "canary-first")] + [of_progress(each, 4, "canary-bad") for each in hostile]
    notes += [{"progress": 3 + n / 10_000, "total": "x"} for n in range(1, 5_000)]
    notes += [of_progress(3.75, 4, "almost\u202e\n there" + "e" * 500), of_progress(2, 4, "canary-back")]
    with desk(server, asks("canary-state", "canary-question"), lambda post: told(post, *notes)) as recorder:
        start(person, "canary-argument")
        person.until("waiting")
        person.fill("Name", "canary-answer")
        person.press("Send")
        assert person.page.state == "running"
        with listening(person, "running.1.0.1") as ear:
            last = of_progress(3.75, 4, "almost\ufffd there" + "e" * 500)
            said = ear.next()
            while said["progress"] != 3.75:
                said = ear.next()
            assert said["message"] == last["message"][: len(said["message"]) - 1] + "\u2026"
            assert len(said["message"]) <= 200
            assert len(ear.texts) < 20
            person.get(person.page.path)
            assert "94%" in person.page.text and "almost" in person.page.text
            person.press("Stop")
            ear.until_moved()
            flow = str(Flow.objects.get().pk)
            assert json.loads(ear.texts[-1]) == {"type": "moved", "flow": flow}
        assert recorder.gone.wait(1), "the server was not told to stop"
        for text in ear.texts[:-1]:
            assert set(json.loads(text)) == {"progress", "total", "message"}
        assert "canary" not in "".join(ear.texts).replace("canary-first", "")


def test_who_comes_in_the_middle_sees_where_it_is(person: Person, server: Server) -> None:
    with desk(server, lambda post: told(post, of_progress(2, 5, "two of five"))):
        start(person)
        with listening(person, "running.0.0.1") as ear:
            assert ear.next() == of_progress(2, 5, "two of five")
            with listening(person, "running.0.0.1") as late:
                assert late.next() == of_progress(2, 5, "two of five")
                assert late.is_silent()
            with listening(person, "waiting.1.0.1") as behind:
                assert behind.next() == {"type": "moved", "flow": str(Flow.objects.get().pk)}
        person.press("Stop")


def test_another_browser_of_the_person_gets_numbers_without_words(person: Person, server: Server) -> None:
    with desk(server, lambda post: told(post, of_progress(2, 5, "canary-words"))), Person(person.base) as elsewhere:
        start(person)
        with listening(person, "running.0.0.1") as ear:
            assert ear.next()["message"] == "canary-words"
        elsewhere.sign_in("alice")
        elsewhere.get(person.page.path)
        assert "canary" not in elsewhere.page.text
        with listening(elsewhere, "running.0.0.1") as ear:
            assert ear.next() == of_progress(2, 5)
        person.press("Stop")


def test_the_socket_goes_with_the_session(person: Person, server: Server) -> None:
    with desk(server, asks()):
        start(person)
        person.until("waiting")
        with listening(person, "waiting.1.0.1") as ear:
            end_session(Session.objects.get().pk)
            assert ear.closed() == 4401
        assert refusal(person) == 403


def test_a_page_that_talks_is_shown_out(person: Person, server: Server) -> None:
    with desk(server, asks()):
        start(person)
        person.until("waiting")
        with listening(person, "waiting.1.0.1") as ear:
            ear.connection.send("canary")
            assert ear.closed() == 1008


def test_a_person_has_so_many_sockets_and_no_more(person: Person, server: Server) -> None:
    with desk(server, asks()):
        start(person)
        person.until("waiting")
        with contextlib.ExitStack() as stack:
            for _ in range(MOST):
                stack.enter_context(listening(person, "waiting.1.0.1"))
            assert refusal(person) == 403
        end = time.monotonic() + BOUND
        while refusal(person) != 101:
            assert time.monotonic() < end


def test_a_flow_that_waits_says_nothing(person: Person, server: Server) -> None:
    with desk(server, asks()) as recorder:
        start(person)
        person.until("waiting")
        with listening(person, "waiting.1.0.1") as ear:
            assert ear.is_silent(1.2)
        assert len(calls(recorder)) == 1
