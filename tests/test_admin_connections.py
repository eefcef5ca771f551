"""How people get in at a server, as admins set it up, test it, and see who is connected: nothing secret is shown."""

import json
from collections.abc import Iterator
from datetime import timedelta
from io import StringIO
from typing import Any

import pytest
from django.contrib.auth.models import Permission, User
from django.core.management import CommandError, call_command
from django.utils import timezone
from pytest_django import Settings

from mrtr_web import credentials, keyring, tokens
from mrtr_web.access import Client, Tokens
from mrtr_web.clientlines import Given
from mrtr_web.models import AuditEntry, Connection, Listing, Registration, Server, Session, SignIn
from tests import offers
from tests.desk import desk, done
from tests.person import Page, Person
from tests.reviewers import flow_of, looking, page, reviewer_of
from tests.servers import Answer, Post, Recorder, Scripted, html, raw_json, serve
from tests.staff import at, page_of, save, staff
from tests.test_canaries import tables
from tests.visitors import cookies_of

OLD, NEW, OTHER = (letter + "bcdefghijklmnopqrstuvwxyz-0123456789-ABCDEFGH" for letter in "onx")
SECRET, ACCESS, REFRESH = "c4n4ry-secret", "c4n4ry-access", "c4n4ry-refresh"
ISSUER = "https://as.example"
pytestmark = pytest.mark.django_db(transaction=True)


def keys(settings: Settings, *names: str) -> None:
    settings.CONFIG = settings.CONFIG.model_copy(update={"credential_keys": names})


def kind_of(server: Server, kind: str, text: str = "") -> Server:
    """The server, saved with this kind of credential."""
    server.refresh_from_db()
    credentials.give(server, kind, text)
    server.save()
    return server


def tokens_for(lifetime: int | None = 3600, refresh: str = REFRESH) -> Tokens:
    return Tokens(
        access=ACCESS,
        refresh=refresh,
        lifetime=lifetime,
        issuer=ISSUER,
        resource="http://127.0.0.1:9/mcp",
        token_endpoint=f"{ISSUER}/token",
        client=Client(client_id="app"),
    )


def registration_of(server: Server) -> Registration:
    sealed = keyring.seal(Client(client_id="r").model_dump_json(), "registration", server.pk, "d" * 64)
    return Registration.objects.create(server=server, issuer_digest="d" * 64, sealed=sealed)


def refused(page: Page, why: str) -> bool:
    return page.status == 200 and why in page.text


def status(person: Person, server: Server) -> str:
    """What the list of servers says of its credential."""
    return person.get("/admin/mrtr_web/server/").text.split(server.url)[1].split("1 server")[0].strip()


def ask_now(person: Person, server: Server) -> str:
    token = person.client.cookies["mrtr_csrf"]
    return person.post(f"/admin/mrtr_web/server/{server.pk}/test/", {"csrfmiddlewaretoken": [token]}).text


# The form


def test_a_client_is_typed_in_and_its_secret_is_never_shown_again(root: Person, server: Server, caplog: Any) -> None:
    client = {"client_id": "app-1", "client_secret": SECRET, "issuer": ISSUER}
    wrong = save(root, page_of(server), kind="oauth", **client, header_lines="X: y")
    assert refused(wrong, "Leave this empty: it does not belong to the kind that is chosen.")
    saved = save(root, page_of(server), kind="oauth", source="form", **client)
    found = Server.objects.get()
    assert credentials.client(found) == Given("app-1", SECRET, ISSUER)
    assert (found.credential_kind, credentials.headers(found)) == ("oauth", {})
    assert status(root, server) == "each person signs in; the client is set"
    seen = [
        wrong,
        saved,
        root.page,
        root.get(f"/admin/mrtr_web/server/{server.pk}/history/"),
        root.get(page_of(server)),
    ]
    assert all(SECRET not in page.response.text for page in seen)
    form = next(form for form in root.page.reader.forms if "slug" in form.data()).data()
    assert [form[name] for name in client] == [["app-1"], [""], [ISSUER]]
    assert SECRET not in tables() and SECRET not in caplog.text
    note = "kind, client_id, client_secret, issuer"
    assert [set(entry.note.split(", ")) for entry in AuditEntry.objects.all()] == [set(note.split(", "))]


def test_a_secret_stays_with_the_client_and_the_server_that_it_was_given_for(root: Person, server: Server) -> None:
    save(root, page_of(server), kind="oauth", client_id="app-1", client_secret=SECRET, issuer=ISSUER)
    before = bytes(Server.objects.get().credential_sealed or b"")
    Server.objects.update(client_issuer="known")
    save(root, page_of(server), description="Other words")
    found = Server.objects.get()
    assert (bytes(found.credential_sealed or b""), found.client_issuer) == (before, "known")
    again = "Type it in again: it was given for another authorization server."
    assert refused(save(root, page_of(server), issuer="https://evil.example"), again)
    save(root, page_of(server), issuer="", client_secret="other")
    assert credentials.client(Server.objects.get()) == Given("app-1", "other")
    assert Server.objects.get().client_issuer == ""
    save(root, page_of(server), client_id="app-2")
    assert credentials.client(Server.objects.get()) == Given("app-2")
    save(root, page_of(server), client_id="")
    assert credentials.client(Server.objects.get()) is None
    assert status(root, server) == "each person signs in; this app registers itself there"


WRONG_CLIENTS = [
    ({"client_secret": SECRET}, "Type it in: without it the other two are of no use."),
    ({"issuer": ISSUER}, "Type it in: without it the other two are of no use."),
    ({"client_id": "a b"}, "Only visible ASCII characters, without spaces."),
    ({"client_id": "a\nissuer: https://evil.example"}, "Only visible ASCII characters, without spaces."),
    ({"client_id": "a", "client_secret": f"{SECRET} x"}, "Only visible ASCII characters, without spaces."),
    ({"client_id": "a", "issuer": "as.example"}, "An issuer begins with https:// and has no spaces."),
]


@pytest.mark.parametrize(("values", "why"), WRONG_CLIENTS)
def test_a_client_that_cannot_be_is_refused(root: Person, server: Server, values: dict[str, str], why: str) -> None:
    page = save(root, page_of(server), kind="oauth", source="form", **values)
    assert refused(page, why) and SECRET not in page.response.text
    assert Server.objects.get().credential_kind == "none"


def test_a_superuser_takes_the_client_from_a_variable(
    root: Person, clerk: Person, server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DESK_CLIENT", f"client_id: app-1\nclient_secret: {SECRET}\n")
    taken = {"kind": "oauth", "source": "env", "reference": "DESK_CLIENT"}
    both = save(root, page_of(server), client_id="app-1", **taken)
    assert refused(both, "Leave this empty: the credential is taken from a variable or a file.")
    assert refused(save(root, page_of(server), **taken | {"reference": "SECRET_KEY"}), "secret of this app itself")
    save(root, page_of(server), **taken)
    assert credentials.client(Server.objects.get()) == Given("app-1", SECRET)
    assert status(root, server) == "each person signs in; the client is set"
    save(clerk, page_of(server), description="Other words", source="form", reference="HOME")
    found = Server.objects.get()
    assert (found.credential_source, found.credential_ref) == ("env", "DESK_CLIENT")
    monkeypatch.setenv("DESK_CLIENT", SECRET)
    words = "set, but unusable: Line 1 is none of client_id, client_secret, issuer."
    assert status(root, server) == words
    assert SECRET not in root.page.response.text
    save(root, page_of(server), source="form", reference="")
    assert (credentials.client(Server.objects.get()), Server.objects.get().credential_source) == (None, "form")


def test_a_client_that_was_typed_in_gives_way_to_a_variable(root: Person, server: Server) -> None:
    save(root, page_of(server), kind="oauth", client_id="app-1", client_secret=SECRET)
    save(root, page_of(server), source="env", reference="DESK_CLIENT")
    found = Server.objects.get()
    assert (found.credential_ref, found.credential_sealed) == ("DESK_CLIENT", None)


def test_where_each_person_gives_a_token_none_is_typed_in_for_all(
    root: Person, clerk: Person, server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    why = "Leave this empty: each person gives a token of their own."
    assert refused(save(root, page_of(server), kind="each", token=SECRET), why)
    assert refused(save(root, page_of(server), kind="each", client_secret=SECRET), why)
    save(root, page_of(server), kind="each", source="env", reference="HOME")
    found = Server.objects.get()
    assert (found.credential_kind, found.credential_source, found.credential_ref) == ("each", "form", "")
    assert status(root, server) == "each person gives a token of their own"
    save(clerk, page_of(server), kind="oauth")
    assert Server.objects.get().credential_kind == "oauth"
    none = save(root, page_of(server), kind="none", token=SECRET)
    assert refused(none, "Leave this empty: it does not belong to the kind that is chosen.")
    assert Server.objects.get().credential_kind == "oauth"


@pytest.mark.parametrize("kind", ["each", "oauth"])
def test_without_a_key_ring_people_have_no_tokens_of_their_own(
    root: Person, server: Server, settings: Settings, kind: str
) -> None:
    settings.CONFIG = settings.CONFIG.model_copy(update={"credential_keys": ()})
    why = "MRTR_CREDENTIAL_KEYS is empty, so there is no key to keep people's tokens under."
    assert refused(save(root, page_of(server), kind=kind, source="form"), why)
    assert refused(save(root, page_of(server), kind=kind, source="env", reference="HOME"), why)
    assert Server.objects.get().credential_kind == "none"
    keys(settings, NEW)
    kind_of(server, kind)
    settings.CONFIG = settings.CONFIG.model_copy(update={"credential_keys": ()})
    words = "set, but unusable: MRTR_CREDENTIAL_KEYS is empty, so people's tokens cannot be kept."
    assert status(root, server) == words
    save(root, page_of(server), enabled="-")
    assert (Server.objects.get().enabled, Server.objects.get().credential_kind) == (False, kind)


def test_who_only_looks_at_a_server_sees_nothing_of_its_client(app: str, server: Server) -> None:
    kind_of(server, "oauth", f"client_id: app-1\nclient_secret: {SECRET}")
    with at(app, staff("viewer", "view_server")) as viewer:
        page = viewer.get(page_of(server))
    assert page.status == 200 and "the client is set" in page.text
    assert "app-1" not in page.response.text and "Signing in (OAuth)" not in page.text


# What is not for the server any more


@pytest.fixture
def connected(alice: User, server: Server) -> Connection:
    """Alice, signed in at a server where this app has registered itself."""
    kind_of(server, "oauth")
    tokens.keep(server, alice.pk, tokens_for())
    registration_of(server)
    return Connection.objects.get()


CHANGES: list[tuple[dict[str, str], tuple[int, int]]] = [
    ({"description": "Other words"}, (1, 1)),
    ({"url": "http://127.0.0.1:9/other"}, (1, 1)),
    ({"client_id": "app-1", "client_secret": SECRET}, (1, 1)),
    ({"url": "http://127.0.0.1:10/mcp"}, (0, 0)),
    ({"url": "http://127.0.0.1:10/mcp", "client_id": "app-1"}, (0, 0)),
    ({"kind": "each"}, (0, 0)),
    ({"kind": "none"}, (0, 0)),
    ({"kind": "bearer", "token": SECRET}, (0, 0)),
]


@pytest.mark.parametrize(("values", "left"), CHANGES)
def test_tokens_go_with_the_kind_and_the_origin_that_they_were_given_for(
    root: Person, connected: Connection, values: dict[str, str], left: tuple[int, int]
) -> None:
    page = save(root, page_of(connected.server), **values)
    assert (Connection.objects.count(), Registration.objects.count()) == left
    assert ("The token of 1 person was dropped." in page.text) is not bool(left[0])
    assert Server.objects.get().credential_kind == values.get("kind", "oauth")
    if left[0]:
        assert tokens.access(Server.objects.get(), connected.user_id) == ACCESS


def test_a_server_is_deleted_with_the_tokens_for_it(clerk: Person, connected: Connection, alice: User) -> None:
    cookies_of(alice)
    session = Session.objects.get(user=alice)
    more = {"session": session, "user": alice, "server": connected.server, "expires_at": timezone.now()}
    SignIn.objects.create(state_digest="s" * 64, sealed=b"x", **more)
    offers.store(connected.server, alice, tools=[offers.tool("mine")])
    path = f"/admin/mrtr_web/server/{connected.server_id}/delete/"
    assert "your account doesn't have permission" not in clerk.get(path).text
    token = clerk.client.cookies["mrtr_csrf"]
    assert clerk.post(path, {"csrfmiddlewaretoken": [token], "post": ["yes"]}).path == "/admin/mrtr_web/server/"
    left = [model.objects.count() for model in (Server, Connection, Registration, SignIn, Listing)]
    assert left == [0, 0, 0, 0, 0]


# Test connection


def guarded(*, registers: bool = True, pkce: bool = True) -> Recorder:
    """A server that lets nobody in, and its authorization server."""

    def answer(post: Post) -> Answer:
        base = f"http://{post.headers['host']}"
        documents: dict[str, dict[str, Any]] = {
            "/.well-known/oauth-protected-resource/mcp": {
                "resource": f"{base}/mcp",
                "authorization_servers": [base],
            },
            "/.well-known/oauth-authorization-server": {
                "issuer": base,
                "authorization_endpoint": f"{base}/authorize",
                "token_endpoint": f"{base}/token",
                "response_types_supported": ["code"],
                **({"registration_endpoint": f"{base}/register"} if registers else {}),
                **({"code_challenge_methods_supported": ["S256"]} if pkce else {}),
            },
        }
        if post.path in documents:
            return raw_json(json.dumps(documents[post.path]))
        named = f'Bearer resource_metadata="{base}/.well-known/oauth-protected-resource/mcp"'
        return html(401, www_authenticate=named) if post.path == "/mcp" else html(404)

    return Recorder(Scripted(answer))


@pytest.fixture
def at_guarded(server: Server) -> Iterator[Recorder]:
    recorder = guarded()
    with serve(recorder, lifespan="on") as base:
        Server.objects.update(url=f"{base}/mcp")
        server.refresh_from_db()
        yield recorder


def test_a_server_that_asks_people_to_sign_in_is_as_it_is_set_up(
    root: Person, server: Server, at_guarded: Recorder
) -> None:
    kind_of(server, "oauth")
    host = server.url.split("/")[2]
    words = f"Demo desk answers, and asks people to sign in, as it is set up. They do so at {host}."
    assert words in ask_now(root, server)
    assert words in save(root, page_of(server), description="Other words").text
    assert all("authorization" not in post.headers for post in at_guarded.posts)
    assert Server.objects.get().trouble == ""


def test_a_server_that_asks_for_a_token_is_asked_without(root: Person, server: Server, at_guarded: Recorder) -> None:
    kind_of(server, "each")
    assert "Demo desk answers, and asks people for a token, as it is set up." in ask_now(root, server)
    assert [post.json["method"] for post in at_guarded.posts] == ["server/discover"]
    with desk(server, done()):
        words = "Demo desk answers. What it offers is seen by who has given a token of their own."
        kind_of(server, "each")
        assert words in ask_now(root, server)
        tokens.paste(server, User.objects.get(username="root").pk, ACCESS)
        assert "Demo desk answers. Revisions of MCP: 2026-07-28." in ask_now(root, server)


@pytest.mark.parametrize(("kind", "text"), [("none", ""), ("bearer", SECRET), ("headers", f"X-Key: {SECRET}")])
def test_a_server_that_wants_people_to_sign_in_says_so(
    root: Person, server: Server, at_guarded: Recorder, kind: str, text: str
) -> None:
    if kind != "none":
        kind_of(server, kind, text)
    words = (
        "Demo desk answers, and asks people to sign in (OAuth). "
        "Set the kind of its credential to “Each person signs in”."
    )
    assert words in ask_now(root, server)


@pytest.mark.parametrize(
    ("options", "why"),
    [
        ({"pkce": False}, "The sign-in server lacks a safeguard without which this app signs nobody in."),
        ({"registers": False}, "The sign-in server does not know this app and takes no registrations."),
    ],
)
def test_people_who_could_not_sign_in_are_not_sent_there(
    root: Person, server: Server, options: dict[str, bool], why: str
) -> None:
    with serve(guarded(**options), lifespan="on") as base:
        Server.objects.update(url=f"{base}/mcp")
        kind_of(server, "oauth")
        assert f"Demo desk answers, and asks people to sign in. {why}" in ask_now(root, server)
        kind_of(server, "oauth", "client_id: app-1")
        assert ("as it is set up" in ask_now(root, server)) is ("registers" in options)


def test_a_token_that_is_refused_is_trouble(root: Person, server: Server, at_guarded: Recorder) -> None:
    kind_of(server, "each")
    tokens.paste(server, User.objects.get(username="root").pk, ACCESS)
    why = "The server does not accept your token: it may have been withdrawn or have run out."
    assert f"Demo desk was not reached. {why}" in ask_now(root, server)


@pytest.mark.parametrize("kind", ["each", "oauth"])
def test_where_nothing_listens_the_kind_does_not_matter(root: Person, server: Server, kind: str) -> None:
    kind_of(server, kind)
    assert "Demo desk was not reached. The server did not answer" in ask_now(root, server)


# Who is connected


def test_connections_are_listed_without_anything_of_the_tokens(root: Person, connected: Connection, bob: User) -> None:
    other = Server.objects.create(slug="papers", name="Papers", url="https://papers.example/mcp")
    kind_of(other, "each")
    tokens.paste(other, bob.pk, ACCESS)
    text = root.get("/admin/mrtr_web/connection/").text
    assert "2 connections" in text and "aliceDemo deskEach person signs in (OAuth)" in text
    assert "bobPapersA bearer token of each person's own" in text
    pages = [root.page, root.get(f"/admin/mrtr_web/connection/{connected.pk}/change/")]
    assert "by itself, when it is used" in root.page.text and "_save" not in root.page.response.text
    sealed = bytes(connected.sealed)
    for secret in (ACCESS, REFRESH, sealed.hex(), str(sealed)[2:20]):
        assert all(secret not in page.response.text for page in pages)
    assert ACCESS not in tables() and REFRESH not in tables()


ENDS: list[tuple[int | None, str, str]] = [
    (3600, REFRESH, "by itself, when it is used"),
    (3600, "", "no"),
    (0, "", "no: it has ended"),
    (None, REFRESH, "not needed: no end is known"),
]


@pytest.mark.parametrize(("lifetime", "refresh", "words"), ENDS)
def test_connections_say_whether_they_are_renewed(
    root: Person, alice: User, server: Server, lifetime: int | None, refresh: str, words: str
) -> None:
    kind_of(server, "oauth")
    tokens.keep(server, alice.pk, tokens_for(lifetime, refresh))
    page = root.get(f"/admin/mrtr_web/connection/{Connection.objects.get().pk}/change/")
    assert page.text.split("Renewed: ")[1].split(" Delete")[0].split(" Close")[0] == words


def test_an_admin_disconnects_somebody_and_the_audit_trail_says_who(root: Person, connected: Connection) -> None:
    alice, server = connected.user, connected.server
    offers.store(server, alice, tools=[offers.tool("mine")])
    path = f"/admin/mrtr_web/connection/{connected.pk}/delete/"
    root.get(path)
    token = {"csrfmiddlewaretoken": [root.client.cookies["mrtr_csrf"]], "post": ["yes"]}
    root.post(path, token)
    assert not Connection.objects.exists() and not Listing.objects.filter(user=alice).exists()
    tokens.keep(server, alice.pk, tokens_for())
    chosen = {"action": ["delete_selected"], "_selected_action": [str(Connection.objects.get().pk)]}
    root.post("/admin/mrtr_web/connection/", token | chosen)
    assert not Connection.objects.exists()
    rows = AuditEntry.objects.filter(event="disconnected").values_list("by", "person", "server")
    assert list(rows) == [("root", "alice", "demo")] * 2
    assert root.post("/admin/mrtr_web/connection/add/", token).status == 403


def test_staff_see_connections_of_servers_that_they_review(connected: Connection, bob: User) -> None:
    """Looking and disconnecting are permissions of their own, and superusers' connections are for superusers."""
    boss = staff("boss", is_superuser=True)
    tokens.keep(connected.server, boss.pk, tokens_for())
    theirs = Connection.objects.get(user=boss)
    clerk = staff("clerk", "view_connection", "delete_connection")
    rita = reviewer_of("rita", connected.server, may=["view_connection"])
    User.objects.filter(pk=rita.pk).update(is_staff=True)
    listed = "/admin/mrtr_web/connection/"
    assert "0 connections" in looking(clerk).get(listed).content.decode()
    assert "2 connections" in looking(rita).get(listed).content.decode()
    assert looking(staff("other")).get(listed).status_code == 403
    pages = [f"{listed}{row.pk}/delete/" for row in (connected, theirs)]
    assert [looking(clerk).get(path).status_code for path in pages] == [302, 302]
    assert [looking(rita).get(path).status_code for path in pages] == [403, 403]
    rita.user_permissions.add(Permission.objects.get(codename="delete_connection"))
    assert [looking(rita).get(path).status_code for path in pages] == [200, 403]
    client = looking(rita)
    chosen = {"action": "delete_selected", "post": "yes"}
    client.post(listed, chosen | {"_selected_action": [str(connected.pk), str(theirs.pk)]})
    assert Connection.objects.count() == 2
    for query in ("sealed__gt=a", "user__password__gt=a", "origin__contains=a", "server__credential_ref__gt=a"):
        assert looking(boss).get(f"{listed}?{query}").status_code == 400, query


def test_a_person_is_deleted_with_their_connections(app: str, connected: Connection) -> None:
    pk = connected.user_id
    with at(app, staff("hr", "delete_user", "view_user", "change_user")) as hr:
        hr.get(f"/admin/auth/user/{pk}/delete/")
        token = hr.client.cookies["mrtr_csrf"]
        hr.post(f"/admin/auth/user/{pk}/delete/", {"csrfmiddlewaretoken": [token], "post": ["yes"]})
    assert not User.objects.filter(pk=pk).exists() and not Connection.objects.exists()


def test_the_desk_says_whether_a_person_is_connected(connected: Connection, alice: User, bob: User) -> None:
    server = connected.server
    rita = reviewer_of("rita", server)
    rows = [flow_of(each, server) for each in (alice, bob)]
    texts = [" ".join(page(rita, f"/review/{row.pk}/")[1].split()) for row in rows]
    assert "<dt>Connected to the server</dt><dd>Yes, since " in texts[0]
    assert "<dt>Connected to the server</dt><dd>No</dd>" in texts[1]
    assert all(ACCESS not in text for text in texts)
    kind_of(server, "bearer", "x")
    assert "Connected to the server" not in page(rita, f"/review/{rows[0].pk}/")[1]


# Rotation


def rotated() -> str:
    call_command("rotatekeys", stdout=(out := StringIO()))
    return out.getvalue()


def test_rotation_seals_tokens_and_registrations_anew(connected: Connection, bob: User, settings: Settings) -> None:
    former = settings.CONFIG.credential_keys
    kind_of(connected.server, "oauth", f"client_id: app-1\nclient_secret: {SECRET}")
    tokens.keep(connected.server, bob.pk, tokens_for())
    keys(settings, NEW, *former)
    assert rotated() == "4 sealed under the first key\n"
    assert rotated() == "0 sealed under the first key\n"
    keys(settings, NEW)
    server = Server.objects.get()
    assert [tokens.access(server, user) for user in (connected.user_id, bob.pk)] == [ACCESS, ACCESS]
    assert credentials.client(server) == Given("app-1", SECRET)
    row = Registration.objects.get()
    opened = keyring.open(bytes(row.sealed), "registration", row.server_id, row.issuer_digest)
    assert Client.model_validate_json(opened).client_id == "r"
    keys(settings, OTHER)
    with pytest.raises(CommandError) as caught:
        rotated()
    assert str(caught.value) == (
        "no key opens these:\n  demo: its credential\n  demo: the token of alice\n  demo: the token of bob\n"
        "  demo: a registration of this app"
    )


def test_a_token_that_is_being_renewed_is_left_to_who_renews_it(connected: Connection, settings: Settings) -> None:
    """Else what the renewal brings would not be kept, and the refresh token that it used up would."""
    former = settings.CONFIG.credential_keys
    claimed = tokens.claim(connected.server_id, connected.user_id, ACCESS)
    assert isinstance(claimed, tokens.Claimed)
    keys(settings, NEW, *former)
    with pytest.raises(CommandError) as caught:
        rotated()
    assert str(caught.value) == "these are just being renewed, so run this once more:\n  demo: the token of alice"
    tokens.renewed(claimed, tokens_for().model_copy(update={"access": "second"}))
    assert rotated() == "0 sealed under the first key\n"
    keys(settings, NEW)
    assert tokens.access(Server.objects.get(), connected.user_id) == "second"


def test_a_claim_that_has_run_out_keeps_no_token_under_a_former_key(connected: Connection, settings: Settings) -> None:
    Connection.objects.update(claimed_until=timezone.now() - timedelta(seconds=1))
    keys(settings, NEW, *settings.CONFIG.credential_keys)
    assert rotated() == "2 sealed under the first key\n"
