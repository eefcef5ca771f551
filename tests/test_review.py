"""What reviewers do, and what people see of it: through the pages, without scripts."""

from collections.abc import Iterator

import pytest
from django.contrib.auth.models import User

from mrtr_web import ledger
from mrtr_web.models import AuditEntry, Flow, SealedRecord, Server, Session
from tests.desk import asks, calls, desk, done, start
from tests.hints import listening
from tests.person import Person
from tests.reviewers import admitted, permission, reviewer_of
from tests.servers import Recorder, events

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def rita(app: str, server: Server, alice: User) -> Iterator[Person]:
    """A reviewer of the group that alice is in and that the server is for."""
    reviewer_of("rita", server, may=("switch_server", "end_sessions"))
    admitted(alice, server)
    with Person(app) as someone:
        someone.sign_in("rita")
        yield someone


def audit(*fields: str) -> list[tuple[object, ...]]:
    return list(AuditEntry.objects.order_by("id").values_list(*fields))


def begin(person: Person) -> Flow:
    start(person)
    person.until("waiting")
    return Flow.objects.get()


def desk_of(row: Flow) -> str:
    return f"/review/{row.pk}/"


def test_a_withdrawn_request_is_over_and_the_person_reads_why(person: Person, rita: Person, server: Server) -> None:
    with desk(server, asks(), done()) as recorder:
        row = begin(person)
        rita.get(desk_of(row))
        rita.fill("Reason", "Booked twice <b>")
        page = rita.press("Withdraw")
        assert "Withdrawn. The person sees your reason." in page.text and "Booked twice" in page.text
        page = person.get(f"/flows/{row.pk}/")
        assert page.state == "withdrawn" and "Their reason: Booked twice <b>" in page.text
        assert "Name" not in [control.label for form in page.reader.forms for control in form.controls]
        assert len(calls(recorder)) == 1
        last = AuditEntry.objects.first()
        assert last is not None
        assert (last.event, last.by, last.person, last.server) == ("withdrawn", "rita", "alice", "demo")
        assert (last.before, last.after, last.note) == ("waiting", "withdrawn", "Booked twice <b>")


def test_of_a_withdrawn_request_only_what_starts_it_anew_is_kept(person: Person, rita: Person, server: Server) -> None:
    """The reviewer cannot open the record; the person's next look at it makes it small."""
    with desk(server, asks(), done()):
        row = begin(person)
        before = len(SealedRecord.objects.get().sealed)
        rita.get(desk_of(row))
        rita.fill("Reason", "No")
        rita.press("Withdraw")
        person.get(f"/flows/{row.pk}/")
        assert len(SealedRecord.objects.get().sealed) < before
        person.get(f"{person.page.link('Do it again')}")
        assert person.page.status == 200 and "cheese" in person.page.response.text


def test_a_reason_is_needed_and_nothing_is_lost_without(person: Person, rita: Person, server: Server) -> None:
    with desk(server, asks(), done()):
        row = begin(person)
        rita.get(desk_of(row))
        page = rita.press("Withdraw")
        assert page.status == 422 and "Say why: the person will read it." in page.text
        row.refresh_from_db()
        assert row.state == "waiting"


def test_what_is_over_is_not_withdrawn(person: Person, rita: Person, server: Server) -> None:
    with desk(server, asks(), done()):
        row = begin(person)
        rita.get(desk_of(row))
        person.press("Stop")
        rita.fill("Reason", "Too late")
        page = rita.press("Withdraw")
        assert "Nothing was changed: the request had moved on." in page.text
        assert Flow.objects.get().state == "stopped"


def test_a_withdrawn_leg_is_cut_off(person: Person, rita: Person, server: Server) -> None:
    with desk(server, lambda post: events(then="hang")) as recorder:
        start(person)
        row = Flow.objects.get()
        rita.get(desk_of(row))
        rita.fill("Reason", "It hangs")
        rita.press("Withdraw")
        assert recorder.gone.wait(2), "the server still works"
        assert person.get(f"/flows/{row.pk}/").state == "withdrawn"


def test_a_reminder_is_seen_on_every_page_until_the_person_goes_on(
    person: Person, rita: Person, server: Server
) -> None:
    words = "A reviewer asks you to go on"
    with desk(server, asks(), asks("s2"), done()):
        row = begin(person)
        assert words not in person.page.text
        rita.get(desk_of(row))
        assert "Reminded: they see it" in rita.press("Remind").text
        assert words in person.get("/").text
        assert words in person.get("/flows/").text
        assert words in person.get(f"/flows/{row.pk}/").text
        person.fill("Name", "Ada")
        person.press("Send")
        person.until("waiting")
        assert words not in person.page.text and words not in person.get("/").text
        assert audit("event", "by")[2] == ("reminded", "rita")


def test_a_reminder_reaches_the_open_page_at_once(person: Person, rita: Person, server: Server) -> None:
    with desk(server, asks(), done()):
        row = begin(person)
        with listening(person, "waiting.1.0.1") as ear:
            rita.get(desk_of(row))
            rita.press("Remind")
            assert ear.next() == {"type": "moved", "flow": str(row.pk)}


def test_reviewers_say_who_looks_after_a_request(person: Person, rita: Person, app: str, server: Server) -> None:
    reviewer_of("ronja", server)
    with desk(server, asks(), done()), Person(app) as ronja:
        row = begin(person)
        rita.get(desk_of(row))
        rita.fill("Note", "Called her")
        assert "You look after this request now." in rita.press("Look after it").text
        ronja.sign_in("ronja")
        page = ronja.get("/review/")
        assert "rita" in page.text and "Called her" in page.text
        ronja.get(desk_of(row))
        ronja.press("Take it over")
        assert "Take it over" in rita.get(desk_of(row)).text
        ronja.press("Leave it to others")
        row.refresh_from_db()
        assert (row.taken_by, row.note) == (None, "")
        assert [event for event, *_ in audit("event")][2:] == ["taken", "taken", "released"]


def test_a_server_is_switched_off_and_on(person: Person, rita: Person, server: Server) -> None:
    with desk(server, asks(), done()) as recorder:
        row = begin(person)
        rita.get("/review/servers/")
        page = rita.press("Switch off")
        assert page.status == 422 and Server.objects.get().enabled
        with listening(person, "waiting.1.0.1") as ear:
            rita.fill("Reason", "It loses bookings")
            page = rita.press("Switch off")
            assert ear.next() == {"type": "moved", "flow": str(row.pk)}
        assert "Demo desk is switched off." in page.text
        page = person.get(f"/flows/{row.pk}/")
        assert "Demo desk is switched off at the moment" in page.text
        person.fill("Name", "Ada")
        page = person.press("Send")
        assert page.status == 403 and 'value="Ada"' in page.response.text and len(calls(recorder)) == 1
        rita.press("Switch on")
        assert person.get(f"/flows/{row.pk}/").text.count("switched off") == 0
        person.fill("Name", "Ada")
        person.press("Send")
        person.until("completed")
        assert audit("event", "by", "note")[2:4] == [
            ("server_off", "rita", "It loses bookings"),
            ("server_on", "rita", ""),
        ]


def test_a_running_leg_of_a_server_that_is_switched_off_finishes(
    person: Person, rita: Person, server: Server, demo: Recorder
) -> None:
    person.get("/s/demo/tools/slow_report/")
    person.fill("Seconds", "2")
    assert person.press("Start").state == "running"
    ledger.switch(server, on=False, by=User.objects.get(username="rita").pk)
    assert "switched off at the moment" in person.get(person.page.path).text
    assert "The report is done." in person.until("completed").text


def test_ending_a_persons_sessions_says_what_is_lost(person: Person, rita: Person, server: Server) -> None:
    with desk(server, asks(), done()):
        row = begin(person)
        rita.get(f"/review/{row.pk}/end-sessions/")
        assert (
            "They are signed in once." in rita.page.text
            and "One request of theirs that you review is open" in rita.page.text
        )
        page = rita.press("End them")
        assert "1 session was ended." in page.text
        assert (Flow.objects.get().state, SealedRecord.objects.count()) == ("expired", 0)
        assert not Session.objects.filter(user__username="alice").exists()
        assert "Sign in" in person.get("/").text
        assert audit("event", "by", "person")[2:] == [
            ("session_ended", "rita", "alice"),
            ("sessions_ended", "rita", "alice"),
        ]


def test_a_note_that_cannot_be_kept_is_given_back(person: Person, rita: Person, server: Server) -> None:
    with desk(server, asks(), done()):
        row = begin(person)
        rita.get(desk_of(row))
        rita.fill("Note", "n" * 301)
        page = rita.press("Look after it")
        assert page.status == 422 and "n" * 301 in page.response.text
        token = page.reader.forms[0].data()["csrfmiddlewaretoken"]
        page = rita.post(f"{desk_of(row)}take/", {"csrfmiddlewaretoken": token[:1], "note": ["a\0b"]})
        assert page.status == 422 and "Null characters are not allowed." in page.text
        row.refresh_from_db()
        assert row.taken_by is None


def test_a_superusers_sessions_are_not_a_reviewers_to_end(app: str, rita: Person, server: Server) -> None:
    root = User.objects.create_superuser("root", password="root's password")
    with desk(server, asks(), done()), Person(app) as theirs:
        theirs.sign_in("root")
        row = begin(theirs)
        assert "End all sessions" not in rita.get(desk_of(row)).text
        assert rita.get(f"{desk_of(row)}end-sessions/").status == 404
        assert Session.objects.filter(user=root).exists()


@pytest.mark.parametrize("name", ["switch_server", "end_sessions"])
def test_each_intervention_beyond_one_request_has_a_permission_of_its_own(
    person: Person, rita: Person, server: Server, name: str
) -> None:
    with desk(server, asks(), done()):
        row = begin(person)
        User.objects.get(username="rita").user_permissions.remove(permission(name))
        path = "/review/servers/demo/switch/" if name == "switch_server" else f"/review/{row.pk}/end-sessions/"
        rita.get("/review/servers/")
        assert ("Switch off" in rita.page.text) == (name != "switch_server")
        rita.get(desk_of(row))
        token = rita.page.reader.forms[0].data()["csrfmiddlewaretoken"]
        page = rita.post(path, {"csrfmiddlewaretoken": [token[0]], "to": ["off"], "reason": ["because"]})
        assert page.status == 404
        assert Server.objects.get().enabled and Flow.objects.get().state == "waiting"
