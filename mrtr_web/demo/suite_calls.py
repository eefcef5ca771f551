"""The suite's fixtures that answer at once: every kind of content, progress, lists that change, resources, prompts."""

import base64
import json
from typing import Any

import anyio
from mcp.server.mcpserver import AssistantMessage, Context, MCPServer, UserMessage
from mcp.server.mcpserver.prompts import Prompt
from mcp_types import (
    AudioContent,
    CallToolResult,
    EmbeddedResource,
    ImageContent,
    TextContent,
    TextResourceContents,
)

from mrtr_web.demo.asking import finished
from mrtr_web.demo.pictures import beep, picture

SIMPLE_TEXT = "This is a simple text response for testing."


def add_to(server: MCPServer) -> None:
    for tool in (
        test_simple_text,
        test_image_content,
        test_audio_content,
        test_embedded_resource,
        test_multiple_content_types,
        test_error_handling,
        test_tool_with_progress,
        test_logging_tool,
        test_trigger_tool_change,
        test_trigger_prompt_change,
    ):
        server.tool(structured_output=False)(tool)
    for prompt in (
        test_simple_prompt,
        test_prompt_with_arguments,
        test_prompt_with_embedded_resource,
        test_prompt_with_image,
    ):
        server.prompt()(prompt)
    server.resource("test://static-text", mime_type="text/plain", description="A text")(static_text)
    server.resource("test://static-binary", mime_type="image/png", description="A picture")(static_binary)
    server.resource("test://template/{id}/data", mime_type="application/json", description="By id")(template_data)


def _result(*content: Any) -> CallToolResult:
    return CallToolResult(content=list(content))


def _text(words: str) -> TextContent:
    return TextContent(type="text", text=words)


def _image() -> ImageContent:
    return ImageContent(type="image", data=base64.b64encode(picture()).decode(), mime_type="image/png")


def _embedded(uri: str, mime_type: str, words: str) -> EmbeddedResource:
    return EmbeddedResource(type="resource", resource=TextResourceContents(uri=uri, mime_type=mime_type, text=words))


async def test_simple_text() -> CallToolResult:
    """Answers with a text."""
    return _result(_text(SIMPLE_TEXT))


async def test_image_content() -> CallToolResult:
    """Answers with a picture."""
    return _result(_image())


async def test_audio_content() -> CallToolResult:
    """Answers with a sound."""
    sound = base64.b64encode(beep()).decode()
    return _result(AudioContent(type="audio", data=sound, mime_type="audio/wav"))


async def test_embedded_resource() -> CallToolResult:
    """Answers with a resource in it."""
    return _result(_embedded("test://embedded-resource", "text/plain", "This is an embedded resource content."))


async def test_multiple_content_types() -> CallToolResult:
    """Answers with a text, a picture and a resource."""
    data = json.dumps({"test": "data", "value": 123})
    mixed = _embedded("test://mixed-content-resource", "application/json", data)
    return _result(_text("Multiple content types test:"), _image(), mixed)


async def test_error_handling() -> CallToolResult:
    """Always fails."""
    return finished("This tool intentionally returns an error for testing", failed=True)


async def test_tool_with_progress(ctx: Context) -> CallToolResult:
    """Reports progress three times."""
    for progress in (0, 50, 100):
        await ctx.report_progress(progress, 100, f"Completed {progress} of 100")
        await anyio.sleep(0.05)
    return _result(_text("Finished"))


async def test_logging_tool() -> CallToolResult:
    """Logs nothing to the client: logging is deprecated."""
    return _result(_text("Logged nothing"))


async def test_trigger_tool_change(ctx: Context) -> CallToolResult:
    """Adds a tool for a moment and tells listeners each time."""
    server = ctx.mcp_server
    server.add_tool(test_simple_text, name="test_dynamic_tool", structured_output=False)
    await ctx.notify_tools_changed()
    server.remove_tool("test_dynamic_tool")
    await ctx.notify_tools_changed()
    return _result(_text("The list of tools changed"))


async def test_trigger_prompt_change(ctx: Context) -> CallToolResult:
    """Adds a prompt for a moment and tells listeners each time."""
    server = ctx.mcp_server
    server.add_prompt(Prompt.from_function(test_simple_prompt, name="test_dynamic_prompt"))
    await ctx.notify_prompts_changed()
    server.remove_prompt("test_dynamic_prompt")
    await ctx.notify_prompts_changed()
    return _result(_text("The list of prompts changed"))


async def test_simple_prompt() -> list[UserMessage | AssistantMessage]:
    """A prompt without arguments."""
    return [UserMessage("This is a simple prompt for testing.")]


async def test_prompt_with_arguments(arg1: str, arg2: str) -> list[UserMessage | AssistantMessage]:
    """A prompt with two arguments."""
    return [UserMessage(f"Prompt with arguments: arg1='{arg1}', arg2='{arg2}'")]


# The suite prescribes the name of the argument.
async def test_prompt_with_embedded_resource(resourceUri: str) -> list[UserMessage | AssistantMessage]:  # noqa: N803
    """A prompt with a resource in it."""
    return [
        UserMessage(_embedded(resourceUri, "text/plain", "Embedded resource content for testing.")),
        UserMessage("Please process the embedded resource above."),
    ]


async def test_prompt_with_image() -> list[UserMessage | AssistantMessage]:
    """A prompt with a picture in it."""
    return [UserMessage(_image()), UserMessage("Please analyze the image above.")]


async def static_text() -> str:
    return "This is the content of the static text resource."


async def static_binary() -> bytes:
    return picture()


async def template_data(id: str) -> str:
    return json.dumps({"id": id, "templateTest": True, "data": f"Data for ID: {id}"})
