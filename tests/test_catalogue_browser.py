"""The catalogue in a real browser: found, opened, nothing wider than the screen, axe content."""

from typing import Any

import pytest
from django.contrib.auth.models import User
from playwright.sync_api import expect

from mrtr_web.models import Flow, Server
from tests.offers import make_library, store, tool
from tests.window import Opener, in_browser

pytestmark = in_browser

WINDOWS: list[dict[str, Any]] = [
    {},
    {"viewport": {"width": 390, "height": 844}},
    {"color_scheme": "dark", "java_script_enabled": False},
    {"color_scheme": "dark"},
]
PAGES = ("/", "/s/demo/", "/s/demo/tools/long/", "/s/library/?q=zebra", "/?q=zebra", "/?q=library", "/?tag=city")


@pytest.mark.parametrize("options", WINDOWS, ids=["wide", "phone", "without scripts", "dark"])
def test_a_person_finds_a_tool_by_words(opened: Opener, server: Server, alice: User, options: dict[str, Any]) -> None:
    Server.objects.update(keep_messages=True, description="D" * 300, tags=["T" * 80, "city"])
    store(server, tools=[tool("long", "Y" * 300, "Z" * 3_000, destructiveHint=True, idempotentHint=True)])
    library = make_library()
    for name in ("renew", "burn"):
        Flow.objects.create(user=alice, server=library, method="tools/call", name=name)
    window = opened(**options)
    window.sign_in()
    page = window.page
    page.get_by_role("searchbox", name="Search").fill("old map")
    page.get_by_role("button", name="Search").click()
    expect(page.get_by_text("0 servers · 1 thing that servers offer")).to_be_visible()
    window.check()
    page.get_by_role("link", name="Find a map").click()
    expect(page.get_by_role("heading", name="Find a map")).to_be_visible()
    for path in PAGES:
        page.goto(f"{window.base}{path}")
        window.check()
