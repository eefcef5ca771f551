"""Single sign-on attacked: forged answers, a hostile provider, other people's answers, names that others have."""

import hmac
import json
import time
from base64 import urlsafe_b64encode
from collections.abc import Callable
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
from joserfc.jwk import OctKey
from starlette.responses import JSONResponse, RedirectResponse, Response

from tests.person import Person
from tests.provider import CLIENT, KEY, OTHER, SECRET, Knobs, signed_by
from tests.sso import CALLBACK, Site, answer, by_password, name_of, refused, sign_in, site, way
from tests.sso import company as company
from tests.sso import knobs as knobs
from tests.sso import person as person
from tests.test_headers import wrong

pytestmark = pytest.mark.own_database

HOME = "/"


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


def forged(claims: dict[str, Any] | None = None, **knobs: Any) -> dict[str, Any]:
    return {"claims": claims or {}, **knobs}


def without_signature(claims: dict[str, Any]) -> str:
    head, body, _ = signed_by(KEY)(claims).split(".")
    return f"eyJhbGciOiJub25lIn0.{body}."


def too_deep() -> str:
    return f"{signed_by(KEY)({}).split('.')[0]}.{urlsafe_b64encode(b'[' * 100_000).decode().rstrip('=')}.x"


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
    "an answer that is too deep": lambda: forged(answer=Response("[" * 100_000, media_type="application/json")),
    "an ID token that is too deep": lambda: forged(forge=lambda claims: too_deep()),
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


@pytest.mark.parametrize("page", ["https://elsewhere.example/", "//elsewhere.example/", "javascript:alert(1)"])
def test_nobody_is_led_elsewhere(person: Person, page: str) -> None:
    assert sign_in(person, "0011", page).path == HOME
    shown = person.get(f"/accounts/login/sso/refused/?why=away&next={page}")
    assert shown.link("To the sign-in page") == "/accounts/login/"


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
