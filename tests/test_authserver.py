"""The authorization server for tests, driven by hand: what our client is tried against is known to work."""

import base64
import hashlib
from collections.abc import Iterator
from typing import Any
from urllib.parse import parse_qsl, quote_plus, urlsplit

import httpx2
import pytest

from tests.authserver import World, authorized
from tests.grants import Knobs

BACK = "http://127.0.0.1:1/oauth/callback/"
VERIFIER = "v" * 50
CHALLENGE = base64.urlsafe_b64encode(hashlib.sha256(VERIFIER.encode()).digest()).decode().rstrip("=")
META = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientInfo": {"name": "by hand", "version": "1"},
    "io.modelcontextprotocol/clientCapabilities": {"elicitation": {"form": {}}},
}


class Hand:
    """A client that does each step when told, as a public client known beforehand unless it registers."""

    def __init__(self, world: World, http: httpx2.Client) -> None:
        self.world = world
        self.http = http
        self.client_id = world.knobs.client_id
        self.basic: httpx2.BasicAuth | None = None

    def register(self) -> dict[str, Any]:
        about = {"redirect_uris": [BACK], "application_type": "web", "token_endpoint_auth_method": "none"}
        answer = self.http.post(f"{self.world.grants.base}/register", json=about)
        assert answer.status_code == 201
        told: dict[str, Any] = answer.json()
        self.client_id = told["client_id"]
        return told

    def authorize_url(self, scope: str) -> str:
        asked = {
            "response_type": "code",
            "client_id": self.client_id,
            "redirect_uri": BACK,
            "scope": scope,
            "state": "a state",
            "code_challenge": CHALLENGE,
            "code_challenge_method": "S256",
            "resource": self.world.url,
        }
        return str(httpx2.URL(f"{self.world.grants.base}/authorize", params=asked))

    def authorize(self, scope: str = "use") -> dict[str, str]:
        return callback(self.http.get(self.authorize_url(scope)))

    def token(self, **form: str) -> httpx2.Response:
        named = {} if self.basic else {"client_id": self.client_id}
        data = named | {"resource": self.world.url} | form
        return self.http.post(
            f"{self.world.grants.base}/token", data=data, auth=self.basic or httpx2.USE_CLIENT_DEFAULT
        )

    def redeem(self, code: str) -> httpx2.Response:
        return self.token(grant_type="authorization_code", code=code, redirect_uri=BACK, code_verifier=VERIFIER)

    def signed_in(self, scope: str = "use") -> dict[str, Any]:
        told: dict[str, Any] = self.redeem(self.authorize(scope)["code"]).json()
        return told

    def refresh(self, token: str) -> httpx2.Response:
        return self.token(grant_type="refresh_token", refresh_token=token)

    def call(self, tool: str, token: str | None, **params: Any) -> httpx2.Response:
        headers = {
            "accept": "application/json, text/event-stream",
            "mcp-protocol-version": "2026-07-28",
            "mcp-method": "tools/call",
            "mcp-name": tool,
        } | ({"authorization": f"Bearer {token}"} if token else {})
        body = {"name": tool, "arguments": {}, "_meta": META, **params}
        message = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": body}
        return self.http.post(self.world.url, json=message, headers=headers)


def callback(answer: httpx2.Response) -> dict[str, str]:
    assert answer.is_redirect
    url = answer.headers["location"]
    assert url.startswith(BACK + "?")
    return dict(parse_qsl(urlsplit(url).query))


def result(answer: httpx2.Response) -> dict[str, Any]:
    assert answer.status_code == 200
    told: dict[str, Any] = answer.json()["result"]
    return told


def said(answer: httpx2.Response) -> str:
    text: str = result(answer)["content"][0]["text"]
    return text


@pytest.fixture(scope="module")
def running() -> Iterator[Hand]:
    with authorized(secret=None) as world, httpx2.Client(trust_env=False) as http:
        yield Hand(world, http)


@pytest.fixture
def hand(running: Hand) -> Hand:
    """As at the start: the servers go on running, which is faster."""
    grants = running.world.grants
    base, resource = grants.base, grants.resource
    grants.__init__(grants.knobs)  # type: ignore[misc]
    grants.base, grants.resource = base, resource
    vars(grants.knobs).update(vars(Knobs(secret=None)))
    return Hand(running.world, running.http)


def test_a_client_finds_its_way_registers_signs_in_and_calls(hand: Hand) -> None:
    world = hand.world
    refused = hand.call("whoami", None)
    place = world.url.replace("/mcp", "/.well-known/oauth-protected-resource/mcp")
    assert refused.status_code == 401
    assert refused.headers["www-authenticate"] == f'Bearer resource_metadata="{place}", scope="use"'
    about = hand.http.get(place).json()
    assert about["resource"] == world.url
    assert about["authorization_servers"] == [world.issuer]
    metadata = hand.http.get(f"{world.issuer}/.well-known/oauth-authorization-server").json()
    assert metadata["issuer"] == world.issuer
    assert hand.register()["client_id"] != world.knobs.client_id
    told = hand.authorize()
    assert (told["state"], told["iss"]) == ("a state", world.issuer)
    answer = hand.redeem(told["code"]).json()
    assert (answer["token_type"], answer["expires_in"], answer["scope"]) == ("Bearer", 3600, "use")
    assert said(hand.call("whoami", answer["access_token"])) == "ada"
    assert world.auth.posts[-2].asked["resource"] == world.auth.posts[-1].form["resource"] == world.url
    assert world.faults == []
    assert hand.redeem(told["code"]).json()["error"] == "invalid_grant"
    assert world.faults == ["token: invalid_grant: authorization code does not exist"]


def test_a_round_belongs_to_whom_it_was_asked_of(hand: Hand) -> None:
    ada = hand.signed_in()["access_token"]
    hand.world.knobs.login = "bob"
    bob = hand.signed_in()["access_token"]
    asked = result(hand.call("ask", ada))
    assert asked["resultType"] == "input_required"
    reply = {"choice": {"action": "accept", "content": {"treat": "Tea"}}}
    answered = {"inputResponses": reply, "requestState": asked["requestState"]}
    assert said(hand.call("ask", ada, **answered)) == "Tea for ada; asked ada"
    assert hand.call("ask", bob, **answered).json()["error"]["code"] == -32602


def test_refresh_tokens_rotate_and_one_used_twice_burns_all(hand: Hand) -> None:
    first = hand.signed_in()
    second = hand.refresh(first["refresh_token"]).json()
    assert said(hand.call("whoami", second["access_token"])) == "ada"
    assert (hand.world.refreshes, hand.world.burnt) == (1, 0)
    assert hand.refresh(first["refresh_token"]).json()["error"] == "invalid_grant"
    assert hand.refresh(second["refresh_token"]).json()["error"] == "invalid_grant"
    assert hand.call("whoami", second["access_token"]).status_code == 401
    assert (hand.world.refreshes, hand.world.burnt, hand.world.faults) == (1, 1, [])


def test_a_refresh_token_that_stays_and_a_refresh_that_fails(hand: Hand) -> None:
    hand.world.knobs.rotating = False
    told = hand.signed_in()
    assert "refresh_token" not in hand.refresh(told["refresh_token"]).json()
    hand.world.knobs.refresh_status = 503
    assert hand.refresh(told["refresh_token"]).status_code == 503
    hand.world.knobs.refresh_status = None
    assert hand.refresh(told["refresh_token"]).status_code == 200
    assert (hand.world.refreshes, hand.world.burnt) == (2, 0)


def test_some_tools_need_more(hand: Hand) -> None:
    refused = hand.call("admin", hand.signed_in()["access_token"])
    assert refused.status_code == 403
    assert 'error="insufficient_scope"' in refused.headers["www-authenticate"]
    assert refused.headers["www-authenticate"].endswith('scope="admin"')
    more = hand.signed_in("use admin")["access_token"]
    assert said(hand.call("admin", more)) == "ada may do this"
    assert hand.world.faults == []


def test_tokens_end_when_revoked_when_told_and_in_time(hand: Hand) -> None:
    told = hand.signed_in()
    hand.world.end_access()
    refused = hand.call("whoami", told["access_token"])
    assert (refused.status_code, hand.world.faults) == (401, [])
    assert 'error="invalid_token"' in refused.headers["www-authenticate"]
    anew = hand.refresh(told["refresh_token"]).json()
    form = {"token": anew["refresh_token"], "client_id": hand.client_id}
    assert hand.http.post(f"{hand.world.grants.base}/revoke", data=form).status_code == 200
    assert hand.world.revoked == [anew["refresh_token"]]
    assert hand.call("whoami", anew["access_token"]).status_code == 401
    hand.world.knobs.expires_in = 0
    assert hand.call("whoami", hand.signed_in()["access_token"]).status_code == 401


def test_a_person_signs_in_on_a_page_or_says_no(hand: Hand) -> None:
    hand.world.knobs.consent = "page"
    for do in ("allow", "deny"):
        page = hand.http.get(hand.authorize_url("use"), follow_redirects=True)
        assert "Allow" in page.text
        told = callback(hand.http.post(str(page.url), data={"login": "eve", "do": do}))
        if do == "allow":
            assert said(hand.call("whoami", hand.redeem(told["code"]).json()["access_token"])) == "eve"
        else:
            assert told["error"] == "access_denied"
    hand.world.knobs.consent = "deny"
    assert hand.authorize()["error"] == "access_denied"
    assert hand.world.faults == []


def test_a_secret_is_asked_for_in_either_way_and_never_missing(hand: Hand) -> None:
    secret = hand.world.knobs.secret = Knobs().secret
    assert secret is not None
    code = {"grant_type": "authorization_code", "redirect_uri": BACK, "code_verifier": VERIFIER}
    assert hand.token(code=hand.authorize()["code"], client_secret=secret, **code).status_code == 200
    assert hand.world.faults == []
    assert hand.token(code=hand.authorize()["code"], **code).status_code == 401
    hand.basic = httpx2.BasicAuth(quote_plus(hand.client_id), quote_plus(secret))
    assert hand.token(code=hand.authorize()["code"], **code).status_code == 200
    assert hand.world.faults == ["token: invalid_client: the secret is wrong"]


@pytest.mark.parametrize(
    "changed, fault",
    [
        ({"resource": "http://127.0.0.1:9/mcp"}, "token: invalid_target: resource is 'http://127.0.0.1:9/mcp'"),
        ({"code_verifier": "w" * 50}, "token: invalid_grant: incorrect code_verifier"),
        ({"code_verifier": "short"}, "token: invalid_request: this is no code_verifier"),
        (
            {"redirect_uri": BACK + "x"},
            "token: invalid_request: redirect_uri did not match the one used when creating auth code",
        ),
    ],
)
def test_what_a_client_does_wrong_is_noted(hand: Hand, changed: dict[str, str], fault: str) -> None:
    code = {"grant_type": "authorization_code", "redirect_uri": BACK, "code_verifier": VERIFIER}
    assert hand.token(**code | {"code": hand.authorize()["code"]} | changed).status_code == 400
    assert hand.world.faults == [fault]


def test_it_misbehaves_where_told(hand: Hand) -> None:
    knobs = hand.world.knobs
    knobs.callback = {"state": "another"}
    knobs.iss = "missing"
    assert hand.authorize().keys() == {"code", "state"}
    knobs.token = {"token_type": "mac", "access_token": "a\r\nb"}
    assert hand.signed_in()["access_token"] == "a\r\nb"
    knobs.metadata = {"code_challenge_methods_supported": None, "authorization_endpoint": "javascript:alert(1)"}
    knobs.issuer_path, knobs.metadata_at = "/tenant", "openid appended"
    told = hand.http.get(f"{hand.world.issuer}/.well-known/openid-configuration").json()
    assert told["authorization_endpoint"] == "javascript:alert(1)"
    assert "code_challenge_methods_supported" not in told
    knobs.prm_at, knobs.prm_answered, knobs.prm_named = "root", "redirect", False
    place = hand.world.url.replace("/mcp", "/.well-known/oauth-protected-resource")
    assert hand.http.get(place).headers["location"] == "/moved/.well-known/oauth-protected-resource"
    assert hand.http.get(f"{place}/mcp").status_code == 404
    assert hand.call("whoami", None).headers["www-authenticate"] == 'Bearer scope="use"'


def test_a_client_may_be_its_metadata_document(hand: Hand) -> None:
    hand.client_id = "https://app.example/oauth/client-metadata.json"
    assert hand.http.get(hand.authorize_url("use")).status_code == 400
    hand.world.faults.clear()
    hand.world.knobs.cimd = True
    assert said(hand.call("whoami", hand.signed_in()["access_token"])) == "ada"
    hand.world.knobs.cimd_document = hand.world.url.replace("/mcp", "/nothing")
    assert hand.http.get(hand.authorize_url("use")).status_code == 400
    assert hand.world.faults[0] == "client metadata document: 404"
