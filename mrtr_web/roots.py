"""A roots step: the folders that a person lets a server know of, as a ListRootsResult (RO-1, RO-2).

A root is a name and a file URI. Nothing is read from any disk: what is told to the server is the text alone.
"""

import re
from collections.abc import Iterable, Mapping
from typing import Any
from urllib.parse import quote, unquote, urlsplit

MAX_LENGTH = 2_000
_DRIVE = re.compile(r"[A-Za-z]:[\\/]")
Object = dict[str, Any]


def fault(uri: str) -> str:
    """Why this cannot be a root: a code of schema.sentences; "" where it can."""
    if len(uri) > MAX_LENGTH:
        return "root_long"
    if not uri.lower().startswith("file:///"):
        return "root_scheme"
    if not uri.isascii() or any(ord(character) <= 32 or character in "\\\x7f" for character in uri):
        return "root_characters"
    try:
        parts = urlsplit(uri)
    except ValueError:
        return "root_scheme"
    if parts.query or parts.fragment or "?" in uri or "#" in uri:
        return "root_scheme"
    return "root_steps" if _climbs(parts.path) else ""


def _climbs(path: str) -> bool:
    """Whether a folder name in it leads elsewhere, however it is written: `..`, `%2e%2e`, `%252e.`, `a%2f..`."""
    for _ in range(4):
        if any(name in (".", "..") for name in path.replace("\\", "/").split("/")) or "\0" in path:
            return True
        path, before = unquote(path), path
        if path == before:
            return False
    return True


def address(folder: str) -> str:
    """The file URI of a folder that is written as people write it; anything else stays as it is."""
    if folder.isprintable() and _DRIVE.match(folder):
        return "file:///" + quote(folder.replace("\\", "/"), safe="/:")
    if folder.isprintable() and folder.startswith("/") and not folder.startswith("//"):
        return "file://" + quote(folder, safe="/:")
    return folder


def folder(uri: str) -> str:
    """As people write it, where that says the same."""
    path = unquote(uri.removeprefix("file://"))
    path = path[1:] if _DRIVE.match(path[1:]) else path
    return path if address(path) == uri else uri


def lines(text: str) -> list[str]:
    """The folders that were typed, one a line, without empty lines and without edges of white space."""
    return [line.strip() for line in text.splitlines() if line.strip()]


def answer(chosen: Iterable[Mapping[str, Any]], typed: Iterable[str]) -> Object:
    """The ListRootsResult: each URI once; an empty list is a legal answer."""
    found = {entry["uri"]: dict(entry) for entry in chosen}
    for uri in typed:
        found.setdefault(uri, {"uri": uri})
    return {"roots": list(found.values())}


def answered(earlier: Mapping[str, Any], offered: Iterable[Mapping[str, Any]]) -> Object:
    """What was chosen and typed in an earlier answer, to be edited."""
    uris = [entry["uri"] for entry in earlier.get("roots", ())]
    known = [entry["uri"] for entry in offered]
    return {
        "chosen": [uri for uri in uris if uri in known],
        "typed": "\n".join(folder(uri) for uri in uris if uri not in known),
    }


def read_lines(text: str) -> list[Object]:
    """Roots as an admin writes them, one a line: the address, or a name, an equals sign and the address."""
    return [_read_line(line) for line in lines(text)]


def _read_line(line: str) -> Object:
    name, equals, uri = line.rpartition(" = ")
    return {"uri": uri.strip(), "name": name.strip()} if equals and name.strip() else {"uri": line}


def write_lines(entries: Iterable[Mapping[str, Any]]) -> str:
    return "\n".join(f"{each['name']} = {each['uri']}" if each.get("name") else each["uri"] for each in entries)
