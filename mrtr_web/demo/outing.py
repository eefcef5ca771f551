"""arrange_outing: one call with an input of many parts, so that you see how a rich schema is filled in."""

import datetime
from typing import Annotated, Literal

from mcp.server.mcpserver import MCPServer
from mcp_types import CallToolResult, TextContent, ToolAnnotations
from pydantic import BaseModel, Field

Diet = Literal["no meat", "no fish", "no milk", "no nuts"]


class Contact(BaseModel):
    """Whom to call if anything changes."""

    name: str = Field(title="Name", examples=["Ada Lovelace"])
    phone: str | None = Field(None, title="Phone")


class Guest(BaseModel):
    name: str = Field(title="Name", min_length=1)
    age: int | None = Field(None, title="Age", ge=0, le=120)
    diet: list[Diet] = Field(default_factory=list, title="Does not eat")


class Coach(BaseModel):
    kind: Literal["coach"]
    seats: int = Field(title="Seats", gt=0, le=80)
    luggage: bool = Field(False, title="With luggage")


class Train(BaseModel):
    kind: Literal["train"]
    travel_class: Literal["first", "second"] = Field("second", title="Class")
    leaves: datetime.time = Field(title="Leaves at")


def add_to(server: MCPServer) -> None:
    hints = ToolAnnotations(read_only_hint=True)
    server.tool(title="Arrange an outing", annotations=hints, structured_output=False)(arrange_outing)


async def arrange_outing(
    title: Annotated[str, Field(title="What it is called", examples=["Summer party"])],
    day: Annotated[datetime.date, Field(title="Day")],
    transport: Annotated[Coach | Train, Field(title="How you get there", discriminator="kind")],
    guests: Annotated[list[Guest], Field(title="Guests", min_length=1, max_length=20)],
    contact: Annotated[Contact | None, Field(title="Contact")] = None,
    budget: Annotated[dict[str, float] | None, Field(title="Budget", description="An amount for each purpose.")] = None,
    remarks: Annotated[str, Field(title="Remarks", max_length=2000)] = "",
) -> CallToolResult:
    """Arrange an outing for a group: a form with parts, lists and kinds to choose from. Nothing is arranged."""
    who = ", ".join(guest.name for guest in guests)
    spent = f" The budget is {sum(budget.values()):g} in all." if budget else ""
    text = f"{title} on {day:%d %B %Y} by {transport.kind}, for {len(guests)}: {who}.{spent}"
    given = {
        "title": title,
        "day": day.isoformat(),
        "transport": transport.model_dump(mode="json"),
        "guests": [guest.model_dump(mode="json") for guest in guests],
        "contact": contact.model_dump(mode="json") if contact else None,
        "budget": budget,
        "remarks": remarks,
    }
    return CallToolResult(content=[TextContent(text=text)], structured_content=given)
