"""A session counts only with its key, dies with everything that hangs on it, and carries it over a new name."""

import uuid
from datetime import datetime, timedelta
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.contrib.sessions.backends.base import UpdateError
from django.core.management import call_command
from django.db import transaction
from django.test import Client
from django.utils import timezone
from pytest_django import Settings

from mrtr_web import ledger, sessions
from mrtr_web.flow import Event
from mrtr_web.models import AuditEntry, Flow, SealedRecord, Server, Session

pytestmark = pytest.mark.django_db
KEY, NAME = "mrtr_key", "mrtr_session"


def signed_in(user: User) -> Client:
    client = Client()
    sign_in(client, user)
    return client


def sign_in(client: Client, user: User) -> Any:
    response = client.post("/accounts/login/", {"username": user.username, "password": f"{user.username}'s password"})
    assert response.status_code == 302
    return response


def is_signed_in(client: Client) -> bool:
    return client.get("/flows/").status_code == 200


def cookies(client: Client) -> dict[str, str]:
    return {name: morsel.value for name, morsel in client.cookies.items()}


def running_flow(user: User, server: Server) -> tuple[Flow, uuid.UUID]:
    """A flow with a leg in the air, under this person's only session."""
    row = Flow(user=user, server=server, method="tools/call", name="t")
    leg = ledger.begin(row, session=Session.objects.get(user=user).pk, sealed=b"sealed", lease=20)
    assert leg is not None
    return row, leg


def assert_over(row: Flow, leg: uuid.UUID) -> None:
    """The flow is expired with audit, its record gone, its leg unwanted and its result dropped."""
    row.refresh_from_db()
    assert row.state == "expired"
    assert not SealedRecord.objects.exists()
    assert AuditEntry.objects.filter(flow=row.pk, event="session_ended", after="expired").count() == 1
    assert not ledger.beat(row.pk, leg, 20)
    assert not ledger.land(row.pk, leg, ledger.Landing(Event.FINISHED, "done", 0, b"late"))
    row.refresh_from_db()
    assert row.state == "expired"


def test_the_key_cookie_is_for_this_browser_session_alone(alice: User) -> None:
    client = Client()
    morsel = sign_in(client, alice).cookies[KEY]
    assert (morsel["httponly"], morsel["samesite"], morsel["max-age"], morsel["expires"]) == (
        True,
        "Lax",
        "",
        "",
    )
    session_cookie = client.cookies[NAME]
    assert (session_cookie["httponly"], session_cookie["max-age"], session_cookie["expires"]) == (
        True,
        "",
        "",
    )
    assert is_signed_in(client)


def test_the_server_keeps_the_digest_of_the_key_and_not_the_key(alice: User) -> None:
    client = signed_in(alice)
    row = Session.objects.get()
    secret = sessions.secret_in(cookies(client))
    assert secret is not None
    assert row.key_digest == sessions.digest(secret)
    assert client.cookies[KEY].value not in (row.session_data, row.session_key)


@pytest.mark.parametrize("bad", ["", "x", "AAAA", "A" * 43 + "=", "é"])
def test_without_the_right_key_one_is_signed_out_and_the_session_is_over(alice: User, server: Server, bad: str) -> None:
    client = signed_in(alice)
    row, leg = running_flow(alice, server)
    client.cookies[KEY] = bad
    assert not is_signed_in(client)
    assert_over(row, leg)


def test_the_key_of_another_person_does_not_fit(alice: User, bob: User) -> None:
    client, other = signed_in(alice), signed_in(bob)
    client.cookies[KEY] = other.cookies[KEY].value
    assert not is_signed_in(client)
    assert is_signed_in(other)


@pytest.mark.parametrize("path", ["/accounts/logout/", "/admin/logout/"])
def test_signing_out_asks_first_where_it_would_end_open_requests(alice: User, server: Server, path: str) -> None:
    client = signed_in(alice)
    row, leg = running_flow(alice, server)
    asked = client.post(path)
    assert asked["location"] == "/accounts/sign-out/"
    page = client.get(asked["location"]).content.decode()
    assert "A request of yours is still open in this browser. Signing out ends it" in page and 'name="sure"' in page
    assert is_signed_in(client) and ledger.beat(row.pk, leg, 20)
    ledger.move(row.pk, Event.STOPPED, by=alice.pk, lease_until=None)
    assert client.post(path)["location"] == "/accounts/login/?bye"
    assert not is_signed_in(client)


def test_signing_out_ends_everything_while_a_leg_is_running(alice: User, server: Server) -> None:
    client = signed_in(alice)
    row, leg = running_flow(alice, server)
    response = client.post("/accounts/logout/", {"sure": "1"})
    assert response.cookies[KEY].value == ""
    assert response["Clear-Site-Data"] == '"cache", "storage"'
    assert_over(row, leg)


def test_a_session_ended_by_an_admin_ends_everything_while_a_leg_is_running(
    alice: User, bob: User, server: Server
) -> None:
    client = signed_in(alice)
    row, leg = running_flow(alice, server)
    assert sessions.end_sessions_of(alice.pk, by=bob.pk) == 1
    assert_over(row, leg)
    assert AuditEntry.objects.get(event="session_ended").by == "bob"
    assert not is_signed_in(client)


def test_an_expired_session_does_not_count_and_is_cleared(alice: User, server: Server) -> None:
    client = signed_in(alice)
    row, leg = running_flow(alice, server)
    Session.objects.update(expire_date=timezone.now() - timedelta(seconds=1))
    assert not is_signed_in(client)
    call_command("purge")
    assert_over(row, leg)
    assert not Session.objects.exists()


def test_clearing_leaves_living_sessions_alone(alice: User) -> None:
    client = signed_in(alice)
    call_command("purge")
    assert is_signed_in(client)


def test_a_session_that_is_gone_ends_once(alice: User) -> None:
    signed_in(alice)
    pk = Session.objects.get().pk
    assert sessions.end_session(pk)
    assert not sessions.end_session(pk)


def test_a_second_sign_in_of_the_same_person_keeps_what_they_have(alice: User, server: Server) -> None:
    client = signed_in(alice)
    row, leg = running_flow(alice, server)
    before = cookies(client)[KEY]
    sign_in(client, alice)
    assert cookies(client)[KEY] == before
    assert is_signed_in(client)
    assert ledger.beat(row.pk, leg, 20)
    assert Session.objects.count() == 1


def test_another_person_at_the_same_browser_gets_nothing(alice: User, bob: User, server: Server) -> None:
    client = signed_in(alice)
    row, leg = running_flow(alice, server)
    before = cookies(client)[KEY]
    sign_in(client, bob)
    assert cookies(client)[KEY] != before
    assert_over(row, leg)
    assert [session.user for session in Session.objects.all()] == [bob]


def test_a_session_planted_before_sign_in_is_renamed_and_gets_a_key(alice: User) -> None:
    client = Client()
    planted = client.session
    planted["x"] = 1
    planted.save()
    client.cookies[NAME] = planted.session_key or ""
    client.cookies[KEY] = "A" * 43 + "="
    sign_in(client, alice)
    assert client.cookies[NAME].value != planted.session_key
    assert client.cookies[KEY].value != "A" * 43 + "="
    assert Session.objects.filter(session_key=planted.session_key).count() == 0


@pytest.mark.parametrize("asynchronous", [False, True])
def test_a_new_session_key_carries_the_records_over(alice: User, server: Server, asynchronous: bool) -> None:
    from asgiref.sync import async_to_sync

    client = signed_in(alice)
    row, leg = running_flow(alice, server)
    store = sessions.SessionStore(client.cookies[NAME].value)
    old = store.session_key
    if asynchronous:
        async_to_sync(store.acycle_key)()
    else:
        store.cycle_key()
    assert store.session_key != old
    client.cookies[NAME] = store.session_key or ""
    assert is_signed_in(client)
    assert ledger.beat(row.pk, leg, 20)


def test_a_new_password_ends_the_other_sessions_at_once(alice: User, server: Server) -> None:
    client = signed_in(alice)
    row, leg = running_flow(alice, server)
    other = signed_in(alice)
    sessions._current.set(Session.objects.latest("pk"))
    alice.set_password("a quite new password")
    alice.save()
    assert_over(row, leg)
    assert Session.objects.count() == 1
    assert not is_signed_in(client)
    assert not is_signed_in(other)  # kept by end_others, but signed with the old password's hash


def test_saving_a_session_leaves_key_and_lifetimes_alone(alice: User) -> None:
    client = signed_in(alice)
    columns = ("key_digest", "ends_at", "seen_at", "expire_date", "user_id")
    before = Session.objects.values(*columns).get()
    store = sessions.SessionStore(client.cookies[NAME].value)
    store["more"] = 1
    store.save()
    assert Session.objects.values(*columns).get() == before


def test_a_session_that_is_gone_cannot_be_saved_again(alice: User) -> None:
    client = signed_in(alice)
    store = sessions.SessionStore(client.cookies[NAME].value)
    store["more"] = 1
    Session.objects.all().delete()
    with pytest.raises(UpdateError):
        store.save()
    assert not Session.objects.exists()


def seen(minutes_ago: int) -> datetime:
    when = timezone.now() - timedelta(minutes=minutes_ago)
    Session.objects.update(seen_at=when, expire_date=when + timedelta(hours=4))
    return when


def test_activity_is_saved_at_most_once_a_minute(alice: User) -> None:
    client = signed_in(alice)
    long_ago = seen(10)
    client.get("/flows/")
    first = Session.objects.get()
    assert first.seen_at > long_ago and first.expire_date > timezone.now() + timedelta(hours=3, minutes=59)
    client.get("/flows/")
    assert Session.objects.get().seen_at == first.seen_at


def test_polls_are_not_activity(alice: User) -> None:
    client = signed_in(alice)
    long_ago = seen(10)
    client.get("/flows/", headers={"X-Mrtr-Poll": "1"})
    client.get("/flows/?poll=1")
    assert Session.objects.get().seen_at == long_ago


def test_what_another_site_posts_is_not_activity(alice: User) -> None:
    client = signed_in(alice)
    long_ago = seen(10)
    client.handler.enforce_csrf_checks = True
    assert client.post("/accounts/profile/", {"time_zone": "UTC"}).status_code == 403
    assert client.get("/nowhere/").status_code == 404
    assert Session.objects.get().seen_at == long_ago


NOWHERE = "00000000-0000-4000-8000-000000000000"


@pytest.mark.parametrize(
    ("method", "path", "status"),
    [
        ("post", "/accounts/session/", 403),
        ("post", f"/flows/{NOWHERE}/stop/", 403),
        ("get", "/nowhere/", 404),
        ("get", f"/flows/{NOWHERE}/", 404),
        ("get", "/healthz", 200),
        ("get", "/readyz", 200),
    ],
)
def test_what_is_refused_or_no_page_is_not_activity(alice: User, method: str, path: str, status: int) -> None:
    client = signed_in(alice)
    client.handler.enforce_csrf_checks = True
    long_ago = seen(239)
    answer = client.generic(method.upper(), path, headers={"origin": "https://evil.example"})
    assert (answer.status_code, Session.objects.get().seen_at) == (status, long_ago)
    assert 'data-seconds="14400"' not in answer.content.decode()


def test_work_in_the_admin_is_activity(alice: User) -> None:
    User.objects.update(is_staff=True, is_superuser=True)
    client = signed_in(alice)
    long_ago = seen(10)
    assert client.get("/admin/").status_code == 200
    assert Session.objects.get().seen_at > long_ago


def test_activity_never_outlives_the_absolute_end(alice: User) -> None:
    client = signed_in(alice)
    seen(10)
    end = timezone.now() + timedelta(minutes=5)
    Session.objects.update(ends_at=end)
    client.get("/flows/")
    assert Session.objects.get().expire_date == end


def rotate(settings: Settings) -> None:
    settings.SECRET_KEY_FALLBACKS = [settings.SECRET_KEY]
    settings.SECRET_KEY = "a-new-key-0123456789-abcdefghijklmnopqrstuvwxyz-0123456789"


def test_a_rotated_secret_key_keeps_session_and_records_page_first(
    alice: User, server: Server, settings: Settings
) -> None:
    client = signed_in(alice)
    row, leg = running_flow(alice, server)
    rotate(settings)
    assert is_signed_in(client)
    assert sessions.peek(cookies(client)) is not None
    assert is_signed_in(client)
    assert ledger.beat(row.pk, leg, 20)


def test_a_rotated_secret_key_keeps_session_and_records_socket_first(
    alice: User, server: Server, settings: Settings
) -> None:
    client = signed_in(alice)
    row, leg = running_flow(alice, server)
    rotate(settings)
    before = Session.objects.values().get()
    visitor = sessions.peek(cookies(client))
    assert visitor is not None and visitor.user == alice.pk
    assert Session.objects.values().get() == before
    assert is_signed_in(client)
    assert ledger.beat(row.pk, leg, 20)


def test_a_peek_needs_key_session_and_an_active_person(alice: User) -> None:
    client = signed_in(alice)
    both = cookies(client)
    assert sessions.peek(both) is not None
    assert sessions.peek({NAME: both[NAME]}) is None
    assert sessions.peek({KEY: both[KEY]}) is None
    User.objects.update(is_active=False)
    assert sessions.peek(both) is None


def test_a_visitor_prints_no_key(alice: User) -> None:
    visitor = sessions.peek(cookies(signed_in(alice)))
    assert visitor is not None
    assert str(visitor.secret) not in repr(visitor) and "secret" not in repr(visitor)


@pytest.mark.django_db(transaction=True)
def test_ending_is_one_transaction(alice: User, server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    signed_in(alice)
    row, _ = running_flow(alice, server)

    def broken(*args: object, **kwargs: object) -> bool:
        raise RuntimeError

    monkeypatch.setattr(ledger, "move", broken)
    with pytest.raises(RuntimeError), transaction.atomic():
        sessions.end_session(Session.objects.get().pk)
    assert SealedRecord.objects.filter(flow=row).exists() and Session.objects.exists()
