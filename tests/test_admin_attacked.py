"""What staff could do at Django's admin to others: read what is theirs, undo what they did, take their powers."""

from collections.abc import Iterator

import pytest
from django.contrib import admin
from django.contrib.auth.models import Group, Permission, User
from django.core.exceptions import ValidationError
from django.db import transaction
from django.db.models import Model
from django.test import RequestFactory

from mrtr_web import credentials, findings, ledger
from mrtr_web.models import AuditEntry, Server, Session
from tests import offers
from tests.person import Person
from tests.reviewers import looking, permission, reviewer_of
from tests.staff import ADD, at, drawn, page_of, save, staff
from tests.visitors import cookies_of

pytestmark = pytest.mark.django_db(transaction=True)
ODD = ["pay\u202eoops", "a,b", " x ", "two\nlines"]
MEANWHILE = "Nothing was saved: somebody has changed this since you opened the page."


# What a server offers


def test_what_is_listed_for_one_person_alone_is_shown_to_no_one_else(
    root: Person, clerk: Person, server: Server
) -> None:
    boss = User.objects.get(username="root")
    offers.store(server, boss, tools=[offers.tool("payroll-2026")])
    assert "payroll-2026" in root.get(page_of(server)).text
    assert "payroll-2026" not in clerk.get(page_of(server)).response.text


@pytest.mark.parametrize("is_listed", [True, False])
def test_hidden_tools_stay_hidden_whatever_their_names_are(root: Person, server: Server, is_listed: bool) -> None:
    if is_listed:
        offers.store(server, tools=[offers.tool(name) for name in ("ok", *ODD)])
    Server.objects.update(hidden_tools=ODD)
    save(root, page_of(server), description="Only this.")
    found = Server.objects.get()
    assert (found.description, found.hidden_tools) == ("Only this.", ODD)
    assert AuditEntry.objects.get().note == "description"


def test_tools_of_any_name_can_be_hidden(root: Person, server: Server) -> None:
    offers.store(server, tools=[offers.tool(name) for name in ("ok", *ODD)])
    listed = [c for form in root.get(page_of(server)).reader.forms for c in form.controls if c.name == "hidden_tools"]
    assert [control.label for control in listed] == ["ok", "pay\ufffdoops", "a,b", "x", "two lines"]
    save(root, page_of(server), hidden_tools=[control.value for control in listed[1:]], hide_too="later, too\n  y")
    assert Server.objects.get().hidden_tools == [*ODD, "later, too", "  y"]
    assert 'name="hide_too"' in root.get(page_of(server)).response.text


def test_who_only_looks_at_a_server_is_shown_no_field_to_hide_more(app: str, server: Server) -> None:
    with at(app, staff("viewer", "view_server")) as viewer:
        page = viewer.get(page_of(server))
    assert page.status == 200 and "Hide these tools, too" not in page.text


# Where it is


def test_private_networks_go_when_other_staff_move_the_address(clerk: Person, root: Person, server: Server) -> None:
    Server.objects.update(url="http://127.0.0.1:9/mcp", private_networks=["127.0.0.1/32"])
    save(clerk, page_of(server), url="http://127.0.0.1:9/other")
    assert Server.objects.get().private_networks == ["127.0.0.1/32"]
    page = save(clerk, page_of(server), url="http://127.0.0.1:10/mcp")
    assert "Its private networks were allowed for another address: taken away." in page.text
    assert (Server.objects.get().private_networks, Server.objects.get().url) == ([], "http://127.0.0.1:10/mcp")
    assert AuditEntry.objects.first().note == "url, private_networks"  # type: ignore[union-attr]
    save(root, page_of(server), url="http://127.0.0.1:11/mcp", private_networks="127.0.0.1")
    assert Server.objects.get().private_networks == ["127.0.0.1/32"]


def test_no_name_or_password_stands_in_an_address(root: Person, server: Server) -> None:
    page = save(root, page_of(server), url="https://ada:hunter2@a.invalid/")
    assert page.status == 200 and "A name or password in an address is shown to all who see it" in page.text
    assert "hunter2" not in Server.objects.get().url
    for url in ("https://ada@a.invalid/", "https://@a.invalid/"):
        with pytest.raises(ValidationError, match="A name or password in an address"):
            Server(slug="a", name="A", url=url).clean()
    Server(slug="a", name="A", url="https://a.invalid/@ada/mcp?by=a@b.invalid").full_clean()


def test_a_server_may_be_told_of_no_capability(root: Person) -> None:
    save(root, ADD, slug="new", name="New", url="https://new.invalid/", capabilities="-")
    Server.objects.get(slug="new", capabilities=[]).full_clean()


# What others did meanwhile


def test_a_switch_off_is_not_undone_by_a_form_that_was_open(root: Person, server: Server) -> None:
    data = drawn(root, page_of(server))
    ledger.switch(server, on=False, by=None, note="It leaks.")
    page = root.post(page_of(server), data | {"description": ["Typo mended."]})
    assert page.status == 200 and MEANWHILE in page.text
    again = [form.data() for form in page.reader.forms if "slug" in form.data()]
    assert MEANWHILE in root.post(page_of(server), again[0]).text
    found = Server.objects.get()
    assert (found.enabled, found.description) == (False, "")
    assert list(AuditEntry.objects.values_list("event", flat=True)) == ["server_off"]
    save(root, page_of(server), description="Typo mended.")
    assert (Server.objects.get().enabled, Server.objects.get().description) == (False, "Typo mended.")


CHANGES = {
    "url": "https://moved.invalid/",
    "private_networks": ["10.0.0.0/8"],
    "hidden_tools": ["pay"],
    "capabilities": ["roots"],
    "keep_messages": True,
    "credential_kind": "bearer",
    "credential_ref": "WEATHER",
}


@pytest.mark.parametrize("column", [*CHANGES, "groups"])
def test_nothing_that_others_changed_is_saved_over(root: Person, server: Server, column: str) -> None:
    data = drawn(root, page_of(server))
    if column == "groups":
        server.groups.add(Group.objects.create(name="travel"))
    else:
        Server.objects.update(**{column: CHANGES[column]})
    before = Server.objects.values().get(), list(server.groups.all())
    assert MEANWHILE in root.post(page_of(server), data | {"description": ["Mine"]}).text
    assert (Server.objects.values().get(), list(server.groups.all())) == before


def test_a_form_without_its_mark_saves_nothing(root: Person, server: Server) -> None:
    assert MEANWHILE in save(root, page_of(server), description="Mine", drawn="-").text


def test_a_lock_out_is_not_undone_by_a_form_that_was_open(root: Person, alice: User) -> None:
    path = f"/admin/auth/user/{alice.pk}/change/"
    data = drawn(root, path)
    User.objects.filter(pk=alice.pk).update(is_active=False)
    assert MEANWHILE in root.post(path, data | {"first_name": ["Alice"]}).text
    assert User.objects.filter(pk=alice.pk, is_active=False, first_name="").exists()
    save(root, path, first_name="Alice")
    assert User.objects.filter(pk=alice.pk, is_active=False, first_name="Alice").exists()


def test_permissions_taken_from_a_group_are_not_given_back_by_a_form_that_was_open(root: Person) -> None:
    group = Group.objects.create(name="desk")
    group.permissions.add(permission("review_flow"))
    path = f"/admin/auth/group/{group.pk}/change/"
    data = drawn(root, path)
    group.permissions.clear()
    assert MEANWHILE in root.post(path, data).text
    assert not group.permissions.exists()


@pytest.mark.parametrize("model", [Server, User, Group])
def test_what_is_saved_is_held_from_when_it_is_read(model: type[Model]) -> None:
    with transaction.atomic():
        query = admin.site.get_model_admin(model).get_queryset(RequestFactory().post("/")).query
    assert (query.select_for_update, query.select_for_no_key_update) == (True, True)


# Powers


@pytest.fixture
def helper(app: str) -> Iterator[Person]:
    """Staff who change people and groups, as a group of theirs lets them."""
    user = staff("helper")
    group = Group.objects.create(name="helpers")
    names = [f"{verb}_{what}" for verb in ("add", "change", "delete", "view") for what in ("user", "group")]
    group.permissions.set(Permission.objects.filter(codename__in=names))
    user.groups.add(group)
    with at(app, user) as someone:
        yield someone


def test_staff_give_no_permissions_to_groups(helper: Person, root: Person, server: Server) -> None:
    group = Group.objects.get(name="helpers")
    path, wanted = f"/admin/auth/group/{group.pk}/change/", str(permission("review_flow").pk)
    save(helper, path, name="aides", permissions=[wanted])
    group.refresh_from_db()
    assert (group.name, group.permissions.filter(pk=wanted).exists()) == ("aides", False)
    save(helper, "/admin/auth/group/add/", name="new", permissions=[wanted])
    assert not Group.objects.get(name="new").permissions.exists()
    save(root, path, permissions=[wanted])
    assert [each.codename for each in group.permissions.all()] == ["review_flow"]


def test_staff_do_not_open_a_server_to_everybody_by_deleting_its_group(
    helper: Person, root: Person, server: Server
) -> None:
    group = Group.objects.create(name="travel")
    server.groups.add(group)
    path = f"/admin/auth/group/{group.pk}/delete/"
    token = drawn(helper, f"/admin/auth/group/{group.pk}/change/")["csrfmiddlewaretoken"]
    assert helper.post(path, {"csrfmiddlewaretoken": token, "post": ["yes"]}).status == 403
    chosen = {"action": ["delete_selected"], "_selected_action": [str(group.pk)], "post": ["yes"]}
    helper.post("/admin/auth/group/", {"csrfmiddlewaretoken": token} | chosen)
    assert server.groups.get() == group
    assert root.get(path).status == 200


def test_staff_do_not_take_the_place_of_people_with_powers_that_they_have_not(
    helper: Person, root: Person, alice: User, server: Server
) -> None:
    rita = reviewer_of("rita", server)
    away = User.objects.create_user("away", is_active=False)
    away.user_permissions.add(permission("end_sessions"))
    peer = User.objects.create_user("peer")
    peer.groups.add(Group.objects.get(name="helpers"))
    abroad = User.objects.create_user("abroad")
    abroad.groups.add(Group.objects.get(name="helpers"), Group.objects.create(name="abroad"))
    new = {"usable_password": ["true"], "password1": ["Zu7-plum-Tree"], "password2": ["Zu7-plum-Tree"]}
    new |= {
        "set-password": ["1"],
        "csrfmiddlewaretoken": drawn(helper, "/admin/auth/group/add/")["csrfmiddlewaretoken"],
    }
    for person, may in ((rita, False), (away, False), (abroad, False), (alice, True), (peer, True)):
        base = f"/admin/auth/user/{person.pk}"
        helper.post(f"{base}/password/", new)
        helper.post(f"{base}/change/", new | {"username": [person.username], "email": ["x@y.invalid"]})
        person.refresh_from_db()
        assert person.check_password("Zu7-plum-Tree") is may, person
        assert ('name="_save"' in helper.get(f"{base}/change/").response.text) is may, person
        assert (helper.get(f"{base}/delete/").status == 200) is may, person
        assert person.email == "" and root.get(f"{base}/password/").status == 200
    save(helper, f"/admin/auth/user/{alice.pk}/change/", email="a@b.invalid")
    assert User.objects.get(pk=alice.pk).email == "a@b.invalid"
    chosen = {"action": ["delete_selected"], "_selected_action": [str(rita.pk), str(alice.pk)], "post": ["yes"]}
    helper.post("/admin/auth/user/", {"csrfmiddlewaretoken": new["csrfmiddlewaretoken"]} | chosen)
    assert User.objects.filter(username__in=("rita", "alice")).count() == 2


# Columns that are not shown, and rows that are not theirs


def test_columns_that_are_not_shown_cannot_be_felt_out(server: Server, alice: User) -> None:
    cookies_of(alice)
    key = Session.objects.get().session_key
    server.credential_ref = "STRIPE_KEY"
    server.save()
    names = ("session", "server", "user", "group", "flow", "round", "leg", "auditentry", "finding")
    boss = looking(staff("boss", *(f"view_{name}" for name in names), is_superuser=True))
    hidden = {
        "mrtr_web/session": [f"session_key__startswith={key[:4]}", "key_digest__gt=0", "session_data__contains=a"],
        "mrtr_web/server": ["credential_ref__startswith=S", "credential_sealed__isnull=1", "groups__id__exact=1"],
        "auth/user": ["password__startswith=p", "session__session_key__gt=a", "user_permissions__codename=x"],
        "auth/group": ["permissions__codename=x", "server__slug=demo", "user__password__gt=a"],
        "mrtr_web/flow": ["record__sealed__gt=a", "user__password__gt=a", "leg__gt=a", "user__is_staff=1"],
        "mrtr_web/round": ["flow__user__password__gt=a"],
        "mrtr_web/leg": ["flow__record__sealed__gt=a"],
        "mrtr_web/auditentry": ["note__contains=a"],
        "mrtr_web/finding": ["server__credential_ref__gt=a"],
    }
    for table, queries in hidden.items():
        for query in queries:
            assert boss.get(f"/admin/{table}/?{query}").status_code == 400, query
    for allowed in ("mrtr_web/server/?enabled__exact=1", "auth/user/?is_staff__exact=1&groups__id__exact=1"):
        assert boss.get(f"/admin/{allowed}").status_code == 200, allowed
    for allowed in ("mrtr_web/flow/?state__exact=waiting", f"mrtr_web/session/?user__id__exact={alice.pk}"):
        assert boss.get(f"/admin/{allowed}").status_code == 200, allowed


def test_findings_of_a_server_are_shown_to_its_reviewers_alone(server: Server) -> None:
    ledger.note_findings(server.pk, ["FM-5"])
    clerk = staff("clerk", "view_server", "view_finding")
    rita = reviewer_of("rita", server, may=["view_server", "view_finding"])
    User.objects.filter(pk=rita.pk).update(is_staff=True)
    for person, sees in ((clerk, False), (rita, True)):
        page = looking(person).get(page_of(server))
        assert page.status_code == 200
        assert (findings.meaning("FM-5")[:20] in page.content.decode()) is sees, person


# Sessions


def test_sessions_that_staff_end_are_in_the_audit_trail(root: Person, alice: User) -> None:
    cookies_of(alice)
    token = {"csrfmiddlewaretoken": drawn(root, "/admin/auth/group/add/")["csrfmiddlewaretoken"], "post": ["yes"]}
    for path, more in (
        ("session/{}/delete/", {}),
        ("session/", {"action": ["delete_selected"], "_selected_action": ["{}"]}),
    ):
        cookies_of(alice)
        pk = str(Session.objects.filter(user=alice).first().pk)  # type: ignore[union-attr]
        filled = {key: [each.format(pk) for each in values] for key, values in more.items()}
        root.post(f"/admin/mrtr_web/{path.format(pk)}", token | filled)
        assert not Session.objects.filter(pk=pk).exists()
    root.post(f"/admin/auth/user/{alice.pk}/delete/", token)
    rows = AuditEntry.objects.values_list("event", "by", "person")
    assert list(rows) == [("sessions_ended", "root", "alice")] * 3


def test_a_credential_is_not_given_to_an_address_that_others_have_moved(root: Person, server: Server) -> None:
    data = drawn(root, page_of(server))
    Server.objects.update(url="https://evil.invalid/")
    root.post(page_of(server), data | {"kind": ["bearer"], "source": ["form"], "token": ["s3cr3t"]})
    assert credentials.headers(Server.objects.get()) == {}
