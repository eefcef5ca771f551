"""Several processes on one database: any serves any step, a killed one loses nothing, none keeps content."""

import signal
import subprocess
import time
from pathlib import Path

import httpx2
import pytest
from django.conf import settings
from django.contrib.auth.models import User
from django.db import connection

from mrtr_web.models import Flow, Leg, Server
from tests import booking
from tests.desk import always, asks, calls, desk, done, start
from tests.hints import listening
from tests.person import BOUND, Page, Person
from tests.processes import Process, serving
from tests.servers import Answer, Post, Recorder, Step, error, html
from tests.test_live import of_progress, told

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture(autouse=True)
def cheap_passwords() -> None:
    """Not here: other processes check what this one hashes."""


class Wanderer(Person):
    """A person behind a load balancer without stickiness: every request goes to the next process."""

    def __init__(self, *bases: str) -> None:
        super().__init__(bases[0])
        self.bases, self.turn, self.served = bases, 0, []  # type: ignore[var-annotated]

    def _next(self, path: str) -> str:
        self.turn += 1
        base = self.bases[self.turn % len(self.bases)]
        self.served.append((base, path))
        return base

    def get(self, path: str) -> Page:
        base = self._next(path)
        self.page = Page.read(self.client.get(base + path))
        return self.page

    def post(self, path: str, data: dict[str, list[str]]) -> Page:
        from urllib.parse import urlsplit

        path = urlsplit(path).path
        base = self._next(path)
        answer = self.client.post(base + path, data=data, headers={"Origin": base}, follow_redirects=False)
        if answer.status_code != 302:
            self.page = Page.read(answer)
            return self.page
        return self.get(answer.headers["location"])


def test_each_round_is_served_by_the_other_process(alice: User, demo: Recorder, tmp_path: Path) -> None:
    """M11"""
    with serving(tmp_path) as one, serving(tmp_path) as two, Wanderer(one.base, two.base) as person:
        person.sign_in("alice")
        booking.start(person)
        booking.tell_details(person)
        person.press("Send")
        person.until("waiting")
        booking.pay(person)
        person.press("I have finished")
        person.until("waiting")
        person.fill("I confirm", "Yes")
        person.press("Send")
        person.until("completed")
        sending = [base for base, path in person.served if path.endswith(("book_trip/", "answer/"))]
        assert len(set(sending)) == 2
        assert Flow.objects.get().outcome == "done"


def test_a_killed_process_leaves_unknown_and_the_other_sends_again(alice: User, server: Server, tmp_path: Path) -> None:
    """M12: exactly one call until the person decides."""
    hang = Answer(b": still working\n\n", 200, {"content-type": "text/event-stream"}, "hang")
    fast = {"MRTR_LEASE": "1.5", "MRTR_HEARTBEAT": "0.3"}
    with desk(server, asks(), always(hang), done()) as recorder, serving(tmp_path, **fast) as two:
        with serving(tmp_path, **fast) as one, Person(one.base) as person:
            person.sign_in("alice")
            start(person)
            person.until("waiting")
            person.fill("Name", "Ada")
            person.press("Send")
            assert person.page.state == "running"
            one.handle.send_signal(signal.SIGKILL)
            cookies = dict(person.client.cookies)
        with Person(two.base) as person:
            person.client.cookies.update(cookies)
            person.get(f"/flows/{Flow.objects.get().pk}/")
            person.until("unknown")
            assert len(calls(recorder)) == 2
            person.press("Send again")
            person.until("completed")
            assert calls(recorder)[2].params["inputResponses"]["who"]["content"] == {"name": "Ada"}


def test_a_stopped_process_lets_its_leg_finish(alice: User, server: Server, tmp_path: Path) -> None:
    with desk(server, asks(), _slowly(done())), serving(tmp_path) as one, Person(one.base) as person:
        person.sign_in("alice")
        start(person)
        person.until("waiting")
        person.fill("Name", "Ada")
        person.press("Send")
        assert person.page.state == "running"
        one.handle.send_signal(signal.SIGTERM)
        one.handle.wait(BOUND)
        assert Flow.objects.get().state == "completed"


def _slowly(step: Step) -> Step:
    def answer(post: Post) -> Answer:
        time.sleep(2)
        return step(post)

    return answer


CANARIES = {
    "argument": "canary-argument-7c1",
    "answer": "canary-answer-9d4",
    "state": "canary-state-5e2",
    "question": "canary-question-3b8",
    "result": "canary-result-1f6",
    "trouble": "canary-trouble-8a0",
    "progress": "canary-progress-2d3",
}


def test_no_content_is_left_anywhere(alice: User, server: Server, tmp_path: Path) -> None:
    """Arguments, answers, state, questions, results, progress, errors: not in the database, not in logs at DEBUG.

    Keys of browsers are not in logs either.
    """
    name = {"type": "string", "title": "Name", "maxLength": 40}
    ask = asks(CANARIES["state"], CANARIES["question"], name=name)
    script: list[Step | Answer] = [
        *(ask, html(500), done(CANARIES["result"])),
        *(ask, lambda post: error(post, -32603, message=CANARIES["trouble"])),
        *(ask, lambda post: error(post, -32602, {"reason": CANARIES["trouble"]})),
        *(ask, Answer(f"<p>{CANARIES['trouble']}".encode(), 200, {"content-type": "text/html"})),
        *(ask, Answer(CANARIES["trouble"].encode(), 200, {"content-type": "application/json"})),
        *(ask, Answer(CANARIES["trouble"].encode(), then="cut")),
    ]
    steps = [always(step) if isinstance(step, Answer) else step for step in script]
    with (
        desk(server, *steps),
        serving(tmp_path, MRTR_LOG_LEVEL="DEBUG") as one,
        Person(one.base) as person,
    ):
        person.sign_in("alice")
        shown = "".join(_one_flow(person) for _ in range(6)) + _one_socket(person, server)
        cookies = dict(person.client.cookies)
        assert settings.KEY_COOKIE_NAME in cookies and settings.SESSION_COOKIE_NAME in cookies
        assert all(canary in shown for canary in CANARIES.values())
        _scan(one)
        person.get("/flows/")
        person.press("Sign out")
        _scan(one)
    _scan(one)
    log = one.log.read_text()
    assert '"WebSocket /ws/flows/' in log
    assert [name for name, value in cookies.items() if value in log] == []
    assert "?seen=" not in log


def _one_flow(person: Person) -> str:
    """One flow through all its pages, a bad answer first; the text of all of them."""
    pages = [start(person, CANARIES["argument"]), person.until("waiting")]
    person.fill("Name", CANARIES["answer"] * 3)
    pages.append(person.press("Send"))
    assert person.page.status == 422
    person.fill("Name", CANARIES["answer"])
    pages.append(person.press("Check"))
    pages.append(person.press("Send"))
    pages.append(person.until("completed", "failed", "unknown"))
    if Leg.objects.filter(outcome="server_error").exists() and person.page.state == "unknown":
        pages += [person.press("Send again"), person.until("completed", "failed", "unknown")]
    return "".join(page.response.text for page in pages)


def _one_socket(person: Person, server: Server) -> str:
    """A flow that is told of progress on its socket, then stopped; what was told."""
    with desk(server, lambda post: told(post, of_progress(1, 4, CANARIES["progress"]))):
        start(person)
        with listening(person, "running.0.0.1") as ear:
            said = str(ear.next()["message"])
        person.press("Stop")
    return said


def _scan(process: Process) -> None:
    found = {"log": process.log.read_bytes()}
    if connection.vendor == "sqlite":
        base = Path(str(connection.settings_dict["NAME"]))
        # In a process of its own: to close a database file drops the locks that this process has on it.
        files = {path.name: ["cat", str(path)] for path in base.parent.glob(f"{base.name}*")}
        found |= {name: subprocess.check_output(command) for name, command in files.items()}
        assert len(found) > 1
    found["tables"] = _dump()
    for place, text in found.items():
        for what, canary in CANARIES.items():
            assert canary.encode() not in text, f"{what} found in {place}"


def _dump() -> bytes:
    """Every value of every table, as text."""
    with connection.cursor() as cursor:
        parts = []
        for table in connection.introspection.table_names(cursor):
            cursor.execute(f'SELECT * FROM "{table}"')
            parts += [repr([bytes(v) if isinstance(v, memoryview) else v for v in row]) for row in cursor.fetchall()]
    return "".join(parts).encode()


def test_access_logs_hold_no_query(tmp_path: Path) -> None:
    with serving(tmp_path) as process:
        assert httpx2.get(f"{process.base}/accounts/login/?city=Lyon", trust_env=False).status_code == 200
    log = process.log.read_text()
    assert '"GET /accounts/login/ HTTP/1.1" 200' in log
    assert "Lyon" not in log
