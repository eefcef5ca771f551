"""The client of the suite's browser scenarios: a person in chromium who uses everything that the server offers.

python -m tests.conformance.browser URL. The app runs already: APP is its address, and DATABASE_URL its database.
"""

import os
import subprocess
import sys
from urllib.parse import urljoin

from playwright.sync_api import Locator, Page, expect, sync_playwright

from tests.conformance.suite import BASE
from tests.window import CHROMIUM, FLAGS, WAIT

APP = os.environ.get("APP", "")
NAME, PASSWORD = "person", "a person's password"
ROUNDS = 10


def main(url: str) -> int:
    _register(url)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        page = browser.new_page()
        page.set_default_timeout(WAIT)
        _sign_in(page)
        page.goto(urljoin(APP, "/s/suite/"))
        links = page.locator(".card--link a").evaluate_all("links => links.map(link => link.href)")
        for link in links:
            _use(page, link)
        browser.close()
    return 0


def _register(url: str) -> None:
    """As an operator would."""
    words = [sys.executable, "manage.py", "addserver", "suite", url, "--name=Suite", "--allow-private"]
    subprocess.run(words, cwd=BASE, check=True, stdout=subprocess.DEVNULL)


def _sign_in(page: Page) -> None:
    page.goto(urljoin(APP, "/accounts/login/"))
    page.get_by_label("Username").fill(NAME)
    page.get_by_label("Password").fill(PASSWORD)
    page.get_by_role("button", name="Sign in").click()
    expect(page.get_by_role("button", name="Sign out")).to_be_visible()


def _use(page: Page, link: str) -> None:
    """Start one operation and answer whatever is asked, until it has ended."""
    page.goto(link)
    _fill(page.locator("main"))
    page.get_by_role("button", name="Start").click()
    for _ in range(ROUNDS):
        over = page.locator("main[data-flow-state=completed], main[data-flow-state=failed]")
        expect(over.or_(page.locator("main[data-flow-state=waiting]"))).to_be_visible()
        if over.count():
            return
        number = page.locator("main").get_attribute("data-round")
        _fill(page.locator("main"))
        page.get_by_role("button", name="Send to").click()
        expect(page.locator(f"main[data-flow-state=waiting][data-round='{number}']")).to_have_count(0)
    raise AssertionError("the server asks on and on")


def _fill(main: Locator) -> None:
    """The first of all choices, and a number in what is still empty, which is a text as well."""
    for field in main.locator(".field").all():
        choices = field.locator("input[type=radio], input[type=checkbox]")
        if choices.count():
            choices.first.check()
    for typed in main.locator(".fields input[type=text]").all():
        if not typed.input_value():
            typed.fill("5")


if __name__ == "__main__":
    sys.exit(main(sys.argv[-1]))
