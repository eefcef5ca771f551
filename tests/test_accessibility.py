"""The booking for everybody: one walk, each page looked at by name, role and order, zoomed, spaced, and by touch."""

import re
from typing import Any

from django.utils import timezone
from playwright.sync_api import Page, Request, expect

from mrtr_web.models import Flow, Server
from tests.accessible import check_for_everybody, hidden_on_the_way
from tests.desk import asks, desk
from tests.servers import Recorder
from tests.test_browser import pay
from tests.window import WAIT, Opener, Watched, in_browser

pytestmark = in_browser

START = """
- main:
  - paragraph:
    - link "Demo desk"
  - heading "Book a trip" [level=1]
  - region "What Demo desk asks":
    - textbox "Destination"
    - textbox "Nights"
    - textbox "Day of departure"
    - group "Class (optional)":
      - radio "Economy" [checked]
      - radio "Business"
      - radio "No answer"
  - button "Start"
"""
REFUSED = """
- main:
  - alert "There is a problem":
    - heading "There is a problem" [level=2]
    - list:
      - listitem:
        - link /^Fill in “.Date of birth.”/
      - listitem:
        - link /^What would you like to do\\? – Choose at least 1/
      - listitem:
        - link /^I have read the travel conditions – Choose Yes or No/
  - heading "Demo desk asks you" [level=1]
  - paragraph: Round 1
  - region "Some details":
    - heading "Some details" [level=2]
    - region "What Demo desk asks":
      - blockquote: Please tell us who is travelling and what you would like.
      - textbox "Full name": Ada Lovelace
      - textbox "Date of birth"
      - group "What would you like to do?":
        - paragraph: /^Error. Choose at least 1/
        - checkbox "Museums and galleries"
      - group "When shall we pick you up? (optional)":
        - textbox "When shall we pick you up? (optional) Date and time"
        - combobox "Time zone"
      - group "I have read the travel conditions":
        - radio "Yes"
        - radio "No"
    - group: If you do not want to answer
  - button "Check your answers"
  - button "Stop this request"
"""
CHECK = """
- main:
  - heading "Check your answers" [level=1]
  - paragraph: Nothing has been sent yet. This is what Demo desk gets. For what is not answered, nothing is sent.
  - region "Some details":
    - term: Full name
    - definition: Ada Lovelace
    - definition:
      - button "Change Full name"
    - term: Budget per night in euro
    - definition: Not answered
    - definition:
      - button "Change Budget per night in euro"
  - button "Send to Demo desk"
  - button "Back to the questions"
  - button "Stop this request"
"""
LINK = """
- main:
  - heading "Demo desk asks you" [level=1]
  - region "A page to open":
    - region "What Demo desk asks":
      - blockquote: Please pay the deposit of 50 euro.
    - heading "The full address of that page" [level=3]
    - paragraph:
      - strong: /^localhost:\\d+$/
    - paragraph:
      - link /^Open localhost:\\d+ in a new tab$/
  - button "I have finished there"
  - button "I do not want to open it"
  - button "Leave it undecided"
  - button "Stop this request"
"""
RESULT = """
- main:
  - paragraph:
    - link "Demo desk"
  - 'heading "Book a trip: done" [level=1]'
  - paragraph: "Demo desk answered:"
  - region "Result as a table":
    - table:
      - rowgroup:
        - row:
          - rowheader
          - cell
  - paragraph:
    - link "Do it again with the same input"
"""


def sign_in_by_pasting(window: Watched) -> None:
    """A password manager finds the fields by what they say, and nobody has to copy by hand (3.3.8)."""
    page = window.page
    page.goto(f"{window.base}/accounts/login/")
    name, password = page.get_by_label("Username"), page.get_by_label("Password")
    expect(name).to_have_attribute("autocomplete", "username")
    expect(password).to_have_attribute("autocomplete", "current-password")
    name.fill("alice's password")
    for key in ("Control+a", "Control+c"):
        name.press(key)
    password.press("Control+v")
    expect(password).to_have_value("alice's password")
    name.fill("alice")
    page.get_by_role("button", name="Sign in").click()


def looks(page: Page, title: str, snapshot: str = "") -> None:
    expect(page).to_have_title(f"{title} – mrtr_web")
    if page.locator("[data-wizard], [data-check]").count():  # 3.2.6: what helps out stands at the end of each
        expect(page.locator("main form").last.get_by_role("button", name="Stop this request")).to_be_visible()
    if snapshot:
        expect(page.locator("body")).to_match_aria_snapshot(snapshot)
    check_for_everybody(page)


def fill_in_the_start(page: Page) -> None:
    page.get_by_label("Destination").fill("Lyon")
    page.get_by_label("Nights").fill("3")
    page.get_by_label("Day of departure").fill("2027-05-04")
    page.get_by_label("Business").check()


def fill_in_what_is_missing(page: Page) -> None:
    page.get_by_label("Date of birth").fill("1990-12-10")
    page.get_by_label("Family room").check()
    page.get_by_label("Food and markets").check()
    page.get_by_label("Time zone").select_option("Europe/Paris")
    page.get_by_role("group", name="I have read the travel conditions").get_by_label("Yes").check()


def is_next(request: Request) -> bool:
    return request.is_navigation_request() or request.method == "POST"


def test_every_page_of_the_booking_is_for_everybody(opened: Opener, demo: Recorder) -> None:
    """Titles, names, roles, order; focus on errors; nothing goes out by itself; size, zoom, spacing, forced colours."""
    window = opened()
    page = window.page
    asked = list[str]()
    page.on("request", lambda request: asked.append(request.url) if is_next(request) else None)
    sign_in_by_pasting(window)
    looks(page, "Catalogue")
    page.goto(f"{window.base}/s/demo/tools/book_trip/")
    looks(page, "Book a trip – Demo desk", START)
    before = len(asked)
    fill_in_the_start(page)
    assert len(asked) == before  # 3.2.2
    page.get_by_role("button", name="Start").click()
    window.state("waiting")
    looks(page, "Demo desk asks (round 1)")
    expect(page.get_by_label("Full name")).to_have_attribute("autocomplete", "name")
    expect(page.get_by_label("E-mail address")).to_have_attribute("autocomplete", "email")
    page.get_by_label("Full name").fill("Ada Lovelace")
    page.get_by_label("E-mail address").fill("ada@example.org")
    page.get_by_role("button", name="Check your answers").click()
    looks(page, "Error: Demo desk asks (round 1)", REFUSED)
    expect(page.locator("[data-errors]")).to_be_focused()
    expect(page.get_by_label("Date of birth")).to_have_accessible_description(re.compile("Fill in “.Date of birth.”"))
    page.get_by_role("link", name="Date of birth").click()
    expect(page.get_by_label("Date of birth")).to_be_focused()
    before = len(asked)
    fill_in_what_is_missing(page)
    assert len(asked) == before  # 3.2.2
    page.get_by_role("button", name="Check your answers").click()
    looks(page, "Check your answers – Demo desk", CHECK)
    page.get_by_role("button", name="Send to Demo desk").click()
    expect(page.get_by_role("link", name="Open localhost")).to_be_visible(timeout=WAIT)
    looks(page, "Demo desk asks (round 2)", LINK)
    pay(window)
    looks(page, "Demo desk asks (round 3)")
    page.get_by_label("Yes").check()
    page.get_by_role("button", name="Send to Demo desk").click()
    window.state("completed")
    looks(page, "Book a trip – Result", RESULT)
    assert window.trouble == []


def test_what_has_the_focus_is_not_hidden_by_what_sticks_to_the_window(opened: Opener, server: Server) -> None:
    """WCAG 2.4.11: with a reminder on top, forth and back through a small window."""
    fields: dict[str, Any] = {f"f{n}": {"type": "string", "title": f"Question {n}"} for n in range(14)}
    window = opened(viewport={"width": 390, "height": 500})
    page = window.page
    with desk(server, asks("s", **fields)):
        window.sign_in()
        page.goto(f"{window.base}/s/demo/tools/ask/")
        page.get_by_label("Topic").fill("cheese")
        page.get_by_role("button", name="Start").click()
        window.state("waiting")
        Flow.objects.update(reminded_at=timezone.now())
        page.reload()
        expect(page.locator("[data-reminder]")).to_be_visible()
        assert hidden_on_the_way(page, "Shift+Tab") == []
        assert hidden_on_the_way(page, "Tab") == []
