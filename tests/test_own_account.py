"""What people do about their own account: a new password, one that was forgotten, where they are signed in, leaving."""

import re
from collections.abc import Iterator
from urllib.parse import urlsplit

import pytest
from axes.models import AccessAttempt
from django.contrib.admin.models import ADDITION, LogEntry
from django.contrib.auth.models import User
from django.core.management import CommandError, call_command
from pytest_django import Settings

from mrtr_web import ledger, review
from mrtr_web.flow import Act, State
from mrtr_web.models import AuditEntry, Flow, Server, Session
from mrtr_web.views import reset
from tests.mailbox import Mailbox, mailbox, mails_to
from tests.person import BOUND, Person
from tests.reviewers import flow_of, looking

pytestmark = pytest.mark.django_db(transaction=True)
NEW = "Zu7-plum-Tree"


@pytest.fixture
def box(settings: Settings) -> Iterator[Mailbox]:
    with mailbox() as found:
        mails_to(found, settings)
        yield found


@pytest.fixture
def elsewhere(person: Person) -> Iterator[Person]:
    """Alice in another browser."""
    with Person(person.base) as someone:
        someone.sign_in("alice")
        yield someone


def new_password(person: Person, old: str = "alice's password", first: str = NEW, again: str = NEW) -> str:
    person.get("/accounts/password/")
    person.fill("Old password", old)
    person.fill("New password", first)
    person.fill("New password confirmation", again)
    return person.press("Change password").text


def is_in(person: Person) -> bool:
    return person.get("/accounts/profile/").path == "/accounts/profile/"


def test_a_new_password_signs_out_everywhere_else(person: Person, elsewhere: Person, alice: User) -> None:
    assert "Everywhere else you were signed out." in new_password(person)
    assert is_in(person) and not is_in(elsewhere)
    alice.refresh_from_db()
    assert alice.check_password(NEW)


@pytest.mark.parametrize(
    ("typed", "said"),
    [
        ({"old": "wrong"}, "Old password – Your old password was entered incorrectly."),
        ({"again": "other"}, "New password confirmation – The two password fields didn’t match."),
        ({"first": "alice1", "again": "alice1"}, "This password is too short."),
    ],
)
def test_what_is_wrong_with_a_new_password_is_said(
    person: Person, elsewhere: Person, alice: User, typed: dict[str, str], said: str
) -> None:
    assert said in new_password(person, **typed)
    alice.refresh_from_db()
    assert alice.check_password("alice's password") and is_in(elsewhere)


def test_who_has_no_password_here_is_not_asked_for_one(person: Person, alice: User) -> None:
    User.objects.filter(pk=alice.pk).update(password="!")
    client = looking(User.objects.get(pk=alice.pk))
    assert b"Change your password" not in client.get("/accounts/profile/").content
    assert client.get("/accounts/password/").headers["Location"] == "/accounts/profile/"


def test_the_other_sessions_are_listed_and_ended(person: Person, elsewhere: Person) -> None:
    page = person.get("/accounts/profile/")
    assert page.text.count("Another browser") == 1 and page.text.count("This browser") == 1
    assert "1 other session was ended." in person.press("Sign out everywhere else").text
    assert is_in(person) and not is_in(elsewhere)
    entry = AuditEntry.objects.get(event=Act.SESSIONS_ENDED)
    assert (entry.by, entry.person) == ("alice", "alice")
    assert "You are signed in nowhere else." in person.get("/accounts/profile/").text


class TestForgotten:
    @pytest.fixture
    def stranger(self, app: str, alice: User) -> Iterator[Person]:
        User.objects.filter(pk=alice.pk).update(email="alice@example.org")
        with Person(app) as someone:
            yield someone

    def ask(self, stranger: Person, address: str = "alice@example.org") -> str:
        stranger.get("/accounts/login/")
        stranger.get(stranger.page.link("Forgot your password?"))
        stranger.fill("Email", address)
        return stranger.press("Send the link").text

    def test_the_link_sets_a_new_password_once(self, stranger: Person, box: Mailbox, alice: User) -> None:
        with Person(stranger.base) as other:
            other.sign_in("alice")
            told = self.ask(stranger)
            mail = box.next()
            assert (mail["To"], mail["From"]) == ("alice@example.org", "Forms <mrtr@example.org>")
            assert mail["Subject"] == "New password for mrtr_web"
            link = re.search(r"http://\S+", mail.get_content())
            assert link is not None and link[0].startswith(f"{stranger.base}/accounts/reset/")
            path = link[0].removeprefix(stranger.base)
            assert "token" not in stranger.get(path).path and len(urlsplit(link[0]).path.split("/")) == 5
            stranger.fill("New password", NEW)
            stranger.fill("New password confirmation", NEW)
            assert "Your new password is set" in stranger.press("Set this password").text
            assert not is_in(other)
        alice.refresh_from_db()
        assert alice.check_password(NEW)
        assert "This link does not work any more" in stranger.get(path).text
        assert self.ask(stranger, "nobody@example.org") == told
        assert box.mails.empty()

    def test_a_mailbox_is_not_flooded(self, stranger: Person, box: Mailbox) -> None:
        told = {self.ask(stranger) for _ in range(4)}
        User.objects.create_user("bob", email="bob@example.org", password="bob's password")
        told.add(self.ask(stranger, "bob@example.org"))
        assert len(told) == 1
        assert [box.next()["To"] for _ in range(4)] == ["alice@example.org"] * 3 + ["bob@example.org"]
        assert box.mails.empty()

    def test_who_has_no_password_here_is_sent_no_link(self, stranger: Person, box: Mailbox, alice: User) -> None:
        """As people have none who come from a sign-in provider, whatever address they have there."""
        User.objects.filter(pk=alice.pk).update(password="!")
        User.objects.create_user("bob", email="alice@example.org", password="bob's password")
        self.ask(stranger)
        assert "your account bob at" in box.next().get_content()
        assert box.mails.empty()

    def test_a_mail_server_that_is_away_is_logged_without_the_address(
        self, stranger: Person, settings: Settings, box: Mailbox, caplog: pytest.LogCaptureFixture
    ) -> None:
        good, settings.EMAIL_PORT = settings.EMAIL_PORT, 1
        self.ask(stranger)
        reset._post.submit(int).result(BOUND)  # mails are written one after the other: the first was tried
        settings.EMAIL_PORT = good
        self.ask(stranger)
        box.next()
        said = [record for record in caplog.records if record.name.startswith(("django.contrib.auth", "mrtr_web"))]
        assert len(said) == 1 and "alice" not in said[0].getMessage()

    def test_without_a_mail_server_there_is_no_such_page(self, stranger: Person) -> None:
        assert "Forgot your password?" not in stranger.get("/accounts/login/").text
        assert stranger.get("/accounts/reset/").status == 404


class TestLeaving:
    @pytest.fixture
    def lived(self, alice: User, bob: User, server: Server) -> User:
        flow_of(alice, server, State.COMPLETED)
        theirs = flow_of(bob, server, State.COMPLETED)
        review.end_sessions(alice, by=alice.pk)
        ledger.note_person("bob", Act.SESSIONS_ENDED, by=alice.pk)
        AccessAttempt.objects.create(username="alice", ip_address="127.0.0.1", failures_since_start=1)
        LogEntry.objects.log_actions(bob.pk, [alice], ADDITION, single_object=True)
        looking(alice)
        assert Flow.objects.count() == 2 and theirs.user == bob
        return alice

    def test_a_person_goes_with_all_rows(self, lived: User, capsys: pytest.CaptureFixture[str]) -> None:
        call_command("deleteperson", "alice", "--yes")
        assert capsys.readouterr().out.splitlines() == [
            "Deleted: alice, 1 sessions, 1 requests, 1 rows of the audit trail.",
            "1 rows of the audit trail on what they did to others stay, with their name, until the purge.",
        ]
        assert [*User.objects.values_list("username", flat=True)] == ["bob"]
        assert [*AuditEntry.objects.values_list("person", "by")] == [("bob", "alice")]
        assert [*Flow.objects.values_list("user__username", flat=True)] == ["bob"]
        assert not Session.objects.exists() and not AccessAttempt.objects.exists() and not LogEntry.objects.exists()

    def test_nothing_goes_before_it_is_confirmed(self, lived: User, capsys: pytest.CaptureFixture[str]) -> None:
        call_command("deleteperson", "alice")
        assert capsys.readouterr().out.startswith("Would delete (say --yes): alice, 1 sessions, 1 requests, 1 rows")
        assert User.objects.filter(username="alice").exists() and LogEntry.objects.exists()

    def test_nobody_of_that_name_is_said(self) -> None:
        with pytest.raises(CommandError, match="There is nobody of that name"):
            call_command("deleteperson", "zoe", "--yes")


def test_who_chose_no_time_zone_is_offered_the_sites(alice: User, settings: Settings) -> None:
    settings.TIME_ZONE = "Europe/Paris"
    client = looking(alice)
    assert b'<option value="Europe/Paris" selected>' in client.get("/accounts/profile/").content
