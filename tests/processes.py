"""The app as real processes on one database, with all that they log kept."""

import contextlib
import os
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

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
def listening() -> Iterator[socket.socket]:
    """A socket on a free port, to be handed to one process after the other."""
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen(512)
        yield listener


TALKATIVE = ("--log-level", "debug", "--timeout-graceful-shutdown", "5")
"""So that a test reads in its log all that it might tell."""
DOCUMENTED = ("--ws-max-size", "1024", "--no-access-log", "--timeout-graceful-shutdown", "10")
"""As the README has it."""


@contextlib.contextmanager
def serving(
    folder: Path, on: socket.socket | None = None, options: tuple[str, ...] = TALKATIVE, /, **environ: str
) -> Iterator[Process]:
    """Run one process until the block ends; `on` is the socket that it takes requests from, else one of its own."""
    port = on.getsockname()[1] if on else free_port()
    log = Path(tempfile.mkstemp(dir=folder, prefix=f"{port}-", suffix=".log")[1])
    place = ["--fd", str(on.fileno())] if on else ["--port", str(port)]
    command = [sys.executable, "-m", "uvicorn", "mrtr_web.asgi:application", *place]
    command += ["--http", "mrtr_web.connections:Connection", "--lifespan", "on", *options]
    named = {"DATABASE_URL": database_url(), "PGAPPNAME": f"{os.environ.get('PYTEST_CURRENT_TEST', 'bench')[-50:]}"}
    with log.open("wb") as output:
        handle = subprocess.Popen(
            command,
            cwd=BASE,
            env=os.environ | named | environ,
            stdout=output,
            stderr=subprocess.STDOUT,
            pass_fds=[on.fileno()] if on else [],
        )
        try:
            _await(handle, log)
            yield Process(f"http://127.0.0.1:{port}", handle, log)
        finally:
            handle.terminate()
            with contextlib.suppress(subprocess.TimeoutExpired):
                handle.wait(BOUND)
            handle.kill()
            handle.wait()


def _await(handle: "subprocess.Popen[bytes]", log: Path) -> None:
    """Until it takes requests: its log says so, while another process may be answering at the same address."""
    end = time.monotonic() + BOUND
    while time.monotonic() < end and handle.poll() is None:
        if b"Uvicorn running on" in log.read_bytes():
            return
        time.sleep(0.05)
    raise AssertionError(log.read_text()[-2000:])
