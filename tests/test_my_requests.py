"""My requests: what can be done with each from the list, and content that is forgotten before the session ends."""

import pytest
from django.contrib.auth.models import User

from mrtr_web.models import AuditEntry, Flow, SealedRecord, Server
from tests.desk import asks, desk, done, start
from tests.person import Person
from tests.reviewers import looking

pytestmark = pytest.mark.django_db(transaction=True)
DELETE = "Delete what was typed and answered"


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
        person.get(page.link("Start again with the same input"))
    assert "blue cheese" in person.page.response.text
