"""Staff of the admin: superusers, clerks with some permissions, and forms of the admin that are opened and saved."""

import contextlib
from collections.abc import Iterator
from typing import Any

import pytest
from django.contrib.auth.models import Permission, User

from mrtr_web.models import Server
from tests.person import Page, Person
from tests.visitors import cookies_of

ADD = "/admin/mrtr_web/server/add/"


def staff(name: str, *permissions: str, **more: Any) -> User:
    user = User.objects.create_user(name, password=f"{name}'s password", is_staff=True, **more)
    user.user_permissions.set(Permission.objects.filter(codename__in=permissions))
    return user


@pytest.fixture
def root(app: str) -> Iterator[Person]:
    """A superuser, signed in."""
    staff("root", is_superuser=True)
    with Person(app) as someone:
        someone.sign_in("root")
        yield someone


@pytest.fixture
def clerk(app: str) -> Iterator[Person]:
    """Staff who may do everything with servers, and are no superuser."""
    staff("clerk", "add_server", "change_server", "view_server", "delete_server")
    with Person(app) as someone:
        someone.sign_in("clerk")
        yield someone


def page_of(server: Server) -> str:
    return f"/admin/mrtr_web/server/{server.pk}/change/"


def drawn(person: Person, path: str) -> dict[str, list[str]]:
    """Open a form of the admin: what a browser would send if nothing were changed."""
    names = {"name", "text", "username"}
    (form,) = (form for form in person.get(path).reader.forms if names & {c.name for c in form.controls})
    return form.data()


def save(person: Person, path: str, **values: str | list[str]) -> Page:
    """Open a form of the admin and save it with these values; "-" unticks."""
    data = drawn(person, path) | {key: [each] if isinstance(each, str) else each for key, each in values.items()}
    return person.post(path, {key: each for key, each in data.items() if each != ["-"]})


@contextlib.contextmanager
def at(app: str, user: User) -> Iterator[Person]:
    """A browser in which this person is signed in."""
    with Person(app) as someone:
        for name, value in cookies_of(user).items():
            someone.client.cookies.set(name, value)
        yield someone
