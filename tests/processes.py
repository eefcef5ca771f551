"""The app as real processes on one database, with all that they log kept."""

import contextlib
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import httpx2
from django.db import connection

from tests.servers import BOUND, free_port

BASE = Path(__file__).resolve().parent.parent


@dataclass
class Process:
    """One serving process: its base URL, its handle, the file that it logs to."""

    base: str
    handle: "subprocess.Popen[bytes]"
    log: Path


def database_url() -> str:
    """The database of this test run, as another process reaches it."""
    found = connection.settings_dict
    if connection.vendor == "sqlite":
        return f"sqlite:///{found['NAME']}"
    return f"postgresql://{found['USER']}:{found['PASSWORD']}@{found['HOST']}:{found['PORT']}/{found['NAME']}"


@contextlib.contextmanager
def serving(folder: Path, **environ: str) -> Iterator[Process]:
    """Run one process until the block ends."""
    port = free_port()
    log = folder / f"{port}.log"
    command = [sys.executable, "-m", "uvicorn", "mrtr_web.asgi:application", "--port", str(port)]
    command += ["--lifespan", "on", "--log-level", "debug", "--timeout-graceful-shutdown", "5"]
    with log.open("wb") as output:
        handle = subprocess.Popen(
            command,
            cwd=BASE,
            env=os.environ | {"DATABASE_URL": database_url()} | environ,
            stdout=output,
            stderr=subprocess.STDOUT,
        )
        try:
            _await(f"http://127.0.0.1:{port}/healthz", handle, log)
            yield Process(f"http://127.0.0.1:{port}", handle, log)
        finally:
            handle.terminate()
            with contextlib.suppress(subprocess.TimeoutExpired):
                handle.wait(BOUND)
            handle.kill()
            handle.wait()


def _await(url: str, handle: "subprocess.Popen[bytes]", log: Path) -> None:
    end = time.monotonic() + BOUND
    while time.monotonic() < end and handle.poll() is None:
        with contextlib.suppress(httpx2.TransportError):
            if httpx2.get(url, trust_env=False).status_code == 200:
                return
        time.sleep(0.05)
    raise AssertionError(log.read_text()[-2000:])
