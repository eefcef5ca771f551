"""What a site does not start with: each wrong setting has an id, a line, and no secret in it."""

import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from pydantic import SecretStr
from pytest_django import Settings

from mrtr_web import checks
from mrtr_web.config import DATABASES

KEY = "kD8vQ2mZ7xW4nR1tY6uP9aS3dF5gH0jL-bC_eVwXzNqTyUiOpAsDfGh"
BASE = Path(__file__).resolve().parent.parent
PLAIN = ["mrtr.example"]


@pytest.fixture(autouse=True)
def production(settings: Settings) -> None:
    """A site as it should be."""
    settings.CONFIG = settings.CONFIG.model_copy(update={"loopback_http": False, "allowed_hosts": tuple(PLAIN)})
    settings.ALLOWED_HOSTS = PLAIN
    settings.SECRET_KEY = KEY
    settings.SECURE_COOKIES = settings.SECURE_SSL_REDIRECT = True
    settings.SECURE_HSTS_SECONDS = 31_536_000
    for kind in ("SESSION", "CSRF", "LANGUAGE"):
        setattr(settings, f"{kind}_COOKIE_SECURE", True)
    for kind in ("SESSION", "CSRF", "KEY", "LANGUAGE", "MESSAGE"):
        name = f"{kind}_COOKIE_NAME"
        setattr(settings, name, f"__Host-{getattr(settings, name)}")


def ids() -> list[str]:
    found = [*checks.sound_settings(), *checks.sound_site()]
    assert all(KEY not in f"{each.msg}{each.hint}" for each in found)
    return [str(each.id).removeprefix("mrtr_web.") for each in found]


def test_a_sound_site_has_nothing_to_say() -> None:
    assert ids() == []


@pytest.mark.parametrize(
    ("name", "value", "wanted"),
    [
        ("SECRET_KEY", KEY[:49], "E002"),
        ("SECRET_KEY", "abcdefgh" * 8 + "hgfedcba", "E003"),
        ("SECRET_KEY", "only-for-types-" * 5, "E003"),
        ("SECRET_KEY", f"ChangeMe{KEY}", "E003"),
        ("SECRET_KEY_FALLBACKS", ["ab" * 30], "E003"),
        ("SECRET_KEY_FALLBACKS", [KEY], "E004"),
        ("DEBUG", True, "E006"),
        ("ALLOWED_HOSTS", [], "E007"),
        ("ALLOWED_HOSTS", ["*"], "E008"),
        ("SESSION_COOKIE_SECURE", False, "E010"),
        ("SESSION_COOKIE_HTTPONLY", False, "E010"),
        ("CSRF_COOKIE_SAMESITE", "None", "E010"),
        ("LANGUAGE_COOKIE_DOMAIN", "example", "E010"),
        ("CSRF_COOKIE_PATH", "/x/", "E010"),
        ("SECURE_COOKIES", False, "E010"),
        ("KEY_COOKIE_NAME", "key", "E011"),
        ("MESSAGE_COOKIE_NAME", "messages", "E011"),
        ("SECURE_SSL_REDIRECT", False, "E012"),
        ("SECURE_HSTS_SECONDS", 0, "E012"),
        ("SECURE_PROXY_SSL_HEADER", ("HTTP_X_FORWARDED_PROTO", "https"), "E013"),
        ("USE_X_FORWARDED_HOST", True, "E013"),
        ("CSRF_TRUSTED_ORIGINS", ["https://evil.example"], "E013"),
        ("SESSION_ENGINE", "django.contrib.sessions.backends.db", "E014"),
        ("FILE_UPLOAD_HANDLERS", ["django.core.files.uploadhandler.TemporaryFileUploadHandler"], "E016"),
    ],
)
def test_each_has_its_id(settings: Settings, name: str, value: Any, wanted: str) -> None:
    setattr(settings, name, value)
    assert ids() == [wanted]


def test_request_wide_transactions_are_refused(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(settings.DATABASES["default"], "ATOMIC_REQUESTS", True)
    assert ids() == ["E001"]


@pytest.mark.parametrize("gone", checks.NEEDED)
def test_each_part_of_the_chain_is_needed(settings: Settings, gone: str) -> None:
    settings.MIDDLEWARE = [name for name in settings.MIDDLEWARE if name != gone]
    assert ids() == ["E015"]


def test_the_order_of_the_chain_counts(settings: Settings) -> None:
    settings.MIDDLEWARE = ["django.middleware.gzip.GZipMiddleware", *settings.MIDDLEWARE]
    assert ids() == ["E015"]


def test_one_key_for_two_purposes_is_refused(settings: Settings) -> None:
    settings.CONFIG = settings.CONFIG.model_copy(update={"credential_keys": (KEY,)})
    assert ids() == ["E005"]


@pytest.mark.parametrize(
    ("hosts", "wanted"),
    [(("127.0.0.1", "localhost", "a.localhost", "[::1]"), []), (("localhost", "mrtr.example"), ["E009"])],
)
def test_plain_http_is_for_loopback_alone(settings: Settings, hosts: tuple[str, ...], wanted: list[str]) -> None:
    settings.CONFIG = settings.CONFIG.model_copy(update={"loopback_http": True, "allowed_hosts": hosts})
    assert ids() == wanted


def test_who_asks_for_a_mail_does_not_choose_the_host_of_its_link(settings: Settings) -> None:
    settings.ALLOWED_HOSTS = [".mrtr.example"]
    assert ids() == []
    settings.CONFIG = settings.CONFIG.model_copy(update={"email_url": SecretStr("smtp://127.0.0.1")})
    assert ids() == ["E008"]


def test_several_processes_on_sqlite_are_warned_of(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(settings.DATABASES["default"], "ENGINE", "django.db.backends.sqlite3")
    assert ids() == []
    monkeypatch.setenv("WEB_CONCURRENCY", "2")
    assert ids() == ["W001"]


@pytest.mark.parametrize(
    ("changes", "line"),
    [
        ({"ALLOWED_HOSTS": "*"}, "mrtr_web: mrtr_web.E008: ALLOWED_HOSTS must not be '*'."),
        (
            {"MRTR_LOOPBACK_HTTP": "true"},
            "mrtr_web: mrtr_web.E009: MRTR_LOOPBACK_HTTP is on, and ALLOWED_HOSTS names mrtr.example.",
        ),
        (
            {"DATABASE_URL": "postgresql://u:canary#x@h/n"},
            f"mrtr_web cannot start: DATABASE_URL: use {DATABASES}",
        ),
        ({"SECRET_KEY": "canary" * 10}, "mrtr_web: mrtr_web.E003: SECRET_KEY is not random."),
    ],
)
def test_the_server_does_not_start(changes: dict[str, str], line: str) -> None:
    environ = os.environ | {"SECRET_KEY": KEY, "ALLOWED_HOSTS": PLAIN[0], "MRTR_LOOPBACK_HTTP": "false"} | changes
    command = [sys.executable, "-m", "uvicorn", "mrtr_web.asgi:application", "--port", "0"]
    done = subprocess.run(command, cwd=BASE, env=environ, capture_output=True, text=True, timeout=60)
    (said,) = done.stderr.splitlines()
    assert (done.returncode, said.startswith(line)) == (1, True), done.stderr
    assert "canary" not in done.stdout + done.stderr


def test_the_page_of_checks_names_each() -> None:
    source, page = Path(checks.__file__).read_text(), (BASE / "docs" / "threat-model.md").read_text()
    numbers = {int(each) for each in re.findall(r"_error\(\s*(\d+),", source)}
    assert numbers == set(range(1, 17))
    assert all(f"`mrtr_web.E{number:03}`" in page for number in numbers) and "`mrtr_web.W001`" in page
