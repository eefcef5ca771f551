"""From what was typed to the exact JSON value, and back.

Nothing is trimmed, rounded or guessed. An optional field left empty is ABSENT. A text, or an optional list, is sent
empty only when `Typed.blank` says so, which shown() sets for a default or earlier answer that is empty.
"""

import base64
import re
from collections.abc import Callable, Mapping
from typing import NamedTuple

from mrtr_web.schema import dates
from mrtr_web.schema.invalid import Invalid
from mrtr_web.schema.jsontext import is_whole_text, read_json, same, write_json
from mrtr_web.schema.labels import labels
from mrtr_web.schema.numbers import read_integer, read_number
from mrtr_web.schema.spec import ABSENT, FILE_LEFT_OUT, MAX_FILE_BYTES, Absent, FieldSpec, Json, Kind, Typed
from mrtr_web.schema.text import one_line

_EMAIL = re.compile(r"[^@\s]+@[^@\s]+")
_UUID = re.compile(r"[0-9A-Fa-f]{8}(-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}")
_URI = re.compile(r"[A-Za-z][A-Za-z0-9+.\-]*:[^\s\x00-\x1f\x7f<>\"]+")
_INDEX = re.compile(r"[0-9]{1,6}")


class Codec(NamedTuple):
    parse: Callable[[FieldSpec, Typed], Json]
    """What was typed, never empty, to a value."""
    show: Callable[[FieldSpec, Json], Typed]


def parse(spec: FieldSpec, typed: Typed) -> Json | Absent:
    """The exact value. Raises Invalid."""
    if spec.kind is Kind.FIXED:
        return spec.options[0].value
    if spec.kind is Kind.FILE and typed.file and not typed.text:
        return ""
    if not (typed.chosen if spec.kind is Kind.CHOICES else typed.text):
        return _empty(spec, typed)
    return KINDS[spec.kind].parse(spec, typed)


def shown(spec: FieldSpec, value: Json | Absent) -> Typed:
    """What to type for this value. Raises Invalid for a value that this field cannot give."""
    if isinstance(value, Absent) or (value is None and spec.nullable and spec.required):
        return Typed()
    typed = KINDS[spec.kind].show(spec, value)
    given = parse(spec, typed)
    if isinstance(given, Absent) or not same(given, value):
        raise Invalid("mismatch")
    return typed


def fits(spec: FieldSpec, value: Json | Absent) -> bool:
    """Whether this field can show the value and give it back."""
    try:
        shown(spec, value)
    except Invalid:
        return False
    return True


def is_email(text: str) -> bool:
    return _EMAIL.fullmatch(text) is not None


def is_uri(text: str) -> bool:
    return _URI.fullmatch(text) is not None


def is_date(text: str) -> bool:
    try:
        return dates.read_date(text) == text
    except Invalid:
        return False


FORMATS: Mapping[str, Callable[[str], bool]] = {
    "email": is_email,
    "uri": is_uri,
    "date": is_date,
    "date-time": dates.has_offset,
}
"""By name in JSON Schema. The final check uses these too, so that both agree."""

_JSON_TYPES: Mapping[str, type] = {"object": dict, "array": list}
_UNANSWERED = {Kind.BOOLEAN: "choose_yes_no", Kind.CHOICE: "choose_one", Kind.FILE: "file_missing"}


def _empty(spec: FieldSpec, typed: Typed) -> Json | Absent:
    if spec.kind is Kind.CHOICES and (typed.blank or not spec.may_be_empty):
        return _counted(spec, [])
    if typed.blank and spec.may_be_blank:
        return ""
    if not spec.required:
        return ABSENT
    if spec.nullable:
        return None
    raise Invalid("required_or_blank" if spec.may_be_blank else _UNANSWERED.get(spec.kind, "required"))


def _text(spec: FieldSpec, typed: Typed) -> str:
    text = typed.text.replace("\r\n", "\n").replace("\r", "\n")  # browsers send every line break as CRLF
    if not is_whole_text(text):
        raise Invalid("text_broken")
    if spec.min_length is not None and len(text) < spec.min_length:
        raise Invalid("too_short", minimum=spec.min_length, length=len(text))
    if spec.max_length is not None and len(text) > spec.max_length:
        raise Invalid("too_long", maximum=spec.max_length, length=len(text))
    return text


def _email(spec: FieldSpec, typed: Typed) -> str:
    if not is_email(typed.text):
        raise Invalid("email")
    return _text(spec, typed)


def _uri(spec: FieldSpec, typed: Typed) -> str:
    if not is_uri(typed.text):
        raise Invalid("uri")
    return _text(spec, typed)


def _uuid(spec: FieldSpec, typed: Typed) -> str:
    if not _UUID.fullmatch(typed.text):
        raise Invalid("uuid")
    return typed.text


def _time(spec: FieldSpec, typed: Typed) -> str:
    return _text(spec, Typed(dates.read_time(typed.text)))


def _file(spec: FieldSpec, typed: Typed) -> str:
    """A file's bytes, in base64 already."""
    if typed.text == FILE_LEFT_OUT or len(typed.text) > MAX_FILE_BYTES * 4 // 3 + 4:
        raise Invalid("file_large", maximum=MAX_FILE_BYTES // 1024)
    if not is_base64(typed.text):
        raise Invalid("file_broken")
    return _text(spec, typed)


def is_base64(text: str) -> bool:
    try:
        base64.b64decode(text, validate=True)
    except ValueError:
        return False
    return True


def _date(spec: FieldSpec, typed: Typed) -> str:
    return _text(spec, Typed(dates.read_date(typed.text)))


def _date_time(spec: FieldSpec, typed: Typed) -> str:
    return _text(spec, Typed(dates.read_date_time(typed.text, typed.zone, typed.fold)))


def _integer(spec: FieldSpec, typed: Typed) -> int:
    number = read_integer(typed.text.strip())
    _bounded(spec, number)
    return number


def _number(spec: FieldSpec, typed: Typed) -> int | float:
    number = read_number(typed.text.strip())
    _bounded(spec, number)
    return number


def _bounded(spec: FieldSpec, number: int | float) -> None:
    if spec.minimum is not None and number < spec.minimum:
        raise Invalid("too_low", minimum=spec.minimum)
    if spec.maximum is not None and number > spec.maximum:
        raise Invalid("too_high", maximum=spec.maximum)


def _boolean(spec: FieldSpec, typed: Typed) -> bool:
    if typed.text not in ("true", "false"):
        raise Invalid("choose_yes_no")
    return typed.text == "true"


def _choice(spec: FieldSpec, typed: Typed) -> Json:
    return _option(spec, typed.text)


def _choices(spec: FieldSpec, typed: Typed) -> list[Json]:
    return _counted(spec, [_option(spec, index) for index in dict.fromkeys(typed.chosen)])


def _counted(spec: FieldSpec, values: list[Json]) -> list[Json]:
    if spec.min_items is not None and len(values) < spec.min_items:
        raise Invalid("too_few", minimum=spec.min_items, count=len(values))
    if spec.max_items is not None and len(values) > spec.max_items:
        raise Invalid("too_many", maximum=spec.max_items, count=len(values))
    return values


def _option(spec: FieldSpec, index: str) -> Json:
    if spec.is_searched:
        return _found(spec, index)
    if not _INDEX.fullmatch(index) or int(index) >= len(spec.options):
        raise Invalid("choose_listed")
    return spec.options[int(index)].value


def _found(spec: FieldSpec, text: str) -> Json:
    """By what people read for it, in capitals or not where that means one alone."""
    known = labels(spec)
    alike = [index for label, index in known.items() if label.casefold() == one_line(text).casefold()]
    index = known.get(text) or (alike[0] if len(alike) == 1 else None)
    if index is None:
        raise Invalid("choose_found")
    return spec.options[int(index)].value


def _json(spec: FieldSpec, typed: Typed) -> Json:
    value = read_json(typed.text)
    null_is_fine = value is None and spec.nullable
    if not null_is_fine and not isinstance(value, _JSON_TYPES.get(spec.json_type, object)):
        raise Invalid(f"json_{spec.json_type}")
    return value


def _show_text(spec: FieldSpec, value: Json) -> Typed:
    if not isinstance(value, str):
        raise Invalid("mismatch")
    return Typed(value, blank=not value)


def _show_number(spec: FieldSpec, value: Json) -> Typed:
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise Invalid("mismatch")
    try:
        return Typed(repr(value))
    except ValueError:
        raise Invalid("number_long") from None


def _show_boolean(spec: FieldSpec, value: Json) -> Typed:
    if not isinstance(value, bool):
        raise Invalid("mismatch")
    return Typed("true" if value else "false")


def _show_choice(spec: FieldSpec, value: Json) -> Typed:
    index = _index(_indexes(spec), value)
    return Typed(next(label for label, found in labels(spec).items() if found == index) if spec.is_searched else index)


def _show_fixed(spec: FieldSpec, value: Json) -> Typed:
    return Typed(write_json(value))


def _show_choices(spec: FieldSpec, value: Json) -> Typed:
    if not isinstance(value, list):
        raise Invalid("mismatch")
    indexes = _indexes(spec)
    return Typed(chosen=tuple(_index(indexes, entry) for entry in value), blank=not value)


def _indexes(spec: FieldSpec) -> dict[object, str]:
    """By value, first come first."""
    found: dict[object, str] = {}
    for index, option in enumerate(spec.options):
        found.setdefault(_identity(option.value), str(index))
    return found


def _identity(value: Json) -> object:
    """Equal for what is the same in JSON: true and 1 are told apart, 1 and 1.0 are not."""
    if isinstance(value, list):
        return tuple(map(_identity, value))
    if isinstance(value, dict):
        return frozenset((key, _identity(entry)) for key, entry in value.items())
    return isinstance(value, bool), value


def _index(indexes: dict[object, str], value: Json) -> str:
    if (key := _identity(value)) not in indexes:
        raise Invalid("choose_listed")
    return indexes[key]


def _show_json(spec: FieldSpec, value: Json) -> Typed:
    return Typed(write_json(value))


KINDS: Mapping[Kind, Codec] = {
    Kind.TEXT: Codec(_text, _show_text),
    Kind.LONG_TEXT: Codec(_text, _show_text),
    Kind.EMAIL: Codec(_email, _show_text),
    Kind.URI: Codec(_uri, _show_text),
    Kind.UUID: Codec(_uuid, _show_text),
    Kind.DATE: Codec(_date, _show_text),
    Kind.TIME: Codec(_time, _show_text),
    Kind.DATE_TIME: Codec(_date_time, _show_text),
    Kind.FILE: Codec(_file, _show_text),
    Kind.FIXED: Codec(_choice, _show_fixed),
    Kind.NUMBER: Codec(_number, _show_number),
    Kind.INTEGER: Codec(_integer, _show_number),
    Kind.BOOLEAN: Codec(_boolean, _show_boolean),
    Kind.CHOICE: Codec(_choice, _show_choice),
    Kind.CHOICES: Codec(_choices, _show_choices),
    Kind.JSON: Codec(_json, _show_json),
}
