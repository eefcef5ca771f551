"""The admin's pages of ours in a real browser: the strict policy is kept, and they work without scripts, too."""

import os
from pathlib import Path

import pytest
from django.contrib.auth.models import User

from mrtr_web import credentials, tokens
from mrtr_web.access import Client, Tokens
from mrtr_web.models import Server
from tests.desk import desk, done
from tests.window import Opener, Watched, in_browser

pytestmark = in_browser
TOKENS = Tokens(access="t", issuer="i", resource="r", token_endpoint="e", client=Client(client_id="c"))


@pytest.fixture
def root(alice: User) -> None:
    User.objects.filter(pk=alice.pk).update(is_staff=True, is_superuser=True)


def look(window: Watched, path: str, name: str) -> None:
    window.page.goto(f"{window.base}{path}")
    look_at(window, name)


def look_at(window: Watched, name: str) -> None:
    window.page.wait_for_load_state()
    if folder := os.environ.get("SHOTS"):
        width = window.page.evaluate("innerWidth")
        window.page.screenshot(path=Path(folder) / f"{name}-{width}.png", full_page=True)
    assert window.trouble == [], name


@pytest.mark.parametrize("width", [1280, 390])
def test_pages_of_the_admin_keep_the_policy(
    opened: Opener, root: None, alice: User, server: Server, width: int
) -> None:
    window = opened(viewport={"width": width, "height": 800})
    window.sign_in()
    with desk(server, done()):
        look(window, "/admin/mrtr_web/server/", "list")
        look(window, f"/admin/mrtr_web/server/{server.pk}/change/", "change")
        window.page.get_by_role("button", name="Test connection").click()
        window.page.get_by_text("Demo desk answers.").wait_for()
        look(window, f"/admin/mrtr_web/server/{server.pk}/change/", "tested")
    window.page.goto(f"{window.base}/admin/mrtr_web/server/import/")
    window.page.get_by_label("Or its text").fill((Path(__file__).parent / "data" / "mcp.json").read_text())
    window.page.get_by_role("button", name="Import").click()
    window.page.get_by_role("cell", name="docs").first.wait_for()
    look_at(window, "imported")
    credentials.give(server, "oauth", "client_id: app-1\nissuer: https://as.example")
    server.save()
    tokens.keep(server, alice.pk, TOKENS)
    look(window, f"/admin/mrtr_web/server/{server.pk}/change/", "sign-in")
    for path in ("server/add", "server/import", "session", "flow", "auditentry", "finding", "connection"):
        look(window, f"/admin/mrtr_web/{path}/", path.replace("/", "-"))
