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
from tests.desk import point_to
from tests.servers import Post, Proxy, Recorder, serve
from tests.window import Opener, Watched, in_browser

pytestmark = in_browser
GUEST = 'Ädä "東京" \\ 🍽'
"""It comes back in the server's state, which is JSON in a string."""


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
    page.get_by_label("restaurant").fill('Ümläut "Bistro"')
    send(window, "Start")
    page.get_by_label("name").fill(GUEST)
    page.get_by_label("guests").fill("4")
    send(window, "Send to")
    page.get_by_label("saturday").check()
    send(window, "Send to")
    page.get_by_label("Yes").check()
    page.get_by_role("button", name="Send to").click()
    window.state("completed")
    expect(page.locator(".block")).to_contain_text(f'A table at Ümläut "Bistro" for {GUEST}, 4 guests, saturday')
    posts, answers = calls(recorder, proxy)
    assert len({post.id for post in posts}) == 4
    assert all("requestState" not in answers[number]["result"] for number in (0, 3))
    states = [answer["result"]["requestState"] for answer in answers[1:3]]
    assert all(json.dumps(GUEST, ensure_ascii=False) in state for state in states) and states[0] != states[1]
    assert ["requestState" in post.params for post in posts] == [False, False, True, True]
    assert [post.params["requestState"].encode() for post in posts[2:]] == [state.encode() for state in states]
    assert [post.params.get("inputResponses") for post in posts] == [
        None,
        {"who": {"action": "accept", "content": {"name": GUEST, "guests": 4}}},
        {"when": {"action": "accept", "content": {"day": "saturday"}}},
        {"ok": {"action": "accept", "content": {"sure": True}}},
    ]


@pytest.mark.parametrize(
    ("button", "action"), [("I have finished there", "accept"), ("I do not want to open it", "decline")]
)
def test_what_became_of_a_link_is_told(
    opened: Opener, tables: tuple[Recorder, Proxy], button: str, action: str
) -> None:
    window = opened()
    open_tool(window, "Link an account")
    send(window, "Start")
    expect(window.page.locator(".address__url")).to_have_text("https://example.com/link")
    window.page.get_by_role("button", name=button).click()
    window.state("completed")
    expect(window.page.locator(".block")).to_contain_text(f"Linked: {action}")
    posts, _ = calls(*tables)
    assert posts[1].params["inputResponses"] == {"link": {"action": action}}


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


def calls(recorder: Recorder, proxy: Proxy) -> tuple[list[Post], list[dict[str, Any]]]:
    """Every call, and the message that answered it."""
    pairs = [pair for pair in zip(recorder.posts, proxy.answers, strict=True) if pair[0].json["method"] == "tools/call"]
    return [post for post, _ in pairs], [message(answer) for _, answer in pairs]


def message(answer: bytes) -> dict[str, Any]:
    """The last JSON-RPC message of an event stream, or the only one."""
    lines = [line.removeprefix(b"data:") for line in answer.splitlines() if line.startswith(b"data:")]
    found: dict[str, Any] = json.loads(lines[-1] if lines else answer)
    return found
