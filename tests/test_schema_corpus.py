"""Schemas as generators and people write them: each has the fields that were expected, and gives its values back."""

import json
import re
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from mrtr_web.forms import build
from mrtr_web.schema.check import check
from mrtr_web.schema.drawing import Drawing
from mrtr_web.schema.jsontext import write_json
from mrtr_web.schema.places import as_posted, walk
from mrtr_web.schema.read import read_input
from mrtr_web.schema.spec import NESTED, FieldSpec, Kind

CORPUS = {
    path.stem: json.loads(path.read_text()) for path in sorted((Path(__file__).parent / "schemas").glob("*.json"))
}
_STEP = re.compile(r"\[(\d+)\]|<(\d+)>|(\[\])|(\{\*\})|(\{\})")


def at(spec: FieldSpec, place: str) -> FieldSpec:
    """The part that a place of the corpus names."""
    while place:
        if match := _STEP.match(place):
            position, branch, _, rest, _ = match.groups()
            parts, place = spec.parts(), place[match.end() :]
            spec = parts[int(position or branch or 0)] if not rest else next(part for part in parts if part.rest)
        else:
            fitting = [part for part in spec.parts() if place[1:].startswith(part.key) and not part.rest]
            spec = max(fitting, key=lambda part: len(part.key))
            place = place[1 + len(spec.key) :]
    return spec


@pytest.mark.parametrize("name", CORPUS)
def test_each_part_of_a_schema_has_the_field_that_was_expected(name: str) -> None:
    root = read_input(CORPUS[name]["schema"]).root
    expected = CORPUS[name]["kinds"]
    found = {}
    for place in expected:
        try:
            found[place] = str(at(root, place).kind)
        except (ValueError, IndexError, StopIteration):
            found[place] = "nothing"
    assert found == expected


@pytest.mark.parametrize(
    ("name", "number"), [(n, i) for n, entry in CORPUS.items() for i in range(len(entry["instances"]))]
)
def test_a_value_that_is_shown_and_posted_unchanged_comes_back_as_it_was(name: str, number: int) -> None:
    schema, value = CORPUS[name]["schema"], CORPUS[name]["instances"][number]
    assert check(schema, value) == []
    assert returned(schema, value) == text_of(value)


def returned(schema: Any, value: Any) -> str:
    """What a browser sends, as JSON, for a form that was filled in with this value and is posted unchanged."""
    spec = read_input(schema)
    drawn = build(spec, prefix="s0", data=None, initial=value, zone="UTC")
    data = {f"s0-{each}": given for each, given in as_posted(drawn.root).items()}
    bound = build(spec, prefix="s0", data=data, initial=None, zone="UTC")
    assert bound.is_valid(), bound.errors.get_json_data()
    return text_of(bound.value())


def text_of(value: Any) -> str:
    """JSON with sorted keys, as their order means nothing; 1.0 is written as 1, which is the same number."""
    return json.dumps(_numbers(value), sort_keys=True, ensure_ascii=False)


def _numbers(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _numbers(part) for key, part in value.items()}
    if isinstance(value, list):
        return list(map(_numbers, value))
    return int(value) if isinstance(value, float) and value.is_integer() else value


def test_hardly_anything_has_to_be_written_as_json() -> None:
    kinds: Counter[str] = Counter()
    for entry in CORPUS.values():
        kinds.update(entry["kinds"].values())
    leaves = sum(kinds[kind] for kind in Kind if kind not in NESTED)
    assert len(CORPUS) >= 60
    assert kinds["json"] <= leaves * 0.05


@pytest.mark.parametrize("name", CORPUS)
def test_no_value_of_the_corpus_needs_json_where_a_field_was_expected(name: str) -> None:
    root = read_input(CORPUS[name]["schema"]).root
    expected = Counter(kind for kind in CORPUS[name]["kinds"].values() if kind == "json")
    for value in CORPUS[name]["instances"]:
        drawn = Drawing(json=True).value(root, value)
        swapped = [place.name for place in walk(drawn) if place.instead_of]
        assert swapped == [] or expected, write_json(value)
