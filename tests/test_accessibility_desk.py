"""The review desk by keyboard: shortcuts that can be found, switched off, and never get in the way of typing."""

import re

from django.contrib.auth.models import User
from playwright.sync_api import Locator, Page, expect

from mrtr_web.models import Server
from tests.accessible import check_for_everybody
from tests.reviewers import admitted, flow_of, reviewer_of
from tests.visitors import cookies_of
from tests.window import Opener, Watched, in_browser

pytestmark = in_browser


def at_the_desk(opened: Opener, server: Server, alice: User, **options: object) -> Watched:
    """Rita's window, with two requests in her queue."""
    rita = reviewer_of("rita", server)
    admitted(alice, server)
    for age in (60, 120):
        flow_of(alice, server, age=age)
    window = opened(**options)
    cookies = cookies_of(rita)
    window.page.context.add_cookies([{"name": n, "value": v, "url": window.base} for n, v in cookies.items()])
    window.page.goto(f"{window.base}/review/")
    return window


QUEUE = """
- table "Requests":
  - rowgroup:
    - row:
      - columnheader "Request"
      - columnheader "Who waits for whom"
      - columnheader "For"
      - columnheader "Asked"
      - columnheader "Looked after"
  - rowgroup:
    - row:
      - rowheader:
        - link /^ask [0-9A-F]{8}$/
        - text: Demo desk
      - cell /With the person Demo desk waits for alice$/
      - cell /Age/
      - cell /Round 1 2 forms, one page to open pay.example$/
      - cell /Nobody$/
"""


def test_the_queue_is_for_everybody(opened: Opener, server: Server, alice: User) -> None:
    """A table by name, role and order, also on a phone, where it is laid out as cards."""
    window = at_the_desk(opened, server, alice)
    for width in (1280, 390):
        window.page.set_viewport_size({"width": width, "height": 900})
        expect(window.page.get_by_role("table")).to_match_aria_snapshot(QUEUE)
        counters = window.page.get_by_role("list", name="How many are in each state").get_by_role("link").all()
        rows_of_counters = {box["y"] for counter in counters if (box := counter.bounding_box())}
        assert width < 1280 or len(rows_of_counters) == 1
    check_for_everybody(window.page)
    rows(window.page)[0].click()
    expect(window.page.get_by_role("heading", level=1)).to_contain_text("Request")
    check_for_everybody(window.page)


def rows(page: Page) -> list[Locator]:
    return page.locator("tbody th a").all()


def test_shortcuts_go_through_the_queue_and_about_the_desk(opened: Opener, server: Server, alice: User) -> None:
    window = at_the_desk(opened, server, alice)
    page, keys = window.page, window.page.keyboard
    first, second = rows(page)
    for key, wanted in (("j", first), ("j", second), ("j", second), ("k", first), ("k", first)):
        keys.press(key)
        expect(wanted).to_be_focused()
    keys.press("/")
    field = page.locator("form.filter").locator("input, select").first
    expect(field).to_be_focused()
    keys.press("g")
    keys.press("s")
    expect(field).to_be_focused()  # in a field they are letters
    page.keyboard.press("Shift+Tab")
    keys.press("Shift+?")
    summary = page.locator("[data-shortcuts] summary")
    expect(summary).to_be_focused()
    expect(page.get_by_text("To the next request")).to_be_visible()
    window.check()
    keys.press("Control+j")
    expect(summary).to_be_focused()
    keys.press("j")
    keys.press("Enter")
    expect(page).to_have_url(re.compile(r"/review/[0-9a-f-]{36}/$"))
    window.check()
    for key, path in (("s", "servers/"), ("a", "audit/"), ("f", "findings/"), ("n", "numbers/"), ("q", "")):
        keys.press("g")
        keys.press(key)
        expect(page).to_have_url(f"{window.base}/review/{path}")
        page.wait_for_load_state("domcontentloaded")  # the script listens from then on
    assert window.trouble == []


def test_shortcuts_that_are_switched_off_stay_off(opened: Opener, server: Server, alice: User) -> None:
    """WCAG 2.1.4"""
    window = at_the_desk(opened, server, alice)
    page = window.page
    page.get_by_text("Keyboard shortcuts", exact=True).click()
    page.get_by_label("Use keyboard shortcuts").uncheck()
    page.evaluate("localStorage.clear()")  # as signing out does
    page.goto(f"{window.base}/review/")
    page.keyboard.press("j")
    assert page.evaluate("document.activeElement === document.body")
    page.get_by_text("Keyboard shortcuts", exact=True).click()
    page.get_by_label("Use keyboard shortcuts").check()
    page.reload()
    page.keyboard.press("j")
    expect(page.locator("tbody th a").first).to_be_focused()


def test_without_scripts_no_shortcuts_are_promised(opened: Opener, server: Server, alice: User) -> None:
    window = at_the_desk(opened, server, alice, java_script_enabled=False)
    expect(window.page.locator("tbody th a")).to_have_count(2)
    expect(window.page.get_by_text("Keyboard shortcuts", exact=True)).to_be_hidden()
