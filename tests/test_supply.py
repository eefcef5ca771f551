"""What comes from others: locked by hash, audited, listed; and what is said of it in public."""

import contextlib
import hashlib
import json
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.servers import Receive, Scope, Send, free_port, serve

BASE = Path(__file__).resolve().parent.parent
LOCKS = ["run.txt", "sso.txt", "test.txt"]
VENDORED = BASE / "tests" / "vendor"


@pytest.mark.parametrize("name", LOCKS)
def test_a_lock_has_hashes_and_no_addresses(name: str) -> None:
    text = (BASE / "requirements" / name).read_text()
    assert not re.search(r"://|@ |--index|--find-links|--trusted|file:|^-e", text, re.MULTILINE)
    pinned = re.split(r"\n(?=[a-zA-Z0-9])", text)
    assert len(pinned) > 20
    for entry in pinned:
        assert re.match(r"[\w.-]+(\[[\w,-]+\])?==[\w.+!-]+", entry), entry[:80]
        assert re.search(r"--hash=sha256:[0-9a-f]{64}", entry), entry[:80]


def test_what_runs_is_in_each_lock_alike() -> None:
    pins = [set(re.findall(r"^[\w.\[\],-]+==\S+", (BASE / "requirements" / name).read_text(), re.M)) for name in LOCKS]
    versions = [{pin.partition("[")[0].partition("==")[0]: pin.rpartition("==")[2] for pin in each} for each in pins]
    assert versions[0].items() <= versions[1].items() <= versions[2].items()


def test_copies_of_other_peoples_files_are_listed_by_hash() -> None:
    rows = re.findall(r"^\| `([\w.]+)` \|.*\| `([0-9a-f]{64})` \|$", (VENDORED / "README.md").read_text(), re.M)
    there = {path.name for path in VENDORED.iterdir()} - {"README.md", "LICENSE"}
    assert {name for name, _ in rows} == there
    for name, wanted in rows:
        assert hashlib.sha256((VENDORED / name).read_bytes()).hexdigest() == wanted
    assert not (BASE / "static" / "vendor").exists()


@contextlib.contextmanager
def database(vulnerable: str) -> Iterator[str]:
    """A database of vulnerabilities that knows of one package."""

    async def answer(scope: Scope, receive: Receive, send: Send) -> None:
        name = json.loads((await receive())["body"])["package"]["name"]
        entry = {
            "id": "PYSEC-1",
            "summary": "Bad.",
            "aliases": [],
            "affected": [{"package": {"name": name, "ecosystem": "PyPI"}}],
        }
        told = json.dumps({"vulns": [entry]} if name == vulnerable else {}).encode()
        await send({"type": "http.response.start", "status": 200, "headers": [(b"content-type", b"application/json")]})
        await send({"type": "http.response.body", "body": told})

    with serve(answer, lifespan="off") as base:
        yield f"{base}/v1/query"


def audit(folder: Path, address: str) -> tuple[int, str]:
    """Exit code, and all that is said."""
    lock = folder / "lock.txt"
    lock.write_text("".join(f"{name}==1.0 --hash=sha256:{'0' * 64}\n" for name in ("good", "jinja2")))
    command = [sys.executable, ".ci/audit.py", str(lock), "--vulnerability-service=osv", f"--osv-url={address}"]
    done = subprocess.run(command, cwd=BASE, env={"HOME": str(folder)}, capture_output=True, text=True, timeout=70)
    return done.returncode, done.stdout + done.stderr


def test_a_vulnerability_fails_by_name(tmp_path: Path) -> None:
    with database("jinja2") as address:
        assert audit(tmp_path, address) == (1, "vulnerable: jinja2 1.0: PYSEC-1\n")
    with database("another") as address:
        assert audit(tmp_path, address) == (0, "")


def test_without_the_database_one_line_warns(tmp_path: Path) -> None:
    line = "warning: locked packages were not audited: the database of vulnerabilities is out of reach\n"
    assert audit(tmp_path, f"http://127.0.0.1:{free_port()}/v1/query") == (0, line)


def test_a_lock_that_cannot_be_read_fails(tmp_path: Path) -> None:
    command = [sys.executable, ".ci/audit.py", str(tmp_path / "none.txt")]
    done = subprocess.run(command, cwd=BASE, capture_output=True, text=True, timeout=70)
    assert (done.returncode, done.stderr) == (1, "error: pip-audit could not work with the lock files\n")


def named_tests(page: str) -> list[tuple[str, str]]:
    """Module and name of each test that a page of the docs names."""
    found: list[tuple[str, str]] = re.findall(r"`(test_\w+)::(test_\w+)`", (BASE / "docs" / page).read_text())
    return found


@pytest.mark.parametrize("page", ["threat-model.md", "accessibility.md"])
def test_each_test_that_a_page_of_the_docs_names_exists(page: str) -> None:
    named = named_tests(page)
    assert len(named) >= 20
    for module, name in named:
        assert f"def {name}(" in (BASE / "tests" / f"{module}.py").read_text(), (module, name)
    readme = (BASE / "README.md").read_text()
    assert "(SECURITY.md)" in readme and f"(docs/{page})" in readme
