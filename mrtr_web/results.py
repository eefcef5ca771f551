"""A final result as blocks that a template can show without knowing MCP. Nothing is fetched, nothing trusted (D10)."""

import base64
import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import islice
from typing import Any

SHOWN = {
    "image/png": re.compile(rb"\x89PNG\r\n\x1a\n"),
    "image/jpeg": re.compile(rb"\xff\xd8\xff"),
    "image/gif": re.compile(rb"GIF8[79]a"),
    "image/webp": re.compile(rb"RIFF....WEBP", re.DOTALL),
    "audio/mpeg": re.compile(rb"ID3|\xff[\xe0-\xff]"),
    "audio/ogg": re.compile(rb"OggS"),
    "audio/wav": re.compile(rb"RIFF....WAVE", re.DOTALL),
    "audio/x-wav": re.compile(rb"RIFF....WAVE", re.DOTALL),
    "audio/webm": re.compile(rb"\x1a\x45\xdf\xa3"),
    "audio/mp4": re.compile(rb"....ftyp", re.DOTALL),
}
"""Media types that a browser may show in place, and how their bytes begin."""

MAX_RAW = 200_000
"""Characters of structured content, as JSON, that a page shows."""
MAX_BLOCKS = 500
MAX_TEXT = 1_000_000
"""Pieces of one result, and characters in them, that a page shows; a browser would choke on many more."""


@dataclass(frozen=True, slots=True, repr=False)
class Block:
    """One piece of a result. `kind`: text, image, audio, download, link, unknown. `role` for prompt messages."""

    kind: str
    number: int
    text: str = ""
    mime: str = ""
    uri: str = ""
    role: str = ""


@dataclass(frozen=True, slots=True, repr=False)
class Shown:
    """A result ready to be shown. `raw` is the structured content as JSON; past MAX_RAW it is cut."""

    blocks: tuple[Block, ...] = ()
    structured: Any = None
    raw: str = ""
    failed: bool = False
    more: int = 0
    """How many more pieces there are than are shown."""

    @property
    def empty(self) -> bool:
        return not self.blocks and not self.raw


def show(result: Mapping[str, Any], start: int = 0) -> Shown:
    """Cut a result of any of the three methods into blocks, numbered from `start`."""
    contents = _contents(result)
    blocks = tuple(_within_bounds(_block(number, *each) for number, each in enumerate(contents, start)))
    structured = result.get("structuredContent")
    raw = "" if structured is None else written(structured, MAX_RAW)
    return Shown(blocks, structured, raw, result.get("isError") is True, len(contents) - len(blocks))


def written(value: object, limit: int) -> str:
    """A value as JSON; no more of it is written than is needed to see that it is longer than `limit`."""
    pieces = json.JSONEncoder(indent=2, ensure_ascii=False).iterencode(value)
    return "".join(islice(pieces, limit + 1))[: 2 * limit + 3]


def _within_bounds(blocks: Iterable[Block]) -> Iterator[Block]:
    """As many as a page can show, and always the first."""
    room = MAX_TEXT
    for block in islice(blocks, MAX_BLOCKS):
        if room <= 0:
            return
        room -= len(block.text)
        yield block


def content(result: Mapping[str, Any], number: int) -> tuple[bytes, str, bool] | None:
    """Bytes, media type, and whether a browser may show it in place; None where there is no such content."""
    found = _contents(result)
    if not 0 <= number < len(found):
        return None
    entry = _resource(found[number][1])
    mime = str(entry.get("mimeType") or "application/octet-stream")
    data = _decoded(entry.get("data", entry.get("blob")))
    if data is None and isinstance(entry.get("text"), str):
        return entry["text"].encode(errors="replace"), "text/plain; charset=utf-8", False
    return None if data is None else (data, *_safe(mime, data))


def _safe(mime: str, data: bytes) -> tuple[str, bool]:
    beginning = SHOWN.get(mime)
    if beginning is not None and beginning.match(data):
        return mime, True
    return "application/octet-stream", False


def _contents(result: Mapping[str, Any]) -> list[tuple[str, Mapping[str, Any]]]:
    """Every content with its role, whichever method the result answers."""
    entries: list[tuple[str, object]] = []
    for message in _list(result.get("messages")):
        if isinstance(message, Mapping):
            inner = message.get("content")
            entries += [(str(message.get("role", "")), each) for each in _list(inner) or [inner]]
    entries += [("", each) for each in _list(result.get("content")) + _list(result.get("contents"))]
    return [(role, each) for role, each in entries if isinstance(each, Mapping)]


def _list(value: object) -> list[Any]:
    return value if isinstance(value, list) else []


def _resource(entry: Mapping[str, Any]) -> Mapping[str, Any]:
    inner = entry.get("resource")
    return inner if isinstance(inner, Mapping) else entry


def _block(number: int, role: str, entry: Mapping[str, Any]) -> Block:
    inner = _resource(entry)
    uri = str(inner.get("uri", ""))
    if entry.get("type") == "resource_link":
        return Block("link", number, str(entry.get("title") or entry.get("name") or ""), uri=uri, role=role)
    if isinstance(inner.get("text"), str):
        return Block("text", number, inner["text"], uri=uri, role=role)
    data = _decoded(inner.get("data", inner.get("blob")))
    if data is None:
        return Block("unknown", number, role=role)
    mime = str(inner.get("mimeType") or "")
    shown, inline = _safe(mime, data)
    kind = shown.split("/")[0] if inline else "download"
    return Block(kind, number, mime=mime, uri=uri, role=role)


def _decoded(data: object) -> bytes | None:
    try:
        return base64.b64decode(data, validate=True) if isinstance(data, str) else None
    except ValueError:
        return None
