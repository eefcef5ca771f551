"""Looking into a part of a schema that may be anything: values of the wrong type are as good as absent."""

from typing import Any

from mrtr_web.schema.merge import Part
from mrtr_web.schema.numbers import MAX_DIGITS

_UNBOUNDED = 10**MAX_DIGITS  # no text can be made of more, and infinity is no bound


def string(part: Part, name: str) -> str:
    value = part.get(name)
    return value if isinstance(value, str) else ""


def entries(part: Part, name: str) -> list[Any]:
    value = part.get(name)
    return value if isinstance(value, list) else []


def named(part: Part, name: str) -> Part:
    value = part.get(name)
    return value if isinstance(value, dict) else {}


def bound(part: Part, name: str) -> int | float | None:
    value = part.get(name)
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return value if -_UNBOUNDED < value < _UNBOUNDED else None


def count(part: Part, name: str) -> int | None:
    value = bound(part, name)
    return int(value) if value is not None and value >= 0 and value == int(value) else None


def names(part: Part, name: str) -> tuple[str, ...]:
    return tuple(dict.fromkeys(each for each in entries(part, name) if isinstance(each, str)))


_HINTS = {
    "object": ("properties", "additionalProperties", "patternProperties", "propertyNames", "minProperties"),
    "array": ("items", "prefixItems", "uniqueItems", "minItems", "maxItems", "contains"),
    "string": ("minLength", "maxLength", "pattern", "format", "contentEncoding", "contentMediaType"),
    "number": ("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"),
}
TYPES = ("string", "number", "integer", "boolean", "array", "object")


def types_of(part: Part) -> tuple[str, ...]:
    """The types that are declared, or that the other keywords hint at; () where it may be anything."""
    declared = part.get("type")
    found = tuple(dict.fromkeys(t for t in (declared if isinstance(declared, list) else [declared]) if t in TYPES))
    if found:
        return tuple(t for t in found if t != "integer" or "number" not in found)
    return next(((name,) for name, keywords in _HINTS.items() if any(keyword in part for keyword in keywords)), ())
