"""A PostgreSQL of a test's own, to be stopped and started: the one of the test run serves others, too."""

import contextlib
import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.servers import free_port

BINARIES = max(Path("/usr/lib/postgresql").glob("*/bin/initdb"), default=None, key=lambda path: float(path.parts[4]))
needs_postgres = pytest.mark.skipif(
    BINARIES is None and shutil.which("initdb") is None and os.environ.get("CI") != "true",
    reason="PostgreSQL's initdb is not installed: apt-get install postgresql",
)


class Postgres:
    def __init__(self, folder: Path, port: int) -> None:
        self.folder, self.port = folder, port

    @property
    def url(self) -> str:
        return f"postgresql://postgres@127.0.0.1:{self.port}/postgres"

    def start(self) -> None:
        options = f"-p {self.port} -F -k {self.folder} -c listen_addresses=127.0.0.1"
        _run("pg_ctl", "start", "-w", "-D", str(self.folder / "data"), "-l", str(self.folder / "log"), "-o", options)

    def stop(self) -> None:
        """At once, as in a crash of its machine: sessions are cut."""
        _run("pg_ctl", "stop", "-w", "-m", "immediate", "-D", str(self.folder / "data"))


@contextlib.contextmanager
def own_postgres() -> Iterator[Postgres]:
    with tempfile.TemporaryDirectory(prefix="mrtr-pg-") as name:
        folder = Path(name)
        if os.geteuid() == 0:
            shutil.chown(folder, "postgres")
        _run("initdb", "-D", str(folder / "data"), "-U", "postgres", "-A", "trust", "--no-sync")
        server = Postgres(folder, free_port())
        server.start()
        try:
            yield server
        finally:
            with contextlib.suppress(subprocess.CalledProcessError):
                server.stop()


def _run(program: str, *words: str) -> None:
    """As user postgres where this is root, whom PostgreSQL refuses."""
    found = str(BINARIES.with_name(program)) if BINARIES else program
    command = ["runuser", "-u", "postgres", "--", found, *words] if os.geteuid() == 0 else [found, *words]
    subprocess.run(command, check=True, cwd="/", stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
