"""The client of the suite's auth scenarios: a person in chromium who signs in wherever the app offers that.

Whether a sign-in is to succeed or to be refused is the scenario's to judge; here every page must be a known one.
"""

import os
import re
from collections.abc import Mapping
from pathlib import Path

from playwright.sync_api import BrowserContext, Locator, Page, expect

from tests.conformance.browser import offers, page_of, register, start

MOST = 5
"""Sign-ins that a person tries in a row; the app stops offering it before."""
OFFER = re.compile(r"^(Sign in (again )?to|Give more rights at) Suite$")
REFUSED = re.compile("^You are (not|still) signed in at")
LISTED = ".server-head"
ENDED = ", ".join(f"main[data-flow-state={state}]" for state in ("completed", "failed", "unsent"))
CLIENT = ("client_id", "client_secret", "issuer")
"""What the suite says of a client that it has registered before."""


def use(context: BrowserContext, slug: str, url: str, told: Mapping[str, str]) -> None:
    """Use everything that the server offers, and sign in where that is wanted."""
    register(slug, url, "--credential=oauth", *_client(slug, told))
    with page_of(context) as page:
        page.goto(f"/s/{slug}/")
        expect(page.locator(LISTED)).to_be_visible()
        if not _let_in(page):
            return
        for link in offers(page):
            start(page, link)
            expect(page.locator(ENDED)).to_be_visible()
            if not _let_in(page):
                return


def _client(slug: str, told: Mapping[str, str]) -> list[str]:
    """Where the app reads what it is at the authorization server, if that is known before."""
    if "client_id" not in told:
        return []
    lines = [f"{key}: {told[key]}" for key in CLIENT if key in told]
    (Path(os.environ["MRTR_CREDENTIAL_DIR"]) / slug).write_text("\n".join(lines))
    return [f"--client-file={slug}"]


def _let_in(page: Page) -> bool:
    """Sign in as long as that is offered. Whether nobody has refused that."""
    for _ in range(MOST):
        offer = page.get_by_role("button", name=OFFER)
        if not offer.count():
            return True
        offer.click()
        way, trouble = page.get_by_role("link", name="Go on to"), _heading(page, "You cannot sign in just now")
        expect(way.or_(trouble)).to_be_visible()
        if trouble.count():
            return False
        way.click()
        refused = _heading(page, REFUSED)
        expect(refused.or_(page.locator(f"{LISTED}, {ENDED}"))).to_be_visible()
        if refused.count():
            return False
    raise AssertionError("signing in is offered again and again")


def _heading(page: Page, name: str | re.Pattern[str]) -> Locator:
    return page.get_by_role("heading", name=name)
