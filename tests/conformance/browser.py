"""The client of the suite's browser scenarios: a person in chromium who uses everything that the server offers."""

import contextlib
import io
import os
import re
from collections.abc import Iterator

from playwright.sync_api import BrowserContext, Locator, Page, Response, expect, sync_playwright

from tests.window import CHROMIUM, FLAGS, WAIT

NAME, PASSWORD = "person", "a person's password"
ROUNDS = 10


@contextlib.contextmanager
def person(base: str) -> Iterator[BrowserContext]:
    """A browser in which somebody has signed in to the app at `base`."""
    # Playwright keeps an event loop in this thread, which Django's guard takes for a view.
    os.environ["DJANGO_ALLOW_ASYNC_UNSAFE"] = "true"
    try:
        with (
            sync_playwright() as playwright,
            playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS) as browser,
        ):
            context = browser.new_context(base_url=base)
            context.set_default_timeout(WAIT)
            with page_of(context) as page:
                _sign_in(page)
            yield context
    finally:
        del os.environ["DJANGO_ALLOW_ASYNC_UNSAFE"]


@contextlib.contextmanager
def page_of(context: BrowserContext) -> Iterator[Page]:
    """A page of the person's, in which nothing may break. Raises AssertionError."""
    broken: list[str] = []

    def look(response: Response) -> None:
        if response.status == 500:
            broken.append(f"{response.request.method} {response.url.partition('?')[0]}")

    with context.new_page() as page:
        page.on("response", look)
        page.on("pageerror", lambda error: broken.append(str(error)))
        yield page
    assert broken == [], broken


def register(slug: str, url: str, *options: str) -> None:
    """As an operator would, for somebody who has not signed in anywhere for a while."""
    from django.core.management import call_command

    from mrtr_web.models import Allowance

    Allowance.objects.all().delete()
    call_command("addserver", slug, url, "--name=Suite", "--allow-private", *options, stdout=io.StringIO())


def use(context: BrowserContext, slug: str, url: str) -> None:
    """Use everything that the server offers."""
    register(slug, url)
    with page_of(context) as page:
        page.goto(f"/s/{slug}/")
        for link in offers(page):
            start(page, link)
            _answer(page)


def offers(page: Page) -> list[str]:
    """The addresses of what the server's page offers."""
    found: list[str] = page.locator(".card--link a").evaluate_all("links => links.map(link => link.href)")
    return found


def start(page: Page, link: str) -> None:
    page.goto(link)
    _fill(page.locator("main"))
    page.get_by_role("button", name=re.compile("^(Start|Read)$")).click()


def _sign_in(page: Page) -> None:
    page.goto("/accounts/login/")
    page.get_by_label("Username").fill(NAME)
    page.get_by_label("Password").fill(PASSWORD)
    page.get_by_role("button", name="Sign in").click()
    expect(page.get_by_role("button", name="Sign out")).to_be_visible()


def _answer(page: Page) -> None:
    """Answer whatever is asked, until the operation has ended."""
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
        choices = field.locator("input[type=radio]:visible, input[type=checkbox]:visible")
        if choices.count():
            choices.first.check()
    for typed in main.locator(".fields input[type=text]").all():
        if not typed.input_value():
            typed.fill("5")
