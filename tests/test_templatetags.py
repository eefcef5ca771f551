"""What templates make of structured content and of lost posts."""

from typing import Any

import pytest
from django.utils import timezone

from mrtr_web.facts import Fact, Table, table
from mrtr_web.schema.text import isolated
from mrtr_web.templatetags.mrtr import marked, names, typed_texts


def test_structured_content_is_told_in_words_where_it_has_them() -> None:
    content: dict[str, Any] = {"a": True, "b": "true", "c": ["x", 1], "d": None, "e": [], "f": {"g": False}, "h": 1.5}
    assert list(table(content).facts) == [
        Fact("A", ("Yes",)),
        Fact("B", ("true",)),
        Fact("C", ("x", "1")),
        Fact("E", ("None",)),
        Fact("F", parts=(Fact("G", ("No",)),)),
        Fact("H", ("1.5",)),
    ]


@pytest.mark.parametrize(
    ("name", "label"),
    [
        ("total_price", "Total price"),
        ("totalPrice", "Total price"),
        ("check-in", "Check in"),
        ("hotelURL", "Hotel URL"),
        ("id", "Id"),
        ("Already good", "Already good"),
        ("總價", "總價"),
        ("<b>", "<b>"),
        ("", ""),
    ],
)
def test_a_name_is_told_as_words(name: str, label: str) -> None:
    assert [fact.name for fact in table({name: 1}).facts] == [label]


def test_titles_and_dates_are_told_as_the_server_has_announced_them() -> None:
    formats = {"day": "date", "at": "date-time", "here": "date-time", "odd": "date", "late": "date-time"}
    properties: dict[str, Any] = {name: {"type": "string", "format": each} for name, each in formats.items()}
    properties["days"] = {"type": "array", "title": "All days", "items": {"type": "string", "format": "date"}}
    properties["sum"] = 5
    content = {
        "day": "2027-06-01",
        "at": "2027-06-01T23:30:00Z",
        "here": "2027-06-01T23:30:00",
        "odd": "soon",
        "late": "9999-12-31T23:59:59Z",
        "days": ["2027-06-01"],
        "sum": "2027-06-01",
    }
    with timezone.override("Europe/Paris"):
        assert [(fact.name, *fact.words) for fact in table(content, {"properties": properties}).facts] == [
            ("Day", "1 Jun 2027"),
            ("At", "2 Jun 2027, 01:30 (CEST)"),
            ("Here", "1 Jun 2027, 23:30"),
            ("Odd", "soon"),
            ("Late", "9999-12-31T23:59:59Z"),
            ("All days", "1 Jun 2027"),
            ("Sum", "2027-06-01"),
        ]
    assert [fact.words for fact in table({"day": "2027-06-01"}, {"properties": 7}).facts] == [("2027-06-01",)]


def test_an_error_that_names_its_field_is_known_by_marks_that_no_server_can_set() -> None:
    assert names(f"Fill in “{isolated('Name')}”.", "Name")
    assert not names("Fill in “Name”.", "Name") and not names(f"Fill in “{isolated('Name')}”.", "People \u203a Name")


def test_a_label_in_an_error_is_marked_and_escaped() -> None:
    assert marked(f"Fill in “{isolated('<a>')}”.") == 'Fill in “<bdi lang="">&lt;a&gt;</bdi>”.'
    assert marked("Choose a file.") == "Choose a file."


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
