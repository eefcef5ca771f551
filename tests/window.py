"""A real browser: a window with a person in it, that collects what must never happen and is checked with axe."""

import json
import os
import re
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from playwright.sync_api import Browser, BrowserContext, ConsoleMessage, Dialog, expect, sync_playwright

if TYPE_CHECKING:  # it needs Django's settings, and a window does not
    from django.contrib.auth.models import User

CHROMIUM = shutil.which("chromium")
WAIT = 10_000
"""Milliseconds that a test waits for anything in the browser."""
AXE = (Path(__file__).parent / "vendor" / "axe.min.js").read_text()
FLAGS = ["--no-sandbox", "--disable-gpu", "--disable-quic", "--disable-background-networking"]
FLAGS += ["--disable-component-update", "--disable-sync", "--no-first-run"]

in_browser = [
    pytest.mark.browser,
    pytest.mark.django_db(transaction=True),
    pytest.mark.skipif(
        CHROMIUM is None and os.environ.get("CI") != "true",
        reason="chromium is not installed: apt-get install chromium",
    ),
]
"""The marks of every test that needs a browser: `pytestmark = in_browser`."""


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    # Playwright keeps an event loop in this thread, which Django's guard takes for a view.
    os.environ["DJANGO_ALLOW_ASYNC_UNSAFE"] = "true"
    try:
        with sync_playwright() as playwright:
            opened = playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
            yield opened
            opened.close()
    finally:
        del os.environ["DJANGO_ALLOW_ASYNC_UNSAFE"]


CHANCE = re.compile(r'value="\w{64}"|[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}')
"""Tokens against forgery, and ids: what differs in a page that is the same."""
_sound = set[tuple[Any, ...]]()
"""Pages that axe had nothing to say of; it would say the same again, and takes a second of CPU for it."""


class Watched:
    """A page that collects what must never happen: console errors, dialogs, foreign requests."""

    def __init__(self, context: BrowserContext, base: str, scripts: bool) -> None:
        context.set_default_timeout(WAIT)
        self.scripts = scripts
        self.base, self.trouble = base, list[str]()
        self.page = context.new_page()
        self.page.on("console", self._on_console)
        self.page.on("pageerror", lambda error: self.trouble.append(str(error)))
        self.page.on("dialog", self._on_dialog)
        self.page.on("request", lambda r: None if r.url.startswith(base) else self.trouble.append(r.url))

    def _on_console(self, message: ConsoleMessage) -> None:
        """A refused post has status 422, which the console notes too."""
        if message.type == "error" and "422" not in message.text:
            self.trouble.append(f"{message.text} {message.location['url']}")

    def _on_dialog(self, dialog: Dialog) -> None:
        """The browser may ask whether to leave a page with a typed secret; nobody else may ask anything."""
        if dialog.type != "beforeunload":
            self.trouble.append(dialog.message)
        dialog.accept()

    def check(self) -> None:
        """No trouble so far, nothing wider than the screen, and axe has nothing to say."""
        self.page.wait_for_load_state()  # a page that was only just arrived at has no document yet
        assert self.trouble == [], self.trouble
        width = self.page.evaluate("[document.documentElement.scrollWidth, innerWidth]")
        assert width[0] <= width[1], f"{self.page.url} is {width[0]} wide"
        if not self.scripts:
            return
        if (looks := self._looks()) in _sound:
            return
        self.page.evaluate(AXE)
        found = self.page.evaluate("axe.run(document, {resultTypes: ['violations']})")["violations"]
        told = [(v["id"], [n["html"][:200] for n in v["nodes"]]) for v in found]
        assert told == [], json.dumps(told, indent=1)
        _sound.add(looks)

    def _looks(self) -> tuple[Any, ...]:
        """All that axe goes by."""
        html, *others = self.page.evaluate(
            """[document.documentElement.outerHTML, innerWidth,
                matchMedia("(prefers-color-scheme: dark)").matches, matchMedia("(forced-colors: active)").matches]"""
        )
        return CHANCE.sub("", html.replace(self.base, "")), *others

    def check_refused(self) -> None:
        """The page is a refusal: its errors come first, and have the focus."""
        expect(self.page.get_by_role("heading", name="There is a problem")).to_be_visible()
        self.check()
        assert self.page.title().startswith("Error")
        if self.scripts:
            expect(self.page.locator("[data-errors]")).to_be_focused()

    def sign_in(self) -> None:
        self.page.goto(f"{self.base}/accounts/login/")
        self.check()
        self.page.get_by_label("Username").fill("alice")
        self.page.get_by_label("Password").fill("alice's password")
        self.page.get_by_role("button", name="Sign in").click()

    def sign_out(self) -> None:
        """Also where that would end open requests, and is asked first."""
        self.page.get_by_role("banner").get_by_role("button", name="Sign out").click()
        heading = self.page.get_by_role("heading", level=1)
        expect(heading).to_have_text(re.compile(r"^Sign (out\?|in)$"))
        if heading.inner_text() == "Sign out?":
            self.page.get_by_role("main").get_by_role("button", name="Sign out").click()
        expect(self.page.get_by_role("button", name="Sign in")).to_be_visible()

    def state(self, wanted: str) -> None:
        expect(self.page.locator(f'main[data-flow-state="{wanted}"]')).to_be_visible(timeout=WAIT)


Opener = Callable[..., Watched]


@pytest.fixture
def opened(browser: Browser, app: str, alice: "User") -> Iterator[Opener]:
    """Opens a browser window with a person in it; options as of a Playwright context."""
    contexts: list[BrowserContext] = []

    def open_window(**options: Any) -> Watched:
        context = browser.new_context(**{"viewport": {"width": 1280, "height": 900}} | options)
        contexts.append(context)
        return Watched(context, app, options.get("java_script_enabled", True))

    yield open_window
    for context in contexts:
        context.close()
