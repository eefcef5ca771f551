"""States move by conditional updates: a late, doubled or foreign call changes nothing."""

import uuid
from datetime import timedelta
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.db import connection
from django.db.models.functions import Now
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from mrtr_web import ledger
from mrtr_web.flow import Event, State
from mrtr_web.models import AuditEntry, Finding, Flow, Leg, Round, SealedRecord, Server, Session


@pytest.fixture
def session(alice: User) -> Session:
    now = timezone.now()
    return Session.objects.create(
        session_key="k",
        user=alice,
        key_digest="d",
        seen_at=now,
        expire_date=now + timedelta(hours=1),
        ends_at=now,
    )


def begun(alice: User, server: Server, session: Session) -> tuple[Flow, uuid.UUID]:
    row = Flow(user=alice, server=server, method="tools/call", name="t")
    leg = ledger.begin(row, session=session.pk, sealed=b"0", lease=20)
    assert leg is not None
    return row, leg


def landing(event: Event, round_number: int = 0, **more: object) -> ledger.Landing:
    return ledger.Landing(event, "code", round_number, b"new", **more)  # type: ignore[arg-type]


def state(row: Flow) -> str:
    return Flow.objects.values_list("state", flat=True).get(pk=row.pk)


def waiting(alice: User, server: Server, session: Session) -> tuple[Flow, uuid.UUID]:
    row, leg = begun(alice, server, session)
    assert ledger.land(row.pk, leg, landing(Event.ASKED, 1, asked=ledger.Asked(("form",))))
    return row, leg


def claim(row: Flow, event: Event = Event.ANSWERED, *, seen: Flow | None = None, **more: Any) -> uuid.UUID | None:
    return ledger.claim(seen or Flow.objects.get(pk=row.pk), event, by=row.user_id, sealed=b"a", lease=20, **more)


def test_what_nobody_can_go_on_with_is_over(alice: User, server: Server, session: Session) -> None:
    """As after a restored backup that has no sealed records in it."""
    (lost, _), (kept, _) = waiting(alice, server, session), waiting(alice, server, session)
    SealedRecord.objects.filter(pk=lost.pk).delete()
    assert ledger.expire_old_orphans() == 0
    Flow.objects.update(changed_at=Now() - timedelta(minutes=2))
    assert (ledger.expire_old_orphans(), ledger.expire_old_orphans()) == (1, 0)
    assert (state(lost), state(kept)) == (State.EXPIRED, State.WAITING)
    assert AuditEntry.objects.filter(flow=lost.pk, event=Event.SESSION_ENDED).count() == 1


def test_a_flow_id_begins_once(alice: User, server: Server, session: Session) -> None:
    row, _ = begun(alice, server, session)
    again = Flow(pk=row.pk, user=alice, server=server, method="tools/call", name="t")
    assert ledger.begin(again, session=session.pk, sealed=b"1", lease=20) is None
    assert (Flow.objects.count(), Leg.objects.count()) == (1, 1)
    assert bytes(SealedRecord.objects.get().sealed) == b"0"


def test_nothing_begins_in_a_session_that_ended(alice: User, server: Server, session: Session) -> None:
    session.delete()
    row = Flow(user=alice, server=server, method="tools/call", name="t")
    with pytest.raises(ledger.SessionOver):
        ledger.begin(row, session=999, sealed=b"", lease=20)
    assert Flow.objects.count() == 0


def test_a_landing_writes_state_record_round_and_audit(alice: User, server: Server, session: Session) -> None:
    row, leg = waiting(alice, server, session)
    row.refresh_from_db()
    assert (row.state, row.round, row.lease_until) == ("waiting", 1, None)
    assert bytes(SealedRecord.objects.get().sealed) == b"new"
    assert list(Round.objects.values_list("number", "kinds")) == [(1, ["form"])]
    assert list(AuditEntry.objects.order_by("id").values_list("event", "before", "after", "round")) == [
        ("started", "", "running", 0),
        ("asked", "running", "waiting", 1),
    ]
    assert Leg.objects.get(pk=leg).outcome == "code"


def test_a_round_is_claimed_once(alice: User, server: Server, session: Session) -> None:
    """T-29"""
    row, _ = waiting(alice, server, session)
    first = claim(row, answered=ledger.Answered(("form",), ("accept",)))
    assert first is not None
    assert claim(row) is None
    assert (state(row), Leg.objects.count()) == ("running", 2)
    assert Round.objects.get().actions == ["accept"]


def test_a_stale_round_cannot_be_claimed(alice: User, server: Server, session: Session) -> None:
    row, _ = waiting(alice, server, session)
    stale = Flow.objects.get(pk=row.pk)
    stale.round = 0
    assert claim(row, seen=stale) is None
    assert state(row) == "waiting"


def test_a_claim_without_a_record_is_undone(alice: User, server: Server, session: Session) -> None:
    row, _ = waiting(alice, server, session)
    SealedRecord.objects.all().delete()
    assert claim(row) is None
    assert (state(row), Leg.objects.count()) == ("waiting", 1)


def test_a_late_result_never_lands_in_a_leg_sent_again(alice: User, server: Server, session: Session) -> None:
    row, old = begun(alice, server, session)
    assert ledger.depart(row.pk, old, 20)
    assert ledger.land(row.pk, old, landing(Event.LOST))
    new = claim(row, Event.SENT_AGAIN)
    assert new is not None
    assert not ledger.land(row.pk, old, landing(Event.FINISHED))
    assert state(row) == "running"
    assert ledger.land(row.pk, new, landing(Event.ASKED, 1))


def test_a_late_result_lands_while_nothing_else_was_sent(alice: User, server: Server, session: Session) -> None:
    row, leg = begun(alice, server, session)
    ledger.depart(row.pk, leg, -1)
    assert ledger.expire_leases() == 1
    assert state(row) == "unknown"
    assert ledger.land(row.pk, leg, landing(Event.FINISHED))
    assert state(row) == "completed"


def test_send_again_counts_for_the_leg_on_the_page_alone(alice: User, server: Server, session: Session) -> None:
    row, leg = begun(alice, server, session)
    ledger.land(row.pk, leg, landing(Event.NOT_SENT))
    seen = Flow.objects.get(pk=row.pk)
    assert claim(row, Event.SENT_AGAIN, seen=seen) is not None
    assert claim(row, Event.SENT_AGAIN, seen=seen) is None
    assert Leg.objects.count() == 2


def test_a_claim_never_overwrites_what_landed_meanwhile(alice: User, server: Server, session: Session) -> None:
    """The record that "send again" was read from must still be the flow's."""
    row, leg = begun(alice, server, session)
    ledger.land(row.pk, leg, landing(Event.LOST))
    seen = Flow.objects.get(pk=row.pk)
    assert ledger.land(row.pk, leg, landing(Event.TOLD_TO_WAIT))
    assert claim(row, Event.SENT_AGAIN, seen=seen) is None
    assert bytes(SealedRecord.objects.get().sealed) == b"new"


def test_an_expired_lease_is_unsent_where_nothing_was_sent(alice: User, server: Server, session: Session) -> None:
    row, _ = begun(alice, server, session)
    Flow.objects.update(lease_until=Now() - timedelta(seconds=1))
    assert ledger.expire_leases() == 1
    assert state(row) == "unsent"


def test_a_living_lease_is_left_alone(alice: User, server: Server, session: Session) -> None:
    row, _ = begun(alice, server, session)
    assert ledger.expire_leases() == 0
    assert state(row) == "running"


@pytest.mark.parametrize("event", [Event.STOPPED, Event.WITHDRAWN, Event.SESSION_ENDED])
def test_a_leg_is_unwanted_once_its_flow_is_over(alice: User, server: Server, session: Session, event: Event) -> None:
    row, leg = begun(alice, server, session)
    assert ledger.beat(row.pk, leg, 20)
    assert ledger.move(row.pk, event)
    assert not ledger.beat(row.pk, leg, 20)
    assert not ledger.land(row.pk, leg, landing(Event.FINISHED))
    assert state(row) in (State.STOPPED, State.WITHDRAWN, State.EXPIRED)


def test_a_leg_is_unwanted_once_its_record_is_gone(alice: User, server: Server, session: Session) -> None:
    row, leg = begun(alice, server, session)
    SealedRecord.objects.all().delete()
    assert not ledger.depart(row.pk, leg, 20)
    assert not ledger.land(row.pk, leg, landing(Event.FINISHED))


def test_findings_are_counted_by_rule(alice: User, server: Server, session: Session) -> None:
    for _ in range(2):
        row, leg = begun(alice, server, session)
        ledger.land(row.pk, leg, landing(Event.FAILED, findings=("MR-13",)))
    assert list(Finding.objects.values_list("rule", "count")) == [("MR-13", 2)]


def test_state_only_results_are_counted_in_a_row(alice: User, server: Server, session: Session) -> None:
    row, leg = begun(alice, server, session)
    ledger.land(row.pk, leg, landing(Event.TOLD_TO_WAIT))
    again = claim(row, Event.CALLED_AGAIN)
    assert again is not None
    ledger.land(row.pk, again, landing(Event.TOLD_TO_WAIT))
    assert Flow.objects.values_list("state_only", flat=True).get() == 2


def test_findings_are_locked_in_one_order(alice: User, server: Server, session: Session) -> None:
    """In any other, two landings wait for each other on PostgreSQL."""
    row, leg = begun(alice, server, session)
    with CaptureQueriesContext(connection) as seen:
        ledger.land(row.pk, leg, landing(Event.FAILED, findings=("URL-1", "MR-13")))
    counted = [query["sql"] for query in seen if query["sql"].startswith('UPDATE "mrtr_web_finding"')]
    assert ["MR-13" in sql for sql in counted] == [True, False]
