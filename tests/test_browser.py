"""The booking in a real browser: with scripts and without, on a phone, by keyboard; every page checked with axe."""

from typing import Any

import pytest
from playwright.sync_api import Page, expect

from mrtr_web.models import Server
from tests.desk import TOOL, asks, desk, done, required
from tests.servers import Recorder
from tests.window import WAIT, Opener, Watched, in_browser

pytestmark = in_browser


def book(window: Watched, host: str = "localhost") -> None:
    page = window.page
    window.sign_in()
    window.check()
    page.get_by_role("link", name="Demo desk").click()
    window.check()
    page.get_by_role("link", name="Book a trip").click()
    page.get_by_label("Destination").fill("Lyon")
    page.get_by_label("Nights").fill("3")
    page.get_by_label("Day of departure").fill("2027-05-04")
    page.get_by_label("Business").check()
    window.check()
    page.get_by_role("button", name="Start").click()
    window.state("waiting")
    window.check()
    tell_details(window)
    pay(window, host)
    page.get_by_label("Yes").check()
    window.check()
    page.get_by_role("button", name="Send to Demo desk").click()
    window.state("completed")
    expect(page.get_by_text("Booked: 3 nights in Lyon").first).to_be_visible()
    window.check()
    page.goto(f"{window.base}/flows/")
    window.check()


def tell_details(window: Watched) -> None:
    page = window.page
    page.get_by_label("Full name").fill("Ada Lovelace")
    page.get_by_label("E-mail address").fill("ada@example.org")
    page.get_by_role("button", name="Check your answers").click()
    window.check_refused()
    page.get_by_label("Date of birth").fill("1990-12-10")
    page.get_by_label("Budget per night in euro").fill("99.50")
    page.get_by_label("Food and markets").check()
    page.get_by_label("French").check()
    page.get_by_role("group", name="I have read the travel conditions").get_by_label("Yes").check()
    page.get_by_role("button", name="Check your answers").click()
    expect(page.get_by_role("heading", name="Check your answers")).to_be_visible()
    window.check()
    page.get_by_role("button", name="Change Full name").click()
    expect(page.get_by_label("Full name")).to_have_value("Ada Lovelace")
    page.get_by_role("button", name="Check your answers").click()
    page.get_by_role("button", name="Send to Demo desk").click()


def pay(window: Watched, host: str = "localhost") -> None:
    page = window.page
    link = page.get_by_role("link", name=f"Open {host}")
    expect(link).to_be_visible(timeout=WAIT)
    assert (link.get_attribute("target"), link.get_attribute("rel")) == ("_blank", "noopener noreferrer")
    window.check()
    with page.context.expect_page() as popup:
        link.click()
    finished = page.get_by_role("button", name="I have finished there")
    for each, is_quiet in ((link, window.scripts), (finished, not window.scripts)):  # what comes next stands out
        expect(each).to_have_class("button button--quiet" if is_quiet else "button")
    payment = popup.value
    payment.get_by_role("button", name="Pay the deposit").click()
    expect(payment.get_by_role("button", name="Pay the deposit")).to_have_count(0)  # closing a page that loads may hang
    payment.close()
    finished.click()
    expect(page.get_by_role("blockquote").filter(has_text="Shall we book it?")).to_be_visible(timeout=WAIT)


def test_the_booking_with_scripts(opened: Opener, demo: Recorder) -> None:
    book(opened())


def test_the_booking_on_a_phone(opened: Opener, demo: Recorder) -> None:
    book(opened(viewport={"width": 390, "height": 844}, has_touch=True, is_mobile=True))


def test_the_booking_without_scripts(opened: Opener, demo: Recorder) -> None:
    book(opened(java_script_enabled=False))


def test_the_booking_without_scripts_on_a_phone(opened: Opener, demo: Recorder) -> None:
    book(opened(java_script_enabled=False, viewport={"width": 390, "height": 844}))


def test_the_booking_in_the_dark_at_320_pixels(opened: Opener, demo: Recorder) -> None:
    book(opened(color_scheme="dark", viewport={"width": 320, "height": 700}))


@pytest.mark.parametrize("scripts", [True, False])
def test_the_way_back_fills_nothing_into_another_round(opened: Opener, server: Server, scripts: bool) -> None:
    """Browsers fill in by name, whatever the page asks meanwhile."""
    show, delete = ({"type": "boolean", "title": f"{verb} everything?"} for verb in ("Show", "Delete"))
    with desk(server, asks("s1", sure=show), asks("s2", sure=delete)):
        window = opened(java_script_enabled=scripts)
        page = window.page
        window.sign_in()
        page.goto(f"{window.base}{TOOL}")
        page.get_by_label("Topic").fill("cheese")
        page.get_by_role("button", name="Start").click()
        page.get_by_label("Yes").check()
        page.get_by_role("button", name="Send").click()
        expect(page.get_by_text("Round 2")).to_be_visible(timeout=WAIT)
        page.go_back()
        expect(page.get_by_text("Round 2")).to_be_visible(timeout=WAIT)
        expect(page.get_by_label("Yes")).not_to_be_checked()


def test_a_page_whose_server_was_removed_says_so(opened: Opener, server: Server) -> None:
    with desk(server, asks()):
        window = opened()
        window.sign_in()
        window.page.goto(f"{window.base}{TOOL}")
        window.page.get_by_label("Topic").fill("cheese")
        window.page.get_by_role("button", name="Start").click()
        window.state("waiting")
        Server.objects.all().delete()
        window.page.get_by_label("Name").fill("half ty")
        window.page.evaluate("document.querySelector('main').dispatchEvent(new Event('flow-look'))")
        expect(window.page.get_by_text("This request has moved on").first).to_be_visible(timeout=WAIT)
        expect(window.page.get_by_label("Name")).to_have_value("half ty")


def press_until_focused(page: Page, name: str, key: str = "Tab") -> None:
    """Tab on until the control with this accessible name has the focus."""
    for _ in range(120):
        page.keyboard.press(key)
        focused = page.evaluate(
            """() => { const e = document.activeElement;
            if (e === document.body) return '';
            const labels = e.labels ? [...e.labels].map(l => l.textContent) : [];
            return [...labels, e.textContent, e.getAttribute('aria-label') ?? ''].join(' ').replace(/\\s+/g, ' ') }"""
        )
        if name in focused:
            return
    raise AssertionError(f"{name} cannot be reached by keyboard on {page.url}")


def test_the_booking_by_keyboard_alone(opened: Opener, demo: Recorder) -> None:
    window = opened()
    page, keys = window.page, window.page.keyboard
    page.goto(f"{window.base}/accounts/login/?next=/s/demo/tools/book_trip/")
    press_until_focused(page, "Username")
    keys.type("alice")
    press_until_focused(page, "Password")
    keys.type("alice's password")
    keys.press("Enter")
    expect(page.get_by_role("heading", name="Book a trip")).to_be_visible()
    for label, text in (("Destination", "Lyon"), ("Nights", "3"), ("Day of departure", "05042027")):
        press_until_focused(page, label)
        keys.type(text)
    press_until_focused(page, "Start")
    keys.press("Enter")
    window.state("waiting")
    for label, text in (("Full name", "Ada"), ("E-mail", "ada@example.org"), ("Date of birth", "12101990")):
        press_until_focused(page, label)
        keys.type(text)
    press_until_focused(page, "Food and markets")
    keys.press("Space")
    press_until_focused(page, "Yes")
    keys.press("Space")
    press_until_focused(page, "Check your answers")
    keys.press("Enter")
    expect(page.get_by_role("heading", name="Check your answers")).to_be_visible()
    press_until_focused(page, "Send to Demo desk")
    keys.press("Enter")
    expect(page.get_by_role("link", name="Open localhost")).to_be_visible(timeout=WAIT)
    press_until_focused(page, "Open localhost")
    with page.context.expect_page() as popup:
        keys.press("Enter")
    payment = popup.value
    expect(payment.get_by_role("button", name="Pay the deposit")).to_be_visible()
    press_until_focused(payment, "Pay the deposit")
    payment.keyboard.press("Enter")
    expect(payment.get_by_role("button", name="Pay the deposit")).to_have_count(0)
    payment.close()
    press_until_focused(page, "I have finished")
    keys.press("Enter")
    expect(page.get_by_role("blockquote").filter(has_text="Shall we book it?")).to_be_visible(timeout=WAIT)
    press_until_focused(page, "Yes")
    keys.press("Space")
    press_until_focused(page, "Send to Demo desk")
    keys.press("Enter")
    window.state("completed")


TWO_STEPS = {
    "who": {
        "method": "elicitation/create",
        "params": {
            "message": "First question",
            "requestedSchema": {
                "type": "object",
                "properties": {
                    "name": {"type": "string", "title": "Name", "minLength": 1},
                    "api_key": {"type": "string", "title": "API key"},
                },
                "required": ["name"],
            },
        },
    },
    "when": {
        "method": "elicitation/create",
        "params": {
            "message": "Second question",
            "requestedSchema": {
                "type": "object",
                "properties": {"at": {"type": "string", "format": "date-time", "title": "When"}},
                "required": ["at"],
            },
        },
    },
}


def two_steps(window: Watched, server: Server) -> Page:
    window.sign_in()
    window.page.goto(window.base + TOOL)
    window.page.get_by_label("Topic").fill("cheese")
    window.page.get_by_role("button", name="Start").click()
    window.state("waiting")
    return window.page


def test_steps_are_pages_and_back_loses_nothing(opened: Opener, server: Server) -> None:
    with desk(server, required(TWO_STEPS, "s"), done()) as recorder:
        window = opened(timezone_id="Europe/Paris")
        page = two_steps(window, server)
        expect(page.get_by_text("Step 1 of 2").first).to_be_visible()
        expect(page.get_by_role("blockquote").filter(has_text="Second question")).to_be_hidden()
        page.get_by_label("Name").fill("Ada")
        page.get_by_label("Name").press("Enter")
        expect(page.get_by_role("blockquote").filter(has_text="Second question")).to_be_visible()
        expect(page.get_by_label("Name")).to_be_hidden()
        window.check()
        page.go_back()
        expect(page.get_by_label("Name")).to_have_value("Ada")
        page.get_by_role("button", name="Next").click()
        expect(page.get_by_role("combobox", name="Time zone")).to_have_value("Europe/Paris")
        page.get_by_label("Date and time").fill("2026-01-02T03:04")
        page.get_by_role("button", name="Check your answers").click()
        expect(page.get_by_text("2026-01-02T03:04:00+01:00").first).to_be_visible()
        page.get_by_role("button", name="Send to Demo desk").click()
        window.state("completed")
        sent = recorder.posts[-1].params["inputResponses"]
        assert sent["who"]["content"] == {"name": "Ada"}
        assert sent["when"]["content"] == {"at": "2026-01-02T03:04:00+01:00"}


def test_half_typed_answers_survive_a_reload_and_secrets_do_not(opened: Opener, server: Server) -> None:
    """H08"""
    with desk(server, required(TWO_STEPS, "s"), done()):
        window = opened()
        page = two_steps(window, server)
        page.get_by_label("Name").fill("Ada")
        page.get_by_label("API key").fill("hunter2")
        page.evaluate("dispatchEvent(new Event('pagehide'))")  # then it is kept
        expect(page.get_by_text("is kept in this tab")).to_be_hidden()  # that would not be true of all of it
        page.reload()
        expect(page.get_by_label("Name")).to_have_value("Ada")
        expect(page.get_by_label("API key")).to_have_value("")
        assert "hunter2" not in page.evaluate("JSON.stringify({...sessionStorage, ...localStorage})")
        page.get_by_role("button", name="Stop this request").click()
        window.state("stopped")
        assert "Ada" not in page.evaluate("JSON.stringify({...sessionStorage, ...localStorage})")


HOSTILE = (
    "<img src=x onerror=alert(1)><script>alert(2)</script>\u202e\u0000 [x](javascript:alert(3)) https://evil.example/"
)


def test_hostile_text_stays_text(opened: Opener, server: Server) -> None:
    """R04, T-23, FM-4: the policy holds, nothing is a link, nothing runs."""
    name = {"type": "string", "title": HOSTILE, "description": HOSTILE}
    kind = {"type": "string", "oneOf": [{"const": HOSTILE, "title": HOSTILE}], "title": HOSTILE}
    with desk(
        server, asks("s", HOSTILE, **{HOSTILE: name, "k": kind}), done(HOSTILE, structuredContent={HOSTILE: HOSTILE})
    ):
        window = opened()
        page = two_steps(window, server)
        window.check()
        assert page.locator("a[href*='evil']").count() == 0
        page.get_by_role("textbox").first.fill("x")
        page.get_by_role("radio").first.check()
        page.get_by_role("button", name="Send to Demo desk").click()
        window.state("completed")
        window.check()
        assert page.locator("a[href*='evil'], img[onerror]").count() == 0


def test_a_running_leg_shows_progress_and_then_the_next_page(opened: Opener, server: Server) -> None:
    import threading

    release = threading.Event()

    def slowly(post: Any) -> Any:
        release.wait(10)
        return done("Here it is.")(post)

    with desk(server, slowly):
        window = opened()
        window.sign_in()
        page = window.page
        page.goto(window.base + TOOL)
        page.get_by_label("Topic").fill("cheese")
        page.get_by_role("button", name="Start").click()
        window.state("running")
        window.check()
        release.set()
        window.state("completed")
        expect(page.get_by_role("heading", level=1)).to_be_focused()
        window.check()


def test_signing_out_leaves_nothing_to_go_back_to(opened: Opener, server: Server) -> None:
    with desk(server, asks(message="a private question")):
        window = opened()
        page = two_steps(window, server)
        window.sign_out()
        page.go_back()
        expect(page.get_by_role("button", name="Sign in")).to_be_visible()
        assert "a private question" not in page.content()


def test_who_does_not_sign_out_after_all_finds_what_was_typed(opened: Opener, server: Server) -> None:
    with desk(server, asks(message="a private question")):
        window = opened()
        page = two_steps(window, server)
        page.get_by_label("Name").fill("Ada")
        page.get_by_role("button", name="Sign out").click()
        expect(page.get_by_role("heading", name="Sign out?")).to_be_visible()
        window.check()
        page.get_by_role("link", name="Back to my requests").click()
        page.get_by_role("link", name="Ask me").click()
        expect(page.get_by_label("Name")).to_have_value("Ada")
