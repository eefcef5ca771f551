"""Two browsers: what a person does is in the reviewer's queue within a second, and the other way round."""

import time

from django.contrib.auth.models import User
from playwright.sync_api import Page, expect

from mrtr_web.models import Flow, Server
from mrtr_web.sessions import end_sessions_of
from tests.desk import TOOL, asks, desk, done
from tests.reviewers import admitted, reviewer_of
from tests.window import WAIT, Opener, Watched, in_browser

pytestmark = in_browser
AT_ONCE = 1_000
"""Milliseconds that the other side may take."""


def two(opened: Opener, server: Server, alice: User) -> tuple[Watched, Watched]:
    """The person's window, and the reviewer's, who looks at the queue."""
    reviewer_of("rita", server)
    admitted(alice, server)
    hers, desk_window = opened(), opened()
    hers.sign_in()
    page = desk_window.page
    page.goto(f"{desk_window.base}/accounts/login/")
    page.get_by_label("Username").fill("rita")
    page.get_by_label("Password").fill("rita's password")
    page.get_by_role("button", name="Sign in").click()
    page.get_by_role("link", name="Review desk").click()
    expect(page.locator("main[data-online]")).to_be_attached()
    return hers, desk_window


def begin(window: Watched) -> Page:
    page = window.page
    page.goto(f"{window.base}{TOOL}")
    page.get_by_label("Topic").fill("cheese")
    page.get_by_role("button", name="Start").click()
    window.state("waiting")
    return page


def test_the_queue_shows_a_round_and_the_person_a_withdrawal_within_a_second(
    opened: Opener, server: Server, alice: User
) -> None:
    with desk(server, asks(), done()):
        hers, rita = two(opened, server, alice)
        expect(rita.page.get_by_text("Nothing is pending.")).to_be_visible()
        page = begin(hers)
        began = time.monotonic()
        link = rita.page.get_by_role("link", name=Flow.objects.get().reference)
        expect(link).to_be_visible(timeout=AT_ONCE)
        expect(rita.page.get_by_text("With the person").last).to_be_visible(timeout=AT_ONCE)
        print(f"in the queue after {time.monotonic() - began:.2f} s")
        rita.check()
        link.click()
        rita.page.get_by_label("Reason").fill("Booked twice")
        rita.check()
        rita.page.get_by_role("button", name="Withdraw").click()
        began = time.monotonic()
        expect(page.locator("[data-moved-why]")).to_have_text("Their reason: Booked twice", timeout=AT_ONCE)
        print(f"withdrawn on the person's page after {time.monotonic() - began:.2f} s")
        hers.check()
        page.get_by_role("link", name="Show where it stands now").click()
        hers.state("withdrawn")
        hers.check()
        expect(rita.page.get_by_text("Withdrawn. The person sees your reason.")).to_be_visible()
        rita.check()


def test_what_was_typed_stays_when_a_reviewer_reminds_or_withdraws(opened: Opener, server: Server, alice: User) -> None:
    with desk(server, asks(), done()):
        hers, rita = two(opened, server, alice)
        page = begin(hers)
        page.get_by_label("Name").fill("half ty")
        rita.page.get_by_role("link", name=Flow.objects.get().reference).click()
        rita.page.get_by_role("button", name="Remind").click()
        expect(page.get_by_text("A reviewer asks you to go on").first).to_be_visible(timeout=AT_ONCE)
        expect(page.get_by_label("Name")).to_have_value("half ty")
        expect(page.get_by_label("Name")).to_be_focused()
        hers.check()
        rita.page.get_by_label("Reason").fill("Not needed any more")
        rita.page.get_by_role("button", name="Withdraw").click()
        expect(page.locator("[data-moved-why]")).to_have_text("Their reason: Not needed any more", timeout=AT_ONCE)
        expect(page.get_by_label("Name")).to_have_value("half ty")
        hers.check()


def test_what_a_reviewer_types_stays_while_the_page_moves(opened: Opener, server: Server, alice: User) -> None:
    with desk(server, asks(), asks("s2"), done()):
        hers, rita = two(opened, server, alice)
        page = begin(hers)
        rita.page.get_by_role("link", name=Flow.objects.get().reference).click()
        rita.page.get_by_label("Reason").fill("Half a rea")
        page.get_by_label("Name").fill("Ada")
        page.get_by_role("button", name="Send").click()
        expect(rita.page.get_by_text("Round 2").first).to_be_visible(timeout=WAIT)
        expect(rita.page.get_by_label("Reason")).to_have_value("Half a rea")
        expect(rita.page.get_by_label("Reason")).to_be_focused()


def test_a_click_and_a_key_hit_what_they_were_meant_for_while_other_requests_move(
    opened: Opener, server: Server, alice: User
) -> None:
    with desk(server, asks(), asks(), done()):
        hers, rita = two(opened, server, alice)
        begin(hers)
        first = Flow.objects.get()
        page = rita.page
        page.get_by_role("link", name=first.reference).click()
        button = page.get_by_role("button", name="Remind")
        button.hover()
        page.mouse.down()
        moved_elsewhere(hers, page)
        page.mouse.up()
        expect(page.get_by_text("Reminded: they see it")).to_be_visible()
        page.get_by_role("button", name="Look after it").focus()
        moved_elsewhere(hers, page)
        page.keyboard.press("Enter")
        expect(page.get_by_text("You look after this request now.")).to_be_visible()


def moved_elsewhere(hers: Watched, rita: Page) -> None:
    """Another request comes, and the reviewer's page has looked again."""
    expect(rita.locator("main[data-online]")).to_be_attached()
    with rita.expect_response(lambda response: "/review/" in response.url):
        hers.page.goto(f"{hers.base}{TOOL}")
        hers.page.get_by_label("Topic").fill("more cheese")
        hers.page.get_by_role("button", name="Start").click()
        expect(hers.page.locator("main[data-flow-state]")).to_be_visible()


def test_a_person_whose_sessions_are_ended_is_told_on_the_open_page(
    opened: Opener, server: Server, alice: User
) -> None:
    with desk(server, asks(), done()):
        hers, rita = two(opened, server, alice)
        page = begin(hers)
        page.get_by_label("Name").fill("half ty")
        end_sessions_of(alice.pk)
        page.evaluate("document.querySelector('main').dispatchEvent(new Event('flow-look'))")
        expect(page.locator("[data-left]")).to_be_visible()
        expect(page.locator("[data-left]")).to_be_in_viewport()
        expect(page.get_by_label("Name")).to_have_value("half ty")
        assert rita.trouble == []


def test_a_reason_that_is_being_typed_outlives_the_session(opened: Opener, server: Server, alice: User) -> None:
    with desk(server, asks(), asks("s2"), done()):
        hers, rita = two(opened, server, alice)
        page = begin(hers)
        rita.page.get_by_role("link", name=Flow.objects.get().reference).click()
        rita.page.get_by_label("Reason").fill("Half a rea")
        end_sessions_of(User.objects.get(username="rita").pk)
        rita.page.evaluate("document.querySelector('main').dispatchEvent(new Event('flow-look'))")
        expect(rita.page.get_by_text("You are signed out, or may not look")).to_be_visible()
        expect(rita.page.get_by_label("Reason")).to_have_value("Half a rea")
        rita.page.get_by_role("button", name="Withdraw").click()
        expect(rita.page.get_by_text("Half a rea")).to_be_visible()
        assert Flow.objects.get().state == "waiting" and page.url


def test_the_desk_fits_a_phone_and_needs_no_scripts(opened: Opener, server: Server, alice: User) -> None:
    with desk(server, asks(), done()):
        hers, rita = two(opened, server, alice)
        begin(hers)
        phone = opened(viewport={"width": 390, "height": 800}, storage_state=rita.page.context.storage_state())
        plain = opened(java_script_enabled=False, storage_state=rita.page.context.storage_state())
        for window in (phone, plain):
            for path in ("/review/", "/review/servers/", f"/review/{Flow.objects.get().pk}/"):
                window.page.goto(f"{window.base}{path}")
                window.check()
            expect(window.page.get_by_role("button", name="Withdraw")).to_be_visible()
