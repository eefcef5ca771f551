"""A listed resource: a page of its own with one button, and its title wherever it is told of. Its address nowhere."""

from typing import Any
from urllib.parse import quote

import pytest
from django.contrib.auth.models import User
from django.db import connection

from mrtr_web.models import Flow, Server
from tests.desk import LISTED, calls, desk
from tests.person import Person
from tests.reviewers import looking, reviewer_of
from tests.servers import Post, Step, error, result

pytestmark = pytest.mark.django_db(transaction=True)
URI = "note://private/all"
PAGE = f"/s/demo/resources/?uri={quote(URI, safe='')}"
READ: Step = lambda post: result(post, {"resultType": "complete", "contents": [{"uri": URI, "text": "It rains."}]})  # noqa: E731


def listing(*resources: dict[str, Any]) -> dict[str, Any]:
    discover = LISTED["server/discover"] | {"capabilities": {"resources": {}}}
    return LISTED | {
        "server/discover": discover,
        "resources/list": {"resultType": "complete", "resources": list(resources)},
        "resources/templates/list": {"resultType": "complete", "resourceTemplates": []},
    }


NOTES = listing({"uri": URI, "name": "notes", "title": "My notes", "description": "All of them."})


def test_it_is_read_with_one_button(person: Person, server: Server) -> None:
    with desk(server, READ, listings=NOTES) as recorder:
        person.get("/s/demo/")
        page = person.get(PAGE)
        assert "My notes" in page.text and "All of them." in page.text
        assert "Edit as JSON" not in page.text and "Link with these values" not in page.text
        person.press("Read")
        assert "It rains." in person.until("completed").text
        assert calls(recorder)[0].params["uri"] == URI


def test_its_title_is_kept_and_its_address_is_not(person: Person, alice: User, server: Server) -> None:
    with desk(server, READ, listings=NOTES):
        person.get("/s/demo/")
        person.get(PAGE)
        person.press("Read")
        assert "My notes" in person.until("completed").text
        again = person.page.link("Do it again")
        assert "My notes" in person.get("/flows/").text
        assert person.get("/").link("My notes") == PAGE
        assert person.get(again).button("Read")
        rita = looking(reviewer_of("rita", server))
        server.groups.first().user_set.add(alice)  # type: ignore[union-attr]
        told = ("/review/?state=all", f"/review/{Flow.objects.get().pk}/", "/review/numbers/", "/review/audit/")
        for path in told:
            assert "My notes" in rita.get(path).content.decode()
    with connection.cursor() as cursor:
        cursor.execute("SELECT * FROM mrtr_web_flow")
        assert URI not in str(cursor.fetchall())


def test_a_page_that_fails_has_the_title_too(person: Person, server: Server) -> None:
    def refuses(post: Post) -> Any:
        return error(post, -32002)

    with desk(server, refuses, listings=NOTES):
        person.get("/s/demo/")
        person.get(PAGE)
        person.press("Read")
        assert "My notes" in person.until("failed").text


@pytest.mark.parametrize(
    ("code", "words"), [(-32603, "Something went wrong in the server itself."), (-32002, "has refused this request.")]
)
def test_a_fault_of_the_server_is_not_called_a_refusal(person: Person, server: Server, code: int, words: str) -> None:
    with desk(server, lambda post: error(post, code), listings=NOTES):
        person.get("/s/demo/")
        person.get(PAGE)
        person.press("Read")
        assert words in person.until("failed").text


def test_of_two_with_one_title_none_is_taken_for_the_other(person: Person, server: Server) -> None:
    twins = listing(*({"uri": uri, "name": "notes", "title": "My notes"} for uri in (URI, "note://other")))
    with desk(server, READ, listings=twins):
        person.get("/s/demo/")
        person.get(PAGE)
        person.press("Read")
        person.until("completed")
        person.get(person.page.link("Do it again"))
        assert URI in person.page.response.text and "note://other" not in person.page.response.text


def test_what_is_not_listed_is_read_from_a_link_and_not_named(person: Person, server: Server) -> None:
    with desk(server, READ, listings=listing()):
        person.get("/s/demo/")
        assert URI in person.get(PAGE).text
        person.press("Read")
        person.until("completed")
    assert Flow.objects.get().label == ""


@pytest.mark.parametrize("uri", ["", "no address"])
def test_what_is_no_address_is_left_to_be_typed(person: Person, server: Server, uri: str) -> None:
    with desk(server, READ, listings=listing()):
        person.get("/s/demo/")
        person.get(f"/s/demo/resources/?uri={quote(uri)}")
        person.fill("URI", URI)
        person.press("Start")
        assert "It rains." in person.until("completed").text
