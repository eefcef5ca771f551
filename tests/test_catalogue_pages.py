"""The pages of the catalogue: search, what was used last, what a server offers; for those who may use it."""

import re
from datetime import timedelta
from typing import Any

import pytest
from django.contrib.auth.models import Group, Permission, User
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone
from django.utils.html import strip_tags

from mrtr_web import ledger
from mrtr_web.models import Flow, Server
from tests.desk import LISTED, desk, done, lists_now
from tests.offers import make_library, store, tool
from tests.person import Person
from tests.servers import Step, html
from tests.test_kinds import begin
from tests.visitors import cookies_of

pytestmark = pytest.mark.django_db


@pytest.fixture
def client(alice: User) -> Client:
    """Alice's browser."""
    client = Client()
    client.cookies.load(cookies_of(alice))
    return client


@pytest.fixture
def library(db: None) -> Server:
    return make_library()


@pytest.fixture
def secret(server: Server) -> Server:
    """A server of a group that Alice is not in, with the tag `hush`."""
    server.groups.add(Group.objects.create(name="others"))
    Server.objects.filter(pk=server.pk).update(name="Secret desk", tags=["hush"])
    store(server, tools=[tool("plot", "Plot something with books")])
    return server


def titles(client: Client, **query: str) -> list[str]:
    """The headings of the cards that are shown, in order."""
    page = client.get("/", query).content.decode()
    return [strip_tags(title).strip() for title in re.findall(r'<h3 class="card__title">(.*?)</h3>', page)]


def words(client: Client, path: str, **query: str) -> str:
    return re.sub(r"\s+", " ", strip_tags(client.get(path, query).content.decode()))


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ("map", ["Find a map"]),
        ("EMILES", []),
        ("ÉMILE'S", ["Find a map"]),
        ("emile's", ["Find a map"]),
        ("book", ["City library", "Renew my books", "Find a map"]),
        ("books renew", ["Renew my books"]),
        ("renew map", []),
        ("author", ["Invite an author"]),
        ("shelf", ["A shelf"]),
        ("hours", ["Opening hours"]),
        ("letter", ["Invite an author"]),
        ("find_map", ["Find a map"]),
        ("library", ["City library"]),
        ("library map", ["Find a map"]),
        ("nine", ["City library"]),
    ],
)
def test_all_words_must_be_there_and_names_come_before_descriptions(
    client: Client, library: Server, query: str, found: list[str]
) -> None:
    assert titles(client, q=query) == found


def test_what_is_found_leads_to_its_form(client: Client, library: Server) -> None:
    page = client.get("/", {"q": "map"}).content.decode()
    assert 'href="/s/library/tools/find_map/"' in page
    assert client.get("/s/library/tools/find_map/").status_code == 200
    page = client.get("/", {"q": "hours"}).content.decode()
    assert 'href="/s/library/resources/?uri=hours%3A%2F%2Ftoday"' in page


def test_a_search_without_a_result_says_what_to_do(client: Client, library: Server) -> None:
    text = words(client, "/", q="zebra")
    assert "Nothing was found for “zebra”. Try fewer words, or others. Look through all servers" in text
    assert "Search all servers" in words(client, "/", q="zebra", tag="city")


def test_servers_are_chosen_by_tag_and_by_name(client: Client, library: Server, server: Server) -> None:
    assert titles(client) == ["City library", "Demo desk"]
    assert titles(client, tag="city") == ["City library"]
    assert titles(client, server="demo") == ["Demo desk"]
    assert titles(client, tag="city", server="demo") == []
    store(server, tools=[tool("book", "Book a trip")])
    assert titles(client, q="book", server="demo") == ["Book a trip"]
    assert titles(client, q="books", tag="city") == ["City library", "Renew my books", "Find a map"]


def test_of_a_server_that_a_person_may_not_use_nothing_is_told(
    client: Client, library: Server, secret: Server, alice: User
) -> None:
    Flow.objects.create(user=alice, server=secret, method="tools/call", name="plot")
    for query in (
        {},
        {"q": "books"},
        {"q": "plot"},
        {"server": "demo"},
        {"tag": "hush"},
        {"q": "plot", "server": "demo"},
    ):
        page = client.get("/", query).content.decode()
        shown = re.sub('name="next" value="[^"]*"', "", page)
        shown = shown.replace('value="plot"', "").replace("“plot”", "").replace("“hush”", "")
        assert not re.search("secret|plot something|hush|/s/demo/", shown, re.IGNORECASE), query
    assert client.get("/s/demo/").status_code == 404
    assert client.post("/s/demo/").status_code == 404


def test_private_listings_are_searched_by_their_person_alone(
    client: Client, server: Server, alice: User, bob: User
) -> None:
    his = Client()
    his.cookies.load(cookies_of(bob))
    store(server, alice, tools=[tool("a", "A map for Alice")])
    store(server, bob, tools=[tool("b", "A map for Bob")])
    assert titles(client, q="map") == ["A map for Alice"]
    assert titles(his, q="map") == ["A map for Bob"]


def use(alice: User, server: Server, *names: str, method: str = "tools/call") -> None:
    """One after the other, the last one just now."""
    for index, name in enumerate(names):
        at = timezone.now() - timedelta(minutes=len(names) - index)
        Flow.objects.create(user=alice, server=server, method=method, name=name, started_at=at)


def recents(client: Client) -> list[str]:
    page = client.get("/").content.decode()
    return [
        re.sub(r"\s+", " ", strip_tags(each)).strip()
        for each in re.findall(r'<span class="recent__text">(.*?)</span></span>', page, re.DOTALL)
    ]


def test_what_was_used_last_comes_first_and_each_once(client: Client, library: Server, alice: User, bob: User) -> None:
    assert recents(client) == []
    use(alice, library, "renew", "find_map", "renew")
    use(bob, library, "letter", method="prompts/get")
    assert recents(client) == ["Renew my books City library", "Find a map City library"]


def test_of_what_was_used_eight_are_shown(client: Client, library: Server, alice: User) -> None:
    store(library, tools=[tool(f"t{number}") for number in range(10)])
    use(alice, library, *(f"t{number}" for number in range(10)))
    assert recents(client) == [f"t{number} City library" for number in range(9, 1, -1)]


def test_what_was_used_and_is_gone_says_so(client: Client, library: Server, alice: User) -> None:
    use(alice, library, "renew", "burn")
    assert recents(client) == ["burn City library · No longer offered", "Renew my books City library"]
    assert 'href="/s/library/tools/burn/"' in client.get("/").content.decode()
    page = client.get("/s/library/tools/burn/")
    assert page.status_code == 404 and "does not offer this any more" in page.content.decode()
    Server.objects.update(hidden_tools=["renew"])
    assert recents(client)[1] == "Renew my books City library · No longer offered"


def test_where_nothing_is_known_of_a_server_nothing_is_said_to_be_gone(
    client: Client, server: Server, alice: User
) -> None:
    use(alice, server, "ask")
    assert recents(client) == ["ask Demo desk"]


def test_a_resource_that_was_read_is_named_without_its_address(client: Client, library: Server, alice: User) -> None:
    use(alice, library, "", method="resources/read")
    assert recents(client) == ["Read a resource City library"]


def test_a_server_is_shown_with_its_icon_words_and_tags(client: Client, library: Server) -> None:
    Server.objects.update(letter="Bü")
    page = client.get("/s/library/").content.decode()
    assert re.search(r'<span class="icon icon--\d icon--large" aria-hidden="true">Bü</span>', page)
    assert 'href="/?tag=books"' in page
    assert "library.example" in page and "All nine branches." in page


def test_what_a_server_offers_is_filtered_by_words(client: Client, library: Server) -> None:
    text = words(client, "/s/library/", q="books")
    assert "Renew my books" in text and "Find a map" in text and "Invite an author" not in text
    assert "All that City library offers" in text
    text = words(client, "/s/library/", q="zebra")
    assert "City library offers nothing with “zebra”. Try fewer words, or others." in text


CLAIMS = {
    "reads": "Says it only reads",
    "destroys": "Says it may delete or overwrite",
    "repeats": "Says it can be repeated",
}
UNCHECKED = "nobody has checked."


@pytest.mark.parametrize(
    ("hints", "claims"),
    [
        ({}, []),
        ({"readOnlyHint": False, "destructiveHint": False, "idempotentHint": False}, []),
        ({"readOnlyHint": "true", "destructiveHint": 1}, []),
        ({"readOnlyHint": True}, ["reads"]),
        ({"readOnlyHint": True, "destructiveHint": True}, ["reads"]),
        ({"destructiveHint": True, "idempotentHint": True}, ["destroys", "repeats"]),
    ],
)
def test_annotations_are_shown_as_claims_of_the_server(
    client: Client, library: Server, hints: dict[str, Any], claims: list[str]
) -> None:
    """TO-2"""
    store(library, tools=[tool("t", **hints)])
    for path, query in (("/s/library/", {}), ("/s/library/tools/t/", {}), ("/", {"q": "t"})):
        text = words(client, path, **query)
        assert [claim for claim, told in CLAIMS.items() if told in text] == claims
        assert (UNCHECKED in text) is bool(claims)


def test_a_person_is_told_beforehand_that_reviewers_can_read_along(client: Client, library: Server) -> None:
    told = "can read what City library asks you while this request is open. They cannot read your answers."
    assert told not in words(client, "/s/library/tools/renew/")
    Server.objects.update(keep_messages=True)
    assert told in words(client, "/s/library/tools/renew/")


@pytest.mark.parametrize(("allowed", "linked"), [(["view_finding"], False), (["view_finding", "review_flow"], True)])
def test_who_may_review_a_server_finds_the_report_of_what_it_does_wrong(
    client: Client, library: Server, alice: User, allowed: list[str], linked: bool
) -> None:
    alice.user_permissions.set(Permission.objects.filter(codename__in=allowed))
    ledger.note_findings(library.pk, ["LIST-TWICE"])
    page = client.get("/s/library/").content.decode()
    assert "LIST-TWICE" in page
    assert ('href="/review/findings/library/"' in page) is linked


def test_the_number_of_queries_does_not_grow_with_the_servers(client: Client, library: Server, alice: User) -> None:
    def queries(**query: str) -> int:
        with CaptureQueriesContext(connection) as seen:
            assert client.get("/", query).status_code == 200
        return len(seen)

    use(alice, library, "renew")
    few = queries(), queries(q="book")
    group = Group.objects.create(name="all")
    alice.groups.add(group)
    for number in range(12):
        more = Server.objects.create(slug=f"s{number}", name=f"Server {number}", url="https://x.example", tags=["more"])
        more.groups.add(group)
        store(more, tools=[tool("book", "Book something")])
        use(alice, more, "book")
    assert (queries(), queries(q="book")) == few


def test_a_search_reads_no_schemas(client: Client, library: Server) -> None:
    """They are most of a listing: twenty servers with 200 tools each took a quarter of a second to read."""
    with CaptureQueriesContext(connection) as seen:
        assert titles(client, q="map") == ["Find a map"]
    assert not [query["sql"] for query in seen if '"entries"' in query["sql"]]


@pytest.mark.django_db(transaction=True)
def test_a_search_asks_servers_that_have_told_this_person_nothing_yet(person: Person, server: Server) -> None:
    Server.objects.create(slug="away", name="Away", url="http://127.0.0.1:9/mcp")
    with desk(server) as recorder:
        text = person.get("/?q=ask").text
        assert "Ask me" in text
        assert "because they do not say it at the moment: Away" in text
        person.get("/?q=ask")
        assert recorder.methods == ["server/discover", "tools/list"]


@pytest.mark.django_db(transaction=True)
def test_a_search_asks_for_what_the_pages_so_far_did_not_need(person: Person, server: Server) -> None:
    prompts = {"resultType": "complete", "prompts": [{"name": "greet", "title": "Greet me"}]}
    discover = LISTED["server/discover"] | {"capabilities": {"tools": {}, "prompts": {}}}
    with desk(server, listings=LISTED | {"server/discover": discover, "prompts/list": prompts}) as recorder:
        person.get("/s/demo/tools/ask/")
        assert recorder.methods == ["server/discover", "tools/list"]
        assert "Greet me" in person.get("/?q=greet").text
        assert recorder.methods[-1] == "prompts/list"


@pytest.mark.django_db(transaction=True)
def test_a_search_does_not_wait_for_a_server_in_trouble_again(person: Person, server: Server) -> None:
    away: list[Step] = [lambda post: html(503)]
    with desk(server, *away, listings={}) as recorder:
        person.get("/?q=ask")
        person.get("/?q=ask")
        assert len(recorder.posts) == 1


@pytest.mark.django_db(transaction=True)
def test_a_tool_that_vanished_says_so_from_an_earlier_request(person: Person, server: Server) -> None:
    with desk(server, done()):
        assert begin(person).state == "completed"
        lists_now()
        page = person.get(person.page.link("Do it again"))
        assert page.status == 404
        assert "Demo desk does not offer this any more" in page.text
