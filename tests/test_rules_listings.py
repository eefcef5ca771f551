"""Rules of what a server lists: how long it is kept, whose it is, and what is said of one that cannot be read."""

from datetime import timedelta
from typing import Any

import pytest
from django.contrib.auth.models import Permission, User
from django.utils.formats import date_format
from django.utils.timezone import localtime

from mrtr_web.models import PRIVATE_NETWORKS, Finding, Listing, Server
from tests.desk import LISTED, calls, desk, done, tools
from tests.person import Person
from tests.servers import Step, error, html, result
from tests.test_kinds import begin, findings

pytestmark = pytest.mark.django_db(transaction=True)

PAGE = "/s/demo/"


def let_it_age(**age: float) -> None:
    """Since everything was asked for."""
    earlier = timedelta(**age)
    for row in Listing.objects.all():
        times = {"fresh_until": row.fresh_until - earlier, "listed_at": row.listed_at - earlier}
        Listing.objects.filter(pk=row.pk).update(**times)
    for server in Server.objects.all():
        checked_at = server.checked_at and server.checked_at - earlier
        Server.objects.filter(pk=server.pk).update(checked_at=checked_at)


def one_tool(name: str, **more: Any) -> dict[str, Any]:
    return {"resultType": "complete", "tools": [{"name": name, "inputSchema": {"type": "object"}}], **more}


def test_a_listing_serves_for_as_long_as_it_says_and_then_it_alone_is_asked_for_again(
    person: Person, server: Server
) -> None:
    """CH-1, CH-3, VE-2"""
    listings = {
        "server/discover": LISTED["server/discover"] | {"ttlMs": 3_600_000},
        "tools/list": LISTED["tools/list"] | {"ttlMs": 60_000},
    }
    with desk(server, listings=listings) as recorder:
        person.get(PAGE)
        let_it_age(seconds=50)
        person.get(PAGE)
        person.get("/s/demo/tools/ask/")
        assert recorder.methods == ["server/discover", "tools/list"]
        let_it_age(seconds=11)
        person.get(PAGE)
        assert recorder.methods == ["server/discover", "tools/list", "tools/list"]
        let_it_age(hours=1)
        person.get("/s/demo/tools/ask/")
        assert recorder.methods[3:] == ["server/discover", "tools/list"]
        assert len({post.id for post in recorder.posts}) == 5


def test_a_listing_without_a_lifetime_serves_only_the_next_steps_of_a_person(person: Person, server: Server) -> None:
    """CH-3: 0 is stale at once; five seconds are what a page and the form behind it need."""
    both = ["server/discover", "tools/list"]
    with desk(server) as recorder:
        person.get(PAGE)
        person.get("/s/demo/tools/ask/")
        assert recorder.methods == both
        let_it_age(seconds=5)
        person.get(PAGE)
        assert recorder.methods == both * 2


def test_a_stale_listing_is_shown_and_said_to_be_so_while_the_server_is_out_of_reach(
    person: Person, server: Server
) -> None:
    """CH-3"""
    with desk(server):
        person.get(PAGE)
    let_it_age(minutes=6)
    page = person.get(PAGE)
    assert (page.status, "Ask me" in page.text) == (200, True)
    then = date_format(localtime(Listing.objects.get(kind="tools").listed_at), "DATETIME_FORMAT")
    assert "did not answer" in page.text and f"from the last time it answered: {then}" in page.text
    assert "from the last time it answered" in person.get("/s/demo/tools/ask/").text


def test_a_server_in_trouble_is_left_alone_for_a_while_unless_a_person_says_so(person: Person, server: Server) -> None:
    away: list[Step] = [lambda post: html(503)]
    with desk(server, *away, listings={}) as recorder:
        assert person.get(PAGE).status == 502
        assert person.get(PAGE).status == 502
        assert person.get("/s/demo/tools/ask/").status == 502
        assert len(recorder.posts) == 1
        assert Server.objects.get().trouble == "server_error"
        person.press("Try again")
        assert len(recorder.posts) == 2
        let_it_age(seconds=30)
        person.get(PAGE)
        assert len(recorder.posts) == 3
    with desk(server):
        page = person.press("Try again")
        assert "Ask me" in page.text and "did not answer" not in page.text
    assert Server.objects.get().trouble == ""


def test_a_listing_that_cannot_be_read_hides_only_its_own_kind(person: Person, server: Server) -> None:
    discover = LISTED["server/discover"] | {"capabilities": {"tools": {}, "prompts": {}}}
    prompts: list[Step] = [lambda post: error(post, -32603, message="no prompts today")]
    with desk(server, *prompts, listings=LISTED | {"server/discover": discover}) as recorder:
        page = person.get(PAGE)
        assert (page.status, "Ask me" in page.text) == (200, True)
        assert "refused to say what it offers" in page.text and "no prompts today" not in page.text
        assert recorder.methods == ["server/discover", "tools/list", "prompts/list"]


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
        page = person.press("Try again")
        assert "whole" in page.text and "second" in page.text and "half" not in page.text
        asked = [post.params.get("cursor") for post in recorder.posts if post.json["method"] == "tools/list"]
        assert asked == [None, "c1", None, ""]


def test_tools_of_one_name_on_two_servers_stay_apart(person: Person, server: Server) -> None:
    """CH-1, TO-7, BA-4: told apart by our own registration, though both give themselves one name."""
    same = {"_meta": {"io.modelcontextprotocol/serverInfo": {"name": "same", "version": "1"}}}
    other = Server.objects.create(
        slug="other", name="Other desk", url="http://127.0.0.1:9/mcp", private_networks=list(PRIVATE_NETWORKS)
    )
    with desk(server, done("from the first", **same)) as first, desk(other, done("from the second", **same)) as second:
        assert "from the first" in begin(person).text
        assert (len(calls(first)), len(second.posts)) == (1, 0)
        person.get("/s/other/")
        page = begin(person, "/s/other/tools/ask/")
        assert "from the second" in page.text and "Other desk" in page.text and "Demo desk" not in page.text
        assert (len(calls(first)), len(calls(second))) == (1, 1)


@pytest.mark.parametrize(
    ("field", "value"),
    [("url", "http://127.0.0.1:9/mcp"), ("capabilities", ["elicitation", "roots"])],
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
    assert len(Listing.objects.get(kind="tools").entries) == 1001
