"""The app as real processes on one database, with all that they log kept."""

import contextlib
import os
import re
import shlex
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from django.db import connection

from tests.servers import BOUND, free_port

BASE = Path(__file__).resolve().parent.parent
UNITS = BASE / "docs" / "deploy"
Command = Callable[..., list[str]]


@dataclass
class Process:
    """One serving process: its base URL, its handle, the file that it logs to."""

    base: str
    handle: "subprocess.Popen[bytes]"
    log: Path

    @property
    def port(self) -> int:
        return int(self.base.rpartition(":")[2])


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


def started_by(unit: Path) -> list[str]:
    """The words of the command that a unit of systemd starts."""
    commands = re.findall(r"^ExecStart=(.+)", unit.read_text().replace("\\\n", " "), re.M)
    assert len(commands) == 1
    return shlex.split(commands[0])


def documented(*place: str) -> list[str]:
    """As mrtr-web@.service starts a process, but for this place: `--port` or `--fd`, and its number."""
    words = started_by(UNITS / "mrtr-web@.service")
    at = words.index("--port")
    return [sys.executable, *words[1:at], *place, *words[at + 2 :]]


def talkative(*place: str) -> list[str]:
    """The same, but that it logs all that it can, and ends sooner."""
    return [*documented(*place), "--access-log", "--log-level", "debug", "--timeout-graceful-shutdown", "5"]


@contextlib.contextmanager
def serving(
    folder: Path, on: socket.socket | int | None = None, command: Command = talkative, /, **environ: str
) -> Iterator[Process]:
    """Run one process until the block ends; `on` is the socket or port that it takes requests from, else a free one."""
    port = on.getsockname()[1] if isinstance(on, socket.socket) else on or free_port()
    log = Path(tempfile.mkstemp(dir=folder, prefix=f"{port}-", suffix=".log")[1])
    handed = [on.fileno()] if isinstance(on, socket.socket) else []
    named = {"DATABASE_URL": database_url(), "PGAPPNAME": f"{os.environ.get('PYTEST_CURRENT_TEST', 'bench')[-50:]}"}
    with log.open("wb") as output:
        handle = subprocess.Popen(
            command("--fd", str(handed[0])) if handed else command("--port", str(port)),
            cwd=BASE,
            env=os.environ | named | environ,
            stdout=output,
            stderr=subprocess.STDOUT,
            pass_fds=handed,
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
