"""Structured content as a table for people: its entries by labels, in words where they have any, some levels deep."""

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from datetime import date, datetime
from itertools import islice
from typing import Any

from django.utils import timezone
from django.utils.formats import date_format
from django.utils.translation import gettext as _

from mrtr_web import results

DATA_LIMIT = 50_000
"""Characters of one entry that a page shows."""
MOST_NESTED = 3
"""Levels of objects and lists in one entry that are shown as such; what is deeper, or too much for a page, is data."""
_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_-]{0,99}")
_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+")
Object = Mapping[str, Any]


@dataclass(frozen=True, slots=True, repr=False)
class Fact:
    """One entry of structured content: words, one or a list of them; else entries by their names (`parts`) or in their
    order (`items`); or `data`, which is neither."""

    name: str
    words: tuple[str, ...] = ()
    data: str = ""
    parts: tuple["Fact", ...] = ()
    items: tuple["Fact", ...] = ()

    @property
    def length(self) -> int:
        inner = sum(fact.length for fact in (*self.parts, *self.items))
        return len(self.name) + len(self.data) + sum(map(len, self.words)) + inner

    @property
    def pieces(self) -> int:
        """How many words and data it has in all."""
        return sum(fact.pieces for fact in (*self.parts, *self.items)) or max(len(self.words), 1)


@dataclass(frozen=True, slots=True)
class Table:
    """As much of structured content as a page can show, and how many more entries and words there are."""

    facts: tuple[Fact, ...] = ()
    more: int = 0


def table(content: object, schema: Object | None = None) -> Table:
    """The entries of structured content, but for empty ones. `schema`: the form that it was announced to have."""
    if not isinstance(content, dict):
        return Table()
    told = _told(content)
    parts = _object(schema, "properties")
    found: list[Fact] = []
    pieces, room, more = results.MAX_BLOCKS, results.MAX_TEXT, len(told)
    for name, value in told.items():
        if pieces <= 0 or room <= 0:
            break
        fact = _fact(_object(parts, name), name, value, pieces)
        pieces, room = pieces - fact.pieces, room - fact.length
        words_left = len(value) - len(fact.words) if isinstance(value, list) and value and fact.words else 0
        more += words_left - 1
        found.append(fact)
    return Table(tuple(found), more)


def _object(value: object, key: str) -> Object:
    part = value.get(key) if isinstance(value, Mapping) else None
    return part if isinstance(part, Mapping) else {}


def _told(content: Object) -> Object:
    return {name: value for name, value in content.items() if value is not None and value != ""}


def _fact(part: Object, name: str, value: object, pieces: int) -> Fact:
    label = _label(part, name)
    entries = value if isinstance(value, list) else [value]
    if any(isinstance(entry, dict | list) for entry in entries):
        if _size(value) <= pieces:
            return _nested(label, part, value)
        return Fact(label, data=results.written(value, DATA_LIMIT))
    kind = (_object(part, "items") if isinstance(value, list) else part).get("format")
    words = (_word(entry, kind)[: 2 * DATA_LIMIT] for entry in islice(entries, pieces))
    return Fact(label, tuple(words) or (_("None"),))


def _nested(label: str, part: Object, value: object) -> Fact:
    if isinstance(value, dict):
        parts, told = _object(part, "properties"), _told(value)
        facts = tuple(_fact(_object(parts, name), name, each, results.MAX_BLOCKS) for name, each in told.items())
        return Fact(label, parts=facts) if facts else Fact(label, (_("None"),))
    inner = _object(part, "items")
    assert isinstance(value, list)
    return Fact(label, items=tuple(replace(_fact(inner, "", each, results.MAX_BLOCKS), name="") for each in value))


def _size(value: object, levels: int = MOST_NESTED) -> int:
    """How many entries there are in it, counted as far as a page can show; too many where it is nested deeper."""
    if not isinstance(value, dict | list):
        return 1
    if levels == 0:
        return results.MAX_BLOCKS + 1
    size = 1
    for each in value.values() if isinstance(value, dict) else value:
        size += _size(each, levels - 1)
        if size > results.MAX_BLOCKS:
            break
    return size


def _label(part: Object, name: str) -> str:
    """The title, else the name in words: total_price and totalPrice become “Total price”."""
    title = part.get("title")
    if isinstance(title, str) and title.strip():
        return title
    if not _NAME.fullmatch(name):
        return name
    words = " ".join(word if word.isupper() and len(word) > 1 else word.lower() for word in _WORD.findall(name))
    return words[:1].upper() + words[1:]


def _word(value: object, kind: object) -> str:
    if isinstance(value, bool):
        return _("Yes") if value else _("No")
    if value is None or value == "":
        return _("Empty")
    if not isinstance(value, str):
        return json.dumps(value)
    read = _READERS.get(kind) if isinstance(kind, str) else None
    try:
        return read(value) if read else value
    except (ValueError, OverflowError):
        return value


def _date(value: str) -> str:
    return date_format(date.fromisoformat(value), "DATE_FORMAT")


def _moment(value: str) -> str:
    """In the person's own zone, by its name."""
    moment = datetime.fromisoformat(value)
    if timezone.is_naive(moment):
        return date_format(moment, "DATETIME_FORMAT")
    here = timezone.localtime(moment)
    return f"{date_format(here, 'DATETIME_FORMAT')} ({here.tzname()})"


_READERS: Mapping[str, Callable[[str], str]] = {"date": _date, "date-time": _moment}
