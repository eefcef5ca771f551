"""Findings at the review desk: which servers they are of, what they mean, and the report for a server's author."""

import re
from datetime import UTC, datetime

import pytest
from django.contrib.auth.models import User
from django.db import connection
from django.test.utils import CaptureQueriesContext
from playwright.sync_api import expect

from mrtr_web import findings
from mrtr_web.models import Finding, Server
from tests.reviewers import looking, other_server, page, reviewer_of
from tests.window import Opener, in_browser

LIST = "/review/findings/"
SEEN = {"first_at": datetime(2026, 3, 1, 12, tzinfo=UTC), "last_at": datetime(2026, 3, 2, 13, 30, tzinfo=UTC)}
pytestmark = pytest.mark.django_db


@pytest.fixture
def rita(server: Server) -> User:
    """She reviews the demo server."""
    return reviewer_of("rita", server)


def broke(server: Server, rule: str = "MR-13", count: int = 3) -> None:
    Finding.objects.create(server=server, rule=rule, count=count, **SEEN)


def cells(html: str) -> list[list[str]]:
    """The text of each row's cells."""
    rows = re.findall(r"<tr>(.*?)</tr>", html.partition("<tbody>")[2], re.DOTALL)
    tags = re.compile(r"<[^>]+>")
    return [
        [" ".join(tags.sub(" ", cell).split()) for cell in re.findall(r"<t[dh][^>]*>(.*?)</t[dh]>", row, re.DOTALL)]
        for row in rows
    ]


def test_each_server_is_listed_with_how_often_it_broke_how_many_rules(rita: User, server: Server) -> None:
    broke(server, "MR-13", 3)
    broke(server, "HT-404", 2)
    other = other_server()
    broke(other)
    other.groups.set(server.groups.all())
    Finding.objects.filter(server=other).delete()
    assert cells(page(rita, LIST)[1]) == [
        ["Demo desk", "2", "5", "2 Mar 2026, 13:30"],
        ["The other desk", "0", "0", "Never"],
    ]


def test_a_finding_has_its_meaning_advice_times_and_a_link_to_its_rule(rita: User, server: Server) -> None:
    broke(server, "HT-404", 3)
    html = page(rita, f"{LIST}demo/")[1]
    rule = findings.rule("HT-404")
    assert cells(html) == [["HT-404", f"{rule.meaning} {rule.advice}", "3", "1 Mar 2026, 12:00", "2 Mar 2026, 13:30"]]
    assert 'href="/rules/#HT-status"' in html
    assert 'id="HT-status"' in page(rita, "/rules/")[1]


def test_the_report_is_whole_and_names_nobody(rita: User, alice: User, server: Server) -> None:
    Server.objects.update(url="https://user:secret@mcp.example:8443/mcp?key=secret")
    broke(server, "MR-13", 1)
    broke(server, "LIST-SIZE", 2)
    answer = looking(rita).get(f"{LIST}demo/report.txt")
    head, about, *entries = answer.content.decode().rstrip("\n").split("\n\n")
    assert head == "Findings about Demo desk (mcp.example:8443)"
    assert about.startswith("Seen by mrtr_web, a client of the Model Context Protocol (revision 2026-07-28), until 20")
    times = "first 2026-03-01 12:00 UTC, last 2026-03-02 13:30 UTC"
    assert entries == [
        f"LIST-SIZE: seen 2 times, {times}\n"
        "    A listing had more than 1,000 entries of one kind; the others are not shown. A limit of ours.\n"
        "    List fewer entries, or offer resources by templates.",
        f"MR-13: seen once, {times}\n"
        "    A round had neither requests nor a state, or one of a wrong type.\n"
        "    Send `inputRequests` as an object, `requestState` as a text, or both.\n"
        "    https://modelcontextprotocol.io/specification/2026-07-28/basic/patterns/mrtr",
    ]
    assert answer["Content-Disposition"] == 'attachment; filename="findings-demo.txt"'
    assert answer["Content-Type"] == "text/plain; charset=utf-8"


def test_a_server_without_findings_says_so(rita: User) -> None:
    assert "It was not seen to break any rule." in page(rita, f"{LIST}demo/")[1]
    assert "Nothing was seen that breaks a rule." in looking(rita).get(f"{LIST}demo/report.txt").content.decode()


@pytest.mark.parametrize("path", ["other/", "other/report.txt", "nowhere/"])
def test_a_server_of_others_is_not_there(rita: User, path: str) -> None:
    broke(other_server())
    assert page(rita, LIST + path)[0] == 404
    assert "other desk" not in page(rita, LIST)[1]


@pytest.mark.parametrize("path", ["", "demo/", "demo/report.txt"])
def test_for_who_reviews_nothing_there_are_no_findings(alice: User, server: Server, path: str) -> None:
    assert page(alice, LIST + path)[0] == 404


def test_everybody_who_is_signed_in_may_read_the_rules(alice: User) -> None:
    status, html = page(alice, "/rules/")
    assert status == 200
    assert [name for name in findings.MEANINGS if f'id="{name}"' not in html] == []


def test_the_list_takes_the_same_number_of_queries_for_one_server_and_for_twenty(rita: User, server: Server) -> None:
    client = looking(rita)

    def queries() -> int:
        with CaptureQueriesContext(connection) as counted:
            assert client.get(LIST).status_code == 200
        return len(counted)

    broke(server)
    few = queries()
    for number in range(20):
        other = other_server(f"other{number}")
        other.groups.set(server.groups.all())
        broke(other)
    assert queries() == few


class TestInBrowser:
    pytestmark = in_browser

    def test_the_report_is_copied_by_a_button(self, opened: Opener, alice: User, server: Server) -> None:
        broke(server)
        alice.groups.set(reviewer_of("rita", server).groups.all())
        window = opened(permissions=["clipboard-read", "clipboard-write"])
        window.sign_in()
        window.page.goto(f"{window.base}{LIST}demo/")
        window.check()
        window.page.get_by_role("button", name="Copy as text").click()
        expect(window.page.get_by_role("button", name="Copied")).to_be_visible()
        window.page.evaluate("document.body.append(document.createElement('textarea'))")
        window.page.locator("textarea").press("Control+V")  # pages themselves may not read what was copied
        expect(window.page.locator("textarea")).to_have_value(re.compile("MR-13: seen 3 times"))
        window.page.get_by_role("link", name="MR-13").click()
        expect(window.page.get_by_role("heading", name="MR-13")).to_be_in_viewport()
        window.check()

    @pytest.mark.parametrize("path", ["/review/audit/", LIST, "/review/numbers/"])
    def test_the_desks_records_fit_a_phone(self, opened: Opener, alice: User, server: Server, path: str) -> None:
        broke(server)
        alice.groups.set(reviewer_of("rita", server).groups.all())
        window = opened(viewport={"width": 390, "height": 800}, color_scheme="dark")
        window.sign_in()
        window.page.goto(f"{window.base}{path}")
        window.check()
