"""Steps of every kind in a real browser: mixed rounds, replies, folders, loops; checked with axe at three widths."""

import os
from typing import Any

import pytest
from django.contrib.auth.models import User
from playwright.sync_api import expect

from mrtr_web.models import Server
from tests.desk import TOOL, asks, calls, desk, done, required
from tests.test_kinds import FOLDERS, FORM, LINK, REPLY, ROOTS
from tests.window import Opener, Watched, in_browser

pytestmark = in_browser

SIZES = [(1280, "light"), (390, "dark"), (320, "light")]


def shot(window: Watched, name: str) -> None:
    """A picture of the page for whoever wants to look: SHOTS names the folder."""
    if folder := os.environ.get("SHOTS"):
        window.page.screenshot(path=f"{folder}/{name}.png", full_page=True)


def begin(window: Watched) -> None:
    window.sign_in()
    window.page.goto(f"{window.base}{TOOL}")
    window.page.get_by_label("Topic").fill("cheese")
    window.page.get_by_role("button", name="Start").click()


@pytest.fixture
def all_kinds(server: Server) -> Server:
    Server.objects.filter(pk=server.pk).update(capabilities=["elicitation", "sampling", "roots"], roots=ROOTS)
    return server


@pytest.mark.parametrize(("width", "scheme"), SIZES)
def test_a_mixed_round_step_by_step(opened: Opener, all_kinds: Server, width: int, scheme: str) -> None:
    odd = {"method": "elicitation/create", "params": {"mode": "video", "message": "Look at this"}}
    entries: dict[str, Any] = {"a.b": REPLY, "1": FOLDERS, "": LINK, "who": FORM, "odd": odd}
    window = opened(viewport={"width": width, "height": 800}, color_scheme=scheme)
    page = window.page
    with desk(all_kinds, required(entries, "s1"), done()) as recorder:
        begin(window)
        window.state("waiting")
        following = page.get_by_role("button", name="Next")
        window.check()
        shot(window, f"sampling-{width}")
        page.get_by_label("Your reply").fill("Good food.")
        following.click()
        page.get_by_label("Photos").check()
        page.get_by_label("Other folders").fill("/home/ada")
        window.check()
        shot(window, f"roots-{width}")
        following.click()
        page.get_by_label("I have finished there").check()
        window.check()
        following.click()
        page.get_by_label("Name").fill("Ada")
        following.click()
        expect(page.get_by_text("This app cannot show what the server asks for here")).to_be_visible()
        window.check()
        shot(window, f"impossible-{width}")
        page.get_by_role("button", name="Check your answers").click()
        expect(page.get_by_role("heading", name="Check your answers")).to_be_visible()
        window.check()
        shot(window, f"check-{width}")
        page.get_by_role("button", name="Send to").click()
        window.state("completed")
        assert calls(recorder)[1].params["inputResponses"] == {
            "a.b": {
                "role": "assistant",
                "content": {"type": "text", "text": "Good food."},
                "model": "human",
                "stopReason": "endTurn",
            },
            "1": {"roots": [*ROOTS, {"uri": "file:///home/ada"}]},
            "": {"action": "accept"},
            "who": {"action": "accept", "content": {"name": "Ada"}},
            "odd": {"action": "cancel"},
        }


def test_a_reply_that_is_too_long_is_said_at_its_field(opened: Opener, all_kinds: Server) -> None:
    window = opened()
    with desk(all_kinds, required({"a": REPLY}, "s1")):
        begin(window)
        window.page.get_by_label("Your reply").fill("a b c d e f g h i")
        window.page.get_by_role("button", name="Send to").click()
        window.check_refused()
        shot(window, "reply-refused")


def test_a_half_typed_reply_survives_a_reload(opened: Opener, all_kinds: Server) -> None:
    window = opened()
    page = window.page
    with desk(all_kinds, required({"a": REPLY}, "s1")):
        begin(window)
        page.wait_for_load_state()  # nobody is as quick as to reload before the scripts are there
        expect(page.get_by_text("is kept in this tab")).to_be_hidden()
        page.get_by_label("Your reply").fill("Half a")
        expect(page.get_by_text("is kept in this tab")).to_be_visible()
        page.get_by_text("Details").click()
        page.reload()
        expect(page.get_by_label("Your reply")).to_have_value("Half a")


@pytest.mark.parametrize(("width", "scheme"), SIZES)
def test_a_server_that_asks_again_and_again(opened: Opener, server: Server, width: int, scheme: str) -> None:
    """M07, T-12"""
    window = opened(viewport={"width": width, "height": 800}, color_scheme=scheme)
    page = window.page
    secret = asks("s", "Give us your card number.", number={"type": "string", "title": "Number"})
    with desk(server, *[asks()] * 9, secret):
        begin(window)
        for number in range(1, 10):
            expect(page.locator(f'main[data-round="{number}"]')).to_be_visible()
            page.get_by_label("Name").fill("Ada")
            page.get_by_role("button", name="Send to").click()
        expect(page.locator('main[data-round="10"]')).to_be_visible()
        window.check()
        shot(window, f"tenth-{width}")
        page.get_by_role("link", name="To “Stop this request”").click()
        page.get_by_role("button", name="Stop this request").click()
        window.state("stopped")


def test_a_server_that_is_not_ready_shows_how_often_it_was_asked(opened: Opener, server: Server) -> None:
    """M05, T-12"""
    window = opened()
    with desk(server, required(None, "later")):
        begin(window)
        expect(window.page.get_by_text("“not yet”")).to_be_visible()
        window.check()
        shot(window, "not-yet")


def test_the_admin_page_of_a_server_works_under_its_policy(opened: Opener, server: Server, alice: User) -> None:
    alice.is_staff = alice.is_superuser = True
    alice.save()
    window = opened()
    page = window.page
    window.sign_in()
    page.get_by_role("link", name="Administration").click()
    page.goto(f"{window.base}/admin/mrtr_web/server/{server.pk}/change/")
    expect(page.locator(".selector-available")).to_be_visible()  # drawn by the admin's scripts
    page.get_by_label("sampling").check()
    page.get_by_label("Folders").fill("Photos = file:///home/my photos")
    page.get_by_role("button", name="Save", exact=True).click()
    expect(page.get_by_text("Not a plain file address")).to_be_visible()
    page.get_by_label("Folders").fill("Photos = file:///home/my%20photos")
    page.get_by_role("button", name="Save", exact=True).click()
    expect(page.get_by_text("was changed successfully")).to_be_visible()
    assert window.trouble == []
    saved = Server.objects.get(pk=server.pk)
    assert saved.capabilities == ["elicitation", "sampling"]
    assert saved.roots == [{"uri": "file:///home/my%20photos", "name": "Photos"}]


def test_a_step_that_is_not_filled_in_is_not_called_done(opened: Opener, server: Server) -> None:
    window = opened()
    page = window.page
    name = {"type": "string", "title": "Name", "minLength": 1}
    form = {"message": "Who?", "requestedSchema": {"type": "object", "properties": {"n": name}, "required": ["n"]}}
    who = {"method": "elicitation/create", "params": form}
    with desk(server, required({"a": who, "b": LINK, "c": who}, "s")):
        begin(window)
        window.state("waiting")
        status = page.locator(".steps__status")
        following = page.get_by_role("button", name="Next")
        following.click()
        expect(status).to_have_text(["Not complete", "You are here", "Not yet"])
        page.get_by_label("I have finished there").check()
        following.click()
        expect(status).to_have_text(["Not complete", "Done", "You are here"])
        page.get_by_role("button", name="Check your answers").click()
        window.check_refused()
        expect(status).to_have_text(["You are here", "Done", "Needs correcting"])
        page.locator("#id_r1s0-f0").fill("Ada")
        following.click()
        expect(status.first).to_have_text("Needs correcting")
