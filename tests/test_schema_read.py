"""From JSON Schema to fields. F.. and S.. are faults that other hosts had; each is an input here."""

from time import perf_counter
from typing import Any

import pytest

from mrtr_web.schema.drawing import Drawing
from mrtr_web.schema.read import read_elicitation, read_input
from mrtr_web.schema.spec import ABSENT, FieldSpec, FormSpec, Kind, SchemaFault, SchemaTooLarge, flat


def elicitation(required: list[str] | None = None, /, **properties: Any) -> FormSpec:
    return read_elicitation({"type": "object", "properties": properties, "required": required or []})


def one(part: Any, *, required: bool = False, defs: Any = None) -> FieldSpec:
    schema = {"type": "object", "properties": {"p": part}, "required": ["p"] if required else []}
    return read_elicitation(schema | ({"$defs": defs} if defs else {})).fields[0]


def tool(part: Any, *, required: bool = False, beside: Any = None) -> FieldSpec:
    schema = {"type": "object", "properties": {"p": part}, "required": ["p"] if required else []}
    return read_input(schema | (beside or {})).fields[0]


def values(field: FieldSpec) -> list[tuple[Any, str]]:
    return [(option.value, option.label) for option in field.options]


@pytest.mark.parametrize(
    ("part", "kind"),
    [
        ({"type": "string"}, Kind.TEXT),
        ({"type": "string", "format": "email"}, Kind.EMAIL),
        ({"type": "string", "format": "uri"}, Kind.URI),
        ({"type": "string", "format": "date"}, Kind.DATE),
        ({"type": "string", "format": "date-time"}, Kind.DATE_TIME),
        ({"type": "string", "maxLength": 301}, Kind.LONG_TEXT),
        ({"type": "string", "default": "a\nb"}, Kind.LONG_TEXT),
        ({"type": "string", "title": "Your message"}, Kind.LONG_TEXT),
        ({"type": "integer"}, Kind.INTEGER),
        ({"type": "number"}, Kind.NUMBER),
        ({"type": "boolean"}, Kind.BOOLEAN),
        ({"type": "string", "enum": ["a"]}, Kind.CHOICE),
        ({"type": "string", "oneOf": [{"const": "a", "title": "A"}]}, Kind.CHOICE),
        ({"type": "array", "items": {"type": "string", "enum": ["a"]}}, Kind.CHOICES),
        ({"type": "array", "items": {"anyOf": [{"const": "a", "title": "A"}]}}, Kind.CHOICES),
    ],
)
def test_f03_f05_every_part_of_the_grammar_has_its_field(part: Any, kind: Kind) -> None:
    assert one(part).kind is kind


def test_f12_every_keyword_of_a_string_is_read() -> None:
    part = {
        "type": "string",
        "title": "T",
        "description": "D",
        "minLength": 1,
        "maxLength": 9,
        "default": "x",
    }
    assert elicitation(["p"], p=part).fields == (
        FieldSpec("p", Kind.TEXT, "T", "D", required=True, default="x", min_length=1, max_length=9),
    )


def test_f12_every_keyword_of_a_number_is_read() -> None:
    part = {"type": "number", "minimum": 0, "maximum": 1.5, "default": 1}
    assert one(part) == FieldSpec("p", Kind.NUMBER, "p", default=1, minimum=0, maximum=1.5)


def test_f01_reference_to_an_enum_is_a_choice() -> None:
    field = one({"$ref": "#/$defs/P", "title": "Pet"}, defs={"P": {"enum": ["cat", "dog"], "type": "string"}})
    assert (field.kind, field.title, values(field)) == (Kind.CHOICE, "Pet", [("cat", "cat"), ("dog", "dog")])


@pytest.mark.parametrize("keyword", ["anyOf", "oneOf"])
def test_f02_f04_titled_multi_select_by_either_keyword(keyword: str) -> None:
    items = {keyword: [{"const": "a", "title": "Apple"}, {"const": "b", "title": "Bean"}]}
    field = one({"type": "array", "items": items, "minItems": 1, "maxItems": 2, "default": ["b"]})
    assert (field.kind, values(field)) == (Kind.CHOICES, [("a", "Apple"), ("b", "Bean")])
    assert (field.min_items, field.max_items, field.default) == (1, 2, ["b"])


def test_legacy_enum_names_are_labels_only() -> None:
    field = one({"type": "string", "enum": ["a", "b", "c"], "enumNames": ["Apple", ""]})
    assert values(field) == [("a", "Apple"), ("b", "b"), ("c", "c")]


@pytest.mark.parametrize(
    ("part", "default"),
    [
        ({"type": "number", "default": 0}, 0),
        ({"type": "string", "default": ""}, ""),
        ({"type": "boolean", "default": False}, False),
        ({"type": "string", "enum": ["", "a"], "default": ""}, ""),
        ({"type": "array", "items": {"enum": ["a"]}, "default": []}, []),
    ],
)
def test_f09_s20_defaults_that_count_as_false_are_kept(part: Any, default: Any) -> None:
    assert one(part).default == default
    assert type(one(part).default) is type(default)


@pytest.mark.parametrize(
    "part",
    [
        {"type": "string", "format": "email", "default": "nobody"},
        {"type": "string", "maxLength": 2, "default": "abc"},
        {"type": "integer", "default": 1.5},
        {"type": "integer", "default": True},
        {"type": "integer", "maximum": 3, "default": 4},
        {"type": "number", "default": float("nan")},
        {"type": "boolean", "default": "false"},
        {"type": "string", "enum": ["a"], "default": "b"},
        {"type": "array", "items": {"enum": ["a"]}, "minItems": 1, "default": []},
        {"type": "string", "format": "date", "default": "2026-02-31"},
        {"type": "string", "default": "a\r\nb"},
        {"type": "string", "default": "\ud800"},
        {"type": "string", "default": None},
    ],
)
def test_default_that_breaks_its_own_schema_is_ignored(part: Any) -> None:
    assert one(part).default is ABSENT


def test_f10_no_default_is_made_up() -> None:
    assert one({"type": "number"}).default is ABSENT


@pytest.mark.parametrize(
    ("part", "kind"),
    [
        ({"type": "string", "format": "int32"}, Kind.TEXT),
        ({"type": "integer", "format": "int32"}, Kind.INTEGER),
        ({"type": "number", "format": "double", "multipleOf": 2}, Kind.NUMBER),
        ({"type": "string", "pattern": "^(a+)+$", "x-order": 1}, Kind.TEXT),
    ],
)
def test_f20_unknown_formats_and_keywords_are_ignored(part: Any, kind: Kind) -> None:
    assert one(part).kind is kind


def test_f28_form_without_properties_has_no_fields() -> None:
    assert read_elicitation({"type": "object", "properties": {}}) == FormSpec(flat(()))


def test_s04_text_or_null_is_a_text() -> None:
    field = one({"anyOf": [{"type": "string"}, {"type": "null"}], "default": None, "title": "Nick"})
    assert field == FieldSpec("p", Kind.TEXT, "Nick")


@pytest.mark.parametrize(
    "part",
    [
        {"anyOf": [{"enum": ["a", "b"], "type": "string"}, {"type": "null"}]},
        {"anyOf": [{"$ref": "#/$defs/E"}, {"type": "null"}]},
        {"type": ["string", "null"], "enum": ["a", "b", None]},
        {"oneOf": [{"const": "a"}, {"const": "b"}, {"type": "null"}]},
    ],
)
def test_s06_enum_or_null_is_a_choice(part: Any) -> None:
    field = tool(part, beside={"$defs": {"E": {"type": "string", "enum": ["a", "b"]}}})
    assert (field.kind, values(field), field.nullable) == (Kind.CHOICE, [("a", "a"), ("b", "b")], True)


def test_elicitation_answers_are_never_null() -> None:
    assert one({"type": ["string", "null"]}, required=True).nullable is False


OUTSIDE: list[Any] = [
    {"type": "object", "properties": {"x": {"type": "string"}}},
    {"type": "array", "items": {"type": "string"}},
    {"type": "null"},
    {"type": "string", "enum": []},
    {"anyOf": [{"type": "string"}, {"type": "integer"}]},
    {"$ref": "https://example.org/s.json"},
    {"$ref": "#/$defs/missing"},
    {},
    True,
    3,
]


@pytest.mark.parametrize("part", OUTSIDE)
def test_t44_optional_property_outside_the_grammar_is_skipped(part: Any) -> None:
    form = elicitation(["name"], name={"type": "string"}, odd=part)
    assert [field.key for field in form.fields] == ["name"]
    assert (form.skipped, form.unanswerable) == (("odd",), ())


@pytest.mark.parametrize("part", OUTSIDE)
def test_t15_required_property_outside_the_grammar_makes_the_form_unanswerable(part: Any) -> None:
    assert elicitation(["odd"], odd=part).unanswerable == ("odd",)


def test_required_key_without_property_makes_the_form_unanswerable() -> None:
    assert elicitation(["ghost", "name"], name={"type": "string"}).unanswerable == ("ghost",)


@pytest.mark.parametrize("schema", [None, [], "x", {"type": "array"}, {"properties": []}, {"$ref": "#"}])
def test_what_is_no_object_of_properties_is_refused(schema: Any) -> None:
    with pytest.raises(SchemaFault) as caught:
        read_elicitation(schema)
    assert caught.value.code == "schema_shape"


def test_keys_are_kept_in_order_and_as_they_are() -> None:
    keys = ["__proto__", "csrfmiddlewaretoken", "a.b", "mod:func#1", "", " "]
    form = elicitation(None, **{key: {"type": "string"} for key in keys})
    assert [field.key for field in form.fields] == keys


def test_malformed_bounds_and_texts_are_ignored() -> None:
    part = {"type": "string", "title": 5, "description": [], "minLength": "x", "maxLength": -1}
    assert one(part) == FieldSpec("p", Kind.TEXT, "p")
    assert one({"type": "integer", "minimum": True, "maximum": float("inf")}).maximum is None


@pytest.mark.parametrize(
    ("part", "kind"),
    [
        ({}, Kind.UNION),
        (True, Kind.UNION),
        ({"type": "Date"}, Kind.UNION),
        ({"type": ["string", "integer"]}, Kind.UNION),
        ({"type": ["integer", "number"]}, Kind.NUMBER),
        ({"type": "object", "properties": {}}, Kind.GROUP),
        ({"type": "object"}, Kind.MAP),
        ({"type": "object", "properties": {"a": {}}}, Kind.GROUP),
        ({"type": "array", "items": {"type": "object"}}, Kind.LIST),
        ({"type": "array", "prefixItems": [{}, {}]}, Kind.TUPLE),
        ({"anyOf": [{"type": "string"}, {"type": "integer"}]}, Kind.UNION),
        ({"minimum": 3}, Kind.NUMBER),
        ({"$ref": "#"}, Kind.GROUP),
        ({"$ref": "http://127.0.0.1:9/x"}, Kind.JSON),
        ({"$ref": "#/$defs/missing"}, Kind.JSON),
        ({"$ref": "#/$defs/loop"}, Kind.JSON),
    ],
)
def test_s10_s14_s15_richer_property_of_a_tool_has_fields_where_it_can(part: Any, kind: Kind) -> None:
    loop = {"$ref": "#/$defs/loop"}
    assert tool(part, beside={"$defs": {"loop": loop}}).kind == kind


def test_s10_nested_reference_is_resolved() -> None:
    defs = {"A": {"$ref": "#/definitions/B~1C"}, "x": 1}
    found = tool({"$ref": "#/$defs/A"}, beside={"$defs": defs, "definitions": {"B/C": {"type": "integer"}}})
    assert found.kind is Kind.INTEGER


def test_reference_that_clashes_with_what_stands_beside_it_is_not_guessed() -> None:
    defs = {"A": {"type": "string", "maxLength": 3}}
    assert tool({"$ref": "#/$defs/A", "type": "integer"}, beside={"$defs": defs}).kind is Kind.JSON
    assert tool({"$ref": "#/$defs/A", "maxLength": 5}, beside={"$defs": defs}).max_length == 3


@pytest.mark.parametrize(
    ("schema", "kind"),
    [
        (True, Kind.JSON),
        ({"type": "array"}, Kind.JSON),
        ({"oneOf": [{"$ref": "#/$defs/A"}, {"$ref": "#/$defs/B"}]}, Kind.UNION),
        ({"anyOf": [{"type": "object", "properties": {"kind": {"const": "a"}}}, {"type": "object"}]}, Kind.UNION),
        ({"type": "object", "allOf": [{"properties": {"a": {}}}, {"properties": {"b": {}}}]}, Kind.GROUP),
        ({"type": "object", "additionalProperties": {"type": "string"}}, Kind.MAP),
        ({"type": "object", "properties": {"a": {}}, "patternProperties": {"^x": {}}}, Kind.GROUP),
    ],
)
def test_s11_s13_s17_any_root_that_may_be_an_object_has_a_form(schema: Any, kind: Kind) -> None:
    assert read_input(schema).root.kind == kind


def test_tool_without_input_has_no_fields() -> None:
    assert read_input({}) == FormSpec(flat(()), may_be_json=True)


def test_branches_that_only_require_leave_the_fields() -> None:
    schema = {
        "type": "object",
        "properties": {"a": {"type": "string"}, "b": {"type": "string"}},
        "anyOf": [{"required": ["a"]}, {"required": ["b"]}],
        "additionalProperties": False,
    }
    assert [field.key for field in read_input(schema).fields] == ["a", "b"]


def test_tool_root_behind_a_reference_is_read() -> None:
    schema = {
        "$ref": "#/$defs/In",
        "$defs": {"In": {"type": "object", "properties": {"n": {"type": "integer"}}}},
    }
    assert [field.kind for field in read_input(schema).fields] == [Kind.INTEGER]


def test_required_key_of_a_tool_without_property_may_be_anything() -> None:
    field = read_input({"type": "object", "properties": {}, "required": ["x"]}).fields[0]
    assert (field.key, field.kind, field.required) == ("x", Kind.UNION, True)


def test_const_is_a_choice_of_one_already_made_where_required() -> None:
    assert tool({"const": "v1"}, required=True).default == "v1"
    assert tool({"const": "v1"}).default is ABSENT


def test_choices_of_numbers_keep_their_type() -> None:
    field = tool({"type": "integer", "enum": [1, "2", True, 3]})
    assert values(field) == [(1, "1"), (3, "3")]


@pytest.mark.parametrize(
    "name",
    [
        "password",
        "api_key",
        "apiKey",
        "API key",
        "x-token",
        "clientSecret",
        "card number",
        "cvv",
        "CVC",
        "PIN",
    ],
)
def test_f21_names_that_ask_for_secrets_are_flagged(name: str) -> None:
    assert one({"type": "string", "title": name}).secret is True


@pytest.mark.parametrize("name", ["secretary", "tokenize", "pinned", "keyboard", "cardinal number", "card", "key"])
def test_ordinary_words_are_no_secrets(name: str) -> None:
    assert one({"type": "string", "title": name}).secret is False


def test_secrets_are_found_in_formats_and_descriptions() -> None:
    assert one({"type": "string", "format": "password"}).secret is True
    assert one({"type": "string", "description": "The password of your bank account"}).secret is True
    assert one({"type": "string", "description": "A token of affection"}).secret is False
    assert elicitation(None, max_tokens={"type": "integer"}).fields[0].secret is False
    assert elicitation(None, card_number={"type": "integer"}).fields[0].secret is True
    assert elicitation(None, password={"type": "boolean"}).fields[0].secret is False


def nested(levels: int) -> Any:
    schema: Any = {"type": "string"}
    for _ in range(levels):
        schema = {"type": "object", "properties": {"x": schema}}
    return schema


@pytest.mark.parametrize(
    ("properties", "code"),
    [
        ({f"p{i}": {"type": "string"} for i in range(201)}, "schema_fields"),
        ({"p": {"type": "string", "enum": [str(i) for i in range(5001)]}}, "schema_options"),
        ({"p": {"type": "string", "description": "é" * 131_072}}, "schema_size"),
        ({"p": nested(3000)}, "schema_depth"),
    ],
)
@pytest.mark.parametrize("read", [read_elicitation, read_input])
def test_f27_schema_past_a_limit_is_refused(read: Any, properties: Any, code: str) -> None:
    with pytest.raises(SchemaTooLarge) as caught:
        Drawing(json=True).fresh(read({"type": "object", "properties": properties}).root)
    assert caught.value.code == code


def test_long_default_is_looked_up_at_once() -> None:
    names = [str(i) for i in range(5000)]
    start = perf_counter()
    assert one({"type": "array", "items": {"enum": names}, "default": names}).default == names
    assert perf_counter() - start < 1


def test_f27_schema_at_the_limits_is_read() -> None:
    many = {f"p{i}": {"type": "string"} for i in range(199)}
    form = elicitation(None, **many, last={"type": "string", "enum": [str(i) for i in range(5000)]})
    assert (len(form.fields), len(form.fields[-1].options)) == (200, 5000)
