"""Rules of what a server lists: how long it is kept, whose it is, and what is said of one that cannot be read."""

from datetime import timedelta
from typing import Any

import pytest
from django.contrib.auth.models import Permission, User
from django.utils import timezone

from mrtr_web.models import Finding, Server
from tests.desk import LISTED, calls, desk, done, tools
from tests.person import Person
from tests.servers import Step, error, html, result
from tests.test_kinds import begin, findings

pytestmark = pytest.mark.django_db(transaction=True)

PAGE = "/s/demo/"


def let_it_age(**age: float) -> None:
    Server.objects.update(listed_at=timezone.now() - timedelta(**age))


def one_tool(name: str, **more: Any) -> dict[str, Any]:
    return {"resultType": "complete", "tools": [{"name": name, "inputSchema": {"type": "object"}}], **more}


def test_a_listing_is_kept_for_five_minutes_and_then_asked_for_again(person: Person, server: Server) -> None:
    """CH-1, CH-3, VE-2: whole, with a new discovery."""
    both = ["server/discover", "tools/list"]
    with desk(server) as recorder:
        person.get(PAGE)
        person.get(PAGE)
        assert recorder.methods == both
        let_it_age(minutes=4)
        person.get(PAGE)
        assert recorder.methods == both
        let_it_age(minutes=6)
        person.get(PAGE)
        assert recorder.methods == both * 2
        assert len({post.id for post in recorder.posts}) == 4


def test_a_stale_listing_is_shown_and_said_to_be_so_while_the_server_is_out_of_reach(
    person: Person, server: Server
) -> None:
    """CH-3"""
    with desk(server):
        person.get(PAGE)
    let_it_age(minutes=6)
    page = person.get(PAGE)
    assert (page.status, "Ask me" in page.text) == (200, True)
    assert "did not answer" in page.text and "from the last time it answered" in page.text


def test_a_refused_cursor_drops_the_pages_read_so_far_and_the_next_listing_begins_anew(
    person: Person, server: Server
) -> None:
    """CH-4, PG-1: nothing of a half listing is shown or kept."""
    pages: list[Step] = [
        lambda post: result(post, one_tool("half", nextCursor="c1")),
        lambda post: error(post, -32602, message="invalid cursor"),
        lambda post: result(post, one_tool("whole", nextCursor="")),
        lambda post: result(post, one_tool("second")),
    ]
    with desk(server, *pages, listings={"server/discover": LISTED["server/discover"]}) as recorder:
        page = person.get(PAGE)
        assert page.status == 502 and "half" not in page.text
        page = person.get(PAGE)
        assert "whole" in page.text and "second" in page.text and "half" not in page.text
        asked = [post.params.get("cursor") for post in recorder.posts if post.json["method"] == "tools/list"]
        assert asked == [None, "c1", None, ""]


def test_tools_of_one_name_on_two_servers_stay_apart(person: Person, server: Server) -> None:
    """CH-1, TO-7, BA-4: told apart by our own registration, though both give themselves one name."""
    same = {"_meta": {"io.modelcontextprotocol/serverInfo": {"name": "same", "version": "1"}}}
    other = Server.objects.create(slug="other", name="Other desk", url="http://127.0.0.1:9/mcp", allow_private=True)
    with desk(server, done("from the first", **same)) as first, desk(other, done("from the second", **same)) as second:
        assert "from the first" in begin(person).text
        assert (len(calls(first)), len(second.posts)) == (1, 0)
        person.get("/s/other/")
        page = begin(person, "/s/other/tools/ask/")
        assert "from the second" in page.text and "Other desk" in page.text and "Demo desk" not in page.text
        assert (len(calls(first)), len(calls(second))) == (1, 1)


@pytest.mark.parametrize(
    ("field", "value"),
    [("url", "http://127.0.0.1:9/mcp"), ("bearer_env", "ANOTHER"), ("capabilities", ["elicitation", "roots"])],
)
def test_a_server_that_is_asked_in_another_way_is_listed_anew(
    person: Person, server: Server, alice: User, field: str, value: Any
) -> None:
    """CH-1, CH-2: the stored listing is that of another server, another credential, or other capabilities."""
    User.objects.filter(pk=alice.pk).update(is_staff=True, is_superuser=True)
    with desk(server) as recorder:
        person.get(PAGE)
        page = person.get(f"/admin/mrtr_web/server/{server.pk}/change/")
        (form,) = (form.data() for form in page.reader.forms if "slug" in form.data())
        person.post(page.path, form | {field: value if isinstance(value, list) else [value]})
        if getattr(Server.objects.get(), field) != value:
            raise ValueError(person.page.text)
        page = person.get(PAGE)
        if field == "url":
            assert page.status == 502 and "Ask me" not in page.text
        else:
            assert recorder.methods == ["server/discover", "tools/list"] * 2


def allow_review(user: User) -> None:
    user.user_permissions.add(Permission.objects.get(codename="view_finding"))


@pytest.mark.parametrize("status", [302, 404])
def test_a_status_without_a_message_is_a_finding_that_reviewers_can_read(
    person: Person, server: Server, alice: User, status: int
) -> None:
    """HT-2, ER-3: such as a redirect to a page to sign in."""
    allow_review(alice)
    with desk(server, lambda post: html(status, location="/login")):
        assert begin(person).state == "failed"
        assert findings() == {f"HT-{status}": 1}
        page = person.get(PAGE)
        assert page.status == 200 and f"HT-{status}" in page.text


def test_a_listing_of_too_many_is_cut_and_said_to_be_so(person: Person, server: Server) -> None:
    many = [{"name": f"t{i}", "inputSchema": {"type": "object"}} for i in range(100_000)]
    with desk(server, listings=tools(*many)):
        page = person.get(PAGE)
    assert "more than can be shown here" in page.text
    assert (page.text.count("t999"), page.text.count("t1000")) == (1, 0)
    assert "LIST-SIZE" in Finding.objects.values_list("rule", flat=True)
    assert len(Server.objects.get().offers["tools"]) == 1001
