"""Small helpers for a server that asks: make a form or a link, find its answer, check what it holds."""

from collections.abc import Mapping
from typing import Any

import jsonschema_rs
from mcp.server.mcpserver import Context
from mcp_types import (
    CallToolResult,
    ElicitRequest,
    ElicitRequestFormParams,
    ElicitRequestURLParams,
    ElicitResult,
    InputRequiredResult,
    TextContent,
)


def form(message: str, properties: Mapping[str, Any], required: list[str]) -> ElicitRequest:
    schema = {"type": "object", "properties": dict(properties), "required": required}
    return ElicitRequest(params=ElicitRequestFormParams(message=message, requested_schema=schema))


def link(message: str, url: str) -> ElicitRequest:
    return ElicitRequest(params=ElicitRequestURLParams(message=message, url=url))


def ask(key: str, request: ElicitRequest, state: str | None = None) -> InputRequiredResult:
    return InputRequiredResult(input_requests={key: request}, request_state=state)


def answer(ctx: Context, key: str) -> ElicitResult | None:
    """The answer under this key; None: not answered yet, so it is asked (again)."""
    found = (ctx.input_responses or {}).get(key)
    return found if isinstance(found, ElicitResult) else None


def fits(request: ElicitRequest, content: Mapping[str, Any] | None) -> bool:
    """Whether the content answers the form. Clients check it too; a server does not rely on that."""
    params = request.params
    if not isinstance(params, ElicitRequestFormParams):
        return True
    validator = jsonschema_rs.Draft202012Validator(params.requested_schema, validate_formats=True)
    return validator.is_valid(dict(content or {}))


def finished(text: str, facts: dict[str, Any] | None = None, *, failed: bool = False) -> CallToolResult:
    return CallToolResult(content=[TextContent(type="text", text=text)], structured_content=facts, is_error=failed)
