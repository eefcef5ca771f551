"""Forms whose shape changes while they are filled in: entries, optional parts, kinds, JSON and back, and links."""

import time
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mrtr_web.forms import StepForm, build
from mrtr_web.schema import prefill
from mrtr_web.schema.check import check
from mrtr_web.schema.drawing import Drawing
from mrtr_web.schema.edits import edited
from mrtr_web.schema.invalid import Invalid
from mrtr_web.schema.places import as_posted, plainly, walk
from mrtr_web.schema.read import read_input
from mrtr_web.schema.secrets import hidden
from mrtr_web.schema.spec import ABSENT, Json, SchemaTooLarge
from tests.test_schema_corpus import returned, text_of

ADDRESS = {
    "type": "object",
    "properties": {"street": {"type": "string"}, "zip": {"type": "integer"}},
    "required": ["street"],
}
GUEST = {
    "type": "object",
    "properties": {"name": {"type": "string"}, "age": {"type": "integer", "default": 30}},
    "required": ["name"],
}
SHAPE = {
    "oneOf": [
        {
            "type": "object",
            "title": "Circle",
            "properties": {"kind": {"const": "circle"}, "radius": {"type": "number"}},
            "required": ["kind", "radius"],
        },
        {
            "type": "object",
            "title": "Box",
            "properties": {"kind": {"const": "box"}, "side": {"type": "number"}},
            "required": ["kind", "side"],
        },
    ]
}
PARTY = {
    "type": "object",
    "properties": {
        "title": {"type": "string"},
        "where": ADDRESS,
        "guests": {"type": "array", "items": GUEST},
        "labels": {"type": "object", "additionalProperties": {"type": "string"}},
        "shape": SHAPE,
    },
}
WHERE, GUESTS, LABELS, FORM = "f1", "f2", "f3", "f4"


class Filling:
    """A person who fills in a form without scripts: posts what is drawn, with what was typed."""

    def __init__(self, schema: Any = PARTY) -> None:
        self.spec = read_input(schema)
        self.posted: dict[str, list[str]] = as_posted(Drawing(json=True).fresh(self.spec.root))

    def press(self, do: str) -> None:
        changed = edited(self.spec, self.posted, do)
        root = Drawing(json=True).posted(self.spec.root, changed)
        self.posted = as_posted(root) | {n: list(v) for place in walk(root) for n, v in place.beside.items()}

    def type(self, **typed: str) -> None:
        for name, text in typed.items():
            name = name.replace("_", "-")
            assert name in self.posted, sorted(self.posted)
            self.posted[name] = [text]

    def form(self) -> StepForm:
        data = {f"s0-{name}": given for name, given in self.posted.items()}
        return build(self.spec, prefix="s0", data=data, initial=None, zone="UTC")

    def value(self) -> Any:
        form = self.form()
        assert form.is_valid(), form.errors.get_json_data()
        return form.value()


def test_nothing_of_an_untouched_form_is_sent() -> None:
    assert Filling().value() == {}


def test_an_optional_part_is_sent_once_it_was_added_and_not_when_it_was_taken_away() -> None:
    filling = Filling()
    filling.press(f"add {WHERE}")
    assert filling.form().errors == {"f1-0": ["Fill in “\u2068street\u2069”, or tick that you mean an empty text."]}
    filling.type(f1_0="Main Street", f1_1="123")
    assert filling.value() == {"where": {"street": "Main Street", "zip": 123}}
    filling.press(f"remove {WHERE}")
    assert filling.value() == {}
    filling.press(f"add {WHERE}")
    assert (filling.posted["f1-0"], filling.posted["f1-1"]) == ([""], [""])


def test_entries_keep_what_was_typed_when_others_go_and_new_ones_have_defaults() -> None:
    filling = Filling()
    for _ in range(3):
        filling.press(f"add {GUESTS}")
    filling.type(f2_0_0="Ada", f2_1_0="Bob", f2_2_0="Cleo", f2_2_1="x")
    filling.press(f"remove {GUESTS}-1")
    assert filling.posted[f"{GUESTS}-items"] == ["0", "2"]
    assert filling.posted[f"{GUESTS}-2-1"] == ["x"]
    filling.press(f"add {GUESTS}")
    filling.type(f2_2_1="7", f2_3_0="Dan")
    assert filling.value() == {
        "guests": [{"name": "Ada", "age": 30}, {"name": "Cleo", "age": 7}, {"name": "Dan", "age": 30}]
    }


def test_keys_that_a_person_names_are_sent_and_may_not_stand_twice() -> None:
    filling = Filling()
    filling.press(f"add {LABELS}")
    filling.press(f"add {LABELS}")
    filling.posted |= {"f3-0-key": ["a.b"], "f3-0": ["1"], "f3-1-key": ["a.b"], "f3-1": [""], "f3-1-blank": ["1"]}
    assert filling.form().errors == {"f3-1-key": ["This name stands here twice. Give each entry a name of its own."]}
    filling.posted["f3-1-key"] = ["ü"]
    assert filling.value() == {"labels": {"a.b": "1", "ü": ""}}


def test_a_kind_is_chosen_first_and_what_was_typed_for_another_is_kept() -> None:
    filling = Filling()
    filling.posted[f"{FORM}-branch"] = ["0"]
    filling.press(f"branch {FORM}")
    filling.posted[f"{FORM}-b0-1"] = ["2.5"]
    assert filling.value() == {"shape": {"kind": "circle", "radius": 2.5}}
    filling.posted[f"{FORM}-branch"] = ["1"]
    filling.press(f"branch {FORM}")
    filling.posted[f"{FORM}-b1-1"] = ["4"]
    assert filling.value() == {"shape": {"kind": "box", "side": 4}}
    filling.posted[f"{FORM}-branch"] = ["0"]
    filling.press(f"branch {FORM}")
    assert filling.value() == {"shape": {"kind": "circle", "radius": 2.5}}


def test_a_required_kind_must_be_chosen() -> None:
    filling = Filling({"type": "object", "properties": {"shape": SHAPE}, "required": ["shape"]})
    assert filling.form().errors == {"f0": ["Choose which of these you want to fill in."]}


def test_the_form_becomes_json_whatever_was_typed_and_comes_back_with_it() -> None:
    filling = Filling()
    filling.press(f"add {GUESTS}")
    filling.type(f0="T", f2_0_0="Ada", f2_0_1="forty")
    filling.press("json f")
    assert filling.posted["f"] == [
        '{\n  "title": "T",\n  "guests": [\n    {\n      "name": "Ada",\n      "age": "forty"\n    }\n  ]\n}'
    ]
    filling.press("form f")
    assert filling.posted["f0"] == ["T"]
    assert filling.posted["f2-0-0"] == ["Ada"]
    assert filling.posted["f2-0-1"] == ["forty"]
    filling.posted["f2-0-1"] = ["40"]
    assert filling.value() == {"title": "T", "guests": [{"name": "Ada", "age": 40}]}


@pytest.mark.parametrize(
    ("text", "code"), [("{", "json"), ('{"a": 1}', "json_no_form"), ("[]", "json_no_form"), ('{"title": "a",}', "json")]
)
def test_json_that_is_none_or_has_no_fields_stays_as_it_was_typed(text: str, code: str) -> None:
    filling = Filling()
    filling.press("json f")
    filling.posted["f"] = [text]
    with pytest.raises(Invalid) as caught:
        filling.press("form f")
    assert (caught.value.code, filling.posted["f"]) == (code, [text])


def test_a_page_has_room_for_so_many_fields() -> None:
    filling = Filling({"type": "object", "properties": {"n": {"type": "array", "items": {"type": "string"}}}})
    for _ in range(200):
        filling.press("add f0")
    with pytest.raises(SchemaTooLarge):
        filling.press("add f0")


@pytest.mark.parametrize(
    "do", ["", "add", "add f", "add f9", "add f0", "remove f", "remove f0", "branch x", "json f2-9", "form f", "x f"]
)
def test_a_wish_that_makes_no_sense_changes_nothing(do: str) -> None:
    filling = Filling()
    filling.posted["f0"] = ["T"]
    assert edited(filling.spec, filling.posted, do) == filling.posted


def test_a_value_that_no_field_shows_is_json_for_its_own_part_alone() -> None:
    value = {"title": "T", "where": {"street": "S", "floor": 3}, "shape": {"kind": "star"}}
    drawn = Drawing(json=True).value(read_input(PARTY).root, value)
    assert [place.name for place in walk(drawn) if place.instead_of] == [WHERE, FORM]
    assert returned(PARTY, value) == text_of(value)


def test_a_schema_without_end_is_drawn_to_a_bound() -> None:
    endless = {"$ref": "#/$defs/n", "$defs": {"n": {"properties": {"n": {"$ref": "#/$defs/n"}}, "required": ["n"]}}}
    drawn = Drawing(json=True).fresh(read_input(endless).root)
    assert [place.spec.kind.value for place in walk(drawn)][-2:] == ["group", "json"]
    with pytest.raises(SchemaTooLarge):
        both = {"properties": {k: {"$ref": "#/$defs/n"} for k in "ab"}, "required": ["a", "b"]}
        Drawing(json=True).fresh(read_input({"$ref": "#/$defs/n", "$defs": {"n": both}}).root)


LINK = {
    "type": "object",
    "properties": {
        "city": {"type": "string"},
        "nights": {"type": "integer"},
        "late": {"type": "boolean"},
        "tags": {"type": "array", "items": {"type": "string"}},
        "size": {"enum": ["s", "m", 3]},
        "where": ADDRESS,
        "guests": {"type": "array", "items": GUEST},
        "labels": {"type": "object", "additionalProperties": {"type": "string"}},
        "shape": SHAPE,
        "a.b": {"type": "string"},
        "password": {"type": "string"},
        "auth": {"type": "object", "properties": {"api_key": {"type": "string"}, "user": {"type": "string"}}},
        "any": {},
    },
}


def filled(*pairs: tuple[str, str]) -> tuple[Json, list[str]]:
    return prefill.values(read_input(LINK).root, {}, pairs)


def test_a_link_fills_in_by_path() -> None:
    link = [("city", "Lyon"), ("nights", "3"), ("late", "false"), ("tags", "a"), ("tags", "b"), ("size", "3")]
    link += [("where.street", "Main"), ("guests.0.name", "Ada"), ("labels.x", "1"), ("a~1b", "dot"), ("any", "5")]
    link += [("shape:", '{"kind": "box", "side": 2}')]
    assert filled(*link) == (
        {
            "city": "Lyon",
            "nights": 3,
            "late": False,
            "tags": ["a", "b"],
            "size": 3,
            "where": {"street": "Main"},
            "guests": [{"name": "Ada"}],
            "labels": {"x": "1"},
            "a.b": "dot",
            "any": "5",
            "shape": {"kind": "box", "side": 2},
        },
        [],
    )


@pytest.mark.parametrize(
    ("key", "text"),
    [
        ("nights", "three"), ("late", "maybe"), ("size", "xl"), ("unknown", "1"), ("where", "x"), ("where.no", "x"),
        ("guests.1.name", "x"), ("guests.99999.name", "x"), ("guests.x.name", "x"), ("shape:", "{"), ("", ""),
        ("password", "x"), ("password:", '"x"'), ("auth.api_key", "x"), ("city.x", "y"), ("shape.no", "1"),
    ],
)  # fmt: skip
def test_what_a_link_cannot_fill_in_is_told_and_no_secret_ever_is(key: str, text: str) -> None:
    assert filled((key, text)) == ({}, [key])


def test_a_link_takes_no_secret_along_in_json_either() -> None:
    assert filled(("auth:", '{"api_key": "x", "user": "u"}'))[0] == {"auth": {"user": "u"}}


VALUE = {
    "city": "Lyon & Köln", "nights": -3, "late": True, "tags": ["", "a=b"], "size": "m",
    "where": {"street": "x\ny", "zip": 0},
    "guests": [{"name": "Ada", "age": 1}], "labels": {"a.b": "c"},
    "shape": {"kind": "circle", "radius": 1.5},
    "a.b": "~", "password": "hunter2", "auth": {"api_key": "k", "user": "u"}, "any": [1, {"x": None}],
}  # fmt: skip


def test_the_link_of_a_form_gives_its_values_back_but_no_secrets() -> None:
    link = prefill.pairs(read_input(LINK).root, VALUE)
    assert "hunter2" not in str(link) and "'k'" not in str(link)
    without = {key: part for key, part in VALUE.items() if key != "password"} | {"auth": {"user": "u"}}
    assert filled(*link) == (without, [])


def test_secrets_are_hidden_wherever_they_stand() -> None:
    schema: Any = {
        "type": "object",
        "properties": {
            "auth": {"properties": {"password": {"type": "string"}, "user": {"type": "string"}}},
            "keys": {"type": "array", "items": {"properties": {"api_key": {}, "n": {}}}},
            "secrets": {"type": "object", "additionalProperties": {"type": "string"}},
            "free": {"$ref": "#/nowhere"},
            "way": {
                "anyOf": [{"type": "string"}, {"properties": {"token": {"type": "string"}, "x": {"type": "string"}}}]
            },
        },
    }
    value: Any = {
        "auth": {"password": "p", "user": "u"},
        "keys": [{"api_key": "p", "n": 1}],
        "secrets": {"a": "p"},
        "free": {"deep": [{"passwd": "p", "ok": 1}]},
        "way": {"token": "p", "x": "y"},
    }
    root = read_input(schema).root
    assert hidden(root, value, "***") == {
        "auth": {"password": "***", "user": "u"},
        "keys": [{"api_key": "***", "n": 1}],
        "secrets": {"a": "***"},
        "free": {"deep": [{"passwd": "***", "ok": 1}]},
        "way": {"token": "***", "x": "y"},
    }
    assert "p" not in text_of(hidden(root, value, ABSENT)).replace('"', " ").split()


# Schemas as they come, with an instance of each.
keys = st.sampled_from(["a", "b", "c d", "é", "$x", "a.b"])
texts = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\r"), max_size=8)
numbers = st.integers(-(10**20), 10**20) | st.floats(allow_nan=False, allow_infinity=False)
scalars: st.SearchStrategy[Json] = st.none() | st.booleans() | numbers | texts


def around(inner: st.SearchStrategy[Json]) -> st.SearchStrategy[Json]:
    return inner | st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3)


anything = around(around(scalars))
Pair = tuple[dict[str, Any], Any]


def leaf() -> st.SearchStrategy[Pair]:
    plain: list[st.SearchStrategy[Pair]] = [
        st.tuples(st.just({"type": "string"}), texts),
        st.tuples(st.just({"type": "string", "maxLength": 2000}), texts),
        st.tuples(st.just({"type": "integer"}), st.integers(-(10**20), 10**20)),
        st.tuples(st.just({"type": "number"}), numbers),
        st.tuples(st.just({"type": "boolean"}), st.booleans()),
        st.tuples(st.just({"type": "string", "format": "date"}), st.dates().map(str)),
        st.tuples(st.just({"type": "string", "format": "uuid"}), st.uuids().map(str)),
        st.tuples(
            st.just({"enum": ["x", 1, True, 2.5, ["l"], {"k": 1}]}),
            st.sampled_from(["x", 1, True, 2.5, ["l"], {"k": 1}]),
        ),
        st.tuples(
            st.just({"type": "array", "items": {"enum": ["x", "y", "z"]}}), st.lists(st.sampled_from("xyz"), max_size=4)
        ),
        st.tuples(st.just({}), anything),
    ]
    return st.one_of(plain)


@st.composite
def objects(draw: st.DrawFn, inner: st.SearchStrategy[Pair]) -> Pair:
    members = draw(st.dictionaries(keys, inner, min_size=1, max_size=4))
    required = [key for key in members if draw(st.booleans())]
    schema: dict[str, Any] = {
        "type": "object",
        "properties": {key: part for key, (part, _) in members.items()},
        "required": required,
    }
    value = {key: part for key, (_, part) in members.items() if key in required or draw(st.booleans())}
    if draw(st.booleans()):
        schema["additionalProperties"] = {"type": "integer"}
        value |= draw(st.dictionaries(texts.filter(lambda key: key not in members), st.integers(-9, 9), max_size=2))
    return schema, value


@st.composite
def lists(draw: st.DrawFn, inner: st.SearchStrategy[Pair]) -> Pair:
    schema, value = draw(inner)
    return {"type": "array", "items": schema}, [value] * draw(st.integers(0, 3))


@st.composite
def tuples(draw: st.DrawFn, inner: st.SearchStrategy[Pair]) -> Pair:
    found = draw(st.lists(inner, min_size=1, max_size=3))
    return {"type": "array", "prefixItems": [schema for schema, _ in found]}, [value for _, value in found]


@st.composite
def maps(draw: st.DrawFn, inner: st.SearchStrategy[Pair]) -> Pair:
    schema, value = draw(inner)
    return {"type": "object", "additionalProperties": schema}, dict.fromkeys(draw(st.sets(texts, max_size=3)), value)


@st.composite
def unions(draw: st.DrawFn, inner: st.SearchStrategy[Pair]) -> Pair:
    found = draw(st.lists(inner, min_size=2, max_size=3))
    return {"anyOf": [schema for schema, _ in found]}, draw(st.sampled_from([value for _, value in found]))


@st.composite
def nullables(draw: st.DrawFn, inner: st.SearchStrategy[Pair]) -> Pair:
    schema, value = draw(inner)
    return {"anyOf": [schema, {"type": "null"}]}, draw(st.sampled_from([value, None]))


def nested(inner: st.SearchStrategy[Pair]) -> st.SearchStrategy[Pair]:
    return st.one_of(inner, objects(inner), lists(inner), tuples(inner), maps(inner), unions(inner), nullables(inner))


parts = nested(nested(nested(leaf())))


@settings(max_examples=400, deadline=None)
@given(objects(parts))
def test_any_value_of_any_schema_that_is_posted_unchanged_comes_back_as_it_was(pair: Pair) -> None:
    schema, value = pair
    assert check(schema, value) == []
    assert returned(schema, value) == text_of(value)


@settings(max_examples=150, deadline=None)
@given(objects(parts))
def test_a_form_becomes_json_and_json_a_form_without_a_loss(pair: Pair) -> None:
    schema, value = pair
    filling = Filling(schema)
    filling.posted = as_posted(Drawing(json=True).value(filling.spec.root, value))
    filling.press("json f")
    assert filling.value() == value
    filling.press("form f")
    assert text_of(filling.value()) == text_of(value)


@settings(max_examples=150, deadline=None)
@given(objects(parts))
def test_a_fresh_form_of_any_schema_can_be_drawn_and_judged(pair: Pair) -> None:
    filling = Filling(pair[0])
    str(filling.form())
    plainly(filling.form().root)
    filling.form().is_valid()


NUMBERED: Any = {"n": {"type": "integer", "multipleOf": 5}}
STRICT: Any = {
    "type": "object",
    "properties": {
        "shape": {
            "oneOf": [
                {"title": kind, "properties": {"kind": {"const": kind}} | NUMBERED, "required": ["kind"]}
                for kind in ("Circle", "Box")
            ]
        },
        "guests": {"type": "array", "items": GUEST, "minItems": 2, "uniqueItems": True},
        "labels": {
            "type": "object",
            "additionalProperties": {"type": "string", "pattern": "^x"},
            "maxProperties": 1,
            "propertyNames": {"pattern": "^[a-z]+$"},
        },
        "paid": {"type": "boolean"},
        "card": {"type": "string"},
    },
    "if": {"properties": {"paid": {"const": True}}, "required": ["paid"]},
    "then": {"required": ["card"]},
}


def problems(value: Any) -> dict[str, list[str]]:
    """The messages of a form that is filled in with this value, by the labels of where they stand."""
    spec = read_input(STRICT)
    posted = as_posted(Drawing(json=True).value(spec.root, value))
    form = build(spec, prefix="s0", data={f"s0-{n}": v for n, v in posted.items()}, initial=None, zone="UTC")
    assert form.is_valid(), form.errors.get_json_data()
    form.add_problems(check(STRICT, form.value()))
    return {form[name].full_label: [str(each) for each in told] for name, told in form.errors.items()}  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    ("value", "told"),
    [
        ({"shape": {"kind": "Box", "n": 7}}, {"shape › Box › n": ["Enter a multiple of 5."]}),
        ({"paid": True}, {"card": ["card is needed here."]}),
        ({"guests": [{"name": "a"}]}, {"guests": ["Add entries until there are at least 2 (there are 1)."]}),
        ({"guests": [{"name": "a"}] * 2}, {"guests": ["Each entry may come only once."]}),
        (
            {"labels": {"a": "y"}},
            {"labels › Value of labels 1": ["The server wants this to be written in a certain way (pattern ^x)."]},
        ),
        (
            {"labels": {"a": "x", "b": "x"}},
            {"labels": ["Remove entries until there are at most 1 (there are 2)."]},
        ),
        ({"labels": {"A": "x"}}, {"labels": ["The server does not take the name A here."]}),
    ],
)
def test_what_the_final_check_finds_stands_at_the_field_that_can_be_mended(value: Any, told: Any) -> None:
    assert problems(value) == told


def test_unions_without_end_do_not_make_hiding_slow_and_names_still_tell() -> None:
    union: Any = {"anyOf": [{"$ref": "#/$defs/u"}] * 4 + [{"type": "array", "items": {"$ref": "#/$defs/u"}}] * 4}
    root = read_input({"properties": {"a": {"$ref": "#/$defs/u"}, "password": {}}, "$defs": {"u": union}}).root
    began = time.process_time()
    value: Any = {"a": [[[[[[[[{"api_key": "k", "x": 1}]]]]]]]], "password": "p"}
    assert hidden(root, value, "***") == {"a": [[[[[[[[{"api_key": "***", "x": 1}]]]]]]]], "password": "***"}
    assert time.process_time() - began < 2


@pytest.mark.parametrize(("schema", "secret"), [(LINK, True), (PARTY, False)])
def test_json_that_may_hold_a_secret_is_not_kept_by_the_browser(schema: Any, secret: bool) -> None:
    filling = Filling(schema)
    filling.press("json f")
    assert ("data-secret" in str(filling.form())) is secret
