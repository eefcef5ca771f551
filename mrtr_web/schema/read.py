"""From a server's JSON Schema to the parts of a form.

READERS is the register: each reader makes a field of a part or passes it on. What no reader takes becomes a JSON
field in a tool's input, and is left out of an elicitation, whose answers are flat.
"""

from dataclasses import replace

from mrtr_web.schema import leaves, nested
from mrtr_web.schema.bounds import measure
from mrtr_web.schema.jsontext import write_json
from mrtr_web.schema.merge import Part
from mrtr_web.schema.parse import fits
from mrtr_web.schema.part import entries, names, string, types_of
from mrtr_web.schema.plain import TYPE_TITLE, Document
from mrtr_web.schema.spec import (
    ABSENT,
    CAN_HOLD_SECRETS,
    MAX_FIELDS,
    MAX_LISTED,
    MAX_OPTIONS,
    NESTED,
    FieldSpec,
    FormSpec,
    Kind,
    SchemaFault,
    SchemaTooLarge,
    flat,
)
from mrtr_web.schema.words import sounds_secret

MAX_EXAMPLES = 5

_NOT_ELICITED = NESTED | {Kind.JSON, Kind.FILE}
LEAVES = (leaves.choice, leaves.choices, leaves.boolean, leaves.number, leaves.text)
NESTING = (nested.union, nested.group, nested.tuple_of, nested.list_of, nested.map_of)


def read_elicitation(schema: object, message: str = "") -> FormSpec:
    """The form of a step's requestedSchema (MCP FM-1 to FM-6). Raises SchemaFault.

    Where only the message asks for a secret, every field that could hold one counts as secret (FM-5).
    """
    measure(schema)
    document = Document(schema)
    root = document.plain(schema)
    if root is None or root.part.get("type", "object") != "object":
        raise SchemaFault("schema_shape")
    properties, required = root.part.get("properties", {}), names(root.part, "required")
    if not isinstance(properties, dict):
        raise SchemaFault("schema_shape")
    if len(properties) > MAX_FIELDS:
        raise SchemaTooLarge("schema_fields", maximum=MAX_FIELDS)
    found = {key: _flat(document, key, part, key in required) for key, part in properties.items()}
    left_out = [key for key, field in found.items() if field is None]
    fields = tuple(field for field in found.values() if field)
    if sum(len(field.options) for field in fields) > MAX_OPTIONS:
        raise SchemaTooLarge("schema_options", maximum=MAX_OPTIONS)
    if sounds_secret((), message) and not any(field.secret for field in fields):
        fields = tuple(replace(field, secret=field.kind in CAN_HOLD_SECRETS) for field in fields)
    return FormSpec(
        flat(fields),
        skipped=tuple(key for key in left_out if key not in required),
        unanswerable=tuple(key for key in required if found.get(key) is None),
    )


def read_input(schema: object) -> FormSpec:
    """The form of a tool's inputSchema, whose root is an object. Raises SchemaFault."""
    measure(schema)
    document = Document(schema)
    root = document.plain(schema)
    if root is not None and _asks_nothing(root.part):
        return FormSpec(flat(()), may_be_json=True)
    base = FieldSpec("", Kind.JSON, "", required=True, json_type="object")
    may_be_object = root is not None and "object" in (types_of(root.part) or ("object",))
    field = _nested(base, {**root.part, "type": "object"}, document) if root and may_be_object else None
    field = field or base
    return FormSpec(field, may_be_json=True)


def _asks_nothing(root: Part) -> bool:
    """A tool that takes no input says so in many ways."""
    free = root.get("additionalProperties", {})
    shapes = ("properties", "patternProperties", "required", "anyOf", "oneOf")
    return free in ({}, False) and types_of(root) in ((), ("object",)) and not any(root.get(name) for name in shapes)


def _flat(document: Document, key: str, raw: object, required: bool) -> FieldSpec | None:
    """A field of an elicitation, or None: its answers are texts, numbers, booleans and lists of texts, never null."""
    simple = document.plain(raw)
    if simple is None:
        return None
    field = _leaf(_base(key, simple.part, required), simple.part, document)
    return _with_default(field, simple.part) if field and field.kind not in _NOT_ELICITED else None


def _read(document: Document, key: str, raw: object, required: bool) -> FieldSpec:
    """Any part of a tool's input."""
    simple = document.plain({} if raw is True else raw)
    part = simple.part if simple else raw if isinstance(raw, dict) else {}
    base = replace(_base(key, part, required), nullable=bool(simple and simple.nullable))
    if simple is None:
        return _with_default(leaves.json(base, part), part)
    field = _leaf(base, part, document)
    if field is None or (field.kind is Kind.CHOICES and len(field.options) > MAX_LISTED):
        field = _nested(base, part, document) or leaves.json(base, part)
    return _with_default(field, part)


def _base(key: str, part: Part, required: bool) -> FieldSpec:
    base = FieldSpec(
        key,
        Kind.JSON,
        string(part, "title").strip() or key or string(part, TYPE_TITLE).strip(),
        string(part, "description"),
        required=required,
        deprecated=part.get("deprecated") is True,
        examples=_examples(part),
    )
    return replace(base, secret=_is_secret(base, part))


def _leaf(base: FieldSpec, part: Part, document: Document) -> FieldSpec | None:
    return next((field for read in LEAVES if (field := read(base, part, document))), None)


def _nested(base: FieldSpec, part: Part, document: Document) -> FieldSpec | None:
    return next((field for read in NESTING if (field := read(base, part, document, _read))), None)


def _examples(part: Part) -> tuple[str, ...]:
    scalars = [value for value in entries(part, "examples") if isinstance(value, str | int | float)]
    return tuple(value if isinstance(value, str) else write_json(value) for value in scalars[:MAX_EXAMPLES])


def _with_default(field: FieldSpec, part: Part) -> FieldSpec:
    """A default that breaks its own schema is ignored, and so is null where null cannot be the answer."""
    default = part.get("default", ABSENT)
    if field.kind in (Kind.CHOICE, Kind.FIXED) and field.required and "const" in part:
        default = part["const"]
    if default is ABSENT or (default is None and not field.required):
        return field
    if field.kind not in NESTED and not fits(field, default):
        return field
    return replace(field, default=default)


def _is_secret(base: FieldSpec, part: Part) -> bool:
    number = part.get("type") in ("integer", "number")
    names_of = (base.key, base.title, string(part, "format"))
    return sounds_secret(names_of, base.description, number=number) or part.get("writeOnly") is True
