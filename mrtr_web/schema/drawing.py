"""Draws the parts of a form: from a value, from the schema's defaults, or from what was posted; within limits."""

import re
from dataclasses import replace

from mrtr_web.schema.invalid import Invalid
from mrtr_web.schema.jsontext import same, write_json
from mrtr_web.schema.parse import fits, parse, shown
from mrtr_web.schema.places import ROOT, Place, Posted, always_there, member, read_typed, value_of, walk
from mrtr_web.schema.secrets import holds_secret
from mrtr_web.schema.spec import (
    ABSENT,
    MAX_FIELDS,
    MAX_OPTIONS,
    NESTED,
    Absent,
    FieldSpec,
    Json,
    Kind,
    Parts,
    SchemaTooLarge,
    Typed,
)

MAX_LEVELS = 16
MAX_NESTED = 200
MAX_TRIES = 5_000
"""Parts that are tried for one value: each branch of a union may have to be."""
MAX_FIRST_ENTRIES = 10

_ID = re.compile(r"[0-9]{1,4}")
_ENTRY_KEY = FieldSpec("", Kind.TEXT, "", required=True, min_length=1)


class Drawing:
    """Draws the places of one form within its limits: all methods raise SchemaTooLarge past them."""

    def __init__(self, *, json: bool) -> None:
        self.json = json
        self.listed: set[int] = set()
        self.fields, self.nested, self.options, self.tries = MAX_FIELDS, MAX_NESTED, MAX_OPTIONS, MAX_TRIES

    def fresh(self, spec: FieldSpec, name: str = ROOT, level: int = 0) -> Place:
        """With the schema's defaults."""
        spec = self._spec(spec, level)
        if spec.kind not in NESTED:
            return self._leaf(spec, name, shown(spec, spec.default) if fits(spec, spec.default) else Typed())
        if spec.default is not ABSENT:
            return self.value(spec, spec.default, name, level)
        self._count(spec)
        place = Place(spec, name, there=always_there(spec))
        if spec.kind in (Kind.GROUP, Kind.TUPLE) and place.there:
            place.parts = self._fresh_members(spec, name, level)
        elif place.repeats and not spec.may_be_empty:
            first = min(spec.min_items or 0, MAX_FIRST_ENTRIES)
            place.parts = tuple(self._new_entry(spec, name, str(n), level) for n in range(first))
        return place

    def _fresh_members(self, spec: FieldSpec, name: str, level: int) -> tuple[Place, ...]:
        return tuple(self.fresh(part, member(name, n), level + 1) for n, part in enumerate(spec.parts()))

    def value(self, spec: FieldSpec, value: Json | Absent, name: str = ROOT, level: int = 0) -> Place:
        """With a value; where the part cannot show it, as JSON or, where that is not allowed, with its default."""
        spec = self._spec(spec, level)
        try:
            return self._value(spec, value, name, level)
        except Invalid:
            if spec.kind is Kind.FIXED:
                raise
        return self.as_json(spec, value, name) if self.json else self.fresh(spec, name, level)

    def as_json(self, spec: FieldSpec, value: Json | Absent, name: str) -> Place:
        typed = Typed() if isinstance(value, Absent) else Typed(write_json(value))
        text = replace(json_spec(spec), secret=holds_secret(spec), json_type="object" if name == ROOT else "")
        place = self._leaf(text, name, typed)
        place.instead_of = spec if spec.kind is not Kind.JSON else None
        return place

    def posted(self, spec: FieldSpec, posted: Posted, name: str = ROOT, level: int = 0) -> Place:
        """As it was posted; parts that were just added are fresh."""
        spec = self._spec(spec, level)
        if posted.get(f"{name}-as") == ["json"] and self.json:
            place = self.as_json(spec, ABSENT, name)
            place.typed = read_typed(posted, name)
            return place
        if spec.kind not in NESTED:
            return self._leaf(spec, name, read_typed(posted, name))
        self._count(spec)
        place = Place(spec, name, read_typed(posted, name), there=always_there(spec))
        match spec.kind:
            case Kind.UNION:
                self._posted_union(place, posted, level)
            case Kind.LIST | Kind.MAP:
                place.parts = tuple(self._posted_entry(spec, posted, name, id_, level) for id_ in _ids(posted, name))
            case _:
                place.there = place.there or f"{name}-in" in posted
                place.parts = self._posted_members(spec, posted, name, level) if place.there else ()
        return place

    def _posted_members(self, spec: FieldSpec, posted: Posted, name: str, level: int) -> tuple[Place, ...]:
        if posted.get(f"{name}-in") == ["new"]:
            return self._fresh_members(spec, name, level)
        return tuple(self.posted(part, posted, member(name, n), level + 1) for n, part in enumerate(spec.parts()))

    def _posted_union(self, place: Place, posted: Posted, level: int) -> None:
        chosen, branches = "".join(posted.get(f"{place.name}-branch", ())[-1:]), place.spec.parts()
        start = f"{place.name}-b{chosen}" if _ID.fullmatch(chosen) and int(chosen) < len(branches) else ""
        place.beside = {
            name: values
            for name, values in posted.items()
            if name.startswith(f"{place.name}-b")
            and not (start and _is_in(name, start))
            and name not in (f"{place.name}-branch", f"{place.name}-blank")
        }
        if start:
            place.branch = int(chosen)
            spec, was_drawn = branches[place.branch], f"{start}-drawn" in posted
            part = self.posted(spec, posted, start, level + 1) if was_drawn else self.fresh(spec, start, level + 1)
            place.parts = (part,)

    def _posted_entry(self, spec: FieldSpec, posted: Posted, name: str, id_: str, level: int) -> Place:
        entry = f"{name}-{id_}"
        if f"{entry}-drawn" not in posted:
            return self._new_entry(spec, name, id_, level)
        place = self.posted(spec.parts()[0], posted, entry, level + 1)
        if spec.kind is Kind.MAP:
            place.key = self._leaf(_ENTRY_KEY, f"{entry}-key", read_typed(posted, f"{entry}-key"))
        return place

    def _new_entry(self, spec: FieldSpec, name: str, id_: str, level: int) -> Place:
        place = self.fresh(spec.parts()[0], f"{name}-{id_}", level + 1)
        if spec.kind is Kind.MAP:
            place.key = self._leaf(_ENTRY_KEY, f"{name}-{id_}-key", Typed())
        return place

    def _value(self, spec: FieldSpec, value: Json | Absent, name: str, level: int) -> Place:
        """Raises Invalid where the part cannot show the value."""
        self._try()
        if spec.kind not in NESTED:
            return self._leaf(spec, name, shown(spec, value))
        self._count(spec)
        if isinstance(value, Absent) or (value is None and spec.nullable and spec.required):
            return self._empty(spec, name, level)
        place = Place(spec, name)
        match spec.kind:
            case Kind.GROUP:
                place.parts = self._members(spec, value, name, level)
            case Kind.TUPLE:
                place.parts = self._positions(spec, value, name, level)
            case Kind.LIST:
                place.parts = self._entries(spec, value, name, level)
                place.typed = Typed(blank=not place.parts)
            case Kind.MAP:
                place.parts = self._keyed(spec, value, name, level)
                place.typed = Typed(blank=not place.parts)
            case _:
                place.branch, part = self._chosen(spec, value, name, level)
                place.parts = (part,)
        return place

    def _empty(self, spec: FieldSpec, name: str, level: int) -> Place:
        """Left out, or with nothing in it where it cannot be left out."""
        place = Place(spec, name, there=always_there(spec))
        if spec.kind in (Kind.GROUP, Kind.TUPLE) and place.there:
            parts = enumerate(spec.parts())
            place.parts = tuple(self.value(part, ABSENT, member(name, n), level + 1) for n, part in parts)
        return place

    def _members(self, spec: FieldSpec, value: Json, name: str, level: int) -> tuple[Place, ...]:
        members = spec.parts()
        if not isinstance(value, dict):
            raise Invalid("mismatch")
        known = {each.key for each in members if not each.rest}
        further: dict[str, Json] = {key: part for key, part in value.items() if key not in known}
        if further and not any(each.rest for each in members):
            raise Invalid("mismatch")
        found = []
        for n, each in enumerate(members):
            given = (further or ABSENT) if each.rest else value.get(each.key, ABSENT)
            found.append(self.value(each, given, member(name, n), level + 1))
        return tuple(found)

    def _positions(self, spec: FieldSpec, value: Json, name: str, level: int) -> tuple[Place, ...]:
        if not isinstance(value, list) or len(value) != len(spec.parts()):
            raise Invalid("mismatch")
        pairs = enumerate(zip(spec.parts(), value, strict=True))
        return tuple(self.value(part, given, member(name, n), level + 1) for n, (part, given) in pairs)

    def _entries(self, spec: FieldSpec, value: Json, name: str, level: int) -> tuple[Place, ...]:
        if not isinstance(value, list):
            raise Invalid("mismatch")
        item = spec.parts()[0]
        return tuple(self.value(item, given, f"{name}-{n}", level + 1) for n, given in enumerate(value))

    def _keyed(self, spec: FieldSpec, value: Json, name: str, level: int) -> tuple[Place, ...]:
        if not isinstance(value, dict):
            raise Invalid("mismatch")
        found = []
        for n, (key, given) in enumerate(value.items()):
            place = self.value(spec.parts()[0], given, f"{name}-{n}", level + 1)
            place.key = self._leaf(_ENTRY_KEY, f"{name}-{n}-key", shown(_ENTRY_KEY, key))
            found.append(place)
        return tuple(found)

    def _chosen(self, spec: FieldSpec, value: Json, name: str, level: int) -> tuple[int, Place]:
        """The first branch that gives the value back from fields, else with JSON in it, else whose constants fit."""
        whole: tuple[int, Place] | None = None
        shows: tuple[int, Place] | None = None
        for n, branch in enumerate(spec.parts()):
            left = self.fields, self.nested, self.options
            try:
                place = self._value(self._spec(branch, level + 1), value, f"{name}-b{n}", level + 1)
            except Invalid:
                self.fields, self.nested, self.options = left
                continue
            shows = shows or ((n, place) if any(part.spec.kind is Kind.FIXED for part in place.parts) else None)
            if _gives(place, value):
                whole = whole or (n, place)
                if not any(part.spec.kind is Kind.JSON for part in walk(place)):
                    return n, place
        found = whole or shows
        if found is None:
            raise Invalid("mismatch")
        return found

    def _spec(self, spec: FieldSpec, level: int) -> FieldSpec:
        return json_spec(spec) if level >= MAX_LEVELS and spec.kind in NESTED else spec

    def _leaf(self, spec: FieldSpec, name: str, typed: Typed) -> Place:
        self.fields -= spec.kind is not Kind.FIXED
        self.options -= len(spec.options) if id(spec.options) not in self.listed else 0
        self.listed.add(id(spec.options) if spec.is_searched else 0)  # a list to search is drawn once
        if self.fields < 0:
            raise SchemaTooLarge("schema_fields", maximum=MAX_FIELDS)
        if self.options < 0:
            raise SchemaTooLarge("schema_options", maximum=MAX_OPTIONS)
        return Place(spec, name, typed)

    def _count(self, spec: FieldSpec) -> None:
        self.nested -= 1
        self.options -= len(spec.parts()) if spec.kind is Kind.UNION else 0
        if self.nested < 0 or self.options < 0:
            raise SchemaTooLarge("schema_fields", maximum=MAX_FIELDS)

    def _try(self) -> None:
        self.tries -= 1
        if self.tries < 0:
            raise SchemaTooLarge("schema_fields", maximum=MAX_FIELDS)


def json_spec(spec: FieldSpec) -> FieldSpec:
    """The same part as a JSON field."""
    return replace(spec, kind=Kind.JSON, options=(), parts=Parts(tuple))


def _gives(place: Place, value: Json) -> bool:
    """Whether the value comes back from this place as it is drawn."""
    if any(part.needs_branch for part in walk(place)):
        return False
    try:
        given = value_of(place, lambda leaf: parse(leaf.spec, leaf.typed))
    except Invalid:
        return False
    return not isinstance(given, Absent) and same(given, value)


def _ids(posted: Posted, name: str) -> list[str]:
    return [id_ for id_ in dict.fromkeys(posted.get(f"{name}-items", ())) if _ID.fullmatch(id_)]


def _is_in(name: str, start: str) -> bool:
    return name == start or name.startswith(f"{start}-")
