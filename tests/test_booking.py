"""The main job on the wire: three rounds, four POSTs, each as the specification wants it."""

import json

import pytest

from mrtr_web.models import AuditEntry, Flow, Leg, Round
from tests import booking
from tests.person import Person
from tests.servers import Recorder

pytestmark = pytest.mark.django_db(transaction=True)


def book(person: Person) -> str:
    """The whole booking; returns the URL of the deposit page."""
    booking.start(person)
    booking.tell_details(person)
    person.press("Send")
    person.until("waiting")
    url = booking.pay(person)
    person.press("I have finished")
    person.until("waiting")
    person.fill("I confirm", "Yes")
    person.press("Send")
    person.until("completed")
    return url


def test_a_person_finishes_a_booking_in_three_rounds(person: Person, demo: Recorder) -> None:
    book(person)
    assert "Booked: 3 nights in Lyon from 2027-05-04 for  Ada Lovelace ." in "".join(person.page.reader.text)
    row = Flow.objects.get()
    assert (row.state, row.round, row.outcome, row.server.slug) == ("completed", 3, "done", "demo")
    assert list(Round.objects.values_list("number", "kinds", "actions")) == [
        (1, ["form"], ["accept"]),
        (2, ["url"], ["accept"]),
        (3, ["form"], ["accept"]),
    ]
    assert [entry.event for entry in AuditEntry.objects.order_by("id")] == [
        *("started", "asked", "answered", "asked", "answered", "asked", "answered", "finished")
    ]
    assert Leg.objects.filter(ended_at=None).count() == 0


def test_the_wire_of_the_booking(person: Person, demo: Recorder) -> None:
    book(person)
    legs = [post for post in demo.posts if post.json and post.json.get("method") == "tools/call"]
    assert len(legs) == 4
    assert len({leg.id for leg in legs}) == 4
    assert all(isinstance(leg.id, str) and not leg.id.isdigit() for leg in legs)
    for leg in legs:
        assert leg.headers["mcp-protocol-version"] == "2026-07-28"
        assert (leg.headers["mcp-method"], leg.headers["mcp-name"]) == ("tools/call", "book_trip")
        assert leg.headers["accept"] == "application/json, text/event-stream"
        assert "cookie" not in leg.headers
        assert leg.meta["io.modelcontextprotocol/protocolVersion"] == "2026-07-28"
        assert leg.meta["io.modelcontextprotocol/clientCapabilities"] == {"elicitation": {"form": {}, "url": {}}}
        assert leg.meta["io.modelcontextprotocol/clientInfo"]["name"] == "mrtr_web"
        assert leg.meta["progressToken"] == leg.id
        assert leg.params["name"] == "book_trip"
        assert json.dumps(leg.params["arguments"]) == json.dumps(booking.ARGUMENTS)
    assert "inputResponses" not in legs[0].params and "requestState" not in legs[0].params
    answers = [leg.params["inputResponses"] for leg in legs[1:]]
    assert json.dumps(answers[0]) == json.dumps({"traveller": {"action": "accept", "content": booking.CONTENT}})
    assert answers[1] == {"deposit": {"action": "accept"}}
    assert answers[2] == {"confirm": {"action": "accept", "content": {"confirmed": True}}}
    states = [leg.params["requestState"] for leg in legs[1:]]
    assert len(set(states)) == 3 and all(isinstance(state, str) for state in states)


def test_saying_finished_too_early_asks_the_same_again(person: Person, demo: Recorder) -> None:
    """H10"""
    booking.start(person)
    booking.tell_details(person)
    person.press("Send")
    person.until("waiting")
    url = person.page.link("Open")
    person.press("I have finished")
    person.until("waiting")
    assert person.page.link("Open") == url
    assert "Not finished yet" in person.page.text


def test_declining_is_sent_without_content(person: Person, demo: Recorder) -> None:
    """H05, H06"""
    booking.start(person)
    for name, action in (("r1s0-action", "decline"),):
        person.press("Check", {name: action})
    person.press("Send")
    person.until("completed")
    assert demo.posts[-1].params["inputResponses"] == {"traveller": {"action": "decline"}}
    assert "you declined" in person.page.text


def test_stopping_sends_nothing(person: Person, demo: Recorder) -> None:
    """T-13"""
    booking.start(person)
    before = len(demo.posts)
    person.press("Stop this request")
    assert (person.page.state, len(demo.posts)) == ("stopped", before)
