"""Before a session ends the person is told, and may stay signed in (WCAG 2.2.1)."""

import re
from datetime import timedelta
from typing import cast

import pytest
from django.conf import settings
from django.contrib.auth.models import User
from django.test import Client, RequestFactory
from django.utils import timezone
from playwright.sync_api import expect

from mrtr_web.models import Session
from mrtr_web.sessions import SessionStore, peek
from mrtr_web.views import account
from mrtr_web.views.web import Request
from tests.visitors import cookies_of
from tests.window import Opener, Watched, in_browser

pytestmark = in_browser


@pytest.fixture
def client(alice: User) -> Client:
    client = Client()
    client.cookies.load(cookies_of(alice))
    return client


def ends_in(*, idle: float, absolute: float = 36_000) -> None:
    """Whoever is signed in did something a moment ago, and has this many seconds."""
    now = timezone.now()
    ends = now + timedelta(seconds=absolute)
    Session.objects.update(seen_at=now, expire_date=min(now + timedelta(seconds=idle), ends), ends_at=ends)


def left() -> tuple[int, int]:
    """Seconds until the idle and the absolute end, of the one session there is."""
    row, now = Session.objects.get(), timezone.now()
    return round((row.expire_date - now).total_seconds()), round((row.ends_at - now).total_seconds())


def test_a_page_says_how_long_the_session_lasts(client: Client) -> None:
    ends_in(idle=300)
    page = client.get("/").content.decode()
    assert 'data-session="/accounts/session/" data-seconds="29' in page
    assert 'data-warn="120"' in page
    assert "unless you do something here" in page
    assert "data-final" not in page.split("data-session-dialog")[0]


def test_a_page_that_is_activity_counts_what_it_adds(client: Client) -> None:
    ends_in(idle=300)
    Session.objects.update(seen_at=timezone.now() - timedelta(minutes=2))
    assert 'data-seconds="14400"' in client.get("/").content.decode()
    assert left()[0] == 14_400


def test_to_stay_signed_in_extends_the_idle_end_only_and_polls_extend_nothing(client: Client) -> None:
    ends_in(idle=100, absolute=20_000)
    client.get("/accounts/session/", headers={"x-mrtr-poll": "1"})
    assert left() == (100, 20_000)
    assert client.post("/accounts/session/").status_code == 200
    assert left() == (14_400, 20_000)
    ends_in(idle=100, absolute=200)
    client.post("/accounts/session/")
    assert left() == (200, 200)


@pytest.mark.parametrize("how", ["ended", "run out"])
def test_a_session_that_has_ended_is_not_said_to_go_on(alice: User, how: str) -> None:
    cookies = cookies_of(alice)
    request = cast(Request, RequestFactory().post("/accounts/session/"))
    request.user, request.session = alice, SessionStore(cookies[settings.SESSION_COOKIE_NAME])
    request.visitor = peek(cookies)
    assert request.session.get("_auth_user_id") == str(alice.pk)
    if how == "ended":
        Session.objects.all().delete()
    else:
        ends_in(idle=-1)
    answer = account.session(request)
    assert (answer.status_code, answer.headers["location"]) == (302, "/accounts/login/?next=/accounts/session/")
    assert not Session.objects.filter(expire_date__gt=timezone.now()).exists()


def test_near_the_end_that_cannot_be_put_off_every_page_says_so(client: Client) -> None:
    ends_in(idle=14_400, absolute=500)
    page = client.get("/").content.decode()
    assert "that cannot be put off. Finish what you can" in page
    assert "data-final" in page.split("data-session-dialog")[0]
    ends_in(idle=14_400, absolute=700)
    assert "Finish what you can" not in client.get("/").content.decode()


def test_nobody_is_warned_who_is_not_signed_in(db: None) -> None:
    assert "data-session" not in Client().get("/accounts/login/").content.decode()


def _entered(opened: Opener, alice: User, **options: object) -> Watched:
    window = opened(**options)
    cookies = cookies_of(alice)
    window.page.context.add_cookies([{"name": n, "value": v, "url": window.base} for n, v in cookies.items()])
    return window


@pytest.mark.parametrize("width", [1280, 390])
def test_a_warning_comes_and_the_keyboard_keeps_the_person_signed_in(opened: Opener, alice: User, width: int) -> None:
    window = _entered(opened, alice, viewport={"width": width, "height": 800})
    ends_in(idle=123)
    window.page.goto(f"{window.base}/accounts/profile/")
    window.page.get_by_label("Time zone").focus()
    dialog = window.page.get_by_role("dialog", name="You are about to be signed out")
    expect(dialog).to_be_visible()
    expect(dialog).to_contain_text("minute")
    expect(dialog.get_by_role("button", name="Stay signed in")).to_be_focused()
    expect(dialog.get_by_role("button", name="Go on")).to_be_hidden()
    window.check()
    window.page.keyboard.press("Enter")
    expect(dialog).to_be_hidden()
    expect(window.page.locator("[data-session-announcer]")).to_have_text("You stay signed in.")
    expect(window.page.get_by_label("Time zone")).to_be_focused()
    assert left()[0] > 14_300


def test_work_in_another_tab_needs_no_warning_and_the_last_end_is_told(opened: Opener, alice: User) -> None:
    window = _entered(opened, alice)
    ends_in(idle=123)
    window.page.goto(f"{window.base}/")
    ends_in(idle=14_400)
    window.page.wait_for_event("response", lambda answer: answer.url.endswith("/accounts/session/"))
    expect(window.page.get_by_role("dialog")).to_be_hidden()
    ends_in(idle=14_400, absolute=2)
    window.page.goto(f"{window.base}/")
    dialog = window.page.get_by_role("dialog")
    expect(dialog).to_contain_text("that cannot be put off")
    expect(dialog.get_by_role("button", name="Stay signed in")).to_be_hidden()
    dialog.get_by_role("button", name="Go on").click()
    expect(dialog).to_be_hidden()
    ended = window.page.get_by_role("dialog", name="You were signed out")
    expect(ended.get_by_role("link", name="Sign in again")).to_be_visible()
    window.check()


def test_two_tabs_stay_signed_in_together_and_one_in_the_background_calls(opened: Opener, alice: User) -> None:
    window = _entered(opened, alice)
    other = window.page.context.new_page()
    for page in (other, window.page):
        page.add_init_script("""
            Object.defineProperty(Document.prototype, 'hidden', {get: () => !window.looked});
            window.look = () => { window.looked = true; document.dispatchEvent(new Event('visibilitychange')); };
        """)
    ends_in(idle=122)
    other.goto(f"{window.base}/")
    window.page.goto(f"{window.base}/")
    plain = "Catalogue – mrtr_web"  # by now the title may say more
    for page in (other, window.page):
        expect(page.get_by_role("dialog", name="You are about to be signed out")).to_be_visible()
        expect(page).to_have_title(f"You are about to be signed out: {plain}")
        expect(page.locator("link[rel=icon]")).to_have_attribute("href", re.compile("icon-turn"))
    window.page.evaluate("look()")
    expect(window.page).to_have_title(plain)
    window.page.get_by_role("button", name="Stay signed in").click()
    expect(other.get_by_role("dialog")).to_be_hidden()
    expect(other).to_have_title(plain)
    said = other.locator("[data-session-announcer]")
    expect(said).to_have_text("You stay signed in.")
    Session.objects.all().delete()
    other.evaluate("new BroadcastChannel('session').postMessage('');")
    expect(other).to_have_title(f"You were signed out: {plain}")
    expect(said).to_have_text("")


def test_without_scripts_a_line_offers_to_stay(opened: Opener, alice: User) -> None:
    window = _entered(opened, alice, java_script_enabled=False)
    ends_in(idle=300)
    window.page.goto(f"{window.base}/")
    with window.page.context.expect_page() as tab:
        window.page.get_by_role("button", name="Stay signed in").click()
    expect(tab.value.get_by_role("heading", name="Your session")).to_be_visible()
    assert left()[0] > 14_300
