"""The check of a whole answer: exact, bounded, and never a fetch."""

import resource
import threading
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from time import perf_counter
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mrtr_web.schema.check import Problem, check
from mrtr_web.schema.read import read_elicitation, read_input
from mrtr_web.schema.sentences import SENTENCES
from mrtr_web.schema.spec import SchemaFault


def problems(schema: Any, value: Any) -> list[Problem]:
    found = check(schema, value)
    assert all(SENTENCES[problem.code] % problem.params for problem in found)
    return found


def fault(schema: Any, value: Any = None) -> str:
    with pytest.raises(SchemaFault) as caught:
        check(schema, value)
    return caught.value.code


@pytest.mark.parametrize(
    ("schema", "value", "code", "params"),
    [
        ({"required": ["x"]}, {}, "missing", {"name": "x"}),
        ({"type": ["string", "null"]}, 1, "wrong_type", {"types": "null, string"}),
        ({"minLength": 2}, "😀", "too_short", {"minimum": 2, "length": 1}),
        ({"maxLength": 1}, "abc", "too_long", {"maximum": 1, "length": 3}),
        ({"minimum": 2}, 1, "too_low", {"minimum": 2}),
        ({"maximum": 9007199254740992}, 9007199254740993, "too_high", {"maximum": 9007199254740992}),
        ({"exclusiveMinimum": 2}, 2, "above", {"minimum": 2}),
        ({"exclusiveMaximum": 2}, 2, "below", {"maximum": 2}),
        ({"multipleOf": 2}, 3, "multiple", {"step": 2}),
        ({"enum": [1]}, 2, "not_listed", {}),
        ({"const": 1}, 2, "not_listed", {}),
        ({"pattern": "^a"}, "b", "pattern", {"pattern": "^a"}),
        ({"format": "date"}, "2026-02-31", "format", {"format": "date"}),
        ({"minItems": 1}, [], "too_few", {"minimum": 1, "count": 0}),
        ({"maxItems": 1}, [1, 2], "too_many", {"maximum": 1, "count": 2}),
        ({"uniqueItems": True}, [1, 1.0], "not_unique", {}),
        ({"properties": {"a": {}}, "additionalProperties": False}, {"b": 1}, "unexpected", {"names": "b"}),
        ({"anyOf": [{"type": "string"}, {"type": "null"}]}, 1, "no_variant", {}),
        ({"oneOf": [{}, {}]}, 1, "no_variant", {}),
        ({"not": {}}, 1, "refused_together", {}),
        ({"contains": {"const": 1}}, [2], "no_such_entry", {}),
    ],
)
def test_every_rule_has_its_sentence(schema: Any, value: Any, code: str, params: Any) -> None:
    assert problems(schema, value) == [Problem((), code, params)]


def test_a_problem_says_where_it_is() -> None:
    schema = {"properties": {"items": {"items": {"properties": {"n": {"type": "integer"}}}}}}
    found = problems(schema, {"items": [{"n": 1}, {"n": "1"}]})
    assert found == [Problem(("items", 1, "n"), "wrong_type", {"types": "integer"})]


def test_a_good_answer_has_no_problem() -> None:
    schema = {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}
    assert problems(schema, {"n": 10**400}) == []
    assert problems(schema, {"n": 10}) == []


def test_at_most_twenty_problems_are_listed() -> None:
    assert len(problems({"items": {"type": "string"}}, list(range(500)))) == 20


@pytest.mark.parametrize(
    ("format_name", "value"),
    [
        ("email", "ü@exämple.com"),
        ("uri", "https://exämple.org"),
        ("ipv4", "x"),
        ("uuid", "x"),
        ("int32", "x"),
    ],
)
def test_formats_are_as_soft_as_the_fields(format_name: str, value: str) -> None:
    assert problems({"format": format_name}, value) == []


def test_s22_pattern_cannot_freeze_us() -> None:
    start = perf_counter()
    found = problems({"type": "string", "pattern": "^(a+)+$"}, "a" * 50_000 + "!")
    assert perf_counter() - start < 0.1
    assert [problem.code for problem in found] == ["pattern"]


@pytest.mark.parametrize("pattern", [r"(a)\1", "^(?!x)a", "(", "(a{1000}){1000}"])
def test_pattern_that_a_linear_engine_cannot_run_is_left_to_the_server(pattern: str) -> None:
    schema = {"properties": {"p": {"type": "string", "pattern": pattern, "maxLength": 1}}}
    assert problems(schema, {"p": "xx"}) == [Problem(("p",), "too_long", {"maximum": 1, "length": 2})]


def test_s10_references_are_never_fetched(tmp_path: Path) -> None:
    asked: list[str] = []

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            asked.append(self.path)
            self.send_error(404)

    with HTTPServer(("127.0.0.1", 0), Handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        assert fault({"$ref": f"http://127.0.0.1:{server.server_port}/s.json"}) == "schema_broken"
        server.shutdown()
    assert asked == []
    file = tmp_path / "s.json"
    file.write_text("{}")
    assert fault({"properties": {"a": {"$ref": file.as_uri()}}}) == "schema_broken"


def test_dangling_reference_is_a_fault_not_a_crash() -> None:
    assert fault({"$ref": "#/$defs/none"}) == "schema_broken"


@pytest.mark.parametrize("part", [{"type": "Date"}, {"minLength": "x"}, {"enum": 3}, 5, {"properties": []}])
def test_s15_illegal_keyword_is_left_out_and_the_rest_is_checked(part: Any) -> None:
    schema = {"properties": {"odd": part, "n": {"type": "integer"}}}
    assert problems(schema, {"odd": "x", "n": "x"}) == [Problem(("n",), "wrong_type", {"types": "integer"})]


def test_illegal_keywords_without_end_are_a_fault() -> None:
    assert fault({"properties": {f"p{i}": {"type": "Date"} for i in range(60)}}, {}) == "schema_broken"


def test_the_schema_is_not_changed_by_the_check() -> None:
    schema = {"properties": {"a": {"type": "Date"}}}
    check(schema, {"a": 1})
    assert schema == {"properties": {"a": {"type": "Date"}}}


def test_recursive_schema_is_checked() -> None:
    schema = {"properties": {"next": {"$ref": "#"}, "n": {"type": "integer"}}}
    assert [p.path for p in problems(schema, {"next": {"next": {"n": "x"}}})] == [("next", "next", "n")]


def doubling(levels: int) -> Any:
    defs: dict[str, Any] = {f"d{i}": {"allOf": [{"$ref": f"#/$defs/d{i + 1}"}] * 2} for i in range(levels)}
    return {"$defs": defs | {f"d{levels}": {"type": "string"}}, "$ref": "#/$defs/d0"}


def tangle(size: int) -> Any:
    defs = {f"d{i}": {"allOf": [{"$ref": f"#/$defs/d{k}"} for k in range(size) if k != i]} for i in range(size)}
    return {"$defs": defs, "$ref": "#/$defs/d0"}


@pytest.mark.parametrize(
    ("schema", "value"),
    [
        (doubling(60), "x"),
        (tangle(9), "x"),
        ({"$ref": "#"}, 1),
        ({"allOf": [{"properties": {"a": {"$ref": "#"}}}] * 2}, "nested"),
        (
            {
                "$defs": {f"d{i}": {"$ref": f"#/$defs/d{i + 1}"} for i in range(5000)} | {"d5000": {}},
                "$ref": "#/$defs/d0",
            },
            1,
        ),
        ({"$defs": {"a": {"$anchor": "a"}}, "$ref": "#a"}, 1),
    ],
)
def test_schema_that_would_take_hours_is_a_fault(schema: Any, value: Any) -> None:
    if value == "nested":
        for _ in range(31):
            value = {"a": value}
    start = perf_counter()
    assert fault(schema, value) == "schema_costly"
    assert perf_counter() - start < 1


def test_patterns_without_end_are_a_fault() -> None:
    many = {f"p{i}": {"pattern": "(a{200}){100}"} for i in range(201)}
    start = perf_counter()
    assert fault({"properties": many}, {}) == "schema_costly"
    assert perf_counter() - start < 1


def test_doubling_within_reason_is_checked() -> None:
    assert problems(doubling(8), "x") == []


def test_property_named_like_a_keyword_is_no_keyword() -> None:
    schema = {"properties": {"$ref": {"type": "string"}, "allOf": {"type": "string"}}}
    assert problems(schema, {"$ref": "x", "allOf": "y"}) == []


@pytest.mark.parametrize(
    ("dialect", "code"),
    [
        ("https://json-schema.org/draft/2020-12/schema", ""),
        ("http://json-schema.org/draft-07/schema#", ""),
        ("https://example.org/own", "schema_dialect"),
    ],
)
def test_fm6_dialect_is_honoured_or_refused(dialect: str, code: str) -> None:
    schema = {"$schema": dialect, "type": "string"}
    if code:
        assert fault(schema, "x") == code
    else:
        assert problems(schema, "x") == []


def test_too_large_schema_is_refused_before_anything_else() -> None:
    assert fault({"description": "x" * 300_000}) == "schema_size"


KEYWORDS = (
    "type title description default required properties items enum enumNames const oneOf anyOf allOf not if "
    "format minLength maxLength minimum maximum minItems maxItems pattern patternProperties "
    "additionalProperties $ref $defs $schema a b"
)
JUNK = st.recursive(
    st.sampled_from([None, True, False, 0, -1, 1.5, 10**30, "", "string", "array", "object", "null", "a", "#/$defs/a"]),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.sampled_from(KEYWORDS.split()), inner, max_size=5),
    max_leaves=30,
)


@given(JUNK, JUNK, JUNK)
def test_any_junk_is_read_and_checked_or_refused_by_code(properties: Any, rest: Any, value: Any) -> None:
    schema = (rest if isinstance(rest, dict) else {}) | {"properties": properties}
    for use in (read_elicitation, read_input, lambda schema: problems(schema, value)):
        try:
            use(schema)
        except SchemaFault as error:
            assert SENTENCES[error.code] % error.params


def test_broken_text_is_a_problem() -> None:
    assert problems({"type": "string"}, "\ud800") == [Problem((), "text_broken")]
    assert fault({"enum": ["\ud800"]}, "x") == "schema_broken"


PANIC = {"$defs": {"a": {"$id": "a", "$anchor": "q"}, "b": {"$id": "a"}}, "$ref": "a#q"}


@pytest.mark.parametrize("schema", [PANIC, {"propertyNames": PANIC}, {"properties": {"a": PANIC}}])
def test_a_schema_that_the_engine_panics_at_is_left_to_the_server(schema: Any) -> None:
    assert fault(schema, {"a": 1}) in ("schema_broken", "schema_costly")


def test_what_ends_the_process_is_not_taken_for_a_panic(monkeypatch: pytest.MonkeyPatch) -> None:
    def stop(schema: Any) -> Any:
        raise KeyboardInterrupt

    monkeypatch.setattr("mrtr_web.schema.check._compiled", stop)
    with pytest.raises(KeyboardInterrupt):
        check({}, 1)


def unevaluated(levels: int) -> Any:
    schema: Any = {"properties": {"a": {}}}
    for _ in range(levels):
        schema = {"allOf": [schema], "unevaluatedProperties": {"type": "integer"}}
    return schema


LONG_KEY = "k" * 1_000_000
HOSTILE: dict[str, tuple[Any, Any]] = {
    "choices": ({"items": {"enum": list(range(5000))}}, [5001] * 5000),
    "branches": ({"items": {"anyOf": [{"minimum": i} for i in range(500)]}}, [-1] * 2000),
    "few branches": ({"items": {"anyOf": [{"minimum": i} for i in range(50)]}}, [-1] * 700),
    "branches within branches": (
        {"anyOf": [{"anyOf": [{"anyOf": [{"items": {"type": "string"}}] * 10}] * 10}] * 10},
        [1] * 30,
    ),
    "a long const": ({"items": {"const": "a" * 200_000}}, ["b"] * 1000),
    "many wrong": ({"items": {"type": "string"}}, list(range(20_000))),
    "very many wrong": ({"items": {"type": "string"}}, [0] * 2_000_000),
    "a large value again and again": ({"allOf": [{"type": "string"}] * 5000}, ["a"] * 50_000),
    "many missing": ({"required": [f"a{i}" for i in range(18_000)]}, {f"b{i}": 1 for i in range(50_000)}),
    "missing in each": ({"items": {"required": [f"a{i}" for i in range(18_000)]}}, [{} for _ in range(5000)]),
    "a long key": ({"additionalProperties": {"items": {"type": "string"}}}, {LONG_KEY: list(range(1000))}),
    "a long reference": (
        {"$defs": {"k" * 100_000: {"type": "string"}}, "items": {"$ref": "#/$defs/" + "k" * 100_000}},
        list(range(1000)),
    ),
    "different large numbers": ({"uniqueItems": True}, [10**100 + i for i in range(20_000)]),
    "large numbers": ({"items": {"minimum": 10**4000}}, [10**4000 + i for i in range(1000)]),
    "large numbers and a float": ({"items": {"minimum": 1e300}}, [10**30 + i for i in range(20_000)]),
    "tiny steps": ({"items": {"multipleOf": 1e-300}}, [10**4000 + i for i in range(200)]),
    "unevaluated properties": (unevaluated(18), {"a": 1}),
    "unevaluated items": (
        {"allOf": [{"prefixItems": [{}]} for _ in range(3000)], "unevaluatedItems": False},
        [1] * 3000,
    ),
    "counted repetitions": ({"pattern": "a{0,2000}a{2000}c"}, "a" * 1_000_000),
    "patterns of names": (
        {"items": {"patternProperties": {f"x{i}": {} for i in range(200)}}},
        [{"x": 1} for _ in range(40_000)],
    ),
    "junk": ({"items": {f"x{i}": 1 for i in range(15_000)}}, [0] * 90_000),
    "a reference past a name of its own": (
        {"$defs": {"bomb": True, "e": {"$id": "e", "$defs": {"bomb": doubling(60)}, "$ref": "#/$defs/bomb"}}}
        | {"$ref": "#/$defs/e"},
        1,
    ),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_no_schema_takes_long_or_much_memory(name: str) -> None:
    schema, value = HOSTILE[name]
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    start = perf_counter()
    try:
        problems(schema, value)
    except SchemaFault as error:
        assert error.code in ("schema_costly", "schema_broken")
    assert perf_counter() - start < 2  # half a second where nothing else runs
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 100 * 1024


def test_what_is_too_much_to_tell_is_one_problem() -> None:
    schema, value = HOSTILE["choices"]
    assert problems(schema, value) == [Problem((), "mismatch")]


def test_a_large_form_has_every_problem_at_its_field() -> None:
    fields: dict[str, Any] = {f"f{i}": {"type": "string", "pattern": "^[a-z]{1,64}$"} for i in range(199)}
    fields["choice"] = {"enum": [f"choice {i}" for i in range(5000)]}
    schema = {"type": "object", "properties": fields, "required": list(fields), "additionalProperties": False}
    good = dict.fromkeys(fields, "abc") | {"choice": "choice 7"}
    assert problems(schema, good) == []
    assert problems(schema, good | {"choice": "no"}) == [Problem(("choice",), "not_listed", {})]
    assert {problem.path for problem in problems(schema, dict.fromkeys(fields, "1"))} <= {(name,) for name in fields}


def test_a_form_with_a_file_has_every_problem_at_its_field() -> None:
    fields: dict[str, Any] = {f"f{i}": {"type": "string", "maxLength": 3} for i in range(20)}
    fields["photo"] = {"type": "string", "contentEncoding": "base64", "contentMediaType": "image/png"}
    schema = {"type": "object", "properties": fields, "required": list(fields)}
    value = dict.fromkeys(fields, "abc") | {"photo": "A" * 1_400_000, "f7": "long"}
    assert [problem.path for problem in problems(schema, value)] == [("f7",)]
