"""JSON typed by a person: exact numbers, no name twice, bounded depth."""

import json
from typing import Any, NoReturn

from mrtr_web.schema.invalid import Invalid
from mrtr_web.schema.numbers import read_integer, read_number
from mrtr_web.schema.spec import MAX_DEPTH, Json


def read_json(text: str) -> Json:
    try:
        value: Json = json.loads(
            text,
            parse_int=read_integer,
            parse_float=read_number,
            parse_constant=_no_constant,
            object_pairs_hook=_object,
        )
    except json.JSONDecodeError as error:
        raise Invalid("json", line=error.lineno, column=error.colno) from None
    except RecursionError:
        raise Invalid("json_deep", maximum=MAX_DEPTH) from None
    _look_into(value)
    return value


def write_json(value: Json, *, indent: bool = True) -> str:
    try:
        return json.dumps(value, ensure_ascii=False, allow_nan=False, indent=2 if indent else None)
    except (RecursionError, TypeError, ValueError):
        raise Invalid("mismatch") from None


def is_whole_text(text: str) -> bool:
    """Without lone surrogates, which no UTF-8 can carry."""
    return not any("\ud800" <= c <= "\udfff" for c in text) if not text.isascii() else True


def same(one: Json, other: Json) -> bool:
    """Equal as JSON: 1 and 1.0 are the same number, true is not 1."""
    if isinstance(one, bool) or isinstance(other, bool):
        return one is other
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(same, one, other))
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(same(one[key], other[key]) for key in one)
    return one == other


def _no_constant(name: str) -> NoReturn:
    raise Invalid("json_number")


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for name, value in pairs:
        if name in found:
            raise Invalid("json_twice", name=name)
        found[name] = value
    return found


def _look_into(value: Json) -> None:
    level: list[Any] = [value]
    for _ in range(MAX_DEPTH):
        below: list[Any] = []
        for part in level:
            if isinstance(part, str) and not is_whole_text(part):
                raise Invalid("text_broken")
            if isinstance(part, dict):
                below += [*part.keys(), *part.values()]
            elif isinstance(part, list):
                below += part
        level = below
        if not level:
            return
    raise Invalid("json_deep", maximum=MAX_DEPTH)
