"""Rich inputs in a real browser: entries, kinds, JSON and links; with scripts and without, checked with axe."""

import re
from collections.abc import Callable
from typing import Any
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import Page, expect

from mrtr_web.models import Server
from tests.desk import calls, desk, done, tools
from tests.servers import Recorder
from tests.test_browser_kinds import SIZES, shot
from tests.window import WAIT, Opener, Watched, in_browser

pytestmark = in_browser

OUTING = "/s/demo/tools/arrange_outing/"
SENT = {
    "title": "Summer party",
    "day": "2027-06-01",
    "transport": {"kind": "train", "travel_class": "first", "leaves": "09:30"},
    "guests": [{"name": "Ada", "age": 36, "diet": ["no fish"]}, {"name": "Cleo"}],
    "contact": {"name": "Grace"},
    "budget": {"food": 120.5},
    "remarks": "",
}


def open_outing(window: Watched) -> Page:
    window.sign_in()
    window.page.goto(f"{window.base}/s/demo/")
    window.page.goto(f"{window.base}{OUTING}")
    return window.page


def more(page: Page) -> None:
    page.locator("summary", has_text="More").click()


def press(page: Page, name: str) -> None:
    page.get_by_role("button", name=name, exact=True).click()


def choose(page: Page, kind: str, scripts: bool) -> None:
    page.get_by_role("radio", name=kind, exact=True).check()
    if not scripts:
        press(page, "Show its fields of How you get there")


def fill(page: Page, scripts: bool) -> None:
    """The whole outing, with detours: another kind first, a guest who goes again."""
    page.get_by_label("What it is called").fill("Summer party")
    page.get_by_label("Day").fill("2027-06-01")
    choose(page, "Coach", scripts)
    page.get_by_label("Seats").fill("50")
    choose(page, "Train", scripts)
    page.get_by_role("radio", name="first").check()
    page.get_by_label("Leaves at").fill("09:30")
    guests = page.get_by_role("group", name=re.compile("^Guests"))
    guests.first.get_by_label("Name").fill("Ada")
    guests.first.get_by_label("Age").fill("36")
    guests.first.get_by_label("no fish").check()
    press(page, "Add another Guests")
    page.get_by_role("group", name="Guest 2").get_by_label("Name").fill("Bob")
    press(page, "Add another Guests")
    page.get_by_role("group", name="Guest 3").get_by_label("Name").fill("Cleo")
    press(page, "Remove Guest 2")
    expect(page.get_by_role("group", name="Guest 2").get_by_label("Name")).to_have_value("Cleo")
    press(page, "Add Contact")
    page.get_by_role("group", name="Contact").get_by_label("Name").fill("Grace")
    press(page, "Add Budget")
    page.get_by_label("Name of Budget 1").fill("food")
    page.get_by_label("Value of Budget 1", exact=True).fill("120.5")


def until(reached: Callable[[], bool], page: Page) -> None:
    for _ in range(WAIT // 50):
        if reached():
            return
        page.wait_for_timeout(50)
    raise AssertionError("it did not happen")


@pytest.mark.parametrize(("width", "scheme"), SIZES)
def test_a_rich_input_is_filled_in_and_sent(opened: Opener, demo: Recorder, width: int, scheme: str) -> None:
    window = opened(viewport={"width": width, "height": 800}, color_scheme=scheme)
    page = open_outing(window)
    window.check()
    shot(window, f"outing-empty-{width}")
    press(page, "Start")
    window.check_refused()
    shot(window, f"outing-refused-{width}")
    fill(page, scripts=True)
    window.check()
    shot(window, f"outing-filled-{width}")
    press(page, "Start")
    window.state("completed")
    assert calls(demo)[0].params["arguments"] == SENT


def test_a_rich_input_without_scripts(opened: Opener, demo: Recorder) -> None:
    window = opened(java_script_enabled=False)
    page = open_outing(window)
    fill(page, scripts=False)
    window.check()
    press(page, "Start")
    window.state("completed")
    assert calls(demo)[0].params["arguments"] == SENT


def test_adding_puts_the_focus_into_what_was_added_and_removing_beside_it(opened: Opener, demo: Recorder) -> None:
    window = opened()
    page = open_outing(window)
    press(page, "Add another Guests")
    expect(page.get_by_role("group", name="Guest 2").get_by_label("Name")).to_be_focused()
    press(page, "Remove Guest 1")
    expect(page.get_by_role("group", name="Guests", exact=True).locator(":focus")).to_have_count(1)
    page.keyboard.press("Enter")
    assert calls(demo) == []


def test_after_the_result_back_leads_to_a_form_that_is_whole(opened: Opener, demo: Recorder) -> None:
    window = opened()
    page = open_outing(window)
    fill(page, scripts=True)
    press(page, "Start")
    window.state("completed")
    page.go_back()
    expect(page.get_by_role("radio", name="Train")).not_to_be_checked()
    expect(page.get_by_label("Day")).to_have_value("")
    expect(page.get_by_role("group", name="Guest 1").get_by_label("no fish")).not_to_be_checked()
    window.check()


def test_enter_in_a_field_starts_and_adds_nothing(opened: Opener, demo: Recorder) -> None:
    window = opened()
    page = open_outing(window)
    page.get_by_label("What it is called").press("Enter")
    window.check_refused()


def test_a_reload_brings_back_what_was_typed_with_its_entries(opened: Opener, demo: Recorder) -> None:
    window = opened()
    page = open_outing(window)
    fill(page, scripts=True)
    kept = "Object.values(sessionStorage).some((draft) => draft.includes('120.5'))"
    until(lambda: page.evaluate(kept), page)
    page.reload()
    expect(page.get_by_label("Value of Budget 1", exact=True)).to_have_value("120.5")
    window.check()
    press(page, "Start")
    window.state("completed")
    assert calls(demo)[0].params["arguments"] == SENT


@pytest.mark.parametrize("scripts", [True, False])
def test_the_form_as_json_and_back(opened: Opener, demo: Recorder, scripts: bool) -> None:
    window = opened(java_script_enabled=scripts)
    page = open_outing(window)
    fill(page, scripts)
    more(page)
    press(page, "Edit as JSON")
    box = page.get_by_label("Input, as JSON")
    window.check()
    shot(window, f"outing-json-{scripts}")
    text = box.input_value()
    assert '"travel_class": "first"' in text
    box.fill(text.replace('"Ada",', '"Ada"'))
    press(page, "Back to the form")
    window.check()
    expect(page.get_by_text("This is not complete JSON. Look at line")).to_have_count(2)
    box.fill(text.replace("Summer party", "Winter party"))
    press(page, "Back to the form")
    expect(page.get_by_label("What it is called")).to_have_value("Winter party")
    press(page, "Start")
    window.state("completed")
    assert calls(demo)[0].params["arguments"] == SENT | {"title": "Winter party"}


def test_a_link_fills_in_the_form_and_leaves_the_address_at_once(opened: Opener, demo: Recorder) -> None:
    window = opened()
    page = open_outing(window)
    fill(page, scripts=True)
    more(page)
    press(page, "Link with these values")
    link = page.get_by_label("Link that fills in this form").input_value()
    window.check()
    shot(window, "outing-link")
    assert urlsplit(link).query == "" and "title=Summer+party" in urlsplit(link).fragment
    page.goto("about:blank")
    page.goto(link)
    expect(page.get_by_text("Filled in by a link.")).to_be_visible()
    assert page.url == f"{window.base}{OUTING}"
    window.check()
    assert calls(demo) == []
    press(page, "Start")
    window.state("completed")
    assert calls(demo)[0].params["arguments"] == SENT


@pytest.mark.parametrize("scripts", [True, False])
def test_a_query_fills_in_the_form(opened: Opener, demo: Recorder, scripts: bool) -> None:
    window = opened(java_script_enabled=scripts)
    page = open_outing(window)
    page.goto(f"{window.base}{OUTING}?title=Trip&contact.name=Eve&transport.kind=coach&again=x")
    expect(page.get_by_text("Filled in by a link.")).to_be_visible()
    expect(page.get_by_label("What it is called")).to_have_value("Trip")
    expect(page.get_by_role("group", name="Contact").get_by_label("Name")).to_have_value("Eve")
    assert scripts is (page.url == f"{window.base}{OUTING}")
    press(page, "Start")
    assert page.url == f"{window.base}{OUTING}"
    window.check_refused()


HARD: dict[str, Any] = {
    "name": "hard",
    "inputSchema": {
        "type": "object",
        "properties": {
            "photo": {"type": "string", "title": "Photo", "contentEncoding": "base64"},
            "city": {"title": "City", "enum": [f"City {n}" for n in range(300)]},
            "when": {"type": "string", "title": "When", "format": "time"},
            "tree": {"$ref": "#/$defs/tree", "title": "Tree"},
            "must": {"type": "string", "title": "Must", "minLength": 1},
        },
        "required": ["must"],
        "$defs": {
            "tree": {
                "type": "object",
                "properties": {
                    "label": {"type": "string", "title": "Label"},
                    "more": {"$ref": "#/$defs/tree", "title": "More"},
                },
            }
        },
    },
}


@pytest.mark.parametrize("scripts", [True, False])
def test_files_searched_lists_and_parts_without_end(opened: Opener, server: Server, scripts: bool) -> None:
    window = opened(java_script_enabled=scripts)
    page = window.page
    with desk(server, done(), listings=tools(HARD)) as recorder:
        window.sign_in()
        page.goto(f"{window.base}/s/demo/")
        page.goto(f"{window.base}/s/demo/tools/hard/")
        page.get_by_label("Photo").set_input_files({"name": "a b.png", "mimeType": "image/png", "buffer": b"\x89PNG"})
        page.get_by_label("City").fill("City 7")
        press(page, "Add Tree")
        page.get_by_label("Label").fill("1")
        press(page, "Add More")
        page.get_by_label("Label").nth(1).fill("2")
        window.check()
        shot(window, f"hard-{scripts}")
        press(page, "Start")
        window.check_refused()
        expect(page.get_by_text("a b.png")).to_be_visible()
        page.get_by_label("Must").fill("x")
        press(page, "Start")
        window.state("completed")
        assert calls(recorder)[0].params["arguments"] == {
            "photo": "iVBORw==",
            "city": "City 7",
            "tree": {"label": "1", "more": {"label": "2"}},
            "must": "x",
        }
