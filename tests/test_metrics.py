"""What Prometheus is told: exact numbers of what really happened, to whoever has the token, and no word of anybody."""

import json
import re
import threading
import uuid
from pathlib import Path

import httpx2
import pytest
from django.contrib.auth.models import User
from django.db import transaction
from django.test import Client
from prometheus_client import CollectorRegistry
from prometheus_client.parser import text_string_to_metric_families
from pytest_django import DjangoAssertNumQueries

from mrtr_web import allowances, ledger, measures, scrape
from mrtr_web.flow import Event
from mrtr_web.models import Flow, SealedRecord, Server, Session
from mrtr_web.rates import Limit
from tests.desk import asks, desk, done, start
from tests.hints import listening
from tests.own_redis import running_redis
from tests.person import Person
from tests.processes import Process, serving
from tests.servers import BOUND, Answer, Post, free_port
from tests.visitors import cookies_of

pytestmark = pytest.mark.django_db(transaction=True)
TOKEN = "only-for-tests-0123456789-abcdefghijkl"
CANARY = "canary-in-metrics"


def ask(base: str, method: str = "GET", path: str = "/metrics", **headers: str) -> httpx2.Response:
    return httpx2.request(method, base + path, headers=headers, trust_env=False, timeout=BOUND)


def scraped(process: Process, pattern: str = "mrtr_") -> dict[str, float]:
    """Samples whose name begins with the pattern, as `name{label=value,…}`; of histograms the count alone."""
    answer = ask(process.base, authorization=f"Bearer {TOKEN}")
    assert answer.status_code == 200, answer.text
    assert CANARY not in answer.text and not re.search(r"[0-9a-f]{8}-|alice|/s/|ask", answer.text.replace("asked", ""))
    found = {}
    for family in text_string_to_metric_families(answer.text):
        for name, labels, value, *_ in family.samples:
            if re.match(pattern, name) and not name.endswith(("_bucket", "_sum", "_created")):
                found["".join([name, *(f" {key}={labels[key]}" for key in sorted(labels))])] = value
    return found


def test_a_request_from_its_start_to_its_end_is_counted_once(alice: User, server: Server, tmp_path: Path) -> None:
    script = desk(server, asks(message=CANARY), done(CANARY))
    on = {"MRTR_METRICS_TOKEN": TOKEN}
    with script, serving(tmp_path, **on) as process, serving(tmp_path, **on) as other, Person(process.base) as person:
        person.client.cookies.update(cookies_of(alice))
        start(person, CANARY)
        person.until("waiting")
        with listening(person):
            found = scraped(process)
        assert {name: found[name] for name in found if re.match("mrtr_(leg|round|flows|socket)", name)} == {
            "mrtr_legs_total outcome=asked server=demo": 1,
            "mrtr_leg_seconds_count server=demo": 1,
            "mrtr_rounds_total server=demo": 1,
            "mrtr_legs_queued server=demo": 0,
            "mrtr_legs_out server=demo": 0,
            "mrtr_sockets": 1,
            "mrtr_flows_open state=not_yet": 0,
            "mrtr_flows_open state=running": 0,
            "mrtr_flows_open state=unknown": 0,
            "mrtr_flows_open state=unsent": 0,
            "mrtr_flows_open state=waiting": 1,
        }
        assert found["mrtr_sealed_bytes"] == sum(len(row.sealed) for row in SealedRecord.objects.all()) > 100
        assert found["mrtr_requests_total route=tool status=2xx"] == 1
        assert found["mrtr_requests_total route=tool status=3xx"] == 1
        assert found["mrtr_request_seconds_count route=tool"] == 2
        person.get(f"/nowhere/{CANARY}/")
        person.get(f"/flows/{Flow.objects.get().pk}/")
        person.fill("Name", CANARY)
        person.press("Send")
        person.until("completed")
        legs = scraped(process, "mrtr_(legs_total|rounds|sockets|flows_open|requests_total route=none)")
        assert {name: value for name, value in legs.items() if value} == {
            "mrtr_legs_total outcome=asked server=demo": 1,
            "mrtr_legs_total outcome=finished server=demo": 1,
            "mrtr_rounds_total server=demo": 1,
        }
        assert scraped(process)["mrtr_requests_total route=none status=4xx"] == 1
        elsewhere = scraped(other)  # which did nothing, and sees the same database
        assert elsewhere["mrtr_sealed_bytes"] == scraped(process)["mrtr_sealed_bytes"]
        assert not [name for name in elsewhere if name.startswith("mrtr_legs_total")]


def test_legs_that_wait_for_their_turn_are_seen(alice: User, server: Server, tmp_path: Path) -> None:
    came = threading.Event()

    def hang(post: Post) -> Answer:
        came.set()
        return Answer(b": x\n\n", 200, {"content-type": "text/event-stream"}, "hang")

    limits = {"MRTR_LEGS_PER_SERVER": "1", "MRTR_METRICS_TOKEN": TOKEN, "MRTR_DRAIN_TIMEOUT": "0.3"}
    with desk(server, hang), serving(tmp_path, **limits) as process, Person(process.base) as person:
        person.client.cookies.update(cookies_of(alice))
        start(person)
        assert came.wait(BOUND)
        start(person)
        assert scraped(process, "mrtr_legs_|mrtr_flows_open") | {"mrtr_flows_open state=running": 2} == {
            "mrtr_legs_queued server=demo": 1,
            "mrtr_legs_out server=demo": 1,
            **{f"mrtr_flows_open state={state}": 0 for state in ("not_yet", "unknown", "unsent", "waiting")},
            "mrtr_flows_open state=running": 2,
        }
        person.press("Stop this request")
        person.until("stopped")
        assert scraped(process)["mrtr_legs_total outcome=stopped server=demo"] == 1


def test_only_who_has_the_token_is_told(tmp_path: Path) -> None:
    with serving(tmp_path, MRTR_METRICS_TOKEN=TOKEN) as process, serving(tmp_path) as without:
        assert ask(without.base, authorization=f"Bearer {TOKEN}").status_code == 404
        wrong = ("", "Bearer", f"Bearer {TOKEN}x", f"Bearer {TOKEN[:-1]}", f"Basic {TOKEN}", TOKEN)
        for given in wrong:
            answer = ask(process.base, authorization=given)
            assert (answer.status_code, answer.headers["www-authenticate"]) == (401, 'Bearer realm="metrics"'), given
            assert answer.content == b""
        assert ask(process.base, "POST", authorization=f"Bearer {TOKEN}").status_code == 405
        right = ask(process.base, authorization=f"bearer {TOKEN}", host="10.0.0.1:8001")
        assert (right.status_code, right.headers["cache-control"]) == (200, "no-store")
        assert "mrtr_sockets 0.0\n" in right.text
        assert TOKEN not in process.log.read_text()


def sample(name: str, **labels: str) -> float:
    return measures.REGISTRY.get_sample_value(name, labels) or 0


def test_the_database_is_asked_twice(
    alice: User, server: Server, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    with django_assert_num_queries(2):
        scrape._read(CollectorRegistry())


def begun(alice: User, server: Server, lease: float) -> tuple[Flow, uuid.UUID]:
    cookies_of(alice)
    row = Flow(user=alice, server=server, method="tools/call", name="t")
    session = Session.objects.order_by("pk").values_list("pk", flat=True)[0]
    leg = ledger.begin(row, session=session, sealed=b"0", lease=lease)
    assert leg is not None
    return row, leg


def test_only_what_was_written_counts(alice: User, server: Server) -> None:
    def counts() -> list[float]:
        legs = [sample("mrtr_legs_total", server="demo", outcome=event) for event in (Event.ASKED, Event.NOT_SENT)]
        return [*legs, sample("mrtr_rounds_total", server="demo"), sample("mrtr_leases_expired_total")]

    before = counts()
    row, leg = begun(alice, server, 20)
    asked = ledger.Landing(Event.ASKED, "", 1, b"1", asked=ledger.Asked(("form",)))
    with transaction.atomic():
        assert ledger.land(row.pk, leg, asked)
        transaction.set_rollback(True)
    assert counts() == before
    assert ledger.land(row.pk, leg, asked)
    assert not ledger.land(row.pk, leg, asked)
    begun(alice, server, -1)
    assert (ledger.expire_leases(), ledger.expire_leases()) == (1, 0)
    assert [after - was for after, was in zip(counts(), before, strict=True)] == [1, 1, 1, 1]


def test_refusals_and_failed_sign_ins_are_counted(alice: User, client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(allowances.LIMITS, "export", Limit(1, 60))
    before = sample("mrtr_refused_total", limit="export"), sample("mrtr_refused_total", limit="sign_in")
    failed = sample("mrtr_sign_ins_failed_total")
    allowances.spend(alice.pk, "export")
    for _ in range(2):
        with pytest.raises(allowances.TooMany):
            allowances.spend(alice.pk, "export")
    for _ in range(6):
        client.post("/accounts/login/", {"username": "alice", "password": CANARY})
    after = sample("mrtr_refused_total", limit="export"), sample("mrtr_refused_total", limit="sign_in")
    assert (after[0] - before[0], after[1] - before[1]) == (2, 2)
    assert sample("mrtr_sign_ins_failed_total") - failed == 6


def test_readiness_tells_of_redis_and_depends_on_the_database(tmp_path: Path) -> None:
    def ready(process: Process) -> tuple[int, str]:
        answer = ask(process.base, path="/readyz")
        return answer.status_code, answer.text

    with running_redis() as broker, serving(tmp_path, REDIS_URL=broker.url) as process:
        assert ready(process) == (200, "ok")
        broker.stop()
        assert ready(process) == (200, "redis: down")
        broker.start()
        assert ready(process) == (200, "ok")
    gone = f"postgresql://me:{CANARY}@127.0.0.1:{free_port()}/x"
    on = {"DATABASE_URL": gone, "REDIS_URL": f"redis://:{CANARY}@127.0.0.1:{free_port()}", "MRTR_METRICS_TOKEN": TOKEN}
    with serving(tmp_path, **on) as process:
        assert ready(process) == (503, "database: down\nredis: down")
        assert scraped(process, "mrtr_(database|sockets|flows|sealed)") == {"mrtr_database_up": 0, "mrtr_sockets": 0}
        assert CANARY not in process.log.read_text()


@pytest.mark.parametrize("environ", [{"MRTR_NOTHING": "1"}, {"SECRET_KEY": "x" * 60}])
def test_what_stops_a_start_is_json_where_the_log_is(tmp_path: Path, environ: dict[str, str]) -> None:
    with pytest.raises(AssertionError) as caught, serving(tmp_path, MRTR_LOG_FORMAT="json", **environ):
        pass
    last = json.loads(str(caught.value).splitlines()[-1])
    assert (last["level"], last["logger"]) == ("ERROR", "mrtr_web")
    assert next(iter(environ)) in last["message"]
