"""Fixtures that every test may use: people, a registered server, and the app under a real ASGI server."""

import threading
import time
from collections.abc import Iterator
from typing import Any

import pytest
from django.conf import settings as site
from django.contrib.auth.models import User
from django.core.management import call_command
from django.db import connection, connections, transaction
from django.db.backends.postgresql.base import DatabaseWrapper as PostgresConnection
from django.test import TransactionTestCase, override_settings
from pytest_django import DjangoDbBlocker, Settings

from mrtr_web import threads
from mrtr_web.connections import WebSocket
from mrtr_web.demo.server import build
from mrtr_web.models import Server
from tests.desk import on_this_machine, point_to
from tests.person import Person
from tests.servers import BOUND, Recorder, serve
from tests.staff import clerk as clerk
from tests.staff import root as root
from tests.window import browser as browser
from tests.window import opened as opened


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """On PostgreSQL, what uses no database would only be the same once more."""
    if connection.vendor == "sqlite":
        return
    sorted_out: dict[bool, list[pytest.Item]] = {True: [], False: []}
    for item in items:
        sorted_out[_uses_database(item)].append(item)
    config.hook.pytest_deselected(items=sorted_out[False])
    items[:] = sorted_out[True]


def _uses_database(item: pytest.Item) -> bool:
    marked = any(map(item.get_closest_marker, ("django_db", "own_database")))
    return marked or not {"db", "transactional_db"}.isdisjoint(getattr(item, "fixturenames", ()))


@pytest.fixture(scope="session")
def django_db_modify_db_settings(
    django_db_modify_db_settings_parallel_suffix: None, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """SQLite's test database is a file of this worker, shared with the threads and processes that tests start."""
    database: dict[str, Any] = site.DATABASES["default"]
    if database["ENGINE"].endswith("sqlite3"):
        database["TEST"]["NAME"] = str(tmp_path_factory.mktemp("database") / "test.sqlite3")


@pytest.fixture(scope="session")
def django_db_setup(django_db_setup: None, django_db_blocker: DjangoDbBlocker) -> Iterator[None]:
    """PostgreSQL drops only a database that nobody uses."""
    yield
    if connection.vendor == "postgresql":
        with django_db_blocker.unblock():
            _wait_until_alone()


@pytest.fixture(scope="session", autouse=True)
def database_first(request: pytest.FixtureRequest) -> None:
    """PostgreSQL's is made before any test can leave a thread that opens the pool while its name is being changed."""
    if connection.vendor == "postgresql":
        request.getfixturevalue("django_db_setup")


@pytest.fixture(scope="session", autouse=True)
def emptied_by_deleting() -> Iterator[None]:
    """Tests leave a few rows. PostgreSQL needs 128 ms to truncate all tables, and 2 ms to delete what is in them; and
    Django would make its permissions anew each time, which stay here."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(TransactionTestCase, "_fixture_teardown", lambda case: _delete_rows())
        yield


def _delete_rows() -> None:
    tables = set(connection.introspection.django_table_names(include_views=False)) - MADE_BY_MIGRATING
    with transaction.atomic(), connection.cursor() as cursor:
        for table in sorted(tables):
            cursor.execute(f"DELETE FROM {connection.ops.quote_name(table)}")


MADE_BY_MIGRATING = {"django_content_type", "auth_permission"}


def _wait_until_alone() -> None:
    """Until the sessions of processes and threads that tests have ended are gone; says whose they are if they stay.

    One that rests belongs to a request that was cut off with its server, whose thread has nothing more to do: no thread
    will give it back, so PostgreSQL ends it. One that still does something is a fault.
    """
    finish_legs()
    with connection._nodb_cursor() as cursor:  # as Django drops it: outside the pool
        if _others(cursor):
            cursor.execute(f"select pg_terminate_backend(pid) {OTHERS} and state = 'idle'", [_name()])
        found = _others(cursor)
    assert found == [], f"sessions that nobody has ended: {found}"


OTHERS = "from pg_stat_activity where datname = %s"


def _name() -> str:
    return str(connection.settings_dict["NAME"])


def _others(cursor: Any) -> list[tuple[Any, ...]]:
    """The sessions that are still there after a while."""
    end = time.monotonic() + BOUND / 2
    while True:
        close_connections()  # sessions that rest in this process's own pool would wait for ever
        found = cursor.execute(f"select pid, application_name, state, query {OTHERS}", [_name()]).fetchall()
        if not found or time.monotonic() > end:
            return list(found)
        time.sleep(0.1)


def finish_legs() -> None:
    """Until every thread of the runner is at rest: a late one would open the pool again after it was closed."""
    count = threads._pool._max_workers
    gate = threading.Barrier(count)
    for waiting in [threads._pool.submit(gate.wait, BOUND) for _ in range(count)]:
        waiting.result(BOUND)


def close_connections() -> None:
    connections.close_all()
    default = connections["default"]  # django.db.connection is a proxy of no class that isinstance() knows
    if isinstance(default, PostgresConnection):
        default.close_pool()


@pytest.fixture(autouse=True)
def cheap_passwords(settings: Settings) -> None:
    """Argon2 takes half a second by design; what it protects is not what most tests look at."""
    settings.PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]


@pytest.fixture
def alice(db: None) -> User:
    return User.objects.create_user("alice", password="alice's password")


@pytest.fixture
def bob(db: None) -> User:
    return User.objects.create_user("bob", password="bob's password")


@pytest.fixture
def server(db: None) -> Server:
    return on_this_machine("demo", "Demo desk")


@pytest.fixture(scope="session", autouse=True)
def static_root(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Where the app under test serves its static files from."""
    with override_settings(STATIC_ROOT=tmp_path_factory.mktemp("static")):
        yield


@pytest.fixture(scope="session")
def collected(static_root: None) -> None:
    call_command("collectstatic", interactive=False, verbosity=0)


@pytest.fixture
def app(transactional_db: None, collected: None) -> Iterator[str]:
    """The app under a real ASGI server in this process, so that legs run; its base URL."""
    from mrtr_web.asgi import application

    with serve(application, lifespan="on", ws=WebSocket) as base:
        yield base
    finish_legs()
    close_connections()


@pytest.fixture
def demo(server: Server) -> Iterator[Recorder]:
    """The demo MCP server, registered, with every request that reaches it recorded."""
    recorder = Recorder(build("a key for the tests"))
    with serve(recorder, lifespan="on") as base:
        point_to(server, base)
        yield recorder


@pytest.fixture
def person(app: str, alice: User) -> Iterator[Person]:
    """Alice, signed in, without scripts."""
    with Person(app) as someone:
        someone.sign_in("alice")
        yield someone
