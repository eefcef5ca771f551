"""Single sign-on at a real OpenID Connect provider: who gets in, as whom, with which powers, and what is refused."""

import hmac
import json
import subprocess
import sys
import time
from base64 import urlsafe_b64encode
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
from joserfc.jwk import OctKey
from starlette.responses import JSONResponse, RedirectResponse, Response

from tests.person import Page, Person
from tests.processes import BASE
from tests.provider import CLIENT, KEY, OTHER, SECRET, Knobs, signed_by
from tests.sso import CALLBACK, Site, answer, by_password, name_of, sign_in, site, way
from tests.test_headers import wrong

HOME = "/"


@pytest.fixture(scope="module")
def company(tmp_path_factory: pytest.TempPathFactory, static_root: None) -> Iterator[Site]:
    with site(tmp_path_factory.mktemp("sso")) as found:
        yield found


@pytest.fixture
def person(company: Site) -> Iterator[Person]:
    with Person(company.base) as someone:
        yield someone


@pytest.fixture
def knobs(company: Site) -> Iterator[Knobs]:
    """To be turned: they are back at rest after the test."""
    found = company.world.knobs
    yield found
    people = found.people
    vars(found).update(vars(Knobs()) | {"people": people})


def refused(page: Page, words: str) -> bool:
    """Whether this is the page of a refusal that says so, at an address that has no secret in it."""
    assert page.path == "/accounts/login/sso/refused/", page.text
    assert page.status == 403 and "code=" not in str(page.response.url)
    return words in page.text and "You are not signed in" in page.text


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


def test_nothing_that_lets_anybody_in_is_logged(company: Site, person: Person) -> None:
    back = answer(way(person), "0002")
    secrets = [*parse_qs(urlsplit(back).query)["code"], *parse_qs(urlsplit(back).query)["state"], SECRET]
    person.get(back)
    token = next(token for token, who in company.world.server.tokens.items() if who == "0002")
    (asked,) = [post for post in company.world.recorder.posts if post.form.get("code") == secrets[0]]
    assert asked.form["client_secret"] == SECRET and len(asked.form["code_verifier"]) >= 43
    log = company.process.log.read_text()
    assert CALLBACK in log and not [each for each in (*secrets, token, asked.form["code_verifier"]) if each in log]


@pytest.mark.parametrize(
    "claims", [{"preferred_username": "ada"}, {"preferred_username": "Ada"}, {"preferred_username": "x", "name": "ada"}]
)
def test_no_local_account_is_taken_over(company: Site, person: Person, claims: dict[str, str]) -> None:
    """Neither by name nor by an address that the provider calls checked."""
    subject = f"thief-{claims['preferred_username']}"
    company.world.know("", **{subject: {"email": "ada@example.com", "email_verified": True, **claims}})
    before = company.rows("SELECT * FROM auth_user WHERE username = 'ada'")
    sign_in(person, subject)
    assert name_of(person).lower() in {"ada-2", "ada-3", "x"}
    assert company.rows("SELECT * FROM auth_user WHERE username = 'ada'") == before
    assert (
        company.counted("socialaccount_socialaccount WHERE user_id = (SELECT id FROM auth_user WHERE username = 'ada')")
        == 0
    )


@pytest.mark.parametrize(
    ("claims", "name"),
    [
        ({"preferred_username": "Zoë Müller\u202e/../x"}, "Zoë-Müller-..-x"),
        ({"preferred_username": "\ufb01ona"}, "fiona"),
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


def test_what_the_provider_says_of_a_person_is_kept_up(company: Site, person: Person) -> None:
    people = company.world.knobs.people
    query = "SELECT first_name, last_name, email FROM auth_user WHERE username = 'newlywed'"
    people["0003"] = {"preferred_username": "newlywed", "name": "Ana\nSilva", "email": "ana@example.com"}
    sign_in(person, "0003")
    assert company.rows(query) == [("AnaSilva", "", "ana@example.com")]
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


def forged(claims: dict[str, Any] | None = None, **knobs: Any) -> dict[str, Any]:
    return {"claims": claims or {}, **knobs}


def without_signature(claims: dict[str, Any]) -> str:
    head, body, _ = signed_by(KEY)(claims).split(".")
    return f"eyJhbGciOiJub25lIn0.{body}."


def with_public_key(claims: dict[str, Any]) -> str:
    """As a secret that everybody has; libraries refuse to do this."""
    body = signed_by(KEY)(claims).split(".")[1]
    text = ".".join([urlsafe_b64encode(json.dumps({"alg": "HS256", "kid": "now"}).encode()).decode().rstrip("="), body])
    signature = hmac.digest(KEY.as_pem(private=False), text.encode(), "sha256")
    return f"{text}.{urlsafe_b64encode(signature).decode().rstrip('=')}"


HOSTILE: dict[str, Callable[[], dict[str, Any]]] = {
    "the nonce of another sign-in": lambda: forged({"nonce": "0" * 64}),
    "no nonce": lambda: forged({"nonce": None}),
    "for another client": lambda: forged({"aud": ["other"]}),
    "for several, and nobody says for whom": lambda: forged({"aud": [CLIENT, "other"]}),
    "made out to another client": lambda: forged({"azp": "other"}),
    "of another issuer": lambda: forged({"iss": "https://elsewhere.example"}),
    "expired": lambda: forged({"exp": int(time.time()) - 3600}),
    "without an end": lambda: forged({"exp": None}),
    "from the future": lambda: forged({"iat": int(time.time()) + 3600}),
    "without a subject": lambda: forged({"sub": None}),
    "with an empty subject": lambda: forged({"sub": ""}),
    "with a subject that is no text": lambda: forged({"sub": 7}),
    "with a subject that is too long": lambda: forged({"sub": "x" * 192}),
    "with NUL in the subject": lambda: forged({"sub": "a\0b"}),
    "not signed": lambda: forged(forge=without_signature),
    "signed with the client's secret": lambda: forged(
        forge=signed_by(OctKey.import_key(SECRET * 2, {"kid": "now"}), alg="HS256")
    ),
    "signed with the public key": lambda: forged(forge=with_public_key),
    "signed by somebody else": lambda: forged(forge=signed_by(OTHER)),
    "signed by an unknown key": lambda: forged(forge=signed_by(KEY, kid="then")),
    "no token at all": lambda: forged(forge=lambda claims: "x"),
    "userinfo about somebody else": lambda: forged(userinfo={"sub": "other"}),
    "an answer that is a list": lambda: forged(answer=JSONResponse(["access_token"])),
    "an answer that is a number": lambda: forged(answer=JSONResponse(7)),
    "an answer without an ID token": lambda: forged(answer=JSONResponse({"access_token": "x"})),
    "an answer without a token": lambda: forged(answer=JSONResponse({"error": "no"})),
    "an answer that is a page": lambda: forged(answer=Response("<h1>Hello</h1>", media_type="text/html")),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_what_cannot_be_checked_is_not_believed(company: Site, person: Person, knobs: Knobs, name: str) -> None:
    people = company.counted("auth_user")
    vars(knobs).update(HOSTILE[name]())
    assert refused(sign_in(person, "mallory", "/flows/"), "What Company said could not be checked")
    assert name_of(person) == "" and company.counted("auth_user") == people
    assert person.get(f"{CALLBACK}?code=x").path == "/accounts/login/sso/refused/"


@pytest.mark.parametrize(
    "response",
    [
        Response(status_code=500),
        RedirectResponse("/token", 307),
        Response(b"{" + b" " * 300_000 + b"}", media_type="application/json"),
        Response("no JSON", media_type="application/json"),
    ],
)
def test_a_provider_that_fails_is_said_to(person: Person, knobs: Knobs, response: Response) -> None:
    knobs.answer = response
    page = sign_in(person, "0008", "/flows/")
    says = "does not answer this app just now" if response.status_code != 500 else "could not be checked"
    assert refused(page, says)
    assert page.link("To the sign-in page") == "/accounts/login/?next=%2Fflows%2F"


def test_an_answer_counts_once_and_only_in_the_browser_that_asked(company: Site, person: Person) -> None:
    over = "That sign-in is over"
    company.world.knobs.people["0009"] = {"preferred_username": "nina"}
    back = answer(way(person), "0009")
    with Person(company.base) as other:
        assert refused(other.get(back), over) and name_of(other) == ""
        mine = parse_qs(urlsplit(way(other)).query)["state"][0]
        theirs = back.replace(parse_qs(urlsplit(back).query)["state"][0], mine)
        assert refused(other.get(theirs), "could not be checked") and name_of(other) == ""
    assert refused(person.get(back.replace("state=", "state=x")), over)
    assert refused(person.get(f"{back}&state=twice"), over)
    assert refused(person.get(f"{back}&iss=https://elsewhere.example"), "could not be checked")
    assert person.get(back).path == HOME
    assert refused(person.get(back), over) and name_of(person) == "nina"


def test_a_no_at_the_provider_is_told_and_begun_again(person: Person) -> None:
    page = person.get(answer(way(person, "/flows/"), "0010", "deny"))
    assert refused(page, "said no to signing in here")
    assert sign_in(person, "0010", page.link("To the sign-in page").partition("next=")[2]).path == "/flows/"
    state = parse_qs(urlsplit(way(person)).query)["state"][0]
    assert refused(person.get(f"{CALLBACK}?error=server_error&state={state}"), "did not let you in")


@pytest.mark.parametrize("page", ["https://elsewhere.example/", "//elsewhere.example/", "javascript:alert(1)"])
def test_nobody_is_led_elsewhere(person: Person, page: str) -> None:
    assert sign_in(person, "0011", page).path == HOME
    shown = person.get(f"/accounts/login/sso/refused/?why=away&next={page}")
    assert shown.link("To the sign-in page") == "/accounts/login/"


def test_sessions_are_as_after_a_password(company: Site, person: Person) -> None:
    """A planted one is renamed, who signs in again keeps theirs, and somebody else ends it."""

    def session() -> tuple[Any, ...]:
        key = person.client.cookies["mrtr_session"]
        return company.rows("SELECT id, user_id, key_digest FROM mrtr_web_session WHERE session_key = %s", key)[0]

    company.world.know("", **{"0012": {"preferred_username": "twice"}, "0013": {"preferred_username": "next"}})
    address = way(person)
    planted = person.client.cookies["mrtr_session"]
    person.get(answer(address, "0012"))
    first, secret = session(), person.client.cookies["mrtr_key"]
    assert person.client.cookies["mrtr_session"] != planted and first[2]
    sign_in(person, "0012")
    assert session() == first and person.client.cookies["mrtr_key"] == secret
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


def test_no_page_of_allauth_is_there(company: Site, person: Person) -> None:
    with Person(company.base) as root:
        by_password(root, "root", "root's password")
        for someone in (person, root):
            for path in ("signup/", "email/", "inactive/", "social/connections/", "social/signup/", "oidc/x/login/"):
                assert someone.get(f"/accounts/{path}").status == 404
                assert someone.get(f"/accounts/3rdparty/{path}").status == 404
        assert "ocial" not in root.get("/admin/").text
        assert root.get("/admin/socialaccount/socialapp/").status == 404
        assert root.get("/admin/account/emailaddress/").status == 404
    assert person.get("/accounts/login/sso/").status == 405
    assert person.post("/accounts/login/sso/", {}).status == 403


def test_its_pages_say_to_the_browser_what_all_say(person: Person) -> None:
    """The provider is no exception to the policy: `form-action` stays 'self'."""
    way(person)
    for page in (person.page, person.get("/accounts/login/sso/refused/"), person.get("/accounts/login/")):
        assert wrong(page.path, page.response.headers) == {}
    answer = person.client.get(f"{CALLBACK}?code=x", follow_redirects=False)
    assert (answer.status_code, wrong(CALLBACK, answer.headers)) == (302, {})


def test_who_is_deleted_is_gone_also_where_single_sign_on_is_off_by_then(company: Site, person: Person) -> None:
    for name in ("deleted-on", "deleted-off"):
        company.world.knobs.people[name] = {"preferred_username": name}
        sign_in(person, name)
        off = dict.fromkeys([each for each in company.environ if "_OIDC_" in each], "") if "off" in name else {}
        assert f"Deleted: {name}, 1 sessions" in company.manage("deleteperson", name, "--yes", **off)
        assert company.counted(f"socialaccount_socialaccount WHERE uid = '{name}'") == 0
        assert company.counted(f"auth_user WHERE username = '{name}'") == 0
        assert name_of(person) == ""


def test_the_provider_is_needed_only_to_sign_in_and_must_be_the_one_that_is_named(tmp_path: Path) -> None:
    away, odd = "does not answer this app just now", "could not be checked"
    with site(tmp_path) as started, Person(started.base) as person:
        wrongs: list[tuple[dict[str, Any], str]] = [
            ({"issuer": "https://elsewhere.example"}, odd),
            ({"authorization_endpoint": "javascript:alert(1)"}, odd),
            ({"token_endpoint": None}, odd),
            ({"filler": "x" * 300_000}, away),
        ]
        for wrong, says in wrongs:
            started.world.knobs.metadata = wrong
            person.get("/accounts/login/")
            assert refused(person.press("Sign in with Company"), says), wrong
        assert f"FAIL     sign-in: {started.world.issuer} cannot be reached" in started.doctor()
        assert by_password(person, "ada", "ada's password", "/flows/").path == "/flows/"
        started.world.knobs.metadata = {"authorization_endpoint": f"{started.world.issuer}/authorize?policy=1"}
        assert "?policy=1&" in way(person)
        sign_in(person, "0001")
        assert name_of(person) == "person"  # who says no name
        told = started.doctor()
        assert f"ok       sign-in: {started.world.issuer} answers" in told
        assert "warning  sign-in: MRTR_OIDC_GROUPS names groups that nobody has made: Lost." in told


def test_without_the_settings_nothing_of_it_is_loaded() -> None:
    code = "import sys, mrtr_web.asgi; print([n for n in sys.modules if n.split('.')[0] in ('allauth', 'requests')])"
    done = subprocess.run([sys.executable, "-c", code], cwd=BASE, capture_output=True, text=True, timeout=60)
    assert done.stdout == "[]\n", done.stderr
