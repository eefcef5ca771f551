"""The pages of the demo server's own: how they look, what they may do, and where they are."""

from importlib.resources import files

from mcp.server.mcpserver import Context, MCPServer
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response

HEADERS = {
    "Content-Security-Policy": "default-src 'none'; style-src 'self'; form-action 'self'; "
    "base-uri 'none'; frame-ancestors 'none'",
    "Cache-Control": "no-store",
    "Referrer-Policy": "same-origin",
    "X-Content-Type-Options": "nosniff",
}

_PAGE = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{title} - Demo travel desk</title>
<link rel="stylesheet" href="/style.css">
</head>
<body>
<header><p>Demo travel desk</p></header>
<main>
<h1>{title}</h1>
{body}
</main>
<footer><p>This is a demonstration. No money is moved.</p></footer>
</body>
</html>
"""


def add_to(server: MCPServer) -> None:
    server.custom_route("/style.css", methods=["GET"])(_style)
    server.custom_route("/walk/map/", methods=["GET"])(_map)


def address(ctx: Context, host: str, path: str) -> str:
    """Where a page is, on the port that the request came to."""
    request = ctx.request_context.request
    assert request is not None
    return f"http://{host}:{request.scope['server'][1]}{path}"


async def _style(request: Request) -> Response:
    css = files("mrtr_web.demo").joinpath("pages.css").read_bytes()
    return Response(css, media_type="text/css", headers=HEADERS | {"Cache-Control": "max-age=3600"})


async def _map(request: Request) -> Response:
    return page("The old town", "<p>From the gate to the market, over the bridge, and back along the river.</p>")


def page(title: str, body: str, status: int = 200) -> HTMLResponse:
    """A page of ours with this body, which is HTML."""
    return HTMLResponse(_PAGE.format(title=title, body=body), status, headers=HEADERS)
