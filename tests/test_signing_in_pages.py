"""The pages on the way to a sign-in server and back: they can be opened again, hold nothing in their addresses, and say
how things stand."""

import pytest
from django.contrib.auth.models import User

from mrtr_web.models import AuditEntry, Connection, Server, SignIn
from tests.desk import done
from tests.gate import gate
from tests.person import Person
from tests.signing_in import ADMIN, WHOAMI, answered, begin, connected, leave, protected, sign_in, way
from tests.staff import ADD
from tests.test_oauth import asked

pytestmark = pytest.mark.django_db(transaction=True)


def test_the_page_that_leads_away_can_be_opened_again_and_has_nothing_in_its_address(
    person: Person, server: Server, bob: User
) -> None:
    with protected(server), Person(person.base) as other:
        person.get("/s/demo/")
        page = leave(person)
        assert page.response.history[-1].status_code == 302
        link, path = way(page), page.path
        assert way(person.get(path)) == link
        state = asked(link)["state"]
        assert state not in str(page.response.url) and "use" in page.text
        other.sign_in("bob")
        assert (other.get(path).path, state in other.page.response.text) == ("/connections/demo/", False)
        person.get(answered(link))
        assert person.get(path).path == "/connections/demo/"
        assert "That sign-in is over." in person.page.text and "You are signed in since" in person.page.text
        assert SignIn.objects.count() == 0


def test_who_signs_in_from_a_tools_page_comes_back_to_it(person: Person, server: Server) -> None:
    with protected(server):
        person.get(f"{WHOAMI}?city=Lyon")
        page = leave(person)
        assert "Lyon" not in str(page.response.url)
        assert person.get(answered(way(page))).path == WHOAMI


@pytest.mark.parametrize("page", ["https://evil.example/", "//evil.example/s/demo/tools/a/", "/s/other/tools/a/", "/"])
def test_nobody_is_led_anywhere_else(person: Person, server: Server, page: str) -> None:
    with protected(server):
        person.get(WHOAMI)
        person.press("Sign in to Demo desk", {"page": page})
        assert person.get(answered(way(person.page))).path == "/s/demo/"


def test_who_denies_more_rights_is_still_signed_in_and_told_so(person: Person, server: Server) -> None:
    with protected(server) as world:
        connected(person)
        page = begin(person, ADMIN)
        assert "This needs more rights" in page.text and "This was not sent" not in page.text
        page.button("Give more rights at Demo desk")
        world.knobs.consent = "deny"
        page = sign_in(person)
        assert (page.path, page.status) == ("/oauth/refused/", 403)
        assert "You are still signed in at Demo desk, as before" in page.text
        assert "You are not signed in" not in page.text
        assert person.get(page.link("Back to your request")).state == "unsent"
    assert AuditEntry.objects.filter(event="sign_in_denied", person="alice", server="demo").count() == 1


def test_a_link_that_was_used_before_is_no_sign_out(person: Person, server: Server) -> None:
    with protected(server):
        person.get("/s/demo/")
        back = answered(way(leave(person)))
        person.get(back)
        page = person.get(back)
        assert (page.path, "Nobody waits for this answer" in page.text) == ("/oauth/refused/", True)
        assert "You are not signed in" not in page.text and Connection.objects.count() == 1
        with Person(person.base) as stranger:
            assert "You are signed out of this app" in stranger.get(back).text
            assert stranger.page.path == "/oauth/refused/"


def test_a_wrong_token_is_refused_before_it_is_kept(person: Person, server: Server) -> None:
    Server.objects.update(credential_kind="each")
    server.refresh_from_db()
    with gate(server, {"g00d"}, done()):
        person.get("/connections/demo/")
        person.fill("Your token", "wr0ng")
        page = person.press("Keep this token")
        assert (page.status, Connection.objects.count()) == (422, 0)
        assert "Demo desk does not accept this token, so it was not kept." in page.text
    page = person.press("Keep this token", {"token_password": "g00d"})
    assert "is kept, but the server could not be asked whether it accepts it." in page.text


def test_a_server_that_is_away_is_not_taken_for_one_that_offers_nothing(person: Person, server: Server) -> None:
    page = person.get("/s/demo/tools/ask/")
    assert (page.status, "We could not ask Demo desk" in page.text) == (502, True)
    assert "no longer offered" not in page.text
    assert person.press("Try again").path == "/s/demo/tools/ask/"


def test_a_token_that_is_dropped_with_its_address_leaves_a_row(person: Person, server: Server, root: Person) -> None:
    with protected(server):
        connected(person)
        form = root.get(f"/admin/mrtr_web/server/{server.pk}/change/").reader.forms
        data = next(each for each in form if "slug" in each.data()).data() | {"url": ["http://127.0.0.1:9/other"]}
        root.post(f"/admin/mrtr_web/server/{server.pk}/change/", data)
    rows = AuditEntry.objects.filter(event="connection_lost").values_list("by", "person", "server")
    assert list(rows) == [("root", "alice", "demo")]


def test_the_form_of_a_new_server_lets_it_ask_by_form(root: Person) -> None:
    form = next(form for form in root.get(ADD).reader.forms if "slug" in {c.name for c in form.controls})
    assert form.data()["capabilities"] == ["elicitation"]
