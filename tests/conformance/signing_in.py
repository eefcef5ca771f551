"""The client of the suite's auth scenarios: a person in chromium who signs in wherever the app offers that.

python -m tests.conformance.signing_in URL. The app runs already: APP is its address, and DATABASE_URL its database.
Whether a sign-in is to succeed or to be refused is the scenario's to judge; here no page may be broken.
"""

import json
import os
import re
import sys
from pathlib import Path
from urllib.parse import urljoin

from playwright.sync_api import Page, Response, expect, sync_playwright

import tests.env  # noqa: F401  settings, before Django reads them
from tests.conformance.browser import APP, _fill, _sign_in
from tests.window import CHROMIUM, FLAGS, WAIT

MOST = 6
"""Sign-ins in one scenario; the app itself stops before."""
OFFER = re.compile(r"Sign in (again )?to Suite")
SETTLED = "main:not([data-flow-state=running], [data-flow-state=not_yet])"
TOOL_STATES = ", ".join(f"main[data-flow-state={state}]" for state in ("completed", "failed", "unsent"))


def main(url: str) -> int:
    _register(url, json.loads(os.environ.get("MCP_CONFORMANCE_CONTEXT", "{}")))
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        page = browser.new_page()
        page.set_default_timeout(WAIT)
        page.on("response", _check)
        _sign_in(page)
        page.goto(urljoin(APP, "/s/suite/"))
        _let_in(page)
        for link in page.locator(".card--link a").evaluate_all("links => links.map(link => link.href)"):
            page.goto(link)
            _fill(page.locator("main"))
            page.get_by_role("button", name="Start").click()
            _let_in(page)
            expect(page.locator(TOOL_STATES)).to_be_visible()
        browser.close()
    return 0


def _check(response: Response) -> None:
    if response.url.startswith(APP) and response.status == 500:
        os._exit(3)  # an exception would be lost in here


def _register(url: str, context: dict[str, str]) -> None:
    """As an operator would."""
    import django

    django.setup()
    from django.core.management import call_command

    from mrtr_web.models import Server

    Server.objects.filter(slug="suite").delete()
    options = ["--name=Suite", "--allow-private", "--credential=oauth"]
    if "client_id" in context:
        client = "\n".join(f"{key}: {context[key]}" for key in ("client_id", "client_secret"))
        (Path(os.environ["MRTR_CREDENTIAL_DIR"]) / "suite").write_text(client)
        options.append("--client-file=suite")
    call_command("addserver", "suite", url, *options)


def _let_in(page: Page) -> None:
    """Sign in as often as that is offered."""
    for _ in range(MOST):
        expect(page.locator(SETTLED)).to_be_visible()
        offer = page.get_by_role("button", name=OFFER)
        if not offer.count():
            return
        with page.expect_navigation():
            offer.click()
        way = page.get_by_role("link", name="Go on to")
        if not way.count():
            return
        with page.expect_navigation(url=f"{APP}/**"):
            way.click()
    raise AssertionError("signing in is offered again and again")


if __name__ == "__main__":
    sys.exit(main(sys.argv[-1]))
