"""From what is typed to exact JSON and back. F.. and S.. are faults that other hosts had."""

import sys
from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mrtr_web.schema.dates import offsets, zones
from mrtr_web.schema.hints import hints
from mrtr_web.schema.invalid import Invalid
from mrtr_web.schema.jsontext import same
from mrtr_web.schema.parse import fits, parse, shown
from mrtr_web.schema.sentences import SENTENCES
from mrtr_web.schema.spec import ABSENT, NESTED, FieldSpec, Kind, Option, Typed
from mrtr_web.schema.text import clean_text


def spec(kind: Kind, **more: Any) -> FieldSpec:
    return FieldSpec("p", kind, "p", **more)


def required(kind: Kind, **more: Any) -> FieldSpec:
    return spec(kind, required=True, **more)


def value_of(field: FieldSpec, typed: Typed) -> Any:
    value = parse(field, typed)
    assert value is not ABSENT
    return value


def refused(field: FieldSpec, typed: str | Typed) -> tuple[str, dict[str, object]]:
    with pytest.raises(Invalid) as caught:
        parse(field, typed if isinstance(typed, Typed) else Typed(typed))
    assert SENTENCES[caught.value.code] % {"label": field.title, **caught.value.params}
    return caught.value.code, caught.value.params


ASKED = sorted(set(Kind) - NESTED - {Kind.FIXED})
ABC = tuple(Option(value, value.upper()) for value in "abc")


@pytest.mark.parametrize("kind", ASKED)
def test_s01_s02_f08_f10_optional_field_left_empty_is_absent(kind: Kind) -> None:
    assert parse(spec(kind, options=ABC, min_items=1, min_length=2), Typed()) is ABSENT


@pytest.mark.parametrize("kind", [Kind.TEXT, Kind.LONG_TEXT])
def test_s03_required_text_is_sent_empty_when_that_is_meant(kind: Kind) -> None:
    assert parse(required(kind), Typed(blank=True)) == ""
    assert refused(required(kind), Typed()) == ("required_or_blank", {})
    assert refused(required(kind, min_length=1), Typed(blank=True)) == ("required", {})
    assert parse(required(kind, nullable=True), Typed()) is None


@pytest.mark.parametrize("kind", [Kind.EMAIL, Kind.URI, Kind.DATE, Kind.DATE_TIME, Kind.INTEGER, Kind.JSON])
def test_required_field_left_empty_is_asked_for(kind: Kind) -> None:
    assert refused(required(kind, min_length=1), "") == ("required", {})


def test_optional_text_is_sent_empty_only_on_purpose() -> None:
    assert parse(spec(Kind.TEXT), Typed(blank=True)) == ""
    assert parse(spec(Kind.TEXT), Typed("x", blank=True)) == "x"
    assert parse(spec(Kind.TEXT, min_length=1), Typed(blank=True)) is ABSENT


@pytest.mark.parametrize("kind", ASKED)
def test_required_field_that_may_be_null_sends_null_when_left_empty(kind: Kind) -> None:
    assert parse(required(kind, nullable=True, options=ABC), Typed()) is None
    assert shown(required(kind, nullable=True, options=ABC), None) == Typed()


def test_s04_the_word_null_is_a_text() -> None:
    assert parse(spec(Kind.TEXT, nullable=True), Typed("null")) == "null"


@pytest.mark.parametrize("text", [" Ada ", "\tx\n", "0", "null", " ", "\u00a0", "%s {x}"])
def test_f31_text_is_sent_as_typed(text: str) -> None:
    assert parse(required(Kind.TEXT), Typed(text)) == text


def test_line_breaks_of_a_browser_become_lf() -> None:
    assert parse(required(Kind.LONG_TEXT, max_length=4), Typed("\r\na\r\nb")) == "\na\nb"


def test_f31_lengths_count_code_points() -> None:
    family = "\U0001f469\u200d\U0001f469\u200d\U0001f467"  # 5 code points, 8 units of UTF-16
    assert parse(spec(Kind.TEXT, max_length=5), Typed(family)) == family
    assert refused(spec(Kind.TEXT, max_length=4), family) == ("too_long", {"maximum": 4, "length": 5})
    assert refused(spec(Kind.TEXT, min_length=6), family) == ("too_short", {"minimum": 6, "length": 5})


def test_half_a_character_is_refused() -> None:
    assert refused(spec(Kind.TEXT), "\ud800") == ("text_broken", {})


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("10.0", 10),
        ("+5", 5),
        ("-0", 0),
        ("007", 7),
        ("1e3", 1000),
        ("90071992547409910", 90071992547409910),
        ("9" * 4300, int("9" * 4300)),
    ],
)
def test_f15_f17_integers_are_exact(text: str, value: int) -> None:
    given_back = parse(spec(Kind.INTEGER), Typed(text))
    assert given_back == value
    assert type(given_back) is int


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("42xyz", "integer"),
        ("12.5abc", "integer"),
        ("1.5", "integer"),
        ("٣", "integer"),
        ("３", "integer"),
        ("1_000", "integer"),
        ("0x10", "integer"),
        ("\u22125", "integer"),
        ("--1", "integer"),
        ("e3", "integer"),
        (".", "integer"),
        ("NaN", "integer"),
        ("Infinity", "integer"),
        ("1,5", "number_comma"),
        ("1,000", "number_comma"),
        ("1 000", "number_spaces"),
        ("9" * 4301, "number_long"),
        ("1e4300", "number_long"),
        ("1e999999", "number_long"),
        ("1e9999999", "integer"),
        ("1e-999999", "integer"),
    ],
)
def test_f13_what_is_no_whole_number_is_refused_whole(text: str, code: str) -> None:
    assert refused(spec(Kind.INTEGER), text)[0] == code


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("1.5", 1.5),
        ("1.50", 1.5),
        ("-0.5", -0.5),
        (".5", 0.5),
        ("1e3", 1000.0),
        ("0.1", 0.1),
        ("10", 10),
        ("90071992547409910", 90071992547409910),
        ("1.7976931348623157e308", 1.7976931348623157e308),
        ("5e-324", 5e-324),
    ],
)
def test_f16_numbers_are_exact(text: str, value: float) -> None:
    given_back = parse(spec(Kind.NUMBER), Typed(text))
    assert given_back == value
    assert type(given_back) is type(value)


@pytest.mark.parametrize(
    ("text", "refusal"),
    [
        ("0.1000000000000000055511151231257827", ("number_inexact", {"nearest": "0.1"})),
        ("9007199254740993.0", ("number_inexact", {"nearest": "9007199254740992.0"})),
        ("1e400", ("number_huge", {})),
        ("1e-400", ("number_huge", {})),
        ("1,5", ("number_comma", {})),
        ("12.5abc", ("number", {})),
        ("nan", ("number", {})),
        ("-Infinity", ("number", {})),
    ],
)
def test_number_that_cannot_be_sent_exactly_is_refused(text: str, refusal: Any) -> None:
    assert refused(spec(Kind.NUMBER), text) == refusal


def test_bounds_are_inclusive_and_exact() -> None:
    field = spec(Kind.INTEGER, minimum=-1, maximum=9007199254740993)
    assert parse(field, Typed("9007199254740993")) == 9007199254740993
    assert refused(field, "9007199254740994") == ("too_high", {"maximum": 9007199254740993})
    assert refused(field, "-2") == ("too_low", {"minimum": -1})


@pytest.mark.parametrize("text", ["2026-02-31", "2026-13-01", "0000-01-01", "26-1-1", "2026-01-01 ", "٢٠٢٦-01-01"])
def test_f19_date_that_does_not_exist_is_refused(text: str) -> None:
    assert refused(spec(Kind.DATE), text) == ("date", {})


def test_real_date_is_sent_as_typed() -> None:
    assert parse(spec(Kind.DATE), Typed("2028-02-29")) == "2028-02-29"


@pytest.mark.parametrize(
    ("typed", "value"),
    [
        (Typed("2026-01-02T03:04", zone="Asia/Kolkata"), "2026-01-02T03:04:00+05:30"),
        (Typed("2026-01-02 03:04:05", zone="America/New_York"), "2026-01-02T03:04:05-05:00"),
        (Typed("2026-07-02T03:04:05.250", zone="Europe/London"), "2026-07-02T03:04:05.250+01:00"),
        (Typed("2026-01-02T03:04", zone="Europe/London"), "2026-01-02T03:04:00+00:00"),
        (Typed("2026-01-02T03:04", zone="UTC"), "2026-01-02T03:04:00Z"),
        (Typed("0001-06-01T00:00", zone="UTC"), "0001-06-01T00:00:00Z"),
        (Typed("1800-01-01T00:00", zone="Europe/Berlin"), "1799-12-31T23:06:32Z"),
        (Typed("2026-10-25T02:30", zone="Europe/Berlin", fold="+02:00"), "2026-10-25T02:30:00+02:00"),
        (Typed("2026-10-25T02:30", zone="Europe/Berlin", fold="+01:00"), "2026-10-25T02:30:00+01:00"),
        (Typed("2026-10-26T02:30", zone="Europe/Berlin", fold="+02:00"), "2026-10-26T02:30:00+01:00"),
    ],
)
def test_f18_local_time_gets_the_offset_of_its_zone(typed: Typed, value: str) -> None:
    assert parse(spec(Kind.DATE_TIME), typed) == value


@pytest.mark.parametrize(
    "text",
    [
        "2026-01-02T03:04:05Z",
        "2026-01-02t03:04:05.5+05:30",
        "1998-12-31T23:59:60Z",
        "1999-01-01T00:59:60+01:00",
    ],
)
def test_time_with_its_own_offset_is_sent_as_typed(text: str) -> None:
    assert parse(spec(Kind.DATE_TIME), Typed(text, zone="Asia/Kolkata")) == text


def test_f18_time_that_the_clocks_skip_is_refused() -> None:
    typed = Typed("2026-03-29T02:30", zone="Europe/Berlin")
    assert refused(spec(Kind.DATE_TIME), typed) == ("time_skipped", {"zone": "Europe/Berlin"})


@pytest.mark.parametrize("fold", ["", "+03:00", "x"])
def test_f18_time_that_comes_twice_is_asked_back(fold: str) -> None:
    typed = Typed("2026-10-25T02:30", zone="Europe/Berlin", fold=fold)
    assert refused(spec(Kind.DATE_TIME), typed) == ("time_twice", {"zone": "Europe/Berlin"})
    assert offsets(typed.text, typed.zone) == ("+02:00", "+01:00")
    assert offsets("2026-10-26T02:30", "Europe/Berlin") == ()


@pytest.mark.parametrize(
    ("text", "zone", "code"),
    [
        ("2026-02-31T00:00", "UTC", "date_time"),
        ("0000-01-01T00:00", "UTC", "date_time"),
        ("0000-01-01T00:00:00Z", "UTC", "date_time"),
        ("2026-01-01T24:00", "UTC", "date_time"),
        ("2026-01-01T12:00:60", "UTC", "date_time"),
        ("2026-01-01T12:00:60Z", "UTC", "date_time"),
        ("2026-01-01T12:00+01:00", "UTC", "date_time"),
        ("2026-01-01T12:00:00+24:00", "UTC", "date_time"),
        ("2026-01-01", "UTC", "date_time"),
        ("tomorrow", "UTC", "date_time"),
        ("0001-01-01T00:00", "Asia/Tokyo", "date_time"),
        ("9999-12-31T23:59", "America/New_York", "date_time"),
        ("2026-01-01T12:00", "", "zone_unknown"),
        ("2026-01-01T12:00", "../../etc/passwd", "zone_unknown"),
        ("2026-01-01T12:00", "America", "zone_unknown"),
    ],
)
def test_f19_time_that_does_not_exist_is_refused(text: str, zone: str, code: str) -> None:
    assert refused(spec(Kind.DATE_TIME), Typed(text, zone=zone))[0] == code


@pytest.mark.parametrize("text", ["a@b", "ü@exämple.com", "a+b@c.d"])
def test_email_is_a_soft_check(text: str) -> None:
    assert parse(spec(Kind.EMAIL), Typed(text)) == text


@pytest.mark.parametrize("text", ["a", "@b", "a@", "a@b@c", " a@b", "a@b "])
def test_what_is_no_email_address_is_refused(text: str) -> None:
    assert refused(spec(Kind.EMAIL), text) == ("email", {})


def test_uri_needs_a_scheme() -> None:
    assert parse(spec(Kind.URI), Typed("urn:isbn:1")) == "urn:isbn:1"
    assert parse(spec(Kind.URI), Typed("https://exämple.org/a?b#c")) == "https://exämple.org/a?b#c"
    for text in ("example.org", "//example.org", "https:", "https://a b", "1a:b"):
        assert refused(spec(Kind.URI), text) == ("uri", {})


def test_f06_f08_boolean_has_three_states() -> None:
    assert parse(spec(Kind.BOOLEAN), Typed("")) is ABSENT
    assert parse(spec(Kind.BOOLEAN), Typed("false")) is False
    assert parse(spec(Kind.BOOLEAN), Typed("true")) is True
    assert refused(required(Kind.BOOLEAN), "") == ("choose_yes_no", {})
    assert refused(spec(Kind.BOOLEAN), "on") == ("choose_yes_no", {})


@pytest.mark.parametrize("index", ["3", "-1", "x", "a", "٠", "0 ", "9" * 9])
def test_choice_is_by_index_only(index: str) -> None:
    assert refused(spec(Kind.CHOICE, options=ABC), index) == ("choose_listed", {})
    assert refused(spec(Kind.CHOICES, options=ABC), Typed(chosen=(index,))) == ("choose_listed", {})


def test_s20_empty_option_can_be_chosen() -> None:
    field = spec(Kind.CHOICE, options=(Option("", "None"), Option("a", "A")))
    assert parse(field, Typed("0")) == ""
    assert refused(required(Kind.CHOICE, options=ABC), "") == ("choose_one", {})


def test_f30_optional_multi_select_left_empty_is_absent_although_one_is_needed() -> None:
    assert parse(spec(Kind.CHOICES, options=ABC, min_items=1), Typed()) is ABSENT


def test_required_multi_select_left_empty_is_an_empty_list() -> None:
    assert parse(required(Kind.CHOICES, options=ABC), Typed()) == []
    assert refused(required(Kind.CHOICES, options=ABC, min_items=1), "")[0] == "too_few"


def test_f02_multi_select_counts_what_is_chosen() -> None:
    field = spec(Kind.CHOICES, options=ABC, min_items=2, max_items=2)
    assert parse(field, Typed(chosen=("0", "2", "0"))) == ["a", "c"]
    assert refused(field, Typed(chosen=("1", "1"))) == ("too_few", {"minimum": 2, "count": 1})
    assert refused(field, Typed(chosen=("0", "1", "2"))) == ("too_many", {"maximum": 2, "count": 3})


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ('"x"', "x"),
        ("null", None),
        (' {"b": [1, 1.5, true],\r\n "a": "\\u00e9"} ', {"b": [1, 1.5, True], "a": "é"}),
        ("90071992547409910", 90071992547409910),
    ],
)
def test_json_is_read_exactly(text: str, value: Any) -> None:
    assert same(value_of(spec(Kind.JSON), Typed(text)), value)


@pytest.mark.parametrize(
    ("text", "refusal"),
    [
        ('{"a": 1,}', ("json", {"line": 1, "column": 9})),
        ("[1,\n2", ("json", {"line": 2, "column": 2})),
        ("x", ("json", {"line": 1, "column": 1})),
        (" ", ("json", {"line": 1, "column": 2})),
        ("NaN", ("json_number", {})),
        ('{"a": 1, "a": 2}', ("json_twice", {"name": "a"})),
        ("[" * 33 + "]" * 33, ("json_deep", {"maximum": 32})),
        ("[" * 99_999, ("json_deep", {"maximum": 32})),
        ('"\\ud800"', ("text_broken", {})),
        ("0.1000000000000000055511151231257827", ("number_inexact", {"nearest": "0.1"})),
        ("9" * 4301, ("number_long", {"maximum": 4300})),
        ("1e999", ("number_huge", {})),
    ],
)
def test_s07_s08_broken_json_is_refused(text: str, refusal: Any) -> None:
    assert refused(spec(Kind.JSON), text) == refusal


def test_json_of_the_wrong_type_is_refused_in_words() -> None:
    assert refused(spec(Kind.JSON, json_type="object"), "[]")[0] == "json_object"
    assert refused(spec(Kind.JSON, json_type="array"), "{}")[0] == "json_array"
    assert parse(spec(Kind.JSON, json_type="array", nullable=True), Typed("null")) is None


@pytest.mark.parametrize("kind", ASKED)
def test_value_of_another_type_is_not_shown(kind: Kind) -> None:
    strange: list[Any] = [{"a": object()}, [[]], None, b"x"]
    for value in strange:
        assert fits(spec(kind, options=ABC), value) is (kind is Kind.JSON and value in ([[]], None))


texts = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\r"))
numbers = st.integers() | st.floats(allow_nan=False, allow_infinity=False)
jsons = st.recursive(
    st.none() | st.booleans() | numbers | texts,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(texts, inner, max_size=4),
    max_leaves=12,
)


def comes_back(field: FieldSpec, value: Any) -> None:
    assert same(value_of(field, shown(field, value)), value)


@given(texts, st.booleans(), st.sampled_from([Kind.TEXT, Kind.LONG_TEXT]))
def test_every_text_comes_back(value: str, needed: bool, kind: Kind) -> None:
    comes_back(spec(kind, required=needed), value)


@given(numbers)
def test_every_number_comes_back(value: float) -> None:
    comes_back(spec(Kind.NUMBER), value)


@given(st.integers() | st.integers().map(lambda n: float(n % 10**15)))
def test_every_integer_comes_back(value: float) -> None:
    comes_back(spec(Kind.INTEGER), value)


@given(st.booleans())
def test_every_boolean_comes_back(value: bool) -> None:
    comes_back(spec(Kind.BOOLEAN), value)


@given(st.dates())
def test_every_date_comes_back(value: Any) -> None:
    comes_back(spec(Kind.DATE), value.isoformat())


@given(st.datetimes(min_value=datetime(2, 1, 1), max_value=datetime(9998, 1, 1)), st.sampled_from(zones()))
def test_every_local_time_is_refused_or_means_the_same_moment(local: datetime, zone: str) -> None:
    text = local.isoformat()
    try:
        value = parse(spec(Kind.DATE_TIME), Typed(text, zone=zone))
    except Invalid as error:
        assert error.code in ("time_skipped", "time_twice")
        return
    assert isinstance(value, str)
    comes_back(spec(Kind.DATE_TIME), value)
    if value.endswith("Z"):
        assert zone == "UTC" or local.year < 1980
    else:
        assert value.startswith(text[:16])
        assert datetime.fromisoformat(value).astimezone(UTC).tzinfo is UTC


@given(st.lists(st.sampled_from("abc"), unique=True))
def test_every_choice_comes_back(values: list[str]) -> None:
    comes_back(spec(Kind.CHOICES, options=ABC), values)
    for value in values:
        comes_back(spec(Kind.CHOICE, options=ABC), value)


@given(jsons)
def test_every_json_comes_back(value: Any) -> None:
    comes_back(spec(Kind.JSON), value)


@given(st.sampled_from(ASKED), st.text() | st.text('0123456789+-.,eE:TZ []{}"\n'), st.booleans())
def test_any_text_is_a_value_or_a_sentence(kind: Kind, text: str, needed: bool) -> None:
    field = spec(kind, required=needed, options=ABC)
    try:
        value = parse(field, Typed(text, chosen=tuple(text), zone="Europe/Berlin"))
    except Invalid as error:
        assert SENTENCES[error.code] % {"label": field.title, **error.params}
    else:
        assert value is ABSENT or fits(field, value) or "\r" in text


@pytest.mark.parametrize(
    ("field", "codes"),
    [
        (spec(Kind.TEXT), []),
        (spec(Kind.TEXT, min_length=1), []),
        (spec(Kind.TEXT, min_length=2), ["hint_length_from"]),
        (spec(Kind.TEXT, min_length=2, max_length=3), ["hint_length_between"]),
        (spec(Kind.INTEGER, minimum=0), ["hint_number_from"]),
        (spec(Kind.CHOICES, max_items=3), ["hint_count_to"]),
        (spec(Kind.JSON), ["hint_json"]),
        (spec(Kind.JSON, json_type="array"), ["json_array"]),
        (spec(Kind.DATE), []),
    ],
)
def test_what_is_asked_is_said_before(field: FieldSpec, codes: list[str]) -> None:
    assert [code for code, _ in hints(field)] == codes
    assert all(SENTENCES[code] % params for code, params in hints(field))


@pytest.mark.parametrize(
    ("text", "shown_as"),
    [
        ("a\u202eb", "a\ufffdb"),
        ("a\u2066b\u2069", "a\ufffdb\ufffd"),
        ("a\u200bb\ufeff", "a\ufffdb\ufffd"),
        ("a\u200db", "a\ufffdb"),
        ("\u200d", "\ufffd"),
        ("a\x00b\x1b[31m\x7f\x85", "a\u2400b\u241b[31m\u2421\ufffd"),
        ("\ud800", "\ufffd"),
        ("a\r\nb\rc\u2028d\te", "a\nb\nc\nd e"),
        (
            "\U0001f469\u200d\U0001f467 \u0645\u06cc\u200c\u062e",
            "\U0001f469\u200d\U0001f467 \u0645\u06cc\u200c\u062e",
        ),
        ("na\u00efve \u05e9\u05dc\u05d5\u05dd e\u0301", "na\u00efve \u05e9\u05dc\u05d5\u05dd e\u0301"),
        ("\u3164\u00ad\U000e0041", "\ufffd\ufffd\ufffd"),
    ],
)
def test_f23_what_hides_or_reorders_is_made_visible(text: str, shown_as: str) -> None:
    assert clean_text(text) == shown_as


def test_f23_long_text_is_cut_and_says_so() -> None:
    assert clean_text("x" * 5000, 10) == "x" * 9 + "…"
    assert clean_text("x" * 10, 10) == "x" * 10
    assert clean_text("\r\n" * 10, 10) == "\n" * 10


def test_long_text_is_cleaned_without_a_look_at_each_character() -> None:
    calls = 0

    def count(*_: object) -> None:
        nonlocal calls
        calls += 1

    sys.setprofile(count)
    try:
        shown = clean_text("{\n\t" + "s" * 50_000 + "\x7f\n}")
    finally:
        sys.setprofile(None)
    assert shown == "{\n " + "s" * 50_000 + "\u2421\n}"
    assert calls < 100
