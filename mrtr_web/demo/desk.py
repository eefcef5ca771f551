"""The small things on offer: a slow report, a failure, a queue, the weather, a prompt and a resource."""

import json
from typing import Annotated

import anyio
from mcp.server.mcpserver import Context, MCPServer, UserMessage
from mcp_types import (
    CallToolResult,
    Completion,
    CompletionArgument,
    CompletionContext,
    InputRequiredResult,
    PromptReference,
    ResourceTemplateReference,
    ToolAnnotations,
)
from pydantic import Field

from mrtr_web.demo.asking import answer, ask, finished, fits, form

QUEUE = 6
"""How many times patience() says: not yet."""

CITIES = ("Lisbon", "Ljubljana", "London", "Lyon", "Paris", "Prague", "Rome", "Vienna")
REFERENCES = ("TRIP-1001", "TRIP-1002", "TRIP-2001")

READ_ONLY = ToolAnnotations(read_only_hint=True)

BAGS = form(
    "How do you want to travel?",
    {
        "bags": {"type": "integer", "title": "Number of bags", "minimum": 1, "maximum": 5, "default": 1},
        "sports": {"type": "boolean", "title": "I want to do sports"},
    },
    ["bags"],
)
SURNAME = form(
    "To show you the itinerary we need to know whose it is.",
    {"surname": {"type": "string", "title": "Surname", "minLength": 1, "maxLength": 80}},
    ["surname"],
)


def add_to(server: MCPServer) -> None:
    plain = server.tool
    plain(title="Slow report", annotations=READ_ONLY, structured_output=False)(slow_report)
    plain(title="Always fails", annotations=READ_ONLY, structured_output=False)(fails)
    plain(title="Patience", annotations=READ_ONLY, structured_output=False)(patience)
    plain(title="Weather", annotations=READ_ONLY, structured_output=False)(weather)
    server.prompt(title="Packing list")(packing_list)
    server.resource("trip://{reference}/itinerary", title="Itinerary", mime_type="text/plain")(itinerary)
    server.completion()(complete)  # type: ignore[no-untyped-call]


async def slow_report(
    ctx: Context,
    seconds: Annotated[int, Field(title="Seconds", description="How long it shall take.", ge=1, le=120)] = 20,
) -> CallToolResult:
    """Write a report that takes its time, so that you see what waiting looks like."""
    for second in range(seconds):
        await ctx.report_progress(second, seconds, f"Page {second + 1} of {seconds}")
        await anyio.sleep(1)
    await ctx.report_progress(seconds, seconds, "Done")
    return finished(f"The report is done. Number of pages: {seconds}.", {"pages": seconds})


async def fails() -> CallToolResult:
    """Fail, so that you see what a failure looks like."""
    return finished("The travel desk is closed. This tool always fails.", failed=True)


async def patience(ctx: Context) -> CallToolResult | InputRequiredResult:
    """Wait in a queue. You are asked nothing; the server says "not yet" a few times."""
    served = json.loads(ctx.request_state)["served"] if ctx.request_state else 0
    if served < QUEUE:
        return InputRequiredResult(request_state=json.dumps({"served": served + 1}))
    return finished("It is your turn. Thank you for waiting.", {"waited": served})


async def weather(
    region: Annotated[
        str,
        Field(
            title="Region",
            description="A region or a city.",
            min_length=1,
            max_length=80,
            json_schema_extra={"x-mcp-header": "Region"},
        ),
    ],
) -> CallToolResult:
    """Tell the weather of a region. It is always fine."""
    return finished(f"It is sunny in {region}.", {"region": region, "weather": "sunny"})


async def packing_list(
    ctx: Context,
    destination: Annotated[str, Field(description="The city you travel to.")],
) -> list[UserMessage] | InputRequiredResult:
    """A request for a packing list that you can give to an assistant."""
    found = answer(ctx, "bags")
    if found is not None and found.action != "accept":
        return [UserMessage(f"Write a short packing list for {destination}.")]
    if found is None or found.content is None or not fits(BAGS, found.content):
        return ask("bags", BAGS)
    sports = " I want to do sports." if found.content.get("sports") else ""
    return [UserMessage(f"Write a packing list for {destination}, number of bags: {found.content['bags']}.{sports}")]


async def itinerary(reference: str, ctx: Context) -> str | InputRequiredResult:
    """The days of a trip that was booked."""
    found = answer(ctx, "surname")
    if found is not None and found.action != "accept":
        return "The itinerary is shown to the traveller only."
    if found is None or found.content is None or not fits(SURNAME, found.content):
        return ask("surname", SURNAME, reference)
    surname = found.content["surname"]
    return f"Trip {reference}, traveller {surname}\nDay 1: arrival\nDay 2: a walk in the city\nDay 3: departure"


async def complete(
    ref: PromptReference | ResourceTemplateReference, argument: CompletionArgument, context: CompletionContext | None
) -> Completion:
    """Cities for the packing list, references for the itinerary: those that begin as the person began."""
    known = CITIES if isinstance(ref, PromptReference) else REFERENCES
    values = [value for value in known if value.lower().startswith(argument.value.lower())]
    return Completion(values=values, total=len(values), has_more=False)
