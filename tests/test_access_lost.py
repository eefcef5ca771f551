"""Access that is lost while a flow is under way: nothing more is sent, by nobody, and what was typed is kept."""

import time
import uuid
from collections.abc import Callable

import pytest
from django.contrib.auth.models import Group, User
from django.db import transaction
from pytest_django import Settings

from mrtr_web import ledger
from mrtr_web.flow import Event
from mrtr_web.models import Flow, Server
from tests.desk import TOOL, always, asks, calls, desk, done, required, start
from tests.person import BOUND, Page, Person
from tests.servers import Answer, Recorder, free_port, scripted

pytestmark = pytest.mark.django_db(transaction=True)
Loss = Callable[[Server, User], object]


def begin(person: Person) -> Page:
    start(person)
    return person.until("waiting", "unsent", "not_yet")


def only_for_a_group(server: Server, user: User) -> None:
    group = Group.objects.create(name="travellers")
    server.groups.add(group)
    user.groups.add(group)


def switch_off(server: Server, user: User) -> None:
    Server.objects.filter(pk=server.pk).update(enabled=False)


def leave_the_group(server: Server, user: User) -> None:
    user.groups.clear()


def lock_out(server: Server, user: User) -> None:
    User.objects.filter(pk=user.pk).update(is_active=False)


def move_away(server: Server, user: User) -> None:
    Server.objects.filter(pk=server.pk).update(url=f"http://127.0.0.1:{free_port()}/mcp")


def delete(server: Server, user: User) -> None:
    with transaction.atomic():  # flows first, as legs lock them
        list(Flow.objects.select_for_update().filter(server=server))
        server.delete()


def assert_no_more_calls(recorder: Recorder) -> None:
    time.sleep(0.3)  # the one that is on its way
    before = len(calls(recorder))
    time.sleep(2.5)  # the pauses are shorter so far
    assert len(calls(recorder)) == before


@pytest.mark.parametrize("lose", [switch_off, leave_the_group, lock_out, move_away, delete])
def test_nothing_goes_on_by_itself(person: Person, server: Server, alice: User, lose: Loss) -> None:
    only_for_a_group(server, alice)
    with desk(server, required(None, "wait")) as recorder:
        begin(person)
        lose(server, alice)
        assert_no_more_calls(recorder)


@pytest.mark.parametrize(
    ("lose", "words"),
    [(switch_off, "switched off for you"), (leave_the_group, "switched off for you"), (move_away, "was changed")],
)
def test_nothing_goes_on_when_told(person: Person, server: Server, alice: User, lose: Loss, words: str) -> None:
    only_for_a_group(server, alice)
    with desk(server, required(None, "wait")) as recorder:
        begin(person)
        lose(server, alice)
        assert_no_more_calls(recorder)
        before = len(calls(recorder))
        flow = Flow.objects.get()
        token = person.get("/accounts/profile/").reader.forms[0].data()["csrfmiddlewaretoken"]
        page = person.post(f"/flows/{flow.pk}/again/", {"csrfmiddlewaretoken": token, "leg": [str(flow.leg)]})
        assert page.state in ("not_yet", "unsent")  # a leg that was about to depart was not sent
        assert words in page.text
        assert len(calls(recorder)) == before


def _until_it_pauses(seconds: float) -> None:
    """Until the next leg is that far away: none is about to depart."""
    end = time.monotonic() + BOUND
    while 0.25 * 2 ** (Flow.objects.get(state_only__gte=1).state_only - 2) < seconds:
        assert time.monotonic() < end
        time.sleep(0.02)


def test_a_flow_that_no_longer_goes_on_by_itself_says_so(person: Person, server: Server) -> None:
    with desk(server, required(None, "wait")) as recorder:
        path = begin(person).path
        _until_it_pauses(2)
        Server.objects.update(enabled=False)
        assert_no_more_calls(recorder)
        assert "We have stopped asking by ourselves" in person.get(path).text
        assert "switched off for you" in person.press("Check again").text


@pytest.mark.parametrize(("lose", "words"), [(switch_off, "switched off for you"), (move_away, "was changed")])
def test_answers_are_not_sent_and_stay_on_the_page(
    person: Person, server: Server, alice: User, lose: Loss, words: str
) -> None:
    with desk(server, asks()) as recorder:
        begin(person)
        lose(server, alice)
        person.fill("Name", "Ada")
        page = person.press("Send")
        assert (page.status, page.state, words in page.text) == (403, "waiting", True)
        assert "There is a problem" not in page.text
        assert "Error:" not in page.text
        assert "Ada" in page.response.text
        assert len(calls(recorder)) == 1


def test_a_new_address_gets_nothing_of_what_was_begun_at_another(person: Person, server: Server) -> None:
    with scripted(done()) as (elsewhere, other), desk(server, asks(), done()):
        begin(person)
        began_at = Server.objects.get().url
        Server.objects.update(url=elsewhere)
        person.fill("Name", "Ada")
        assert "was changed" in person.press("Send").text
        Server.objects.update(url=began_at)
        person.press("Send")
        assert person.until("completed").state == "completed"
        assert other.posts == []


def test_what_was_not_sent_does_not_go_to_a_new_address(person: Person, server: Server) -> None:
    with scripted(done()) as (elsewhere, other), desk(server, asks()):
        person.get(TOOL)
        person.fill("Topic", "cheese")
        move_away(server, User())
        assert person.press("Start").state == "unsent"
        Server.objects.update(url=elsewhere)
        assert "was changed" in person.press("Send again").text
        assert (person.page.state, other.posts) == ("unsent", [])


@pytest.mark.parametrize("button", ["Send", "Check first"])
def test_answers_to_a_server_that_was_deleted_are_given_back(person: Person, server: Server, button: str) -> None:
    with desk(server, asks()) as recorder:
        begin(person)
        server.delete()
        person.fill("Name", "typed with care")
        page = person.press(button)
        assert (page.status, "may have been removed" in page.text) == (404, True)
        assert "typed with care" in page.response.text
        assert len(calls(recorder)) == 1


@pytest.mark.parametrize(
    ("lose", "words"),
    [
        (switch_off, "switched off for you"),
        (leave_the_group, "switched off for you"),
        (lock_out, ""),
        (move_away, "was changed"),
    ],
)
def test_what_waits_for_its_turn_is_not_sent(
    person: Person, server: Server, alice: User, lose: Loss, words: str, settings: Settings
) -> None:
    settings.CONFIG = settings.CONFIG.model_copy(update={"legs_per_server": 1})
    only_for_a_group(server, alice)
    with desk(server, always(Answer(b": x\n\n", 200, {"content-type": "text/event-stream"}, "hang"))) as recorder:
        paths = []
        for _ in range(2):
            person.get(TOOL)
            person.fill("Topic", "cheese")
            paths.append(person.press("Start").path)
        lose(server, alice)
        assert ledger.move(uuid.UUID(paths[0].split("/")[2]), Event.STOPPED)
        end = time.monotonic() + BOUND
        while Flow.objects.filter(state="running").exists():
            assert time.monotonic() < end
            time.sleep(0.05)
        assert len(calls(recorder)) == 1
        assert Flow.objects.get(state="unsent").outcome == ("moved" if lose is move_away else "switched_off")
        if words:
            page = person.get(paths[1])
            assert (page.state, words in page.text, "safely send it again" in page.text) == ("unsent", True, False)
