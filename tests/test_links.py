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
        ("https://a.example/" + "x" * 5000, "too_long"),
    ],
)
def test_a_url_that_must_not_be_opened(url: str, code: str) -> None:
    """UR-7, H12"""
    link = judge(url, {"mrtr.example"})
    assert (link.refused, link.host) == (code, "")


@pytest.mark.parametrize(
    ("url", "host", "warning"),
    [
        ("https://xn--pple-43d.com/", "xn--pple-43d.com", "foreign_letters"),
        ("https://аpple.com/", "xn--pple-43d.com", "foreign_letters"),
        ("https://192.0.2.7/", "192.0.2.7", "bare_address"),
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
