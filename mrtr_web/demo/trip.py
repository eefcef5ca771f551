"""book_trip: three rounds. Traveller details (every kind of field), a deposit on our page, a confirmation.

The state between the rounds is JSON, which the SDK seals: where we are, the details, the payment's id.
"""

import json
from datetime import date
from typing import Annotated, Any, Literal

from mcp.server.mcpserver import Context, MCPServer
from mcp_types import CallToolResult, ElicitRequest, ElicitResult, InputRequiredResult
from pydantic import Field

from mrtr_web.demo.asking import answer, ask, finished, fits, form, link
from mrtr_web.demo.pages import address
from mrtr_web.demo.store import Store

DEPOSIT = 50

DETAILS = form(
    "Please tell us who is travelling and what you would like.",
    {
        "full_name": {
            "type": "string",
            "title": "Full name",
            "description": "As it stands in your passport.",
            "minLength": 2,
            "maxLength": 80,
        },
        "email": {
            "type": "string",
            "format": "email",
            "title": "E-mail address",
            "description": "We send the tickets there.",
        },
        "birthday": {"type": "string", "format": "date", "title": "Date of birth"},
        "travellers": {
            "type": "integer",
            "title": "Number of travellers",
            "minimum": 1,
            "maximum": 9,
            "default": 2,
        },
        "budget": {
            "type": "number",
            "title": "Budget per night in euro",
            "description": "The most that a room may cost.",
            "minimum": 20,
            "maximum": 5000,
        },
        "room": {
            "type": "string",
            "title": "Room",
            "oneOf": [
                {"const": "single", "title": "Single room"},
                {"const": "double", "title": "Double room"},
                {"const": "family", "title": "Family room"},
            ],
            "default": "double",
        },
        "meals": {
            "type": "string",
            "title": "Meals",
            "enum": ["None", "Breakfast", "Half board", "Full board"],
        },
        "seat": {
            "type": "string",
            "title": "Seat",
            "enum": ["W", "A", "X"],
            "enumNames": ["At the window", "At the aisle", "No preference"],
        },
        "activities": {
            "type": "array",
            "title": "What would you like to do?",
            "description": "We plan your days around it.",
            "minItems": 1,
            "maxItems": 3,
            "items": {
                "anyOf": [
                    {"const": "museum", "title": "Museums and galleries"},
                    {"const": "food", "title": "Food and markets"},
                    {"const": "hike", "title": "Walks and nature"},
                    {"const": "music", "title": "Concerts"},
                ]
            },
        },
        "languages": {
            "type": "array",
            "title": "Languages you speak",
            "minItems": 1,
            "maxItems": 2,
            "items": {"type": "string", "enum": ["English", "French", "German", "Spanish"]},
        },
        "pickup": {
            "type": "string",
            "format": "date-time",
            "title": "When shall we pick you up?",
            "description": "Leave it empty if you need no transfer.",
        },
        "website": {
            "type": "string",
            "format": "uri",
            "title": "A hotel that you like",
            "description": "The address of its web page, beginning with https://.",
        },
        "conditions": {
            "type": "boolean",
            "title": "I have read the travel conditions",
        },
        "newsletter": {
            "type": "boolean",
            "title": "Send me offers by e-mail",
            "default": False,
        },
    },
    ["full_name", "email", "birthday", "travellers", "room", "activities", "conditions"],
)


def _confirmation(destination: str, nights: int, details: dict[str, Any]) -> ElicitRequest:
    people = _count(details["travellers"], "traveller")
    stay = f"{_count(nights, 'night')} in {destination} for {people}"
    return form(
        f"{stay}, booked by {details['full_name']}. Shall we book it?",
        {
            "confirmed": {"type": "boolean", "title": "I confirm"},
            "note": {
                "type": "string",
                "title": "Anything we should know?",
                "description": "For example an allergy, or a late arrival.",
                "maxLength": 500,
            },
        },
        ["confirmed"],
    )


def _count(number: int, thing: str) -> str:
    return f"{number} {thing}" if number == 1 else f"{number} {thing}s"


class Trips:
    """The tool, and where it looks whether the deposit was paid."""

    def __init__(self, store: Store, pages_host: str) -> None:
        self.store = store
        self.pages_host = pages_host

    def add_to(self, server: MCPServer) -> None:
        server.tool(title="Book a trip", structured_output=False)(self.book_trip)

    async def book_trip(
        self,
        ctx: Context,
        destination: Annotated[
            str,
            Field(title="Destination", description="The city to go to.", min_length=2, max_length=80),
        ],
        nights: Annotated[int, Field(title="Nights", description="How many nights you want to stay.", ge=1, le=30)],
        departure: Annotated[date, Field(title="Day of departure")],
        travel_class: Annotated[
            Literal["Economy", "Business"],
            Field(title="Class", description="The class you want to travel in."),
        ] = "Economy",
    ) -> CallToolResult | InputRequiredResult:
        """Book a trip to a city. You are asked for the traveller's details, a deposit and a confirmation."""
        state: dict[str, Any] = json.loads(ctx.request_state) if ctx.request_state else {"step": "details"}
        match state["step"]:
            case "details":
                return self._details(ctx, destination)
            case "deposit":
                return self._deposit(ctx, state, destination, nights)
            case _:
                return self._confirm(ctx, state, destination, nights, departure, travel_class)

    def _details(self, ctx: Context, destination: str) -> CallToolResult | InputRequiredResult:
        found = answer(ctx, "traveller")
        if found is not None and found.action != "accept":
            return _not_booked(found)
        if found is None or not fits(DETAILS, found.content):
            return ask("traveller", DETAILS, json.dumps({"step": "details"}))
        return self._ask_deposit(ctx, {"details": found.content}, destination)

    def _ask_deposit(self, ctx: Context, state: dict[str, Any], destination: str) -> InputRequiredResult:
        """The same page again while it is not paid; a new one where a restart has forgotten it."""
        payment, store = state.get("payment", ""), self.store
        if store.payment(payment) is None:
            payment = store.open_payment(DEPOSIT, destination)
        request = link(f"Please pay the deposit of {DEPOSIT} euro.", address(ctx, self.pages_host, f"/pay/{payment}/"))
        return ask("deposit", request, json.dumps({**state, "step": "deposit", "payment": payment}))

    def _deposit(
        self, ctx: Context, state: dict[str, Any], destination: str, nights: int
    ) -> CallToolResult | InputRequiredResult:
        found = answer(ctx, "deposit")
        if found is not None and found.action != "accept":
            return _not_booked(found)
        due = self.store.payment(state["payment"])
        if found is None or due is None or not due.paid:
            return self._ask_deposit(ctx, state, destination)
        request = _confirmation(destination, nights, state["details"])
        return ask("confirm", request, json.dumps({**state, "step": "confirm"}))

    def _confirm(
        self,
        ctx: Context,
        state: dict[str, Any],
        destination: str,
        nights: int,
        departure: date,
        travel_class: str,
    ) -> CallToolResult | InputRequiredResult:
        found = answer(ctx, "confirm")
        request = _confirmation(destination, nights, state["details"])
        if found is not None and found.action != "accept":
            return _not_booked(found)
        if found is None or found.content is None or not fits(request, found.content):
            return ask("confirm", request, json.dumps(state))
        if not found.content["confirmed"]:
            return finished("Nothing was booked: you did not confirm.", {"booked": False})
        return _booked(state, found.content, destination, nights, departure, travel_class)


def _not_booked(found: ElicitResult) -> CallToolResult:
    reason = "you declined" if found.action == "decline" else "you left a question open"
    return finished(f"Nothing was booked: {reason}. You can start again at any time.", {"booked": False})


def _booked(
    state: dict[str, Any],
    last: dict[str, Any],
    destination: str,
    nights: int,
    departure: date,
    travel_class: str,
) -> CallToolResult:
    details = state["details"]
    facts = {
        "booked": True,
        "reference": f"TRIP-{state['payment'][:6].upper()}",
        "destination": destination,
        "departure": departure.isoformat(),
        "nights": nights,
        "class": travel_class,
        "traveller": details["full_name"],
        "travellers": details["travellers"],
        "room": details["room"],
        "activities": details["activities"],
        "deposit": DEPOSIT,
        "note": last.get("note", ""),
    }
    text = f"Booked: {_count(nights, 'night')} in {destination} from {departure} for {details['full_name']}."
    return finished(f"{text} Your reference is {facts['reference']}.", facts)
