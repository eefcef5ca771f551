"""Live pages in a real browser: progress that moves, cancel, tabs in the background, typed answers that stay."""

import json
import re

from playwright.sync_api import Page, expect

from mrtr_web.models import Flow, Server, Session
from mrtr_web.sessions import end_session
from tests.desk import TOOL, asks, desk, done, required
from tests.servers import Recorder
from tests.window import WAIT, Opener, Watched, in_browser

pytestmark = in_browser
REPORT = "/s/demo/tools/slow_report/"


def start_report(window: Watched, seconds: int) -> Page:
    page = window.page
    window.sign_in()
    page.goto(f"{window.base}{REPORT}")
    page.get_by_label("Seconds").fill(str(seconds))
    page.get_by_role("button", name="Start").click()
    window.state("running")
    return page


def begin(window: Watched) -> Page:
    page = window.page
    page.goto(f"{window.base}{TOOL}")
    page.get_by_label("Topic").fill("cheese")
    page.get_by_role("button", name="Start").click()
    window.state("waiting")
    return page


def test_progress_moves_and_stop_reaches_the_server_at_once(opened: Opener, demo: Recorder) -> None:
    window = opened()
    frames: list[str] = []
    window.page.on("websocket", lambda socket: socket.on("framereceived", lambda text: frames.append(str(text))))
    page = start_report(window, 20)
    bar = page.get_by_role("progressbar", name="Progress")
    expect(page.get_by_text("Demo desk says: Page 2 of 20")).to_be_visible(timeout=WAIT)
    first = float(bar.get_attribute("value") or 0)
    expect(page.get_by_text("Demo desk says: Page 4 of 20")).to_be_visible(timeout=WAIT)
    assert 0 < first < float(bar.get_attribute("value") or 0) < 1
    expect(page.locator("[data-share]")).to_have_text("15%")
    expect(page.locator("[data-announcer]")).to_have_text(re.compile(r"^\d+%: Page \d of 20$"))
    window.check()
    heading = page.get_by_role("heading", level=1)
    page.get_by_role("button", name="Stop this request").click()
    assert demo.gone.wait(1), "the server goes on"
    window.state("stopped")
    expect(heading).to_have_text(re.compile("stopped", re.I))
    assert all(set(json.loads(text)) in ({"progress", "total", "message"}, {"type", "flow"}) for text in frames)
    window.check()


def test_another_tab_stops_it_and_a_reopened_tab_has_the_result(opened: Opener, demo: Recorder) -> None:
    window = opened()
    page = start_report(window, 20)
    second = page.context.new_page()
    second.goto(page.url)
    second.get_by_role("button", name="Stop this request").click()
    window.state("stopped")
    expect(page.get_by_role("heading", level=1)).to_be_focused()
    page.close()
    second.goto(f"{window.base}{REPORT}")
    second.get_by_label("Seconds").fill("2")
    second.get_by_role("button", name="Start").click()
    expect(second.locator('main[data-flow-state="running"]')).to_be_visible()
    address, context = second.url, second.context
    second.close()
    third = context.new_page()
    third.goto(address)
    expect(third.get_by_text("The report is done. Number of pages: 2.").first).to_be_visible(timeout=WAIT)


def hide(page: Page, hidden: bool) -> None:
    """Headless chromium holds every page for visible."""
    page.evaluate(
        "(hidden) => { Object.defineProperty(document, 'hidden', {get: () => hidden, configurable: true});"
        "document.dispatchEvent(new Event('visibilitychange')); }",
        hidden,
    )


def test_a_tab_in_the_background_says_that_it_is_over(opened: Opener, demo: Recorder) -> None:
    window = opened()
    page = start_report(window, 2)
    icon = page.locator("link[rel=icon]")
    hide(page, True)
    window.state("completed")
    expect(page).to_have_title(re.compile("^Finished: .* – Result – mrtr_web$"))
    expect(icon).to_have_attribute("href", re.compile(r"icon-done"))
    hide(page, False)
    expect(page).to_have_title(re.compile("^(?!Finished).* – Result – mrtr_web$"))
    expect(icon).to_have_attribute("href", re.compile(r"icon\."))


def test_what_was_typed_stays_when_another_tab_answers(opened: Opener, server: Server) -> None:
    window = opened()
    window.sign_in()
    with desk(server, asks(), asks("s2", "And your name now?"), done()):
        page = begin(window)
        page.get_by_label("Name").fill("half ty")
        second = page.context.new_page()
        second.goto(page.url)
        second.get_by_label("Name").fill("Ada")
        second.get_by_role("button", name="Send").click()
        expect(second.get_by_text("And your name now?").first).to_be_visible(timeout=WAIT)
        notice = page.get_by_text("This request has moved on")
        expect(notice.first).to_be_visible(timeout=WAIT)
        expect(page.get_by_label("Name")).to_have_value("half ty")
        expect(page.get_by_label("Name")).to_be_focused()
        expect(second.get_by_text("This request has moved on").first).to_be_hidden()
        window.check()
        page.get_by_role("link", name="Show where it stands now").click()
        expect(page.get_by_text("And your name now?").first).to_be_visible()
        page.get_by_role("button", name="Stop this request").click()
        window.state("stopped")


def test_without_scripts_the_page_refreshes_and_shows_progress(opened: Opener, demo: Recorder) -> None:
    window = opened(java_script_enabled=False)
    page = start_report(window, 5)
    expect(page.get_by_text(re.compile(r"Demo desk says: Page [345] of 5"))).to_be_visible(timeout=WAIT)
    assert float(page.get_by_role("progressbar").get_attribute("value") or 0) >= 0.4
    window.check()
    window.state("completed")


def test_without_sockets_the_page_polls(opened: Opener, demo: Recorder) -> None:
    window = opened()
    window.page.add_init_script(
        "window.WebSocket = class { constructor() { setTimeout(() => this.onclose({code: 1006})); } }"
    )
    page = start_report(window, 3)
    expect(page.get_by_text(re.compile("Demo desk says: Page [23] of 3"))).to_be_visible(timeout=WAIT)
    window.state("completed")


def test_a_lost_session_ends_on_the_sign_in_page(opened: Opener, demo: Recorder) -> None:
    window = opened()
    page = start_report(window, 20)
    expect(page.locator("main[data-online]")).to_be_visible()
    end_session(Session.objects.get(user__username="alice").pk)
    expect(page.get_by_label("Username")).to_be_visible(timeout=WAIT)
    assert demo.gone.wait(5)
    assert Flow.objects.get().state == "expired"


def test_the_page_counts_how_often_the_server_said_not_yet(opened: Opener, server: Server) -> None:
    with desk(server, required(None, "later")):
        window = opened()
        window.sign_in()
        window.page.goto(f"{window.base}{TOOL}")
        window.page.get_by_label("Topic").fill("cheese")
        window.page.get_by_role("button", name="Start").click()
        count = window.page.locator("[data-count]")
        expect(count).to_contain_text("said “not yet” 6 times", timeout=WAIT)
        expect(count).to_contain_text("said “not yet” 7 times", timeout=WAIT)
