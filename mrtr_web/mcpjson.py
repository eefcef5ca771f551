"""The list of servers that other MCP hosts keep: {"mcpServers": {name: {"url": …, "headers": …}}}, or "servers".

Only what is reached over streamable HTTP can be used here. Placeholders such as ${TOKEN} stand for variables of the
environment. Where an entry says how people sign in ("oauth": {"clientId": …}, "auth": {"CLIENT_ID": …} or
"auth": "oauth"), each person signs in here, too; its client is left out, for it sends people back to that other host.
"""

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from django.utils.translation import gettext as _

from mrtr_web.schema.jsontext import is_whole_text

ADDRESSES = ("url", "serverUrl", "httpUrl")
HTTP = (None, "http", "streamable-http", "streamableHttp", "streamable_http")
SIGN_IN = ("oauth", "auth", "authentication", "authorization", "authProviderType")
_CLIENT = frozenset({"clientid", "client_id"})
_OAUTH = frozenset({"oauth", "oauth2"})
_PLACEHOLDER = re.compile(r"\$\{([^}]*)\}")
_VARIABLE = re.compile(r"(?:env:)?([A-Za-z_][A-Za-z0-9_]*)\Z")
_BEARER = re.compile(r"(?i:bearer)\s+(.*\S)\s*\Z", re.DOTALL)


class Unreadable(Exception):
    """The file cannot be used at all; the message says why."""


class Unsupported(Exception):
    """A kind of server that cannot be used here; the message says why."""


class Malformed(Exception):
    """An entry that cannot be read; the message says why, and holds no value of it."""


@dataclass(frozen=True, slots=True)
class Entry:
    """A server that can be registered. Its credential: `variable` names where a bearer token is, else `text` is it."""

    name: str
    url: str
    is_on: bool = True
    kind: str = "none"
    variable: str = ""
    text: str = field(default="", repr=False)
    missing: tuple[str, ...] = ()
    """Placeholders that stand for nothing: without them there is no credential."""
    left_out: str = ""
    """What of its way to sign in is not taken: client, sign_in (it has headers, too) or unknown."""


Lookup = Callable[[str], str | None]
"""An environment variable's value; None where it is not set. Raises Malformed where it may not be used."""


def read(text: str) -> dict[str, Any]:
    """The entries by name, whatever they are. Raises Unreadable."""
    try:
        whole = json.loads(text.removeprefix("\ufeff"), object_pairs_hook=_without_doubles)
    except json.JSONDecodeError as error:
        message = _("Line %d is not plain JSON. Comments and commas before a closing bracket are not allowed.")
        raise Unreadable(message % error.lineno) from None
    except (RecursionError, ValueError):  # also a number of thousands of digits
        raise Unreadable(_("It is nested too deeply, or has numbers that are too long.")) from None
    for key in ("mcpServers", "servers"):
        if isinstance(whole, dict) and isinstance(whole.get(key), dict):
            return dict(whole[key])
    raise Unreadable(_('There is no list of servers in it: {"mcpServers": {…}} is needed.'))


def _without_doubles(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise Unreadable(_("A name stands in it twice, so one of the two would be lost."))
    return found


def entry(name: str, value: Any, lookup: Lookup) -> Entry:
    """What an entry asks to be registered. Raises Unsupported, Malformed."""
    if not isinstance(value, dict):
        raise Malformed(_("It is not an object."))
    address = _address(value)
    if _PLACEHOLDER.search(address):  # what is filled in there would stand in clear
        raise Malformed(_("Its address has a placeholder. Write out the address; a secret belongs into a header."))
    headers = value.get("headers", {})
    if not isinstance(headers, dict) or not all(isinstance(each, str) for each in headers.values()):
        raise Malformed(_("Its headers are not texts by name."))
    if not all(is_whole_text(text) and "\0" not in text for text in (address, *headers, *headers.values())):
        raise Malformed(_("It has characters that no text may hold."))
    is_on = value.get("disabled") is not True and value.get("enabled") is not False
    return _with_sign_in(_with_credential(Entry(name, address, is_on), headers, lookup), bool(headers), _sign_in(value))


def _with_sign_in(found: Entry, has_headers: bool, said: str) -> Entry:
    if has_headers or said in ("", "unknown"):
        return replace(found, left_out=said and ("unknown" if said == "unknown" else "sign_in"))
    return replace(found, kind="oauth", left_out=said if said == "client" else "")


def _sign_in(value: Mapping[str, Any]) -> str:
    """What an entry says of how people sign in: "" nothing, oauth, client (the same, with a client), or unknown."""
    key = next((key for key in SIGN_IN if value.get(key) not in (None, False)), None)
    said = value.get(key) if key else None
    if not isinstance(said, dict):
        is_oauth = (key == "oauth" and said is True) or (isinstance(said, str) and said.lower() in _OAUTH)
        return "oauth" if is_oauth else "unknown" if key else ""
    if said.get("enabled") is False:
        return ""
    if _CLIENT & {name.lower() for name in said}:
        return "client"
    return "oauth" if key == "oauth" or str(said.get("type")).lower() in _OAUTH else "unknown"


def _address(value: Mapping[str, Any]) -> str:
    kind = value.get("type", value.get("transport"))
    found = next((value[key] for key in ADDRESSES if key in value), None)
    if kind == "stdio" or (found is None and "command" in value):
        raise Unsupported(
            _("stdio: it would run a program on this machine. Only servers with an http address can be used.")
        )
    if kind == "sse":
        raise Unsupported(_("sse: this older transport is not spoken here. Ask for its streamable HTTP address."))
    if kind not in HTTP:
        raise Unsupported(_("Its type is not known here."))
    if not isinstance(found, str) or not found:
        raise Malformed(_("It has no address (url)."))
    return found


def _with_credential(found: Entry, headers: Mapping[str, str], lookup: Lookup) -> Entry:
    if not headers:
        return found
    token = _only_bearer(headers)
    variable = _whole(token) if token else ""
    if token and variable:
        missing = () if (lookup(variable) or "").strip() else (variable,)
        return _replaced(found, kind="bearer", variable=variable, missing=missing)
    unset: list[str] = []
    given = {"": token} if token else headers
    values = {name: _expanded(value, lookup, unset) for name, value in given.items()}
    if any("\n" in f"{name}{value}" for name, value in values.items()):
        raise Malformed(_("A header has a line break in it."))
    text = values[""] if token else "\n".join(f"{name}: {value}" for name, value in values.items())
    if unset:
        return _replaced(found, missing=tuple(dict.fromkeys(unset)))
    return _replaced(found, kind="bearer" if token else "headers", text=text)


def _replaced(found: Entry, **more: Any) -> Entry:
    return Entry(found.name, found.url, found.is_on and not more.get("missing"), **more)


def _only_bearer(headers: Mapping[str, str]) -> str:
    """The token where the only header is Authorization: Bearer x."""
    (name, value), *others = headers.items()
    match = _BEARER.match(value) if name.lower() == "authorization" and not others else None
    return match[1] if match else ""


def _whole(token: str) -> str:
    """The variable where the token is nothing but a placeholder."""
    match = _PLACEHOLDER.fullmatch(token)
    variable = _VARIABLE.match(match[1]) if match else None
    return variable[1] if variable else ""


def _expanded(text: str, lookup: Lookup, missing: list[str]) -> str:
    """With the values of its placeholders; those without are added to `missing`."""

    def value(match: re.Match[str]) -> str:
        inner, has_default, default = match[1].partition(":-")
        variable = _VARIABLE.match(inner)
        found = lookup(variable[1]) if variable else None
        if not found and has_default:
            return default
        if not found:
            missing.append(inner)
        return found or ""

    return _PLACEHOLDER.sub(value, text)
