"""What lets the app in at a server: where it comes from, where it goes, and that it is seen nowhere."""

import os
from io import StringIO
from pathlib import Path

import pytest
from django.contrib.auth.models import User
from django.core.management import CommandError, call_command
from pytest_django import Settings

from mrtr_web import admission, catalog, config, credentials, egress, headerlines, keyring
from mrtr_web.headerlines import Malformed
from mrtr_web.models import Flow, KeptMessages, Server
from tests.desk import always, calls, desk, done, start
from tests.person import Person
from tests.servers import Answer

OLD, NEW, OTHER = (letter + "bcdefghijklmnopqrstuvwxyz-0123456789-ABCDEFGH" for letter in "onx")
CANARY = "c4n4ry-t0ken"


def keys(settings: Settings, *names: str) -> None:
    settings.CONFIG = settings.CONFIG.model_copy(update={"credential_keys": names})


def folder(settings: Settings, path: Path) -> Path:
    settings.CONFIG = settings.CONFIG.model_copy(update={"credential_dir": path})
    return path


# The key ring


def test_every_key_opens_and_the_first_one_seals(settings: Settings) -> None:
    keys(settings, OLD)
    blob = keyring.seal("grüße", "messages", "f", 1)
    keys(settings, NEW, OLD)
    assert keyring.open(blob, "messages", "f", 1) == "grüße".encode()
    keys(settings, NEW)
    with pytest.raises(keyring.Locked):
        keyring.open(blob, "messages", "f", 1)


@pytest.mark.parametrize(
    "binding", [("credential", "f", 1), ("messages", "g", 1), ("messages", "f", 2), ("messages", "f")]
)
def test_what_is_sealed_opens_only_where_it_belongs(settings: Settings, binding: tuple[str | int, ...]) -> None:
    keys(settings, NEW)
    with pytest.raises(keyring.Locked):
        keyring.open(keyring.seal(b"x", "messages", "f", 1), *binding)


def test_only_what_is_under_a_former_key_is_sealed_anew(settings: Settings) -> None:
    keys(settings, OLD)
    blob = keyring.seal(b"x", "a")
    keys(settings, NEW, OLD)
    new = keyring.reseal(blob, "a")
    assert new is not None
    assert keyring.reseal(new, "a") is None
    keys(settings, NEW)
    assert keyring.open(new, "a") == b"x"


def test_without_keys_nothing_is_sealed_or_opened(settings: Settings) -> None:
    keys(settings, NEW)
    blob = keyring.seal(b"x", "a")
    keys(settings)
    assert not keyring.is_set()
    with pytest.raises(keyring.NoKeys):
        keyring.seal(b"x", "a")
    with pytest.raises(keyring.NoKeys):
        keyring.open(blob, "a")
    with pytest.raises(keyring.NoKeys):
        keyring.reseal(blob, "a")


@pytest.mark.parametrize("wrong", ["short", "x" * 60, f"{NEW},short"])
def test_a_key_that_is_not_random_enough_stops_the_start(monkeypatch: pytest.MonkeyPatch, wrong: str) -> None:
    monkeypatch.setenv("MRTR_CREDENTIAL_KEYS", wrong)
    with pytest.raises(config.BadSetting) as caught:
        config.load()
    assert str(caught.value).startswith("MRTR_CREDENTIAL_KEYS: each key must have 43 random characters")
    assert wrong not in str(caught.value)


def test_keys_are_read_and_never_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MRTR_CREDENTIAL_KEYS", f"{NEW}, {OLD}")
    found = config.load()
    assert found.credential_keys == (NEW, OLD)
    assert NEW not in repr(found) and OLD not in str(found)


# What is written


@pytest.mark.parametrize(
    ("kind", "text", "headers"),
    [
        ("bearer", " t0ken.x~+/=\n", {"Authorization": "Bearer t0ken.x~+/="}),
        ("headers", "X-Api-Key: a b\r\n\r\nX-Tenant:7\n", {"X-Api-Key": "a b", "X-Tenant": "7"}),
        ("headers", "Authorization: Basic YTpi", {"Authorization": "Basic YTpi"}),
        ("headers", f"A: {'x' * 8192}", {"A": "x" * 8192}),
    ],
)
def test_credentials_as_they_are_written(kind: str, text: str, headers: dict[str, str]) -> None:
    assert headerlines.read(kind, text) == headers


OURS = [
    "Host",
    "content-length",
    "Content-Type",
    "Transfer-Encoding",
    "Connection",
    "Upgrade",
    "TE",
    "Trailer",
    "cookie",
]
OURS += ["Accept", "Accept-Encoding", "Proxy-Authorization", "Sec-Fetch-Mode", "Mcp-Method", "MCP-Protocol-Version"]
OURS += ["Last-Event-ID", "ORIGIN"]


@pytest.mark.parametrize("name", OURS)
def test_headers_that_this_app_sets_cannot_be_given(name: str) -> None:
    with pytest.raises(Malformed, match="The header of line 1 is set by this app itself"):
        headerlines.read("headers", f"{name}: {CANARY}")


WRONG = [
    *(("bearer", text) for text in ("", "  ", f"Bearer {CANARY}", f"{CANARY}\x00", f"{CANARY}\u00e9", CANARY * 1000)),
    *(("headers", text) for text in ("", f"{CANARY}", f"X {CANARY}: a", f": {CANARY}", "A:", f"A: {CANARY}\x07")),
    *(("headers", text) for text in (f"A: {CANARY}\ttab", f"A: {CANARY}\u2028", f"A: {CANARY}\nа: x", "A: 1\na: 2")),
    *(
        ("headers", text)
        for text in ("A: " + "x" * 8193, "\n".join(f"A{i}: x" for i in range(51)), f"A\u00e9: {CANARY}")
    ),
]


@pytest.mark.parametrize(("kind", "text"), WRONG)
def test_what_cannot_be_sent_is_refused_without_repeating_it(kind: str, text: str) -> None:
    with pytest.raises(Malformed) as caught:
        headerlines.read(kind, text)
    assert CANARY not in f"{caught.value!r}"


# Where it goes


@pytest.mark.parametrize(
    ("url", "origin"),
    [
        ("https://A.Example/mcp", "https://a.example:443"),
        ("https://a.example:443/", "https://a.example:443"),
        ("http://a.example", "http://a.example:80"),
        ("https://a.example:8443/x?y", "https://a.example:8443"),
        ("https://a.example@evil.example/", "https://evil.example:443"),
        ("https://[::1]:1/", "https://[::1]:1"),
        ("ftp://a.example/", ""),
        ("https://a:b:c/", ""),
    ],
)
def test_an_origin_is_what_would_be_dialled(url: str, origin: str) -> None:
    assert egress.origin_of(url) == origin


MOVES = [
    ("https://w.example/other?x=1", True),
    ("https://W.EXAMPLE:443/mcp", True),
    ("http://w.example/mcp", False),
    ("https://w.example:444/mcp", False),
    ("https://w.example.evil/mcp", False),
    ("https://w.example@evil/mcp", False),
]


@pytest.mark.parametrize(("url", "stays"), MOVES)
def test_a_credential_goes_to_the_origin_that_it_was_given_for_and_no_other(
    server: Server, url: str, stays: bool
) -> None:
    server.url = "https://w.example/mcp"
    credentials.give(server, "bearer", CANARY)
    server.url = url
    assert credentials.headers(server) == ({"Authorization": f"Bearer {CANARY}"} if stays else None)
    assert credentials.drop_if_moved(server) is not stays
    assert (server.credential_kind, bool(server.credential_sealed)) == (("bearer", True) if stays else ("none", False))


def test_a_sealed_credential_of_one_server_opens_for_no_other(server: Server) -> None:
    credentials.give(server, "headers", f"X-Key: {CANARY}")
    assert credentials.headers(server) == {"X-Key": CANARY}
    assert CANARY.encode() not in bytes(server.credential_sealed or b"")
    server.save()
    server.pk, server.slug = None, "other"
    server.save()
    assert credentials.headers(server) is None


def test_a_variable_is_read_each_time(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    credentials.refer(server, "bearer", "env", "WEATHER_TOKEN")
    assert credentials.headers(server) is None
    assert credentials.trouble(server) == "The environment variable is not set, or empty."
    monkeypatch.setenv("WEATHER_TOKEN", " t0ken\n")
    assert credentials.headers(server) == {"Authorization": "Bearer t0ken"}
    monkeypatch.setenv("WEATHER_TOKEN", " ")
    assert credentials.headers(server) is None
    credentials.refer(server, "headers", "env", "WEATHER_TOKEN")
    monkeypatch.setenv("WEATHER_TOKEN", "A: 1\nB: 2")
    assert credentials.headers(server) == {"A": "1", "B": "2"}


OWN = [
    "SECRET_KEY",
    "secret_key",
    "SECRET_KEY_FALLBACKS",
    "DATABASE_URL",
    "REDIS_URL",
    "MRTR_CREDENTIAL_KEYS",
    "mrtr_x",
]


@pytest.mark.parametrize("name", [*OWN, "", "A B", "A=B", "ä"])
def test_variables_with_secrets_of_this_app_are_no_source(
    server: Server, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    if name in OWN:
        monkeypatch.setenv(name, "t0ken")
    with pytest.raises(Malformed):
        credentials.refer(server, "bearer", "env", name)
    server.credential_kind, server.credential_source, server.credential_ref = "bearer", "env", name
    server.credential_origin = egress.origin_of(server.url)
    assert credentials.headers(server) is None


def test_a_file_of_the_directory_is_read_also_through_links_inside(
    server: Server, settings: Settings, tmp_path: Path
) -> None:
    base = folder(settings, tmp_path / "secrets")
    (base / "..data").mkdir(parents=True)
    (base / "..data" / "token").write_text("t0ken\n")
    (base / "token").symlink_to(base / "..data" / "token")
    credentials.refer(server, "bearer", "file", "token")
    assert credentials.headers(server) == {"Authorization": "Bearer t0ken"}
    (base / "token").unlink()
    assert credentials.headers(server) is None


def test_files_with_secrets_of_this_app_are_no_source(
    server: Server, settings: Settings, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    base = folder(settings, tmp_path)
    (base / "key").write_text(CANARY)
    (base / "link").symlink_to(base / "key")
    (base / "hard").hardlink_to(base / "key")
    credentials.refer(server, "bearer", "file", "key")
    monkeypatch.setenv("SECRET_KEY_FILE", str(base / "link"))
    assert credentials.headers(server) is None
    for ref in ("key", "link", "hard"):
        with pytest.raises(Malformed, match="holds a secret of this app itself"):
            credentials.refer(server, "bearer", "file", ref)


def test_nothing_but_a_small_text_file_inside_the_directory_is_read(
    server: Server, settings: Settings, tmp_path: Path
) -> None:
    base = folder(settings, tmp_path / "secrets")
    (base / "folder").mkdir(parents=True)
    (tmp_path / "outside").write_text("t0ken")
    (base / "link").symlink_to(tmp_path / "outside")
    for ref in ("", ".", "..", "../outside", str(tmp_path / "outside"), "link", "a\0b"):
        with pytest.raises(Malformed):
            credentials.refer(server, "bearer", "file", ref)
    (base / "big").write_text("x" * (64 * 1024 + 1))
    (base / "empty").write_text(" \n")
    (base / "bytes").write_bytes(b"\xff\xfe")
    os.mkfifo(base / "pipe")
    for ref in ("folder", "big", "empty", "bytes", "pipe", "missing"):
        credentials.refer(server, "bearer", "file", ref)
        assert credentials.headers(server) is None, ref
    (base / "later").write_text("t0ken")
    credentials.refer(server, "bearer", "file", "later")
    (base / "later").unlink()
    (base / "later").symlink_to(tmp_path / "outside")
    assert credentials.headers(server) is None


def test_a_credential_that_cannot_be_had_says_why(server: Server, settings: Settings) -> None:
    keys(settings, OLD)
    credentials.give(server, "bearer", CANARY)
    assert credentials.trouble(server) == ""
    keys(settings, NEW)
    assert credentials.trouble(server) == "No key of MRTR_CREDENTIAL_KEYS opens it. Type it in again."
    keys(settings)
    assert credentials.trouble(server) == "MRTR_CREDENTIAL_KEYS is empty, so it cannot be opened."
    with pytest.raises(keyring.NoKeys):
        credentials.give(server, "bearer", CANARY)


@pytest.mark.django_db(transaction=True)
def test_nothing_is_sent_without_the_credential_and_everything_with_it(
    person: Person, server: Server, settings: Settings
) -> None:
    keys(settings, NEW)
    with desk(server, done()) as recorder:
        found = Server.objects.get()
        credentials.give(found, "headers", f"X-Key: {CANARY}")
        found.save()
        person.get("/s/demo/")
        assert {post.headers["x-key"] for post in recorder.posts} == {CANARY}
        before = len(recorder.posts)
        keys(settings, OLD)
        start(person)
        person.until("unsent")
        assert "This app's credentials for the server are missing or unusable" in person.page.text
        assert len(recorder.posts) == before
        keys(settings, NEW)
        person.press("Send again")
        person.until("completed")
        assert calls(recorder)[0].headers["x-key"] == CANARY
    assert CANARY not in repr(admission.endpoint(found, 0))


@pytest.mark.django_db
def test_a_servers_own_times_go_before_the_settings(server: Server, settings: Settings) -> None:
    assert (catalog.limits(server).silence, catalog.limits(server).total) == (20, 60)
    server.silence_timeout, server.total_timeout = 3, 4
    assert (catalog.limits(server).silence, catalog.limits(server).total) == (3, 4)
    assert (catalog.limits().silence, catalog.limits().total) == (20, 60)


# Rotation


def test_rotation_seals_all_under_the_first_key_and_names_what_no_key_opens(
    alice: User, server: Server, settings: Settings
) -> None:
    keys(settings, OLD)
    credentials.give(server, "bearer", CANARY)
    server.save()
    flow = Flow.objects.create(user=alice, server=server, method="tools/call", name="t")
    KeptMessages.objects.create(flow=flow, round=1, sealed=keyring.seal(b"asked", "messages", str(flow.pk), 1))
    keys(settings, NEW, OLD)
    out = StringIO()
    call_command("rotatekeys", stdout=out)
    assert out.getvalue() == "2 sealed under the first key\n"
    call_command("rotatekeys", stdout=(again := StringIO()))
    assert again.getvalue() == "0 sealed under the first key\n"
    keys(settings, NEW)
    assert credentials.headers(Server.objects.get()) == {"Authorization": f"Bearer {CANARY}"}
    assert keyring.open(bytes(KeptMessages.objects.get().sealed), "messages", str(flow.pk), 1) == b"asked"
    keys(settings, OTHER)
    with pytest.raises(CommandError) as caught:
        call_command("rotatekeys", stdout=StringIO())
    assert "demo: its credential" in str(caught.value)
    assert f"demo: messages of request {flow.reference}" in str(caught.value)
    assert credentials.headers(Server.objects.get()) is None


@pytest.mark.django_db
def test_rotation_needs_keys(settings: Settings) -> None:
    keys(settings)
    with pytest.raises(CommandError, match="MRTR_CREDENTIAL_KEYS is empty"):
        call_command("rotatekeys", stdout=StringIO())


@pytest.mark.django_db(transaction=True)
def test_a_leg_is_given_up_after_the_servers_own_silence(person: Person, server: Server) -> None:
    Server.objects.update(silence_timeout=1)
    hang = Answer(b": still working\n\n", 200, {"content-type": "text/event-stream"}, "hang")
    with desk(server, always(hang)):
        start(person)
        person.until("unknown")
    assert "The server took too long, and we stopped waiting for its answer." in person.page.text
