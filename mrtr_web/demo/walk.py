"""plan_walk: one round that asks in every way at once, as far as the client declares it, under keys of all sorts."""

from mcp.server.mcpserver import Context, MCPServer
from mcp_types import (
    CallToolResult,
    CreateMessageResult,
    ElicitResult,
    InputRequest,
    InputRequiredResult,
    ListRootsResult,
    TextContent,
    ToolAnnotations,
)

from mrtr_web.demo.asking import answer, answered, declares, finished, fits, folders, form, link, write
from mrtr_web.demo.pages import address

PACE = form(
    "How do you like to walk?",
    {
        "pace": {"type": "string", "title": "Pace", "enum": ["slow", "brisk"], "default": "slow"},
        "hours": {"type": "number", "title": "Hours", "minimum": 0.5, "maximum": 8},
    },
    ["pace", "hours"],
)
GREETING = write(
    "Write one sentence that welcomes a group of travellers to a walk through the old town.",
    60,
    system="You are a friendly town guide. One sentence, no more.",
    models=("claude", "gpt"),
)
PACE_KEY, GREETING_KEY, FOLDERS_KEY, MAP_KEY = "walk.pace", "1", "späte Frage", ""


class Walks:
    def __init__(self, pages_host: str) -> None:
        self.pages_host = pages_host

    def add_to(self, server: MCPServer) -> None:
        hints = ToolAnnotations(read_only_hint=True)
        server.tool(title="Plan a walk", annotations=hints, structured_output=False)(self.plan_walk)

    async def plan_walk(self, ctx: Context) -> CallToolResult | InputRequiredResult:
        """Plan a walk through the city. You are asked several things at once, each in another way."""
        asked = self._asked(ctx)
        if all(_is_answered(ctx, key, request) for key, request in asked.items()):
            return _planned(ctx)
        return InputRequiredResult(input_requests=asked, request_state="walk")

    def _asked(self, ctx: Context) -> dict[str, InputRequest]:
        """Only what the client says that it can be asked: a server must not ask anything else."""
        town = link("Have a look at the map of the old town.", address(ctx, self.pages_host, "/walk/map/"))
        every: list[tuple[str, str, InputRequest]] = [
            ("form", PACE_KEY, PACE),
            ("sampling", GREETING_KEY, GREETING),
            ("roots", FOLDERS_KEY, folders()),
            ("url", MAP_KEY, town),
        ]
        return {key: request for kind, key, request in every if declares(ctx, kind)}


def _is_answered(ctx: Context, key: str, request: InputRequest) -> bool:
    found = (ctx.input_responses or {}).get(key)
    if request is PACE and isinstance(found, ElicitResult) and found.action == "accept":
        return fits(PACE, found.content)
    return found is not None


def _planned(ctx: Context) -> CallToolResult:
    pace, greeting = answer(ctx, PACE_KEY), answered(ctx, GREETING_KEY, CreateMessageResult)
    roots, seen = answered(ctx, FOLDERS_KEY, ListRootsResult), answer(ctx, MAP_KEY)
    chosen = pace.content if pace is not None and pace.action == "accept" and pace.content else {}
    said = greeting.content.text if greeting is not None and isinstance(greeting.content, TextContent) else ""
    facts = {
        "pace": chosen.get("pace", "any"),
        "hours": chosen.get("hours", 2),
        "greeting": said,
        "written by": greeting.model if greeting is not None else "",
        "folders": [str(root.uri) for root in roots.roots] if roots is not None else [],
        "map": "seen" if seen is not None and seen.action == "accept" else "not seen",
    }
    return finished(f"Your walk is planned: {facts['pace']} pace, hours: {facts['hours']}. {said}".strip(), facts)
