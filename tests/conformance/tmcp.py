"""A server that is not built on the official SDK, used through the pages in a browser. Run by `make conformance`."""

import json
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import expect

from mrtr_web.models import Server
from tests.conformance.suite import INSTALLED, NODE
from tests.conftest import point_to
from tests.servers import Proxy, Recorder, serve
from tests.window import Opener, Watched, in_browser

pytestmark = in_browser


@pytest.fixture
def tables(server: Server) -> Iterator[tuple[Recorder, Proxy]]:
    """tmcp's server, registered, with what goes out to it and what comes back."""
    script = Path(__file__).with_name("tmcp.mjs")
    command = [str(NODE), str(script), str(INSTALLED / "npm" / "node_modules")]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            proxy = Proxy(process.stdout.readline().strip())
            recorder = Recorder(proxy)
            with serve(recorder, lifespan="off") as base:
                point_to(server, base)
                yield recorder, proxy
        finally:
            process.terminate()


def test_three_rounds_with_the_state_echoed_to_the_byte(opened: Opener, tables: tuple[Recorder, Proxy]) -> None:
    """MR-3, MR-6, M03"""
    recorder, proxy = tables
    window = opened()
    page = window.page
    open_tool(window, "Book a table")
    page.get_by_label("restaurant").fill('Ümläut "Bistro" \\ 東京')
    send(window, "Start")
    page.get_by_label("name").fill("Ada")
    page.get_by_label("guests").fill("4")
    send(window, "Send to")
    page.get_by_label("saturday").check()
    send(window, "Send to")
    page.get_by_label("Yes").check()
    page.get_by_role("button", name="Send to").click()
    window.state("completed")
    expect(page.locator(".block")).to_contain_text('A table at Ümläut "Bistro" \\ 東京 for Ada, 4 guests, saturday')
    posts, answers = calls(recorder, proxy)
    states = [answer["result"].get("requestState") for answer in answers]
    assert [post.get("requestState") for post in posts] == [None, *states[:3]]
    assert states[3] is None and '"' in states[2] and len(set(states[:3])) == 3
    assert len({post["_meta"]["progressToken"] for post in posts}) == 4
    assert [post.get("inputResponses") for post in posts] == [
        None,
        {"who": {"action": "accept", "content": {"name": "Ada", "guests": 4}}},
        {"when": {"action": "accept", "content": {"day": "saturday"}}},
        {"ok": {"action": "accept", "content": {"sure": True}}},
    ]


def test_a_link_that_was_declined_is_told_so(opened: Opener, tables: tuple[Recorder, Proxy]) -> None:
    window = opened()
    open_tool(window, "Link an account")
    send(window, "Start")
    expect(window.page.locator(".address__url")).to_have_text("https://example.com/link")
    window.page.get_by_role("button", name="I do not want to open it").click()
    window.state("completed")
    expect(window.page.locator(".block")).to_contain_text("Linked: decline")
    posts, _ = calls(*tables)
    assert posts[1]["inputResponses"] == {"link": {"action": "decline"}}


def open_tool(window: Watched, name: str) -> None:
    window.sign_in()
    window.page.get_by_role("link", name="Demo desk").click()
    window.page.get_by_role("link", name=name).click()


def send(window: Watched, button: str) -> None:
    """Press it and wait for the next round."""
    main = window.page.locator("main")
    before = int(main.get_attribute("data-round") or 0)
    window.page.get_by_role("button", name=button).click()
    expect(window.page.locator(f'main[data-flow-state="waiting"][data-round="{before + 1}"]')).to_be_visible()
    window.check()


def calls(recorder: Recorder, proxy: Proxy) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """The params of every call, and the message that answered it."""
    pairs = [pair for pair in zip(recorder.posts, proxy.answers, strict=True) if pair[0].json["method"] == "tools/call"]
    return [post.params for post, _ in pairs], [message(answer) for _, answer in pairs]


def message(answer: bytes) -> dict[str, Any]:
    """The last JSON-RPC message of an event stream, or the only one."""
    lines = [line.removeprefix(b"data:") for line in answer.splitlines() if line.startswith(b"data:")]
    found: dict[str, Any] = json.loads(lines[-1] if lines else answer)
    return found
