"""What templates make of structured content and of lost posts."""

from typing import Any

from mrtr_web.schema.text import isolated
from mrtr_web.templatetags.mrtr import Fact, Table, names, table, typed_texts


def test_structured_content_is_told_in_words_where_it_has_them() -> None:
    content: dict[str, Any] = {"a": True, "b": "true", "c": ["x", 1], "d": None, "e": [], "f": {"g": False}, "h": 1.5}
    assert list(table(content).facts) == [
        Fact("a", ("Yes",)),
        Fact("b", ("true",)),
        Fact("c", ("x", "1")),
        Fact("d", ("Empty",)),
        Fact("e", ("None",)),
        Fact("f", data='{\n  "g": false\n}'),
        Fact("h", ("1.5",)),
    ]


def test_an_error_that_names_its_field_is_known_by_marks_that_no_server_can_set() -> None:
    assert names(f"Fill in “{isolated('Name')}”.", "Name")
    assert not names("Fill in “Name”.", "Name") and not names(f"Fill in “{isolated('Name')}”.", "People \u203a Name")


def test_content_without_names_has_no_table() -> None:
    assert [table(content) for content in (None, [1, 2], "text")] == [Table()] * 3


def test_of_a_lost_post_only_texts_are_worth_copying() -> None:
    values = {"s0-f0": "Ada", "s0-f1": "2", "s0-f2": "true", "s0-f3": "", "s0-f4": "1815", "s0-f5-fold": "+02:00"}
    posted = [{"name": name, "value": value, "shown": True} for name, value in values.items()]
    posted.append({"name": "flow", "value": "hidden", "shown": False})
    assert [each["value"] for each in typed_texts(posted)] == ["Ada", "1815"]


def test_of_structured_content_as_much_is_shown_as_a_page_can_hold() -> None:
    assert (len(table({f"k{i}": 1 for i in range(60_000)}).facts), table({"k": [1] * 500_000}).more) == (500, 499_500)
    numbers = table({"a": list(range(499)), "b": [1, 2, 3], "c": 1})
    assert [len(fact.words) for fact in numbers.facts] == [499, 1]
    assert numbers.more == 3
    long = table({f"k{i}": "x" * 400_000 for i in range(400)})
    assert sum(fact.length for fact in long.facts) <= 1_100_000
    assert len(long.facts) + long.more == 400
    nested = table({"k": [[1]] * 100_000})
    assert (len(nested.facts[0].data) <= 100_003, nested.more) == (True, 0)
