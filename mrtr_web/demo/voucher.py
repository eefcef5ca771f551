"""redeem_voucher: a thing that may happen once. A state that verifies says nothing about how often it was sent.

The state names the voucher; that it was used is kept in the store, where the first retry wins.
"""

import secrets

from mcp.server.mcpserver import Context, MCPServer
from mcp_types import CallToolResult, InputRequiredResult

from mrtr_web.demo.asking import answer, ask, finished, fits, form
from mrtr_web.demo.store import Store

CHOICE = form(
    "You have one voucher. What do you want for it? It can be used once.",
    {
        "treat": {
            "type": "string",
            "title": "Treat",
            "oneOf": [
                {"const": "cake", "title": "A piece of cake"},
                {"const": "tea", "title": "A pot of tea"},
                {"const": "postcard", "title": "A postcard with a stamp"},
            ],
        }
    },
    ["treat"],
)


class Vouchers:
    def __init__(self, store: Store) -> None:
        self.store = store

    def add_to(self, server: MCPServer) -> None:
        server.tool(title="Redeem a voucher", structured_output=False)(self.redeem_voucher)

    async def redeem_voucher(self, ctx: Context) -> CallToolResult | InputRequiredResult:
        """Choose a treat for a voucher that can be used once, however often your choice arrives."""
        voucher = ctx.request_state or secrets.token_urlsafe(16)
        found = answer(ctx, "choice")
        if found is None or (found.action == "accept" and not fits(CHOICE, found.content)):
            return ask("choice", CHOICE, voucher)
        if found.action != "accept" or found.content is None:
            return finished("You kept your voucher.", {"redeemed": False})
        if ctx.request_state is None or not self.store.use(voucher):
            return finished("This voucher was used already. Nothing more was given out.", failed=True)
        treat = found.content["treat"]
        return finished(f"Enjoy: {treat}. The voucher is used up.", {"redeemed": True, "treat": treat})
