"""Keys are replaced while people are in the middle of a request: they notice nothing.

Other settings in the running app stand for a restart with them: no key is kept anywhere else.
"""

from io import StringIO

import pytest
from django.contrib.auth.models import User
from django.core.management import call_command
from pytest_django import Settings

from mrtr_web import credentials
from mrtr_web.models import Server
from tests.desk import asks, calls, desk, done, start
from tests.person import Person
from tests.test_credentials import CANARY, NEW, OLD, keys
from tests.test_sessions import is_signed_in, rotate, signed_in

pytestmark = pytest.mark.django_db(transaction=True)


def answer(person: Person) -> None:
    person.fill("Name", "Ada")
    person.press("Send")


def test_a_request_outlives_the_secret_key_that_it_began_under(
    person: Person, server: Server, settings: Settings
) -> None:
    with desk(server, asks(), asks("s2"), done()) as recorder:
        start(person)
        person.until("waiting")
        rotate(settings)
        answer(person)
        person.until_told("Round 2")
        settings.SECRET_KEY_FALLBACKS = []  # what was saved since is under the new key
        answer(person)
        person.until("completed")
    assert [call.params.get("requestState") for call in calls(recorder)] == [None, "s1", "s2"]


def test_a_request_is_over_where_the_secret_key_that_it_waits_under_is_gone(
    person: Person, server: Server, settings: Settings
) -> None:
    with desk(server, asks()):
        start(person)
        waiting = person.until("waiting").path
        rotate(settings)
        settings.SECRET_KEY_FALLBACKS = []
        assert person.get(waiting).path == "/accounts/login/"


def test_a_request_outlives_the_key_of_its_servers_credential(
    person: Person, server: Server, settings: Settings
) -> None:
    keys(settings, OLD)
    with desk(server, asks(), done()) as recorder:
        found = Server.objects.get()
        credentials.give(found, "bearer", CANARY)
        found.save()
        start(person)
        person.until("waiting")
        keys(settings, NEW, OLD)
        call_command("rotatekeys", stdout=StringIO())
        keys(settings, NEW)
        answer(person)
        person.until("completed")
    assert [call.headers["authorization"] for call in calls(recorder)] == [f"Bearer {CANARY}"] * 2


def test_two_tabs_that_come_at_once_after_the_rotation_both_stay_signed_in(alice: User, settings: Settings) -> None:
    client = signed_in(alice)
    before = dict(client.cookies)
    rotate(settings)
    assert is_signed_in(client)
    client.cookies.clear()
    client.cookies.update(before)  # on its way before the answer to the first one was there
    assert is_signed_in(client)
    settings.SECRET_KEY_FALLBACKS = []
    assert is_signed_in(client)


def test_processes_with_the_keys_in_either_order_serve_side_by_side(
    person: Person, server: Server, settings: Settings
) -> None:
    with desk(server, asks(), asks("s2"), done()):
        start(person)
        person.until("waiting")
        old = settings.SECRET_KEY
        rotate(settings)
        answer(person)
        person.until_told("Round 2")
        settings.SECRET_KEY, settings.SECRET_KEY_FALLBACKS = old, [settings.SECRET_KEY]
        person.get(person.page.path)
        rotate(settings)
        answer(person)
        person.until("completed")
