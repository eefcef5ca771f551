"""Attacks on what people do about their own account: links by mail, former sessions, rows of who has left."""

from io import StringIO
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.contrib.auth.tokens import default_token_generator
from django.core.management import call_command
from django.db import connection
from django.test import Client
from django.utils.encoding import force_bytes
from django.utils.http import urlsafe_base64_encode

from mrtr_web import allowances, ledger
from mrtr_web.flow import Event
from mrtr_web.models import AuditEntry, Connection, Flow, Person, SealedRecord, Server, Session
from tests.reviewers import flow_of, looking
from tests.test_sessions import is_signed_in, running_flow

pytestmark = pytest.mark.django_db
NEW = "Zu7-plum-Tree"


def link(user: User) -> str:
    ident, token = urlsafe_base64_encode(force_bytes(user.pk)), default_token_generator.make_token(user)
    return f"/accounts/reset/{ident}/?token={token}"


def followed(client: Client, path: str) -> str:
    """The page without the token, to which the link leads."""
    response = client.get(path)
    assert response.status_code == 302, path
    return response.headers["Location"]


def set_new(client: Client, path: str) -> Any:
    return client.post(path, {"new_password1": NEW, "new_password2": NEW})


def test_a_link_used_where_one_is_signed_in_ends_that_session_too(alice: User, server: Server) -> None:
    client = looking(alice)
    row, leg = running_flow(alice, server)
    page = followed(client, link(alice))
    assert set_new(client, page).status_code == 302
    assert not Session.objects.filter(user=alice).exists() and not SealedRecord.objects.exists()
    assert not ledger.beat(row.pk, leg, 20)


def test_a_link_used_where_somebody_else_is_signed_in_is_theirs_alone(alice: User, bob: User) -> None:
    client, other = looking(bob), looking(alice)
    assert set_new(client, followed(client, link(alice))).status_code == 302
    assert is_signed_in(client) and not is_signed_in(other)


def test_a_link_is_dead_after_any_new_password_or_sign_in(alice: User) -> None:
    path, waiting = link(alice), Client()
    page = followed(waiting, path)
    alice.set_password("another one 77")
    alice.save()
    assert Client().get(path).status_code == 200
    assert b"does not work any more" in set_new(waiting, page).content


def test_a_password_that_is_taken_away_ends_the_sessions(alice: User, server: Server) -> None:
    client = looking(alice)
    row, leg = running_flow(alice, server)
    root = User.objects.create_superuser("root", password="root's password")
    looking(root).post(f"/admin/auth/user/{alice.pk}/password/", {"usable_password": "false", "unset-password": "1"})
    alice.refresh_from_db()
    assert not alice.has_usable_password()
    assert not Session.objects.filter(user=alice).exists() and not ledger.beat(row.pk, leg, 20)
    assert not is_signed_in(client)


def test_who_is_switched_off_keeps_no_session_that_could_come_back(alice: User, server: Server) -> None:
    client = looking(alice)
    row, leg = running_flow(alice, server)
    alice.is_active = False
    alice.save()
    assert not Session.objects.exists() and not SealedRecord.objects.exists() and not ledger.beat(row.pk, leg, 20)
    alice.is_active = True
    alice.save()
    assert not is_signed_in(client)


def holds(word: str) -> list[str]:
    """The tables in which a word stands anywhere."""
    with connection.cursor() as cursor:
        names = connection.introspection.table_names(cursor)
        rows = {name: cursor.execute(f"SELECT * FROM {name}").fetchall() for name in names}
    return [name for name, found in rows.items() if word in str(found)]


def test_who_is_deleted_stands_in_no_table(bob: User, server: Server) -> None:
    zoe = User.objects.create_user("zoe-x", email="zoe-x@example.org", password="zoe-x's password")
    looking(zoe)
    running_flow(zoe, server)
    Person.objects.create(user=zoe, time_zone="UTC")
    root = User.objects.create_superuser("root", password="root's password")
    held = Connection.objects.create(user=zoe, server=server, kind="each", url=server.url, sealed=b"")
    dropped = looking(root).post(f"/admin/mrtr_web/connection/{held.pk}/delete/", {"post": "yes"})
    assert dropped.status_code == 302
    allowances.spend(zoe.pk, "ask", server.pk)
    theirs = flow_of(bob, server)
    ledger.move(theirs.pk, Event.STOPPED, by=bob.pk, lease_until=None)
    assert {"auth_user", "mrtr_web_auditentry"} <= set(holds("zoe-x"))
    call_command("deleteperson", "zoe-x", "--yes", stdout=StringIO())
    assert holds("zoe-x") == []
    assert AuditEntry.objects.filter(person="bob", flow=theirs.pk).exists() and Flow.objects.get().user == bob


def test_rows_about_requests_go_under_whatever_name_they_were_made(alice: User, server: Server) -> None:
    theirs = flow_of(alice, server)
    ledger.move(theirs.pk, Event.STOPPED, by=alice.pk, lease_until=None)
    User.objects.filter(pk=alice.pk).update(username="alice-1")
    call_command("deleteperson", "alice-1", "--yes", stdout=StringIO())
    assert not AuditEntry.objects.exists()


def test_rows_of_who_had_the_name_before_are_left(server: Server) -> None:
    first = User.objects.create_user("zoe", password="zoe's password")
    theirs = flow_of(first, server)
    ledger.move(theirs.pk, Event.STOPPED, by=first.pk, lease_until=None)
    User.objects.filter(pk=first.pk).update(username="zoe-1")
    User.objects.create_user("zoe", password="zoe's password")
    call_command("deleteperson", "zoe", "--yes", stdout=StringIO())
    assert AuditEntry.objects.filter(flow=theirs.pk).exists()
