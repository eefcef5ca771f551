"""The page to which book_trip sends people, where they pay a make-believe deposit."""

from html import escape

from mcp.server.mcpserver import MCPServer
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from mrtr_web.demo.pages import HEADERS, page
from mrtr_web.demo.store import Store

_DUE = """<dl>
<dt>For</dt><dd>Your trip to {purpose}</dd>
<dt>Amount</dt><dd>{amount} euro</dd>
</dl>
<form method="post"><button type="submit">Pay the deposit (demo)</button></form>
"""

_DONE = """<p class="done">Thank you. The deposit of {amount} euro for {purpose} is paid.</p>
<p>You can close this page and go back to where you came from.</p>
"""


class Payments:
    """The pages of what is to be paid."""

    def __init__(self, store: Store) -> None:
        self.store = store

    def add_to(self, server: MCPServer) -> None:
        server.custom_route("/pay/{payment_id}/", methods=["GET", "POST"])(self._page)

    async def _page(self, request: Request) -> Response:
        payment_id = request.path_params["payment_id"]
        payment = self.store.payment(payment_id)
        if payment is None:
            body = "<p>Please go back and ask for a new link.</p>"
            return page("There is nothing to pay here", body, status=404)
        if request.method == "POST":
            self.store.pay(payment_id)
            return RedirectResponse(request.url.path, status_code=303, headers=HEADERS)
        title, body = ("The deposit is paid", _DONE) if payment.paid else ("Pay the deposit", _DUE)
        return page(title, body.format(amount=payment.amount, purpose=escape(payment.purpose)))
