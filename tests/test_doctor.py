"""What `manage.py doctor` says of real parts, sound and broken, and that no secret is in it."""

import contextlib
import datetime
import os
import shutil
import socket
import ssl
import subprocess
import sys
import threading
from collections.abc import Iterator
from email.utils import format_datetime
from io import StringIO
from pathlib import Path
from typing import Any

import httpx2
import pytest
from django.core.management import CommandError, call_command
from django.db import connection
from django.db.migrations.recorder import MigrationRecorder
from pydantic import SecretStr
from pytest_django import Settings

from mrtr_web import config, credentials
from mrtr_web.doctor import door, hints, machine, post, upstream
from mrtr_web.doctor.finding import Finding
from mrtr_web.models import Server
from mrtr_web.policies import EVERYWHERE
from tests.certificates import authority as authority
from tests.certificates import certificate as certificate
from tests.desk import desk, done
from tests.forward import forward
from tests.gate import gate
from tests.own_redis import running_redis
from tests.processes import BASE, database_url, serving
from tests.servers import Answer, Post, free_port, scripted

KEY = "kD8vQ2mZ7xW4nR1tY6uP9aS3dF5gH0jL-bC_eVwXzNqTyUiOpAsDfGh"
OTHER = "qwertyuiopasdfghjklzxcvbnm-0123456789-QWERTYUIOP"


def give(settings: Settings, **values: Any) -> None:
    settings.CONFIG = settings.CONFIG.model_copy(update=values)


def levels(found: Any) -> list[str]:
    return [each.level for each in found]


def doctor(*arguments: str, **environ: str) -> "subprocess.CompletedProcess[str]":
    return manage("doctor", *arguments, **environ)


def manage(*arguments: str, **environ: str) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(
        [sys.executable, "manage.py", *arguments],
        cwd=BASE,
        env=os.environ | environ,
        capture_output=True,
        text=True,
        timeout=60,
    )


@contextlib.contextmanager
def ending_tls(certificate: Path, port: int, *, upgrades: bool = True) -> Iterator[str]:
    """A proxy that ends https before the app at this port, and tells it so; its address."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate)
    with socket.create_server(("127.0.0.1", 0)) as listener:
        thread = threading.Thread(target=_accept, args=(listener, context, port, upgrades), daemon=True)
        thread.start()
        yield f"https://localhost:{listener.getsockname()[1]}"
        listener.shutdown(socket.SHUT_RDWR)
        thread.join(5)


def _accept(listener: socket.socket, context: ssl.SSLContext, port: int, upgrades: bool) -> None:
    while True:
        try:
            plain, _ = listener.accept()
        except OSError:
            return
        with contextlib.suppress(ssl.SSLError), context.wrap_socket(plain, server_side=True) as browser:
            _pass_on(browser, port, upgrades)


def _pass_on(browser: ssl.SSLSocket, port: int, upgrades: bool) -> None:
    head = b""
    while b"\r\n\r\n" not in head and (more := browser.recv(65536)):
        head += more
    line, *headers = head.split(b"\r\n\r\n")[0].split(b"\r\n")
    is_upgrade = any(each.lower() == b"upgrade: websocket" for each in headers)
    dropped = (b"connection:",) if upgrades and not is_upgrade else (b"connection:", b"upgrade:")
    if not (upgrades and is_upgrade):
        headers = [each for each in headers if not each.lower().startswith(dropped)] + [b"Connection: close"]
    with socket.create_connection(("127.0.0.1", port)) as app:
        app.sendall(b"\r\n".join([line, *headers, b"X-Forwarded-Proto: https", b"", b""]))
        while answer := app.recv(65536):
            browser.sendall(answer)


def test_a_sound_site_passes_through_its_proxy(
    transactional_db: None, tmp_path: Path, certificate: Path, authority: Path, settings: Settings
) -> None:
    give(settings, ca_file=authority)
    (tmp_path / "key").write_text(f"{KEY}\n")
    environ = {
        "SECRET_KEY": "",
        "SECRET_KEY_FILE": str(tmp_path / "key"),
        "ALLOWED_HOSTS": "localhost",
        "MRTR_LOOPBACK_HTTP": "false",
        "MRTR_CA_FILE": str(authority),
        "DATABASE_URL": database_url(),
    }
    with (
        running_redis() as broker,
        serving(tmp_path, **environ) as process,
        ending_tls(certificate, process.port) as url,
        ending_tls(certificate, process.port, upgrades=False) as without_upgrades,
    ):
        assert manage("collectstatic", "--noinput", **environ).returncode == 0
        said = doctor("--url", url, REDIS_URL=broker.url, **environ)
        failing = [each.words for each in door.look(without_upgrades) if each.place == "WebSocket"]
    assert failing == [
        "the upgrade is answered with 404, so pages poll. "
        "Let the proxy pass on Upgrade and Connection on /ws/, by HTTP/1.1"
    ]
    lines = [line.partition(": ")[0] for line in said.stdout.splitlines()]
    assert said.returncode == 0, said.stdout + said.stderr
    disk = ["ok       disk"] if connection.vendor == "sqlite" else []
    places = ("settings", "database", "migrations", "clock", "credentials")
    outside = ("static files", "redis", "channel layer", "proxy", "cookies", "HSTS")
    assert lines == [
        *(f"ok       {place}" for place in places),
        "warning  servers",
        *disk,
        *(f"ok       {place}" for place in outside),
        "warning  certificate",
        "ok       WebSocket",
        "ok       clock",
        f"{13 + len(disk)} ok, 2 warnings, 0 failed",
    ]
    assert "warning  certificate: the certificate counts for 1 more days. Look at what renews it\n" in said.stdout
    assert KEY not in said.stdout + said.stderr


def test_without_a_database_the_rest_is_looked_at_and_no_secret_is_told() -> None:
    port = free_port()
    said = doctor(
        DATABASE_URL=f"postgresql://me:c4n4ry@127.0.0.1:{port}/mrtr", REDIS_URL=f"redis://:c4n4ry@127.0.0.1:{port}"
    )
    assert said.returncode == 1
    assert [line for line in said.stdout.splitlines() if "static files" not in line][-3:] == [
        "FAIL     database: 127.0.0.1, mrtr: nothing listens there. "
        "Start it, or put host and port of DATABASE_URL right.",
        "warning  credentials, servers: not looked at without database",
        "FAIL     redis: 127.0.0.1 is not reached (ConnectionError). "
        "Start it, or put REDIS_URL right; pages poll meanwhile",
    ]
    assert said.stderr.startswith("CommandError: ") and said.stderr.endswith(f"{said.stdout.count('FAIL ')} failed\n")
    assert "c4n4ry" not in said.stdout + said.stderr


def test_a_database_file_that_is_not_there_is_not_made(tmp_path: Path) -> None:
    said = doctor(DATABASE_URL=f"sqlite:///{tmp_path}/none.sqlite3")
    assert f"FAIL     database: {tmp_path}/none.sqlite3 is not there. Make it: manage.py migrate" in said.stdout
    assert "ok       disk: " in said.stdout
    assert not (tmp_path / "none.sqlite3").exists()


@pytest.mark.parametrize(
    "text",
    ["mrtr.example", "https://", "https://me:c4n4ry@h", "https://h/path", "ftp://h", "https://h:0", "https://[::1"],
)
def test_an_address_is_scheme_and_host(text: str) -> None:
    with pytest.raises(CommandError, match="give https://host, without path or user"):
        call_command("doctor", f"--url={text}")


def test_a_missing_migration_is_named(db: None) -> None:
    assert machine.tables().level == "ok"
    last = MigrationRecorder.Migration.objects.filter(app="mrtr_web").order_by("name").last()
    assert last is not None
    last.delete()
    found = machine.tables()
    assert found.level == "FAIL"
    assert found.words == f"1 are not applied, the first is mrtr_web.{last.name}. Run manage.py migrate"


def test_tables_of_another_version_are_named_though_nothing_is_left_to_migrate(db: None) -> None:
    with connection.cursor() as cursor:
        cursor.execute("ALTER TABLE mrtr_web_flow DROP COLUMN note")
    found = machine.tables()
    assert found.level == "FAIL"
    assert found.words.startswith("mrtr_web_flow.note is missing")


def test_the_database_clock_is_read(db: None) -> None:
    assert machine.clock().level == "ok"


@pytest.mark.parametrize(
    ("url", "words"),
    [
        ("postgresql://postgres@nowhere.invalid/x", "its host has no address"),
        ("postgresql://postgres@127.0.0.1:1/x", "nothing listens there"),
    ],
)
def test_why_postgresql_is_not_reached_is_told(monkeypatch: pytest.MonkeyPatch, url: str, words: str) -> None:
    from django.db.backends.postgresql.base import DatabaseWrapper

    given = {**connection.settings_dict, "TIME_ZONE": None} | config.database(url, Path())
    monkeypatch.setattr(machine, "connection", DatabaseWrapper(given))
    found = machine.database()
    assert (found.level, words in found.words) == ("FAIL", True), found


def test_a_full_disk_and_a_lost_logo_are_told(settings: Settings, tmp_path: Path, monkeypatch: Any) -> None:
    give(settings, site_logo=tmp_path / "logo.svg")
    assert levels(machine.logo()) == ["FAIL"]
    (tmp_path / "logo.svg").write_text("<svg/>")
    assert levels(machine.logo()) == ["ok"]
    if connection.vendor == "sqlite":
        for free, level in ((machine.SCARCE, "ok"), (machine.SCARCE - 1, "warning"), (machine.TOO_LITTLE - 1, "FAIL")):
            usage = type("Usage", (), {"free": free})
            monkeypatch.setattr(shutil, "disk_usage", lambda path, usage=usage: usage)
            assert levels(machine.disk()) == [level]


def test_static_files_that_are_missing_or_old_are_counted(collected: None, settings: Settings, tmp_path: Path) -> None:
    shutil.copytree(settings.STATIC_ROOT, tmp_path / "static")
    settings.STATIC_ROOT = str(tmp_path / "static")
    assert machine.statics().level == "ok"
    script, style = sorted((tmp_path / "static" / "css").glob("*.css"))[:2]
    script.unlink()
    style.write_text("of an older version")
    found = machine.statics()
    assert (found.level, found.words.partition(" of ")[0]) == ("FAIL", "2")
    assert found.words.endswith(f" are missing or old at {tmp_path}/static. Run manage.py collectstatic --noinput")


@contextlib.contextmanager
def mail_server(*answers: bytes) -> Iterator[str]:
    """Says these to whoever comes, one after each line that it is told; the address for MRTR_EMAIL_URL."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        thread = threading.Thread(target=_deliver, args=(listener, answers), daemon=True)
        thread.start()
        yield f"smtp://me:c4n4ry@127.0.0.1:{listener.getsockname()[1]}"
        thread.join(5)


def _deliver(listener: socket.socket, answers: tuple[bytes, ...]) -> None:
    plain, _ = listener.accept()
    with plain, plain.makefile("rb") as lines:
        for answer in answers:
            plain.sendall(answer + b"\r\n")
            lines.readline()


def mailing(settings: Settings, url: str) -> list[Finding]:
    """What is found of the mail server there."""
    give(settings, email_url=SecretStr(url))
    settings.EMAIL_BACKEND = "django.core.mail.backends.smtp.EmailBackend"
    names = ("HOST", "PORT", "HOST_USER", "HOST_PASSWORD", "USE_SSL", "USE_TLS")
    for name, value in zip(names, config.mail_server(url), strict=True):
        setattr(settings, f"EMAIL_{name}", value)
    found = list(post.office())
    assert "c4n4ry" not in "".join(map(str, found))
    return found


def test_the_mail_server_is_asked_to_let_us_in(settings: Settings) -> None:
    assert mailing(settings, "") == []
    hello = (b"220 ready", b"250-here\r\n250 AUTH PLAIN")
    with mail_server(*hello, b"235 welcome", b"221 bye") as url:
        assert levels(mailing(settings, url)) == ["ok"]
    with mail_server(*hello, b"535 no", b"221 bye") as url:
        (found,) = mailing(settings, url)
        assert (found.level, "refuses the user or the password" in found.words) == ("FAIL", True)
    with mail_server(b"220 ready", b"250 here", b"221 bye") as url:
        (found,) = mailing(settings, url)
        assert (found.level, "has no STARTTLS" in found.words) == ("FAIL", True)
    (found,) = mailing(settings, f"smtp://me:c4n4ry@127.0.0.1:{free_port()}")
    assert (found.level, "(ConnectionRefusedError)" in found.words) == ("FAIL", True)


def test_without_redis_it_is_said_what_that_means(settings: Settings) -> None:
    give(settings, redis_url=SecretStr(""))
    (found,) = hints.line()
    assert (found.level, "hints stay within one process" in found.words) == ("warning", True)


def test_a_layer_that_carries_nothing_fails(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hints, "PATIENCE", 0.5)
    with running_redis() as broker:
        give(settings, redis_url=SecretStr(broker.url))
        settings.CHANNEL_LAYERS = config.channel_layers(f"redis://127.0.0.1:{free_port()}")
        assert levels(hints.line()) == ["ok", "FAIL"]


def test_what_no_key_opens_is_named(settings: Settings, server: Server) -> None:
    credentials.give(server, "bearer", "c4n4ry")
    server.save()
    assert levels(upstream.kept()) == ["ok"]
    for keys in ((), (OTHER,)):
        give(settings, credential_keys=keys)
        (found,) = upstream.kept()
        assert found.level == "FAIL"
        assert found.words.startswith("1 of 1 cannot be opened (demo: its credential). ")
    credentials.refer(server, "bearer", "env", "NOT_SET_ANYWHERE")
    server.save()
    assert [each.level for each in upstream.kept()] == ["ok", "FAIL"]


def test_each_server_is_asked(transactional_db: None, server: Server) -> None:
    Server.objects.create(slug="gone", name="Gone", url="http://127.0.0.1:9/mcp", private_networks=["127.0.0.1/32"])
    Server.objects.create(slug="off", name="Off", url="http://127.0.0.1:9/mcp", enabled=False)
    with desk(server, done()):
        found = list(upstream.servers())
    assert [(each.level, each.place) for each in found] == [("ok", "server demo"), ("FAIL", "server gone")]
    assert "1 tool" in found[0].words


def test_the_forward_proxy_is_to_be_there(settings: Settings, certificate: Path, authority: Path) -> None:
    def looked_at(url: str, ca_file: Path | None = None) -> list[Finding]:
        give(settings, egress_proxy=SecretStr(url), ca_file=ca_file)
        found = list(upstream.proxy())
        assert "c4n4ry" not in "".join(map(str, found))
        return found

    assert looked_at("") == []
    (found,) = looked_at(f"http://me:c4n4ry@localhost:{free_port()}")
    assert (found.level, "(ConnectionRefusedError)" in found.words) == ("FAIL", True)
    with forward(certificate=certificate) as proxy:
        url = f"https://me:c4n4ry@localhost:{proxy.port}"
        (found,) = looked_at(url)
        assert (found.level, "MRTR_CA_FILE" in found.words) == ("FAIL", True)
        assert levels(looked_at(url, authority)) == levels(looked_at(url.replace("https", "http"))) == ["ok"]


def test_that_people_are_to_sign_in_is_no_fault(transactional_db: None, server: Server) -> None:
    with gate(server, {"token"}):
        server.refresh_from_db()
        credentials.give(server, "each", "")
        server.save()
        (found,) = upstream.servers()
    assert found == Finding("ok", "server demo", "Demo desk answers, and asks people for a token, as it is set up.")


# Through the proxy


def page(*, status: int = 200, body: bytes = b"ok", **headers: str) -> Answer:
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return Answer(body, status, {"content-type": "text/plain", **named})


COOKIE = "__Host-mrtr_csrf=c4n4ry; Path=/; Secure; HttpOnly"


def through(settings: Settings, health: Answer, login: Answer | None = None, upgrade: Answer | None = None) -> Any:
    """What is found where a proxy answers like this."""
    settings.SECURE_COOKIES, settings.CSRF_COOKIE_NAME = True, "__Host-mrtr_csrf"
    answers = {"/healthz": health, "/accounts/login/": login, "/ws/review/": upgrade}

    def step(post: Post) -> Answer:
        found = answers[post.path]
        assert found is not None
        return found

    with scripted(step) as (url, _):
        found = {each.place: each for each in door.look(url.removesuffix("/mcp"))}
    assert "c4n4ry" not in "".join(map(str, found.values()))
    return found


@pytest.mark.parametrize(
    ("status", "words"),
    [(301, "X-Forwarded-Proto"), (400, "ALLOWED_HOSTS"), (502, "does not reach the app"), (404, "not by this app")],
)
def test_a_proxy_that_does_not_lead_to_the_app_is_told_apart(settings: Settings, status: int, words: str) -> None:
    found = through(settings, page(status=status))
    assert [(each.level, words in each.words) for each in found.values()] == [("FAIL", True)]


@pytest.mark.parametrize(
    ("cookie", "level"),
    [
        (COOKIE, "ok"),
        (COOKIE.replace(" Secure;", ""), "FAIL"),
        (COOKIE.replace("__Host-", ""), "FAIL"),
        (COOKIE.replace("Path=/", "Path=/app"), "FAIL"),
        (f"{COOKIE}; Domain=example", "FAIL"),
        ("other=1", "FAIL"),
    ],
)
def test_cookies_that_a_proxy_rewrites_are_seen(settings: Settings, cookie: str, level: str) -> None:
    found = through(settings, page(), page(set_cookie=cookie), page(status=404))
    assert found["cookies"].level == level


@pytest.mark.parametrize(
    ("status", "policy", "level"),
    [
        (403, EVERYWHERE["Content-Security-Policy"], "ok"),
        (403, "default-src 'self'", "FAIL"),
        (404, EVERYWHERE["Content-Security-Policy"], "FAIL"),
        (426, "", "FAIL"),
    ],
)
def test_an_upgrade_is_to_reach_the_app(settings: Settings, status: int, policy: str, level: str) -> None:
    upgrade = page(status=status, content_security_policy=policy)
    assert through(settings, page(), page(set_cookie=COOKIE), upgrade)["WebSocket"].level == level


@pytest.mark.parametrize(("seconds", "level"), [(3, "ok"), (30, "warning"), (-3600, "FAIL")])
def test_clocks_that_differ_are_told(seconds: int, level: str) -> None:
    then = datetime.datetime.now(datetime.UTC) + datetime.timedelta(seconds=seconds)
    said = httpx2.Response(200, headers={"date": format_datetime(then, usegmt=True)})
    assert door._date(said).level == level


def test_a_certificate_that_nobody_knows_and_plain_http_are_told(settings: Settings, certificate: Path) -> None:
    with ending_tls(certificate, free_port()) as url:
        (found,) = door.look(url)
    assert "certificate is not accepted" in found.words and "MRTR_CA_FILE" in found.words
    (found,) = door.look(f"http://127.0.0.1:{free_port()}")
    assert found.words.startswith("the address is not reached (ConnectError)")
    give(settings, loopback_http=False)
    assert levels(door.look("http://mrtr.example")) == ["FAIL"]


def test_the_command_ends_with_what_failed(transactional_db: None, collected: None, server: Server) -> None:
    out = StringIO()
    with pytest.raises(CommandError, match=", 1 failed$"):
        call_command("doctor", stdout=out)
    assert [line for line in out.getvalue().splitlines() if line.startswith("FAIL")] == [
        "FAIL     server demo: Demo desk was not reached. The server did not answer: nothing listens at its address. "
        "Try again in a few minutes."
    ]
