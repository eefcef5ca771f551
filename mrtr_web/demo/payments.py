"""The page to which book_trip sends people, where they pay a make-believe deposit."""

import secrets
from dataclasses import dataclass
from html import escape
from importlib.resources import files

from mcp.server.mcpserver import Context, MCPServer
from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response

MOST = 10_000
"""So many payments are remembered; the oldest is forgotten first."""

_HEADERS = {
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
<link rel="stylesheet" href="/pay/style.css">
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

_DUE = """<dl>
<dt>For</dt><dd>Your trip to {purpose}</dd>
<dt>Amount</dt><dd>{amount} euro</dd>
</dl>
<form method="post"><button type="submit">Pay the deposit (demo)</button></form>
"""

_DONE = """<p class="done">Thank you. The deposit of {amount} euro for {purpose} is paid.</p>
<p>You can close this page and go back to where you came from.</p>
"""


@dataclass(slots=True)
class Payment:
    amount: int
    purpose: str
    paid: bool = False


class Payments:
    """What is to be paid, in memory, under ids that cannot be guessed."""

    def __init__(self, pages_host: str) -> None:
        self.pages_host = pages_host
        self._payments: dict[str, Payment] = {}

    def open(self, amount: int, purpose: str) -> str:
        if len(self._payments) >= MOST:
            del self._payments[next(iter(self._payments))]
        payment_id = secrets.token_urlsafe(24)
        self._payments[payment_id] = Payment(amount, purpose)
        return payment_id

    def knows(self, payment_id: str) -> bool:
        return payment_id in self._payments

    def paid(self, payment_id: str) -> bool:
        return self.knows(payment_id) and self._payments[payment_id].paid

    def url(self, ctx: Context, payment_id: str) -> str:
        """The page's address, on the port that the request came to."""
        request = ctx.request_context.request
        assert request is not None
        port = request.scope["server"][1]
        return f"http://{self.pages_host}:{port}/pay/{payment_id}/"

    def add_to(self, server: MCPServer) -> None:
        server.custom_route("/pay/style.css", methods=["GET"])(self._style)
        server.custom_route("/pay/{payment_id}/", methods=["GET", "POST"])(self._page)

    async def _style(self, request: Request) -> Response:
        css = files("mrtr_web.demo").joinpath("pay.css").read_bytes()
        return Response(css, media_type="text/css", headers=_HEADERS | {"Cache-Control": "max-age=3600"})

    async def _page(self, request: Request) -> Response:
        payment = self._payments.get(request.path_params["payment_id"])
        if payment is None:
            body = "<p>Please go back and ask for a new link.</p>"
            return _page("There is nothing to pay here", body, status=404)
        if request.method == "POST":
            payment.paid = True
            return RedirectResponse(request.url.path, status_code=303, headers=_HEADERS)
        title, body = ("The deposit is paid", _DONE) if payment.paid else ("Pay the deposit", _DUE)
        return _page(title, body.format(amount=payment.amount, purpose=escape(payment.purpose)))


def _page(title: str, body: str, status: int = 200) -> HTMLResponse:
    return HTMLResponse(_PAGE.format(title=title, body=body), status, headers=_HEADERS)
