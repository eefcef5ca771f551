"""What templates make of structured content and of lost posts."""

import json
from typing import Any

from mrtr_web.templatetags.mrtr import Fact, facts, typed_texts


def test_structured_content_is_told_in_words_where_it_has_them() -> None:
    content: dict[str, Any] = {"a": True, "b": "true", "c": ["x", 1], "d": None, "e": [], "f": {"g": False}, "h": 1.5}
    assert facts(json.dumps(content)) == [
        Fact("a", ("Yes",)),
        Fact("b", ("true",)),
        Fact("c", ("x", "1")),
        Fact("d", ("Empty",)),
        Fact("e", ("None",)),
        Fact("f", data='{\n  "g": false\n}'),
        Fact("h", ("1.5",)),
    ]


def test_content_without_names_has_no_table() -> None:
    assert [facts(raw) for raw in ("", "[1, 2]", '"text"')] == [[], [], []]


def test_of_a_lost_post_only_texts_are_worth_copying() -> None:
    values = {"s0-f0": "Ada", "s0-f1": "2", "s0-f2": "true", "s0-f3": "", "s0-f4": "1815", "s0-f5-fold": "+02:00"}
    posted = [{"name": name, "value": value, "shown": True} for name, value in values.items()]
    posted.append({"name": "flow", "value": "hidden", "shown": False})
    assert [each["value"] for each in typed_texts(posted)] == ["Ada", "1815"]
