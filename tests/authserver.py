"""A real authorization server for tests, with a protected MCP server beside it: `with authorized() as world:`.

Its endpoints are those of the SDK. Ours are the metadata, the page, what an SDK does not check, and how it misbehaves.
"""

import asyncio
import base64
import contextlib
import hmac
import html
import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any
from urllib.parse import parse_qs, unquote_plus, urlsplit

from mcp.server.auth.handlers.authorize import AuthorizationHandler
from mcp.server.auth.handlers.register import RegistrationHandler
from mcp.server.auth.handlers.revoke import RevocationHandler
from mcp.server.auth.handlers.token import TokenHandler
from mcp.server.auth.middleware.client_auth import AuthenticationError, ClientAuthenticator
from mcp.server.auth.settings import ClientRegistrationOptions
from mcp.shared.auth import OAuthClientInformationFull
from starlette.applications import Starlette
from starlette.datastructures import FormData
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, RedirectResponse, Response
from starlette.routing import Route

from tests.grants import Grants, Knobs, over
from tests.protected import MOVED, Door, document
from tests.servers import Recorder, serve

NO_STORE = {"Cache-Control": "no-store"}
PAGE = """<!doctype html><html lang="en"><meta charset="utf-8"><title>Sign in</title>
<h1>Sign in</h1><p>{client} asks for: {scopes}</p>
<form method="post"><label for="login">Login</label> <input id="login" name="login" value="{login}">
<button name="do" value="allow">Allow</button> <button name="do" value="deny">Deny</button></form></html>"""


class Authenticator(ClientAuthenticator):
    """By whichever method the client is registered for; unlike the SDK's, a client may name itself in Basic alone."""

    def __init__(self, grants: Grants) -> None:
        super().__init__(grants)
        self.grants = grants

    async def authenticate_request(self, request: Request) -> OAuthClientInformationFull:
        form = await request.form()
        method, client_id, secret = _shown(request, form)
        client = await self.grants.get_client(client_id)
        if client is None:
            raise AuthenticationError("this client is unknown")
        if method not in self.grants.knobs.auth_methods:
            raise AuthenticationError(f"{method} is not supported")
        if method != (client.token_endpoint_auth_method or method):
            raise AuthenticationError(f"{method} is not what the client is registered for")
        if not hmac.compare_digest((client.client_secret or "").encode(), secret.encode()):
            raise AuthenticationError("the secret is wrong")
        # What the SDK's handlers read of the form next is all there, though the client need not send it.
        request._form = FormData({"client_secret": "", **form, "client_id": client_id})
        return client


def _shown(request: Request, form: FormData) -> tuple[str, str, str]:
    """The method, the client and the secret that a request shows."""
    named = str(form.get("client_id", ""))
    scheme, _, rest = request.headers.get("authorization", "").partition(" ")
    if not scheme:
        method = "client_secret_post" if "client_secret" in form else "none"
        return method, named, str(form.get("client_secret", ""))
    try:
        client_id, secret = map(unquote_plus, base64.b64decode(rest, validate=True).decode().split(":"))
    except ValueError:
        raise AuthenticationError("credentials that cannot be read") from None
    if scheme != "Basic" or "client_secret" in form or named not in ("", client_id):
        raise AuthenticationError("credentials in more ways than one")
    return "client_secret_basic", client_id, secret


class AuthorizationServer:
    def __init__(self, grants: Grants) -> None:
        self.grants = grants
        self.knobs = grants.knobs
        self.authenticator = Authenticator(grants)

    def app(self) -> Starlette:
        posts = {"/token": self.token, "/register": self.register, "/revoke": self.revoke}
        return Starlette(
            routes=[
                Route("/authorize", self.authorize, methods=["GET", "POST"]),
                Route("/consent", self.page, methods=["GET"]),
                Route("/consent", self.answer, methods=["POST"]),
                *(Route(path, endpoint, methods=["POST"]) for path, endpoint in posts.items()),
                Route("/{path:path}", self.metadata, methods=["GET"]),
            ]
        )

    async def metadata(self, request: Request) -> Response:
        tenant = self.knobs.issuer_path
        places = {
            "oauth": f"/.well-known/oauth-authorization-server{tenant}",
            "openid": f"/.well-known/openid-configuration{tenant}",
            "openid appended": f"{tenant}/.well-known/openid-configuration",
        }
        if request.url.path.removeprefix(MOVED) != places[self.knobs.metadata_at]:
            return JSONResponse({"error": "not found"}, 404)
        return document(self.knobs.metadata_answered, over(self._metadata(), self.knobs.metadata), request.url.path)

    def _metadata(self) -> dict[str, Any]:
        base, knobs = self.grants.base, self.knobs
        return {
            "issuer": self.grants.issuer,
            "authorization_endpoint": f"{base}/authorize",
            "token_endpoint": f"{base}/token",
            "registration_endpoint": None if knobs.registration == "absent" else f"{base}/register",
            "revocation_endpoint": None if knobs.revocation == "absent" else f"{base}/revoke",
            "revocation_endpoint_auth_methods_supported": knobs.auth_methods,
            "scopes_supported": knobs.scopes,
            "response_types_supported": ["code"],
            "grant_types_supported": ["authorization_code", "refresh_token"],
            "token_endpoint_auth_methods_supported": knobs.auth_methods,
            "code_challenge_methods_supported": ["S256"],
            "client_id_metadata_document_supported": knobs.cimd or None,
            "authorization_response_iss_parameter_supported": knobs.iss_advertised or None,
        }

    async def authorize(self, request: Request) -> Response:
        if request.query_params.get("code_challenge_method") != "S256":
            self.grants.faults.append("authorize: code_challenge_method is not S256")
        answer = await AuthorizationHandler(self.grants).handle(request)
        if answer.status_code >= 400:
            return self._noted("authorize", answer)
        told = parse_qs(urlsplit(answer.headers["location"]).query)
        if "error" in told and told["error"] != ["access_denied"]:
            self.grants.faults.append(f"authorize: {told['error'][0]}: {told.get('error_description', [''])[0]}")
        return answer

    async def page(self, request: Request) -> Response:
        asking = self.grants.asking.get(request.query_params.get("ask", ""))
        if asking is None:
            return HTMLResponse("<h1>Nothing is asked here</h1>", 404)
        client_id, params = asking
        told = {"client": client_id, "scopes": " ".join(params.scopes or []), "login": self.knobs.login}
        return HTMLResponse(PAGE.format_map({name: html.escape(text) for name, text in told.items()}))

    async def answer(self, request: Request) -> Response:
        asking = self.grants.asking.pop(request.query_params.get("ask", ""), None)
        form = await request.form()
        if asking is None:
            return HTMLResponse("<h1>Nothing is asked here</h1>", 404)
        client_id, params = asking
        allows = form.get("do") == "allow"
        url = self.grants.allowed(client_id, params, str(form["login"])) if allows else self.grants.denied(params)
        return RedirectResponse(url, 303, NO_STORE)

    async def token(self, request: Request) -> Response:
        form = await request.form()
        refreshing = form.get("grant_type") == "refresh_token"
        if refreshing and self.knobs.refresh_delay:
            await asyncio.sleep(self.knobs.refresh_delay)
        if refreshing and self.knobs.refresh_status:
            return JSONResponse({"error": "temporarily_unavailable"}, self.knobs.refresh_status)
        wrong = self._wrong(request, form)
        if wrong:
            return self._noted("token", JSONResponse({"error": wrong[0], "error_description": wrong[1]}, 400))
        answer = await TokenHandler(self.grants, self.authenticator).handle(request)
        body = json.loads(bytes(answer.body))
        if answer.status_code >= 400:
            return answer if refreshing and body["error"] == "invalid_grant" else self._noted("token", answer)
        return document(self.knobs.token_answered, over(body, self.knobs.token), "/token", NO_STORE)

    def _wrong(self, request: Request, form: FormData) -> tuple[str, str] | None:
        """What the SDK does not check."""
        if form.get("resource") != self.grants.resource:
            return "invalid_target", f"resource is {form.get('resource')!r}"
        if request.headers.get("content-type", "").partition(";")[0] != "application/x-www-form-urlencoded":
            return "invalid_request", "the body is no form"
        if len(form) != len(form.multi_items()):
            return "invalid_request", "something is said twice"
        verifier = form.get("code_verifier")
        if isinstance(verifier, str) and not re.fullmatch(r"[A-Za-z0-9._~-]{43,128}", verifier):
            return "invalid_request", "this is no code_verifier"
        return None

    async def register(self, request: Request) -> Response:
        if self.knobs.registration == "absent":
            return JSONResponse({"error": "not found"}, 404)
        if self.knobs.registration == "refusing":
            return JSONResponse({"error": "invalid_client_metadata", "error_description": "Not <b>you</b>"}, 400)
        options = ClientRegistrationOptions(enabled=True)
        answer = await RegistrationHandler(self.grants, options).handle(request)
        if answer.status_code >= 400:
            return self._noted("register", answer)
        return JSONResponse(over(json.loads(bytes(answer.body)), self.knobs.client), 201, NO_STORE)

    async def revoke(self, request: Request) -> Response:
        if self.knobs.revocation == "absent":
            return JSONResponse({"error": "not found"}, 404)
        self.grants.revoked.append(str((await request.form()).get("token")))
        if self.knobs.revocation == "refusing":
            return JSONResponse({"error": "temporarily_unavailable"}, 503)
        answer = await RevocationHandler(self.grants, self.authenticator).handle(request)
        return self._noted("revoke", answer) if answer.status_code >= 400 else answer

    def _noted(self, where: str, answer: Response) -> Response:
        body = json.loads(bytes(answer.body))
        self.grants.faults.append(f"{where}: {body.get('error')}: {body.get('error_description')}")
        return answer


@dataclass
class World:
    """Both servers as they run, on origins of their own, and what each was sent."""

    grants: Grants
    auth: Recorder
    mcp: Recorder

    @property
    def knobs(self) -> Knobs:
        return self.grants.knobs

    @property
    def url(self) -> str:
        """The MCP endpoint, which is also the resource that tokens are for."""
        return self.grants.resource

    @property
    def issuer(self) -> str:
        return self.grants.issuer

    @property
    def faults(self) -> list[str]:
        """What the client did wrong; empty at the end of most tests."""
        return self.grants.faults

    @property
    def burnt(self) -> int:
        """How many sign-ins were ended since a refresh token was used twice."""
        return self.grants.burnt

    @property
    def refreshes(self) -> int:
        return self.grants.refreshes

    @property
    def revoked(self) -> list[str]:
        """The tokens that the client asked to revoke."""
        return self.grants.revoked

    def end_access(self) -> None:
        """From now on no access token is good, though none has expired; refresh tokens still are."""
        self.grants.accesses.clear()

    def end_all(self) -> None:
        """From now on no token of either kind is good."""
        self.end_access()
        self.grants.refresh.clear()

    def forget_clients(self) -> None:
        """From now on nobody is registered who registered by themselves."""
        self.grants.clients.clear()


@contextlib.contextmanager
def authorized(**knobs: Any) -> Iterator[World]:
    """Run both servers. The issuer goes by the name localhost: an app on 127.0.0.1 shares no cookies with it."""
    grants = Grants(Knobs(**knobs))
    world = World(grants, Recorder(AuthorizationServer(grants).app()), Recorder(Door(grants)))
    with serve(world.auth) as auth, serve(world.mcp, lifespan="on") as mcp:
        grants.base = auth.replace("127.0.0.1", "localhost")
        grants.resource = f"{mcp}/mcp"
        yield world
