"""The simple schema behind the detours that generators write: local references, "or null", unions of one."""

from typing import Any, NamedTuple

from mrtr_web.schema.pointer import resolve

MAX_DETOURS = 8
_NULL = {"type": "null"}
_NOTES = {"title", "description", "default", "examples", "$defs", "definitions", "$schema", "$comment"}


class Plain(NamedTuple):
    part: dict[str, Any]
    nullable: bool


def plain(part: object, document: object, nullable: bool = False, detours: int = MAX_DETOURS) -> Plain | None:
    """None where there is no simple schema: not an object, or a reference that leads nowhere or round."""
    if not isinstance(part, dict) or not detours:
        return None
    if "$ref" in part:
        target = resolve(document, part["$ref"])
        return plain(_merged(target, part, "$ref"), document, nullable, detours - 1)
    for name in ("anyOf", "oneOf", "allOf"):
        branches = part.get(name)
        if not isinstance(branches, list):
            continue
        kept = [branch for branch in branches if name == "allOf" or branch != _NULL]
        nullable = nullable or len(kept) < len(branches)
        if len(kept) == 1 and isinstance(kept[0], dict) and "const" not in kept[0]:
            return plain(_merged(kept[0], part, name), document, nullable, detours - 1)
        part = part | {name: kept}
    return _without_null(part, nullable)


def _merged(target: object, part: dict[str, Any], dropped: str) -> dict[str, Any] | None:
    """The target, with what stands beside the detour (a title, a default) on top; None where they clash."""
    if not isinstance(target, dict):
        return None
    beside = {name: value for name, value in part.items() if name != dropped}
    clash = any(target[name] != beside[name] for name in (target.keys() & beside.keys()) - _NOTES)
    return None if clash else target | beside


def _without_null(part: dict[str, Any], nullable: bool) -> Plain:
    """type: ["string", "null"] and enum: ["a", null] are a string and an enum that may be null."""
    types, values = part.get("type"), part.get("enum")
    if isinstance(types, list):
        kept = [name for name in types if name != "null"]
        nullable = nullable or len(kept) < len(types)
        part = part | {"type": kept[0] if len(kept) == 1 else kept}
    if isinstance(values, list) and None in values:
        nullable = True
        part = part | {"enum": [value for value in values if value is not None]}
    return Plain(part, nullable)
