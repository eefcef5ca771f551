"""The way out as the operator sets it: by which forward proxy, and whose certificates are believed."""

import functools
import re
import ssl
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import unquote

from mrtr_web import secretfiles
from mrtr_web.values import in_parts

PROXIES = "http://host:port or http://user:password@host:port, with https:// where the proxy itself takes TLS"
MOST = 4 * 1024 * 1024
"""Bytes of a file of certificates."""
_HOST = re.compile(r"[\w-]{1,63}(\.[\w-]{1,63})*|[0-9a-f:.]*:[0-9a-f:.]*", re.ASCII | re.IGNORECASE)
_KEY = re.compile("-----BEGIN [A-Z ]*PRIVATE KEY-----")


@dataclass(frozen=True, slots=True)
class Proxy:
    """A forward proxy; `login` is user:password, or empty."""

    host: str
    port: int
    is_tls: bool = False
    login: str = field(default="", repr=False)


def proxy(url: str) -> Proxy | None:
    """What MRTR_EGRESS_PROXY says; None where it is empty. Raises ValueError, without the URL in it."""
    if not url:
        return None
    parts = in_parts(url)
    user, password = unquote(parts.username or ""), unquote(parts.password or "")
    names_a_place = parts.scheme in ("http", "https") and parts.port and _HOST.fullmatch(parts.hostname or "")
    says_more = parts.path not in ("", "/") or parts.query or parts.fragment
    if not names_a_place or says_more or ":" in user or not (user + password).isprintable():
        raise ValueError(f"use {PROXIES}")
    login = f"{user}:{password}" if "@" in parts.netloc else ""
    return Proxy(parts.hostname or "", parts.port or 0, parts.scheme == "https", login)


@functools.cache
def authorities(path: Path) -> str:
    """The certificates in a file, in PEM; it is read once in the life of a process. Raises ValueError."""
    try:
        text = secretfiles.contents(str(path), MOST).decode("ascii", "ignore")  # what is not ASCII is a comment
    except secretfiles.Unusable as error:
        raise ValueError(f"{path} {error}") from None
    if _KEY.search(text):
        raise ValueError(f"{path} holds a private key: put only certificates of authorities into it")
    try:
        ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT).load_verify_locations(cadata=text)
    except (ssl.SSLError, ValueError):
        raise ValueError(f"{path} holds no certificates in PEM (-----BEGIN CERTIFICATE-----), or broken ones") from None
    return text


@functools.cache
def trust(path: Path | None) -> ssl.SSLContext:
    """Believes the system's authorities (SSL_CERT_FILE names others), and those in MRTR_CA_FILE beside them.

    One for the process: loading the system's takes 50 ms.
    """
    context = ssl.create_default_context()
    if path is not None:
        context.load_verify_locations(cadata=authorities(path))
    return context
