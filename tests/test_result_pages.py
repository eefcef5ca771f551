"""What a person sees of every kind of result (D10), and what they can download."""

import base64
import json
import re
from typing import Any

import pytest

from mrtr_web.models import Server
from tests.desk import LISTED, TOOL, desk
from tests.person import Page, Person
from tests.servers import Step, result

pytestmark = pytest.mark.django_db(transaction=True)

PNG = b"\x89PNG\r\n\x1a\n"


def coded(data: bytes) -> str:
    return base64.b64encode(data).decode()


def giving(**fields: Any) -> Step:
    return lambda post: result(post, {"resultType": "complete", **fields})


def finish(person: Person, path: str = TOOL) -> Page:
    person.get(path)
    if path == TOOL:
        person.fill("Topic", "cheese")
    person.press("Start" if "uri=" not in path else "Read")
    return person.until("completed")


def test_structured_content_alone_is_a_table(person: Person, server: Server) -> None:
    """R03, TO-5"""
    with desk(server, giving(content=[], structuredContent={"total": 3, "paid": False, "<b>": 1})):
        page = finish(person)
        assert "Total3" in page.text.replace(" ", "") and "PaidNo" in page.text.replace(" ", "")
        assert "&lt;b&gt;" in page.response.text and "<b>" not in page.response.text


def test_what_is_nested_in_structured_content_is_shown_by_names_and_in_order(person: Person, server: Server) -> None:
    """R03"""
    nested = {
        "hotel": {"name": "Alpha", "roomCount": 2, "fax": None},
        "legs": [{"from": "Lyon"}, ["by", "train"], 7],
        "nothing": {},
        "deep": {"a": {"b": {"c": {"d": 1}}}},
    }
    with desk(server, giving(content=[], structuredContent=nested)):
        shown = re.sub(r"<(bdi|span|li|code)\b[^>]*>|</(bdi|span|li)>|\n", "", finish(person).response.text)
        assert "Hotel</th><td><dl><dt>Name</dt><dd>Alpha</dd><dt>Room count</dt><dd>2</dd></dl></td>" in shown
        legs = '<ol class="said"><dl><dt>From</dt><dd>Lyon</dd></dl><ul class="said">bytrain</ul>7</ol>'
        assert f"Legs</th><td>{legs}</td>" in shown
        assert "Nothing</th><td>None</td>" in shown
        assert (
            "Deep</th><td>{  &quot;a&quot;: {    &quot;b&quot;: {      &quot;c&quot;: {        &quot;d&quot;" in shown
        )


def test_nested_content_of_more_than_a_page_is_data(person: Person, server: Server) -> None:
    """R03"""
    with desk(server, giving(content=[], structuredContent={"rows": [{"n": number} for number in range(400)]})):
        shown = finish(person).response.text
        assert ('<td><code class="server-words"' in shown, "<dl><dt>" in shown) == (True, False)


@pytest.mark.parametrize("value", [[1, 2], "text", 5, False, 0, ""])
def test_structured_content_that_is_no_object_is_shown_as_data(person: Person, server: Server, value: Any) -> None:
    """TO-4: any JSON value."""
    with desk(server, giving(content=[], structuredContent=value)):
        page = finish(person)
        assert json.dumps(value, indent=2).replace("\n", " ").split()[0].strip('"[') in page.text
        assert "sent nothing to show" not in page.text


def test_a_failure_with_structured_content_shows_both(person: Person, server: Server) -> None:
    """TO-6, R03"""
    content = [{"type": "text", "text": "No room left."}]
    with desk(server, giving(content=content, structuredContent={"rooms": 0}, isError=True)):
        page = finish(person)
        assert "reports a failure" in page.text and "No room left." in page.text and "rooms" in page.text


@pytest.mark.parametrize("fields", [{}, {"content": []}, {"content": None}, {"content": [], "isError": False}])
def test_an_empty_result_says_that_it_is_done(person: Person, server: Server, fields: dict[str, Any]) -> None:
    with desk(server, giving(**fields)):
        assert "is done, and sent nothing to show" in finish(person).text


def test_an_image_of_five_megabytes_is_shown(person: Person, server: Server) -> None:
    """R01"""
    picture = PNG + b"x" * 5_000_000
    with desk(server, giving(content=[{"type": "image", "data": coded(picture), "mimeType": "image/png"}])):
        page = finish(person)
        assert "iVBOR" not in page.response.text
        found = person.get(f"{page.path}content/0/").response
        assert (found.content, found.headers["content-type"]) == (picture, "image/png")
        assert found.headers["content-disposition"] == "inline"
        assert found.headers["x-content-type-options"] == "nosniff"
        assert "no-store" in found.headers["cache-control"]
        assert "sandbox" in found.headers["content-security-policy"]


def test_a_wrong_type_is_a_download_and_nothing_else(person: Person, server: Server) -> None:
    """R01, T-38"""
    content = [
        {"type": "image", "data": coded(b"<script>alert(1)</script>"), "mimeType": "image/png"},
        {"type": "image", "data": coded(b"<svg onload='alert(1)'/>"), "mimeType": "image/svg+xml"},
        {"type": "audio", "data": coded(b"<html>"), "mimeType": "text/html; charset=\r\nX: y"},
    ]
    with desk(server, giving(content=content)):
        page = finish(person)
        assert "<img" not in page.response.text and "<audio" not in page.response.text
        for number in range(3):
            found = person.get(f"{page.path}content/{number}/").response
            assert found.headers["content-type"] == "application/octet-stream"
            assert found.headers["content-disposition"] == f'attachment; filename="result-{number}"'


def test_prompt_messages_have_their_speakers(person: Person, server: Server) -> None:
    """PM-1"""
    listed = LISTED | {
        "server/discover": LISTED["server/discover"] | {"capabilities": {"prompts": {}}},
        "prompts/list": {"resultType": "complete", "prompts": [{"name": "greet"}]},
    }
    messages = [
        {"role": "user", "content": {"type": "text", "text": "Hello"}},
        {"role": "assistant", "content": {"type": "text", "text": "Good day"}},
        {"role": "user", "content": {"type": "resource", "resource": {"uri": "note://1", "text": "A note"}}},
    ]
    with desk(server, giving(messages=messages), listings=listed):
        person.get("/s/demo/")
        page = finish(person, "/s/demo/prompts/greet/")
        told = page.text
        assert told.index("Hello") < told.index("Assistant") < told.index("Good day") < told.index("A note")
        assert "note://1" in told


def test_a_resource_of_text_and_bytes(person: Person, server: Server) -> None:
    """RE-1"""
    listed = LISTED | {
        "server/discover": LISTED["server/discover"] | {"capabilities": {"resources": {}}},
        "resources/list": {"resultType": "complete", "resources": [{"uri": "note://all", "name": "Notes"}]},
        "resources/templates/list": {"resultType": "complete", "resourceTemplates": []},
    }
    contents = [
        {"uri": "note://1", "mimeType": "text/html", "text": "<b>Bold</b>"},
        {"uri": "note://2", "mimeType": "application/pdf", "blob": coded(b"%PDF-1.7")},
    ]
    with desk(server, giving(contents=contents), listings=listed):
        person.get("/s/demo/")
        page = finish(person, "/s/demo/resources/?uri=note%3A%2F%2Fall")
        assert "<b>Bold</b>" in page.text
        assert "Download the file" in page.text
        assert person.get(f"{page.path}content/1/").response.content == b"%PDF-1.7"
