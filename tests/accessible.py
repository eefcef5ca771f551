"""What each page must keep for people who zoom, space out, touch or go by keyboard: looked at in the page itself."""

from typing import Any

from playwright.sync_api import Page

SMALLEST = 24
SPACED = """
* { line-height: 1.5 !important; letter-spacing: 0.12em !important; word-spacing: 0.16em !important; }
p { margin-block-end: 2em !important; }
"""
TARGETS = """(smallest) => {
  const isInSentence = (link) => [...link.parentElement.childNodes].some((n) => n.nodeType === 3 && n.data.trim());
  const controls = "a[href], button, summary, select, textarea, input:not([type=hidden])";
  return [...document.querySelectorAll(controls)]
    .filter((each) => each.checkVisibility() && !each.matches(".visually-hidden, .skip"))
    .filter((each) => !(each.matches("a") && isInSentence(each)))
    .map((each) => [each, (each.closest("label") ?? each).getBoundingClientRect()])
    .filter(([, { width, height }]) => width < smallest || height < smallest)
    .map(([each, { width, height }]) => `${width} x ${height}: ${each.outerHTML.slice(0, 120)}`);
}"""
CLIPPED = """() => {
  const cut = ({ overflowX, overflowY }) => [overflowX, overflowY].some((each) => each === "hidden" || each === "clip");
  return [...document.querySelectorAll("body *")]
    .filter((each) => each.checkVisibility() && each.clientWidth > 1 && cut(getComputedStyle(each)))
    .filter((each) => each.scrollWidth > each.clientWidth + 1 || each.scrollHeight > each.clientHeight + 1)
    .map((each) => each.outerHTML.slice(0, 120));
}"""
BARE = """() => [...document.querySelectorAll(".button:not(.button--bare)")]
  .filter((each) => each.checkVisibility() && getComputedStyle(each).borderTopStyle === "none")
  .map((each) => each.outerHTML.slice(0, 120))"""
HIDDEN = """() => {
  const { activeElement: focused } = document;
  const { top, bottom, left, width } = focused.getBoundingClientRect();
  const inside = [top + 2, (top + bottom) / 2, bottom - 2].filter((y) => y >= 0 && y < innerHeight);
  const seen = inside.some((y) => {
    const found = document.elementFromPoint(left + Math.min(width / 2, 20), y);
    return focused.contains(found) || found?.contains(focused) || found?.closest("label")?.contains(focused);
  });
  return seen || focused === document.body ? "" : focused.outerHTML.slice(0, 120);
}"""


def check_for_everybody(page: Page) -> None:
    """Targets (2.5.8), reflow (1.4.10), text spacing (1.4.12), forced colours; the window is as before afterwards."""
    size = page.viewport_size
    assert size is not None
    assert page.evaluate(TARGETS, SMALLEST) == [], page.url
    page.set_viewport_size({"width": 320, "height": 640})
    assert too_wide(page) == 0, page.url
    page.evaluate("(css) => (window.spaced = new CSSStyleSheet()).replaceSync(css)", SPACED)
    page.evaluate("document.adoptedStyleSheets.push(window.spaced)")
    assert (too_wide(page), page.evaluate(CLIPPED)) == (0, []), page.url
    page.evaluate("document.adoptedStyleSheets.pop()")
    page.set_viewport_size(size)
    page.emulate_media(forced_colors="active")
    assert page.evaluate(BARE) == [], page.url
    page.emulate_media(forced_colors="none")


def too_wide(page: Page) -> int:
    """By how much the page is wider than the screen."""
    return int(page.evaluate("Math.max(0, document.documentElement.scrollWidth - innerWidth)"))


def hidden_on_the_way(page: Page, key: str, most: int = 150) -> list[Any]:
    """What has the focus and cannot be seen, on the way through the whole page with this key (2.4.11)."""
    found = list[Any]()
    for _ in range(most):
        page.keyboard.press(key)
        if page.evaluate("document.activeElement === document.body"):
            break
        if hidden := page.evaluate(HIDDEN):
            found.append(hidden)
    return found


OUTLINE = """() => {
  const at = document.activeElement, look = getComputedStyle(at);
  if (at.type === "date" && !at.matches(":focus-visible")) return "";  // its calendar button has it: the browser's own
  const seen = look.outlineStyle !== "none" && parseFloat(look.outlineWidth) >= 2;
  return seen ? "" : at.outerHTML.slice(0, 200);
}"""


def without_outline(page: Page, most: int = 150) -> list[str]:
    """What gets the focus by Tab, on the way through the whole page, and does not show it (2.4.7)."""
    found = list[str]()
    for _ in range(most):
        page.keyboard.press("Tab")
        if page.evaluate("document.activeElement === document.body"):
            return found
        found.append(page.evaluate(OUTLINE))
    raise AssertionError("Tab never left the page")
