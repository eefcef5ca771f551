"""The whole of a team's deployment on this machine: nginx, two processes, PostgreSQL, Redis, a demo MCP server."""

import contextlib
import io
import os
import ssl
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import httpx2
import redis
from django.core.management import call_command
from django.db import connection

from tests import certificates
from tests.bench import spent
from tests.processes import documented, serving
from tests.proxy import Front, nginx
from tests.servers import BOUND

REGISTERED = ("--name", "Demo travel desk", "--private-networks", "127.0.0.0/8")


@dataclass
class World:
    """Where it is, and the process of each part."""

    front: Front
    parts: dict[str, int]

    @cached_property
    def trust(self) -> ssl.SSLContext:
        return self.front.trust()

    @cached_property
    def elsewhere(self) -> httpx2.AsyncClient:
        """For pages that are not the app's."""
        return httpx2.AsyncClient(trust_env=False, timeout=BOUND)

    def processor(self) -> dict[str, float]:
        return {name: spent.processor(pid) for name, pid in self.parts.items()}

    def memory(self) -> dict[str, float]:
        return {name: spent.memory(pid) for name, pid in self.parts.items()}


@contextlib.contextmanager
def demo(folder: Path) -> Iterator[tuple[str, int]]:
    """A demo MCP server in a process of its own: its address, and its process."""
    command = [sys.executable, "-m", "mrtr_web.demo", "--port", "0", "--pages-host", "127.0.0.1"]
    with (folder / "demo.log").open("wb") as log, subprocess.Popen(command, stdout=subprocess.PIPE, stderr=log) as run:
        try:
            assert run.stdout is not None
            yield run.stdout.readline().decode().rpartition(" ")[2].strip(), run.pid
        finally:
            run.terminate()


@contextlib.contextmanager
def deployed(folder: Path) -> Iterator[World]:
    """nginx, two processes and a demo server, registered, on the storage that this process has."""
    with (
        demo(folder) as (url, server),
        serving(folder, None, documented) as one,
        serving(folder, None, documented) as two,
        nginx(folder, certificates.made_in(folder), one.port, two.port) as front,
    ):
        call_command("addserver", "demo", url, *REGISTERED, stdout=io.StringIO())
        call_command("collectstatic", interactive=False, verbosity=0)
        parts = {"nginx": int((front.folder / "nginx.pid").read_text())}
        parts |= {"app process 1": one.handle.pid, "app process 2": two.handle.pid, **_storage()}
        yield World(front, parts | {"demo MCP server": server, "the simulation": os.getpid()})


def _storage() -> dict[str, int]:
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_backend_pid()")
        backend: int = cursor.fetchone()[0]
    with redis.Redis.from_url(os.environ["REDIS_URL"]) as client:
        broker: int = client.info("server")["process_id"]
    return {"PostgreSQL": spent.parent(backend), "Redis": broker}
