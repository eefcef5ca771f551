"""Links that fill in a form: from a value to the pairs of a query string, and from such pairs to a value.

A key is a path through the form, such as address.city; in names, "~0" stands for a tilde, "~1" for a dot, "~2" for a
colon; "~3" is an empty name. A key that ends in a colon holds JSON; a colon alone stands for the whole. Secrets and
files are neither put into a link nor taken from one.
"""

from collections.abc import Iterable, Sequence
from typing import Any

from mrtr_web.schema.invalid import Invalid
from mrtr_web.schema.jsontext import read_json, write_json
from mrtr_web.schema.labels import labels
from mrtr_web.schema.numbers import read_integer, read_number
from mrtr_web.schema.parse import fits
from mrtr_web.schema.secrets import hidden, of_key
from mrtr_web.schema.spec import ABSENT, MAX_DEPTH, NESTED, Absent, FieldSpec, Json, Kind

MAX_PAIRS = 1_000
MAX_LISTED_ENTRIES = 200
Pair = tuple[str, str]
_UNKNOWN = FieldSpec("", Kind.JSON, "")

_TEXTS = frozenset({Kind.TEXT, Kind.LONG_TEXT, Kind.EMAIL, Kind.URI, Kind.UUID, Kind.DATE, Kind.TIME, Kind.DATE_TIME})
_NUMBERS = frozenset({Kind.NUMBER, Kind.INTEGER, Kind.BOOLEAN})


def pairs(spec: FieldSpec, value: Json) -> list[Pair]:
    """The pairs of a link that fills in this value. Raises Invalid for what is no JSON."""
    shown = hidden(spec, value, ABSENT, files=True)
    return [] if isinstance(shown, Absent) else list(_pairs(spec, shown, ()))


def _pairs(spec: FieldSpec, value: Json, path: tuple[str, ...]) -> Iterable[Pair]:
    key = ".".join(part.replace("~", "~0").replace(".", "~1").replace(":", "~2") or "~3" for part in path)
    if spec.kind is Kind.GROUP and isinstance(value, dict) and (value or not path):
        for name, part in value.items():
            yield from _pairs(spec.at_key(name) or _UNKNOWN, part, (*path, name))
    elif spec.kind is Kind.LIST and isinstance(value, list) and value and _is_plain(spec.parts()[0], value):
        yield from ((key, part if isinstance(part, str) else write_json(part)) for part in value)
    elif _is_plain(spec, [value]):
        yield key, value if isinstance(value, str) else write_json(value)
    else:
        yield f"{key}:", write_json(value, indent=False)


def _is_plain(spec: FieldSpec, values: Sequence[Json]) -> bool:
    if spec.kind in _TEXTS:
        return all(isinstance(value, str) for value in values)
    return spec.kind in _NUMBERS and all(isinstance(value, int | float) for value in values)


def values(spec: FieldSpec, given: Json, link: Iterable[Pair]) -> tuple[Json, list[str]]:
    """The value `given` with what the link fills in, and the keys of which the form makes no use."""
    grouped: dict[str, list[str]] = {}
    listed = list(link)
    for key, text in listed[:MAX_PAIRS]:
        grouped.setdefault(key, []).append(text)
    unused = [key for key, _ in listed[MAX_PAIRS:]]
    for key, texts in grouped.items():
        names = [] if key == ":" else key.removesuffix(":").split(".")
        path = [name.replace("~3", "").replace("~2", ":").replace("~1", ".").replace("~0", "~") for name in names]
        try:
            given = _put(spec, given, path, texts, json=key.endswith(":"))
        except Invalid:
            unused.append(key)
    return given, unused


def _put(spec: FieldSpec, given: Json | Absent, path: Sequence[str], texts: Sequence[str], *, json: bool) -> Json:
    """Raises Invalid where there is no such place in the form, or no such value in it."""
    if spec.secret or spec.kind is Kind.FILE or len(path) > MAX_DEPTH:
        raise Invalid("mismatch")
    if not path:
        found = read_json(texts[-1]) if json else _read(spec, texts)
        if not json and spec.kind not in NESTED and not fits(spec, found):
            raise Invalid("mismatch")
        without = hidden(spec, found, ABSENT, files=True)
        return found if isinstance(without, Absent) else without
    step, rest = path[0], path[1:]
    if spec.kind in (Kind.LIST, Kind.TUPLE):
        return _put_entry(spec, given if isinstance(given, list) else [], step, rest, texts, json=json)
    if spec.kind is Kind.UNION:
        return _put_into_branch(spec, given, path, texts, json=json)
    inner = _named(spec, step)
    within: dict[str, Any] = dict(given) if isinstance(given, dict) else {}
    within[step] = _put(inner, within.get(step, ABSENT), rest, texts, json=json)
    return within


def _put_entry(
    spec: FieldSpec, given: list[Json], step: str, path: Sequence[str], texts: Sequence[str], *, json: bool
) -> Json:
    if not step.isascii() or not step.isdigit() or int(step[:4]) > min(len(given), MAX_LISTED_ENTRIES):
        raise Invalid("mismatch")
    index = int(step[:4])
    parts = spec.parts()
    if spec.kind is Kind.TUPLE and index >= len(parts):
        raise Invalid("mismatch")
    part = parts[index] if spec.kind is Kind.TUPLE else parts[0]
    entry = _put(part, given[index] if index < len(given) else ABSENT, path, texts, json=json)
    return [*given[:index], entry, *given[index + 1 :]]


def _put_into_branch(
    spec: FieldSpec, given: Json | Absent, path: Sequence[str], texts: Sequence[str], *, json: bool
) -> Json:
    """Into the first branch that has such a place for such a value."""
    for branch in spec.parts():
        try:
            return _put(branch, given, path, texts, json=json)
        except Invalid:
            continue
    raise Invalid("mismatch")


def _named(spec: FieldSpec, key: str) -> FieldSpec:
    found = spec.at_key(key)
    if found is None or of_key(spec, key).secret:
        raise Invalid("mismatch")
    return found


def _read(spec: FieldSpec, texts: Sequence[str]) -> Json:
    match spec.kind:
        case Kind.LIST:
            return [_read(spec.parts()[0], [text]) for text in texts]
        case Kind.CHOICES:
            return [_option(spec, text) for text in texts]
        case Kind.CHOICE | Kind.FIXED:
            return _option(spec, texts[-1])
        case Kind.INTEGER:
            return read_integer(texts[-1])
        case Kind.NUMBER:
            return read_number(texts[-1])
        case Kind.BOOLEAN:
            return _boolean(texts[-1])
        case Kind.UNION:
            return _of_branch(spec, texts)
    return _text(spec, texts[-1])


def _boolean(text: str) -> bool:
    if text not in ("true", "false"):
        raise Invalid("choose_yes_no")
    return text == "true"


def _text(spec: FieldSpec, text: str) -> str:
    if spec.kind not in _TEXTS:
        raise Invalid("mismatch")
    return text


def _of_branch(spec: FieldSpec, texts: Sequence[str]) -> Json:
    for branch in spec.parts():
        try:
            found = _read(branch, texts)
        except Invalid:
            continue
        if branch.kind not in NESTED and fits(branch, found):
            return found
    raise Invalid("mismatch")


def _option(spec: FieldSpec, text: str) -> Json:
    """By its value, else by what people read for it."""
    named = labels(spec)
    for option in spec.options:
        if option.value == text or (not isinstance(option.value, str) and write_json(option.value) == text):
            return option.value
    if text not in named:
        raise Invalid("choose_listed")
    return spec.options[int(named[text])].value
