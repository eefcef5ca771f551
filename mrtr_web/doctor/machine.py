"""What the app stands on: its settings, its database with the tables and the clock, the disk, the logo."""

import filecmp
import os
import re
import shutil
import time
from collections.abc import Iterator
from pathlib import Path

import psycopg
from django.apps import apps
from django.conf import settings
from django.contrib.staticfiles.finders import get_finders
from django.core import checks
from django.db import DatabaseError, connection
from django.db.migrations.executor import MigrationExecutor

from mrtr_web.doctor.finding import Finding, doubt, fault, skew, well

BY_LOOPBACK = {"security.W004", "security.W008", "security.W012", "security.W016"}
"""What Django says of cookies and HSTS where MRTR_LOOPBACK_HTTP leaves them out on purpose."""
SCARCE, TOO_LITTLE = 1_000_000_000, 100_000_000
"""Bytes that are free on SQLite's disk."""
REASONS = (
    ("resolve|translate host", "its host has no address. Put the host of DATABASE_URL right"),
    ("refused|no such file", "nothing listens there. Start it, or put host and port of DATABASE_URL right"),
    ("authentication|password|role", "it refuses the user or the password. Put those of DATABASE_URL right"),
    ("database .* does not exist", "it has no database of that name. Make it: createdb"),
    ("timeout|timed out", "it does not answer. Is a firewall between the two?"),
    ("ssl|certificate", "TLS fails. Look at sslmode and sslrootcert of DATABASE_URL"),
)
"""Of what PostgreSQL's client says, which names users and is not repeated."""


def sound_settings() -> Iterator[Finding]:
    found = checks.run_checks(include_deployment_checks=True)
    on_loopback = settings.CONFIG.loopback_http
    told = [each for each in found if not each.is_silenced() and not (on_loopback and each.id in BY_LOOPBACK)]
    for each in told:
        words = f"{each.id}: {each.msg} {each.hint or ''}".rstrip()
        yield (fault if each.is_serious() else doubt)("settings", " ".join(words.split()))
    if on_loopback:
        yield doubt("settings", "MRTR_LOOPBACK_HTTP is on: right for a try on this machine, and nowhere else")
    if not told:
        yield well("settings", "nothing is unsafe")


def database() -> Finding:
    """Whether it can be reached, and that one is there: SQLite would make an empty one."""
    name = str(connection.settings_dict["NAME"])
    if connection.vendor == "sqlite":
        return _sqlite(Path(name))
    place = f"{connection.settings_dict['HOST'] or 'this machine'}, {name}"
    try:
        # Not from the pool, which would try again for seconds, and log what it meets.
        psycopg.connect(**connection.get_connection_params()).close()
    except psycopg.Error as error:
        reason = next((words for sign, words in REASONS if re.search(sign, str(error), re.IGNORECASE)), "")
        return fault("database", f"{place}: {reason or 'it cannot be reached. Look at DATABASE_URL, and at its log'}.")
    return well("database", f"PostgreSQL answers ({place})")


def _sqlite(path: Path) -> Finding:
    if not path.exists():
        return fault("database", f"{path} is not there. Make it: manage.py migrate")
    if not os.access(path, os.W_OK) or not os.access(path.parent, os.W_OK):
        return fault("database", f"{path} and its directory must be writable by this user")
    return well("database", f"SQLite, {path}")


def tables() -> Finding:
    try:
        executor = MigrationExecutor(connection)
        missing = executor.migration_plan(executor.loader.graph.leaf_nodes())
        lacking = [] if missing else _lacking()
    except DatabaseError as error:
        return fault("migrations", f"they cannot be read ({type(error).__name__}). Is this a database of mrtr_web?")
    if missing:
        first = missing[0][0]
        words = f"{len(missing)} are not applied, the first is {first.app_label}.{first.name}. Run manage.py migrate"
        return fault("migrations", words)
    if lacking:
        words = f"{lacking[0]} is missing though all are applied: the tables are of another version"
        return fault("migrations", f"{words}. Before 1.0 that may be: docs/operate.md says how to go on")
    return well("migrations", "all are applied")


def _lacking() -> list[str]:
    """Columns of ours that are not there: before 1.0 the first migration changes (docs/decisions/0018)."""
    columns = [field for model in apps.get_app_config("mrtr_web").get_models() for field in model._meta.local_fields]
    with connection.cursor() as cursor:
        tables = {field.model._meta.db_table for field in columns} & set(connection.introspection.table_names(cursor))
        there = {
            (table, column.name)
            for table in tables
            for column in connection.introspection.get_table_description(cursor, table)
        }
    named = [(field.model._meta.db_table, field.column) for field in columns]
    return [f"{table}.{column}" for table, column in named if (table, column) not in there]


def clock() -> Finding:
    if connection.vendor == "sqlite":
        return well("clock", "SQLite uses this machine's")
    with connection.cursor() as cursor:
        before = time.time()
        cursor.execute("SELECT extract(epoch FROM clock_timestamp())")
        theirs = float(cursor.fetchone()[0])
        return skew("clock", theirs - (before + time.time()) / 2, "the database's clock")


def disk() -> Iterator[Finding]:
    """Where SQLite grows; of other databases it is not here."""
    if connection.vendor != "sqlite":
        return
    folder = Path(str(connection.settings_dict["NAME"])).resolve().parent
    try:
        free = shutil.disk_usage(folder).free
    except OSError:
        yield fault("disk", f"{folder} is not there. Make this directory")
        return
    words = f"{free // 1_000_000:,} MB are free at {folder}"
    if free < SCARCE:
        yield (doubt if free >= TOO_LITTLE else fault)("disk", f"{words}. Make room: a full disk stops all work")
    else:
        yield well("disk", words)


def statics() -> Finding:
    """Whether what the site serves is what this version has: a page with older scripts fails quietly."""
    root = Path(settings.STATIC_ROOT)
    known = [(path, storage.path(path)) for finder in get_finders() for path, storage in finder.list([])]
    other = [path for path, source in known if not _is_copied(root / path, Path(source))]
    if other:
        words = f"{len(other)} of {len(known)} are missing or old at {root}. Run manage.py collectstatic --noinput"
        return fault("static files", words)
    return well("static files", f"{len(known)} are at {root}")


def _is_copied(copy: Path, source: Path) -> bool:
    try:
        return filecmp.cmp(copy, source, shallow=False)
    except OSError:
        return False


def logo() -> Iterator[Finding]:
    path = settings.CONFIG.site_logo
    if path is None:
        return
    try:
        is_there = bool(path.read_bytes())
    except OSError:
        is_there = False
    yield (
        well("logo", str(path))
        if is_there
        else fault("logo", f"{path} cannot be read. Let this user read it, or put MRTR_SITE_LOGO right")
    )
