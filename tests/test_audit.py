"""The audit trail: who sees which rows, filters, pages, the CSV, that no row changes, and when rows go."""

import csv
import io
import re
import socket
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.core.management import call_command
from django.db import DatabaseError, connection, transaction
from django.test.utils import CaptureQueriesContext
from django.utils import timezone
from pytest_django import Settings

from mrtr_web import sheets, wording
from mrtr_web.flow import Act, Event, State
from mrtr_web.models import AuditEntry, Flow, Leg, Person, Round, Server
from tests import person as people
from tests.reviewers import looking, other_server, page, reviewer_of
from tests.visitors import cookie_header, cookies_of

TRAIL = "/review/audit/"
pytestmark = pytest.mark.django_db


def note(server: Server | None, event: str = "asked", **more: Any) -> AuditEntry:
    ours = {"server_id": server.pk, "server": server.slug} if server else {}
    return AuditEntry.objects.create(event=event, **ours, **more)


@pytest.fixture
def rita(server: Server) -> User:
    """She reviews the demo server."""
    return reviewer_of("rita", server)


@pytest.fixture
def admin(db: None) -> User:
    return User.objects.create_superuser("root", password="root's password")


def test_a_row_tells_who_did_what_to_which_request_without_content(rita: User, server: Server, alice: User) -> None:
    flow = Flow.objects.create(user=alice, server=server, method="tools/call", name="ask", state=State.RUNNING)
    note(
        server,
        "answered",
        **{"by": "alice", "person": "alice", "flow": flow.pk, "method": "tools/call", "name": "ask", "round": 2},
        **{
            "before": "waiting",
            "after": "running",
            "kinds": ["form", "url"],
            "actions": ["accept", "decline"],
        },
        **{"sent_bytes": 2048, "received_bytes": 10, "duration": timedelta(seconds=125), "outcome": "asked"},
        note="a remark",
    )
    status, html = page(rita, TRAIL)
    words = [
        *("The person answered", "by alice", "With the person", "With the server", "Asked for more", "a remark"),
        *(f'href="/review/{flow.pk}/"', flow.reference, "Tool", '<bdi lang="">ask</bdi>', "demo", "Round 2"),
        *(
            "Form: answered, Page to open: declined",
            "2.0\xa0KB sent",
            "10\xa0bytes received",
            "2 min 5 s in the state before",
        ),
    ]
    assert (status, [each for each in words if each not in html]) == (200, [])


def test_a_request_that_is_gone_is_no_link(rita: User, server: Server) -> None:
    entry = note(server, flow="aabbccdd-0000-4000-8000-000000000000")
    _, html = page(rita, TRAIL)
    assert "AABBCCDD" in html
    assert f"/review/{entry.flow}/" not in html


def test_a_reviewer_sees_only_the_rows_of_their_servers(rita: User, server: Server) -> None:
    other = other_server()
    note(server, note="of ours")
    note(other, note="of theirs")
    note(None, "sessions_ended", note="of nobody")
    olaf = reviewer_of("olaf", other)
    ours, theirs = page(rita, TRAIL)[1], page(olaf, TRAIL)[1]
    assert ["of ours" in ours, "of theirs" in ours, "of nobody" in ours] == [True, False, False]
    assert ["of ours" in theirs, "of theirs" in theirs, "of nobody" in theirs] == [False, True, False]


def test_a_superuser_sees_all_rows_also_those_without_a_server(admin: User, server: Server) -> None:
    note(server, note="of ours")
    note(None, "sessions_ended", note="of nobody")
    html = page(admin, TRAIL)[1]
    assert "of ours" in html
    assert "of nobody" in html


@pytest.mark.parametrize("path", [TRAIL, "/review/audit.csv"])
def test_for_others_there_is_no_trail(alice: User, path: str) -> None:
    assert page(alice, path)[0] == 404


def test_a_server_of_others_cannot_be_asked_for(rita: User) -> None:
    note(other_server(), note="of theirs")
    status, html = page(rita, TRAIL, server="other")
    assert (status, "of theirs" in html) == (422, False)


KEPT = [
    ("person", "alice"),
    ("by", "rita"),
    ("event", "withdrawn"),
    ("outcome", "broken:"),
    ("reference", "AABBCCDD"),
    ("reference", "aabbccdd-0000-4000-8000-000000000000"),
    ("server", "demo"),
]


@pytest.mark.parametrize(("name", "value"), KEPT)
def test_each_filter_keeps_what_fits(admin: User, server: Server, name: str, value: str) -> None:
    fits = {"person": "alice", "by": "rita", "event": "withdrawn", "outcome": "broken:MR-13"}
    note(server, flow="aabbccdd-0000-4000-8000-000000000000", note="fits", **fits)
    note(other_server(), flow="aabbccde-0000-4000-8000-000000000000", note="wrong", person="bob", outcome="done")
    html = page(admin, TRAIL, **{name: value})[1]
    assert ["fits" in html, "wrong" in html] == [True, False]


def at(entry: AuditEntry, moment: datetime) -> None:
    """Put a row elsewhere in time: it cannot be changed, so it is written anew."""
    entry.delete()
    entry.pk, entry.at = None, moment
    entry.save(force_insert=True)


def test_days_are_those_of_the_reader(rita: User, server: Server) -> None:
    """In Auckland the first of March begins at 11:00 UTC of the day before."""
    Person.objects.create(user=rita, time_zone="Pacific/Auckland")
    at(note(server, note="too early"), datetime(2026, 2, 28, 10, 59, 59, tzinfo=UTC))
    at(note(server, note="first second"), datetime(2026, 2, 28, 11, 0, tzinfo=UTC))
    at(note(server, note="last second"), datetime(2026, 3, 1, 10, 59, 59, tzinfo=UTC))
    at(note(server, note="too late"), datetime(2026, 3, 1, 11, 0, tzinfo=UTC))
    html = page(rita, TRAIL, since="2026-03-01", until="2026-03-01")[1]
    assert ["too early" in html, "first second" in html, "last second" in html, "too late" in html] == [
        *(False, True, True, False)
    ]


@pytest.mark.parametrize(
    ("query", "words"),
    [
        ({"since": "31.02.2026"}, "Enter a valid date."),
        ({"since": "2026-03-02", "until": "2026-03-01"}, "The last day is before the first one."),
        ({"reference": "what?"}, "A reference has the digits 0 to 9 and the letters A to F."),
    ],
)
def test_a_filter_that_is_wrong_says_so_and_keeps_what_was_typed(
    rita: User, server: Server, query: dict[str, str], words: str
) -> None:
    note(server, note="a row")
    status, html = page(rita, TRAIL, person="alice", **query)
    assert (status, words in html, "There is a problem" in html, "a row" in html) == (422, True, True, False)
    for value in ("alice", *query.values()):
        assert f'value="{value}"' in html
    answer = looking(rita).get("/review/audit.csv", query)
    assert answer.status_code == 302
    assert answer["Location"].startswith("/review/audit/?")


@pytest.mark.parametrize("query", [{"until": "9999-12-31"}, {"since": "0001-01-01"}, {"before": str(2**63 - 1)}])
def test_the_ends_of_time_are_no_trouble(rita: User, server: Server, query: dict[str, str]) -> None:
    Person.objects.create(user=rita, time_zone="Pacific/Auckland")
    note(server, note="a row")
    assert page(rita, TRAIL, **query)[0] == 200


def test_older_rows_are_on_the_next_page_and_the_filter_stays(rita: User, server: Server) -> None:
    AuditEntry.objects.bulk_create(
        AuditEntry(event="asked", server_id=server.pk, person="alice", note=f"row {n:03}") for n in range(120)
    )
    client, shown = looking(rita), list[list[int]]()
    path = f"{TRAIL}?person=alice"
    for _ in range(3):
        html = client.get(path).content.decode()
        shown.append([n for n in range(120) if f"row {n:03}" in html])
        path = TRAIL + html.partition('rel="next" href="')[2].partition('"')[0].replace("&amp;", "&")
    assert shown == [list(range(70, 120)), list(range(20, 70)), list(range(20))]


def test_the_page_takes_the_same_number_of_queries_for_one_row_and_for_fifty(
    rita: User, server: Server, alice: User
) -> None:
    client = looking(rita)

    def queries() -> int:
        with CaptureQueriesContext(connection) as counted:
            client.get(TRAIL)
        return len(counted)

    def add(number: int) -> None:
        for _ in range(number):
            flow = Flow.objects.create(user=alice, server=server, method="tools/call", name="ask")
            note(server, flow=flow.pk, person="alice")

    add(1)
    few = queries()
    add(60)
    assert queries() == few


def test_no_row_can_be_changed(server: Server) -> None:
    entry = note(server, note="as it was")
    entry.note = "as it never was"
    with pytest.raises(DatabaseError, match="append-only"), transaction.atomic():
        entry.save()
    with pytest.raises(DatabaseError, match="append-only"), transaction.atomic():
        AuditEntry.objects.update(note="as it never was")
    columns = ", ".join(str(field.column) for field in AuditEntry._meta.fields)
    copy = f"INTO mrtr_web_auditentry ({columns}) SELECT {columns} FROM mrtr_web_auditentry"
    with pytest.raises(DatabaseError), transaction.atomic(), connection.cursor() as cursor:
        cursor.execute(f"INSERT OR REPLACE {copy}" if connection.vendor == "sqlite" else f"INSERT {copy}")
    assert AuditEntry.objects.get().note == "as it was"


def exported(app: str, user: User, query: str = "") -> list[list[str]]:
    """The lines of the CSV as this person gets them."""
    with people.Person(app) as reader:
        reader.client.cookies.update(cookies_of(user))
        response = reader.client.get(f"/review/audit.csv{query}")
    assert response.headers["content-type"] == "text/csv; charset=utf-8"
    assert response.headers["content-disposition"] == 'attachment; filename="audit.csv"'
    assert response.content.startswith(b"\xef\xbb\xbf")
    return list(csv.reader(io.StringIO(response.content.decode("utf-8-sig"))))


@pytest.mark.django_db(transaction=True)
class TestExport:
    def test_all_that_the_filter_finds_is_in_it_over_many_chunks(self, app: str, rita: User, server: Server) -> None:
        rows = [AuditEntry(event="asked", server_id=server.pk, person="alice", round=n) for n in range(2500)]
        AuditEntry.objects.bulk_create([*rows, AuditEntry(event="asked", server_id=server.pk, person="bob")])
        head, *lines = exported(app, rita, "?person=alice")
        assert [line[head.index("round")] for line in lines] == [str(n) for n in reversed(range(2500))]

    def test_a_reviewer_of_another_group_gets_none_of_it(self, app: str, rita: User, server: Server) -> None:
        note(server)
        assert len(exported(app, rita)) == 2
        assert len(exported(app, reviewer_of("olaf", other_server()))) == 1

    def test_a_process_can_make_more_of_them_than_it_has_database_connections(self, app: str, server: Server) -> None:
        """Heads of them, whole ones, and some of browsers that hang up at once."""
        note(server)
        host, port = app.removeprefix("http://").split(":")
        for name in ("ada", "bob", "cleo"):
            cookies = cookie_header(cookies_of(reviewer_of(name, server)))
            for method in ("HEAD", "GET", "GET", "GET"):
                ask = f"{method} /review/audit.csv HTTP/1.1\r\nHost: {host}\r\nCookie: {cookies}\r\n\r\n"
                with socket.create_connection((host, int(port)), timeout=people.BOUND) as connection:
                    connection.sendall(ask.encode())
                    assert connection.recv(65536).startswith(b"HTTP/1.1 200")
        assert len(exported(app, reviewer_of("olaf", server))) == 2

    def test_hostile_names_and_notes_are_texts_on_one_line(self, app: str, rita: User, server: Server) -> None:
        note(server, name="=1+1\r\n@x", person="+alice", by="@rita", note='"\u2028-2;=cmd|x')
        head, line = exported(app, rita)
        found = dict(zip(head, line, strict=True))
        assert (found["name"], found["person"], found["by"]) == ("'=1+1 @x", "'+alice", "'@rita")
        assert found["note"] == "'\" -2;'=cmd|x"

    def test_numbers_and_times_are_plain(self, app: str, rita: User, server: Server) -> None:
        note(
            server, sent_bytes=5, duration=timedelta(seconds=1.5), round=0, flow="aabbccdd-0000-4000-8000-000000000000"
        )
        head, line = exported(app, rita)
        found = dict(zip(head, line, strict=True))
        assert (found["sent_bytes"], found["seconds"], found["round"], found["received_bytes"]) == ("5", "1.5", "0", "")
        assert datetime.fromisoformat(found["time"]).utcoffset() == timedelta()
        assert found["reference"] == "AABBCCDD"


@pytest.mark.parametrize("start", ["", " ", '"', "'", "\u201c", "\u00a0", "\u3000", '" \'"', "x,", "x;", "x; '"])
@pytest.mark.parametrize("sign", ["=", "+", "-", "@", "\uff1d", "\uff0b", "\uff0d", "\uff20", "\t=", "\r=", "\n+"])
def test_no_cell_is_a_formula(start: str, sign: str) -> None:
    cell = sheets.safe(f"{start}{sign}1+cmd|calc!A0")
    assert re.split("[,;]", cell)[-1].lstrip()[:1] == "'"


@pytest.mark.parametrize("text", ["a\nb", "a\r\nb", "a\u2028b", "a\u0085b", "a\x0bb", "a\x00b", "a\tb"])
def test_no_cell_breaks_the_line(text: str) -> None:
    assert len(sheets.line([text, 1]).decode().splitlines()) == 1


def test_plain_texts_and_numbers_stay_as_they_are() -> None:
    cells: list[sheets.Cell] = ["tools/call", "a-b", "x = y", 'say "hi", then', -5, 1.25, None]
    (line,) = csv.reader([sheets.line(cells).decode()])
    assert line == ["tools/call", "a-b", "x = y", 'say "hi", then', "-5", "1.25", ""]


def aged(server: Server, alice: User, days: float, state: State) -> Flow:
    """A request that changed so long ago, with a leg, a round and a row of the trail."""
    then = timezone.now() - timedelta(days=days)
    flow = Flow.objects.create(user=alice, server=server, method="tools/call", name="ask", state=state)
    Flow.objects.filter(pk=flow.pk).update(started_at=then, changed_at=then)
    Leg.objects.create(flow=flow, round=0)
    Round.objects.create(flow=flow, number=1, kinds=["form"])
    AuditEntry.objects.create(event="asked", server_id=server.pk, flow=flow.pk, at=then)
    return flow


class TestPurge:
    @pytest.fixture(autouse=True)
    def ten_days(self, settings: Settings) -> None:
        settings.CONFIG = settings.CONFIG.model_copy(update={"audit_days": 10})

    def test_what_is_older_goes_and_what_is_open_or_younger_stays(
        self, server: Server, alice: User, capsys: pytest.CaptureFixture[str]
    ) -> None:
        old, open_one = aged(server, alice, 10.1, State.COMPLETED), aged(server, alice, 11, State.WAITING)
        young = aged(server, alice, 9.9, State.STOPPED)
        call_command("purge")
        assert capsys.readouterr().out == (
            "Ended 0 sessions that ran out.\n"
            "Deleted 2 rows of the audit trail and 1 ended requests, older than 10 days.\n"
        )
        assert set(Flow.objects.values_list("pk", flat=True)) == {open_one.pk, young.pk}
        assert not Leg.objects.filter(flow=old.pk).exists()
        assert list(AuditEntry.objects.values_list("flow", flat=True)) == [young.pk]

    def test_a_dry_run_only_counts(self, server: Server, alice: User, capsys: pytest.CaptureFixture[str]) -> None:
        aged(server, alice, 11, State.EXPIRED)
        call_command("purge", "--dry-run")
        assert capsys.readouterr().out == (
            "Would end 0 sessions that ran out.\n"
            "Would delete 1 rows of the audit trail and 1 ended requests, older than 10 days.\n"
        )
        assert (Flow.objects.count(), AuditEntry.objects.count()) == (1, 1)

    def test_more_than_a_batch_goes(self, server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr("mrtr_web.retention.BATCH", 3)
        then = timezone.now() - timedelta(days=11)
        AuditEntry.objects.bulk_create(AuditEntry(event="asked", at=then) for _ in range(8))
        call_command("purge", verbosity=0)
        assert AuditEntry.objects.count() == 0


def test_all_that_the_trail_tells_has_words() -> None:
    assert {*Event, *Act} == set(wording.EVENTS)
    assert set(State) == set(wording.STATES)
