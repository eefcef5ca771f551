"""A URL that a server wants a person to open: judged and cut for display, never fetched (UR-1 to UR-7).

The host that is shown, judged and opened is one: the name in ASCII, or the address, that browsers make of it.
"""

import ipaddress
import re
import unicodedata
from collections.abc import Collection
from dataclasses import dataclass
from urllib.parse import SplitResult, quote, urlsplit

import idna

MAX_LENGTH = 4096
LOOPBACK_NAMES = ("localhost", "127.0.0.1", "[::1]")
_URL_MARKS = "%/?#[]@!$&'()*+,;=:~"
_LOOPBACK = ipaddress.IPv4Network("127.0.0.0/8")
_DEFAULT_PORTS = {"http": 80, "https": 443}
_PLACE = re.compile(r"(\[[0-9A-Fa-f:.]+\]|[^][@:]+)(?::[0-9]*)?")
_NAME = re.compile(r"[a-z0-9_-]+(\.[a-z0-9_-]+)*\.?")
_NUMBER = re.compile(r"[0-9]+|0x[0-9a-f]*")


@dataclass(frozen=True, slots=True, repr=False)
class Link:
    """`url` is what is opened; `before + host + after` is the same, shown in ASCII, or what was refused.

    `refused` is a code where it must not be opened.
    """

    url: str
    before: str
    host: str
    after: str
    refused: str = ""
    warnings: tuple[str, ...] = ()


def judge(url: str, own_hosts: Collection[str] = ()) -> Link:
    """What to show of this URL and whether a person may open it. `own_hosts`: host names of this app."""
    shown = _visible(url[:MAX_LENGTH])
    if len(url) > MAX_LENGTH:
        return Link(shown, shown, "", "", refused="too_long")
    try:
        parts = urlsplit(url)
        port = parts.port  # a bad one raises
    except ValueError:
        return Link(shown, shown, "", "", refused="malformed")
    written = _PLACE.fullmatch(parts.netloc)
    host = _opened(written[1]) if written else ""
    refused = _refusal(url, parts, host, own_hosts)
    if refused:
        return Link(shown, shown, "", "", refused=refused)
    start = url.index("//") + 2
    before, tail = url[:start], url[start + len(parts.netloc) :]
    place = host if port in (None, _DEFAULT_PORTS[parts.scheme]) else f"{host}:{port}"
    warnings = _warnings(parts, host)
    return Link(before + place + tail, before, place, quote(tail, safe=_URL_MARKS), warnings=warnings)


def _visible(text: str) -> str:
    return "".join(ch if ch.isprintable() and ord(ch) < 128 else f"\\u{ord(ch):04x}" for ch in text)


def _refusal(url: str, parts: SplitResult, host: str, own_hosts: Collection[str]) -> str:
    if parts.scheme not in _DEFAULT_PORTS:
        return "scheme"
    if any(not ch.isprintable() or ch in " \\" or unicodedata.category(ch) == "Cf" for ch in url):
        return "characters"
    if not host:
        return "host"
    if parts.scheme == "http" and host not in LOOPBACK_NAMES:
        return "insecure"
    if _site(host) in {_site(_opened(own)) for own in own_hosts}:  # cookies ignore ports: a page there could read ours
        return "own_host"
    return ""


def _opened(host: str) -> str:
    """The host as browsers open it; "" for one that they do not open, or that hides what it is."""
    try:
        if ":" in host:
            return _ipv6(host.strip("[]"))
        name = host.lower() if host.isascii() and "xn--" not in host.lower() else _in_ascii(host)
        return _ipv4(name) if _NAME.fullmatch(name) else ""
    except ValueError:
        return ""


def _in_ascii(host: str) -> str:
    """By UTS-46, not transitional. Raises ValueError, as for a character that vanishes from a name."""
    if not all(idna.uts46_remap(ch) for ch in host):
        raise ValueError("vanishing")
    return idna.encode(host, uts46=True, transitional=False).decode()


def _ipv6(host: str) -> str:
    address = ipaddress.IPv6Address(host)
    if address.ipv4_mapped is None:
        return f"[{address.compressed}]"
    high, low = divmod(int(address.ipv4_mapped), 1 << 16)  # browsers write no dots; Python does from 3.13 on
    return f"[::ffff:{high:x}:{low:x}]"


def _ipv4(name: str) -> str:
    """A name as it is, an address in its plain form: browsers also read 127.1, 0x7f000001 and 017700000001 as one.

    Raises ValueError where the last part is a number, and the whole no address.
    """
    parts = name.removesuffix(".").split(".")
    if not _NUMBER.fullmatch(parts[-1]):
        return name
    if len(parts) > 4:
        raise ValueError("too many parts")
    *first, last = [_number(part) for part in parts]
    if any(number > 255 for number in first) or last >= 256 ** (4 - len(first)):
        raise ValueError("too large")
    return str(ipaddress.IPv4Address(sum(number << 24 - 8 * at for at, number in enumerate(first)) + last))


def _number(part: str) -> int:
    if not _NUMBER.fullmatch(part):
        raise ValueError("no number")
    if part.startswith("0x"):
        return int(part[2:] or "0", 16)
    return int(part, 8 if part.startswith("0") else 10)


def _site(host: str) -> str:
    """One spelling for what leads to the same: a name without its final dot, all loopback addresses of IPv4."""
    address = _address(host)
    if isinstance(address, ipaddress.IPv6Address):
        address = address.ipv4_mapped or address
    if address is None:
        return host.removesuffix(".")
    return "127.0.0.1" if address in _LOOPBACK else str(address)


def _warnings(parts: SplitResult, host: str) -> tuple[str, ...]:
    found = []
    if not parts.netloc.isascii() or any(label.startswith("xn--") for label in host.split(".")):
        found.append("foreign_letters")
    if _address(host) is not None:
        found.append("bare_address")
    if parts.scheme == "http":
        found.append("not_encrypted")
    return tuple(found)


def _address(host: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address | None:
    try:
        return ipaddress.ip_address(host.strip("[]"))
    except ValueError:
        return None
