"""Attacks on what people do about their own account: links by mail, former sessions, rows of who has left."""

from typing import Any

import pytest
from django.contrib.auth.models import User
from django.contrib.auth.tokens import default_token_generator
from django.test import Client
from django.utils.encoding import force_bytes
from django.utils.http import urlsafe_base64_encode

from mrtr_web import ledger
from mrtr_web.models import SealedRecord, Server, Session
from tests.reviewers import looking
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
