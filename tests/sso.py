"""The app with single sign-on: a process of its own on a database of its own, and people who come from the provider.

The test run itself has none of allauth, as a site without single sign-on has not.
"""

import contextlib
import os
import secrets
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import httpx2
import psycopg
import pytest
from django.conf import settings
from django.db import connection

from mrtr_web import values
from tests.certificates import without_key
from tests.person import Page, Person
from tests.processes import BASE, Process, serving
from tests.provider import CLIENT, SECRET, Knobs, World, provider
from tests.servers import BOUND

CALLBACK = "/accounts/login/sso/callback/"
BUTTON = "Sign in with Company"
PREPARE = """
import django
django.setup()
from django.contrib.auth.models import Group, Permission, User
from django.core.management import call_command
from mrtr_web.models import Server
call_command("migrate", verbosity=0)
User.objects.create_superuser("root", "root@example.com", "root's password")
User.objects.create_user("ada", "ada@example.com", "ada's password")
desk = Group.objects.create(name="Reviewers")
desk.permissions.set(Permission.objects.filter(codename="review_flow"))
Group.objects.create(name="By hand")
Server.objects.create(slug="demo", name="Demo desk", url="http://127.0.0.1:9/mcp").groups.add(desk)
"""


@dataclass
class Site:
    """The app, its provider, its database."""

    world: World
    process: Process
    environ: dict[str, str]

    @property
    def base(self) -> str:
        is_https = self.world.issuer.startswith("https")
        return self.process.base.replace("http", "https") if is_https else self.process.base

    def rows(self, query: str, *values: Any) -> list[tuple[Any, ...]]:
        """What the database answers; changes are kept."""
        url = self.environ["DATABASE_URL"]
        if url.startswith("sqlite"):
            with (
                contextlib.closing(sqlite3.connect(url.removeprefix("sqlite:///"), timeout=BOUND)) as database,
                database,
            ):
                return database.execute(query.replace("%s", "?"), values).fetchall()
        with psycopg.connect(url) as server:
            found = server.execute(query, values)
            return found.fetchall() if found.description else []

    def groups_of(self, name: str) -> set[str]:
        query = "SELECT g.name FROM auth_group g JOIN auth_user_groups l ON l.group_id = g.id JOIN auth_user u"
        return {row[0] for row in self.rows(f"{query} ON l.user_id = u.id WHERE u.username = %s", name)}

    def counted(self, table: str) -> int:
        return int(self.rows(f"SELECT count(*) FROM {table}")[0][0])

    def manage(self, *words: str, **environ: str) -> str:
        """A command, as an operator of this site gives it."""
        return _run([sys.executable, "manage.py", *words], self.environ | environ)

    def doctor(self) -> str:
        """What it says of this site, which in one place or another is never quite well."""
        return _run([sys.executable, "manage.py", "doctor"], self.environ, (0, 1))


def _run(command: list[str], environ: dict[str, str], ends: tuple[int, ...] = (0,)) -> str:
    done = subprocess.run(command, cwd=BASE, env=os.environ | environ, capture_output=True, text=True, timeout=60)
    assert done.returncode in ends, done.stderr
    return done.stdout


@contextlib.contextmanager
def site(folder: Path, certificate: Path | None = None) -> Iterator[Site]:
    """Values of the claim: `desk` reviews, `staff` is staff, `root` may do all; nobody has made the group Lost.

    With a certificate all goes over https, with settings as in production.
    """
    environ = {}
    if certificate:
        environ = {"MRTR_CA_FILE": str(without_key(certificate)), "UVICORN_SSL_CERTFILE": str(certificate)}
        environ["MRTR_LOOPBACK_HTTP"] = "no"
    with provider(certificate) as world, _database(folder) as url:
        told = {
            "DATABASE_URL": url,
            "DJANGO_SETTINGS_MODULE": "tests.elsewhere",
            "STATIC_ROOT": str(settings.STATIC_ROOT),
            "MRTR_OIDC_ISSUER": world.issuer,
            "MRTR_OIDC_CLIENT_ID": CLIENT,
            "MRTR_OIDC_CLIENT_SECRET": SECRET,
            "MRTR_OIDC_NAME": "Company",
            "MRTR_OIDC_GROUPS": "desk=Reviewers, lost=Lost",
            "MRTR_OIDC_STAFF": "staff",
            "MRTR_OIDC_SUPERUSERS": "root",
            **environ,
        }
        _run([sys.executable, "-c", PREPARE], told)
        with serving(folder, **told) as process:
            found = Site(world, process, told)
            world.know(f"{found.base}{CALLBACK}")
            yield found


@contextlib.contextmanager
def _database(folder: Path) -> Iterator[str]:
    """Like that of the test run."""
    if connection.vendor == "sqlite":
        yield f"sqlite:///{folder / 'sso.sqlite3'}"
        return
    url = values.in_parts(settings.CONFIG.database_url.get_secret_value())
    name = f"mrtr_sso_{secrets.token_hex(4)}"
    with psycopg.connect(url._replace(path="/postgres").geturl(), autocommit=True) as server:
        server.execute(f"CREATE DATABASE {name}")
        try:
            yield url._replace(path=f"/{name}").geturl()
        finally:
            server.execute(f"DROP DATABASE {name} WITH (FORCE)")


def way(person: Person, page: str = "") -> str:
    """Where the button of the sign-in page leads to."""
    person.get(f"/accounts/login/?next={page}" if page else "/accounts/login/")
    return person.press(BUTTON).link("Go on to Company")


def answer(address: str, who: str, do: str = "allow") -> str:
    """What the provider answers to somebody who signs in there: path and query of our callback."""
    shown = httpx2.get(address, timeout=BOUND, trust_env=False)
    assert "Company sign-in" in shown.text, shown.text
    found = httpx2.post(address, data={"who": who, "do": do}, timeout=BOUND, trust_env=False)
    assert found.status_code == 302, found.text
    parts = urlsplit(found.headers["location"])
    return f"{parts.path}?{parts.query}"


def sign_in(person: Person, who: str, page: str = "") -> Page:
    return person.get(answer(way(person, page), who))


def by_password(person: Person, name: str, password: str, page: str = "/") -> Page:
    """The other form of the sign-in page."""
    person.get(f"/accounts/login/?next={page}")
    (form,) = [form for form in person.page.reader.forms if any(each.kind == "password" for each in form.controls)]
    return person.post(person.page.path, form.data() | {"username": [name], "password": [password]})


def name_of(person: Person) -> str:
    """By which they are signed in; "" where they are not."""
    page = person.get("/accounts/profile/")
    return page.text.partition("You are signed in as ")[2].partition(". Time zone")[0]


@pytest.fixture(scope="module")
def company(tmp_path_factory: pytest.TempPathFactory, collected: None) -> Iterator[Site]:
    with site(tmp_path_factory.mktemp("sso")) as found:
        yield found


@pytest.fixture
def person(company: Site) -> Iterator[Person]:
    with Person(company.base) as someone:
        yield someone


@pytest.fixture
def knobs(company: Site) -> Iterator[Knobs]:
    """To be turned: they are back at rest after the test."""
    found = company.world.knobs
    yield found
    people = found.people
    vars(found).update(vars(Knobs()) | {"people": people})


def refused(page: Page, words: str) -> bool:
    """Whether this is the page of a refusal that says so, at an address that has no secret in it."""
    assert page.path == "/accounts/login/sso/refused/", page.text
    assert page.status == 403 and "code=" not in str(page.response.url)
    return words in page.text and "You are not signed in" in page.text
