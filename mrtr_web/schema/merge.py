"""Two schemas that both hold, as one, for drawing a form: what limits a value is left to the final check."""

from collections.abc import Callable, Mapping
from typing import Any

Part = dict[str, Any]


class Clash(Exception):
    """No value can be both."""


def merged(one: Part, other: Part) -> Part:
    """What stands in `other` goes before what stands in `one`, where only one of them can be shown. Raises Clash."""
    both = one | other
    for name in one.keys() & other.keys():
        if one[name] != other[name] and name in _RULES:
            both[name] = _RULES[name](one[name], other[name])
    return both


def _types(one: Any, other: Any) -> Any:
    first, second = _type_names(one), _type_names(other)
    kept = [name for name in second if name in first or (name == "integer" and "number" in first)]
    kept += ["integer"] if "integer" in first and "number" in second else []
    if not kept:
        raise Clash
    return kept[0] if len(kept) == 1 else kept


def _type_names(types: Any) -> list[Any]:
    return types if isinstance(types, list) else [types]


def _values(one: Any, other: Any) -> Any:
    kept = [value for value in other if value in one] if isinstance(one, list) and isinstance(other, list) else []
    if not kept:
        raise Clash
    return kept


def _joined(one: Any, other: Any) -> Any:
    if not isinstance(one, list) or not isinstance(other, list):
        return other
    return one + [entry for entry in other if entry not in one]


def _each(one: Any, other: Any) -> Any:
    """Two maps of schemas: what both name must be both."""
    if not isinstance(one, dict) or not isinstance(other, dict):
        return other
    return one | {name: both(one[name], part) if name in one else part for name, part in other.items()}


def both(one: Any, other: Any) -> Any:
    """The schema of what must be both, worked out when it is read."""
    if one is False or other is False:
        return False
    parts = [part for part in (one, other) if isinstance(part, dict) and part]
    return {"allOf": parts} if len(parts) > 1 else parts[0] if parts else other


def _clash(one: Any, other: Any) -> Any:
    raise Clash


def _narrower(pick: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
    def narrowed(one: Any, other: Any) -> Any:
        numbers = isinstance(one, int | float) and isinstance(other, int | float)
        return pick(one, other) if numbers else other

    return narrowed


_RULES: Mapping[str, Callable[[Any, Any], Any]] = {
    "type": _types,
    "enum": _values,
    "const": _clash,
    "required": _joined,
    "properties": _each,
    "patternProperties": _each,
    "additionalProperties": both,
    "items": both,
    "anyOf": _clash,
    "oneOf": _clash,
    "prefixItems": _clash,
    **dict.fromkeys(("minimum", "exclusiveMinimum", "minLength", "minItems"), _narrower(max)),
    **dict.fromkeys(("maximum", "exclusiveMaximum", "maxLength", "maxItems"), _narrower(min)),
}
