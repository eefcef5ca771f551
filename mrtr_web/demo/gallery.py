"""One of each kind of result, so that you see what its page looks like."""

import base64
from typing import Annotated, Any, Literal

from mcp.server.mcpserver import AssistantMessage, MCPServer, UserMessage
from mcp_types import (
    AudioContent,
    CallToolResult,
    ContentBlock,
    EmbeddedResource,
    ImageContent,
    ResourceLink,
    TextContent,
    TextResourceContents,
    ToolAnnotations,
)
from pydantic import Field

from mrtr_web.demo.pictures import beep, picture

Kind = Literal[
    "a picture",
    "a picture of 5 MB",
    "a sound",
    "a file",
    "data only",
    "a failure with data",
    "a link",
    "nothing",
    "mixed",
]
FACTS = {"rooms": 12, "free": 3, "breakfast": True, "languages": ["German", "French"]}
BROCHURE = "Demo travel desk\nA town by the sea, two hours by train."


def add_to(server: MCPServer) -> None:
    hints = ToolAnnotations(read_only_hint=True)
    server.tool(title="Every kind of result", annotations=hints, structured_output=False)(show_result)
    server.prompt(title="Ask for directions")(directions)
    server.resource("trip://brochure", title="Brochure", mime_type="text/plain")(brochure)
    server.resource("trip://broken", title="Always broken", mime_type="text/plain")(broken)
    server.resource("trip://view", title="View from the hotel", mime_type="image/png")(view)


async def show_result(
    kind: Annotated[Kind, Field(title="Kind", description="What the result shall be.")] = "a picture",
) -> CallToolResult:
    """Give a result of the kind that you choose."""
    match kind:
        case "data only":
            return CallToolResult(content=[], structured_content=FACTS)
        case "a failure with data":
            return CallToolResult(content=[_text("No room is free.")], structured_content={"free": 0}, is_error=True)
        case "mixed":
            every: list[ContentBlock] = [_text("Here is all of it."), _image(), _sound(), _file(), _link()]
            return CallToolResult(content=every, structured_content=FACTS)
    return CallToolResult(content=_one(kind))


def _one(kind: str) -> list[ContentBlock]:
    one: dict[str, Any] = {
        "a picture": _image,
        "a picture of 5 MB": lambda: _image(padding=5_000_000),
        "a sound": _sound,
        "a file": _file,
        "a link": _link,
    }
    return [one[kind]()] if kind in one else []


def _text(words: str) -> TextContent:
    return TextContent(type="text", text=words)


def _image(padding: int = 0) -> ImageContent:
    return ImageContent(type="image", data=base64.b64encode(picture(padding=padding)).decode(), mime_type="image/png")


def _sound() -> AudioContent:
    return AudioContent(type="audio", data=base64.b64encode(beep()).decode(), mime_type="audio/wav")


def _file() -> EmbeddedResource:
    return EmbeddedResource(
        type="resource", resource=TextResourceContents(uri="trip://brochure", mime_type="text/plain", text=BROCHURE)
    )


def _link() -> ResourceLink:
    return ResourceLink(type="resource_link", uri="trip://brochure", name="brochure", title="Brochure")


async def directions() -> list[UserMessage | AssistantMessage]:
    """A short conversation about the way to the station."""
    return [
        UserMessage("How do I get to the station?"),
        AssistantMessage("Do you walk, or do you take the tram?"),
        UserMessage("I walk."),
    ]


async def brochure() -> str:
    return BROCHURE


async def broken() -> str:
    """A fault of the server itself, so that you see what that looks like."""
    raise RuntimeError("the archive is on fire")


async def view() -> bytes:
    return picture()
