"""URI templates as forms: from what is typed to the address on the wire, and back (RE-1)."""

import base64
from typing import Any
from urllib.parse import quote

import pytest

from mrtr_web import addresses
from mrtr_web.models import Server
from tests.desk import LISTED, calls, desk
from tests.person import Person
from tests.servers import Step, result


@pytest.mark.parametrize(
    ("template", "values", "uri"),
    [
        ("trip://{ref}/day", {"ref": "a b/é?#"}, "trip://a%20b%2F%C3%A9%3F%23/day"),
        ("trip://{+path}", {"path": "a/b?c"}, "trip://a/b?c"),
        ("trip://x{/path*}", {"path": "a\nb c\n\n"}, "trip://x/a/b%20c"),
        ("trip://x{?q,lang}", {}, "trip://x"),
        ("trip://x{?q,lang}", {"lang": "de"}, "trip://x?lang=de"),
        ("trip://x{?q}{&z}", {"q": "1", "z": "2"}, "trip://x?q=1&z=2"),
        ("trip://x{#part}", {"part": "two"}, "trip://x#two"),
        ("trip://x{;p}", {"p": "1"}, "trip://x;p=1"),
        ("trip://x{.ext}", {"ext": "pdf"}, "trip://x.pdf"),
        ("trip://{ref}", {"ref": "../%2e%2e\r\nX: y"}, "trip://..%2F%252e%252e%0D%0AX%3A%20y"),
    ],
)
def test_values_make_an_address(template: str, values: dict[str, str], uri: str) -> None:
    """RFC 6570: what is absent stays undefined, and everything is encoded once."""
    assert addresses.expand(template, values) == uri


@pytest.mark.parametrize(
    ("template", "required"),
    [
        ("t://{a}/{b}", ["a", "b"]),
        ("t://{+a}{/b}{.c}", ["a", "b", "c"]),
        ("t://{a}{?q,r}", ["a"]),
        ("t://x{;m}{&n}{#o}", []),
    ],
)
def test_only_what_the_address_needs_is_required(template: str, required: list[str]) -> None:
    assert addresses.schema(template)["required"] == required


def test_a_part_that_explodes_is_typed_one_a_line() -> None:
    field = addresses.schema("t://x{/path*}")["properties"]["path"]
    assert (field["description"], field["type"]) == ("One part a line.", "string")


def test_an_address_leads_back_to_its_values() -> None:
    template = "trip://{ref}/x{/path*}{?q}"
    values = {"ref": "a b", "path": "c\nd", "q": "1"}
    assert addresses.values(template, addresses.expand(template, values)) == values
    assert addresses.values(template, "other://x") == {}


@pytest.mark.parametrize("template", ["t://{", "t://{a:3}", "t://{a*}"])
def test_a_template_that_cannot_be_read_says_why(template: str) -> None:
    assert addresses.fault(template)
    assert addresses.fault("t://{a}") is None


TEMPLATES = ["trip://{ref}/day{?lang}", "trip://files{/path*}", "broken://{"]
LISTINGS = LISTED | {
    "server/discover": LISTED["server/discover"] | {"capabilities": {"resources": {}, "prompts": {}}},
    "resources/list": {"resultType": "complete", "resources": []},
    "resources/templates/list": {
        "resultType": "complete",
        "resourceTemplates": [{"uriTemplate": each, "name": each} for each in TEMPLATES],
    },
    "prompts/list": {
        "resultType": "complete",
        "prompts": [{"name": "greet", "arguments": [{"name": "who", "required": True}, {"name": "how"}]}],
    },
}
READ: Step = lambda post: result(post, {"resultType": "complete", "contents": [{"uri": "x", "text": "Read."}]})  # noqa: E731
GOT: Step = lambda post: result(post, {"resultType": "complete", "messages": []})  # noqa: E731


def start(person: Person, page: str, **filled: str) -> None:
    person.get("/s/demo/")
    person.get(page)
    for label, value in filled.items():
        person.fill(label, value)
    person.press("Start")
    person.until("completed")


def by(template: str) -> str:
    return f"/s/demo/resources/?uri={quote(template, safe='')}"


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize(
    ("template", "filled", "uri"),
    [
        (TEMPLATES[0], {"ref": "Ü 1"}, "trip://%C3%9C%201/day"),
        (TEMPLATES[0], {"ref": "1", "lang": "de"}, "trip://1/day?lang=de"),
        (TEMPLATES[1], {"path": "a\nb/c"}, "trip://files/a/b%2Fc"),
    ],
)
def test_the_form_of_a_template_reads_its_address(
    person: Person, server: Server, template: str, filled: dict[str, Any], uri: str
) -> None:
    """HT-4, HT-5"""
    with desk(server, READ, listings=LISTINGS) as recorder:
        start(person, by(template), **filled)
        (post,) = calls(recorder)
        assert post.params["uri"] == uri
        assert post.headers["mcp-name"] == uri
        assert uri in person.page.text


@pytest.mark.django_db(transaction=True)
def test_a_value_that_the_address_needs_must_be_filled_in(person: Person, server: Server) -> None:
    with desk(server, READ, listings=LISTINGS) as recorder:
        person.get("/s/demo/")
        person.get(by(TEMPLATES[0]))
        assert person.press("Start").status == 422
        assert calls(recorder) == []


@pytest.mark.django_db(transaction=True)
def test_an_address_fills_the_form_of_its_template_in(person: Person, server: Server) -> None:
    with desk(server, READ, listings=LISTINGS) as recorder:
        start(person, by("trip://T%201/day?lang=fr"))
        assert calls(recorder)[0].params["uri"] == "trip://T%201/day?lang=fr"


@pytest.mark.django_db(transaction=True)
def test_a_template_that_cannot_be_read_hides_only_itself(person: Person, server: Server) -> None:
    with desk(server, READ, listings=LISTINGS):
        page = person.get("/s/demo/")
        assert TEMPLATES[0] in page.text and "broken" not in page.text


@pytest.mark.django_db(transaction=True)
def test_a_typed_address_of_any_kind_is_encoded_in_its_header(person: Person, server: Server) -> None:
    """HT-5"""
    with desk(server, READ, listings=LISTINGS) as recorder:
        start(person, "/s/demo/resources/", URI="note://größe")
        (post,) = calls(recorder)
        coded = base64.b64encode("note://größe".encode()).decode()
        assert (post.params["uri"], post.headers["mcp-name"]) == ("note://größe", f"=?base64?{coded}?=")


@pytest.mark.django_db(transaction=True)
def test_a_prompts_optional_argument_that_is_empty_is_absent(person: Person, server: Server) -> None:
    """PM-1"""
    with desk(server, GOT, listings=LISTINGS) as recorder:
        person.get("/s/demo/")
        person.get("/s/demo/prompts/greet/")
        assert person.press("Start").status == 422
        start(person, "/s/demo/prompts/greet/", who="Ada")
        assert calls(recorder)[0].params["arguments"] == {"who": "Ada"}


@pytest.mark.parametrize(
    "uri",
    [
        "trip://1/day?lang=de&room=2",
        "trip://1/day?lang=de#top",
        "trip://1/day?lang=",
        "trip://a%2fb/day",
        "trip:///day",
        "trip://files",
        "trip://files/a//b",
        "trip://files/a%0Ab",
    ],
)
@pytest.mark.django_db(transaction=True)
def test_an_address_that_no_form_leads_to_is_read_as_it_is(person: Person, server: Server, uri: str) -> None:
    """A link must not lead elsewhere: a template that fits only loosely would drop or change a part."""
    with desk(server, READ, listings=LISTINGS) as recorder:
        start(person, by(uri))
        assert calls(recorder)[0].params["uri"] == uri


@pytest.mark.django_db(transaction=True)
def test_lines_without_a_part_do_not_fill_in_what_is_needed(person: Person, server: Server) -> None:
    with desk(server, READ, listings=LISTINGS) as recorder:
        person.get("/s/demo/")
        person.get(by(TEMPLATES[1]))
        person.fill("path", "\n\n")
        assert person.press("Start").status == 422
        assert "do not make a valid address" in person.page.text
        assert calls(recorder) == []
