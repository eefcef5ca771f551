"""A server that says “not yet”: who asks it again once the process is gone that did, and who is told so."""

import signal
import threading
from datetime import timedelta
from pathlib import Path

import pytest
from django.contrib.auth.models import User
from django.db.models import F

from mrtr_web.flow import State
from mrtr_web.models import Flow, Server
from tests.desk import calls, desk, done, required, start
from tests.person import BOUND, Person
from tests.processes import serving
from tests.reviewers import flow_of, looking, reviewer_of
from tests.servers import Answer, Post, until
from tests.visitors import cookies_of

CHECKS = "Waits for you to check again"


class Patience:
    """A script that says “not yet” until the server is ready."""

    def __init__(self) -> None:
        self.ready = threading.Event()

    def __call__(self, post: Post) -> Answer:
        return (done() if self.ready.is_set() else required(None, "later"))(post)


def _until_it_pauses() -> None:
    """Until the next leg is seconds away."""
    until(Flow.objects.filter(state=State.NOT_YET, state_only__gte=6).exists)


def _later() -> None:
    """Some time goes by."""
    Flow.objects.update(changed_at=F("changed_at") - timedelta(minutes=1))


@pytest.mark.django_db(transaction=True)
def test_after_a_restart_the_page_has_the_server_asked_again(alice: User, server: Server, tmp_path: Path) -> None:
    script = Patience()
    with desk(server, script) as recorder:
        with serving(tmp_path) as process, Person(process.base) as person:
            person.client.cookies.update(cookies_of(alice))
            path, cookies = start(person).path, person.client.cookies
            _until_it_pauses()
            process.handle.send_signal(signal.SIGTERM)
            process.handle.wait(BOUND)
        asked = len(calls(recorder))
        _later()
        with serving(tmp_path) as process, Person(process.base) as person:
            person.client.cookies.update(cookies)
            assert CHECKS in person.get("/flows/").text
            person.get(path)
            assert [post.params.get("requestState") for post in calls(recorder)][asked:] == ["later"]
            script.ready.set()
            _later()
            person.get(path)
            person.until("completed")


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("told", "age", "words"),
    [
        (1, 1, "The server is not ready yet"),
        (1, 60, CHECKS),
        (10, 1, CHECKS),
    ],
)
def test_lists_say_whether_the_person_must_check_again(
    alice: User, server: Server, told: int, age: float, words: str
) -> None:
    flow_of(alice, server, State.NOT_YET, state_only=told, age=age)
    assert words in looking(alice).get("/flows/").content.decode()
    desk_says = looking(reviewer_of("rita", server)).get("/review/").content.decode()
    assert ("waits for alice to check again" in desk_says) == (words == CHECKS)
