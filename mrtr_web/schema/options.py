"""The five ways in which a schema lists what may be chosen, and const, which leaves one."""

from typing import Any

from mrtr_web.schema.jsontext import write_json
from mrtr_web.schema.spec import Json, Option


def read_options(part: dict[str, Any]) -> tuple[Option, ...]:
    """enum, with or without enumNames, oneOf or anyOf of const and title, const; () where none is there."""
    values, names = part.get("enum"), part.get("enumNames")
    if isinstance(values, list):
        found = [Option(value, _label(value, _at(names, index))) for index, value in enumerate(values)]
    elif "const" in part:
        found = [Option(part["const"], _label(part["const"], None))]
    else:
        found = _titled(part.get("oneOf")) or _titled(part.get("anyOf"))
    return _fitting(found, part.get("type"))


def _titled(branches: object) -> list[Option]:
    if not isinstance(branches, list) or not all(isinstance(b, dict) and "const" in b for b in branches):
        return []
    return [Option(b["const"], _label(b["const"], b.get("title"))) for b in branches if b["const"] is not None]


def _at(names: object, index: int) -> object:
    return names[index] if isinstance(names, list) and index < len(names) else None


def _label(value: Json, title: object) -> str:
    if isinstance(title, str) and title.strip():
        return title
    return value if isinstance(value, str) else write_json(value, indent=False)


def _fitting(found: list[Option], type_name: object) -> tuple[Option, ...]:
    """Only options of the declared type can be sent."""
    return tuple(option for option in found if _is(option.value, type_name))


def _is(value: object, type_name: object) -> bool:
    match type_name:
        case "string":
            return isinstance(value, str)
        case "boolean":
            return isinstance(value, bool)
        case "integer" | "number":
            return not isinstance(value, str | bool)
    return True
