"""Single sign-on in a real browser: the provider is another site, and its word opens the review desk and shuts it."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, expect

from tests.accessible import check_for_everybody
from tests.certificates import certificate as certificate
from tests.sso import BUTTON, Site, site
from tests.sso import company as company
from tests.window import Watched, in_browser

pytestmark = in_browser


@pytest.fixture
def window(browser: Browser, company: Site) -> Iterator[Watched]:
    context = browser.new_context(viewport={"width": 1280, "height": 900})
    yield Watched(context, company.base, True)
    context.close()


def check(window: Watched, company: Site) -> None:
    """Nothing is wrong with the page; the provider was gone to, and nobody else."""
    window.trouble[:] = [
        each for each in window.trouble if not each.startswith((company.world.issuer, "Failed to load"))
    ]
    window.check()


def sign_in(window: Watched, company: Site, who: str, do: str = "Allow") -> None:
    window.page.get_by_role("button", name=BUTTON).click()
    window.page.get_by_label("Who").fill(who)
    assert window.page.url.startswith(f"{company.world.issuer}/authorize?")
    window.page.get_by_role("button", name=do).click()


def test_a_reviewer_comes_from_the_provider_and_goes_with_its_word(company: Site, window: Watched) -> None:
    page, people = window.page, company.world.knobs.people
    people["rita"] = {"preferred_username": "rita", "groups": ["desk"]}
    page.goto(f"{company.base}/review/")
    assert page.url == f"{company.base}/accounts/login/?next=/review/"
    check(window, company)
    check_for_everybody(page)
    page.get_by_text("Use a password of this site").click()
    expect(page.get_by_label("Username")).to_be_visible()
    check(window, company)
    sign_in(window, company, "rita")
    expect(page).to_have_url(f"{company.base}/review/")
    expect(page.get_by_role("heading", level=1)).to_be_visible()
    check(window, company)
    people["rita"]["groups"] = []
    page.get_by_role("button", name="Sign out").click()
    sign_in(window, company, "rita")
    expect(page).to_have_url(f"{company.base}/")
    expect(page.get_by_role("link", name="My requests")).to_be_visible()
    expect(page.get_by_role("link", name="Review desk")).to_have_count(0)
    check(window, company)


def test_who_says_no_is_told_and_can_begin_again(company: Site, window: Watched) -> None:
    page = window.page
    page.goto(f"{company.base}/accounts/login/?next=/flows/")
    sign_in(window, company, "nora", "Deny")
    expect(page.get_by_text("said no to signing in here")).to_be_visible()
    check(window, company)
    check_for_everybody(page)
    page.get_by_role("link", name="To the sign-in page").click()
    sign_in(window, company, "nora")
    expect(page).to_have_url(f"{company.base}/flows/")


@pytest.mark.parametrize("why", ["unknown", "denied", "away", "odd", "inactive"])
def test_each_refusal_is_a_page_for_everybody_in_either_language(company: Site, window: Watched, why: str) -> None:
    page = window.page
    page.goto(f"{company.base}/accounts/login/sso/refused/?why={why}")
    check(window, company)
    page.get_by_role("button", name="繁體中文").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("您沒有登入")
    check(window, company)


def test_the_page_on_the_way_says_where_it_leads_and_works_without_moving_on(company: Site, window: Watched) -> None:
    page = window.page
    page.route(f"{company.world.issuer}/**", lambda route: route.fulfill(status=204))  # the browser stays where it is
    page.goto(f"{company.base}/accounts/login/")
    page.get_by_role("button", name=BUTTON).click()
    expect(page.get_by_role("link", name="Go on to Company")).to_be_visible()
    check(window, company)
    check_for_everybody(page)


def test_over_https_the_cookies_of_production_come_along(browser: Browser, tmp_path: Path, certificate: Path) -> None:
    """Lax and __Host-: they are sent on the way back from another site, and PKCE, state and TLS hold."""
    with site(tmp_path, certificate) as company:
        context = browser.new_context(
            ignore_https_errors=True
        )  # nobody vouches for the app; the app checks the provider
        window = Watched(context, company.base, True)
        window.page.goto(f"{company.base}/accounts/login/?next=/flows/")
        sign_in(window, company, "hedy")
        expect(window.page).to_have_url(f"{company.base}/flows/")
        cookies = {cookie["name"]: (cookie["secure"], cookie["sameSite"]) for cookie in context.cookies(company.base)}
        wanted = ("session", "key", "csrf")
        assert {f"__Host-mrtr_{name}" for name in wanted} <= cookies.keys()
        assert set(cookies.values()) == {(True, "Lax")}
        context.close()
