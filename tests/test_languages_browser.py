"""A booking in Traditional Chinese, in a real browser; and the switch beside something half typed."""

import json

import pytest
from playwright.sync_api import expect

from tests.booking import CONTENT
from tests.servers import Recorder
from tests.window import WAIT, Opener, Watched, in_browser

pytestmark = in_browser

STRANGE = """() => {
  const found = [];
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) {
    const { parentElement: at, data } = walker.currentNode;
    if (at.closest('script, style, noscript, .top__user, .brand')) continue;
    const unknown = at.closest('[lang]').lang !== 'zh-hant';
    if (unknown ? /[\\u4e00-\\u9fff]/.test(data) && at.closest('[lang]').lang !== '' : /[A-Za-z]{3}/.test(data)) {
      found.push(data.trim());
    }
  }
  return found;
}"""
"""Text nodes in another language than their element says."""
KNOWN = ("Demo desk", "localhost", "UTC")
"""What the admin calls the server, a host and a zone are words of ours, in any language."""


def check(window: Watched) -> None:
    """As every page is checked, and every foreign word is marked as such."""
    window.check()
    found = [text for text in window.page.evaluate(STRANGE) if text]
    for name in KNOWN:
        found = [text.replace(name, "") for text in found]
    assert [text for text in found if any("a" <= letter <= "z" for letter in text)] == []


def sign_in(window: Watched) -> None:
    page = window.page
    page.goto(f"{window.base}/accounts/login/")
    check(window)
    page.get_by_label("使用者名稱").fill("alice")
    page.get_by_label("密碼").fill("alice's password")
    page.get_by_role("button", name="登入").click()


def begin(window: Watched) -> None:
    page = window.page
    page.get_by_role("link", name="Demo desk").click()
    check(window)
    page.get_by_role("link", name="Book a trip").click()
    page.get_by_label("Destination").fill("Lyon")
    page.get_by_label("Nights").fill("3")
    page.get_by_label("Day of departure").fill("2027-05-04")
    page.get_by_label("Business").check()
    check(window)
    page.get_by_role("button", name="開始").click()
    window.state("waiting")
    check(window)


def tell_details(window: Watched) -> None:
    page = window.page
    page.get_by_label("Full name").fill(" Ada Lovelace ")
    page.get_by_label("E-mail address").fill("ada@example.org")
    page.get_by_label("Budget per night in euro").fill("99,50")
    page.get_by_role("button", name="檢查您的答案").click()
    expect(page.get_by_role("heading", name="有地方需要修正")).to_be_visible()
    expect(page.get_by_text("小數請用點表示").first).to_be_visible()
    assert page.title().startswith("錯誤")
    check(window)
    page.get_by_label("Date of birth").fill("1990-12-10")
    page.get_by_label("Budget per night in euro").fill("99.50")
    page.get_by_label("Number of travellers").fill("2")
    page.get_by_label("Family room").check()
    page.get_by_label("Half board").check()
    page.get_by_label("At the aisle").check()
    page.get_by_label("Food and markets").check()
    page.get_by_label("Concerts").check()
    page.get_by_label("French").check()
    page.get_by_role("group", name="I have read the travel conditions").get_by_label("是").check()
    page.get_by_role("group", name="Send me offers by e-mail").get_by_label("否").check()
    page.get_by_role("button", name="檢查您的答案").click()
    expect(page.get_by_role("heading", name="檢查您的答案")).to_be_visible()
    expect(page.get_by_text("1990年12月10日")).to_be_visible()
    check(window)
    page.get_by_role("button", name="送出給 Demo desk").click()


def pay(window: Watched) -> None:
    page = window.page
    link = page.get_by_role("link", name="在新分頁開啟 localhost")
    expect(link).to_be_visible(timeout=WAIT)
    check(window)
    with page.context.expect_page() as popup:
        link.click()
    payment = popup.value
    payment.get_by_role("button", name="Pay the deposit").click()
    expect(payment.get_by_role("button", name="Pay the deposit")).to_have_count(0)
    payment.close()
    page.get_by_role("button", name="我已經在那裡完成了").click()
    expect(page.get_by_role("blockquote").filter(has_text="Shall we book it?")).to_be_visible(timeout=WAIT)


@pytest.mark.parametrize("width", [1280, 390])
def test_a_booking_in_chinese_sends_what_one_in_english_does(opened: Opener, demo: Recorder, width: int) -> None:
    window = opened(locale="zh-TW", viewport={"width": width, "height": 900})
    page = window.page
    sign_in(window)
    begin(window)
    tell_details(window)
    pay(window)
    page.get_by_label("是").check()
    check(window)
    page.get_by_role("button", name="送出給 Demo desk").click()
    window.state("completed")
    expect(page.get_by_role("heading", name="：已完成")).to_be_visible()
    check(window)
    page.get_by_role("navigation").get_by_role("link", name="我的請求").click()
    expect(page.get_by_role("heading", name="已結束")).to_be_visible()
    check(window)
    sent = [post.json for post in demo.posts if post.json and post.json.get("method") == "tools/call"]
    given = [
        answer["content"]
        for leg in sent
        for answer in leg["params"].get("inputResponses", {}).values()
        if "content" in answer
    ]
    assert given[0] == CONTENT, json.dumps(given[0])


def test_the_switch_keeps_what_is_half_typed(opened: Opener, demo: Recorder) -> None:
    window = opened()
    page = window.page
    window.sign_in()
    page.goto(f"{window.base}/s/demo/tools/book_trip/")
    page.get_by_label("Destination").fill("Lyon")
    with page.context.expect_page() as beside:
        page.get_by_role("button", name="繁體中文").click()
    other = beside.value
    expect(other.get_by_role("button", name="開始")).to_be_visible()
    assert other.url == page.url
    other.close()
    expect(page.get_by_label("Destination")).to_have_value("Lyon")
    page.get_by_label("Nights").fill("3")  # the pages go on keeping what is typed
    page.reload()
    expect(page.get_by_label("Nights")).to_have_value("3")
    expect(page.get_by_role("button", name="開始")).to_be_visible()
    assert window.trouble == []


def test_the_switch_without_scripts_comes_back_to_the_page(opened: Opener) -> None:
    window = opened(java_script_enabled=False)
    page = window.page
    window.sign_in()
    page.goto(f"{window.base}/flows/?from=link")
    page.get_by_role("button", name="繁體中文").click()
    expect(page.get_by_role("heading", name="我的請求")).to_be_visible()
    assert page.url == f"{window.base}/flows/?from=link"
    page.get_by_role("button", name="English").click()
    expect(page.get_by_role("heading", name="My requests")).to_be_visible()


@pytest.mark.parametrize("width", [320, 1280])
def test_a_page_of_trouble_has_the_switch_and_holds_axe(opened: Opener, width: int) -> None:
    window = opened(viewport={"width": width, "height": 900})
    window.page.goto(f"{window.base}/accounts/login/")
    window.page.goto(f"{window.base}/accounts/logout/")
    window.trouble.clear()  # that the browser notes the 405
    window.check()
    window.page.get_by_role("button", name="繁體中文").click()
    expect(window.page.get_by_role("heading", name="無法這樣開啟")).to_be_visible()
    window.page.get_by_role("link", name="mrtr_web").click()
    expect(window.page).to_have_url(f"{window.base}/accounts/login/?next=/")
