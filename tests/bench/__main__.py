"""Measurements: python -m tests.bench [PART ...]; without a name all of them, one after the other.

Each part runs in a process of its own, on storage of its own. A line is printed for each figure; at the end stand the
goals, and everything is in var/bench.json.
"""

import argparse
import contextlib
import json
import os
import platform
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import tests.env  # noqa: F401  settings, before Django reads them
from tests.bench import goals, rows, storage

BASE = Path(__file__).resolve().parents[2]
KEPT = BASE / "var" / "bench.json"
OPERATED = {
    "MRTR_HEARTBEAT": "5",
    "MRTR_LEASE": "20",
    "MRTR_CONNECT_TIMEOUT": "10",
    "MRTR_SILENCE_TIMEOUT": "120",
    "MRTR_TOTAL_TIMEOUT": "1800",
    "MRTR_DRAIN_TIMEOUT": "30",
}
"""What an operator has who sets nothing; the tests are less patient. How much people may do is as the tests have it."""
TEAM = {
    "DJANGO_SETTINGS_MODULE": "tests.elsewhere",
    "MRTR_LOOPBACK_HTTP": "false",
    "ALLOWED_HOSTS": "localhost",
    "MRTR_LOG_LEVEL": "WARNING",
}


@dataclass(frozen=True)
class Part:
    """What runs in one process. `module`: of tests.bench."""

    module: str
    keeps: Callable[[], "contextlib.AbstractContextManager[storage.Environ]"] = storage.sqlite
    environ: storage.Environ = field(default_factory=dict)


COUNTED = {"DJANGO_SETTINGS_MODULE": "tests.elsewhere", "MRTR_LOG_LEVEL": "WARNING"}
PARTS = {
    "legs": Part("legs"),
    "legs-postgres": Part("legs", storage.postgres),
    "counts": Part("counts", environ=COUNTED),
    "growth": Part("growth", storage.postgres),
    "waiting": Part("waiting"),
    "catalogue": Part("catalogue"),
    "pure": Part("pure"),
    "queue": Part("queue"),
    "audit": Part("audit", storage.postgres),
    "hung": Part("hung"),
    "sockets": Part("sockets"),
    "soak": Part("soak"),
    "people": Part("people", storage.postgres, TEAM),
}


def main() -> None:
    arguments = argparse.ArgumentParser(prog="python -m tests.bench", description=__doc__)
    arguments.add_argument("parts", nargs="*", metavar="PART", help=f"of these: {' '.join(PARTS)}")
    chosen = arguments.parse_args().parts or list(PARTS)
    if unknown := sorted(set(chosen) - set(PARTS)):
        arguments.error(f"no such part: {' '.join(unknown)}; there are {' '.join(PARTS)}")
    began = time.time()
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "rows"
        failed = [name for name in chosen if not _run(name, file)]
        found = rows.read(file)
    judged = goals.judged(found)
    goals.tell(judged)
    KEPT.parent.mkdir(exist_ok=True)
    KEPT.write_text(json.dumps({"machine": _machine(), "began": began, "goals": judged, "rows": found}, indent=1))
    print(f"\n{time.time() - began:.0f} s; everything is in {KEPT.relative_to(BASE)}")
    if failed:
        sys.exit(f"failed: {' '.join(failed)}")


def _run(name: str, file: Path) -> bool:
    part = PARTS[name]
    print(f"\n{name} (load {os.getloadavg()[0]:.1f} on {os.cpu_count()} processors)", flush=True)
    with part.keeps() as where, tempfile.TemporaryDirectory() as static:
        settings = OPERATED | {"DJANGO_SETTINGS_MODULE": "mrtr_web.settings", "STATIC_ROOT": static}
        environ = os.environ | settings | where | part.environ | {rows.FILE: str(file)}
        return not subprocess.run([sys.executable, "-m", "tests.bench.child", part.module], env=environ).returncode


def _machine() -> dict[str, object]:
    return {"processors": os.cpu_count(), "python": platform.python_version(), "load": os.getloadavg()}


if __name__ == "__main__":
    main()
