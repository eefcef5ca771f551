"""Schemas made to be costly: each is drawn or refused within a tenth of a second or so, and nothing is fetched."""

import socket
import time
from typing import Any

import pytest

from mrtr_web.forms import build
from mrtr_web.schema.check import check
from mrtr_web.schema.read import read_input
from mrtr_web.schema.spec import SchemaFault

GOAL = 0.1
"""Seconds of CPU."""


def deep(levels: int) -> Any:
    schema: Any = {"type": "string"}
    for _ in range(levels):
        schema = {"type": "object", "properties": {"x": schema}, "required": ["x"]}
    return schema


def doubling(keyword: str) -> Any:
    defs: Any = {f"d{n}": {keyword: [{"$ref": f"#/$defs/d{n + 1}"}] * 2} for n in range(24)}
    return {"$ref": "#/$defs/d0", "$defs": defs | {"d24": {"properties": {"a": {"type": "string"}}}}}


def of(part: Any, **defs: Any) -> Any:
    return {"type": "object", "properties": {"a": part}, "required": ["a"], "$defs": defs}


MEMBERS = {f"p{n}": {"type": "string"} for n in range(199)}
ENDLESS = {"properties": {f"k{n}": {"$ref": "#/$defs/n"} for n in range(14)}, "required": [f"k{n}" for n in range(14)]}
NESTED_UNION = {
    "anyOf": [{"type": "array", "items": {"$ref": "#/$defs/n"}}] * 8 + [{"properties": {"z": {"const": 1}}}]
}
MANY = {f"q{n}": {"$ref": "#/$defs/n"} for n in range(200)}
HOSTILE: dict[str, Any] = {
    "20,000 fields": {"properties": {f"p{n}": {} for n in range(20_000)}},
    "8,000 fields": {"properties": {f"p{n}": {"type": "string"} for n in range(8_000)}},
    "1,000 levels": deep(1000),
    "31 levels": deep(31),
    "groups without end": of({"$ref": "#/$defs/n"}, n=ENDLESS),
    "a pattern that backtracks": of({"type": "string", "pattern": "^(a+)+$"}),
    "references to elsewhere": of({"$ref": "http://127.0.0.1:9/x"}) | {"allOf": [{"$ref": "file:///etc/passwd"}]},
    "a reference round": {"$defs": {"a": {"$ref": "#/$defs/b"}, "b": {"$ref": "#/$defs/a"}}, "$ref": "#/$defs/a"},
    "allOf round": {"properties": MANY, "$defs": {"n": {"allOf": [{"$ref": "#/$defs/n"}] * 2}}},
    **{f"{keyword} that doubles": doubling(keyword) for keyword in ("allOf", "anyOf", "oneOf")},
    "allOf of much": {"properties": MANY, "$defs": {"n": {"allOf": [{"properties": MEMBERS}] * 8}}},
    "200 groups of 199": {"properties": MANY, "required": list(MANY), "$defs": {"n": {"properties": MEMBERS}}},
    "a default in a union": of({"$ref": "#/$defs/n", "default": [[[[[[[[["x"]]]]]]]]]}, n=NESTED_UNION),
    "conditions": of({}, n={}) | {"properties": {f"p{n}": {"then": {"properties": MEMBERS}} for n in range(50)}},
    "5,000 names": of({"propertyNames": {"enum": [f"k{n}" for n in range(5_000)]}, "additionalProperties": {}}),
    "3,000 patterns of names": of({"patternProperties": {f"^{n}": {"type": "string"} for n in range(3_000)}}),
    "3,000 branches": of({"anyOf": [{"properties": {f"x{n}": {}}} for n in range(3_000)]}),
    "texts that have to be cleaned": {"properties": {f"p{n}": {"title": "é\u202e" * 200} for n in range(100)}},
}


@pytest.fixture
def no_network(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*args: object, **more: object) -> None:
        raise AssertionError("something is fetched")

    monkeypatch.setattr(socket, "create_connection", refuse)
    monkeypatch.setattr(socket.socket, "connect", refuse)


@pytest.mark.usefixtures("no_network")
@pytest.mark.parametrize("name", HOSTILE)
def test_a_costly_schema_is_drawn_or_refused_at_once(name: str) -> None:
    schema = HOSTILE[name]
    began = time.process_time()
    try:
        drawn = build(read_input(schema), prefix="s0", data=None, initial=None, zone="UTC")
        assert 1 <= len(drawn.fields) <= 400
        assert "<fieldset" in str(drawn) or "<input" in str(drawn) or "<textarea" in str(drawn)
    except SchemaFault as fault:
        assert fault.code in ("schema_size", "schema_depth")
    try:
        check(schema, {"a": "a" * 60 + "!"})
    except SchemaFault as fault:
        assert fault.code.startswith("schema_")
    assert time.process_time() - began < 10 * GOAL
