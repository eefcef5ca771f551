"""A credential as an admin writes it: a bearer token, or `Name: value` lines. No message repeats it."""

import re

from django.utils.translation import gettext as _

MAX_VALUE = 8 * 1024
MAX_LINES = 50
_NAME = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]{1,100}\Z")
_VALUE = re.compile(r"[!-~]+(?: +[!-~]+)*\Z")
_OURS = frozenset(
    [
        *("host", "content-length", "content-type", "transfer-encoding", "connection", "keep-alive", "upgrade", "te"),
        *("trailer", "expect", "cookie", "accept", "accept-encoding", "last-event-id", "origin"),
    ]
)
_OURS_BEGIN = ("proxy-", "sec-", "mcp-")


class Malformed(ValueError):
    """It cannot be sent as it is written; the message says why."""


def read(kind: str, text: str) -> dict[str, str]:
    """The headers that a bearer token, or lines of headers, stand for. Raises Malformed."""
    return _bearer(text.strip()) if kind == "bearer" else _headers(text)


def _bearer(token: str) -> dict[str, str]:
    if not token:
        raise Malformed(_("The token is empty."))
    if " " in token:
        raise Malformed(_("The token has a space in it. Give the token alone, without the word Bearer."))
    return {"Authorization": f"Bearer {_value(token)}"}


def _headers(text: str) -> dict[str, str]:
    lines = [line.strip(" ") for line in text.replace("\r\n", "\n").split("\n") if line.strip()]
    if not lines:
        raise Malformed(_("There is no header. Write one a line, such as X-Api-Key: abc"))
    if len(lines) > MAX_LINES:
        raise Malformed(_("There are too many headers."))
    found: dict[str, str] = {}
    for number, line in enumerate(lines, 1):
        name, colon, value = line.partition(":")
        if not colon or not _NAME.match(name):
            raise Malformed(_("Line %d is not of the form Name: value.") % number)
        if name.lower() in {known.lower() for known in found}:
            raise Malformed(_("The header of line %d is given twice.") % number)
        if name.lower() in _OURS or name.lower().startswith(_OURS_BEGIN):
            raise Malformed(_("The header of line %d is set by this app itself.") % number)
        found[name] = _value(value.strip(" "))
    return found


def _value(text: str) -> str:
    if len(text) > MAX_VALUE:
        raise Malformed(_("A value is longer than 8 KiB."))
    if not _VALUE.match(text):
        raise Malformed(
            _("A value is empty, or has characters that cannot be sent in a header: only visible ASCII can.")
        )
    return text
