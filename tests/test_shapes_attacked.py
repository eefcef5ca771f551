"""What attackers and newcomers found in rich forms, each as a kind: posts through the app, and the pure parts."""

import base64
from typing import Any

import pytest
from hypothesis import example, given, settings

from mrtr_web import secrecy
from mrtr_web.forms import build
from mrtr_web.models import Server
from mrtr_web.schema import prefill
from mrtr_web.schema.drawing import Drawing
from mrtr_web.schema.places import as_posted
from mrtr_web.schema.read import read_input
from mrtr_web.schema.spec import MAX_FILE_BYTES
from tests.desk import LISTED, calls, desk, done, lists_now, tools
from tests.person import Page, Person
from tests.servers import Recorder
from tests.test_schema_corpus import returned, text_of
from tests.test_schema_shapes import Filling, Pair, objects, parts

TOOL = "/s/demo/tools/t/"
S: Any = {"type": "string"}


def of(required: tuple[str, ...] = (), /, **properties: Any) -> Any:
    return {"type": "object", "properties": properties, "required": list(required)}


def named(schema: Any) -> Any:
    return tools({"name": "t", "inputSchema": schema})


class Desk:
    """A person at the start form of one tool, posting what is drawn with what is given here."""

    def __init__(self, person: Person, schema: Any) -> None:
        self.person = person
        person.get("/s/demo/")
        self.page = person.get(TOOL)
        self.spec = read_input(schema)

    def post(self, files: Any = None, **given: Any) -> Page:
        """Underscores stand for the dashes of names; `do` for a button of the shape."""
        (form,) = (form.data() for form in self.page.reader.forms if "schema" in form.data())
        data = {name: value for name, value in form.items() if name != "do"}
        data |= {(name if name == "do" else f"s0-{name.replace('_', '-')}"): [v] for name, v in given.items()}
        if files is None:
            self.page = self.person.post(TOOL, data)
        else:
            response = self.person.client.post(TOOL, data=data, files=files, headers={"Origin": self.person.base})
            self.page = self.person.page = Page.read(response)
        return self.page


def sent(recorder: Recorder) -> Any:
    return calls(recorder)[-1].params["arguments"]


CLASH = {"enum": ["a (3)", "a", "a ", *[str(n) for n in range(200)]], "default": "a (3)"}


def test_options_that_read_alike_are_all_there_and_none_takes_the_place_of_another() -> None:
    for value in ("a (3)", "a", "a "):
        assert returned(of(a=CLASH), {"a": value}) == text_of({"a": value})
    few: Any = {"enum": ["x", "y", "z"], "enumNames": ["a (3)", "a", "a"]}
    assert [returned(of(a=few), {"a": value}) for value in "xyz"] == [text_of({"a": value}) for value in "xyz"]


def test_a_default_that_its_field_cannot_give_is_left_out() -> None:
    filling = Filling(of(("tags",), tags={"type": "array", "minItems": 1, "items": {"type": "string", "default": ""}}))
    assert filling.form().errors == {"f0-0": ["Fill in “\u2068tags 1\u2069”."]}


BRANCHES: Any = {
    "oneOf": [
        {"title": "A", "properties": {"kind": {"const": "a"}, "n": S}, "required": ["kind"]},
        {"title": "B", "properties": {"kind": {"const": "b"}, "n": S}, "required": ["kind"]},
    ]
}


@pytest.mark.django_db(transaction=True)
def test_a_check_that_points_at_a_constant_is_said_where_it_can_be_mended(person: Person, server: Server) -> None:
    schema = of(("shape",), mode={"enum": ["x"]}, shape=BRANCHES) | {
        "if": {"properties": {"mode": {"const": "x"}}, "required": ["mode"]},
        "then": {"properties": {"shape": {"properties": {"kind": {"const": "b"}}}}},
    }
    with desk(server, done(), listings=named(schema)) as recorder:
        form = Desk(person, schema)
        form.post(do="branch f1", f0="0", f1_branch="0")
        page = form.post()
        assert (page.status, "kind: The server takes only certain values here" in page.text) == (422, True)
        assert calls(recorder) == []


@pytest.mark.django_db(transaction=True)
def test_an_illegal_keyword_under_an_empty_name_leaves_the_check_to_the_server(person: Person, server: Server) -> None:
    schema = of(**{"": {"type": "string", "title": 5}})
    with desk(server, done(), listings=named(schema)) as recorder:
        Desk(person, schema).post(f0="x")
        assert sent(recorder) == {"": "x"}


@pytest.mark.parametrize("key", ["next." * 3000 + "next", "a..b", "~", "__proto__", "next.0.0.0", "", ":", "::"])
def test_an_odd_key_of_a_link_is_not_used(key: str) -> None:
    schema = of(next={"$ref": "#"})
    assert prefill.values(read_input(schema).root, {}, [(key, "1")])[1] in ([key], [])


SECRETS: Any = of(
    name=S,
    id={"type": "string", "title": "API key", "format": "uuid"},
    pair={"type": "array", "title": "Passwords", "prefixItems": [S, S]},
    table={"type": "array", "title": "Passwords", "items": {"type": "array", "items": S}},
    names={"type": "object", "additionalProperties": S},
    way={"anyOf": [of(("number", "cvc"), number=S, cvc=S), of(())]},
    file={"type": "string", "contentEncoding": "base64"},
    files={"type": "array", "items": of(doc={"type": "string", "contentEncoding": "base64"}, title=S)},
)
HELD: Any = {
    "name": "Ada",
    "id": "123e4567-e89b-12d3-a456-426614174000",
    "pair": ["hunter2", "hunter3"],
    "table": [["hunter4"]],
    "names": {"password": "hunter5", "x": "y"},
    "way": {"number": "4111", "cvc": "123"},
    "file": "aGk=",
    "files": [{"doc": "aGk=", "title": "T"}],
}


def test_no_secret_and_no_file_is_in_a_link_and_a_kind_without_its_secret_is_left_out() -> None:
    root = read_input(SECRETS).root
    link = prefill.pairs(root, HELD)
    assert prefill.values(root, {}, link) == ({"name": "Ada", "names": {"x": "y"}, "files": [{"title": "T"}]}, [])
    for key in ("names.password", "file", "id"):
        assert prefill.values(root, {}, [(key, "x")]) == ({}, [key])
    assert prefill.values(root, {}, [("files:", '[{"doc": "aGk=", "title": "T"}]')])[0] == {"files": [{"title": "T"}]}


@pytest.mark.django_db(transaction=True)
def test_no_link_is_made_of_a_json_box_that_cannot_be_read(person: Person, server: Server) -> None:
    schema = of(password=S)
    with desk(server, listings=named(schema)):
        form = Desk(person, schema)
        form.post(do="json f")
        page = form.post(do="link", f='{"password": "hunter2",}')
        assert "This is not complete JSON" in page.text
        html = page.response.text
        assert html.count("hunter2") == 1 and "link-text" not in html


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("do", [None, "add f2"])
def test_what_was_typed_for_another_schema_stays_with_its_own_names(
    person: Person, server: Server, do: str | None
) -> None:
    before, now = of(name=S, password=S, tags={"type": "array", "items": S}), of(comment=S, name=S, tags=S)
    with desk(server, done(), listings=named(before)) as recorder:
        form = Desk(person, before)
        lists_now(*named(now)["tools/list"]["tools"])
        page = form.post(**({"do": do} if do else {}), f0="Ada", f1="hunter2")
        assert "has changed this form" in page.text and "hunter2" not in page.text
        assert [field.data() for field in page.reader.forms if "schema" in field.data()][0]["s0-f1"] == ["Ada"]
        assert calls(recorder) == []


def test_a_further_entry_may_not_take_the_name_of_a_member() -> None:
    filling = Filling(of(name=S) | {"additionalProperties": S})
    filling.press("add f1")
    filling.posted |= {"f0": ["Ada"], "f1-0-key": ["name"], "f1-0": ["Bob"]}
    assert list(filling.form().errors) == ["f1-0-key"]


def test_json_for_the_whole_input_is_an_object() -> None:
    filling = Filling(BRANCHES)
    filling.press("json f")
    filling.posted["f"] = ["[1, 2]"]
    assert filling.form().errors == {"f": ['Write an object in braces, such as {"name": "value"}.']}


LOSSY: Any = of(
    stock={"type": "object", "additionalProperties": {"type": "integer"}},
    some={"type": "array", "items": {"enum": ["a", "b", "c"]}, "maxItems": 1},
    pair={"type": "array", "prefixItems": [{"type": "integer"}, {"type": "integer"}]},
    age={"type": "integer", "maximum": 120},
)


def test_nothing_that_was_typed_is_lost_on_the_way_through_json() -> None:
    filling = Filling(LOSSY)
    for do in ("add f0", "add f0", "add f0", "add f2"):
        filling.press(do)
    filling.posted |= {"f0-0": ["7"], "f0-1-key": ["x"], "f0-1": ["8"], "f0-2-key": ["x"], "f0-2": ["9"]}
    filling.posted |= {"f1": ["0", "2"], "f2-1": ["5"], "f3": ["200"]}
    filling.press("json f")
    assert "Absent" not in filling.posted["f"][0]
    filling.press("form f")
    assert (filling.posted["f3"], filling.posted["f2-0"], filling.posted["f2-1"]) == (["200"], [""], ["5"])
    assert '"": 7' in str(filling.posted) and '"x": 8' in str(filling.posted) and '"x (3)": 9' in str(filling.posted)
    assert '"a",\\n  "c"' in str(filling.posted["f1"])


@pytest.mark.django_db(transaction=True)
def test_a_file_that_is_too_large_is_refused_and_forgotten_and_an_empty_one_is_a_file(
    person: Person, server: Server
) -> None:
    schema = of(("a",), a={"type": "string", "contentEncoding": "base64"}, b={"type": "string", "format": "byte"})
    with desk(server, done(), listings=named(schema)) as recorder:
        form = Desk(person, schema)
        page = form.post(files={"s0-f0-file": ("big.bin", b"x" * (MAX_FILE_BYTES + 1), "application/octet-stream")})
        assert "This file is too large" in page.text and len(page.text) < 100_000
        two = {f"s0-f{n}-file": ("b.bin", b"y" * MAX_FILE_BYTES, "application/octet-stream") for n in (0, 1)}
        page = form.post(files={**two, "s0-x-file": ("c", b"z" * 10, "text/plain")})
        assert page.path.startswith("/flows/")
        assert base64.b64decode(sent(recorder)["b"]) == b"y" * MAX_FILE_BYTES
        form = Desk(person, schema)
        form.post(files={"s0-f0-file": ("empty.txt", b"", "text/plain")})
        assert sent(recorder) == {"a": ""}


@pytest.mark.django_db(transaction=True)
def test_a_kind_for_which_the_page_has_no_room_is_not_chosen_and_all_is_kept(person: Person, server: Server) -> None:
    branch = {"title": "Big", "properties": {f"x{n}": S for n in range(5)}}
    schema = of(**{f"p{n}": S for n in range(197)}, way={"oneOf": [branch, {"title": "Small", "properties": {"y": S}}]})
    with desk(server, listings=named(schema)):
        form = Desk(person, schema)
        page = form.post(do="branch f197", f0="typed", f197_branch="0")
        assert "This page is full" in page.text and 'value="typed"' in page.response.text
        page = form.post(do="branch f197", f197_branch="1")
        assert 'name="s0-f197-b1-0"' in page.response.text and 'value="typed"' in page.response.text


def test_a_branch_with_too_many_members_does_not_take_the_others_along() -> None:
    union = {"anyOf": [{"properties": {f"x{n}": S for n in range(201)}}, {"title": "Small", "properties": {"y": S}}]}
    assert "Small" in str(Filling(of(way=union)).form())


@pytest.mark.django_db(transaction=True)
def test_a_form_that_is_too_large_is_written_as_json_and_links_do_no_harm(person: Person, server: Server) -> None:
    schema = of(**{f"p{n}": S for n in range(250)})
    with desk(server, done(), listings=named(schema)) as recorder:
        form = Desk(person, schema)
        assert "Write the input as JSON instead" in form.page.text
        assert form.post(do="link", f='{"p1": "x"}').status == 200
        assert "Not used from the link" in person.get(f"{TOOL}?p1=x").text
        form = Desk(person, schema)
        form.post(f='{"p1": "x"}')
        assert sent(recorder) == {"p1": "x"}


@pytest.mark.django_db(transaction=True)
def test_values_of_another_operation_are_not_filled_in(person: Person, server: Server) -> None:
    listed = named(of(a=S)) | {
        "server/discover": {**LISTED["server/discover"], "capabilities": {"tools": {}, "resources": {}}},
        "resources/list": {"resultType": "complete", "resources": []},
        "resources/templates/list": {"resultType": "complete", "resourceTemplates": []},
    }
    with desk(server, done(), listings=listed):
        form = Desk(person, of(a=S))
        flow = form.post(f0="x").path.split("/")[2]
        assert person.get(f"{TOOL}?again={flow}").response.text.count('value="x"') == 1
        assert person.get(f"/s/demo/resources/?uri=x://a&again={flow}").status == 200


@settings(max_examples=150, deadline=None)
@example(({"type": "object", "properties": {"a": S}, "additionalProperties": {"type": "integer"}}, {"Secret": 0}))
@given(objects(parts))
def test_the_link_of_any_form_gives_its_values_back(pair: Pair) -> None:
    schema, value = pair
    root = read_input(schema).root
    found, unused = prefill.values(root, {}, prefill.pairs(root, value))
    assert unused == []
    assert text_of(found) == text_of(secrecy.values_without(value, root))


def test_a_link_gives_back_what_stands_at_odd_places() -> None:
    schema = of(
        **{"a:": S, "a": S, "b.c": S, "flags": {"type": "array", "items": {"type": "boolean"}}, "part": of(x=S)}
    )
    value = {"a:": "1", "a": "2", "b.c": "3", "flags": [True, False], "part": {}}
    root = read_input(schema).root
    assert prefill.values(root, {}, prefill.pairs(root, value)) == (value, [])
    kind = {"kind": "b", "n": "x"}
    root = read_input(BRANCHES).root
    assert prefill.values(root, {}, prefill.pairs(root, kind)) == (kind, [])
    link = [("shape.kind", "b"), ("shape.n", "x")]
    assert prefill.values(read_input(of(shape=BRANCHES)).root, {}, link) == ({"shape": kind}, [])


def test_a_part_that_is_shown_as_json_takes_what_it_took_before() -> None:
    schema = of(m={"type": "object", "patternProperties": {"^x-": of(("a",), a=S)}})
    assert returned(schema, {"m": {"other": 5}}) == text_of({"m": {"other": 5}})


def test_a_property_is_called_by_its_own_name_rather_than_by_its_type() -> None:
    schema = of(billing={"$ref": "#/$defs/A"}, shipping={"$ref": "#/$defs/A", "title": "Ship to"}) | {
        "$defs": {"A": {"title": "Address", **of(street=S)}}
    }
    assert [part.title for part in read_input(schema).root.parts()] == ["billing", "Ship to"]


def test_a_date_and_time_with_an_offset_is_shown_as_a_local_one_where_that_says_the_same() -> None:
    schema = of(when={"type": "string", "format": "date-time"})
    for value, shown in (
        ("2026-03-04T05:06:00Z", 'value="2026-03-04T05:06:00"'),
        ("2026-03-04T05:06:00+02:00", 'value="2026-03-04T05:06:00+02:00"'),
    ):
        assert returned(schema, {"when": value}) == text_of({"when": value})
        filling = Filling(schema)
        filling.posted = as_posted(Drawing(json=True).value(filling.spec.root, {"when": value}))
        assert ("Time zone" in str(filling.form())) is False
        drawn = str(build(filling.spec, prefix="s0", data=None, initial={"when": value}, zone="America/New_York"))
        assert shown in drawn


@pytest.mark.django_db(transaction=True)
def test_what_the_final_check_finds_comes_with_the_errors_of_other_fields(person: Person, server: Server) -> None:
    schema = of(small={"type": "integer", "maximum": 10}, even={"type": "integer", "multipleOf": 2})
    with desk(server, listings=named(schema)):
        page = Desk(person, schema).post(f0="11", f1="3")
        assert "Enter 10 or less." in page.text and "Enter a multiple of 2." in page.text
