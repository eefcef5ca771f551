"""One real process at DEBUG, through everything that can fail: no content in its log, database, environment, memory
of the operating system, Redis, or in what others see.

Everything that a person or a server says holds a canary of its own.
"""

import contextlib
import json
import os
import signal
import socket
import sqlite3
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx2
import pytest
import redis
from django.conf import settings
from django.contrib.auth.models import User
from django.db import connection

from mrtr_web import credentials
from mrtr_web.models import Flow, KeptMessages, Server
from tests.desk import TOOL, desk, start
from tests.own_redis import running_redis
from tests.person import Person
from tests.processes import Process, serving
from tests.reviewers import admitted, reviewer_of
from tests.servers import Answer, Post, error, events, html, raw_json, result
from tests.test_canaries import everything, tables
from tests.visitors import cookies_of

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.timeout(240)]
MARK = "c4n4ry"
"""In everything that must be nowhere."""
ARGUMENT, ANSWER, SECRET, STATE = (f"{MARK}-{name}" for name in ("argument", "answer", "s3cret", "state"))
BEARER, PASSWORD, QUERY, FILE = (f"{MARK}-{name}" for name in ("bearer", "password", "query", "file"))
SAID = f"{MARK}-said"
ENVIRON = {
    "MRTR_LOG_LEVEL": "DEBUG",
    "MRTR_HEARTBEAT": "0.3",
    "MRTR_SILENCE_TIMEOUT": "1",
    "MRTR_TOTAL_TIMEOUT": "2",
    "MRTR_CONNECT_TIMEOUT": "1",
    "MRTR_DRAIN_TIMEOUT": "0",
    "MRTR_MAX_RESPONSE_BYTES": "200000",
    "MRTR_MAX_REQUEST_BYTES": "300000",
}


def asks(post: Post) -> Answer:
    fields = {"name": {"type": "string", "title": SAID}, "password": {"type": "string", "title": "Password"}}
    form = {"type": "object", "properties": fields}
    entry = {"method": "elicitation/create", "params": {"message": SAID, "requestedSchema": form}}
    return result(post, {"resultType": "input_required", "inputRequests": {SAID: entry}, "requestState": STATE})


def hangs(post: Post) -> Answer:
    told = {"progressToken": post.meta["progressToken"], "progress": 1, "total": 2, "message": SAID}
    return events({"jsonrpc": "2.0", "method": "notifications/progress", "params": told}, then="hang")


def _result(value: Any) -> Any:
    return lambda post: result(post, value)


FAILING: dict[str, Any] = {
    "refused by an error with data": lambda post: error(post, -32000, data=SAID, message=SAID),
    "an error with a number of its own": lambda post: error(post, 471199823, data={"x": SAID}, message=SAID),
    "no JSON": lambda post: raw_json(f"not JSON {SAID}"),
    "JSON cut": lambda post: raw_json('{"jsonrpc": "2.0", "result": {"content": [{"text": "' + SAID),
    "half a surrogate pair": lambda post: raw_json('{"jsonrpc": "2.0", "result": {"x": "\\ud800 ' + SAID + '"}}'),
    "a foreign id": lambda post: raw_json(json.dumps({"jsonrpc": "2.0", "id": SAID, "result": {"x": SAID}})),
    "the wrong shape": _result({"resultType": SAID, "content": SAID}),
    "a state that is none": _result({"resultType": "input_required", "requestState": [SAID]}),
    "requests that are none": _result({"resultType": "input_required", "inputRequests": {SAID: SAID}}),
    "a schema that is none": _result(
        {
            "resultType": "input_required",
            "inputRequests": {
                SAID: {"method": "elicitation/create", "params": {"message": SAID, "requestedSchema": {"type": SAID}}}
            },
        }
    ),
    "a result that is an error": _result({"content": [{"type": "text", "text": SAID}], "isError": True}),
    "a picture that is none": _result({"content": [{"type": "image", "data": SAID, "mimeType": f"image/{SAID}"}]}),
    "a server error": lambda post: Answer(SAID.encode(), 500, {"content-type": f"text/{SAID}"}),
    "unauthorized": lambda post: html(401, www_authenticate=f'Bearer error="{SAID}", scope="{SAID}"'),
    "forbidden": lambda post: html(403, www_authenticate=f'Bearer error="insufficient_scope", scope="{SAID}"'),
    "too many": lambda post: html(429, retry_after=SAID),
    "a redirect": lambda post: html(302, location=f"https://x.example/{SAID}?{SAID}"),
    "a redirect that is followed": lambda post: html(307, location=f"/{SAID}?{SAID}"),
    "too big": lambda post: raw_json(json.dumps({"x": SAID * 50_000})),
    "compressed": lambda post: raw_json(SAID, content_encoding="gzip"),
    "cut": lambda post: Answer(SAID.encode(), 200, {"content-type": "application/json"}, "hang"),
    "events that end": lambda post: events({"jsonrpc": "2.0", "method": SAID, "params": {"x": SAID}}),
    "an event that asks": lambda post: events({"jsonrpc": "2.0", "id": SAID, "method": SAID, "params": {"x": SAID}}),
    "a header that is none": lambda post: Answer(b"{}", 200, {"content-type": "application/json", "set-cookie": SAID}),
}


class Steps:
    """What the server does next."""

    def __init__(self) -> None:
        self.now: Any = asks

    def __call__(self, post: Post) -> Answer:
        answer: Answer = self.now(post)
        return answer


def fill_and_send(person: Person) -> None:
    person.until("waiting")
    form = next(form for form in person.page.reader.forms if form.action.endswith("/answer/"))
    for control in form.controls:
        if control.kind in ("text", "textarea", "password"):
            control.value = SECRET if "assword" in control.label else ANSWER
    person.press("Check")
    person.press("Send")


def odd_posts(base: str, person: Person) -> list[int]:
    """What no page of ours sends: the statuses."""
    token = person.get(TOOL).reader.forms[-1].data()["csrfmiddlewaretoken"][0]
    cookies, own = dict(person.client.cookies), {"Origin": base, "X-CSRFToken": token}
    body = f"s0-f0={ARGUMENT}"
    form = "application/x-www-form-urlencoded"
    multipart, base64 = "multipart/form-data; boundary=b", "\r\nContent-Transfer-Encoding: base64\r\n\r\n"
    file = f'--b\r\nContent-Disposition: form-data; name="s0-f0-file"; filename="{FILE}"\r\n\r\n{FILE}'
    posts: list[tuple[str, dict[str, str], str | bytes]] = [
        (TOOL, {"Origin": base, "content-type": form}, f"{body}&csrfmiddlewaretoken={ANSWER}"),
        (TOOL, {"Origin": "https://elsewhere.example", "content-type": form}, body),
        (TOOL, {"Referer": f"https://x.example/?q={QUERY}", "content-type": form}, body),
        (TOOL, own | {"content-type": f"{form}; charset=utf-7"}, body),
        (TOOL, own | {"content-type": f"{form}; charset={MARK}"}, body),
        (TOOL, own | {"content-type": "multipart/form-data"}, file),
        (TOOL, own | {"content-type": f'multipart/form-data; boundary="{MARK},"'}, file),
        (TOOL, own | {"content-type": multipart}, file),
        (TOOL, own | {"content-type": multipart}, file.replace("\r\n\r\n", f"{base64}!!")),
        (TOOL, own | {"content-type": form}, f"x={ARGUMENT}" * 30_000),  # 413
        (TOOL, own | {"content-type": form}, "&".join(f"{ARGUMENT}{n}=" for n in range(9_000))),
        (TOOL, own | {"content-type": form}, b"s0-f0=%ff%fe" + ARGUMENT.encode() + b"\x00\xff"),
        ("/flows/x/answer/", own | {"content-type": form}, body),
        ("/oauth/callback/", own | {"content-type": form}, body),
        ("/accounts/login/", own | {"content-type": form}, f"username={ARGUMENT}&password={PASSWORD}"),
        (TOOL, own | {"content-type": form, "Host": "elsewhere.example"}, body),
    ]  # fmt: skip
    found = []
    with httpx2.Client(trust_env=False, timeout=20, cookies=cookies) as client:
        for path, headers, content in posts:
            found.append(client.post(base + path, headers=headers, content=content).status_code)
        paths = (
            f"{TOOL}?topic={QUERY}&x={QUERY}",
            f"/oauth/callback/?code={MARK}&state={MARK}&iss={MARK}&error={MARK}",
            f"/nowhere/?q={QUERY}",
        )
        found += [client.get(base + path).status_code for path in paths]
        for name in ("Cookie", "Sec-WebSocket-Key", "Sec-WebSocket-Protocol"):
            upgrade = {"Connection": "Upgrade", "Upgrade": "websocket", "Sec-WebSocket-Version": "13", name: MARK}
            with contextlib.suppress(httpx2.HTTPError):
                found.append(client.get(f"{base}/ws/flows/x/?q={QUERY}", headers=upgrade).status_code)
    port = int(base.rpartition(":")[2])
    for raw in (
        f"GARBAGE {MARK}\r\n\r\n",
        f"GET /?{QUERY} HTTP/9.9\r\nX: {MARK}\r\n\r\n",
        f"POST {TOOL} HTTP/1.1\r\nHost: {MARK}\r\nContent-Length: {MARK}\r\n\r\n{MARK}",
    ):
        with socket.create_connection(("127.0.0.1", port)) as line:
            line.sendall(raw.encode())
    return found


def of_the_system(process: Process) -> str:
    """What the operating system shows of a process: command, environment, open files and what is in them, children."""
    proc = Path(f"/proc/{process.handle.pid}")
    if not proc.exists():  # not Linux
        return ""
    found = [(proc / name).read_bytes() for name in ("cmdline", "environ", "status")]
    for file in (proc / "fd").iterdir():
        with contextlib.suppress(OSError):
            place = os.readlink(file)
            found.append(place.encode())
            if place.startswith("/") and Path(place.removesuffix(" (deleted)")).suffix not in (".so", ".mo"):
                found.append(
                    file.read_bytes() if os.stat(file).st_size < 50_000_000 and not place.startswith("/dev") else b""
                )
    children = (proc / "task" / proc.name / "children").read_text().split()
    assert children == []
    return b"\n".join(found).decode(errors="replace")


def of_the_database() -> str:
    """Each row, and where it is a file all bytes of it and of its journals."""
    found = tables()
    if connection.vendor == "sqlite":
        name = str(connection.settings_dict["NAME"])
        for end in ("", "-wal", "-shm", "-journal"):
            found += Path(name + end).read_bytes().decode("latin-1") if Path(name + end).exists() else ""
    return found


def assert_nowhere(text: str) -> None:
    assert [line[:500] for line in text.splitlines() if MARK in line] == []


class Spy:
    """Hears all that a Redis is told, by MONITOR."""

    def __init__(self, url: str) -> None:
        self.heard: list[str] = []
        self.client = redis.Redis.from_url(url)
        self.thread = threading.Thread(target=self._listen, daemon=True)
        self.thread.start()

    def _monitor(self) -> Any:
        return self.client.monitor()  # type: ignore[no-untyped-call]

    def _listen(self) -> None:
        with contextlib.suppress(redis.RedisError, ValueError, OSError), self._monitor() as monitor:
            for command in monitor.listen():
                self.heard.append(str(command))


@pytest.fixture(autouse=True)
def cheap_passwords() -> None:
    """Not here: another process checks what this one hashes."""


@contextlib.contextmanager
def signed_in(process: Process, user: User) -> Iterator[Person]:
    with Person(process.base) as person:
        person.client.cookies.update(cookies_of(user))
        yield person


def test_nothing_is_left_of_what_failed(server: Server, alice: User, tmp_path: Path) -> None:
    rita = reviewer_of("rita", server, may=("switch_server", "end_sessions"))
    root = User.objects.create_superuser("root", password=f"{PASSWORD}-of-root")
    admitted(alice, server)
    steps, temporary = Steps(), tmp_path / "tmp"
    temporary.mkdir()
    with (
        running_redis() as line,
        desk(server, steps) as recorder,
        serving(tmp_path, REDIS_URL=line.url, TMPDIR=str(temporary), **ENVIRON) as process,
        signed_in(process, alice) as person,
    ):
        server.refresh_from_db()
        credentials.give(server, "bearer", BEARER)
        server.save()
        spy = Spy(line.url)
        cookies = [value for value in person.client.cookies.values() if len(value) > 20]
        key = person.client.cookies[settings.KEY_COOKIE_NAME]
        person.get("/s/demo/")  # asks what there is
        for step in FAILING.values():
            steps.now = step
            start(person, ARGUMENT)
            person.until("failed", "unsent", "unknown", "completed", "waiting")
        assert {post.headers["authorization"] for post in recorder.posts} == {f"Bearer {BEARER}"}
        steps.now = asks
        start(person, ARGUMENT)
        person.until("waiting")
        steps.now = hangs
        fill_and_send(person)
        person.until("unknown", "failed", "unsent")
        assert recorder.posts[-1].params["requestState"] == STATE and SECRET in recorder.posts[-1].raw.decode()
        flow = Flow.objects.order_by("-started_at")[0]
        _servers_that_cannot_be_reached(person, server, steps)
        statuses = odd_posts(process.base, person)
        assert {400, 403, 404, 413} <= set(statuses) and not any(status >= 500 for status in statuses), statuses
        _database_away(person, steps)
        line.stop()
        steps.now = asks
        start(person, ARGUMENT)
        person.until("waiting")
        line.start()
        seen = of_the_system(process)
        for looker in (rita, root):
            with signed_in(process, looker) as other:
                seen += everything(other, str(flow.pk))
        steps.now = hangs
        fill_and_send(person)
        process.handle.send_signal(signal.SIGTERM)
        process.handle.wait(20)
        seen += "".join(spy.heard) + "".join(map(str, temporary.rglob("*")))
        log = process.log.read_text()
    assert "DEBUG" in log or "INFO" in log
    for text in (log, seen, of_the_database()):
        assert_nowhere(text)
    assert not [value for value in cookies if value in log + "".join(spy.heard)]
    assert key not in of_the_database()
    assert "Traceback" not in log and "flows" in "".join(spy.heard)
    assert KeptMessages.objects.count() == 0


def _servers_that_cannot_be_reached(person: Person, server: Server, steps: Steps) -> None:
    """Refused, no name, no TLS, no route, blocked, an address that nobody may reach; no credential."""
    here = Server.objects.get().url
    port = here.split(":")[2].split("/")[0]
    for url in (
        "http://127.0.0.1:9/mcp",
        f"http://{MARK}.invalid/mcp",
        f"https://127.0.0.1:{port}/mcp",
        "http://169.254.169.254/mcp",
    ):
        person.get(TOOL)
        person.fill("Topic", ARGUMENT)
        Server.objects.update(url=url.replace(MARK, "nowhere"))
        person.press("Start")
        person.until("unsent", "failed", "unknown")
    sealed = Server.objects.get().credential_sealed
    Server.objects.update(url=here, credential_sealed=b"MR1" + bytes(100))
    person.get(TOOL)
    person.fill("Topic", ARGUMENT)
    person.press("Start")
    person.until("unsent", "failed", "unknown")
    Server.objects.update(credential_sealed=sealed)


def _database_away(person: Person, steps: Steps) -> None:
    """Locked where an answer is posted, and where one of the server's has to be written; a record that was spoilt."""
    steps.now = asks
    start(person, ARGUMENT)
    person.until("waiting")
    if connection.vendor == "sqlite":
        name = str(connection.settings_dict["NAME"])
        with contextlib.closing(sqlite3.connect(name, isolation_level=None)) as holder:
            holder.execute("BEGIN IMMEDIATE")
            person.fill(SAID, ANSWER)
            assert person.press("Check").status in (200, 503)
            time.sleep(0.1)
            holder.execute("ROLLBACK")
    with connection.cursor() as cursor:
        cursor.execute("UPDATE mrtr_web_sealedrecord SET sealed = %s", [b"MR1" + bytes(200)])
    person.get("/flows/")
    person.get(f"/flows/{Flow.objects.order_by('-started_at')[0].pk}/")
