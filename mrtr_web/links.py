"""A URL that a server wants a person to open: judged and cut for display, never fetched (UR-1 to UR-7)."""

import ipaddress
import unicodedata
from collections.abc import Collection
from dataclasses import dataclass
from urllib.parse import SplitResult, quote, urlsplit

MAX_LENGTH = 4096
LOOPBACK_NAMES = ("localhost", "127.0.0.1", "::1")
_URL_MARKS = "%/?#[]@!$&'()*+,;=:~"


@dataclass(frozen=True, slots=True)
class Link:
    """`before + host + after` is the whole URL in ASCII. `refused` is a code where it must not be opened."""

    url: str
    before: str
    host: str
    after: str
    refused: str = ""
    warnings: tuple[str, ...] = ()


def judge(url: str, own_hosts: Collection[str] = ()) -> Link:
    """What to show of this URL and whether a person may open it. `own_hosts`: host names of this app."""
    shown = _visible(url[:MAX_LENGTH])
    try:
        parts = urlsplit(url)
        host, _ = parts.hostname or "", parts.port  # a bad port raises
    except ValueError:
        return Link(shown, shown, "", "", refused="malformed")
    refused = _refusal(url, parts, host, own_hosts)
    if refused:
        return Link(shown, shown, "", "", refused=refused)
    start = url.index("//") + 2
    tail = quote(url[start + len(parts.netloc) :], safe=_URL_MARKS)
    return Link(url, url[:start], _ascii(parts.netloc), tail, warnings=_warnings(parts, host))


def _ascii(netloc: str) -> str:
    try:
        return netloc if netloc.isascii() else netloc.encode("idna").decode("ascii")
    except UnicodeError:
        return _visible(netloc)


def _visible(text: str) -> str:
    return "".join(ch if ch.isprintable() and ord(ch) < 128 else f"\\u{ord(ch):04x}" for ch in text)


def _refusal(url: str, parts: SplitResult, host: str, own_hosts: Collection[str]) -> str:
    if len(url) > MAX_LENGTH:
        return "too_long"
    if parts.scheme not in ("http", "https"):
        return "scheme"
    if any(not ch.isprintable() or ch in " \\" or unicodedata.category(ch) == "Cf" for ch in url):
        return "characters"
    if not host or "@" in parts.netloc:
        return "host"
    if parts.scheme == "http" and not _is_loopback(host):
        return "insecure"
    if _plain(host) in {_plain(own) for own in own_hosts}:  # cookies ignore ports: a page there could read ours
        return "own_host"
    return ""


def _plain(host: str) -> str:
    """One spelling for all that browsers take for the same host."""
    host = unicodedata.normalize("NFKC", host).replace("\u3002", ".").rstrip(".").lower()
    return "127.0.0.1" if host.startswith("127.") and host.replace(".", "").isdigit() else host


def _is_loopback(host: str) -> bool:
    return host in LOOPBACK_NAMES


def _warnings(parts: SplitResult, host: str) -> tuple[str, ...]:
    found = []
    if not host.isascii() or any(label.startswith("xn--") for label in host.split(".")):
        found.append("foreign_letters")
    if _is_address(host):
        found.append("bare_address")
    if parts.scheme == "http":
        found.append("not_encrypted")
    return tuple(found)


def _is_address(host: str) -> bool:
    try:
        ipaddress.ip_address(host)
    except ValueError:
        return host.rsplit(".", 1)[-1].isdigit()
    return True
