"""The entries of a server's stored listings: which are offered to people, and why the others are not.

Malformed entries hide only themselves. Of several with one name, each is there.
"""

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote, urlencode

from django.urls import reverse
from django.utils.translation import gettext as _
from mcp.shared.inbound import find_invalid_x_mcp_header

from mrtr_web import addresses
from mrtr_web.models import Server
from mrtr_web.relay import MAX_ENTRIES

KEYS = {"tools": "name", "prompts": "name", "templates": "uriTemplate", "resources": "uri"}
"""What an entry of each kind is called by."""
MAX_ADDRESS = 6_000
"""Bytes of a name in a web address; proxies refuse much longer ones."""
MAX_BRIEF = 2_000
"""Characters of a description that are looked through."""
Object = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Entry:
    """One entry with a name of its own."""

    server: Server
    kind: str
    name: str
    """As it goes over the wire: of a tool or prompt, a URI template or a URI."""
    copy: int
    """From 1: which one of the entries of this kind and name it is."""
    raw: Object

    @property
    def title(self) -> str:
        second = text(self.hints, "title") if self.kind == "tools" else text(self.raw, "name")
        return text(self.raw, "title") or second or self.name

    @property
    def description(self) -> str:
        return text(self.raw, "description")

    @property
    def hints(self) -> Object:
        """What the server claims of a tool."""
        hints = self.raw.get("annotations") if self.kind == "tools" else None
        return hints if isinstance(hints, dict) else {}

    @property
    def claims(self) -> list[str]:
        return claims(self.hints)

    @property
    def address(self) -> str:
        """Of the page that starts it."""
        if self.kind not in ("tools", "prompts"):
            return f"{reverse('resource', args=[self.server.slug])}?{urlencode({'uri': self.name})}"
        copy = [self.copy] if self.copy > 1 else []
        return reverse(self.kind.removesuffix("s"), args=[self.server.slug, *copy, self.name])

    @property
    def is_offered(self) -> bool:
        return not (self.kind == "tools" and self.name in self.server.hidden_tools) and self.fault is None

    @property
    def fault(self) -> str | None:
        """Why it cannot be offered; None where it can."""
        if "\0" in self.name:
            return _("Its name holds characters that no text may hold.")
        if len(quote(self.name)) > MAX_ADDRESS:
            return _("Its name is too long for a web address.")
        if self.kind == "tools":
            return self._unaddressable or self.unmirrored
        return addresses.fault(self.name) if self.kind == "templates" else self._unaddressable

    @property
    def _unaddressable(self) -> str | None:
        """Browsers take these parts out of a path."""
        if self.kind == "resources" or not {".", ".."} & set(self.name.split("/")):
            return None
        return _("Its name has a part “.” or “..”, which no web address can hold.")

    @property
    def unmirrored(self) -> str | None:
        """Why a tool's arguments cannot be mirrored in headers as it asks; None where they can (HT-6, HT-7)."""
        schema = self.raw.get("inputSchema")
        return find_invalid_x_mcp_header(schema) if isinstance(schema, dict) else None


def read(server: Server, kind: str, listing: Sequence[Any]) -> Iterator[Entry]:
    """The entries of a listing that have a name, good or bad, in their order."""
    seen: Counter[str] = Counter()
    for raw in listing[:MAX_ENTRIES]:
        name = _name(kind, raw)
        if name:
            seen[name] += 1
            yield Entry(server, kind, name, seen[name], raw)


def named(server: Server, kind: str) -> Iterator[Entry]:
    """Those that are stored."""
    return read(server, kind, server.offers.get(kind, ()))


def offered(server: Server, kind: str) -> Iterator[Entry]:
    """Those that people may start."""
    return (entry for entry in named(server, kind) if entry.is_offered)


def briefs(entries: Iterable[Entry]) -> list[Any]:
    """Of those without a fault, what in_brief() reads: without schemas, which are most of a listing."""
    return [[entry.name, entry.copy, _shortened(entry.raw)] for entry in entries if entry.fault is None]


def in_brief(server: Server) -> Iterator[Entry]:
    """What people may start, by what searches and their results need of it."""
    for kind in KEYS:
        hidden = server.hidden_tools if kind == "tools" else ()
        for name, copy, raw in server.listed[kind].briefs if kind in server.listed else ():
            if name not in hidden:
                yield Entry(server, kind, name, copy, raw)


def unusable(server: Server) -> list[tuple[str, str]]:
    """What is listed and cannot be offered, for the server's staff: name and reason."""
    nameless = [
        (
            _("Entry %(number)d of %(kind)s") % {"number": number, "kind": kind},
            _("It cannot be read.") if raw is None else _("It has no name."),
        )
        for kind in KEYS
        for number, raw in enumerate(_listed(server, kind), 1)
        if not _name(kind, raw)
    ]
    faults = ((entry.name, entry.fault) for kind in KEYS for entry in named(server, kind))
    return nameless + [(name, fault) for name, fault in faults if fault is not None]


def is_cut(server: Server) -> bool:
    """Whether it lists more than is offered (LIST-SIZE)."""
    return any(len(entries) > MAX_ENTRIES for entries in server.offers.values())


def broken_rules(server: Server, kinds: Collection[str]) -> list[str]:
    """Rules that its listings of these kinds break."""
    entries = [entry for kind in kinds for entry in named(server, kind)]
    malformed = any(not _name(kind, raw) for kind in kinds for raw in _listed(server, kind))
    seen = {
        "HT-7": any(entry.kind == "tools" and entry.unmirrored for entry in entries),
        "LIST-ENTRY": malformed or any(entry.kind == "templates" and addresses.fault(entry.name) for entry in entries),
        "LIST-SIZE": any(len(server.offers.get(kind, ())) > MAX_ENTRIES for kind in kinds),
        "LIST-TWICE": any(entry.copy > 1 for entry in entries),
    }
    return [rule for rule, broken in seen.items() if broken]


def claims(hints: Mapping[str, Any]) -> list[str]:
    """What a server says that its tool does: reads, destroys, repeats. Never to be relied on (TO-2)."""
    said = {
        "reads": hints.get("readOnlyHint") is True,
        "destroys": hints.get("destructiveHint") is True and hints.get("readOnlyHint") is not True,
        "repeats": hints.get("idempotentHint") is True,
    }
    return [claim for claim, true in said.items() if true]


def text(raw: Object, key: str) -> str:
    """What stands there, if it is a text."""
    value = raw.get(key)
    return value if isinstance(value, str) else ""


def _shortened(raw: Object) -> Object:
    kept = {key: raw[key] for key in ("title", "name", "annotations") if key in raw}
    return kept | {"description": text(raw, "description")[:MAX_BRIEF]}


def _listed(server: Server, kind: str) -> list[Any]:
    return server.offers.get(kind, [])[:MAX_ENTRIES]


def _name(kind: str, raw: object) -> str:
    return text(raw, KEYS[kind]) if isinstance(raw, dict) else ""
