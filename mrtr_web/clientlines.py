"""A client that an admin has had registered at an authorization server, written as lines. No message repeats it."""

import re
from dataclasses import dataclass, field

from django.utils.translation import gettext as _

from mrtr_web.headerlines import Malformed

MAX_LENGTH = 2_000
_KEYS = ("client_id", "client_secret", "issuer")
_VALUE = re.compile(r"[!-~]+\Z")


@dataclass(frozen=True, slots=True)
class Given:
    """`issuer`: the only authorization server that it is for; "" for the first one that the server names."""

    client_id: str
    secret: str = field(default="", repr=False)
    issuer: str = ""


def write(given: Given) -> str:
    values = zip(_KEYS, (given.client_id, given.secret, given.issuer), strict=True)
    return "\n".join(f"{key}: {value}" for key, value in values if value)


def read(text: str) -> Given:
    """The client of these lines: client_id, and client_secret and issuer where there are. Raises Malformed."""
    found: dict[str, str] = {}
    for number, line in enumerate(filter(str.strip, text.splitlines()), 1):
        key, colon, value = (part.strip() for part in line.partition(":"))
        if not colon or key not in _KEYS or key in found:
            raise Malformed(_("Line %(number)d is none of %(keys)s.") % {"number": number, "keys": ", ".join(_KEYS)})
        if not _VALUE.match(value) or len(value) > MAX_LENGTH:
            raise Malformed(
                _("The value of line %d is empty, too long, or has characters other than visible ASCII.") % number
            )
        found[key] = value
    if "client_id" not in found:
        raise Malformed(_("There is no client_id."))
    return Given(found["client_id"], found.get("client_secret", ""), found.get("issuer", ""))
