"""A form as it is drawn: which of its parts are there, how often, and by which branch.

A place comes from a value, from the schema's defaults, or from what was posted. Its name is that of its input: f for
the whole, f0 for its first member, f0-2 for that one's third member or the entry with the id 2, f0-b1 for a branch.
What is posted beside it: -in (an optional part is there), -items (ids of entries, in order), -branch, -drawn (an entry
or branch was drawn before), -key, -as (json).
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from mrtr_web.schema.invalid import Invalid
from mrtr_web.schema.parse import parse
from mrtr_web.schema.spec import (
    ABSENT,
    NESTED,
    Absent,
    FieldSpec,
    Json,
    Kind,
    Typed,
)

ROOT = "f"
_UNLIMITED: Mapping[str, Any] = dict.fromkeys(
    ("min_length", "max_length", "minimum", "maximum", "min_items", "max_items")
)

Posted = Mapping[str, Sequence[str]]


@dataclass(slots=True, repr=False)
class Place:
    """One part of a drawn form."""

    spec: FieldSpec
    name: str
    typed: Typed = Typed()
    there: bool = True
    """Whether an optional group or tuple is filled in at all."""
    parts: tuple["Place", ...] = ()
    branch: int | None = None
    instead_of: FieldSpec | None = None
    """Of a JSON field: the part that it stands for."""
    key: "Place | None" = None
    """Of a map's entry: its key."""
    beside: dict[str, Sequence[str]] = field(default_factory=dict)
    """What was posted for branches that are not chosen now."""

    @property
    def is_leaf(self) -> bool:
        return self.spec.kind not in NESTED

    @property
    def repeats(self) -> bool:
        return self.spec.kind in (Kind.LIST, Kind.MAP)

    @property
    def may_go(self) -> bool:
        """Whether the whole part can be left out, or added, with one button."""
        return not always_there(self.spec)

    @property
    def needs_branch(self) -> bool:
        return self.spec.kind is Kind.UNION and self.branch is None and not self.spec.may_be_empty

    @property
    def entry_id(self) -> str:
        """Of an entry of a list or map."""
        return self.name.rpartition("-")[2]

    def next_id(self) -> str:
        return str(max((int(part.entry_id) for part in self.parts), default=-1) + 1)


def read_typed(posted: Posted, name: str) -> Typed:
    """What was typed into one field's inputs."""

    def last(part: str) -> str:
        return "".join(posted.get(name + part, ())[-1:])

    return Typed(
        text=last(""),
        chosen=tuple(value for value in posted.get(name, ()) if value),
        zone=last("-zone"),
        fold=last("-fold"),
        blank=bool(posted.get(f"{name}-blank")),
        file=last("-name"),
    )


def walk(place: Place) -> Iterator[Place]:
    """The place and all within it, in the order in which they are drawn."""
    if place.key is not None:
        yield place.key
    yield place
    for part in place.parts:
        yield from walk(part)


def value_of(place: Place, leaf: Callable[[Place], Json | Absent]) -> Json | Absent:
    """The whole value, from those of its fields."""
    if place.spec.kind is Kind.FIXED:
        return parse(place.spec, place.typed)
    if place.is_leaf:
        return leaf(place)
    given = [(part, value_of(part, leaf)) for part in place.parts]
    match place.spec.kind:
        case Kind.GROUP if place.there:
            return _object(given)
        case Kind.TUPLE if place.there:
            return [None if isinstance(value, Absent) else value for _, value in given]
        case Kind.LIST if given or _sends_empty(place):
            return [None if isinstance(value, Absent) else value for _, value in given]
        case Kind.MAP if given or _sends_empty(place):
            return _keys(given, leaf)
        case Kind.UNION if given:
            return given[0][1]
    return None if place.spec.nullable and place.spec.required else ABSENT


def _object(given: list[tuple[Place, Json | Absent]]) -> Json:
    found: dict[str, Json] = {}
    for part, value in given:
        if part.spec.rest and isinstance(value, dict):
            found |= {key: entry for key, entry in value.items() if key not in found}
        elif not isinstance(value, Absent):
            found[part.spec.key] = value
    return found


def _keys(given: list[tuple[Place, Json | Absent]], leaf: Callable[[Place], Json | Absent]) -> Json:
    found: dict[str, Json] = {}
    for part, value in given:
        key = leaf(part.key) if part.key is not None else ABSENT
        name = key if isinstance(key, str) else ""
        name = name if name not in found else f"{name} ({len(found) + 1})"  # refused before it is sent (forms.clean)
        if not isinstance(value, Absent):
            found[name] = value
    return found


def _sends_empty(place: Place) -> bool:
    return place.typed.blank or not place.spec.may_be_empty


def as_typed(place: Place) -> Json | Absent:
    """The value of one field as far as it is one, whatever its limits; else the text as it was typed."""
    for spec in (place.spec, replace(place.spec, **_UNLIMITED)):
        try:
            return parse(spec, place.typed)
        except Invalid:
            continue
    return place.typed.text or ABSENT


def plainly(place: Place) -> Json | Absent:
    """The value as far as it goes: what is no answer yet stands in it as it was typed."""
    return value_of(place, as_typed)


def as_posted(place: Place) -> dict[str, list[str]]:
    """What a browser posts for this place as it is drawn."""
    typed, name = place.typed, place.name
    found: dict[str, list[str]] = {}
    if place.key is not None:
        found |= as_posted(place.key)
    if place.is_leaf and place.spec.kind is not Kind.FIXED:
        found[name] = list(typed.chosen) if place.spec.kind is Kind.CHOICES else [typed.text]
    found |= {name + part: [value] for part, value in _beside(place).items() if value}
    if place.repeats:
        found[f"{name}-items"] = [part.entry_id for part in place.parts]
    for part in place.parts:
        found |= as_posted(part)
        if place.repeats or place.spec.kind is Kind.UNION:
            found[f"{part.name}-drawn"] = ["1"]
    return found


def _beside(place: Place) -> dict[str, str]:
    typed = place.typed
    return {
        "-zone": typed.zone,
        "-fold": typed.fold,
        "-name": typed.file,
        "-blank": "1" if typed.blank else "",
        "-as": "json" if place.instead_of else "",
        "-branch": "" if place.branch is None else str(place.branch),
        "-in": "1" if place.there and place.may_go else "",
    }


def find(place: Place, path: Sequence[str | int]) -> tuple[Place, tuple[str | int, ...]]:
    """The innermost place that a value's path leads to, and what is left of the path there."""
    if place.spec.kind is Kind.UNION and place.parts:
        return find(place.parts[0], path)
    inner = _below(place, path[0]) if path else None
    return find(inner, path if inner.spec.rest else path[1:]) if inner else (place, tuple(path))


def _below(place: Place, step: str | int) -> Place | None:
    match place.spec.kind:
        case Kind.LIST | Kind.TUPLE:
            return place.parts[step] if isinstance(step, int) and step < len(place.parts) else None
        case Kind.MAP:
            return next((part for part in place.parts if part.key and part.key.typed.text == step), None)
        case Kind.GROUP:
            named = (p for p in place.parts if p.spec.key == step and not p.spec.rest and p.spec.kind is not Kind.FIXED)
            return next(named, None) or next((part for part in place.parts if part.spec.rest and part.parts), None)
    return None


def member(name: str, index: int) -> str:
    """The name of a group's member, or of a tuple's position."""
    return f"{name}{index}" if name == ROOT else f"{name}-{index}"


def always_there(spec: FieldSpec) -> bool:
    """Whether nobody can leave it out as a whole with a button of its own."""
    return spec.kind not in (Kind.GROUP, Kind.TUPLE) or not spec.may_be_empty
