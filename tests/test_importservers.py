"""Servers from the command line and from another host's file."""

import json
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth.models import Group, User
from django.core.management import CommandError, call_command
from pytest_django import Settings

from mrtr_web import credentials, importing, mcpjson, tokens
from mrtr_web.access import Client, Tokens
from mrtr_web.clientlines import Given
from mrtr_web.models import AuditEntry, Connection, Server

TOKENS = Tokens(access="t", issuer="i", resource="r", token_endpoint="e", client=Client(client_id="c"))
FILE = Path(__file__).parent / "data" / "mcp.json"
pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def surroundings(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GITHUB_TOKEN", "gh-t0ken")
    monkeypatch.setenv("TENANT", "north")
    for unset in ("CRM_TOKEN", "DESK_CLIENT"):
        monkeypatch.delenv(unset, raising=False)


def add(*words: str) -> tuple[str, str]:
    out, err = StringIO(), StringIO()
    call_command("addserver", *words, stdout=out, stderr=err)
    return out.getvalue(), err.getvalue()


def imported(text: str | None = None, **options: Any) -> dict[str, importing.Row]:
    return {row.name: row for row in importing.run(text or FILE.read_text(), importing.Options(**options))}


def one(**entry: Any) -> importing.Row:
    return imported(json.dumps({"mcpServers": {"one": entry}}))["one"]


# addserver


def test_addserver_registers_and_changes_what_is_given() -> None:
    words = ("--name=Weather", "--groups=a, b", "--tags=sky, rain", "--description=Says when it rains")
    out, err = add("w", "https://w.example/mcp", *words)
    assert out == "w: registered, at https://w.example/mcp\n"
    assert err == "note: New groups, with nobody in them: a, b\n"
    assert add("w", "https://w2.example/mcp") == ("w: changed, at https://w2.example/mcp\n", "")
    found = Server.objects.get()
    assert (found.url, found.name, found.tags, found.description) == (
        *("https://w2.example/mcp", "Weather", ["sky", "rain"], "Says when it rains"),
    )
    assert (found.private_networks, found.capabilities) == ([], ["elicitation"])
    assert [group.name for group in found.groups.order_by("name")] == ["a", "b"]
    notes = AuditEntry.objects.order_by("id").values_list("event", "server", "note")
    assert list(notes) == [("server_added", "w", "url, name, description, tags"), ("server_changed", "w", "url")]


def test_addserver_takes_a_token_from_a_variable_or_a_file(
    monkeypatch: pytest.MonkeyPatch, settings: Settings, tmp_path: Path
) -> None:
    settings.CONFIG = settings.CONFIG.model_copy(update={"credential_dir": tmp_path})
    _, err = add("w", "https://w.example/mcp", "--bearer-env=WEATHER_TOKEN")
    why = "The environment variable is not set, or empty."
    assert err == f"note: its credential cannot be had yet, and nothing is sent without it. {why}\n"
    monkeypatch.setenv("WEATHER_TOKEN", "t0ken")
    assert credentials.headers(Server.objects.get()) == {"Authorization": "Bearer t0ken"}
    (tmp_path / "token").write_text("other")
    assert add("w", "https://w.example/mcp", "--bearer-file=token")[1] == ""
    assert credentials.headers(Server.objects.get()) == {"Authorization": "Bearer other"}
    assert "given for another address and has been dropped" in add("w", "https://evil.example/mcp")[1]
    assert Server.objects.get().credential_kind == "none"


def test_addserver_registers_servers_that_ask_each_person() -> None:
    assert add("w", "https://w.example/mcp", "--credential=each") == ("w: registered, at https://w.example/mcp\n", "")
    found = Server.objects.get()
    assert (found.credential_kind, found.credential_source, found.credential_sealed) == ("each", "form", None)
    assert add("w", "https://w.example/mcp", "--credential=oauth") == ("w: changed, at https://w.example/mcp\n", "")
    assert (Server.objects.get().credential_kind, credentials.client(Server.objects.get())) == ("oauth", None)
    add("w", "https://w.example/mcp", "--bearer-env=TENANT")
    assert credentials.headers(Server.objects.get()) == {"Authorization": "Bearer north"}
    add("w", "https://w.example/mcp", "--credential=each")
    assert (Server.objects.get().credential_kind, Server.objects.get().credential_ref) == ("each", "")
    notes = AuditEntry.objects.order_by("id").values_list("note", flat=True)
    assert list(notes) == ["url, credential", *["credential"] * 3]


@pytest.mark.parametrize("words", [["--client-env=DESK_CLIENT"], ["--credential=oauth", "--client-env=DESK_CLIENT"]])
def test_addserver_takes_a_client_from_a_variable(monkeypatch: pytest.MonkeyPatch, words: list[str]) -> None:
    _, err = add("w", "https://w.example/mcp", *words)
    why = "The environment variable is not set, or empty."
    assert err == f"note: its credential cannot be had yet, and nothing is sent without it. {why}\n"
    monkeypatch.setenv("DESK_CLIENT", "client_id: app-1\nclient_secret: s3cret\nissuer: https://as.example\n")
    assert add("w", "https://w.example/mcp", *words)[1] == ""
    assert credentials.client(Server.objects.get()) == Given("app-1", "s3cret", "https://as.example")
    monkeypatch.setenv("DESK_CLIENT", "s3cret")
    assert "Line 1 is none of client_id, client_secret, issuer." in add("w", "https://w.example/mcp")[1]


def test_addserver_takes_a_client_from_a_file(settings: Settings, tmp_path: Path) -> None:
    settings.CONFIG = settings.CONFIG.model_copy(update={"credential_dir": tmp_path})
    (tmp_path / "client").write_text("client_id: app-1\n")
    assert add("w", "https://w.example/mcp", "--credential=oauth", "--client-file=client")[1] == ""
    assert credentials.client(Server.objects.get()) == Given("app-1")


def test_addserver_leaves_a_client_and_its_authorization_server_as_they_are(alice: User) -> None:
    """Once it is known where a client belongs, that is not found out anew with each start of the app."""
    add("w", "https://w.example/mcp", "--client-env=DESK_CLIENT")
    Server.objects.update(client_issuer="known")
    tokens.keep(Server.objects.get(), alice.pk, TOKENS)
    before = AuditEntry.objects.count()
    for words in (["--client-env=DESK_CLIENT"], ["--credential=oauth"], []):
        add("w", "https://w.example/mcp", *words)
        found = Server.objects.get()
        assert (found.credential_ref, found.client_issuer) == ("DESK_CLIENT", "known"), words
    assert (AuditEntry.objects.count(), Connection.objects.count()) == (before, 1)


@pytest.mark.parametrize("kind", ["each", "oauth"])
def test_addserver_moves_a_server_without_its_tokens(alice: User, kind: str) -> None:
    """Each person still needs one of their own there: what was asked of them before is never given up by a move."""
    add("w", "https://w.example/mcp", f"--credential={kind}")
    tokens.keep(Server.objects.get(), alice.pk, TOKENS)
    for words in ([], [f"--credential={kind}"]):
        assert add("w", "https://w2.example/mcp", *words) == ("w: changed, at https://w2.example/mcp\n", "")
        assert (Server.objects.get().credential_kind, Connection.objects.count()) == (kind, 0)
        add("w", "https://w.example/mcp")
    other = {"each": "oauth", "oauth": "each"}[kind]
    tokens.keep(Server.objects.get(), alice.pk, TOKENS)
    add("w", "https://w.example/mcp", f"--credential={other}")
    assert (Server.objects.get().credential_kind, Connection.objects.count()) == (other, 0)


def test_a_client_goes_to_no_other_origin_from_the_command_line() -> None:
    add("w", "https://w.example/mcp", "--client-env=TENANT")
    assert "given for another address and has been dropped" in add("w", "https://evil.example/mcp")[1]
    found = Server.objects.get()
    assert (found.credential_kind, found.credential_source, found.credential_ref) == ("oauth", "form", "")


def test_addserver_says_where_there_is_no_key_for_tokens(settings: Settings) -> None:
    settings.CONFIG = settings.CONFIG.model_copy(update={"credential_keys": ()})
    for kind in ("each", "oauth"):
        err = add("w", "https://w.example/mcp", f"--credential={kind}")[1]
        assert err.endswith("MRTR_CREDENTIAL_KEYS is empty, so people's tokens cannot be kept.\n")


def test_addserver_lists_private_networks() -> None:
    assert "Its address is http, which is used in private networks only" in add("w", "http://10.1.2.3/mcp")[1]
    assert add("w", "http://10.1.2.3/mcp", "--private-networks=10.1.2.3, fd00::/16")[1] == ""
    assert Server.objects.get().private_networks == ["10.1.2.3/32", "fd00::/16"]
    add("w", "http://10.1.2.3/mcp", "--allow-private")
    assert len(Server.objects.get().private_networks) == 6


WRONG = [
    ("not a url", []),
    ("https://w.example", ["--capabilities=magic"]),
    ("https://w.example", ["--private-networks=8.8.8.0/24"]),
    ("https://w.example", ["--private-networks=169.254.169.254"]),
    ("https://w.example", ["--private-networks=10.0.0.0/7"]),
    ("https://w.example", ["--bearer-env=SECRET_KEY"]),
    ("https://w.example", ["--bearer-file=../x"]),
    ("https://w.example", ["--bearer-file=x", "--bearer-env=X"]),
    ("https://w.example", ["--credential=none"]),
    ("https://w.example", ["--credential=bearer"]),
    ("https://w.example", ["--credential=each", "--client-env=X"]),
    ("https://w.example", ["--credential=oauth", "--bearer-env=X"]),
    ("https://w.example", ["--client-file=x", "--client-env=X"]),
    ("https://w.example", ["--client-env=SECRET_KEY"]),
    ("https://w.example", ["--client-env="]),
    ("https://w.example", ["--client-file=../x"]),
]


@pytest.mark.parametrize(("url", "options"), WRONG)
def test_addserver_refuses_what_cannot_work(url: str, options: list[str]) -> None:
    with pytest.raises(CommandError):
        add("w", url, *options)
    assert not Server.objects.exists()


# importservers


def test_a_realistic_file_of_twelve_is_imported_and_each_entry_accounted_for() -> None:
    rows = imported()
    assert {name: (row.outcome, row.slug) for name, row in rows.items()} == {
        "Weather Office": ("registered", "weather-office"),
        "github": ("registered", "github"),
        "tickets": ("registered", "tickets"),
        "crm": ("registered", "crm"),
        "vault": ("registered", "vault"),
        "docs": ("registered", "docs"),
        "filesystem": ("not_supported", ""),
        "old-search": ("not_supported", ""),
        "archive": ("registered", "archive"),
        "weather-office": ("registered", "weather-office-2"),
        "broken": ("skipped", ""),
        "greedy": ("skipped", ""),
    }
    assert rows["filesystem"].notes[0].startswith("stdio: it would run a program on this machine")
    assert rows["old-search"].notes[0].startswith("sse: this older transport")
    assert rows["greedy"].notes[0].startswith("SECRET_KEY: This variable holds a secret of this app itself")
    assert "CRM_TOKEN" in rows["crm"].notes[0] and "input:vault-token" in rows["vault"].notes[0]
    assert rows["archive"].notes == ("Switched off, as in the file.",)
    off = Server.objects.filter(enabled=False).order_by("slug")
    assert [server.slug for server in off] == ["archive", "crm", "vault"]


def test_headers_become_credentials_that_are_sealed_or_read_from_their_variable() -> None:
    imported()
    servers = {server.slug: server for server in Server.objects.all()}
    assert {slug: credentials.headers(server) for slug, server in servers.items()} == {
        "weather-office": {"Authorization": "Bearer wx-0123456789abcdef"},
        "github": {"Authorization": "Bearer gh-t0ken"},
        "tickets": {"X-Api-Key": "k-42", "X-Tenant": "north"},
        "crm": None,
        "vault": {},
        "docs": {},
        "archive": {},
        "weather-office-2": {},
    }
    github = servers["github"]
    assert (github.credential_source, github.credential_ref, github.credential_sealed) == ("env", "GITHUB_TOKEN", None)
    assert servers["crm"].credential_ref == "CRM_TOKEN"
    assert servers["tickets"].credential_source == "form"


def test_a_second_import_changes_the_same_servers() -> None:
    first = {name: row.slug for name, row in imported().items()}
    Server.objects.filter(slug="docs").update(name="Our papers", enabled=False)
    turned = json.loads(FILE.read_text())
    turned["mcpServers"] = dict(reversed(turned["mcpServers"].items()))
    again = imported(json.dumps(turned))
    assert {name: row.slug for name, row in again.items()} == first
    assert {row.outcome for row in again.values()} == {"unchanged", "not_supported", "skipped"}
    docs = Server.objects.get(slug="docs")
    assert (docs.name, docs.enabled, Server.objects.count()) == ("Our papers", False, 8)


def test_without_a_key_ring_only_what_needs_none_is_imported(settings: Settings) -> None:
    settings.CONFIG = settings.CONFIG.model_copy(update={"credential_keys": ()})
    rows = imported()
    assert [name for name, row in rows.items() if "no key to seal it under" in "".join(row.notes)] == [
        *("Weather Office", "tickets"),
    ]
    slugs = Server.objects.order_by("slug").values_list("slug", flat=True)
    assert list(slugs) == ["archive", "crm", "docs", "github", "vault", "weather-office-2"]
    assert Server.objects.get(slug="github").credential_source == "env"


def test_a_dry_run_says_the_same_and_writes_nothing() -> None:
    rows = imported(dry_run=True, groups=("travel",))
    assert rows["docs"].outcome == "registered"
    assert not (Server.objects.exists() or Group.objects.exists() or AuditEntry.objects.exists())
    assert {name: row.outcome for name, row in imported().items()} == {name: row.outcome for name, row in rows.items()}


def test_groups_and_private_networks_are_given_to_all() -> None:
    rows = imported(groups=("travel",), allow_private=True)
    assert rows["Weather Office"].notes == ("New groups, with nobody in them: travel",)
    assert {server.groups.get().name for server in Server.objects.all()} == {"travel"}
    assert {len(server.private_networks) for server in Server.objects.all()} == {6}


PLACEHOLDER = "Its address has a placeholder. Write out the address; a secret belongs into a header."
CHARACTERS = "It has characters that no text may hold."
MALFORMED = [
    ({}, "It has no address (url)."),
    ({"url": 5}, "It has no address (url)."),
    ({"url": "https://a.example", "headers": ["x"]}, "Its headers are not texts by name."),
    ({"url": "https://a.example", "headers": {"x": 5}}, "Its headers are not texts by name."),
    ({"url": "https://a.example", "headers": {"Host": "s3cret"}}, "The header of line 1 is set by this app itself."),
    ({"url": "https://a.example", "headers": {"A": "s3cret\nB: x"}}, "A header has a line break in it."),
    ({"url": "https://a.example/?key=${HOME}"}, PLACEHOLDER),
    ({"url": "https://a.example/${NOWHERE:-mcp}"}, PLACEHOLDER),
    ({"url": "https://a.example/\ud800"}, CHARACTERS),
    ({"url": "https://a.example/\0"}, CHARACTERS),
    ({"url": "https://a.example", "headers": {"A": "\ud800"}}, CHARACTERS),
]


@pytest.mark.parametrize(("entry", "why"), MALFORMED)
def test_a_malformed_entry_is_named_with_its_reason_and_without_its_values(entry: dict[str, Any], why: str) -> None:
    row = one(**entry)
    assert (row.outcome, row.notes) == ("skipped", (why,))
    assert not Server.objects.exists()


def test_an_entry_that_is_no_object_is_skipped() -> None:
    assert imported('{"servers": {"a": 5, "b": null}}')["a"].notes == ("It is not an object.",)


def test_placeholders_of_headers_may_have_defaults() -> None:
    assert one(url="https://a.example/mcp", headers={"A": "${NOWHERE:-b}"}).outcome == "registered"
    assert credentials.headers(Server.objects.get()) == {"A": "b"}


def test_a_server_of_another_origin_keeps_its_slug_and_its_address() -> None:
    Server.objects.create(slug="github", name="Our own forge", url="https://forge.example/mcp")
    row = imported(json.dumps({"mcpServers": {"GitHub": {"url": "https://api.github.example/mcp"}}}))["GitHub"]
    assert (row.outcome, row.slug) == ("registered", "github-2")
    assert Server.objects.get(slug="github").url == "https://forge.example/mcp"


def test_a_second_import_of_the_same_changes_nothing() -> None:
    entry = {"url": "https://a.example/mcp", "headers": {"Authorization": "Bearer t0ken"}}
    assert one(**entry).outcome == "registered"
    before = AuditEntry.objects.count()
    assert (one(**entry).outcome, AuditEntry.objects.count()) == ("unchanged", before)


def test_an_entry_that_cannot_be_stored_leaves_the_others() -> None:
    """A number of 5,000 digits ends the file, a name that is too long its entry."""
    with pytest.raises(mcpjson.Unreadable, match="numbers that are too long"):
        imported('{"mcpServers": {"a": {"url": "https://a.example", "x": ' + "9" * 5000 + "}}}")
    rows = importing.run('{"mcpServers": {"a": {"url": "https://a.example"}}}', importing.Options(groups=("g" * 400,)))
    assert [row.outcome for row in rows] == ["skipped"]
    assert not Server.objects.exists()


CLIENT = (
    "Each person signs in. The client in the file was left out: it sends people back to another program. This app "
    "registers itself there; where it cannot, have a client registered for it and enter that."
)
UNKNOWN = "What it says of authentication is not known here and was left out. Set its credential by form."
BESIDE = "It has headers, so what it says of signing in was left out."
SIGN_INS: list[tuple[dict[str, Any], str, tuple[str, ...]]] = [
    ({"oauth": {}}, "oauth", ()),
    ({"oauth": True}, "oauth", ()),
    ({"oauth": {"enabled": True, "scopes": ["a"]}}, "oauth", ()),
    ({"oauth": {"clientId": "app", "callbackPort": 8080}}, "oauth", (CLIENT,)),
    ({"oauth": {"enabled": True, "clientId": "app", "clientSecret": "s3cret"}}, "oauth", (CLIENT,)),
    ({"auth": {"CLIENT_ID": "app", "CLIENT_SECRET": "s3cret", "scopes": ["a"]}}, "oauth", (CLIENT,)),
    ({"auth": "oauth"}, "oauth", ()),
    ({"authentication": {"type": "OAuth2"}}, "oauth", ()),
    ({"oauth": False}, "none", ()),
    ({"oauth": {"enabled": False, "clientId": "app"}}, "none", ()),
    ({"oauth": None, "auth": None}, "none", ()),
    ({"auth": "s3cret"}, "none", (UNKNOWN,)),
    ({"auth": ["s3cret"]}, "none", (UNKNOWN,)),
    ({"authentication": {"type": "basic", "password": "s3cret"}}, "none", (UNKNOWN,)),
    ({"authProviderType": "google_credentials"}, "none", (UNKNOWN,)),
    ({"headers": {"X-Key": "k"}, "oauth": {"clientId": "app"}}, "headers", (BESIDE,)),
]


@pytest.mark.parametrize(("said", "kind", "notes"), SIGN_INS)
def test_nothing_that_a_file_says_of_signing_in_is_lost_silently(
    said: dict[str, Any], kind: str, notes: tuple[str, ...]
) -> None:
    row = one(url="https://a.example/mcp", **said)
    found = Server.objects.get()
    assert (row.outcome, row.notes) == ("registered", notes)
    assert (found.credential_kind, found.enabled) == (kind, True)
    assert kind == "headers" or found.credential_sealed is None


def test_a_second_import_leaves_the_client_that_was_entered() -> None:
    entry = {"url": "https://a.example/mcp", "auth": "oauth"}
    one(**entry)
    found = Server.objects.get()
    credentials.give(found, "oauth", "client_id: app-1")
    found.save()
    assert one(**entry).outcome == "unchanged"
    assert credentials.client(Server.objects.get()) == Given("app-1")


def test_an_import_says_where_there_is_no_key_for_tokens(settings: Settings) -> None:
    settings.CONFIG = settings.CONFIG.model_copy(update={"credential_keys": ()})
    row = one(url="https://a.example/mcp", auth="oauth")
    why = "MRTR_CREDENTIAL_KEYS is empty, so people's tokens cannot be kept."
    assert (row.outcome, row.notes) == ("registered", (f"Nobody can sign in there yet. {why}",))


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ('{"mcpServers": {"a": {"url": "https://a.example"},}}', "Line 1 is not plain JSON"),
        ('{\n// a comment\n"mcpServers": {}}', "Line 2 is not plain JSON"),
        ("[]", "There is no list of servers in it"),
        ('{"mcpServers": []}', "There is no list of servers in it"),
        ('{"mcpServers": {"a": {}, "a": {}}}', "A name stands in it twice"),
        ("[" * 100_000, "nested too deeply"),
    ],
)
def test_a_file_that_cannot_be_used_says_why(text: str, why: str) -> None:
    with pytest.raises(mcpjson.Unreadable, match=why):
        importing.run(text, importing.Options())


def test_the_command_prints_a_table_and_a_count() -> None:
    out = StringIO()
    call_command("importservers", str(FILE), stdout=out)
    lines = out.getvalue().splitlines()
    assert lines[0].split() == ["name", "address", "word", "outcome", "notes"]
    assert lines[1].split() == ["Weather", "Office", "weather-office", "registered"]
    assert lines[-1] == "8 of 12 can be used here"
    assert "wx-0123456789abcdef" not in out.getvalue()


def test_the_command_says_what_is_wrong_with_the_file(tmp_path: Path) -> None:
    for content in (None, b"\xff", b"{"):
        if content is not None:
            (tmp_path / "x.json").write_bytes(content)
        with pytest.raises(CommandError):
            call_command("importservers", str(tmp_path / "x.json"), stdout=StringIO())
