"""PURE. JSON as servers send it: all of it readable, or, of a listing, each entry by itself."""

import json
import re
from collections.abc import Iterator
from typing import Any

from pydantic_core import from_json, to_json

MAX_PARTS = 500_000
"""Values of one message: each takes a hundred times more memory and time than its few bytes say."""
MAX_ENTRIES = 1_000
"""Of one listing that are kept; no page is asked for after it has more."""
_LEVEL = 3
"""Entries of listings are inside of the message, its result and their list."""
_BETWEEN = (b",", b"[", b"{")
_TEXT = rb'"(?:[^"\\]++|\\.)*+"?'
"""One without an end goes to the end of all: else each quotation mark in it would be tried as the beginning of one."""
_TEXTS = re.compile(_TEXT, re.DOTALL)
_MARKS = re.compile(_TEXT + rb"|[\[\]{},]", re.DOTALL)


def parts(raw: bytes) -> int:
    """How many values it has at most. Commas in texts are looked at only where there are so many that it matters."""
    rough = sum(map(raw.count, _BETWEEN))
    return rough if rough <= MAX_PARTS else sum(map(_TEXTS.sub(b"", raw).count, _BETWEEN))


def read(raw: bytes) -> Any:
    """Raises ValueError where it is no JSON, is nested too deeply, or has half a surrogate pair or too big a number."""
    value = from_json(raw, allow_inf_nan=False)
    json.dumps(value, allow_nan=False)
    return value


def written(value: object) -> str:
    """A value that was read, as people read it; the standard library takes twenty times as long to indent."""
    return to_json(value, indent=2).decode()


def read_listing(raw: bytes) -> Any:
    """A message with null in the place of each entry that cannot be read. Raises ValueError."""
    try:
        return read(raw)
    except ValueError:
        return read(_mended(raw))


def _mended(raw: bytes) -> bytes:
    kept, done = list[bytes](), 0
    for number, (start, end) in enumerate(_entries(raw)):
        if number > MAX_ENTRIES or not _is_readable(raw[start:end]):
            kept += [raw[done:start], b"null"]
            done = end
    return b"".join([*kept, raw[done:]])


def _is_readable(entry: bytes) -> bool:
    """Whether it is so at its place: the levels around it count."""
    try:
        read(b"[" * _LEVEL + entry + b"]" * _LEVEL)
    except ValueError:
        return False
    return True


def _entries(raw: bytes) -> Iterator[tuple[int, int]]:
    """Where the entries of the message's lists on that level begin and end."""
    level, start = 0, None
    for found in _MARKS.finditer(raw):
        mark = found[0]
        if level == _LEVEL and start is not None and mark in (b",", b"]"):
            yield start, found.start()
            start = found.end() if mark == b"," else None
        level += (mark in (b"[", b"{")) - (mark in (b"]", b"}"))
        if level == _LEVEL and mark == b"[":
            start = found.end()
