"""Two make-believe people whom the demo server knows by bearer token. Without a token a request is nobody's.

Whose request it is binds the state: what was asked of one person can be answered by nobody else.
"""

from typing import Any

from mcp.server.context import ServerRequestContext
from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Receive, Scope, Send

PEOPLE = {"demo-token-of-ada": "ada", "demo-token-of-bob": "bob"}
"""Names by token. Of no use anywhere else."""


def principal(context: ServerRequestContext[Any, Any]) -> str | None:
    """Whose request this is."""
    return _who(context.request) if isinstance(context.request, Request) else None


def _who(request: Request) -> str | None:
    return PEOPLE.get(_token(request))


def _token(request: Request) -> str:
    scheme, _, token = request.headers.get("authorization", "").partition(" ")
    return token.strip() if scheme.lower() == "bearer" else ""


class Door:
    """Refuses tokens that it does not know, before anything is read."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http":
            request = Request(scope)
            if "authorization" in request.headers and _who(request) is None:
                refusal = JSONResponse(
                    {"error": "invalid_token"}, 401, {"WWW-Authenticate": 'Bearer realm="mrtr-demo"'}
                )
                return await refusal(scope, receive, send)
        return await self.app(scope, receive, send)
