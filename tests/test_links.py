"""URLs that a server wants opened: shown whole, host apart, refused or warned about."""

import pytest

from mrtr_web.links import judge


def test_the_whole_url_is_shown_with_its_host_apart() -> None:
    """UR-1, UR-4"""
    link = judge("https://pay.example.com:8443/a?b=c#d")
    assert (link.before, link.host, link.after) == ("https://", "pay.example.com:8443", "/a?b=c#d")
    assert (link.url, link.refused, link.warnings) == ("https://pay.example.com:8443/a?b=c#d", "", ())


@pytest.mark.parametrize(
    ("url", "code"),
    [
        ("javascript:alert(1)", "scheme"),
        ("data:text/html,x", "scheme"),
        ("file:///etc/passwd", "scheme"),
        ("vbscript:x", "scheme"),
        ("intent://x", "scheme"),
        ("not a url", "scheme"),
        ("", "scheme"),
        ("https://", "host"),
        ("https://user@evil.example/", "host"),
        ("https://good.example@evil.example/", "host"),
        ("https://good.example\\@evil.example/", "characters"),
        ("https://a.example/\u202etxt", "characters"),
        ("https://a.example/\tx", "characters"),
        ("https://a.example/ x", "characters"),
        ("https://a.example:99999/", "malformed"),
        ("https://[::1", "malformed"),
        ("http://a.example/", "insecure"),
        ("https://mrtr.example:9000/x", "own_host"),
        ("https://MRTR.example./x", "own_host"),
        ("https://mrtr\u3002example/x", "own_host"),
        ("https://127.1/", "own_host"),
        ("https://2130706433/", "own_host"),
        ("https://0x7f000001/", "own_host"),
        ("https://017700000001./", "own_host"),
        ("https://127.0.0.2/", "own_host"),
        ("https://[::ffff:7f00:1]/", "own_host"),
        ("https://mrtr%2eexample/", "host"),
        ("https://l%6fcalhost/", "host"),
        ("https://127.0.0.1%2e/", "host"),
        ("https://local\ufe0fhost/", "host"),
        ("https://local\u034fhost/", "host"),
        ("https://a..example/", "host"),
        ("https://a.example.256/", "host"),
        ("https://1_0.1/", "host"),
        ("https://1.2.3.4.5/", "host"),
        ("https://xn--zz/", "host"),
        ("https://a|b.example/", "host"),
        ("http://0x7f000002/", "insecure"),
        ("https://a.example/" + "x" * 5000, "too_long"),
    ],
)
def test_a_url_that_must_not_be_opened(url: str, code: str) -> None:
    """UR-7, H12"""
    link = judge(url, {"mrtr.example", "127.0.0.1"})
    assert (link.refused, link.host) == (code, "")


@pytest.mark.parametrize(
    ("url", "host", "warning"),
    [
        ("https://xn--pple-43d.com/", "xn--pple-43d.com", "foreign_letters"),
        ("https://аpple.com/", "xn--pple-43d.com", "foreign_letters"),
        ("https://fa\xdf.de/x", "xn--fa-hia.de", "foreign_letters"),
        ("https://192.0.2.7/", "192.0.2.7", "bare_address"),
        ("https://3221225991/", "192.0.2.7", "bare_address"),
        ("https://0300.0.0x2.7/", "192.0.2.7", "bare_address"),
        ("https://2130706433/", "127.0.0.1", "bare_address"),
        ("http://0x7f.1:8001/", "127.0.0.1:8001", "not_encrypted"),
        ("https://[2001:db8::1]/", "[2001:db8::1]", "bare_address"),
        ("http://localhost:8001/pay", "localhost:8001", "not_encrypted"),
    ],
)
def test_a_suspicious_url_is_warned_about(url: str, host: str, warning: str) -> None:
    """UR-6"""
    link = judge(url)
    assert (link.host, link.refused) == (host, "")
    assert warning in link.warnings


def test_letters_outside_ascii_are_shown_as_they_will_be_requested() -> None:
    link = judge("https://a.example/é?q=ü")
    assert link.after == "/%C3%A9?q=%C3%BC"


def test_what_is_opened_is_the_host_that_is_shown() -> None:
    link = judge("HTTPS://Fa\xdf.DE:0443/\xe9?q=\xfc")
    assert (link.url, link.host) == ("HTTPS://xn--fa-hia.de/\xe9?q=\xfc", "xn--fa-hia.de")
