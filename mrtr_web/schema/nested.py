"""Readers of parts that are made of other parts. Those are read when they are looked at."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from mrtr_web.schema.merge import Part
from mrtr_web.schema.part import count, entries, named, names, types_of
from mrtr_web.schema.plain import Document, Plain
from mrtr_web.schema.spec import CAN_HOLD_SECRETS, FieldSpec, Kind, Parts, SchemaTooLarge

MAX_MEMBERS = 200
NOTES = ("title", "description", "default", "examples", "deprecated", "readOnly", "writeOnly", "$defs", "definitions")
_LIMITS = {*NOTES, "type", "properties", "required", "not", "minProperties", "maxProperties", "additionalProperties"}
ANYTHING: tuple[Part, ...] = (
    {"type": "string"},
    {"type": "number"},
    {"type": "boolean"},
    {"$ref": "#any"},  # whatever leads nowhere is JSON
)
"""The branches of a part that may be anything."""

Read = Callable[[Document, str, object, bool], FieldSpec]
"""Reads one part: its document, key, schema, and whether it is required."""


def group(base: FieldSpec, part: Part, document: Document, read: Read) -> FieldSpec | None:
    """An object with fixed keys, and perhaps further ones of the person's naming."""
    if types_of(part) != ("object",) or not (_keys(part, document) or _is_closed(part)):
        return None
    return replace(base, kind=Kind.GROUP, parts=Parts(lambda: _members(part, document, read)), secret=False)


def _is_closed(part: Part) -> bool:
    """Whether it can have no keys but those described, or describes that there are none."""
    free = part.get("additionalProperties", not isinstance(part.get("properties"), dict))
    return free is False and not named(part, "patternProperties")


def _keys(part: Part, document: Document) -> list[str]:
    """The keys that are known, in order: those described, then those required or listed as the only names."""
    return list(dict.fromkeys([*named(part, "properties"), *names(part, "required"), *_only_names(part, document)]))


def _only_names(part: Part, document: Document) -> tuple[str, ...]:
    listed = document.plain(part["propertyNames"]) if "propertyNames" in part else None
    return names(listed.part, "enum") if listed else ()


def _members(part: Part, document: Document, read: Read) -> tuple[FieldSpec, ...]:
    required, keys, free = names(part, "required"), _keys(part, document), part.get("additionalProperties")
    if len(keys) > MAX_MEMBERS:
        raise SchemaTooLarge("schema_fields", maximum=MAX_MEMBERS)
    undescribed = free if isinstance(free, dict) else {}
    properties: Part = dict.fromkeys(keys, undescribed) | named(part, "properties")
    found = [
        read(document, key, properties[key], key in required)
        for key in keys
        if properties[key] is not False and (key in required or not _is_read_only(properties[key]))
    ]
    is_open = (isinstance(free, dict) and free) or named(part, "patternProperties")
    if is_open and not _only_names(part, document):
        found.append(replace(_map(FieldSpec("", Kind.MAP, ""), part, document, read), rest=True))
    return tuple(found)


def _is_read_only(part: object) -> bool:
    return isinstance(part, dict) and part.get("readOnly") is True


def map_of(base: FieldSpec, part: Part, document: Document, read: Read) -> FieldSpec | None:
    """An object whose keys the person names."""
    return _map(base, part, document, read) if types_of(part) == ("object",) else None


def _map(base: FieldSpec, part: Part, document: Document, read: Read) -> FieldSpec:
    free = part.get("additionalProperties")
    kinds = [*named(part, "patternProperties").values(), *([free] if isinstance(free, dict) and free else [])]
    value: Any = {} if not kinds else kinds[0] if len(kinds) == 1 else {"anyOf": kinds}
    parts = Parts(lambda: (_secret(read(document, "", value, True), base),))
    field = replace(base, kind=Kind.MAP, parts=parts, secret=False)
    return replace(field, min_items=count(part, "minProperties"), max_items=count(part, "maxProperties"))


def tuple_of(base: FieldSpec, part: Part, document: Document, read: Read) -> FieldSpec | None:
    """A list in which each position has a meaning of its own. Draft 7 calls its positions items."""
    positions = entries(part, "prefixItems") or entries(part, "items")
    if types_of(part) != ("array",) or not positions or len(positions) > MAX_MEMBERS:
        return None
    parts = Parts(lambda: tuple(_secret(read(document, "", each, True), base) for each in positions))
    return replace(base, kind=Kind.TUPLE, parts=parts, secret=False)


def list_of(base: FieldSpec, part: Part, document: Document, read: Read) -> FieldSpec | None:
    if types_of(part) != ("array",):
        return None
    item = part.get("items", {})
    parts = Parts(lambda: (_secret(_item(read(document, "", item, True)), base),))
    field = replace(base, kind=Kind.LIST, parts=parts, secret=False)
    return replace(field, min_items=count(part, "minItems"), max_items=count(part, "maxItems"))


def _item(field: FieldSpec) -> FieldSpec:
    """An entry that was left empty was forgotten, rather than meant to be an empty text."""
    is_text = field.kind in (Kind.TEXT, Kind.LONG_TEXT)
    return replace(field, min_length=max(field.min_length or 1, 1)) if is_text else field


def union(base: FieldSpec, part: Part, document: Document, read: Read) -> FieldSpec | None:
    """One of several, which the person chooses first."""
    branches = _branches(part, document)
    if not branches:
        return None
    parts = Parts(lambda: tuple(_branch(_secret(read(document, "", each, True), base)) for each in branches))
    return replace(base, kind=Kind.UNION, parts=parts)


def _branches(part: Part, document: Document) -> tuple[Part, ...]:
    """The schemas of the branches, each with what stands beside the union; () where it is none."""
    own = named(part, "properties")
    for name in ("oneOf", "anyOf"):
        listed = entries(part, name)
        if 2 <= len(listed) <= MAX_MEMBERS and not all(_adds_nothing(document.plain(each), own) for each in listed):
            beside = {key: value for key, value in part.items() if key != name and key not in NOTES}
            return tuple({"allOf": [beside, each]} if beside else each for each in listed)
    types = types_of(part)
    if len(types) > 1:
        own = {key: value for key, value in part.items() if key not in NOTES}
        return tuple(own | {"type": name} for name in types)
    return () if types or "enum" in part or "const" in part else ANYTHING


def _adds_nothing(branch: Plain | None, own: Part) -> bool:
    """Whether a branch brings nothing to be filled in: it says which members are needed, or what they may be."""
    if branch is None or not branch.part.keys() <= _LIMITS:
        return False
    return branch.part.get("type", "object") == "object" and named(branch.part, "properties").keys() <= own.keys()


def _secret(field: FieldSpec, above: FieldSpec) -> FieldSpec:
    """What a part of this kind is called says what stands in it."""
    if above.secret and field.kind in (Kind.LIST, Kind.TUPLE, Kind.MAP):
        parts = field.parts
        return replace(field, parts=Parts(lambda: tuple(_secret(part, above) for part in parts())))
    holds = field.kind in CAN_HOLD_SECRETS or field.kind is Kind.JSON
    return replace(field, secret=True) if above.secret and holds else field


def _branch(field: FieldSpec) -> FieldSpec:
    """Constants of a branch tell it from the others: they are sent, not asked."""
    if field.kind is not Kind.GROUP:
        return field
    parts = field.parts
    return replace(field, parts=Parts(lambda: tuple(_fixed(member) for member in parts())))


def _fixed(member: FieldSpec) -> FieldSpec:
    is_const = member.kind is Kind.CHOICE and member.required and len(member.options) == 1
    return replace(member, kind=Kind.FIXED) if is_const else member
