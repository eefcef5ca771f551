"""Readers of parts that are one field each."""

from dataclasses import replace

from mrtr_web.schema.merge import Part
from mrtr_web.schema.options import read_options
from mrtr_web.schema.part import bound, count, string, types_of
from mrtr_web.schema.plain import Document
from mrtr_web.schema.spec import CAN_HOLD_SECRETS, FieldSpec, Kind
from mrtr_web.schema.words import sounds_long

LONG = 300
"""A text that may be longer than this gets a box of several lines."""


def choice(base: FieldSpec, part: Part, document: Document) -> FieldSpec | None:
    if part.get("type") in ("array", "object"):
        return None
    options = read_options(part)
    return replace(base, kind=Kind.CHOICE, options=options, secret=False) if options else None


def choices(base: FieldSpec, part: Part, document: Document) -> FieldSpec | None:
    items = document.plain(part.get("items")) if part.get("type") == "array" and "prefixItems" not in part else None
    if items is None or items.nullable:
        return None
    options = read_options(items.part)
    if not options:
        return None
    field = replace(base, kind=Kind.CHOICES, options=options, secret=False)
    return replace(field, min_items=count(part, "minItems"), max_items=count(part, "maxItems"))


def boolean(base: FieldSpec, part: Part, document: Document) -> FieldSpec | None:
    return replace(base, kind=Kind.BOOLEAN, secret=False) if types_of(part) == ("boolean",) else None


def number(base: FieldSpec, part: Part, document: Document) -> FieldSpec | None:
    types = types_of(part)
    if types not in (("integer",), ("number",)):
        return None
    return replace(
        base,
        kind=Kind(types[0]),
        minimum=bound(part, "minimum"),
        maximum=bound(part, "maximum"),
        above=bound(part, "exclusiveMinimum"),
        below=bound(part, "exclusiveMaximum"),
        step=bound(part, "multipleOf"),
    )


_FORMATS = {
    "email": Kind.EMAIL,
    "uri": Kind.URI,
    "uuid": Kind.UUID,
    "date": Kind.DATE,
    "time": Kind.TIME,
    "date-time": Kind.DATE_TIME,
}


def text(base: FieldSpec, part: Part, document: Document) -> FieldSpec | None:
    if types_of(part) != ("string",) or "enum" in part:
        return None
    kind = _text_kind(base, part)
    secret = base.secret and kind in CAN_HOLD_SECRETS
    field = replace(
        base, kind=kind, secret=secret, format=string(part, "format"), media=string(part, "contentMediaType")
    )
    return replace(field, min_length=count(part, "minLength"), max_length=count(part, "maxLength"))


def _text_kind(base: FieldSpec, part: Part) -> Kind:
    form = string(part, "format")
    if string(part, "contentEncoding").lower() == "base64" or form in ("byte", "base64"):
        return Kind.FILE
    return _FORMATS.get(form) or (Kind.LONG_TEXT if _is_long(base, part) else Kind.TEXT)


def _is_long(base: FieldSpec, part: Part) -> bool:
    longest = count(part, "maxLength")
    if "\n" in string(part, "default") or string(part, "contentMediaType"):
        return True
    if longest is not None:
        return longest > LONG
    return sounds_long((base.key, base.title, string(part, "format")))


def json(base: FieldSpec, part: Part) -> FieldSpec:
    wanted = types_of(part)
    json_type = wanted[0] if wanted in (("object",), ("array",)) else ""
    return replace(base, kind=Kind.JSON, json_type=json_type)
