"""What a browser keeps, and what other sites get of ours in it: tried in a real one."""

import json
from collections.abc import Iterator
from typing import Any
from urllib.parse import urlsplit

import pytest
from django.contrib.auth.models import Group, Permission, User
from playwright.sync_api import Browser, Page, expect

from mrtr_web import middleware, policies
from mrtr_web.models import Server
from tests.desk import asks, desk, done
from tests.servers import serve
from tests.test_result_pages import PNG, coded, giving
from tests.window import CHROMIUM, FLAGS, Opener, Watched, in_browser

pytestmark = in_browser
PRIVATE = "a private question"
KEPT = """async () => JSON.stringify([
  Object.entries(localStorage), Object.entries(sessionStorage), await indexedDB.databases(), await caches.keys(),
  history.state, document.title, location.href, document.cookie, window.name,
])"""
NOTHING: list[Any] = [[], [], [], [], None]


async def _other(scope: Any, receive: Any, send: Any) -> None:
    """A site of somebody else on this machine: to browsers the same site, so that cookies are sent from it."""
    await send({"type": "http.response.start", "status": 200, "headers": [(b"content-type", b"text/html")]})
    await send({"type": "http.response.body", "body": f"<title>other</title><p>{scope['path']}".encode()})


@pytest.fixture
def other() -> Iterator[str]:
    with serve(_other, lifespan="off") as base:
        yield base


def at_work(window: Watched, server: Server) -> Page:
    """Signed in, at a question."""
    page = window.page
    window.sign_in()
    page.get_by_role("link", name=server.name).click()
    page.get_by_role("link", name="Ask me").click()
    page.get_by_label("Topic").fill("canary-topic")
    page.get_by_role("button", name="Start").click()
    window.state("waiting")
    return page


def kept(page: Page) -> list[Any]:
    page.wait_for_load_state()
    found: list[Any] = json.loads(page.evaluate(KEPT))
    return found


def test_pages_kept_alive_show_nothing_after_signing_out(
    browser: Browser, app: str, alice: User, server: Server, other: str
) -> None:
    own = browser.browser_type.launch(
        executable_path=CHROMIUM, args=FLAGS, ignore_default_args=["--disable-back-forward-cache"]
    )
    window = Watched(own.new_context(), app, True)
    try:
        page = window.page
        page.goto(f"{other}/a")
        page.evaluate("addEventListener('pageshow', (event) => (window.revived = event.persisted))")
        page.goto(f"{other}/b")
        page.go_back(wait_until="commit")
        page.wait_for_function("window.revived")  # this browser does keep pages alive
        window.trouble.clear()
        with desk(server, asks(message=PRIVATE)):
            at_work(window, server)
            expect(page.get_by_text(PRIVATE).first).to_be_visible()
            page.evaluate("window.alive = true")
            window.sign_out()
            page.go_back(wait_until="commit")
            expect(page.get_by_role("button", name="Sign in")).to_be_visible()
            assert page.evaluate("window.alive") is None
            assert PRIVATE not in page.content()
    finally:
        own.close()


def test_other_sites_show_read_and_hold_nothing_of_ours(
    opened: Opener, alice: User, server: Server, other: str
) -> None:
    window = opened()
    alice.user_permissions.add(Permission.objects.get(codename="review_flow"))
    with desk(server, giving(content=[{"type": "image", "data": coded(PNG), "mimeType": "image/png"}])):
        page = window.page
        window.sign_in()
        page.get_by_role("link", name=server.name).click()
        page.get_by_role("link", name="Ask me").click()
        page.get_by_label("Topic").fill("x")
        page.get_by_role("button", name="Start").click()
        window.state("completed")
        picture = page.locator("main img").first.get_attribute("src")
        flow = urlsplit(page.url).path
        paths = [flow, picture, f"{flow}timeline/", "/", "/flows/", "/review/audit.csv", "/static/js/main.js"]
        paths += ["/oauth/client-metadata.json", "/site/logo", "/accounts/session/", "/static/img/icon.svg"]
        assert [page.request.get(f"{window.base}{path}").status for path in paths[:7]] == [200] * 7
        page.goto(other)
        urls = [f"{window.base}{path}" for path in paths]
        assert page.evaluate(READ, urls) == [["refused"] * 7] * len(urls)
        page.evaluate(FRAME, urls[:2])
        page.wait_for_load_state("networkidle")
        shown = [frame.url for frame in page.frames if frame is not page.main_frame]
        assert len(shown) >= 2 and set(shown) <= {"chrome-error://chromewebdata/", "about:blank", ""}
        with page.context.expect_page() as popup:
            page.evaluate("(url) => void (window.held = open(url))", urls[0])
        popup.value.wait_for_load_state()
        assert page.evaluate("held.closed"), "a window of ours is not to be held from elsewhere"


READ = """(urls) => Promise.all(urls.map(async (url) => {
  const asked = (options) => fetch(url, options).then(() => "read", () => "refused");
  const put = (name, fields) => new Promise((settle) => {
    const element = Object.assign(document.createElement(name), fields);
    element.onload = element.onloadedmetadata = () => settle("loaded");
    element.onerror = () => settle("refused");
    document.body.append(element);
  });
  return [
    await asked({ credentials: "include" }), await asked({ credentials: "include", mode: "no-cors" }),
    await put("script", { src: url }), await put("script", { src: url, type: "module" }),
    await put("img", { src: url }),
    await put("link", { href: url, rel: "stylesheet" }), await put("video", { src: url }),
  ];
}))"""
"""Each address in seven ways."""
FRAME = """(urls) => { for (const url of urls) for (const name of ["iframe", "embed", "object"]) {
  const element = document.createElement(name);
  element.setAttribute(name === "object" ? "data" : "src", url);
  document.body.append(element);
} }"""


def test_nothing_is_kept_after_a_request_nor_after_signing_out(opened: Opener, server: Server) -> None:
    window = opened()
    with desk(server, asks(message=PRIVATE), done("canary-result")):
        page = at_work(window, server)
        page.get_by_label("Name").fill("canary-name")
        page.get_by_role("button", name="Send to Demo desk").click()
        window.state("completed")
        assert kept(page)[:5] == NOTHING
        assert "canary" not in str(kept(page))
        page.goto(f"{window.base}/s/demo/tools/ask/#topic=canary-link")
        page.get_by_label("Topic").fill("canary-half")
        page.get_by_role("button", name="Start").click()
        page.wait_for_load_state()
        window.sign_out()
        assert kept(page)[:5] == NOTHING
        assert "canary" not in str(kept(page)) and PRIVATE not in str(kept(page))


def test_no_feature_is_allowed_that_is_not_used(opened: Opener, alice: User) -> None:
    window = opened()
    window.sign_in()
    window.check()
    allowed = window.page.evaluate("document.featurePolicy.allowedFeatures()")
    assert {name for name in allowed if not name.startswith("ch-")} == set(policies.USED_FEATURES)


def test_the_admin_needs_its_exception_for_the_scripts_of_django(
    opened: Opener, alice: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Once this fails, Django's admin can have the policy of all pages."""
    User.objects.filter(pk=alice.pk).update(is_staff=True, is_superuser=True)
    Group.objects.create(name="editors")
    window = opened()
    window.sign_in()
    look = f"{window.base}/admin/auth/user/{alice.pk}/change/"
    window.page.goto(look)
    expect(window.page.locator(".selector-available").first).to_be_visible()
    assert not any("TrustedHTML" in each for each in window.trouble)
    monkeypatch.setattr(middleware, "ADMIN_POLICY", policies.PAGE_POLICY)
    window.page.goto(look)
    window.page.wait_for_load_state()
    assert any("TrustedHTML" in each and "jquery.min.js" in each for each in window.trouble)
