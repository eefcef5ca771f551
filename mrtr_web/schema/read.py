"""From a server's JSON Schema to the fields of a form.

READERS is the register: each reader makes a field of a property or passes it on. What no reader takes becomes
a JSON field in a tool's input, and is left out of an elicitation, whose answers are flat.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from mrtr_web.schema.bounds import measure
from mrtr_web.schema.numbers import MAX_DIGITS
from mrtr_web.schema.options import read_options
from mrtr_web.schema.parse import fits
from mrtr_web.schema.plain import plain
from mrtr_web.schema.spec import (
    ABSENT,
    MAX_FIELDS,
    MAX_OPTIONS,
    FieldSpec,
    FormSpec,
    Kind,
    SchemaFault,
    SchemaTooLarge,
)
from mrtr_web.schema.words import sounds_long, sounds_secret

LONG = 300
"""A text that may be longer than this gets a box of several lines."""

_CAN_HOLD_SECRETS = frozenset({Kind.TEXT, Kind.LONG_TEXT, Kind.NUMBER, Kind.INTEGER})

_UNBOUNDED = 10**MAX_DIGITS  # no text can be made of more, and infinity is no bound

Part = dict[str, Any]
Reader = Callable[[FieldSpec, Part, Any], FieldSpec | None]


def read_elicitation(schema: object, message: str = "") -> FormSpec:
    """The form of a step's requestedSchema (MCP FM-1 to FM-6). Raises SchemaFault.

    Where only the message asks for a secret, every field that could hold one counts as secret (FM-5).
    """
    root = _root(schema)
    if root is None or root.part.get("type", "object") != "object":
        raise SchemaFault("schema_shape")
    found = {key: _flat(root.field(key, part)) for key, part in root.properties.items()}
    left_out = [key for key, field in found.items() if field is None]
    fields = _limited(field for field in found.values() if field)
    if sounds_secret((), message) and not any(field.secret for field in fields):
        fields = tuple(replace(field, secret=field.kind in _CAN_HOLD_SECRETS) for field in fields)
    return FormSpec(
        fields,
        skipped=tuple(key for key in left_out if key not in root.required),
        unanswerable=tuple(key for key in root.required if found.get(key) is None),
    )


def read_input(schema: object) -> FormSpec:
    """The form of a tool's inputSchema: a field per property, or one for the whole. Raises SchemaFault."""
    root = _root(schema)
    if root is None or not _is_plain_object(root.part):
        whole = FieldSpec("", Kind.JSON, "", required=True, json_type="object")
        return FormSpec((whole,), whole=True)
    undescribed: Part = {key: {} for key in root.required if key not in root.properties}
    properties = {key: part for key, part in root.properties.items() if part is not False}
    fields = (root.field(key, part, nulls=True) for key, part in (properties | undescribed).items())
    skipped = tuple(key for key, part in root.properties.items() if part is False)
    return FormSpec(_limited(fields), skipped=skipped)


@dataclass(frozen=True, slots=True)
class _Root:
    document: object
    part: Part
    properties: Part
    required: tuple[str, ...]

    def field(self, key: str, raw: object, *, nulls: bool = False) -> FieldSpec:
        """Kind JSON where no reader takes it."""
        simple = plain(raw, self.document)
        part, nullable = simple or (raw if isinstance(raw, dict) else {}, False)
        base = FieldSpec(
            key,
            Kind.JSON,
            _string(part, "title").strip() or key,
            _string(part, "description"),
            required=key in self.required,
            nullable=nullable and nulls,
        )
        base = replace(base, secret=_is_secret(base, part))
        read = (reader(base, part, self.document) for reader in READERS if simple)
        field = next((field for field in read if field), None) or _json(base, part)
        return _with_default(field, part)


def _root(schema: object) -> _Root | None:
    measure(schema)
    root = plain(schema, schema)
    properties = root.part.get("properties", {}) if root else None
    if root is None or not isinstance(properties, dict):
        return None
    if len(properties) > MAX_FIELDS:
        raise SchemaTooLarge("schema_fields", maximum=MAX_FIELDS)
    required = root.part.get("required")
    names = required if isinstance(required, list) else []
    return _Root(schema, root.part, properties, tuple(dict.fromkeys(n for n in names if isinstance(n, str))))


def _flat(field: FieldSpec) -> FieldSpec | None:
    return None if field.kind is Kind.JSON else field


def _limited(fields: Any) -> tuple[FieldSpec, ...]:
    found: tuple[FieldSpec, ...] = tuple(fields)
    if len(found) > MAX_FIELDS:
        raise SchemaTooLarge("schema_fields", maximum=MAX_FIELDS)
    if sum(len(field.options) for field in found) > MAX_OPTIONS:
        raise SchemaTooLarge("schema_options", maximum=MAX_OPTIONS)
    return found


def _is_plain_object(root: Part) -> bool:
    """Whether its properties are all there is to fill in. What branches require is left to the check."""
    if root.get("type", "object") != "object" or "patternProperties" in root:
        return False
    free = root.get("additionalProperties")
    if (isinstance(free, dict) and free) or (not root.get("properties") and free is True):
        return False
    branches = [b for name in ("allOf", "anyOf", "oneOf") for b in _list(root.get(name))]
    branches += [root[name] for name in ("if", "then", "else", "not") if name in root]
    return all(_adds_nothing(branch, root.get("properties", {})) for branch in branches)


def _adds_nothing(branch: object, properties: Part) -> bool:
    if not isinstance(branch, dict):
        return True
    inner = [b for name in ("allOf", "anyOf", "oneOf") for b in _list(branch.get(name))]
    inner += [branch[name] for name in ("if", "then", "else", "not") if name in branch]
    named = branch.get("properties", {})
    return (
        "$ref" not in branch
        and isinstance(named, dict)
        and named.keys() <= properties.keys()
        and all(_adds_nothing(b, properties) for b in inner)
    )


def _with_default(field: FieldSpec, part: Part) -> FieldSpec:
    """A default that breaks its own schema is ignored, and so is null where null cannot be the answer."""
    default = part.get("default", ABSENT)
    if field.kind is Kind.CHOICE and field.required and "const" in part:
        default = part["const"]
    if default is ABSENT or (default is None and not field.required) or not fits(field, default):
        return field
    return replace(field, default=default)


def _is_secret(base: FieldSpec, part: Part) -> bool:
    number = part.get("type") in ("integer", "number")
    names = (base.key, base.title, _string(part, "format"))
    return sounds_secret(names, base.description, number=number)


def _choice(base: FieldSpec, part: Part, document: Any) -> FieldSpec | None:
    if part.get("type") in ("array", "object"):
        return None
    options = read_options(part)
    return replace(base, kind=Kind.CHOICE, options=options, secret=False) if options else None


def _choices(base: FieldSpec, part: Part, document: Any) -> FieldSpec | None:
    items = plain(part.get("items"), document)
    if part.get("type") != "array" or items is None or items.nullable or "prefixItems" in part:
        return None
    options = read_options(items.part)
    if not options:
        return None
    field = replace(base, kind=Kind.CHOICES, options=options, secret=False)
    return replace(field, min_items=_count(part, "minItems"), max_items=_count(part, "maxItems"))


def _boolean(base: FieldSpec, part: Part, document: Any) -> FieldSpec | None:
    return replace(base, kind=Kind.BOOLEAN, secret=False) if part.get("type") == "boolean" else None


def _number(base: FieldSpec, part: Part, document: Any) -> FieldSpec | None:
    if part.get("type") not in ("integer", "number"):
        return None
    minimum, maximum = _bound(part, "minimum"), _bound(part, "maximum")
    return replace(base, kind=Kind(part["type"]), minimum=minimum, maximum=maximum)


_FORMATS = {"email": Kind.EMAIL, "uri": Kind.URI, "date": Kind.DATE, "date-time": Kind.DATE_TIME}


def _text(base: FieldSpec, part: Part, document: Any) -> FieldSpec | None:
    if part.get("type") != "string" or "enum" in part:
        return None
    kind = _FORMATS.get(_string(part, "format")) or (Kind.LONG_TEXT if _is_long(base, part) else Kind.TEXT)
    secret = base.secret and kind in (Kind.TEXT, Kind.LONG_TEXT)
    field = replace(base, kind=kind, secret=secret)
    return replace(field, min_length=_count(part, "minLength"), max_length=_count(part, "maxLength"))


READERS: tuple[Reader, ...] = (_choice, _choices, _boolean, _number, _text)


def _json(base: FieldSpec, part: Part) -> FieldSpec:
    json_type = part.get("type")
    return replace(base, json_type=json_type if json_type in ("object", "array") else "")


def _is_long(base: FieldSpec, part: Part) -> bool:
    longest = _count(part, "maxLength")
    if longest is not None and longest <= LONG:
        return "\n" in _string(part, "default")
    names = (base.key, base.title, _string(part, "format"))
    return longest is not None or "\n" in _string(part, "default") or sounds_long(names)


def _list(value: object) -> list[Any]:
    return value if isinstance(value, list) else []


def _string(part: Part, name: str) -> str:
    value = part.get(name)
    return value if isinstance(value, str) else ""


def _bound(part: Part, name: str) -> int | float | None:
    value = part.get(name)
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return value if -_UNBOUNDED < value < _UNBOUNDED else None


def _count(part: Part, name: str) -> int | None:
    value = _bound(part, name)
    return int(value) if value is not None and value >= 0 and value == int(value) else None
