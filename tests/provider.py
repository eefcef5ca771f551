"""An OpenID Connect provider for tests, over real HTTP: Authlib's server, strict on PKCE, client secret and redirects.

What it may be made to do wrong is in Knobs.
"""

import contextlib
import html
import json
import os
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from authlib.oauth2.rfc6749 import AuthorizationServer, ClientMixin, OAuth2Error, OAuth2Request
from authlib.oauth2.rfc6749.grants import AuthorizationCodeGrant
from authlib.oauth2.rfc6749.requests import BasicOAuth2Payload
from authlib.oauth2.rfc6750 import BearerTokenGenerator
from authlib.oauth2.rfc7636 import CodeChallenge
from authlib.oidc.core import OpenIDCode
from joserfc import jwt
from joserfc.jwk import KeySet, OctKey, RSAKey
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, Response
from starlette.routing import Route

from tests.servers import Recorder, serve

os.environ["AUTHLIB_INSECURE_TRANSPORT"] = "true"  # it is on loopback
CLIENT, SECRET = "mrtr-tests", "a-secret-of-the-client"
PAGE = """<!doctype html><html lang="en"><meta charset="utf-8"><title>Company sign-in</title>
<h1>Company sign-in</h1><form method="post"><label for="who">Who</label> <input id="who" name="who">
<button name="do" value="allow">Allow</button> <button name="do" value="deny">Deny</button></form></html>"""
KEY = RSAKey.generate_key(2048, {"kid": "now", "use": "sig"}, auto_kid=False)
OTHER = RSAKey.generate_key(2048, {"kid": "now", "use": "sig"}, auto_kid=False)


@dataclass
class Knobs:
    """How it misbehaves. `forge` gets claims and the header of an ID token, and makes the token."""

    people: dict[str, dict[str, Any]] = field(default_factory=dict)
    metadata: dict[str, Any] = field(default_factory=dict)
    claims: dict[str, Any] = field(default_factory=dict)
    """What an ID token says instead; None: it does not say that."""
    userinfo: dict[str, Any] = field(default_factory=dict)
    forge: Callable[[dict[str, Any]], str] | None = None
    answer: Response | None = None
    """Of the token endpoint."""


class _Client(ClientMixin):  # type: ignore[misc]  # it has no types
    def __init__(self, redirects: set[str]) -> None:
        self.redirects = redirects

    def get_client_id(self) -> str:
        return CLIENT

    def get_default_redirect_uri(self) -> None:
        return None

    def get_allowed_scope(self, scope: str) -> str:
        return scope

    def check_redirect_uri(self, redirect_uri: str) -> bool:
        return redirect_uri in self.redirects

    def check_client_secret(self, client_secret: str) -> bool:
        return client_secret == SECRET

    def check_endpoint_auth_method(self, method: str, endpoint: str) -> bool:
        return method in ("client_secret_basic", "client_secret_post")

    def check_response_type(self, response_type: str) -> bool:
        return response_type == "code"

    def check_grant_type(self, grant_type: str) -> bool:
        return grant_type == "authorization_code"


@dataclass
class _Code:
    code: str
    person: str
    redirect: str
    scope: str
    nonce: str
    code_challenge: str
    code_challenge_method: str

    def get_redirect_uri(self) -> str:
        return self.redirect

    def get_scope(self) -> str:
        return self.scope

    def get_nonce(self) -> str:
        return self.nonce

    def get_auth_time(self) -> int:
        return int(time.time())

    def get_acr(self) -> None:
        return None

    def get_amr(self) -> None:
        return None


class _Grant(AuthorizationCodeGrant):  # type: ignore[misc]  # it has no types
    TOKEN_ENDPOINT_AUTH_METHODS = ["client_secret_basic", "client_secret_post"]

    def save_authorization_code(self, code: str, request: OAuth2Request) -> None:
        asked = request.payload.data
        self.server.codes[code] = _Code(
            code,
            request.user,
            asked["redirect_uri"],
            request.scope,
            asked.get("nonce", ""),
            asked["code_challenge"],
            asked["code_challenge_method"],
        )

    def query_authorization_code(self, code: str, client: _Client) -> _Code | None:
        found: _Code | None = self.server.codes.get(code)
        return found

    def delete_authorization_code(self, authorization_code: _Code) -> None:
        del self.server.codes[authorization_code.code]

    def authenticate_user(self, authorization_code: _Code) -> str:
        return authorization_code.person


class _Identity(OpenIDCode):  # type: ignore[misc]  # it has no types
    def __init__(self, provider: "Provider") -> None:
        super().__init__(require_nonce=True)
        self.provider = provider

    def exists_nonce(self, nonce: str, request: OAuth2Request) -> bool:
        return any(code.nonce == nonce for code in self.provider.codes.values())

    def resolve_client_private_key(self, client: _Client) -> RSAKey:
        return KEY

    def get_client_claims(self, client: _Client) -> dict[str, Any]:
        return {"iss": self.provider.issuer}

    def generate_user_info(self, user: str, scope: str) -> dict[str, Any]:
        return self.provider.claims_of(user)

    def encode_id_token(self, token: dict[str, Any], request: OAuth2Request) -> str:
        made: str = super().encode_id_token(token, request)
        knobs = self.provider.knobs
        if not knobs.claims and knobs.forge is None:
            return made
        claims = {**jwt.decode(made, KEY).claims, **knobs.claims}
        claims = {name: value for name, value in claims.items() if value is not None}
        return (knobs.forge or signed_by(KEY))(claims)


def signed_by(key: RSAKey | OctKey, **header: Any) -> Callable[[dict[str, Any]], str]:
    """ID tokens in this key's hand."""
    head = {"alg": "RS256", "kid": "now", **header}
    return lambda claims: jwt.encode(head, claims, key, [head["alg"]])


class Provider(AuthorizationServer):  # type: ignore[misc]  # it has no types
    """`knobs.people`: claims by what people type on its page, which is their subject. `codes` are unused ones."""

    def __init__(self, knobs: Knobs) -> None:
        super().__init__()
        self.knobs, self.issuer = knobs, ""
        self.codes: dict[str, _Code] = {}
        self.tokens: dict[str, str] = {}
        self.client = _Client(set())
        self.register_token_generator("default", BearerTokenGenerator(lambda **_: os.urandom(20).hex()))
        self.register_grant(_Grant, [CodeChallenge(), _Identity(self)])

    def claims_of(self, person: str) -> dict[str, Any]:
        return {"sub": person, **self.knobs.people.get(person, {})}

    def query_client(self, client_id: str) -> _Client | None:
        return self.client if client_id == CLIENT else None

    def save_token(self, token: dict[str, Any], request: OAuth2Request) -> None:
        self.tokens[token["access_token"]] = request.user

    def create_oauth2_request(self, request: "OAuth2Request | _Asked") -> OAuth2Request:
        return request

    def send_signal(self, name: str, *args: Any, **kwargs: Any) -> None:
        pass

    def handle_response(self, status: int, body: Any, headers: list[tuple[str, str]]) -> Response:
        content = json.dumps(body) if isinstance(body, dict) else body
        return Response(content, status, dict(headers))


class _Asked(OAuth2Request):  # type: ignore[misc]  # it has no types
    def __init__(self, request: Request, form: dict[str, str]) -> None:
        super().__init__(request.method, str(request.url), headers=dict(request.headers.items()))
        self.headers = {name.title(): value for name, value in request.headers.items()}
        self.payload = BasicOAuth2Payload({**request.query_params, **form})
        self._args, self._form = dict(request.query_params), form

    @property
    def args(self) -> dict[str, str]:
        return self._args

    @property
    def form(self) -> dict[str, str]:
        return self._form


async def _asked(request: Request) -> _Asked:
    form = await request.form()
    return _Asked(request, {name: str(value) for name, value in form.items()})


class World:
    """The provider as it runs. `recorder.posts` is all that it was asked."""

    def __init__(self, server: Provider) -> None:
        self.server, self.knobs = server, server.knobs
        routes = [
            Route("/.well-known/openid-configuration", self._metadata),
            Route("/keys", self._keys),
            Route("/authorize", self._authorize, methods=["GET", "POST"]),
            Route("/token", self._token, methods=["POST"]),
            Route("/userinfo", self._userinfo),
        ]
        self.recorder = Recorder(Starlette(routes=routes))

    @property
    def issuer(self) -> str:
        return self.server.issuer

    def know(self, callback: str, **people: dict[str, Any]) -> None:
        self.server.client.redirects.add(callback)
        self.knobs.people.update(people)

    async def _metadata(self, request: Request) -> Response:
        at = self.issuer
        document = {
            "issuer": at,
            "authorization_endpoint": f"{at}/authorize",
            "token_endpoint": f"{at}/token",
            "userinfo_endpoint": f"{at}/userinfo",
            "jwks_uri": f"{at}/keys",
            "response_types_supported": ["code"],
            "subject_types_supported": ["public"],
            "id_token_signing_alg_values_supported": ["RS256"],
            "scopes_supported": ["openid", "profile", "email", "groups"],
            "token_endpoint_auth_methods_supported": ["client_secret_basic", "client_secret_post"],
            "code_challenge_methods_supported": ["S256"],
        }
        return JSONResponse(document | self.knobs.metadata)

    async def _keys(self, request: Request) -> Response:
        return JSONResponse(KeySet([KEY]).as_dict(private=False))

    async def _authorize(self, request: Request) -> Response:
        asked = await _asked(request)
        who = asked.form.get("who") if asked.form.get("do") == "allow" else None
        try:
            grant = self.server.get_consent_grant(asked, end_user=who)
        except OAuth2Error as error:
            return HTMLResponse(html.escape(str(error)), 400)
        if request.method == "GET":
            return HTMLResponse(PAGE)
        response: Response = self.server.create_authorization_response(asked, who, grant)
        return response

    async def _token(self, request: Request) -> Response:
        response: Response = self.knobs.answer or self.server.create_token_response(await _asked(request))
        return response

    async def _userinfo(self, request: Request) -> Response:
        person = self.server.tokens.get(request.headers.get("authorization", "").removeprefix("Bearer "))
        if person is None:
            return JSONResponse({"error": "invalid_token"}, 401)
        return JSONResponse(self.server.claims_of(person) | self.knobs.userinfo)


@contextlib.contextmanager
def provider(certificate: Path | None = None) -> Iterator[World]:
    """By the name of localhost: an app at 127.0.0.1 is another site. With a certificate, and its key, over https."""
    world = World(Provider(Knobs()))
    with serve(world.recorder, ssl_certfile=certificate) as base:
        world.server.issuer = base.replace("127.0.0.1", "localhost").replace("http", "https" if certificate else "http")
        yield world
