"""The host that a link is judged by, shown with and opened by is the one that a real browser makes of it."""

from playwright.sync_api import Browser

from mrtr_web.links import judge
from tests.window import in_browser

pytestmark = in_browser

HOST = "u => { try { return new URL(u).host } catch { return null } }"
PLAIN = [
    "a.example",
    "A.Example.",
    "a_b.example",
    "ab--cd.example",
    "r3---sn-x.example:8443",
    "a.example:443",
    "a.example:",
    "a.example:00080",
    "fa\xdf.de",
    "FA\u1e9e.de",
    "b\xfccher.example",
    "b\u0075\u0308cher.example",
    "xn--fa-hia.de",
    "XN--FA-HIA.de",
    "\u0430pple.com",
    "\u03b2\u03cc\u03bb\u03bf\u03c2.com",
    "b\u03a31\u1547.example",
    "\uff21\uff22.example",
    "a\u3002example",
    "127\uff610\uff610\uff611",
    "\u2460.\u2461.\u2462.\u2463",
    "2130706433",
    "0x7f000001",
    "0X7F.1",
    "127.1",
    "017700000001",
    "0300.0.0x2.7",
    "127.0.0.1.",
    "0x",
    "4294967295",
    "[::1]",
    "[0:0:0:0:0:0:0:1]",
    "[2001:DB8:0:0:1:0:0:1]",
    "[2001:db8:0:1:1:1:1:1]",
    "[::ffff:127.0.0.1]",
    "[::127.0.0.1]",
]
NOT_PLAIN = [
    "l%6fcalhost",
    "app%2eexample.org",
    "127.0.0.1%2e",
    "local\ufe0fhost",
    "local\u034fhost",
    "local\u180bhost",
    "local\u200bhost",
    "loc\xadalhost",
    "local\u115fhost",
    "local\U000e0100host",
    "a..example",
    "4294967296",
    "1.2.3.256",
    "1.2.3.4.5",
    "256.1.1.1",
    "09",
    "a.09",
    "foo.0x4",
    "1_0.1",
    "-1.1",
    "xn--zz",
    "xn--a.example",
    "xn--xn---epa.com",
    "a|b.example",
    "a<b.example",
    "\u0663.com",
    "a\u2100b.com",
    "[fe80::1%25eth0]",
    "[v1.x]",
    "[::1].example",
    "\U0001f4a9.la",
]
"""Refused, whatever browsers do with them."""


def test_the_host_is_the_one_that_a_browser_opens(browser: Browser) -> None:
    page = browser.new_page()
    for host in PLAIN:
        link = judge(f"https://{host}/x")
        assert link.refused == "", ascii(host)
        opened = [page.evaluate(HOST, url) for url in (f"https://{host}/x", link.url)]
        assert opened == [link.host, link.host], ascii(host)
    page.close()


def test_a_host_that_does_not_say_plainly_what_it_is_has_no_button() -> None:
    for host in NOT_PLAIN:
        assert judge(f"https://{host}/x").refused, ascii(host)
