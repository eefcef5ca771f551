"""Every kind of URI template against a server on the SDK: what is typed in the page is what the server reads (RE-1).

The pure table of templates is in test_addresses.py.
"""

from collections.abc import Iterator
from urllib.parse import quote

import pytest
from mcp.server.mcpserver import MCPServer
from mcp.server.mcpserver.resources.templates import ResourceSecurity
from mcp.shared.inbound import decode_header_value

from mrtr_web.models import Server
from tests.desk import calls, point_to
from tests.person import Person
from tests.servers import Recorder, serve

pytestmark = pytest.mark.django_db(transaction=True)

SIMPLE, RESERVED, LABEL = "kind://simple/{value}/end", "kind://reserved/{+value}", "kind://label/report{.value}"
SEGMENT, SEGMENTS = "kind://segment{/value}", "kind://segments{/value*}"
PARAMETER, QUERY = "kind://parameter{;value}", "kind://query{?value,other}"
FURTHER, FRAGMENT, LITERAL = "kind://further?fixed=1{&value}", "kind://fragment{#value}", "kind://größe/{value}"


def library() -> MCPServer:
    """Gives back what it read out of each address."""
    server = MCPServer("library", log_level="ERROR", resource_security=ResourceSecurity(exempt_params={"value"}))

    def one(value: str | list[str]) -> str:
        return f"value={value!r}"

    def two(value: str = "none", other: str = "none") -> str:
        return f"value={value!r} other={other!r}"

    def greet(who: str, how: str = "Hello") -> str:
        return f"{how} {who}"

    for template in (SIMPLE, RESERVED, LABEL, SEGMENT, SEGMENTS, PARAMETER, FURTHER, FRAGMENT, LITERAL):
        server.resource(template)(one)
    server.resource(QUERY)(two)
    server.prompt()(greet)
    return server


@pytest.fixture
def recorder(server: Server) -> Iterator[Recorder]:
    kept = Recorder(library().streamable_http_app(stateless_http=True))
    with serve(kept, lifespan="on") as base:
        point_to(server, base)
        yield kept


def read(person: Person, uri: str, **filled: str) -> str:
    """Fill in the form behind this link and start it: what the server made of it."""
    person.get("/s/demo/")
    person.get(f"/s/demo/resources/?uri={quote(uri, safe='')}")
    for label, value in filled.items():
        person.fill(label, value)
    person.press("Start")
    return person.until("completed").text


@pytest.mark.parametrize(
    ("template", "typed", "uri", "parts"),
    [
        (SIMPLE, "a b", "kind://simple/a%20b/end", "a b"),
        (SIMPLE, "é/ü?#&=+", "kind://simple/%C3%A9%2F%C3%BC%3F%23%26%3D%2B/end", "é/ü?#&=+"),
        (SIMPLE, "..", "kind://simple/../end", ".."),
        (SIMPLE, "%2e%2e", "kind://simple/%252e%252e/end", "%2e%2e"),
        (SIMPLE, "日本", "kind://simple/%E6%97%A5%E6%9C%AC/end", "日本"),
        (RESERVED, "a/../b c", "kind://reserved/a/../b%20c", "a/../b c"),
        (RESERVED, "%41", "kind://reserved/%41", "A"),
        (LABEL, "pdf", "kind://label/report.pdf", "pdf"),
        (SEGMENT, "a/b", "kind://segment/a%2Fb", "a/b"),
        (SEGMENTS, "a/b\nc d\n..", "kind://segments/a%2Fb/c%20d/..", ["a/b", "c d", ".."]),
        (PARAMETER, "1;2", "kind://parameter;value=1%3B2", "1;2"),
        (QUERY, "a&other=b", "kind://query?value=a%26other%3Db", "a&other=b"),
        (FURTHER, "x y", "kind://further?fixed=1&value=x%20y", "x y"),
        (FRAGMENT, "two/three", "kind://fragment#two/three", "two/three"),
    ],
)
def test_the_server_reads_what_was_typed(
    person: Person, recorder: Recorder, template: str, typed: str, uri: str, parts: str | list[str]
) -> None:
    """HT-4"""
    told = read(person, template, value=typed)
    (post,) = calls(recorder)
    assert post.params["uri"] == uri
    assert post.headers["mcp-name"] == uri
    assert f"value={parts!r}" in told


def test_a_query_that_is_left_empty_is_left_out(person: Person, recorder: Recorder) -> None:
    assert "value='none' other='none'" in read(person, QUERY)
    assert "value='none' other='b'" in read(person, QUERY, other="b")
    assert [post.params["uri"] for post in calls(recorder)] == ["kind://query", "kind://query?other=b"]


@pytest.mark.parametrize("template", [SIMPLE, RESERVED, LABEL, SEGMENT, SEGMENTS, LITERAL])
def test_what_stands_in_the_path_must_be_filled_in(person: Person, recorder: Recorder, template: str) -> None:
    person.get("/s/demo/")
    person.get(f"/s/demo/resources/?uri={quote(template, safe='')}")
    assert person.press("Start").status == 422
    assert calls(recorder) == []


@pytest.mark.parametrize(
    ("template", "typed", "uri"),
    [
        (SIMPLE, "x\nMcp-Method: tools/call", "kind://simple/x%0AMcp-Method%3A%20tools%2Fcall/end"),
        (RESERVED, "x\nMcp-Method: tools/call", "kind://reserved/x%0AMcp-Method:%20tools/call"),
        (SIMPLE, "=?base64?eA==?=", "kind://simple/%3D%3Fbase64%3FeA%3D%3D%3F%3D/end"),
        (LITERAL, "x\nMcp-Method: tools/call", "kind://größe/x%0AMcp-Method%3A%20tools%2Fcall"),
    ],
)
def test_no_value_gets_out_of_its_header(
    person: Person, recorder: Recorder, template: str, typed: str, uri: str
) -> None:
    """HT-5: posted by hand, since an input of one line holds no line break."""
    person.get("/s/demo/")
    person.get(f"/s/demo/resources/?uri={quote(template, safe='')}")
    person.press("Start", {"s0-f0": typed})
    person.until("completed")
    (post,) = calls(recorder)
    assert post.params["uri"] == uri
    assert post.headers["mcp-method"] == "resources/read"
    assert decode_header_value(post.headers["mcp-name"]) == uri
    assert post.headers["mcp-name"].isascii()


@pytest.mark.parametrize(
    ("uri", "parts"),
    [
        ("kind://simple/a%2Fb/end", "value='a/b'"),
        ("kind://reserved/a/b%20c", "value='a/b c'"),
        ("kind://segments/a/b%20c", "value=['a', 'b c']"),
        ("kind://query?value=1&other=2", "value='1' other='2'"),
        ("kind://query?other=2", "value='none' other='2'"),
    ],
)
def test_a_link_to_an_address_starts_as_it_stands(person: Person, recorder: Recorder, uri: str, parts: str) -> None:
    assert parts in read(person, uri)
    assert calls(recorder)[0].params["uri"] == uri


def test_arguments_of_a_prompt_are_texts_as_they_were_typed(person: Person, recorder: Recorder) -> None:
    """PM-1"""
    for filled in ({"who": "5"}, {"who": " true ", "how": "null"}):
        person.get("/s/demo/")
        person.get("/s/demo/prompts/greet/")
        for label, value in filled.items():
            person.fill(label, value)
        person.press("Start")
        person.until("completed")
    assert [post.params["arguments"] for post in calls(recorder)] == [{"who": "5"}, {"who": " true ", "how": "null"}]
