"""Answering in a real browser: saying no and coming back, the way from the check to one field, what stays in reach."""

from typing import Any

import pytest
from playwright.sync_api import Page, expect

from mrtr_web.models import Server
from tests.desk import TOOL, asks, calls, desk, done, required, tools
from tests.test_browser_kinds import begin
from tests.window import Opener, in_browser

pytestmark = in_browser

NAME = {"type": "string", "title": "Name", "minLength": 1}
SCHEMA = {"type": "object", "properties": {"n": NAME, "m": {"type": "string", "title": "More"}}, "required": ["n"]}
WHO = {"method": "elicitation/create", "params": {"message": "Who?", "requestedSchema": SCHEMA}}
TWO = {"a": WHO, "b": WHO}


def step(page: Page, number: int) -> Any:
    return page.locator(f"#step-{number}")


@pytest.mark.parametrize("scripts", [True, False])
def test_a_step_is_declined_in_a_fold_and_answered_after_all(opened: Opener, server: Server, scripts: bool) -> None:
    """EL-4: fields are out of the way and not needed, the list of steps says so, and what was typed is still there."""
    window = opened(java_script_enabled=scripts)
    page = window.page
    with desk(server, required(TWO, "s"), done()) as recorder:
        begin(window)
        window.state("waiting")
        first = step(page, 1)
        first.get_by_label("More").fill("half typed")
        expect(first.get_by_label("No, I do not want to give this")).to_be_hidden()
        first.get_by_text("If you do not want to answer").click()
        first.get_by_label("No, I do not want to give this").check()
        expect(first.get_by_label("More")).to_be_hidden()
        expect(first.get_by_text("You do not answer this.")).to_be_visible()
        if scripts:
            page.reload()
            expect(first.get_by_label("No, I do not want to give this")).to_be_checked()
            page.get_by_role("button", name="Next").click()
            expect(page.locator(".steps__status").first).to_have_text("You say no")
        step(page, 2).get_by_label("Name").fill("Ada")
        page.get_by_role("button", name="Check your answers").click()
        page.get_by_role("button", name="Change your answer to step 1").click()
        window.check()
        expect(first.get_by_label("No, I do not want to give this")).to_be_visible()
        if not scripts:
            expect(page.locator(".steps__status").first).to_have_text("You say no")
        first.get_by_role("link", name="Change").click()
        first.get_by_label("Answer", exact=True).check()
        expect(first.get_by_label("More")).to_have_value("half typed")
        first.get_by_label("Name").fill("Bob")
        page.get_by_role("button", name="Check your answers").click()
        page.get_by_role("button", name="Send to").click()
        window.state("completed")
        assert calls(recorder)[1].params["inputResponses"] == {
            "a": {"action": "accept", "content": {"n": "Bob", "m": "half typed"}},
            "b": {"action": "accept", "content": {"n": "Ada"}},
        }


def test_change_leads_to_the_field_and_the_main_button_back_to_the_check(opened: Opener, server: Server) -> None:
    """3.3.4: in whatever step it stands, also a short form that is sent without a check by default."""
    window = opened()
    page = window.page
    with desk(server, required(TWO, "s"), asks(), done()) as recorder:
        begin(window)
        window.state("waiting")
        expect(page.get_by_text("(opens a new tab, and")).to_be_visible()
        step(page, 1).get_by_label("Name").fill("Ada")
        page.get_by_role("button", name="Next").click()
        step(page, 2).get_by_label("Name").fill("Bob")
        page.get_by_role("button", name="Check your answers").click()
        page.get_by_role("region", name="Step 1").get_by_role("button", name="Change More").click()
        expect(step(page, 1).get_by_label("More")).to_be_focused()
        expect(step(page, 2)).to_be_hidden()
        page.keyboard.type("tea")
        page.keyboard.press("Enter")
        expect(page.get_by_role("heading", name="Check your answers")).to_be_visible()
        page.get_by_role("region", name="Step 1").get_by_role("button", name="Change More").click()
        page.get_by_role("button", name="Check your answers").click()
        page.get_by_role("button", name="Send to").click()
        expect(page.locator('main[data-round="2"]')).to_be_visible()
        page.get_by_label("Name").fill("Eve")
        page.get_by_role("button", name="Check first").click()
        page.get_by_role("button", name="Change Name").click()
        expect(page.get_by_label("Name")).to_be_focused()
        page.get_by_role("button", name="Check your answers").click()
        expect(page.get_by_role("heading", name="Check your answers")).to_be_visible()
        page.get_by_role("button", name="Send to").click()
        window.state("completed")
        expect(page.get_by_text("(opens a new tab, and")).to_have_count(0)
        assert calls(recorder)[1].params["inputResponses"]["a"]["content"] == {"n": "Ada", "m": "tea"}


def test_the_button_of_a_long_form_is_in_reach_but_not_where_it_would_fill_the_window(
    opened: Opener, server: Server
) -> None:
    """What it covers is scrolled out from below it: tests/test_accessibility.py, 2.4.11."""
    window = opened()
    page = window.page
    fields: dict[str, Any] = {f"f{n}": {"type": "string", "title": f"Question {n}"} for n in range(14)}
    with desk(server, asks("s", **fields)):
        begin(window)
        button = page.get_by_role("button", name="Check your answers")
        expect(button).to_be_in_viewport()
        page.set_viewport_size({"width": 640, "height": 400})
        expect(button).not_to_be_in_viewport()


def test_the_button_of_a_long_start_form_is_in_reach(opened: Opener, server: Server) -> None:
    fields = {f"f{n}": {"type": "string", "title": f"Question {n}"} for n in range(14)}
    form = {"name": "ask", "title": "Ask me", "inputSchema": {"type": "object", "properties": fields}}
    window = opened()
    with desk(server, done(), listings=tools(form)):
        window.sign_in()
        window.page.goto(f"{window.base}{TOOL}")
        button = window.page.get_by_role("button", name="Start")
        expect(button).to_be_in_viewport()
        window.page.get_by_label("Question 13").focus()
        last = window.page.get_by_label("Question 13").bounding_box()
        bar = button.bounding_box()
        assert last and bar and last["y"] + last["height"] <= bar["y"]
        window.check()
