"""The booking, as a person does it: what is typed in each round, and what must be on the wire."""

from typing import Any

import httpx2

from tests.person import Page, Person

START = {"Destination": "Lyon", "Nights": "3", "Day of departure": "2027-05-04", "Class": "Business"}
ARGUMENTS = {"destination": "Lyon", "nights": 3, "departure": "2027-05-04", "travel_class": "Business"}
DETAILS: dict[str, str | list[str]] = {
    "Full name": " Ada Lovelace ",
    "E-mail address": "ada@example.org",
    "Date of birth": "1990-12-10",
    "Number of travellers": "2",
    "Budget per night in euro": "99.50",
    "Room": "Family room",
    "Meals": "Half board",
    "Seat": "At the aisle",
    "What would you like to do?": ["Food and markets", "Concerts"],
    "Languages you speak": ["French"],
    "I have read the travel conditions": "Yes",
    "Send me offers by e-mail": "No",
}
CONTENT: dict[str, Any] = {
    "full_name": " Ada Lovelace ",
    "email": "ada@example.org",
    "birthday": "1990-12-10",
    "travellers": 2,
    "budget": 99.5,
    "room": "family",
    "meals": "Half board",
    "seat": "A",
    "activities": ["food", "music"],
    "languages": ["French"],
    "conditions": True,
    "newsletter": False,
}


def start(person: Person) -> Page:
    """Send the start form; lands on the first round."""
    person.get("/s/demo/")
    person.get(person.page.link("Book a trip"))
    for label, value in START.items():
        person.fill(label, value)
    person.press("Start")
    return person.until("waiting")


def tell_details(person: Person) -> Page:
    for label, value in DETAILS.items():
        person.fill(label, value)
    person.press("Check")
    return person.page


def pay(person: Person) -> str:
    """Open the page that the step links to, and pay there. Returns its URL."""
    url = person.page.link("Open")
    local = url.replace("localhost", "127.0.0.1")
    assert httpx2.post(local, trust_env=False, follow_redirects=True).status_code == 200
    return url
