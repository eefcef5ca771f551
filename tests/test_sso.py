"""Single sign-on at a real OpenID Connect provider: who gets in, as whom, and with which powers."""

import json
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
from joserfc import jws

from tests.person import Person
from tests.processes import BASE
from tests.provider import KEY, Knobs
from tests.sso import CALLBACK, Site, answer, by_password, name_of, refused, sign_in, way
from tests.sso import company as company
from tests.sso import knobs as knobs
from tests.sso import person as person

pytestmark = pytest.mark.own_database


def test_a_newcomer_gets_an_account_and_comes_to_the_page_that_they_wanted(company: Site, person: Person) -> None:
    company.world.knobs.people["0001"] = {
        "preferred_username": "grace.hopper",
        "given_name": "Grace",
        "family_name": "Hopper",
        "email": "grace@example.com",
    }
    assert sign_in(person, "0001", "/flows/").path == "/flows/"
    assert name_of(person) == "grace.hopper"
    ((pk, first, last, email, password, staff, root),) = company.rows(
        "SELECT id, first_name, last_name, email, password, is_staff, is_superuser FROM auth_user WHERE username = %s",
        "grace.hopper",
    )
    assert (first, last, email, staff, root) == ("Grace", "Hopper", "grace@example.com", False, False)
    assert password.startswith("!")
    query = "SELECT provider, uid, extra_data FROM socialaccount_socialaccount WHERE user_id = %s"
    ((issuer, subject, extra),) = company.rows(query, pk)
    assert (issuer, subject) == (company.world.issuer, "0001") and extra in ("{}", {})
    assert {company.counted(f"{table}") for table in ("socialaccount_socialtoken", "account_emailaddress")} == {0}
    asked = parse_qs(urlsplit(way(person)).query)
    assert set(asked["scope"][0].split()) == {"openid", "profile", "email", "groups"}
    assert asked["code_challenge_method"] == ["S256"] and asked["nonce"] != asked["state"]


def test_who_comes_in_by_several_tabs_at_once_is_one_person(company: Site) -> None:
    company.world.knobs.people["0015"] = {"preferred_username": "tabs"}
    people = [Person(company.base) for _ in range(4)]
    with ThreadPoolExecutor(len(people)) as pool:
        backs = [answer(way(each), "0015") for each in people]
        list(pool.map(lambda each, back: each.get(back), people, backs))
    assert {name_of(each) for each in people} == {"tabs"}
    assert company.counted("socialaccount_socialaccount WHERE uid = '0015'") == 1
    assert company.counted("auth_user WHERE substr(username, 1, 4) = 'tabs'") == 1
    for each in people:
        each.client.close()


@pytest.mark.parametrize(
    ("claims", "name"),
    [
        ({"preferred_username": "Zoë Müller\u202e/../x"}, "Zoë-Müller-..-x"),
        ({"preferred_username": "\ufb01ona"}, "fiona"),
        (dict.fromkeys(("preferred_username", "email", "name", "given_name", "groups"), {"a": [7]}), "person"),
        ({"preferred_username": "nul\0", "email": "a\0@x.example", "name": "\0"}, "nul"),
        ({"preferred_username": "   ", "email": "li.wei@example.com"}, "li.wei"),
        ({"preferred_username": 7, "email": "seven@example.com"}, "seven"),
        ({"preferred_username": "王小明"}, "王小明"),
        ({"preferred_username": "x" * 500}, "x" * 140),
    ],
)
def test_names_are_made_safe(company: Site, person: Person, claims: dict[str, Any], name: str) -> None:
    company.world.knobs.people[f"named {name}"] = claims
    sign_in(person, f"named {name}")
    assert name_of(person) == name
    sign_in(person, f"named {name}")
    assert name_of(person) == name


def test_halves_of_characters_are_left_out(company: Site, person: Person, knobs: Knobs) -> None:
    knobs.claims = {"preferred_username": "half\ud800", "email": "a@\ud800.example", "given_name": "H\ud800"}
    knobs.forge = lambda claims: jws.serialize_compact({"alg": "RS256", "kid": "now"}, json.dumps(claims), KEY)
    sign_in(person, "0017")
    found = company.rows("SELECT first_name, email FROM auth_user WHERE username = 'half'")
    assert found == [("H", "")]


def test_what_the_provider_says_of_a_person_is_kept_up(company: Site, person: Person) -> None:
    people = company.world.knobs.people
    query = "SELECT first_name, last_name, email FROM auth_user WHERE username = 'newlywed'"
    people["0003"] = {"preferred_username": "newlywed", "name": "Ana\nSilva", "email": "ana@example.com"}
    sign_in(person, "0003")
    assert company.rows(query) == [("Ana Silva", "", "ana@example.com")]
    people["0003"] = {"preferred_username": "other", "given_name": "Ana", "family_name": "Costa", "email": "no address"}
    sign_in(person, "0003")
    assert company.rows(query) == [("Ana", "Costa", "ana@example.com")]
    people["0003"] |= {"email": "root@example.com", "email_verified": False}
    sign_in(person, "0003")
    assert company.rows(query) == [("Ana", "Costa", "ana@example.com")]


def test_groups_follow_the_claim_and_others_stay(company: Site, person: Person) -> None:
    people = company.world.knobs.people
    people["0004"] = {"preferred_username": "rita", "groups": ["desk", "lost", "By hand", 7]}
    sign_in(person, "0004")
    assert company.groups_of("rita") == {"Reviewers"}
    assert person.get("/review/").status == 200
    assert "MRTR_OIDC_GROUPS names groups that nobody has made: Lost" in company.process.log.read_text()
    add = "INSERT INTO auth_user_groups (user_id, group_id) SELECT u.id, g.id FROM auth_user u, auth_group g WHERE "
    company.rows(f"{add} u.username = 'rita' AND g.name = 'By hand'")
    people["0004"]["groups"] = "desk"
    sign_in(person, "0004")
    assert company.groups_of("rita") == {"Reviewers", "By hand"}
    del people["0004"]["groups"]
    sign_in(person, "0004")
    assert company.groups_of("rita") == {"By hand"}
    assert person.get("/review/").status == 404


def test_powers_come_and_go_with_the_claim_and_only_for_people_of_the_provider(company: Site, person: Person) -> None:
    people = company.world.knobs.people
    query = "SELECT is_staff, is_superuser FROM auth_user WHERE username = %s"
    for groups, powers in [
        (["root"], (True, True)),
        (["staff"], (True, False)),
        (["superusers", "Root", "root "], (False, False)),
        ({"root": True}, (False, False)),
    ]:
        people["0005"] = {"preferred_username": "olga", "groups": groups}
        sign_in(person, "0005")
        assert company.rows(query, "olga") == [powers], groups
    assert company.rows(query, "root") == [(True, True)]


def test_groups_that_only_userinfo_tells_count(company: Site, person: Person, knobs: Knobs) -> None:
    knobs.userinfo = {"groups": ["desk"], "email": "told@example.com"}
    knobs.people["0006"] = {"preferred_username": "thin", "email": "signed@example.com"}
    sign_in(person, "0006")
    assert company.groups_of("thin") == {"Reviewers"}
    assert company.rows("SELECT email FROM auth_user WHERE username = 'thin'") == [("signed@example.com",)]


def test_who_is_switched_off_here_stays_out(company: Site, person: Person) -> None:
    company.world.knobs.people["0007"] = {"preferred_username": "gone", "groups": ["desk"]}
    sign_in(person, "0007")
    company.rows("UPDATE auth_user SET is_active = %s WHERE username = 'gone'", False)
    assert name_of(person) == ""
    company.world.knobs.people["0007"]["groups"] = ["root"]
    assert refused(sign_in(person, "0007"), "Your account was switched off in this app.")
    assert name_of(person) == ""
    assert company.rows("SELECT is_superuser FROM auth_user WHERE username = 'gone'") == [(False,)]


def test_a_no_at_the_provider_is_told_and_begun_again(person: Person) -> None:
    page = person.get(answer(way(person, "/flows/"), "0010", "deny"))
    assert refused(page, "said no to signing in here")
    assert sign_in(person, "0010", page.link("To the sign-in page").partition("next=")[2]).path == "/flows/"
    state = parse_qs(urlsplit(way(person)).query)["state"][0]
    assert refused(person.get(f"{CALLBACK}?error=server_error&state={state}"), "did not let you in")


def test_a_sign_in_page_that_went_stale_is_sent_again(person: Person) -> None:
    page = person.post("/accounts/login/sso/", {"next": ["/flows/"]})
    assert page.status == 403 and "went stale" in page.text
    address = person.press("Send again").link("Go on to Company")
    assert person.get(answer(address, "0016")).path == "/flows/"


def utc(found: datetime | str) -> datetime:
    """A time of the database: SQLite has texts, in UTC."""
    return found if isinstance(found, datetime) else datetime.fromisoformat(found).replace(tzinfo=UTC)


def test_sessions_are_as_after_a_password(company: Site, person: Person) -> None:
    """A planted one is renamed, who signs in again keeps theirs, and somebody else ends it."""

    def session() -> tuple[Any, ...]:
        key = person.client.cookies["mrtr_session"]
        return company.rows("SELECT id, user_id, key_digest FROM mrtr_web_session WHERE session_key = %s", key)[0]

    company.world.know("", **{"0012": {"preferred_username": "twice"}, "0013": {"preferred_username": "next"}})
    address = way(person)
    planted = person.client.cookies["mrtr_session"]
    ((ends,),) = company.rows("SELECT expire_date FROM mrtr_web_session WHERE session_key = %s", planted)
    assert utc(ends) - datetime.now(UTC) < timedelta(minutes=10)
    person.get(answer(address, "0012"))
    first, secret = session(), person.client.cookies["mrtr_key"]
    assert person.client.cookies["mrtr_session"] != planted and first[2]
    sign_in(person, "0012")
    assert session() == first and person.client.cookies["mrtr_key"] == secret
    ((ends,),) = company.rows("SELECT expire_date FROM mrtr_web_session WHERE id = %s", first[0])
    assert utc(ends) - datetime.now(UTC) > timedelta(hours=3)
    with Person(company.base) as elsewhere:
        sign_in(elsewhere, "0012")
        assert "Another browser" in person.get("/accounts/profile/").text
        person.press("Sign out everywhere else")
        assert name_of(elsewhere) == ""
    sign_in(person, "0013")
    assert name_of(person) == "next" and person.client.cookies["mrtr_key"] != secret
    assert company.counted(f"mrtr_web_session WHERE id = {first[0]}") == 0
    person.press("Sign out")
    assert name_of(person) == ""


def test_who_has_no_password_here_is_offered_none_and_who_has_one_may_use_it(company: Site, person: Person) -> None:
    sign_in(person, "0014")
    assert "Change your password" not in person.get("/accounts/profile/").text
    assert person.get("/accounts/password/").path == "/accounts/profile/"
    person.press("Sign out")
    assert "do not belong together" in by_password(person, "ada", "wrong").text
    assert by_password(person, "ada", "ada's password", "/flows/").path == "/flows/"
    assert name_of(person) == "ada"


def test_who_is_deleted_is_gone_also_where_single_sign_on_is_off_by_then(company: Site, person: Person) -> None:
    for name in ("deleted-on", "deleted-off"):
        company.world.knobs.people[name] = {"preferred_username": name}
        sign_in(person, name)
        off = dict.fromkeys([each for each in company.environ if "_OIDC_" in each], "") if "off" in name else {}
        assert f"Deleted: {name}, 1 sessions" in company.manage("deleteperson", name, "--yes", **off)
        assert company.counted(f"socialaccount_socialaccount WHERE uid = '{name}'") == 0
        assert company.counted(f"auth_user WHERE username = '{name}'") == 0
        assert name_of(person) == ""
    company.world.knobs.people["deleted-admin"] = {"preferred_username": "deleted-admin"}
    sign_in(person, "deleted-admin")
    ((pk,),) = company.rows("SELECT id FROM auth_user WHERE username = 'deleted-admin'")
    with Person(company.base) as root:
        by_password(root, "root", "root's password")
        root.get(f"/admin/auth/user/{pk}/delete/")
        (form,) = [form for form in root.page.reader.forms if "post" in form.data()]
        root.post(root.page.path, form.data())
    assert company.counted("socialaccount_socialaccount WHERE uid = 'deleted-admin'") == 0


def test_without_the_settings_nothing_of_it_is_loaded() -> None:
    code = "import sys, mrtr_web.asgi; print([n for n in sys.modules if n.split('.')[0] in ('allauth', 'requests')])"
    done = subprocess.run([sys.executable, "-c", code], cwd=BASE, capture_output=True, text=True, timeout=60)
    assert done.stdout == "[]\n", done.stderr
