"""Connections in a real browser: pasted tokens, and the whole way to an authorization server and back."""

from collections.abc import Iterator
from typing import Any

import pytest
from playwright.sync_api import expect

from mrtr_web.models import Connection, Server
from tests.authserver import World, authorized
from tests.desk import asks, done
from tests.gate import gate
from tests.window import Opener, Watched, in_browser

pytestmark = in_browser

PHONE: dict[str, Any] = {"viewport": {"width": 390, "height": 844}}
WINDOWS: list[dict[str, Any]] = [
    {},
    PHONE,
    {"color_scheme": "dark", "java_script_enabled": False},
    PHONE | {"color_scheme": "dark"},
]
in_two_windows = pytest.mark.parametrize("options", [PHONE, WINDOWS[2]], ids=["phone", "without scripts"])
in_each_window = pytest.mark.parametrize("options", WINDOWS, ids=["wide", "phone", "without scripts", "dark"])


def press(window: Watched, name: str) -> None:
    window.page.get_by_role("button", name=name).click()


def follow(window: Watched, name: str) -> None:
    window.page.get_by_role("link", name=name).click()


def told(window: Watched, words: str) -> None:
    """The page says so, and there is nothing wrong with it."""
    expect(window.page.get_by_text(words).first).to_be_visible()
    window.check()


def start(window: Watched, path: str, **typed: str) -> None:
    window.page.goto(f"{window.base}/s/demo/tools/{path}/")
    for label, text in typed.items():
        window.page.get_by_label(label).fill(text)
    window.page.locator("button:visible", has_text="Start").last.click()


@in_each_window
def test_a_person_gives_replaces_and_takes_back_a_token(
    opened: Opener, server: Server, options: dict[str, Any]
) -> None:
    Server.objects.update(credential_kind="each")
    taken = {"g00d"}
    with gate(server, taken, asks(), done()):
        window = opened(**options)
        window.sign_in()
        page = window.page
        follow(window, "Settings")
        follow(window, "See my connections")
        told(window, "You have not given a token yet.")
        page.goto(f"{window.base}/s/demo/tools/ask/")
        told(window, "Then you come back to what you wanted to open.")
        page.goto(f"{window.base}/s/demo/")
        follow(window, "Give a token for Demo desk")
        page.get_by_label("Your token for Demo desk").fill("Bearer g00d")
        press(window, "Keep this token")
        window.check_refused()
        page.get_by_role("link", name="The token has a space in it.").click()
        expect(page.get_by_label("Your token for Demo desk")).to_have_value("")
        page.get_by_label("Your token for Demo desk").fill("g00d")
        press(window, "Keep this token")
        told(window, "A token of yours is used here.")
        taken.clear()
        start(window, "ask", Topic="cheese")
        window.state("unsent")
        told(window, "The server does not accept your token: it may have been withdrawn or have run out.")
        follow(window, "Replace your token for Demo desk")
        told(window, "Everything you typed for your request is kept.")
        taken.add("n3w")
        page.get_by_label("Your token for Demo desk").fill("n3w")
        press(window, "Replace the token")
        window.state("waiting")
        window.check()
        page.goto(f"{window.base}/connections/")
        told(window, "A token of yours is kept since")
        follow(window, "Disconnect from Demo desk")
        told(window, "Disconnect from Demo desk?")
        press(window, "Disconnect")
        told(window, "You are disconnected from Demo desk. Your token is deleted here.")


@pytest.fixture
def world(server: Server) -> Iterator[World]:
    """An authorization server with a page of its own, and the server that is registered here."""
    with authorized(consent="page", open_listings=True) as found:
        Server.objects.filter(pk=server.pk).update(url=found.url, credential_kind="oauth")
        yield found
        assert found.faults == []


def leave(window: Watched, world: World) -> None:
    """From our page to theirs, which no page of ours has asked for anything before."""
    told(window, "That page belongs to them, not to this app.")
    follow(window, "Go on to localhost")
    expect(window.page.get_by_role("button", name="Allow")).to_be_visible()
    assert window.page.url.startswith(world.grants.base)


def come_back(window: Watched, world: World, login: str, button: str = "Allow") -> None:
    window.page.get_by_label("Login").fill(login)
    press(window, button)
    window.page.wait_for_url(f"{window.base}/**")
    window.trouble[:] = [each for each in window.trouble if world.grants.base not in each]


@in_each_window
def test_a_person_signs_in_in_the_middle_of_a_request(opened: Opener, world: World, options: dict[str, Any]) -> None:
    window = opened(**options)
    window.sign_in()
    start(window, "ask")
    window.state("unsent")
    told(window, "The server wants you to sign in first.")
    press(window, "Sign in to Demo desk")
    leave(window, world)
    come_back(window, world, "carla")
    window.state("waiting")
    window.check()
    window.page.get_by_label("Treat").fill("Chocolate")
    window.page.locator("button:visible", has_text="Send").first.click()
    window.state("completed")
    told(window, "Chocolate for carla; asked carla")
    window.page.goto(f"{window.base}/connections/demo/")
    told(window, "You are signed in since")


@in_two_windows
def test_a_person_signs_in_from_the_servers_page_asks_for_more_and_disconnects(
    opened: Opener, world: World, options: dict[str, Any]
) -> None:
    world.knobs.open_listings = False
    window = opened(**options)
    window.sign_in()
    window.page.goto(f"{window.base}/s/demo/")
    told(window, "The server wants you to sign in first.")
    press(window, "Sign in to Demo desk")
    leave(window, world)
    come_back(window, world, "carla")
    told(window, "You are signed in here.")
    start(window, "admin")
    window.state("unsent")
    told(window, "The server does not allow you to do that with the rights that you have given this app there.")
    expect(window.page.get_by_role("heading", name="This needs more rights")).to_be_visible()
    press(window, "Give more rights at Demo desk")
    told(window, "These rights are asked for, in the words of Demo desk:")
    assert window.page.get_by_role("listitem").filter(has_text="admin").count() == 1
    leave(window, world)
    come_back(window, world, "carla")
    window.state("completed")
    told(window, "carla may do this")
    window.page.goto(f"{window.base}/connections/")
    follow(window, "Disconnect from Demo desk")
    told(window, "Disconnect from Demo desk?")
    press(window, "Disconnect")
    told(window, "Your token is deleted here, and no longer accepted there.")
    assert len(world.revoked) > 0 and not Connection.objects.exists()


@in_two_windows
def test_a_person_who_says_no_there_can_go_on_here(opened: Opener, world: World, options: dict[str, Any]) -> None:
    window = opened(**options)
    window.sign_in()
    start(window, "whoami")
    window.state("unsent")
    press(window, "Sign in to Demo desk")
    leave(window, world)
    come_back(window, world, "carla", "Deny")
    window.trouble[:] = [each for each in window.trouble if "status of 403" not in each]
    told(window, "You did not allow it at the sign-in server")
    assert window.page.url == f"{window.base}/oauth/refused/"  # nothing of the answer stays in the address
    follow(window, "Back to your request")
    window.state("unsent")
    press(window, "Sign in to Demo desk")
    follow(window, "Back to your request")
    window.state("unsent")
    window.check()


@in_two_windows
def test_the_page_says_why_nobody_can_sign_in(opened: Opener, world: World, options: dict[str, Any]) -> None:
    world.knobs.metadata = {"code_challenge_methods_supported": None}
    window = opened(**options)
    window.sign_in()
    window.page.goto(f"{window.base}/connections/")
    told(window, "You are not signed in.")
    press(window, "Sign in to Demo desk")
    expect(window.page.get_by_role("heading", name="You cannot sign in just now")).to_be_visible()
    window.trouble[:] = [each for each in window.trouble if "status of 502" not in each]
    told(window, "The sign-in server lacks a safeguard")
    assert window.page.title().startswith("Error")
    if window.scripts:
        expect(window.page.locator("[data-errors]")).to_be_focused()
