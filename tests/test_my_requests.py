"""My requests: what can be done with each from the list, and content that is forgotten before the session ends."""

import pytest
from django.contrib.auth.models import User

from mrtr_web import mine
from mrtr_web.flow import State
from mrtr_web.models import AuditEntry, Flow, SealedRecord, Server
from tests.desk import asks, desk, done, start
from tests.person import Person
from tests.reviewers import flow_of, looking

pytestmark = pytest.mark.django_db(transaction=True)
DELETE = "Forget now"


def test_a_result_is_forgotten_at_once_and_that_it_was_made_stays(person: Person, server: Server) -> None:
    with desk(server, done("The cheese is ready.")):
        start(person)
        person.until("completed")
        assert "The cheese is ready." in person.page.text
        person.press(DELETE)
    assert person.page.path == "/flows/"
    assert "Removed." in person.page.text
    assert not SealedRecord.objects.exists()
    row = Flow.objects.get()
    assert (row.state, row.outcome) == ("completed", "done")
    assert AuditEntry.objects.filter(flow=row.pk).count() == 2
    page = person.get(f"/flows/{row.pk}/")
    assert "The cheese is ready." not in page.text and "you had it forgotten" in page.text
    with pytest.raises(AssertionError):
        page.button(DELETE)


def test_an_open_request_is_not_forgotten(person: Person, server: Server) -> None:
    with desk(server, asks()):
        start(person)
        person.until("waiting")
        row = Flow.objects.get()
        person.post(f"/flows/{row.pk}/forget/", person.page.button("Stop this request")[0].data())
        assert SealedRecord.objects.filter(pk=row.pk).exists()
        assert person.get(f"/flows/{row.pk}/").state == "waiting"


def test_nobody_else_has_it_forgotten(person: Person, server: Server, bob: User) -> None:
    with desk(server, done()):
        start(person)
        person.until("completed")
    assert looking(bob).post(f"/flows/{Flow.objects.get().pk}/forget/").status_code == 404
    assert SealedRecord.objects.exists()


def test_requests_are_stopped_and_started_again_from_the_list(person: Person, server: Server) -> None:
    with desk(server, asks()):
        start(person, "blue cheese")
        person.until("waiting")
        person.get("/flows/")
        person.press("Stop this request")
        assert person.page.state == "stopped"
        page = person.get("/flows/")
        person.get(page.link("Do it again with the same input"))
    assert "blue cheese" in person.page.response.text


def test_equal_requests_are_told_apart_by_what_was_typed_and_what_is_asked(person: Person, server: Server) -> None:
    with desk(server, asks("s1"), asks("s2", "And which wine?"), done()):
        for topic in ("blue cheese", "red cheese"):
            start(person, topic)
            person.until("waiting")
        page = person.get("/flows/")
    assert "Topic blue cheese" in page.text and "Topic red cheese" in page.text
    assert "Asked now: And which wine?" in page.text
    assert all(f"Reference {row.reference}" in page.text for row in Flow.objects.all())


def test_nothing_typed_is_told_in_another_browser(person: Person, server: Server, app: str) -> None:
    with desk(server, asks(), done()), Person(app) as other:
        start(person, "blue cheese")
        person.until("waiting")
        other.sign_in("alice")
        page = other.get("/flows/")
    assert "blue cheese" not in page.text and "Asked now: one form" in page.text


def test_a_large_record_is_not_opened_for_the_list(
    person: Person, server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(mine, "SMALL", 100)
    with desk(server, done()):
        start(person, "blue cheese")
        person.until("completed")
    assert "blue cheese" not in person.get("/flows/").text


def test_a_long_list_shows_the_newest_and_then_older_ones(alice: User, server: Server) -> None:
    flows = [flow_of(alice, server, state=State.COMPLETED) for _ in range(25)]
    client = looking(alice)

    def shown(query: str) -> tuple[int, bool]:
        page = client.get(f"/flows/{query}").content.decode()
        return sum(flow.reference in page for flow in flows), "Show older" in page

    assert shown("") == (10, True)
    assert shown("?ended=20") == (20, True)
    assert shown("?ended=30") == (25, False)
    assert shown("?ended=x") == shown("?ended=-1") == (10, True)
    assert 'href="?ended=20#over-10"' in client.get("/flows/").content.decode()


def test_all_that_are_finished_are_forgotten_at_once_and_no_other(person: Person, server: Server, bob: User) -> None:
    with desk(server, done(), done(), asks()):
        for state in ("completed", "completed", "waiting"):
            start(person)
            person.until(state)
        person.get("/flows/")
        assert "of 2 requests" in person.page.text
        person.press("Forget all that have ended")
        assert (person.page.path, "Removed, of 2 requests." in person.page.text) == ("/flows/", True)
        assert [record.flow.state for record in SealedRecord.objects.all()] == ["waiting"]
        assert "Forget all" not in person.page.text
        looking(bob).post("/flows/forget/")
        assert SealedRecord.objects.count() == 1
        assert person.get("/flows/forget/").path == "/flows/"
    assert Flow.objects.count() == 3
