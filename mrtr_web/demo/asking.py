"""Small helpers for a server that asks: make a request of any kind, find its answer, check what it holds."""

from collections.abc import Mapping
from typing import Any, TypeVar

import jsonschema_rs
from mcp.server.mcpserver import Context
from mcp.shared.exceptions import MCPError
from mcp_types import (
    MISSING_REQUIRED_CLIENT_CAPABILITY,
    CallToolResult,
    CreateMessageRequest,
    CreateMessageRequestParams,
    CreateMessageResult,
    ElicitRequest,
    ElicitRequestFormParams,
    ElicitRequestURLParams,
    ElicitResult,
    InputRequest,
    InputRequiredResult,
    ListRootsRequest,
    ListRootsResult,
    ModelHint,
    ModelPreferences,
    SamplingMessage,
    TextContent,
)

Answer = TypeVar("Answer", ElicitResult, CreateMessageResult, ListRootsResult)


def form(message: str, properties: Mapping[str, Any], required: list[str]) -> ElicitRequest:
    schema = {"type": "object", "properties": dict(properties), "required": required}
    return ElicitRequest(params=ElicitRequestFormParams(message=message, requested_schema=schema))


def link(message: str, url: str) -> ElicitRequest:
    return ElicitRequest(params=ElicitRequestURLParams(message=message, url=url))


def write(wish: str, max_tokens: int, *, system: str | None = None, models: tuple[str, ...] = ()) -> InputRequest:
    """Something that a language model should say; whoever answers may be a person."""
    messages = [SamplingMessage(role="user", content=TextContent(type="text", text=wish))]
    preferences = ModelPreferences(hints=[ModelHint(name=name) for name in models]) if models else None
    return CreateMessageRequest(
        params=CreateMessageRequestParams(
            messages=messages, max_tokens=max_tokens, system_prompt=system, model_preferences=preferences
        )
    )


def folders() -> InputRequest:
    return ListRootsRequest()


def ask(key: str, request: InputRequest, state: str | None = None) -> InputRequiredResult:
    return InputRequiredResult(input_requests={key: request}, request_state=state)


def answer(ctx: Context, key: str) -> ElicitResult | None:
    """The answer to a form or link under this key; None: not answered yet, so it is asked (again)."""
    return answered(ctx, key, ElicitResult)


def answered(ctx: Context, key: str, kind: type[Answer]) -> Answer | None:
    """The answer of this kind under this key. Answers that were not asked for are left alone."""
    found = (ctx.input_responses or {}).get(key)
    return found if isinstance(found, kind) else None


def declares(ctx: Context, kind: str) -> bool:
    """Whether the client said with this request that it can be asked so: form, url, sampling or roots."""
    capabilities = ctx.client_capabilities
    if capabilities is None:
        return False
    if kind in ("sampling", "roots"):
        return getattr(capabilities, kind) is not None
    modes = capabilities.elicitation
    if modes is None:
        return False
    return modes.url is not None if kind == "url" else modes.form is not None or modes.url is None


def require(ctx: Context, kind: str) -> None:
    """Refuse the request with -32021 where the client cannot be asked in the one way that will do."""
    if declares(ctx, kind):
        return
    missing: dict[str, Any] = {kind: {}} if kind in ("sampling", "roots") else {"elicitation": {kind: {}}}
    data = {"requiredCapabilities": missing}
    raise MCPError(MISSING_REQUIRED_CLIENT_CAPABILITY, f"This needs the client capability {kind}", data)


def fits(request: ElicitRequest, content: Mapping[str, Any] | None) -> bool:
    """Whether the content answers the form. Clients check it too; a server does not rely on that."""
    params = request.params
    if not isinstance(params, ElicitRequestFormParams):
        return True
    validator = jsonschema_rs.Draft202012Validator(params.requested_schema, validate_formats=True)
    return validator.is_valid(dict(content or {}))


def finished(text: str, facts: dict[str, Any] | None = None, *, failed: bool = False) -> CallToolResult:
    return CallToolResult(content=[TextContent(type="text", text=text)], structured_content=facts, is_error=failed)
