"""An MCP server for tests that wants a token, issued for it by its authorization server, and its metadata."""

from collections.abc import Mapping
from typing import Any
from urllib.parse import urlsplit

from mcp.server.auth.middleware.auth_context import AuthContextMiddleware, get_access_token
from mcp.server.auth.middleware.bearer_auth import AuthenticatedUser
from mcp.server.auth.provider import AccessToken
from mcp.server.mcpserver import Context, MCPServer
from mcp_types import CallToolResult, InputRequiredResult
from starlette.requests import Request
from starlette.responses import JSONResponse, RedirectResponse, Response

from mrtr_web.demo.asking import answer, ask, finished, form
from tests.grants import USE, Answered, Grants, over
from tests.servers import App, Receive, Scope, Send

WELL_KNOWN = "/.well-known/oauth-protected-resource"
OWN = "/about/this-resource.json"
MOVED = "/moved"
HUGE = 8 * 1024 * 1024
GUARDED = ("tools/call", "prompts/get", "resources/read")

TREAT = form(
    "What do you want?", {"treat": {"type": "string", "title": "Treat", "minLength": 1, "maxLength": 40}}, ["treat"]
)


def subject() -> str:
    token = get_access_token()
    return (token and token.subject) or "nobody"


async def whoami() -> CallToolResult:
    """Says whom the token was issued to."""
    return finished(subject(), {"subject": subject()})


async def admin() -> CallToolResult:
    """Needs a scope that nobody has at first."""
    return finished(f"{subject()} may do this")


async def order(ctx: Context) -> CallToolResult | InputRequiredResult:
    """Asks for a treat, and names who gets it."""
    found = answer(ctx, "choice")
    if ctx.request_state is None or found is None:
        return ask("choice", TREAT, f"asked {subject()}")
    if found.action != "accept":
        return finished(f"Nothing for {subject()}")
    return finished(f"{(found.content or {})['treat']} for {subject()}; {ctx.request_state}")


def document(
    how: Answered, content: Mapping[str, Any], path: str, headers: Mapping[str, str] | None = None
) -> Response:
    """A JSON document, told plainly or in a way that nobody should accept. `redirect` leads to a plain one."""
    if how == "redirect" and not path.startswith(MOVED):
        return RedirectResponse(MOVED + path)
    if how in ("garbage", "huge"):
        body = b"\xff{" if how == "garbage" else b'{"filling": "' + b"x" * HUGE + b'"}'
        return Response(body, media_type="application/json", headers=headers)
    if how == "missing":
        return JSONResponse({"error": "not found"}, 404)
    return JSONResponse([dict(content)] if how == "list" else dict(content), headers=headers)


class Door:
    """Lets in who has a token for this server, and says to everybody else how to get one."""

    def __init__(self, grants: Grants) -> None:
        self.grants = grants
        self.knobs = grants.knobs
        server = MCPServer("protected", title="Protected desk", version="1.0", log_level="WARNING")
        server.tool(title="Who am I?", structured_output=False)(whoami)
        server.tool(name="ask", title="Order a treat", structured_output=False)(order)
        server.tool(title="Only for some", structured_output=False)(admin)
        self.app: App = AuthContextMiddleware(server.streamable_http_app(stateless_http=True))

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            return await self.app(scope, receive, send)
        request = Request(scope)
        if request.url.path != "/mcp":
            return await self._metadata(request.url.path)(scope, receive, send)
        token = await self._token(request)
        refusal = self._refusal(request, token)
        if refusal:
            return await refusal(scope, receive, send)
        user = {"user": AuthenticatedUser(token)} if token else {}
        return await self.app({**scope, **user}, receive, send)

    @property
    def place(self) -> str:
        """Where the metadata is."""
        known = {"path": f"{WELL_KNOWN}/mcp", "root": WELL_KNOWN, "own": OWN, "absent": f"{WELL_KNOWN}/mcp"}
        return known[self.knobs.prm_at]

    def _metadata(self, path: str) -> Response:
        if path.removeprefix(MOVED) != self.place or self.knobs.prm_at == "absent":
            return JSONResponse({"error": "not found"}, 404)
        content = {
            "resource": self.grants.resource,
            "authorization_servers": [self.grants.issuer],
            "scopes_supported": self.knobs.scopes,
            "bearer_methods_supported": ["header"],
            "resource_name": "Protected desk",
        }
        return document(self.knobs.prm_answered, over(content, self.knobs.prm), path)

    async def _token(self, request: Request) -> AccessToken | None:
        if "access_token" in request.query_params:
            self.grants.faults.append("mcp: a token in the URL")
        scheme, _, shown = request.headers.get("authorization", "").partition(" ")
        if not scheme:
            return None
        if scheme != "Bearer" or shown not in self.grants.issued:
            self.grants.faults.append("mcp: credentials that were never issued here")
        token = await self.grants.load_access_token(shown)
        return token if token and token.resource == self.grants.resource else None

    def _refusal(self, request: Request, token: AccessToken | None) -> Response | None:
        body = request.scope["mrtr.post"].json
        body = body if isinstance(body, dict) else {}
        if token is None:
            shown = "authorization" in request.headers
            return None if self._is_open(body) and not shown else self._unauthorized(shown)
        params = body.get("params") or {}
        extra = self.knobs.needs.get(params.get("name", "")) if body.get("method") == "tools/call" else None
        missing = [scope for scope in (USE, extra) if scope and scope not in token.scopes]
        return self._forbidden(missing) if missing else None

    def _is_open(self, body: Mapping[str, Any]) -> bool:
        return self.knobs.open_listings and body.get("method") not in GUARDED

    def _unauthorized(self, shown: bool) -> Response:
        told = {"error": "invalid_token"} if shown else {}
        header = self.knobs.challenge or self._challenge(told, self.knobs.challenged_scope)
        return JSONResponse({"error": "invalid_token"}, 401, {"WWW-Authenticate": header})

    def _forbidden(self, missing: list[str]) -> Response:
        header = self._challenge({"error": "insufficient_scope"}, " ".join(missing))
        return JSONResponse({"error": "insufficient_scope"}, 403, {"WWW-Authenticate": header})

    def _challenge(self, told: dict[str, str], scope: str | None) -> str:
        parts = dict(told)
        if self.knobs.prm_named:
            parts["resource_metadata"] = "{0.scheme}://{0.netloc}".format(urlsplit(self.grants.resource)) + self.place
        if scope is not None:
            parts["scope"] = scope
        said = [f'{name}="{value}"' for name, value in parts.items()]
        return f"Bearer {', '.join(said)}".strip()
