"""Hints between processes: over Redis, without it, and while it is away."""

import time
from pathlib import Path

import pytest
import redis
from django.contrib.auth.models import User

from mrtr_web.models import Flow, Server
from tests.desk import asks, calls, desk, start
from tests.hints import listening
from tests.own_redis import Redis, running_redis
from tests.person import BOUND, Person
from tests.processes import Process, serving
from tests.reviewers import admitted, reviewer_of
from tests.servers import free_port
from tests.test_live import of_progress, told
from tests.visitors import cookies_of

pytestmark = pytest.mark.django_db(transaction=True)
SLOW_BEAT = {"MRTR_HEARTBEAT": "60", "MRTR_LEASE": "120"}
"""So that hints alone can be the cause of what happens at once."""


@pytest.fixture(autouse=True)
def cheap_passwords() -> None:
    """Not here: other processes check what this one hashes."""


def at(process: Process, person: Person) -> Person:
    """The same browser at another process."""
    other = Person(process.base)
    other.client.cookies.update(person.client.cookies)
    other.get(person.page.path)
    return other


def test_stop_in_one_process_closes_the_stream_of_the_other(alice: User, server: Server, tmp_path: Path) -> None:
    """Within a second, although no heartbeat is due; and what crosses Redis cannot be read there."""
    script = desk(server, lambda post: told(post, of_progress(1, 4, "canary-words")))
    with running_redis() as broker, script as recorder, redis.Redis(port=broker.port) as tap, tap.pubsub() as tapped:
        tapped.psubscribe("*")
        assert tapped.get_message(timeout=5)
        environ = SLOW_BEAT | {"REDIS_URL": broker.url}
        with serving(tmp_path, **environ) as one, serving(tmp_path, **environ) as two, Person(one.base) as person:
            person.sign_in("alice")
            start(person, "canary-argument")
            with at(two, person) as elsewhere, listening(elsewhere, "running.0.0.1") as ear:
                assert ear.next() == of_progress(1, 4, "canary-words")
                elsewhere.press("Stop")
                assert recorder.gone.wait(1), "the stream to the server is still open"
                ear.until_moved()
                assert person.get(person.page.path).state == "stopped"
            crossed = b""
            while (message := tapped.get_message(timeout=0.2)) is not None:
                crossed += message["data"]
        for log in (one.log.read_text(), two.log.read_text()):
            assert [word for word in ("canary", *person.client.cookies.values()) if word in log] == []
        assert Flow.objects.get().pk.hex[:8].encode() in crossed
        assert b"canary" not in crossed


def test_without_redis_the_other_process_is_told_by_the_next_heartbeat(
    alice: User, server: Server, tmp_path: Path
) -> None:
    quick = {"MRTR_HEARTBEAT": "0.3", "MRTR_LEASE": "2"}
    with (
        desk(server, lambda post: told(post, of_progress(1))) as recorder,
        serving(tmp_path, **quick) as one,
        serving(tmp_path, **quick) as two,
        Person(one.base) as person,
    ):
        person.sign_in("alice")
        start(person)
        with at(two, person) as elsewhere, listening(elsewhere, "running.0.0.1") as ear:
            assert ear.is_silent(0.6)
            person.press("Stop")
            ear.until_moved()
        assert recorder.gone.wait(5)


def test_stop_and_withdraw_reach_the_other_process_while_redis_is_away(
    alice: User, server: Server, tmp_path: Path
) -> None:
    """By the heartbeat: what it looks at is in the database."""
    admitted(alice, server)
    reviewer = cookies_of(reviewer_of("rita", server))
    nobody = {"REDIS_URL": f"redis://127.0.0.1:{free_port()}", "MRTR_HEARTBEAT": "0.5", "MRTR_LEASE": "5"}
    with (
        desk(server, lambda post: told(post, of_progress(1))) as recorder,
        serving(tmp_path, **nobody) as one,
        serving(tmp_path, **nobody) as two,
        Person(one.base) as person,
        Person(two.base) as rita,
    ):
        person.client.cookies.update(cookies_of(alice))
        rita.client.cookies.update(reviewer)
        for act, state in ((_stopped, "stopped"), (_withdrawn, "withdrawn")):
            recorder.gone.clear()
            start(person)
            act(two, person, rita)
            assert recorder.gone.wait(2), f"{state}, and the stream to the server is still open"
            assert person.get(person.page.path).state == state
        assert len(calls(recorder)) == 2


def _stopped(process: Process, person: Person, rita: Person) -> None:
    with at(process, person) as elsewhere:
        elsewhere.press("Stop")


def _withdrawn(process: Process, person: Person, rita: Person) -> None:
    rita.get(person.page.path.replace("/flows/", "/review/"))
    rita.fill("Reason", "It hangs")
    rita.press("Withdraw")


def test_a_process_ends_though_a_leg_outlives_its_time(alice: User, server: Server, tmp_path: Path) -> None:
    """The hint of the leg that is given up is on its way to Redis while the process ends."""
    with running_redis() as broker, desk(server, lambda post: told(post, of_progress(1))):
        environ = SLOW_BEAT | {"REDIS_URL": broker.url, "MRTR_DRAIN_TIMEOUT": "0.3"}
        with serving(tmp_path, **environ) as one, Person(one.base) as person:
            person.sign_in("alice")
            for _ in range(5):
                start(person)
            one.handle.terminate()
            one.handle.wait(6)  # raises where it takes longer
    assert {flow.state for flow in Flow.objects.all()} == {"unknown"}


def _until_heard(broker: Redis) -> None:
    """Until both processes listen to Redis again."""
    end = time.monotonic() + BOUND
    with redis.Redis(port=broker.port) as client:
        while client.pubsub_numsub("asgi__group__flows")[0][1] != 2:
            assert time.monotonic() < end
            time.sleep(0.02)


def _lines(process: Process, word: str) -> int:
    return process.log.read_text().count(word)


def test_pages_work_while_redis_is_away_and_hints_come_back(alice: User, server: Server, tmp_path: Path) -> None:
    with running_redis() as broker, desk(server, asks(), lambda post: told(post, of_progress(1))):
        environ = SLOW_BEAT | {"REDIS_URL": broker.url}
        with serving(tmp_path, **environ) as one, serving(tmp_path, **environ) as two, Person(one.base) as person:
            person.sign_in("alice")
            start(person)
            person.until("waiting")
            with at(two, person) as elsewhere, listening(elsewhere, "waiting.1.0.1") as ear:
                broker.stop()
                person.fill("Name", "Ada")
                assert person.press("Send").state == "running"
                assert elsewhere.get(person.page.path).state == "running"
                assert ear.is_silent()
                broker.start()
                _until_heard(broker)
                person.press("Stop")
                ear.until_moved()
                assert elsewhere.get(person.page.path).state == "stopped"
            broker.stop()
            one.handle.terminate()
            one.handle.wait(5)  # raises where it takes longer
        for process in (one, two):
            assert _lines(process, "Traceback") == 0
            assert _lines(process, "no hints between processes") <= 2
