"""The pages about one's own account are for everybody, wide and narrow."""

import re

import pytest
from django.contrib.auth.models import User
from playwright.sync_api import expect
from pytest_django import Settings

from tests.accessible import check_for_everybody
from tests.mailbox import mailbox, mails_to
from tests.visitors import cookies_of
from tests.window import Opener, in_browser

pytestmark = in_browser
NEW = "Zu7-plum-Tree"


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_settings_and_a_new_password_are_for_everybody(opened: Opener, alice: User, scheme: str) -> None:
    window = opened(color_scheme=scheme, viewport={"width": 390, "height": 844})
    window.sign_in()
    cookies_of(alice)  # somewhere else
    page = window.page
    page.get_by_role("link", name="Settings").click()
    check_for_everybody(page)
    page.get_by_role("button", name="Sign out everywhere else").click()
    expect(page.get_by_text("1 other session was ended.")).to_be_visible()
    page.get_by_role("link", name="Change your password").click()
    page.get_by_role("button", name="Change password").click()
    expect(page).to_have_title(re.compile("^Error: Change your password"))
    expect(page.get_by_role("alert")).to_be_focused()
    check_for_everybody(page)
    page.get_by_label("Old password").fill("alice's password")
    page.get_by_label("New password", exact=True).fill(NEW)
    page.get_by_label("New password confirmation").fill(NEW)
    page.keyboard.press("Enter")
    expect(page.get_by_text("Your password was changed.")).to_be_visible()


def test_the_way_to_a_new_password_is_for_everybody(opened: Opener, alice: User, settings: Settings) -> None:
    User.objects.update(email="alice@example.org")
    with mailbox() as box:
        mails_to(box, settings)
        window = opened(viewport={"width": 390, "height": 844})
        page = window.page
        page.goto(f"{window.base}/accounts/login/")
        page.get_by_role("link", name="Forgot your password?").click()
        check_for_everybody(page)
        page.get_by_label("Email").fill("alice@example.org")
        page.keyboard.press("Enter")
        expect(page.get_by_role("heading", name="Look at your mail")).to_be_visible()
        check_for_everybody(page)
        link = re.search(r"http://\S+", box.next().get_content())
        assert link is not None
        page.goto(link[0])
        check_for_everybody(page)
        page.get_by_label("New password", exact=True).fill(NEW)
        page.get_by_label("New password confirmation").fill(NEW)
        page.get_by_role("button", name="Set this password").click()
        expect(page.get_by_role("heading", name="Your new password is set")).to_be_visible()
        check_for_everybody(page)
        page.goto(link[0])
        expect(page.get_by_role("heading", name="This link does not work any more")).to_be_visible()
        check_for_everybody(page)
