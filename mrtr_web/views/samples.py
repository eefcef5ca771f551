"""What the style guide shows, as a server, a person and the review desk make it. Nothing of it is ever stored."""

import uuid
from datetime import UTC, datetime, timedelta
from typing import Any

from django.contrib.auth.models import User
from django.utils import timezone

from mrtr_web import audit, entries, forms, lifelines, mine, queue, results, rounds, steps, timeline
from mrtr_web.flow import Act, Event, State
from mrtr_web.models import AuditEntry, Flow, Round, Server
from mrtr_web.pages import Drawing
from mrtr_web.recents import Recent
from mrtr_web.schema.read import read_input

Object = dict[str, Any]
NOON = datetime(2025, 5, 4, 12, 0, tzinfo=UTC)
ADA = User(pk=1, username="ada", is_staff=True)


def _texts(*names: str) -> list[Object]:
    return [{"const": name.lower(), "title": name} for name in names]


DETAILS: Object = {
    "type": "object",
    "required": ["name", "nights", "day", "insured", "class", "country", "extras"],
    "properties": {
        "name": {"type": "string", "title": "Full name", "minLength": 2, "description": "As on your passport."},
        "email": {"type": "string", "format": "email", "title": "E-mail address", "default": "ada@example.org"},
        "wishes": {"type": "string", "title": "Wishes", "maxLength": 500, "description": "Tell us more."},
        "nights": {"type": "integer", "title": "Nights", "minimum": 1, "maximum": 14},
        "day": {"type": "string", "format": "date", "title": "Day of departure"},
        "at": {"type": "string", "format": "date-time", "title": "Pick-up"},
        "wake": {"type": "string", "format": "time", "title": "Wake-up call"},
        "insured": {"type": "boolean", "title": "With insurance"},
        "class": {"type": "string", "title": "Class", "oneOf": _texts("First", "Second", "Sleeper")},
        "country": {"type": "string", "title": "Country", "oneOf": _texts(*"ABCDEFGHI")},
        "station": {"type": "string", "title": "Station", "enum": [f"Station {number}" for number in range(101)]},
        "extras": {
            "type": "array",
            "title": "Extras",
            "minItems": 1,
            "items": {"anyOf": _texts("Breakfast", "Bicycle")},
        },
        "pin": {"type": "string", "title": "PIN of your card"},
    },
}
ORDER: Object = {
    "type": "object",
    "required": ["traveller", "rooms", "labels", "pay", "more"],
    "properties": {
        "traveller": {
            "type": "object",
            "title": "Traveller",
            "description": "Who the tickets are for.",
            "required": ["name"],
            "properties": {"name": {"type": "string", "title": "Name"}, "phone": {"type": "string", "title": "Phone"}},
        },
        "rooms": {
            "type": "array",
            "title": "Rooms",
            "items": {"type": "object", "title": "Room", "properties": {"beds": {"type": "integer", "title": "Beds"}}},
        },
        "labels": {"type": "object", "title": "Labels", "additionalProperties": {"type": "string"}},
        "pay": {
            "title": "Payment",
            "oneOf": [
                {"type": "object", "title": "By card", "properties": {"holder": {"type": "string", "title": "Holder"}}},
                {"type": "object", "title": "By invoice", "properties": {"to": {"type": "string", "title": "Send to"}}},
            ],
        },
        "guide": {"type": "object", "title": "Guide", "properties": {"name": {"type": "string"}}},
        "map": {"type": "string", "title": "Map", "contentEncoding": "base64", "contentMediaType": "image/png"},
        "more": {"title": "More", "type": ["object", "array"]},
    },
}
ORDERED: Object = {
    "traveller": {"name": "Ada Lovelace"},
    "rooms": [{"beds": 2}, {"beds": 1}],
    "labels": {"color": "red"},
    "pay": {"holder": "Ada Lovelace"},
    "map": "iVBORw0KGgo=",
    "more": {"seats": [1, 2]},
}
TALK: Object = {
    "systemPrompt": "Answer in one sentence.",
    "maxTokens": 200,
    "modelPreferences": {"hints": [{"name": "any-model"}]},
    "messages": [
        {"role": "user", "content": {"type": "text", "text": "Is Lyon nice in May?"}},
        {"role": "assistant", "content": {"type": "text", "text": "It is.\nBring an umbrella."}},
    ],
}
ANSWER: Object = {
    "content": [
        {"type": "text", "text": "Booked: three nights in Lyon.\nYour ticket is below."},
        {"type": "audio", "mimeType": "audio/mpeg", "data": "SUQzBAAAAAAAAA=="},
        {
            "type": "resource",
            "resource": {"uri": "file:///ticket.pdf", "mimeType": "application/pdf", "blob": "JVBERi0="},
        },
        {"type": "resource_link", "uri": "trip://42", "name": "The whole trip"},
        {"type": "hologram"},
    ],
    "structuredContent": {"reference": "AB12", "paid": False, "nights": [4, 5, 6], "seats": [{"car": 7}]},
}


def server(number: int = 1, **more: Any) -> Server:
    """Several steps on one page are of several servers: each part that is named after one is named once."""
    return Server(slug=f"desk-{number}", name=f"Demo desk {number}", url=f"https://desk-{number}.example/mcp", **more)


def flow(state: State = State.WAITING, number: int = 1, **more: Any) -> Flow:
    now = timezone.now()
    times = {"started_at": now - timedelta(minutes=75), "changed_at": now - timedelta(seconds=95)}
    ident = uuid.UUID(int=number << 96)
    return Flow(pk=ident, user=ADA, server=server(), method="tools/call", name="book_trip", state=state, **times | more)


def _step(kind: rounds.Kind, message: str = "", showable: bool = True, **params: Any) -> rounds.Step:
    return rounds.Step(f"{kind}-{message}", kind, {"message": message, **params}, showable)


def _drawing(number: int, posted: Object | None) -> Drawing:
    named = {"uri": "file:///home/ada/photos", "name": "Photos"}
    return Drawing(number, posted, "Europe/Paris", {"localhost"}, ({"uri": "file:///home/ada/maps"}, named))


def asked() -> steps.RoundForm:
    """A round with a step of each kind, some of them asked before."""
    form, url = rounds.Kind.FORM, rounds.Kind.URL
    details = _step(form, "We need some details.", requestedSchema=DETAILS)
    again, moved = (
        _step(form, "Shall we book it?"),
        _step(url, "Pay the deposit.", url="https://xn--py-gia.example/pay?a=1"),
    )
    found = (
        details,
        again,
        moved,
        _step(rounds.Kind.SAMPLING, **TALK),
        _step(rounds.Kind.ROOTS),
        _step(form, "Show us a hologram.", showable=False),
    )
    past = [
        (again.key, dict(again.params), {"action": "decline"}),
        (moved.key, {**moved.params, "url": "https://pay.example/"}, {"action": "accept"}),
    ]
    return steps.round_form(found, _drawing(1, None), past)


def link() -> steps.RoundForm:
    """A round with nothing but a page to open."""
    return steps.round_form((_step(rounds.Kind.URL, "Pay.", url="https://pay.example/"),), _drawing(4, None))


def refused() -> steps.RoundForm:
    """A round that was posted with mistakes in it, beside a link that may not be opened."""
    found = (
        _step(rounds.Kind.FORM, "We need some details.", requestedSchema=DETAILS),
        _step(rounds.Kind.FORM, "Shall we book it?"),
        _step(rounds.Kind.URL, "Pay the rest.", url="javascript:alert(1)"),
    )
    typed = {"r2s0-f1": "ada", "r2s0-f3": "99", "r2s0-f4": "4 May", "r2s0-f12": "1234"}
    form = steps.round_form(found, _drawing(2, typed))
    form.is_valid()
    return form


def checked() -> steps.RoundForm:
    """A round that is read back before it is sent."""
    found = (
        _step(rounds.Kind.FORM, "We need some details.", requestedSchema=DETAILS),
        _step(rounds.Kind.FORM, "Shall we book it?"),
        _step(rounds.Kind.URL, "Pay the deposit.", url="https://pay.example/"),
        _step(rounds.Kind.FORM, "Another form.", requestedSchema=DETAILS),
        _step(rounds.Kind.ROOTS),
    )
    typed = {f"r3s0-f{number}": text for number, text in enumerate(("Ada Lovelace", "", "A window", "3", "2027-05-04"))}
    typed |= {"r3s0-f7": "true", "r3s0-f8": "1", "r3s0-f9": "0", "r3s0-f11": ["0", "1"], "r3s0-f12": "1234"}  # type: ignore[dict-item]
    typed |= {"r3s1-action": "accept", "r3s2-action": "cancel", "r3s3-action": "decline", "r3s4-f1": "file:///home"}
    form = steps.round_form(found, _drawing(3, typed))
    form.is_valid()
    return form


def order() -> forms.StepForm:
    """A tool's input with parts in it."""
    return forms.build(read_input(ORDER), prefix="s0", data=None, initial=ORDERED, zone="UTC")


def offered() -> list[entries.Entry]:
    hints = {"destructiveHint": True, "idempotentHint": True}
    said = {"title": "Book a trip", "description": "Books a trip and asks for what it needs.", "annotations": hints}
    tool = entries.Entry(server(), "tools", "book_trip", 2, said)
    return [tool, entries.Entry(server(), "resources", "trip://42", 1, {"name": "A trip"})]


def used() -> list[Recent]:
    return [
        Recent(server(), "Book a trip", "#", False),
        Recent(server(2), "", "#", False),
        Recent(server(3), "Old", "#", True),
    ]


def states() -> list[tuple[Flow, bool]]:
    """One request in each state that its tag tells apart, and whether it waits for its turn."""
    found = [(flow(state), False) for state in State]
    return [*found, (flow(State.RUNNING), True), (flow(State.COMPLETED, outcome="tool_error"), False)]


def listed() -> list[mine.Row]:
    typed = [("Destination", "Lyon"), ("Nights", "3")]
    return [
        mine.Row(flow(State.WAITING, round=2), "Book a trip", True, False, True, typed, "Shall we book it?"),
        mine.Row(flow(State.COMPLETED, 2), "", True, False, True),
        mine.Row(flow(State.WITHDRAWN, 3), "Book a trip", False, False, False),
    ]


def result() -> results.Shown:
    return results.show(ANSWER)


def pending() -> queue.Queue:
    """A page in the middle of the queue."""
    kinds = {"form": 2, "url": 1}
    taken = flow(State.WAITING, round=12, taken_by=ADA, note="#1")
    waits = queue.Row(taken, queue.PERSON, kinds, ("pay.example",), ("secret", "url"))
    off = flow(State.NOT_YET, 2)
    off.server.enabled = False
    return queue.Queue([waits, queue.Row(off, queue.SERVER), queue.Row(flow(State.UNKNOWN, 3), queue.PERSON)], {}, 2, 3)


def asked_so_far() -> list[Round]:
    return [
        Round(number=1, kinds=["form"], actions=["accept"], asked_at=NOON),
        Round(number=2, kinds=["form", "url"], hosts=["pay.example"], warnings=["url"], asked_at=NOON),
    ]


def story() -> lifelines.Drawing:
    """A timeline with a row of every kind, in more legs than can follow each other."""

    def at(minutes: float) -> datetime:
        return NOON + timedelta(minutes=minutes)

    calls = [
        timeline.Call(0, at(0), None, at(0.2), "refused"),
        timeline.Call(0, at(1), at(1), at(1.2), "cut"),
        timeline.Call(0, at(2), at(2), at(2.2), "asked"),
        *(timeline.Call(1, at(4 + n), at(4 + n), at(4.5 + n), "state_only") for n in range(3)),
        timeline.Call(1, at(7), at(7), at(8), "done"),
        timeline.Call(1, at(9), at(9), at(9.5), "broken:MR-13"),
    ]
    asks = [timeline.Asked(1, ("form",), ("accept",), at(4))]
    return lifelines.drawn(timeline.of(timeline.Facts(State.FAILED, at(0), at(9.5), at(10), calls, asks)))


def trail() -> list[AuditEntry]:
    about = {
        "at": NOON,
        "flow": flow().pk,
        "person": "ada",
        "server": "desk-1",
        "method": "tools/call",
        "name": "book_trip",
    }
    spent = timedelta(seconds=75)
    answered = {"before": State.WAITING, "after": State.RUNNING, "round": 1, "kinds": ["form"], "actions": ["accept"]}
    withdrawn = {"before": State.WAITING, "after": State.WITHDRAWN, "outcome": "cut"}
    return [
        AuditEntry(event=Event.WITHDRAWN, by="ada", note="Booked twice", **about | withdrawn),
        AuditEntry(event=Event.ANSWERED, sent_bytes=300, received_bytes=12_000, duration=spent, **about | answered),
        AuditEntry(event=Act.SERVER_OFF, at=NOON, by="ada", server="desk-1"),
    ]


def wish() -> audit.Wish:
    """A filter with a mistake in it."""
    found = audit.Wish({"since": "2027-05-04", "until": "2027-05-01"}, [server()])
    found.auto_id = "audit-%s"
    return found
