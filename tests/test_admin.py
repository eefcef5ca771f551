"""Django's admin: servers are registered and tested here, records are read, and no secret and no content is in it."""

import re
from typing import Any

import pytest
from django.contrib.admin.models import LogEntry
from django.contrib.auth.models import Group, Permission, User
from pytest_django import Settings

from mrtr_web import allowances, credentials, rates
from mrtr_web.models import AuditEntry, Finding, Flow, KeptMessages, Leg, Round, SealedRecord, Server, Session
from tests.desk import desk, done
from tests.person import Page, Person
from tests.servers import Recorder
from tests.staff import ADD, page_of, save, staff
from tests.visitors import cookies_of

CANARY = "c4n4ry-t0ken"
pytestmark = pytest.mark.django_db(transaction=True)


def ask_now(person: Person, server: Server) -> Page:
    token = person.client.cookies["mrtr_csrf"]
    return person.post(f"/admin/mrtr_web/server/{server.pk}/test/", {"csrfmiddlewaretoken": [token]})


def refused(page: Page, why: str) -> bool:
    return page.status == 200 and why in page.text


def test_who_is_no_staff_is_told_so_and_not_asked_to_sign_in_again(person: Person) -> None:
    for path in ("/admin/", "/admin/login/?next=/admin/", "/admin/mrtr_web/server/"):
        page = person.get(path)
        assert (page.status, "Your account is not allowed to open this page" in page.text) == (403, True)
    person.press("Sign out")
    assert person.get("/admin/").path == "/accounts/login/"


# Servers


def test_a_server_is_registered_and_asked_at_once(root: Person, server: Server) -> None:
    with desk(server, done()) as recorder:
        url = Server.objects.get().url
        Server.objects.all().delete()
        page = save(
            root,
            ADD,
            slug="new",
            name="New desk",
            letter="N",
            description="Says things",
            tags="sky, rain\nsnow",
            url=url,
            private_networks="127.0.0.1",
            capabilities=["elicitation"],
            kind="bearer",
            source="form",
            token=CANARY,
        )
        assert "New desk answers. Revisions of MCP: 2026-07-28. It declares: tools. " in page.text
        assert "It offers 1 tool, 0 prompts, 0 resources." in page.text
    assert {post.headers["authorization"] for post in recorder.posts} == {f"Bearer {CANARY}"}
    found = Server.objects.get()
    assert (found.tags, found.private_networks, found.icon) == (["sky", "rain", "snow"], ["127.0.0.1/32"], "N")
    entry = AuditEntry.objects.get(event="server_added")
    assert (entry.by, entry.server) == ("root", "new")
    assert {"url", "token"} <= set(entry.note.split(", "))


def test_an_unreachable_server_is_registered_with_the_reason_in_words(root: Person, server: Server) -> None:
    page = save(root, page_of(server), name="Other desk")
    assert "Other desk was not reached. The server did not answer: nothing listens at its address." in page.text
    assert AuditEntry.objects.get().note == "name"


def test_test_connection_asks_the_server_as_it_is_saved(root: Person, clerk: Person, app: str, server: Server) -> None:
    with desk(server, done()):
        assert 'value="Test connection"' in root.get(page_of(server)).response.text
        assert "Demo desk answers." in ask_now(root, server).text
    path = f"/admin/mrtr_web/server/{server.pk}/test/"
    assert root.get(path).status == 405
    assert Person.post(root, "/admin/mrtr_web/server/999/test/", {"csrfmiddlewaretoken": ["x"]}).status == 403
    staff("viewer", "view_server")
    with Person(app) as viewer:
        viewer.sign_in("viewer")
        assert "Test connection" not in viewer.get(page_of(server)).response.text
        token = viewer.client.cookies["mrtr_csrf"]
        assert viewer.post(path, {"csrfmiddlewaretoken": [token]}).status == 403


def test_staff_have_servers_asked_a_dozen_times_at_once_at_most(
    root: Person, server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(allowances.LIMITS, "test", rates.Limit(4, 60))
    with desk(server, done()) as recorder:
        said = [ask_now(root, server).text for _ in range(3)]
        asked = len(recorder.posts)
        said.append(save(root, page_of(server), name="Other desk").text)
        assert len(recorder.posts) == asked
    assert ["answers." in text for text in said] == [True, True, False, False]
    assert all("It was not asked: that was a lot in a short time. Wait " in text for text in said[2:])
    assert Server.objects.get().name == "Other desk"


def test_a_secret_goes_in_and_is_never_shown_again(root: Person, server: Server, caplog: Any) -> None:
    save(root, page_of(server), kind="headers", source="form", header_lines=f"X-Key: {CANARY}")
    assert credentials.headers(Server.objects.get()) == {"X-Key": CANARY}
    wrong = save(root, page_of(server), kind="headers", header_lines=f"X-Key: {CANARY}\nHost: {CANARY}")
    assert refused(wrong, "The header of line 2 is set by this app itself.")
    seen = [wrong, root.get(page_of(server)), root.get("/admin/mrtr_web/server/"), root.get("/admin/")]
    seen.append(root.get(f"/admin/mrtr_web/server/{server.pk}/history/"))
    assert all(CANARY not in page.response.text for page in seen)
    assert "set" in seen[1].text
    rows = [*LogEntry.objects.values_list(), *AuditEntry.objects.values_list(), *Server.objects.values_list()]
    assert CANARY not in f"{rows}" and CANARY not in caplog.text


def test_a_credential_stays_while_its_fields_are_left_empty_and_goes_with_the_origin(
    root: Person, server: Server
) -> None:
    save(root, page_of(server), kind="bearer", source="form", token=CANARY)
    save(root, page_of(server), name="Other desk", url="http://127.0.0.1:9/other")
    assert credentials.headers(Server.objects.get()) == {"Authorization": f"Bearer {CANARY}"}
    page = save(root, page_of(server), url="http://127.0.0.1:10/mcp")
    assert "Its credential was given for another address and has been dropped: give it anew." in page.text
    assert (Server.objects.get().credential_kind, Server.objects.get().credential_sealed) == ("none", None)
    save(root, page_of(server), kind="bearer", source="form", token=CANARY)
    save(root, page_of(server), kind="none")
    assert credentials.headers(Server.objects.get()) == {}
    assert refused(save(root, page_of(server), kind="bearer"), "Type it in: there is none yet of this kind.")


def test_a_superuser_names_a_variable_or_a_file(root: Person, server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WEATHER_TOKEN", CANARY)
    assert refused(
        save(root, page_of(server), kind="bearer", source="env", reference="SECRET_KEY"), "secret of this app"
    )
    assert refused(save(root, page_of(server), kind="bearer", source="file", reference="../x"), "name of a file inside")
    both = save(root, page_of(server), kind="bearer", source="env", reference="WEATHER_TOKEN", token="x")
    assert refused(both, "Leave this empty")
    save(root, page_of(server), kind="bearer", source="env", reference="WEATHER_TOKEN")
    assert credentials.headers(Server.objects.get()) == {"Authorization": f"Bearer {CANARY}"}
    save(root, page_of(server), url="http://127.0.0.1:10/mcp")
    assert Server.objects.get().credential_kind == "none"


def test_other_staff_cannot_reach_variables_files_or_private_networks(
    clerk: Person, server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What a form does not show is not taken either, and what a superuser named goes to no other address."""
    monkeypatch.setenv("WEATHER_TOKEN", CANARY)
    credentials.refer(server, "bearer", "env", "WEATHER_TOKEN")
    server.private_networks = ["127.0.0.1/32"]
    server.save()
    forged = {"source": "env", "reference": "HOME", "private_networks": "10.0.0.0/8"}
    page = save(clerk, page_of(server), name="Other desk", **forged)
    assert "Other desk was not reached" in page.text
    found = Server.objects.get()
    assert (found.private_networks, found.credential_ref) == (["127.0.0.1/32"], "WEATHER_TOKEN")
    assert "127.0.0.1/32" in clerk.get(page_of(server)).text
    kind = save(clerk, page_of(server), url="http://evil.example/", kind="headers", **forged)
    assert refused(kind, "Type it in: there is none yet of this kind.")
    save(clerk, page_of(server), url="http://evil.example/")
    assert Server.objects.get().credential_kind == "none"
    save(clerk, ADD, slug="new", name="New", url="https://a.invalid/", kind="bearer", token="x", **forged)
    assert (Server.objects.get(slug="new").private_networks, Server.objects.get(slug="new").credential_source) == (
        *([], "form"),
    )


def test_private_networks_must_be_private(root: Person, server: Server) -> None:
    page = save(root, page_of(server), private_networks="8.8.8.0/24")
    assert refused(page, "Not a private network, such as 10.1.2.0/24 or 127.0.0.1: 8.8.8.0/24.")


def test_switching_is_audited_as_such(root: Person, server: Server) -> None:
    save(root, page_of(server), enabled="-")
    assert Server.objects.get().enabled is False
    save(root, page_of(server), enabled="on")
    assert Server.objects.get().enabled is True
    assert list(AuditEntry.objects.order_by("id").values_list("event", "by")) == [
        *(("server_off", "root"), ("server_on", "root")),
    ]


def test_messages_are_kept_only_where_there_is_a_key_ring(root: Person, server: Server, settings: Settings) -> None:
    root.get(page_of(server))
    assert "Reviewers may then read what the server asks, which often repeats what people typed." in root.page.text
    save(root, page_of(server), keep_messages="on")
    assert Server.objects.get().keep_messages is True
    settings.CONFIG = settings.CONFIG.model_copy(update={"credential_keys": ()})
    assert refused(save(root, page_of(server)), "there is no key to seal messages under")
    token = save(root, page_of(server), keep_messages="-", kind="bearer", source="form", token=CANARY)
    assert refused(token, "MRTR_CREDENTIAL_KEYS is empty, so there is no key to seal this under.")


def test_tools_are_hidden_from_those_that_are_listed(root: Person, server: Server) -> None:
    save(root, page_of(server), hide_too="later\nother")
    assert Server.objects.get().hidden_tools == ["later", "other"]
    with desk(server, done()):
        ask_now(root, server)
        save(root, page_of(server), hidden_tools=['"ask"', '"other"'], hide_too="third")
    assert Server.objects.get().hidden_tools == ["ask", "other", "third"]


def test_a_server_with_requests_is_not_deleted_and_one_without_is(root: Person, alice: User, server: Server) -> None:
    path = f"/admin/mrtr_web/server/{server.pk}/delete/"
    flow = Flow.objects.create(user=alice, server=server, method="tools/call")
    Finding.objects.create(server=server, rule="HT-7")
    assert "would result in deleting related objects, but your account doesn't have permission" in root.get(path).text
    flow.delete()
    token = root.client.cookies["mrtr_csrf"]
    root.get(path)
    assert root.post(path, {"csrfmiddlewaretoken": [token], "post": ["yes"]}).path == "/admin/mrtr_web/server/"
    assert not Server.objects.exists()
    assert AuditEntry.objects.get().event == "server_removed"


# Import


def test_a_superuser_imports_what_was_pasted(root: Person, clerk: Person) -> None:
    text = '{"mcpServers": {"docs": {"url": "https://docs.invalid/"}, "files": {"command": "npx"}}}'
    path = "/admin/mrtr_web/server/import/"
    dry = save(root, path, text=text, dry_run="on")
    assert "docs docs registered" in dry.text and not Server.objects.exists()
    page = save(root, path, text=text, groups="travel")
    assert "New groups, with nobody in them: travel" in page.text
    assert "files - not supported stdio: it would run a program on this machine." in page.text
    assert Server.objects.get().groups.get().name == "travel"
    assert AuditEntry.objects.get().by == "root"
    assert "Line 1 is not plain JSON" in save(root, path, text="{,}").text
    assert "Choose a file or paste its text" in save(root, path).text
    assert clerk.get(path).status == 403


# People, sessions, records


def test_ending_sessions_goes_the_one_way_out(root: Person, alice: User, server: Server) -> None:
    for _ in range(2):
        cookies_of(alice)
    session = Session.objects.filter(user=alice).order_by("pk").first()
    assert session is not None
    flow = Flow.objects.create(user=alice, server=server, method="tools/call", state="waiting")
    SealedRecord.objects.create(flow=flow, session=session, sealed=b"x")
    listed = root.get("/admin/mrtr_web/session/")
    for secret in (session.session_key, session.key_digest, session.session_data):
        assert secret not in listed.response.text
        assert secret not in root.get(f"/admin/mrtr_web/session/{session.pk}/change/").response.text
    token = root.client.cookies["mrtr_csrf"]
    root.post(f"/admin/mrtr_web/session/{session.pk}/delete/", {"csrfmiddlewaretoken": [token], "post": ["yes"]})
    flow.refresh_from_db()
    assert (flow.state, Session.objects.filter(user=alice).count()) == ("expired", 1)
    chosen = {"action": ["end_sessions"], "_selected_action": [str(alice.pk)], "csrfmiddlewaretoken": [token]}
    assert "1 session was ended." in root.post("/admin/auth/user/", chosen).text
    assert not Session.objects.filter(user=alice).exists()


def test_sessions_are_ended_in_bulk_but_not_ones_own(root: Person, alice: User, server: Server) -> None:
    cookies_of(alice)
    theirs, own = (Session.objects.get(user__username=name) for name in ("alice", "root"))
    flow = Flow.objects.create(user=alice, server=server, method="tools/call", state="waiting")
    SealedRecord.objects.create(flow=flow, session=theirs, sealed=b"x")
    token = root.client.cookies["mrtr_csrf"]
    chosen = {"action": ["delete_selected"], "csrfmiddlewaretoken": [token], "post": ["yes"]}
    both = chosen | {"_selected_action": [str(theirs.pk), str(own.pk)]}
    assert root.post("/admin/mrtr_web/session/", both).status == 403
    root.post("/admin/mrtr_web/session/", chosen | {"_selected_action": [str(theirs.pk)]})
    flow.refresh_from_db()
    assert (flow.state, list(Session.objects.values_list("pk", flat=True))) == ("expired", [own.pk])
    assert root.get(f"/admin/mrtr_web/session/{own.pk}/delete/").status == 403


def test_deleting_a_person_ends_their_sessions_first(root: Person, alice: User) -> None:
    cookies_of(alice)
    token = root.client.cookies["mrtr_csrf"]
    root.post(f"/admin/auth/user/{alice.pk}/delete/", {"csrfmiddlewaretoken": [token], "post": ["yes"]})
    assert not User.objects.filter(username="alice").exists()


def test_staff_who_change_people_give_no_powers_and_leave_superusers_alone(app: str, alice: User) -> None:
    boss, hr = staff("boss", is_superuser=True), staff("hr", "change_user", "view_user")
    with Person(app) as person:
        person.sign_in("hr")
        person.get(f"/admin/auth/user/{hr.pk}/change/")
        (form,) = (form for form in person.page.reader.forms if any(c.name == "first_name" for c in form.controls))
        data = form.data() | {"is_superuser": ["on"], "first_name": ["Hank"]}
        person.post(f"/admin/auth/user/{hr.pk}/change/", data)
        hr.refresh_from_db()
        assert (hr.first_name, hr.is_superuser) == ("Hank", False)
        assert person.post(f"/admin/auth/user/{boss.pk}/change/", data).status == 403
        assert person.post(f"/admin/auth/user/{boss.pk}/password/", data).status == 403


RECORDS = ("flow", "round", "leg", "auditentry", "finding")


@pytest.fixture
def two_servers(alice: User, server: Server) -> dict[str, Server]:
    """One of a group, one of another, each with a record of every kind."""
    made = {"near": server, "far": Server.objects.create(slug="far", name="Far desk", url="https://far.invalid/")}
    for name, each in made.items():
        each.groups.add(Group.objects.create(name=name))
        flow = Flow.objects.create(user=alice, server=each, method="tools/call", name=f"tool-{name}")
        Round.objects.create(flow=flow, number=1, kinds=["form"], actions=["accept"])
        Leg.objects.create(flow=flow, round=0)
        Finding.objects.create(server=each, rule="HT-7")
        AuditEntry.objects.create(event=f"event-{name}", server_id=each.pk, server=each.slug, flow=flow.pk)
    return made


def test_records_are_read_by_staff_for_their_servers_alone(app: str, two_servers: dict[str, Server]) -> None:
    reader = staff("reader", *(f"view_{name}" for name in RECORDS))
    near = Group.objects.get(name="near")
    near.permissions.add(Permission.objects.get(codename="review_flow"))
    reader.groups.add(near)
    with Person(app) as person:
        person.sign_in("reader")
        for model, name in (
            (Flow, "flow"),
            (Round, "round"),
            (Leg, "leg"),
            (Finding, "finding"),
            (AuditEntry, "auditentry"),
        ):
            page = person.get(f"/admin/mrtr_web/{name}/")
            assert page.status == 200 and "1 " in page.text, name
            of = {"flow": "server", "finding": "server", "auditentry": "server_id"}.get(name, "flow__server")
            for where, seen in (("near", 200), ("far", 302)):
                pk = model._default_manager.get(**{of: two_servers[where].pk}).pk
                response = person.client.get(f"/admin/mrtr_web/{name}/{pk}/change/", follow_redirects=False)
                assert response.status_code == seen, (name, where)


def test_records_cannot_be_added_changed_or_deleted_even_by_superusers(
    root: Person, two_servers: dict[str, Server]
) -> None:
    for model, name in (
        (Flow, "flow"),
        (Round, "round"),
        (Leg, "leg"),
        (Finding, "finding"),
        (AuditEntry, "auditentry"),
    ):
        assert root.get(f"/admin/mrtr_web/{name}/").status == 200
        pk = model._default_manager.first().pk  # type: ignore[union-attr]
        page = root.get(f"/admin/mrtr_web/{name}/{pk}/change/")
        assert page.status == 200 and "_save" not in page.response.text
        token = {"csrfmiddlewaretoken": [root.client.cookies["mrtr_csrf"]], "post": ["yes"]}
        for action in ("add/", f"{pk}/delete/", f"{pk}/change/"):
            assert root.post(f"/admin/mrtr_web/{name}/{action}", token).status == 403, (name, action)


def test_sealed_rows_are_not_in_the_admin(root: Person) -> None:
    for model in (SealedRecord, KeptMessages):
        assert root.get(f"/admin/mrtr_web/{model._meta.model_name}/").status == 404


def test_what_a_server_lists_for_one_person_alone_is_counted_too(root: Person, demo: Recorder, server: Server) -> None:
    """The demo server says that its listings are private."""
    server.refresh_from_db()
    server.capabilities = ["elicitation", "sampling", "roots"]
    server.save()
    text = ask_now(root, server).text
    assert re.search(
        r"Revisions of MCP: 2026-07-28.* It offers [1-9]\d* tools, [1-9]\d* prompts?, [1-9]\d* resources", text
    )


def test_the_administration_is_in_the_language_of_its_reader(root: Person, alice: User, server: Server) -> None:
    Flow.objects.create(user=alice, server=server, method="tools/call", state="waiting")
    root.client.headers["Accept-Language"] = "zh-TW"
    texts = {name: root.get(f"/admin/mrtr_web/{name}/").text for name in ("flow", "server", "session", "leg")}
    assert all(word in texts["flow"] for word in ("請求", "參考編號", "伺服器", "開始時間", "狀態", "當事人"))
    assert not any(word in texts["flow"] for word in ("Started at", "Reference", "With the person", "waiting"))
    assert "網址代稱" in texts["server"] and "最後使用時間" in texts["session"] and "呼叫" in texts["leg"]


def test_the_administration_has_the_sites_name_and_the_words_of_its_pages(root: Person) -> None:
    page = root.get("/admin/")
    assert "Django" not in page.text
    assert [words for words in ("mrtr_web", "Administration", "Requests", "Calls") if words not in page.text] == []
    assert [words for words in ("Flows", "Legs") if words in page.text] == []
