"""The fixtures that the official conformance suite calls by name. Only there with --suite.

Texts, keys and shapes are the suite's. calls.py has what answers at once, this file what asks first.
"""

from typing import Any

from mcp.server.mcpserver import Context, MCPServer, UserMessage
from mcp_types import (
    CallToolResult,
    CreateMessageResult,
    ElicitRequest,
    InputRequest,
    InputRequiredResult,
    ListRootsResult,
    TextContent,
)

from mrtr_web.demo import suite_calls
from mrtr_web.demo.asking import answer, answered, ask, declares, finished, fits, folders, form, require, write

Result = CallToolResult | InputRequiredResult


def add_to(server: MCPServer) -> None:
    suite_calls.add_to(server)
    for tool in (
        test_input_required_result_elicitation,
        test_input_required_result_sampling,
        test_input_required_result_list_roots,
        test_input_required_result_request_state,
        test_input_required_result_multiple_inputs,
        test_input_required_result_multi_round,
        test_input_required_result_tampered_state,
        test_input_required_result_capabilities,
        test_missing_capability,
        test_streaming_elicitation,
    ):
        server.tool(structured_output=False)(tool)
    server.prompt()(test_input_required_result_prompt)


def _one_text(message: str, name: str) -> ElicitRequest:
    return form(message, {name: {"type": "string"}}, [name])


NAME = _one_text("What is your name?", "name")
CONFIRM = form("Please confirm", {"ok": {"type": "boolean"}}, ["ok"])
CAPITAL = write("What is the capital of France?", 100)


def _content(ctx: Context, key: str, request: ElicitRequest) -> dict[str, Any] | None:
    """What was answered, where it answers the form."""
    found = answer(ctx, key)
    if found is None or found.action != "accept" or not fits(request, found.content):
        return None
    return dict(found.content or {})


async def test_input_required_result_elicitation(ctx: Context) -> Result:
    """Asks for a name."""
    content = _content(ctx, "user_name", NAME)
    return ask("user_name", NAME) if content is None else finished(f"Hello, {content['name']}!")


async def test_input_required_result_sampling(ctx: Context) -> Result:
    """Asks for a text of a language model."""
    require(ctx, "sampling")
    reply = answered(ctx, "capital_question", CreateMessageResult)
    return ask("capital_question", CAPITAL) if reply is None else finished(_said(reply))


async def test_input_required_result_list_roots(ctx: Context) -> Result:
    """Asks for folders."""
    require(ctx, "roots")
    found = answered(ctx, "client_roots", ListRootsResult)
    if found is None:
        return ask("client_roots", folders())
    return finished("Roots: " + ", ".join(str(root.uri) for root in found.roots))


async def test_input_required_result_request_state(ctx: Context) -> Result:
    """Asks with a state, and looks at the state that comes back."""
    if _content(ctx, "confirm", CONFIRM) is None or ctx.request_state != "confirm":
        return ask("confirm", CONFIRM, "confirm")
    return finished("state-ok")


async def test_input_required_result_multiple_inputs(ctx: Context) -> Result:
    """Asks in three ways at once."""
    requests: dict[str, InputRequest] = {
        "user_name": NAME,
        "greeting": write("Generate a greeting", 50),
        "client_roots": folders(),
    }
    for kind in ("form", "sampling", "roots"):
        require(ctx, kind)
    content = _content(ctx, "user_name", NAME)
    greeting = answered(ctx, "greeting", CreateMessageResult)
    roots = answered(ctx, "client_roots", ListRootsResult)
    if content is None or greeting is None or roots is None:
        return InputRequiredResult(input_requests=requests, request_state="all three")
    return finished(f"{_said(greeting)} {content['name']}, {len(roots.roots)} roots")


async def test_input_required_result_multi_round(ctx: Context) -> Result:
    """Asks twice, each time with another state."""
    name = _one_text("Step 1: What is your name?", "name")
    colour = _one_text("Step 2: What is your favorite color?", "color")
    if ctx.request_state is None:
        return ask("step1", name, "step 1")
    if ctx.request_state == "step 1":
        content = _content(ctx, "step1", name)
        return ask("step1", name, "step 1") if content is None else ask("step2", colour, f"step 2 {content['name']}")
    content = _content(ctx, "step2", colour)
    if content is None:
        return ask("step2", colour, ctx.request_state)
    return finished(f"{ctx.request_state.removeprefix('step 2 ')} likes {content['color']}")


async def test_input_required_result_tampered_state(ctx: Context) -> Result:
    """Asks with a state whose seal is checked before this code ever sees it."""
    return finished("done") if _content(ctx, "confirm", CONFIRM) else ask("confirm", CONFIRM, "sealed")


async def test_input_required_result_capabilities(ctx: Context) -> Result:
    """Asks in the ways that the client declares, and in no other."""
    requests: dict[str, InputRequest] = {}
    if declares(ctx, "form"):
        requests["user_name"] = NAME
    if declares(ctx, "sampling"):
        requests["capital_question"] = CAPITAL
    if ctx.input_responses or not requests:
        return finished("asked for what was declared")
    return InputRequiredResult(input_requests=requests)


async def test_missing_capability(ctx: Context) -> CallToolResult:
    """Refuses clients that do not declare sampling."""
    require(ctx, "sampling")
    return finished("sampling is declared")


async def test_streaming_elicitation(ctx: Context) -> Result:
    """Reports progress on its stream before it asks."""
    await ctx.report_progress(1, 2, "about to ask")
    return await test_input_required_result_elicitation(ctx)


async def test_input_required_result_prompt(ctx: Context) -> list[UserMessage] | InputRequiredResult:
    """A prompt that asks for its context."""
    request = _one_text("What context should the prompt use?", "context")
    content = _content(ctx, "user_context", request)
    return ask("user_context", request) if content is None else [UserMessage(f"Context: {content['context']}")]


def _said(reply: CreateMessageResult) -> str:
    return reply.content.text if isinstance(reply.content, TextContent) else ""
