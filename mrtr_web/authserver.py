"""Talks to authorization servers as an OAuth 2.1 client: finds, registers, exchanges, renews, revokes (AZ-1 to AZ-12).

Everything goes out through the guarded client, under the same rules as to the MCP server itself. What is read is
hostile: names are compared letter by letter, and nothing of it gets into an exception.
"""

import asyncio
import base64
import hashlib
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar
from urllib.parse import parse_qsl, quote, urlencode, urlsplit, urlunsplit

import httpx2
from django.conf import settings
from mcp.client.auth.utils import (
    build_oauth_authorization_server_metadata_discovery_urls,
    build_protected_resource_metadata_discovery_urls,
    get_client_metadata_scopes,
)
from mcp.shared.auth import OAuthClientInformationFull, OAuthMetadata, OAuthToken, ProtectedResourceMetadata
from mcp.shared.auth_utils import check_resource_allowed, resource_url_from_server_url
from pydantic import BaseModel, ValidationError, field_validator
from pydantic_core import from_json

from mrtr_web import egress, headerlines
from mrtr_web.access import MAX_SCOPE, Challenge, Client, Leaving, Tokens

MAX_BYTES = 256 * 1024
SECONDS = 10.0
"""For one request; a person waits for it."""
FINDING = 15.0
"""And for all of them that it takes to find an authorization server."""
METHODS = ("client_secret_basic", "client_secret_post", "none")
"""Ways in which we say who we are, the best first."""
GRANTS = ["authorization_code", "refresh_token"]
UNKNOWN_CLIENT = frozenset({"invalid_client", "unauthorized_client"})
REFUSALS = UNKNOWN_CLIENT | {"invalid_grant", "access_denied"}
CODES = {
    **{"blocked": "insecure", "too_big": "odd", "encoding": "odd", "tls": "tls"},
    **dict.fromkeys(("proxy", "proxy_login", "proxy_refused"), "proxy"),
}
"""Of what goes wrong on the way; all else may be better in a few minutes."""
Model = TypeVar("Model", bound=BaseModel)


class Trouble(Exception):
    """Something is wrong with, or on the way to, an authorization server. `code`: one of ours.

    `error` is the word of OAuth for a refusal of a token endpoint.

    unreachable tls proxy no_metadata wrong_resource misnamed no_pkce insecure unregistered refused odd
    """

    def __init__(self, code: str, error: str = "") -> None:
        super().__init__(code)
        self.code, self.error = code, error


class _Token(OAuthToken):
    @field_validator("expires_in", mode="before")
    @classmethod
    def whole(cls, value: object) -> object:
        """Some write a lifetime with a fraction."""
        return int(value) if isinstance(value, float) and math.isfinite(value) else value


@dataclass(frozen=True, slots=True)
class Found:
    """An authorization server, and what a token from it is to be for."""

    issuer: str
    resource: str
    metadata: OAuthMetadata
    protected: ProtectedResourceMetadata

    def scope(self, challenge: Challenge) -> str | None:
        """What to ask for: what the challenge says, else all that there is; with offline_access where it is offered."""
        return get_client_metadata_scopes(challenge.scope, self.protected, self.metadata, GRANTS)


async def find(url: str, challenge: Challenge, private: Sequence[str]) -> Found:
    """The authorization server of the MCP server at `url`. Raises Trouble."""
    try:
        async with asyncio.timeout(FINDING), _client(private) as http:
            document, protected = await _protected(http, url, challenge.metadata)
            issuer = str(document["authorization_servers"][0])
            metadata = await _metadata(http, url, issuer)
    except TimeoutError:
        raise Trouble("unreachable") from None
    if "S256" not in (metadata.code_challenge_methods_supported or ()):
        raise Trouble("no_pkce")
    return Found(issuer, str(document["resource"]), metadata, protected)


async def register(found: Found, redirects: Sequence[str], private: Sequence[str]) -> Client:
    """Have us registered (RFC 7591). Raises Trouble, `unregistered` where that is not possible."""
    if found.metadata.registration_endpoint is None:
        raise Trouble("unregistered")
    method = method_for(found)
    wanted = {
        "client_name": settings.CONFIG.site_name,
        "redirect_uris": list(redirects),
        "grant_types": GRANTS,
        "response_types": ["code"],
        "token_endpoint_auth_method": method,
        "application_type": "web",
    }
    async with _client(private) as http:
        answer = await _send(http, "POST", str(found.metadata.registration_endpoint), json=wanted)
    if answer.status_code not in (200, 201):
        raise Trouble("unregistered")
    given = _parsed(OAuthClientInformationFull, answer)
    if given is None or (given.token_endpoint_auth_method or method) not in METHODS:
        raise Trouble("unregistered")
    secret = given.client_secret or ""
    method = (given.token_endpoint_auth_method or method) if secret else "none"
    until = given.client_secret_expires_at or 0
    return Client(client_id=given.client_id, secret=secret, method=method, redirects=tuple(redirects), until=until)


def method_for(found: Found, has_secret: bool = True) -> str:
    """How we say who we are there: RFC 8414 makes client_secret_basic the rule where nothing is said."""
    offered = found.metadata.token_endpoint_auth_methods_supported or METHODS[:1]
    usable = METHODS if has_secret else METHODS[2:]
    return next((method for method in usable if method in offered), usable[0])


def address(leaving: Leaving, state: str) -> str:
    """Where the person goes to sign in."""
    endpoint = urlsplit(leaving.authorization_endpoint)
    challenge = hashlib.sha256(leaving.verifier.encode()).digest()
    asked = {
        "response_type": "code",
        "client_id": leaving.client.client_id,
        "redirect_uri": leaving.redirect,
        "state": state,
        "code_challenge": base64.urlsafe_b64encode(challenge).decode().rstrip("="),
        "code_challenge_method": "S256",
        "resource": leaving.resource,
    }
    if leaving.scope:
        asked["scope"] = leaving.scope
    query = [pair for pair in parse_qsl(endpoint.query, keep_blank_values=True) if pair[0] not in asked]
    return urlunsplit(endpoint._replace(query=urlencode([*query, *asked.items()]), fragment=""))


async def exchange(leaving: Leaving, code: str, private: Sequence[str]) -> Tokens:
    """The tokens for a code. Raises Trouble."""
    asked = {
        "grant_type": "authorization_code",
        "code": code,
        "redirect_uri": leaving.redirect,
        "code_verifier": leaving.verifier,
        "resource": leaving.resource,
    }
    token = await _token(leaving.token_endpoint, leaving.client, asked, private)
    return Tokens(
        access=token.access_token,
        refresh=token.refresh_token or "",
        lifetime=token.expires_in or None,  # one that is over at once would be of no use
        scope=_shorter(token.scope) or leaving.scope,
        issuer=leaving.issuer,
        resource=leaving.resource,
        token_endpoint=leaving.token_endpoint,
        revocation_endpoint=leaving.revocation_endpoint,
        client=leaving.client,
    )


async def renew(tokens: Tokens, private: Sequence[str]) -> Tokens:
    """New tokens for the refresh token; what is not given anew stays as it was. Raises Trouble."""
    asked = {"grant_type": "refresh_token", "refresh_token": tokens.refresh, "resource": tokens.resource}
    token = await _token(tokens.token_endpoint, tokens.client, asked, private)
    new = {
        "access": token.access_token,
        "refresh": token.refresh_token or tokens.refresh,
        "lifetime": token.expires_in or None,
        "scope": _shorter(token.scope) or tokens.scope,
    }
    return tokens.model_copy(update=new)


async def revoke(tokens: Tokens, private: Sequence[str]) -> bool:
    """Tell the authorization server that the tokens are not used any more (RFC 7009). Whether it has heard."""
    kept = (("refresh_token", tokens.refresh), ("access_token", tokens.access))
    try:
        async with _client(private) as http:
            for hint, token in kept:
                if token:
                    asked = {"token": token, "token_type_hint": hint}
                    answer = await _post(http, tokens.revocation_endpoint, tokens.client, asked)
    except Trouble:
        return False
    return answer.status_code == 200


def _client(private: Sequence[str]) -> httpx2.AsyncClient:
    policy = egress.Policy(tuple(private), MAX_BYTES, SECONDS)
    return egress.client(policy, {"Accept": "application/json"}, read_timeout=SECONDS)


async def _send(http: httpx2.AsyncClient, method: str, url: str, **options: Any) -> httpx2.Response:
    """One request with a bound on the whole of it. Raises Trouble."""
    try:
        async with asyncio.timeout(SECONDS):
            return await http.request(method, url, **options)
    except egress.EgressError as error:
        raise Trouble(CODES.get(error.code, "unreachable")) from None
    except (httpx2.HTTPError, httpx2.InvalidURL, TimeoutError):
        raise Trouble("unreachable") from None


async def _protected(
    http: httpx2.AsyncClient, url: str, named: str | None
) -> tuple[dict[str, Any], ProtectedResourceMetadata]:
    """What the MCP server says of itself (RFC 9728); it must be about this server."""
    unreachable = False
    for place in _places(build_protected_resource_metadata_discovery_urls, named, url):
        answer = await _send(http, "GET", place)
        unreachable = unreachable or answer.status_code >= 500 or answer.status_code == 429
        document = _parsed(ProtectedResourceMetadata, answer) if answer.status_code == 200 else None
        if document is None:
            continue
        if not _is_about(document, url):
            raise Trouble("wrong_resource")
        return from_json(answer.content), document
    raise Trouble("unreachable" if unreachable else "no_metadata")


def _is_about(document: ProtectedResourceMetadata, url: str) -> bool:
    """Whether it describes the MCP server at `url`, or all of its host or folder, as many do (RFC 9728 section 3.3)."""
    about, server = str(document.resource), resource_url_from_server_url(url)
    parts = urlsplit(about)
    if parts.fragment or parts.query not in ("", urlsplit(server).query):
        return False
    return check_resource_allowed(server, about)


def _places(build: Callable[[str | None, str], list[str]], named: str | None, url: str) -> list[str]:
    """Where to look; nowhere, if what was named is no address."""
    try:
        return build(named, url)
    except ValueError:
        return []


async def _metadata(http: httpx2.AsyncClient, url: str, issuer: str) -> OAuthMetadata:
    """What the authorization server says of itself (RFC 8414); its name must be the one that led there."""
    for place in _places(build_oauth_authorization_server_metadata_discovery_urls, issuer, url):
        answer = await _send(http, "GET", place)
        if answer.status_code >= 500:
            raise Trouble("unreachable")
        metadata = _parsed(OAuthMetadata, answer) if answer.status_code == 200 else None
        if metadata is None:
            continue
        if from_json(answer.content)["issuer"] != issuer:
            raise Trouble("misnamed")
        return metadata
    raise Trouble("no_metadata")


async def _token(endpoint: str, client: Client, asked: Mapping[str, str], private: Sequence[str]) -> _Token:
    async with _client(private) as http:
        answer = await _post(http, endpoint, client, asked)
    if answer.status_code >= 500 or answer.status_code == 429:
        raise Trouble("unreachable")
    if answer.status_code != 200:
        error = _refusal(answer)
        raise Trouble("refused", error) if error else Trouble("odd")
    token = _parsed(_Token, answer)
    if token is None or not _is_usable(token):
        raise Trouble("odd")
    return token


def _refusal(answer: httpx2.Response) -> str:
    """Why the authorization server itself says no (RFC 6749 section 5.2); "" for what is on the way to it."""
    try:
        document = from_json(answer.content)
    except ValueError:
        return ""
    error = document.get("error") if isinstance(document, dict) else None
    return error if isinstance(error, str) and error in REFUSALS else ""


def _is_usable(token: _Token) -> bool:
    try:
        headerlines.read("bearer", token.access_token)
    except headerlines.Malformed:
        return False
    return token.expires_in is None or 0 <= token.expires_in < 2**31


async def _post(http: httpx2.AsyncClient, endpoint: str, client: Client, asked: Mapping[str, str]) -> httpx2.Response:
    """A form, with who we are (RFC 6749 section 2.3.1)."""
    form, headers = dict(asked), dict[str, str]()
    if client.method == "client_secret_basic":
        pair = f"{quote(client.client_id, safe='')}:{quote(client.secret, safe='')}"
        headers["Authorization"] = f"Basic {base64.b64encode(pair.encode()).decode()}"
    else:
        form["client_id"] = client.client_id
    if client.method == "client_secret_post":
        form["client_secret"] = client.secret
    return await _send(http, "POST", endpoint, data=form, headers=headers)


def _parsed(model: type[Model], answer: httpx2.Response) -> Model | None:
    try:
        return model.model_validate_json(answer.content)
    except ValidationError:
        return None


def _shorter(scope: str | None) -> str | None:
    return scope if scope is not None and len(scope) <= MAX_SCOPE else None
