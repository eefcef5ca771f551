"""Where a part keeps its rows: SQLite, or PostgreSQL with Redis, each its own, migrated and empty."""

import contextlib
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator

from tests.own_redis import running_redis
from tests.postgres import own_postgres

Environ = dict[str, str]


@contextlib.contextmanager
def sqlite() -> Iterator[Environ]:
    with tempfile.TemporaryDirectory(prefix="mrtr-bench-") as folder:
        yield _migrated({"DATABASE_URL": f"sqlite:///{folder}/bench.sqlite3", "REDIS_URL": ""})


@contextlib.contextmanager
def postgres() -> Iterator[Environ]:
    with own_postgres() as database, running_redis() as redis:
        yield _migrated({"DATABASE_URL": database.url, "REDIS_URL": redis.url})


def _migrated(environ: Environ) -> Environ:
    subprocess.run([sys.executable, "manage.py", "migrate", "-v0"], check=True, env=os.environ | environ)
    return environ
