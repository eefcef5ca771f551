"""The database is away or locked: nothing typed is lost, no answer of a server is lost, and pages say what is."""

import asyncio
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
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx2
import psycopg
import pytest
from django.contrib.auth.models import User
from django.core.files.uploadedfile import SimpleUploadedFile
from django.db import OperationalError, connection, connections
from django.db.backends.base.base import BaseDatabaseWrapper
from django.http import HttpRequest, HttpResponse
from django.test import Client, RequestFactory
from django.urls import clear_url_caches, path
from pytest_django import Settings

from mrtr_web import catalog, ledger, relay
from mrtr_web.flow import Event
from mrtr_web.models import Flow, Server, Session
from mrtr_web.runner import Job, Runner
from mrtr_web.threads import threaded
from mrtr_web.views import trouble, web
from tests.desk import TOOL, asks, calls, desk, done, required, start
from tests.person import Page, Person
from tests.postgres import needs_postgres, own_postgres
from tests.processes import BASE, serving
from tests.servers import BOUND, Answer, Post, Step
from tests.visitors import cookies_of

pytestmark = pytest.mark.django_db(transaction=True)
CANARY = "typed with care c4n4ry"


def _close(held: BaseDatabaseWrapper) -> None:
    if not held.in_atomic_block:
        held.close()


@pytest.fixture
def impatient(monkeypatch: pytest.MonkeyPatch) -> Iterator[sqlite3.Connection]:
    """Who holds SQLite's lock from BEGIN IMMEDIATE on; the app waits for it no longer than a moment."""
    if connection.vendor != "sqlite":
        pytest.skip("locks of whole databases are SQLite's")
    monkeypatch.setitem(connections["default"].settings_dict["OPTIONS"], "timeout", 0.3)
    monkeypatch.setattr(BaseDatabaseWrapper, "close_if_unusable_or_obsolete", _close)  # none waits longer, then or now
    name = str(connection.settings_dict["NAME"])
    with contextlib.closing(sqlite3.connect(name, isolation_level=None, check_same_thread=False)) as holder:
        yield holder


def test_a_post_that_met_a_locked_database_is_sent_again_from_its_page(
    person: Person, server: Server, impatient: sqlite3.Connection, caplog: pytest.LogCaptureFixture
) -> None:
    with desk(server, asks(), done()) as recorder:
        start(person)
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
    assert "wizard.py" in told[0].getMessage()
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
        start(person)
        assert answered.wait(BOUND)
        assert person.page.state == "running"
        held.execute("ROLLBACK")
        person.until("completed")


def test_a_chain_goes_on_after_a_short_trouble(
    person: Person, server: Server, impatient: sqlite3.Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The database is locked when the next call to a server that asked to be called again is claimed."""
    claimed = threading.Event()
    claim = ledger.claim

    def locked(*args: Any, **kwargs: Any) -> Any:
        if not claimed.is_set():
            impatient.execute("BEGIN IMMEDIATE")
            claimed.set()
        return claim(*args, **kwargs)

    monkeypatch.setattr(ledger, "claim", locked)
    with desk(server, required(None, "wait"), done()):
        start(person)
        assert claimed.wait(BOUND)
        threading.Event().wait(0.5)  # longer than the app waits for a lock
        impatient.execute("ROLLBACK")
        person.until("completed")


def test_stopping_is_bounded_while_the_database_is_locked(
    alice: User, server: Server, settings: Settings, impatient: sqlite3.Connection, caplog: pytest.LogCaptureFixture
) -> None:
    """Ten legs, each of which would wait 0.3 s for the lock."""
    settings.CONFIG = settings.CONFIG.model_copy(update={"legs_per_server": 1})
    cookies_of(alice)
    session = Session.objects.get().pk
    called = threading.Event()

    def hang(post: Post) -> Answer:
        called.set()
        return Answer(b": still working\n\n", 200, {"content-type": "text/event-stream"}, "hang")

    async def scene(server: Server) -> float:
        runner, call = Runner(), relay.Call("tools/call", {"name": "ask"}, {})
        runner.start()
        for _ in range(10):
            row = Flow(user=alice, server=server, method="tools/call", name="t")
            leg = await threaded(lambda row=row: ledger.begin(row, session=session, sealed=b"0", lease=20))
            assert leg is not None
            job = Job(
                row.pk, leg, server, False, alice.pk, server.url, call, catalog.limits(), lambda _: None, str.encode
            )
            runner.launch(job)
        assert await asyncio.to_thread(called.wait, BOUND)
        impatient.execute("BEGIN IMMEDIATE")
        began = time.monotonic()
        await runner.drain(0)
        took = time.monotonic() - began
        impatient.execute("ROLLBACK")
        return took

    with desk(server, hang):
        assert asyncio.run(scene(Server.objects.get())) < 1.5
    assert caplog.text.count("legs could not be marked") == 1


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


OWN = "http://testserver"
FOREIGN = "https://evil.example"


@pytest.mark.parametrize(
    ("headers", "given_back"),
    [
        ({"Origin": OWN}, True),
        ({"Origin": FOREIGN, "Sec-Fetch-Site": "same-origin", "Referer": f"{OWN}/"}, False),
        ({"Origin": f"{OWN}:81"}, False),
        ({"Origin": "null"}, False),
        ({"Sec-Fetch-Site": "same-origin"}, True),
        ({"Sec-Fetch-Site": "same-site", "Referer": f"{OWN}/"}, False),
        ({"Referer": f"{OWN}/flows/"}, True),
        ({"Referer": f"{OWN}.evil.example/"}, False),
        ({"Referer": "http://["}, False),
        ({"Origin": OWN, "Host": "evil.example"}, False),
        ({}, False),
    ],
)
def test_only_what_a_page_of_ours_sent_is_given_back(headers: dict[str, str], given_back: bool) -> None:
    answer = _away("/flows/", {"name": CANARY}, headers)
    shown = answer.content.decode()
    assert (answer.status_code, CANARY in shown, "Send again" in shown) == (503, given_back, given_back)


@pytest.mark.parametrize("data", [None, {"name": CANARY}])
def test_a_page_of_trouble_leads_to_this_app_only(data: dict[str, str] | None) -> None:
    shown = _away("//evil.example/steal?x=1", data, {"Origin": OWN}).content.decode()
    assert '="/%2Fevil.example/steal?x=1"' in shown
    assert '="//' not in shown


def test_a_lost_post_is_sent_again_to_this_app_only() -> None:
    request = RequestFactory().post("/", {"name": CANARY})
    request.path = "//evil.example/"
    assert 'action="/%2Fevil.example/"' in web.lost_post(request, "stale").content.decode()


def _away(address: str, data: dict[str, str] | None, headers: dict[str, str]) -> HttpResponse:
    factory = RequestFactory(headers=headers)
    request = factory.get("/") if data is None else factory.post("/", data)
    request.path, _, request.META["QUERY_STRING"] = address.partition("?")
    try:
        raise OperationalError(CANARY)
    except OperationalError:
        return trouble.broken(request)


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
from mrtr_web.models import PRIVATE_NETWORKS, Server
from tests.visitors import cookies_of
private = list(PRIVATE_NETWORKS)
Server.objects.create(slug="demo", name="Desk", url=sys.argv[1], private_networks=private, capabilities=["elicitation"])
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
            start(person)
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
            with psycopg.connect(postgres.url) as holder:
                holder.execute("LOCK TABLE mrtr_web_flow IN ACCESS EXCLUSIVE MODE")
                assert person.get(flow).status == 503
            assert "Kept and shown." in person.get(flow).text
        log = process.log.read_text()
        assert CANARY not in log
        assert "Traceback" not in log
