"""The database is away or locked: nothing typed is lost, no answer of a server is lost, and pages say what is."""

import concurrent.futures
import contextlib
import html
import json
import logging
import os
import sqlite3
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import httpx2
import pytest
from django.contrib.auth.models import User
from django.core.files.uploadedfile import SimpleUploadedFile
from django.db import OperationalError, connection, connections
from django.http import HttpRequest, HttpResponse
from django.test import Client, RequestFactory
from django.urls import clear_url_caches, path

from mrtr_web import ledger
from mrtr_web.flow import Event
from mrtr_web.models import Flow, Server, Session
from mrtr_web.views import trouble, web
from tests.desk import TOOL, asks, calls, desk, done
from tests.person import Page, Person
from tests.postgres import needs_postgres, own_postgres
from tests.processes import BASE, serving
from tests.servers import BOUND, Answer, Post, Step
from tests.visitors import cookies_of

pytestmark = pytest.mark.django_db(transaction=True)
CANARY = "typed with care c4n4ry"


@pytest.fixture
def impatient(monkeypatch: pytest.MonkeyPatch) -> Iterator[sqlite3.Connection]:
    """Who holds SQLite's lock from BEGIN IMMEDIATE on; the app waits for it no longer than a moment."""
    if connection.vendor != "sqlite":
        pytest.skip("locks of whole databases are SQLite's")
    monkeypatch.setitem(connections["default"].settings_dict["OPTIONS"], "timeout", 0.3)
    with contextlib.closing(sqlite3.connect(str(connection.settings_dict["NAME"]), isolation_level=None)) as holder:
        yield holder


def test_a_post_that_met_a_locked_database_is_sent_again_from_its_page(
    person: Person, server: Server, impatient: sqlite3.Connection, caplog: pytest.LogCaptureFixture
) -> None:
    with desk(server, asks(), done()) as recorder:
        person.get(TOOL)
        person.fill("Topic", "cheese")
        person.press("Start")
        person.until("waiting")
        person.fill("Name", CANARY)
        impatient.execute("BEGIN IMMEDIATE")
        page = person.press("Send")
        assert (page.status, page.response.headers["retry-after"]) == (503, "5")
        assert "Not available at the moment" in page.text
        assert page.response.headers["cache-control"] == "no-store"
        assert len(calls(recorder)) == 1
        assert httpx2.get(f"{person.base}/healthz", trust_env=False).text == "ok"
        impatient.execute("ROLLBACK")
        person.press("Send again")
        person.until("completed")
        assert calls(recorder)[1].params["inputResponses"]["who"]["content"] == {"name": CANARY}
    told = [record for record in caplog.records if record.name == "mrtr_web.views.trouble"]
    assert [record.getMessage().split(" at ")[0] for record in told] == ["the database is away: OperationalError"]
    assert "ledger.py" in told[0].getMessage()
    assert CANARY not in caplog.text
    assert not any(record.exc_info for record in caplog.records if record.levelno >= logging.ERROR)


def test_an_answer_that_met_a_locked_database_is_written_later(
    person: Person, server: Server, impatient: sqlite3.Connection
) -> None:
    answered = threading.Event()

    def locking(post: Post) -> Answer:
        held.execute("BEGIN IMMEDIATE")
        answered.set()
        return done()(post)

    name = str(connection.settings_dict["NAME"])
    with desk(server, locking), contextlib.closing(sqlite3.connect(name, 1, 0, None, False)) as held:
        person.get(TOOL)
        person.fill("Topic", "cheese")
        person.press("Start")
        assert answered.wait(BOUND)
        assert person.page.state == "running"
        held.execute("ROLLBACK")
        person.until("completed")


def test_a_flow_given_up_as_unknown_is_not_sent_after_all(alice: User, server: Server) -> None:
    """The lease ran out while the database was away; then the process could say that nothing had left."""
    cookies_of(alice)
    row = Flow(user=alice, server=server, method="tools/call", name="t")
    leg = ledger.begin(row, session=Session.objects.get().pk, sealed=b"0", lease=-1)
    assert leg is not None
    ledger.depart(row.pk, leg, -1)
    assert ledger.expire_leases() == 1
    assert Flow.objects.get().state == "unknown"
    assert ledger.land(row.pk, leg, ledger.Landing(Event.NOT_SENT, "database", 0, b"1"))
    assert (Flow.objects.get().state, Flow.objects.get().outcome) == ("unsent", "database")


def _fails(request: HttpRequest) -> HttpResponse:
    raise ValueError(CANARY)


def test_a_fault_of_ours_is_logged_without_its_message(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    from mrtr_web import urls  # not sooner: it fixes where static files are

    monkeypatch.setattr(urls, "urlpatterns", [*urls.urlpatterns, path("fails/", _fails)])
    clear_url_caches()
    answer = Client(raise_request_exception=False).get("/fails/")
    clear_url_caches()
    assert answer.status_code == 500
    assert "It is this app's fault" in answer.content.decode().replace("&#x27;", "'")
    assert "a page failed: ValueError at" in caplog.text
    assert CANARY not in caplog.text


def test_a_password_is_not_given_back(person: Person, impatient: sqlite3.Connection) -> None:
    person.press("Sign out")
    person.get("/accounts/login/")
    impatient.execute("BEGIN IMMEDIATE")
    person.press("Sign in", {"username": "alice", "password": "alice's password"})
    impatient.execute("ROLLBACK")
    assert person.page.status == 503
    assert "alice's password" not in html.unescape(person.page.response.text)
    assert person.page.link("Try again") == "/accounts/login/"


@pytest.mark.parametrize(
    ("headers", "given_back"),
    [
        ({}, True),
        ({"Origin": "http://testserver"}, True),
        ({"Origin": "http://evil.example"}, False),
        ({"Origin": "null"}, False),
    ],
)
def test_what_another_site_posted_is_not_given_back(headers: dict[str, str], given_back: bool) -> None:
    request = RequestFactory().post("//evil.example/steal", {"s0-f0": "typed-words"}, headers=headers)
    try:
        raise OperationalError
    except OperationalError:
        page = trouble.broken(request).content.decode()
    assert ("typed-words" in page) is given_back
    assert '="//' not in page


def test_an_uploaded_file_can_be_read_twice() -> None:
    request = RequestFactory().post("/", {"s0-f1-file": SimpleUploadedFile("a.txt", b"abc")})
    first, second = web.posted(request), web.posted(request)
    assert first == second == {"s0-f1": ["YWJj"], "s0-f1-name": ["a.txt"]}


PREPARE = """
import json, sys, django
django.setup()
from django.core.management import call_command
call_command("migrate", verbosity=0)
from django.contrib.auth.models import User
from mrtr_web.models import Server
from tests.visitors import cookies_of
Server.objects.create(slug="demo", name="Desk", url=sys.argv[1], allow_private=True, capabilities=["elicitation"])
print(json.dumps(cookies_of(User.objects.create(username="alice"))))
"""


@needs_postgres
def test_a_database_that_goes_and_comes_back_costs_nobody_anything(server: Server, tmp_path: Path) -> None:
    """A leg is answered while it is away, a page is asked for, and answers are posted."""
    gone, answered = threading.Event(), threading.Event()

    def answer(post: Post) -> Answer:
        assert gone.wait(BOUND)
        answered.set()
        return done("Kept and shown.")(post)

    steps: list[Step] = [asks(), answer]
    quick = {"MRTR_HEARTBEAT": "0.3", "MRTR_LEASE": "1"}
    with own_postgres() as postgres, desk(server, *steps) as recorder:
        environ = os.environ | {"DATABASE_URL": postgres.url}
        url = Server.objects.get().url
        made = subprocess.run(
            [sys.executable, "-c", PREPARE, url], cwd=BASE, env=environ, capture_output=True, text=True, check=True
        )
        with serving(tmp_path, DATABASE_URL=postgres.url, **quick) as process, Person(process.base) as person:
            cookies = json.loads(made.stdout)
            person.client.cookies.update(cookies)
            person.get(TOOL)
            person.fill("Topic", "cheese")
            person.press("Start")
            person.until("waiting")
            person.fill("Name", CANARY)
            person.press("Send")
            assert person.page.state == "running"
            flow = person.page.path
            person.get(TOOL)
            person.fill("Topic", CANARY)
            postgres.stop()
            gone.set()
            assert answered.wait(BOUND)
            with concurrent.futures.ThreadPoolExecutor() as pool:  # each waits a while for a connection
                ready = pool.submit(httpx2.get, f"{process.base}/readyz", trust_env=False, timeout=BOUND)
                looked = pool.submit(httpx2.get, process.base + flow, cookies=cookies, trust_env=False, timeout=BOUND)
                assert httpx2.get(f"{process.base}/healthz", trust_env=False).status_code == 200
                assert person.press("Start").status == 503
                assert (ready.result().status_code, looked.result().status_code) == (503, 503)
                assert Page.read(looked.result()).link("Try again") == flow
            postgres.start()
            person.press("Send again")
            assert "Kept and shown." in person.until("completed").text
            assert calls(recorder)[2].params["arguments"] == {"topic": CANARY}
            person.get(flow)
            assert "Kept and shown." in person.until("completed").text
        log = process.log.read_text()
        assert CANARY not in log
        assert "Traceback" not in log
