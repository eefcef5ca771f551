"""Forms drawn from a server's schema: what a browser is sent, and what a post becomes."""

import re
from collections.abc import Mapping
from html.parser import HTMLParser
from time import perf_counter
from typing import Any

import pytest
from django.http import QueryDict
from django.utils.translation import override

from mrtr_web.forms import StepForm, build
from mrtr_web.inputs import say
from mrtr_web.parts import FIELDS
from mrtr_web.readback import Row
from mrtr_web.schema.check import Problem, check
from mrtr_web.schema.read import read_elicitation, read_input
from mrtr_web.schema.sentences import SENTENCES
from mrtr_web.schema.spec import Kind

Attrs = dict[str, str | None]


class Tags(HTMLParser):
    def __init__(self, html: str) -> None:
        super().__init__()
        self.found: list[tuple[str, Attrs]] = []
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, dict(attrs)))

    def named(self, name: str) -> list[tuple[str, Attrs]]:
        return [(tag, attrs) for tag, attrs in self.found if attrs.get("name") == name]

    def all(self, wanted: str) -> list[Attrs]:
        return [attrs for tag, attrs in self.found if tag == wanted]


def form(
    properties: Any,
    data: Mapping[str, Any] | None = None,
    *,
    required: list[str] | None = None,
    initial: Mapping[str, Any] | None = None,
    zone: str = "Europe/Berlin",
) -> StepForm:
    spec = read_elicitation({"type": "object", "properties": properties, "required": required or []})
    return build(spec, prefix="s0", data=data, initial=initial, zone=zone)


def sent(properties: Any, data: Mapping[str, Any], **more: Any) -> dict[str, Any]:
    bound = form(properties, data, **more)
    assert bound.is_valid(), bound.errors.as_json()
    return bound.value()


def errors(bound: StepForm) -> dict[str, list[str]]:
    return {name: [str(message) for message in messages] for name, messages in bound.errors.items()}


def as_posted(drawn: StepForm) -> QueryDict:
    """What a browser without scripts would post from the page as drawn."""
    tags = Tags(str(drawn))
    data = QueryDict(mutable=True)
    for tag, attrs in tags.found:
        name = attrs.get("name")
        if tag == "input" and name and (attrs.get("type") not in ("radio", "checkbox") or "checked" in attrs):
            data.appendlist(name, attrs.get("value") or "")
    for name, text in re.findall(r'<textarea name="([^"]+)"[^>]*>\n(.*?)</textarea>', str(drawn), re.S):
        data.appendlist(name, text.replace("\n", "\r\n"))
    for name, body in re.findall(r'<select[^>]*name="([^"]+)"[^>]*>(.*?)</select>', str(drawn), re.S):
        chosen = re.search(r'<option(?: value="([^"]*)")? selected[^>]*>([^<]*)', body)
        data.appendlist(name, (chosen[2] if chosen[1] is None else chosen[1]) if chosen else "")
    return data


ALL_KINDS: dict[str, Any] = {
    "name": {"type": "string", "title": "Name"},
    "story": {"type": "string", "maxLength": 4000},
    "mail": {"type": "string", "format": "email"},
    "page": {"type": "string", "format": "uri"},
    "day": {"type": "string", "format": "date"},
    "when": {"type": "string", "format": "date-time"},
    "price": {"type": "number"},
    "count": {"type": "integer"},
    "sure": {"type": "boolean"},
    "pet": {"type": "string", "enum": ["cat", "dog"]},
    "tags": {
        "type": "array",
        "items": {"anyOf": [{"const": "a", "title": "A"}, {"const": "b", "title": "B"}]},
    },
}
TYPED: dict[str, Any] = {
    "s0-f0": " Ada ",
    "s0-f1": "one\r\ntwo",
    "s0-f2": "a@b",
    "s0-f3": "urn:x",
    "s0-f4": "2026-02-28",
    "s0-f5": "2026-01-02T03:04",
    "s0-f5-zone": "Asia/Kolkata",
    "s0-f6": "1.50",
    "s0-f7": "90071992547409910",
    "s0-f8": "false",
    "s0-f9": "1",
    "s0-f10": ["1", "0"],
}
CONTENT = {
    "name": " Ada ",
    "story": "one\ntwo",
    "mail": "a@b",
    "page": "urn:x",
    "day": "2026-02-28",
    "when": "2026-01-02T03:04:00+05:30",
    "price": 1.5,
    "count": 90071992547409910,
    "sure": False,
    "pet": "dog",
    "tags": ["b", "a"],
}


def test_f03_f18_every_kind_becomes_its_exact_value() -> None:
    assert sent(ALL_KINDS, TYPED) == CONTENT
    assert check({"type": "object", "properties": ALL_KINDS}, CONTENT) == []


def test_every_kind_has_a_field() -> None:
    assert set(FIELDS) == set(Kind) - {Kind.FIXED}


def test_s01_s02_f10_nothing_is_sent_for_an_untouched_form() -> None:
    assert sent(ALL_KINDS, as_posted(form(ALL_KINDS))) == {}
    assert sent(ALL_KINDS, {}) == {}


def test_content_follows_the_order_of_the_schema() -> None:
    posted = {"s0-f1": "y", "s0-f0": "x"}
    assert list(sent({"b": {"type": "string"}, "a": {"type": "string"}}, posted)) == ["b", "a"]


def test_f09_t21_untouched_defaults_are_sent_and_cleared_ones_are_not() -> None:
    defaults: dict[str, Any] = {
        "n": {"type": "number", "default": 0},
        "s": {"type": "string", "default": ""},
        "b": {"type": "boolean", "default": False},
        "l": {"type": "array", "items": {"enum": ["a"]}, "default": []},
        "t": {"type": "string", "default": "<a&b>\n c "},
        "d": {"type": "string", "format": "date-time", "default": "2026-01-02T03:04:05Z"},
        "e": {"type": "string", "enum": [str(i) for i in range(9)], "default": "8"},
    }
    drawn = form(defaults)
    posted = as_posted(drawn)
    posted["s0-f4"] = "<a&b>\r\n c "  # as_posted does not undo escapes
    content = {"n": 0, "s": "", "b": False, "l": [], "t": "<a&b>\n c ", "d": "2026-01-02T03:04:05Z", "e": "8"}
    assert sent(defaults, posted) == content
    cleared = {"s0-f0": "", "s0-f1": "", "s0-f2": "", "s0-f4": "", "s0-f5": "", "s0-f6": ""}
    assert sent(defaults, cleared) == {}


def test_s03_required_text_that_was_left_empty_is_asked_for_with_a_way_to_mean_it() -> None:
    text = {"s": {"type": "string"}}
    assert "Send an empty text" not in str(form(text, required=["s"]))
    left_empty = form(text, {"s0-f0": ""}, required=["s"])
    assert errors(left_empty) == {"f0": ["Fill in “\u2068s\u2069”, or tick that you mean an empty text."]}
    assert "Send an empty text" in str(left_empty) and Tags(str(left_empty)).all("details")[0].keys() == {
        "class",
        "open",
    }
    left_empty.forgive()
    assert "Send an empty text" not in str(left_empty)
    assert sent(text, {"s0-f0": "", "s0-f0-blank": "1"}, required=["s"]) == {"s": ""}


def test_empty_text_on_purpose_has_a_checkbox_only_where_it_was_there_before() -> None:
    text = {"s": {"type": "string"}}
    assert "s0-f0-blank" not in str(form(text))
    drawn = form(text, initial={"s": ""})
    assert Tags(str(drawn)).named("s0-f0-blank") == [
        ("input", {"type": "checkbox", "name": "s0-f0-blank", "value": "1", "checked": None})
    ]
    assert Tags(str(drawn)).all("details") == [{"class": "hint"}]  # out of the way: nobody needs to think of it
    assert sent(text, as_posted(drawn)) == {"s": ""}


def test_f08_required_boolean_must_be_chosen() -> None:
    flag = {"b": {"type": "boolean"}}
    assert errors(form(flag, {}, required=["b"])) == {"f0": ["Choose Yes or No."]}
    assert [attrs.get("value") for _, attrs in Tags(str(form(flag, required=["b"]))).named("s0-f0")] == [
        "true",
        "false",
    ]
    assert [attrs.get("value") for _, attrs in Tags(str(form(flag))).named("s0-f0")] == ["true", "false", ""]


def test_earlier_answers_go_before_defaults_and_bad_ones_are_passed_over() -> None:
    number = {"n": {"type": "integer", "default": 7}}
    assert sent(number, as_posted(form(number, initial={"n": 9}))) == {"n": 9}
    assert sent(number, as_posted(form(number, initial={"n": "9"}))) == {"n": 7}
    assert sent(number, as_posted(form(number, initial={}))) == {}


def test_all_earlier_answers_come_back_unchanged() -> None:
    posted = as_posted(form(ALL_KINDS, initial=CONTENT, zone="America/New_York"))
    assert sent(ALL_KINDS, posted, zone="America/New_York") == CONTENT | {"tags": ["a", "b"]}


def test_t22_names_are_ours_and_keys_never_reach_the_page() -> None:
    odd = {key: {"type": "string", "title": "T"} for key in ("__proto__", "csrfmiddlewaretoken", "mod:func#1")}
    html = str(form(odd))
    assert not any(key in html for key in odd)
    assert sent(odd, {"s0-f0": "a", "s0-f1": "b", "s0-f2": "c", "__proto__": "x"}) == dict(zip(odd, "abc", strict=True))


HOSTILE = '"><img src=x onerror=alert(1)><script>alert(2)</script>{{ 7 }}'


def test_r04_hostile_titles_descriptions_and_options_are_only_text() -> None:
    text = {"title": HOSTILE, "description": HOSTILE * 100}
    parts: dict[str, Any] = {
        HOSTILE: {"type": "string", "description": HOSTILE, "default": HOSTILE},
        "b": {**text, "type": "string", "enum": [HOSTILE, "x"]},
        "c": {**text, "type": "string", "oneOf": [{"const": str(i), "title": HOSTILE} for i in range(9)]},
        "d": {**text, "type": "array", "items": {"enum": [HOSTILE]}},
        "e": {**text, "type": "string", "format": "date-time"},
        "password": {**text, "type": "string", "maxLength": 999},
    }
    posted = {
        "s0-f0": HOSTILE,
        "s0-f1": HOSTILE,
        "s0-f4": HOSTILE,
        "s0-f4-zone": HOSTILE,
        "s0-f4-fold": HOSTILE,
    }
    for drawn in (form(parts), form(parts, posted)):
        tags = Tags(str(drawn))
        assert not {tag for tag, _ in tags.found} & {"img", "script", "a", "style"}
        assert not [name for _, attrs in tags.found for name in attrs if name.startswith("on") or name == "style"]
        assert "{{ 7 }}" in str(drawn)
    assert HOSTILE not in str(form(parts, posted).errors)


def test_f23_labels_are_neutralised_cut_and_readable_in_full() -> None:
    title = "Pay\u202e now\n\n\u200b" + "x" * 5000
    html = str(form({"p": {"type": "string", "title": title, "description": "a\n\n\n\n\nb\u2066"}}))
    assert not set("\u202e\u200b\u2066") & set(html)
    assert '<bdi lang="">Pay\ufffd now \ufffdxxx' in html
    assert "a<br>b\ufffd" in html
    assert "<details" in html
    assert html.count("x") > 5000


def test_label_falls_back_to_the_property_name_then_to_a_number() -> None:
    drawn = form({"city": {"type": "string", "title": " "}, "": {"type": "string"}})
    assert [bound.label for bound in drawn] == ["city", "Field 2"]


def test_f06_f26_few_options_are_radios_and_many_a_select() -> None:
    few, many = [str(i) for i in range(7)], [str(i) for i in range(8)]
    tags = Tags(str(form({"few": {"enum": few}, "many": {"enum": many}}, required=["many"])))
    assert [attrs["value"] for _, attrs in tags.named("s0-f0")] == ["0", "1", "2", "3", "4", "5", "6", ""]
    assert [tag for tag, _ in tags.named("s0-f1")] == ["select"]
    assert [attrs["value"] for attrs in tags.all("option")] == ["", "0", "1", "2", "3", "4", "5", "6", "7"]


def test_s06_optional_choice_offers_no_answer() -> None:
    assert "No answer" in str(form({"c": {"enum": ["a"]}}))
    assert "No answer" in str(form({"c": {"enum": list("abcdefgh")}}))
    assert "No answer" not in str(form({"c": {"enum": ["a"]}}, required=["c"]))


def test_every_control_has_a_label_or_a_legend() -> None:
    html = str(form(ALL_KINDS))
    tags = Tags(html)
    labelled = {attrs.get("for") for attrs in tags.all("label")}
    for tag in ("input", "select", "textarea"):
        for attrs in tags.all(tag):
            wrapped = attrs.get("type") in ("radio", "checkbox")
            assert wrapped or attrs["id"] in labelled
    assert len(tags.all("fieldset")) == len(tags.all("legend")) == 4
    ids = [attrs["id"] for _, attrs in tags.found if "id" in attrs]
    assert len(ids) == len(set(ids))


def test_hints_and_errors_are_tied_to_their_control() -> None:
    parts = {
        "n": {"type": "integer", "description": "How many", "minimum": 1, "maximum": 5},
        "b": {"type": "boolean"},
    }
    bound = form(parts, {"s0-f0": "9"}, required=["b"])
    tags = Tags(str(bound))
    [(_, number)] = tags.named("s0-f0")
    assert number["aria-describedby"] == "id_s0-f0_helptext id_s0-f0_error"
    assert number["aria-invalid"] == "true"
    assert tags.all("fieldset") == [{"aria-describedby": "id_s0-f1_error"}]
    assert [attrs["aria-invalid"] for _, attrs in tags.named("s0-f1")] == ["true", "true"]
    ids = {attrs.get("id") for _, attrs in tags.found}
    assert {"id_s0-f0_helptext", "id_s0-f0_error", "id_s0-f1_error"} <= ids
    assert "How many</div>From 1 to 5." in str(bound)
    assert errors(bound) == {"f0": ["Enter 5 or less."], "f1": ["Choose Yes or No."]}


def test_a_comma_in_a_whole_number_is_told_that_a_whole_number_is_needed() -> None:
    bound = form({"n": {"type": "integer"}, "x": {"type": "number"}}, {"s0-f0": "1,5", "s0-f1": "1,5"})
    assert errors(bound) == {
        "f0": ["Enter a whole number, such as 3: no decimals, and nothing between thousands."],
        "f1": ["Write decimals with a point, such as 1.5, and put nothing between thousands."],
    }


def test_a_hint_for_what_may_be_left_out_says_so() -> None:
    tags = {"type": "array", "items": {"enum": ["a", "b", "c"]}, "minItems": 1, "maxItems": 2}
    html = str(form({"must": tags, "may": tags, "two": tags | {"minItems": 2}}, required=["must", "two"]))
    for hint in ("Choose between 1 and 2.", "If you answer, choose between 1 and 2.", "Choose exactly 2."):
        assert f">{hint}<" in html


def test_every_sentence_ends() -> None:
    assert [code for code, sentence in SENTENCES.items() if not sentence.endswith((".", "?"))] == []


def test_browser_never_counts_patterns_or_trims() -> None:
    parts = ALL_KINDS | {"x": {"type": "string", "maxLength": 3, "minLength": 2, "pattern": "^a"}}
    for tag, attrs in Tags(str(form(parts, required=list(parts)))).found:
        assert not {"maxlength", "minlength", "pattern", "required", "style"} & attrs.keys()
        assert tag != "input" or attrs["type"] in ("text", "date", "datetime-local", "radio", "checkbox")


@pytest.mark.parametrize(
    ("key", "part", "attrs"),
    [
        ("x", {"type": "string", "format": "email"}, {"autocomplete": "email", "inputmode": "email"}),
        ("phone", {"type": "string"}, {"autocomplete": "tel"}),
        ("firstName", {"type": "string"}, {"autocomplete": "given-name"}),
        ("x", {"type": "integer", "minimum": 0}, {"inputmode": "numeric"}),
        ("x", {"type": "number", "minimum": 0}, {"inputmode": "decimal"}),
        ("x", {"type": "integer"}, {"inputmode": "text"}),
        ("api_key", {"type": "string"}, {"autocomplete": "off", "data-secret": None}),
    ],
)
def test_controls_say_what_they_want(key: str, part: Any, attrs: Attrs) -> None:
    [(_, found)] = Tags(str(form({key: part}))).named("s0-f0")
    assert attrs.items() <= found.items()


def test_f21_secret_has_a_warning_before_it() -> None:
    html = str(form({"password": {"type": "string"}}))
    [(_, control)] = Tags(html).named("s0-f0")
    assert control["aria-describedby"] == "id_s0-f0_warning"
    assert html.index('class="warning" id="id_s0-f0_warning"') < html.index("<input")


def test_optional_is_said_in_words_and_required_is_not_starred() -> None:
    html = str(form({"a": {"type": "string"}, "b": {"type": "string"}}, required=["a"]))
    assert html.count("(optional)") == 1
    assert "*" not in html


def test_f18_doubled_time_is_asked_back_and_then_taken() -> None:
    when = {"when": {"type": "string", "format": "date-time"}}
    posted = {"s0-f0": "2026-10-25T02:30", "s0-f0-zone": "Europe/Berlin"}
    assert "s0-f0-fold" not in str(form(when))
    asked = form(when, posted)
    assert not asked.is_valid()
    assert [attrs["value"] for _, attrs in Tags(str(asked)).named("s0-f0-fold")] == ["+02:00", "+01:00"]
    assert sent(when, posted | {"s0-f0-fold": "+01:00"}) == {"when": "2026-10-25T02:30:00+01:00"}


def test_time_starts_in_the_zone_given_and_keeps_the_one_posted() -> None:
    when = {"when": {"type": "string", "format": "date-time"}}
    assert '<option value="Asia/Kolkata" selected>Asia/Kolkata</option>' in str(form(when, zone="Asia/Kolkata"))
    assert '<option value="US/Eastern" selected>US/Eastern</option>' in str(form(when, zone="US/Eastern"))
    posted = {"s0-f0": "x", "s0-f0-zone": "America/New_York"}
    assert '<option value="America/New_York" selected>America/New York</option>' in str(form(when, posted))


def test_time_with_an_offset_is_shown_in_a_control_that_can_hold_it() -> None:
    when = {"when": {"type": "string", "format": "date-time"}}
    for value, control in (
        ("2026-01-02T03:04", "datetime-local"),
        ("2026-01-02T03:04:05Z", "text"),
        ("x", "text"),
    ):
        [(_, found)] = Tags(str(form(when, {"s0-f0": value}))).named("s0-f0")
        assert (found["type"], found["value"]) == (control, value)


def test_s07_what_was_typed_stays_when_it_is_refused() -> None:
    form_spec = read_input({"type": "object", "properties": {"o": {"$ref": "#/no"}}})
    bound = build(form_spec, prefix="s1", data={"s1-f0": '\n{"a": 1,}'}, initial=None, zone="UTC")
    assert errors(bound) == {"f0": ["This is not complete JSON. Look at line 2, character 9."]}
    assert ">\n\n{&quot;a&quot;: 1,}</textarea>" in str(bound)


def test_whole_input_is_one_json_field() -> None:
    spec = read_input({"$ref": "#/$defs/a"})
    bound = build(spec, prefix="s0", data={"s0-f": '{"kind": "a", "": 1}'}, initial=None, zone="UTC")
    assert bound.is_valid()
    assert bound.value() == {"kind": "a", "": 1}
    again = build(spec, prefix="s0", data=None, initial=bound.value(), zone="UTC")
    assert "&quot;kind&quot;: &quot;a&quot;" in str(again)
    assert [field.label for field in again] == ["Input, as JSON"]


def test_rows_show_what_is_sent_and_what_is_not() -> None:
    parts: dict[str, Any] = {
        "s": {"type": "string", "title": "Text"},
        "n": {"type": "number"},
        "b": {"type": "boolean"},
        "c": {"oneOf": [{"const": "de", "title": "Germany"}]},
        "m": {"type": "array", "items": {"enum": ["a", "b"]}},
        "e": {"type": "string"},
        "password": {"type": "string"},
        "gone": {"type": "string"},
        "d": {"type": "string", "format": "date"},
        "t": {"type": "string", "format": "date-time"},
        "u": {"type": "string", "format": "date-time"},
        "l": {"type": "array", "items": {"anyOf": [{"const": 1, "title": "One"}, {"const": 2, "title": "Two"}]}},
        "f": {"type": "array", "items": {"enum": ["a"]}},
    }
    posted = {
        "s0-f0": " a\u202eb ",
        "s0-f1": "1.50",
        "s0-f2": "true",
        "s0-f3": "0",
        "s0-f4": ["0", "1"],
        "s0-f6": "x",
        "s0-f8": "2026-12-24",
        "s0-f9": "2026-12-24T10:00",
        "s0-f9-zone": "America/New_York",
        "s0-f10": "2026-12-24T10:00:30+01:00",
        "s0-f11": ["0", "1"],
    }
    bound = form(parts, posted | {"s0-f5": "", "s0-f5-blank": "1"}, required=["e", "f"])
    assert bound.is_valid()
    assert bound.rows() == [
        Row("s0-f0", "id_s0-f0", "Text", (" a\ufffdb ",), "", True, False),
        Row("s0-f1", "id_s0-f1", "n", ("1.5",), "", True, False),
        Row("s0-f2", "id_s0-f2_0", "b", ("Yes",), "", True, False),
        Row("s0-f3", "id_s0-f3_0", "c", ("Germany",), "de", True, False),
        Row("s0-f4", "id_s0-f4_0", "m", ("a", "b"), "", True, False),
        Row("s0-f5", "id_s0-f5", "e", ("An empty text",), "", True, False),
        Row("s0-f6", "id_s0-f6", "password", ("x",), "", True, True),
        Row("s0-f7", "id_s0-f7", "gone", (), "", False, False),
        Row("s0-f8", "id_s0-f8", "d", ("24 December 2026",), "", True, False),
        Row(
            "s0-f9",
            "id_s0-f9",
            "t",
            ("24 December 2026, 10:00 (America/New York)",),
            "2026-12-24T10:00:00-05:00",
            True,
            False,
        ),
        Row(
            "s0-f10",
            "id_s0-f10",
            "u",
            ("24 December 2026, 10:00:30 (UTC+01:00)",),
            "2026-12-24T10:00:30+01:00",
            True,
            False,
        ),
        Row("s0-f11", "id_s0-f11_0", "l", ("One", "Two"), "[1, 2]", True, False),
        Row("s0-f12", "id_s0-f12_0", "f", ("None of them, as an empty list",), "", True, False),
    ]


def test_carried_inputs_give_the_same_content_again() -> None:
    data = QueryDict(mutable=True)
    for name, value in TYPED.items():
        data.setlist(name, value if isinstance(value, list) else [value])
    bound = form(ALL_KINDS, data)
    again = QueryDict(mutable=True)
    for name, text in bound.carried():
        again.appendlist(name, text)
    assert again == data
    assert sent(ALL_KINDS, again) == CONTENT


def test_problems_of_the_final_check_stand_at_their_fields() -> None:
    bound = form({"a": {"type": "string"}, "b": {"type": "string"}}, {"s0-f0": "x"})
    bound.is_valid()
    bound.add_problems(
        [
            Problem(("a",), "pattern", {"pattern": "^\u202ey"}),
            Problem((), "missing", {"name": "b"}),
            Problem(("a", 0, "<b>"), "not_listed"),
            Problem((), "mismatch"),
        ]
    )
    assert errors(bound) == {
        "f0": [
            "The server wants this to be written in a certain way (pattern ^\ufffdy).",
            "0 › <b>: The server takes only certain values here, and this is none of them.",
        ],
        "f1": ["b is needed here."],
        "__all__": ["The server's rules do not allow this value."],
    }
    assert "<b>" not in str(bound)


def test_sentences_take_hostile_params_as_text() -> None:
    assert say("unexpected", {"names": "%s\u202e"}) == "The server does not take these here: %s\ufffd."


def test_forms_can_be_drawn_in_another_language() -> None:
    with override("de"):
        assert "s0-f0" in str(form(ALL_KINDS))


def test_f27_two_hundred_fields_and_five_thousand_options_are_quick() -> None:
    parts: Any = {f"p{i}": {"type": "string"} for i in range(199)} | {"c": {"enum": [str(i) for i in range(5000)]}}
    start = perf_counter()
    html = str(form(parts))
    assert html.count("<option") == 5000
    assert perf_counter() - start < 1


def test_f25_many_groups_are_drawn_whole() -> None:
    group = {"type": "array", "items": {"enum": [str(i) for i in range(12)]}}
    tags = Tags(str(form({f"g{i}": group for i in range(8)})))
    assert (len(tags.all("legend")), len(tags.all("input"))) == (8, 96)
