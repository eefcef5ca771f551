"""The one writer of flow states: move() applies flow.TRANSITIONS to a row, with its audit row, in one transaction.

Open pages, and the process that runs a leg of the flow, are told once it is committed.

Everything is a conditional UPDATE: a late or doubled call changes nothing and returns false.
"""

import functools
import uuid
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from django.contrib.auth import get_user_model
from django.db import IntegrityError, transaction
from django.db.models import F, Q
from django.db.models.expressions import Combinable
from django.db.models.functions import Coalesce, Now

from mrtr_web import flow as machine
from mrtr_web import live, measures
from mrtr_web.flow import Act, Event, State
from mrtr_web.models import AuditEntry, Finding, Flow, KeptMessages, Leg, Round, SealedRecord, Server, Session

Object = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Asked:
    """What a round asks, without content: kinds of its steps, hosts of pages to open, codes of warnings."""

    kinds: tuple[str, ...] = ()
    hosts: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()
    kept: bytes | None = None
    """The server's words, sealed for its reviewers, where the server is set so."""


@dataclass(frozen=True, slots=True)
class Answered:
    """What was asked in a round, and what was done with it: of each step one of each."""

    kinds: tuple[str, ...]
    actions: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Landing:
    """What a leg's end writes, in one transaction with the state. Sizes in bytes."""

    event: Event
    outcome: str
    round: int
    sealed: bytes
    asked: Asked = Asked()
    findings: tuple[str, ...] = ()
    sent_bytes: int = 0
    received_bytes: int = 0


def move(
    flow_id: uuid.UUID,
    event: Event,
    *,
    by: int | None = None,
    where: Q | None = None,
    audit: Object | None = None,
    **changes: Any,
) -> bool:
    """Move a flow, if the table allows the event and `where` still holds. False where it changed nothing.

    `audit` are more columns of the audit row.
    """
    with transaction.atomic(savepoint=False):
        held = Flow.objects.select_for_update(of=("self",)).filter(where or Q(), pk=flow_id)
        row = held.values(*_AUDITED, "changed_at", "reminded_at", "server__enabled", now=Now()).first()
        if row is None or event not in machine.TRANSITIONS[State(row["state"])]:
            return False
        state = machine.after(State(row["state"]), event)
        Flow.objects.filter(pk=flow_id).update(state=state, changed_at=Now(), **changes)
        if state in machine.ENDS:
            _forget(flow_id)
        row["round"] = changes.get("round", row["round"])
        spent = {"duration": row["now"] - row["changed_at"], "before": row["state"], "after": state}
        _audit(row, event, by, **spent, **(audit or {}))
        mark = live.mark(state, row["round"], row["reminded_at"], row["server__enabled"])
        transaction.on_commit(functools.partial(live.hub.publish, flow_id, live.moved(row["server"], mark)))
        if row["state"] == State.RUNNING:  # what it leaves ends a leg, and does so once
            transaction.on_commit(measures.LEGS.labels(row["server__slug"], event).inc)
        if event is Event.ASKED:
            transaction.on_commit(measures.ROUNDS.labels(row["server__slug"]).inc)
        return True


def _forget(flow_id: uuid.UUID) -> None:
    """What reviewers may see of an open flow alone: a server can put answers into a host, too."""
    KeptMessages.objects.filter(flow=flow_id).delete()
    Round.objects.filter(flow=flow_id).update(hosts=[])


_AUDITED = ("pk", "state", "round", "method", "name", "label", "user", "user__username", "server", "server__slug")
"""What of a flow its audit rows repeat."""


def _audit(row: Object, event: str, by: int | None, **more: Any) -> None:
    AuditEntry.objects.create(
        event=event,
        by=row["user__username"] if by == row["user"] else username(by),
        flow=row["pk"],
        person=row["user__username"],
        server_id=row["server"],
        server=row["server__slug"],
        method=row["method"],
        name=row["name"] or row["label"],
        round=row["round"],
        **more,
    )


def username(user: int | None) -> str:
    """What the audit trail calls a person; "" for nobody, and for who is gone."""
    found = get_user_model().objects.filter(pk=user) if user is not None else get_user_model().objects.none()
    return str(found.values_list("username", flat=True).first() or "")


def intervene(
    flow_id: uuid.UUID, event: Act, *, by: int, where: Q | None = None, remark: str = "", **changes: Any
) -> bool:
    """Write what a reviewer did to an open flow that stays where it is. False where it is over, or `where` fails."""
    with transaction.atomic():
        held = Flow.objects.select_for_update(of=("self",)).filter(where or Q(), pk=flow_id, state__in=machine.OPEN)
        row = held.values(*_AUDITED).first()
        if row is None:
            return False
        Flow.objects.filter(pk=flow_id).update(**changes)
        _audit(row, event, by, note=remark, before=row["state"], after=row["state"])
        _tell(Q(pk=flow_id))
        return True


def switch(server: Server, *, on: bool, by: int | None, note: str = "") -> None:
    """Switch a server on or off. Its waiting flows are told; legs that run may finish."""
    with transaction.atomic():
        if not Server.objects.filter(pk=server.pk, enabled=not on).update(enabled=on):
            return
        note_server(server, Act.SERVER_ON if on else Act.SERVER_OFF, by=by, note=note)
        _tell(Q(server=server, state__in=machine.OPEN))


def note_server(server: Server, event: Act, *, by: int | None, note: str = "") -> None:
    """The audit row of what was done to a server."""
    AuditEntry.objects.create(event=event, by=username(by), server_id=server.pk, server=server.slug, note=note)


def note_person(person: str, event: Act, *, by: int) -> None:
    """The audit row of what was done to somebody's sessions."""
    AuditEntry.objects.create(event=event, by=username(by), person=person)


def note_connection(server: Server, user: int, event: Act, *, by: int | None = None) -> None:
    """The audit row of a person's connection to a server: that it is there or gone, nothing of the token.

    The person did it themselves unless it says by whom.
    """
    whose = username(user)
    who = whose if by is None else username(by)
    AuditEntry.objects.create(event=event, by=who, person=whose, server_id=server.pk, server=server.slug)


def _tell(which: Q) -> None:
    """Tell the pages of these flows where they are, once this is committed."""
    for row in Flow.objects.filter(which).select_related("server"):
        message = live.moved(row.server_id, live.mark_of(row))
        transaction.on_commit(functools.partial(live.hub.publish, row.pk, message))


class SessionOver(Exception):
    """The session that this should be kept under has ended meanwhile."""


def begin(row: Flow, *, session: int, sealed: bytes, lease: float) -> uuid.UUID | None:
    """Open a flow with its record and first leg. None where this flow id exists already (a double click).

    Raises SessionOver.
    """
    leg = uuid.uuid4()
    row.leg = leg
    row.state = State.RUNNING
    row.lease_until = _lease(lease)
    try:
        with transaction.atomic():
            if Session.objects.select_for_update().filter(pk=session).first() is None:
                raise SessionOver
            row.save(force_insert=True)
            SealedRecord.objects.create(flow=row, session_id=session, sealed=sealed)
            Leg.objects.create(pk=leg, flow=row, round=0)
            started = Flow.objects.values(*_AUDITED).get(pk=row.pk)
            _audit(started, Act.STARTED, row.user_id, after=State.RUNNING)
            _tell(Q(pk=row.pk))
    except IntegrityError:
        return None
    return leg


def _lease(seconds: float) -> Combinable:
    """When it runs out, on the database's clock."""
    return Now() + timedelta(seconds=seconds)


def claim(
    seen: Flow,
    event: Event,
    *,
    by: int,
    sealed: bytes,
    lease: float,
    answered: Answered | None = None,
) -> uuid.UUID | None:
    """Take (flow, round) for one leg: mint the leg's id and seal what it sends. None where another was first.

    `seen` is the flow as it was read together with the record: its state, round and leg must still be the same.
    """
    new, still = uuid.uuid4(), Q(state=seen.state, round=seen.round, leg=seen.leg, record__isnull=False)
    audit = {"kinds": list(answered.kinds), "actions": list(answered.actions)} if answered is not None else None
    with transaction.atomic(savepoint=False):
        if not move(seen.pk, event, by=by, where=still, audit=audit, leg=new, outcome="", lease_until=_lease(lease)):
            return None
        SealedRecord.objects.filter(pk=seen.pk).update(sealed=sealed)
        Leg.objects.create(pk=new, flow_id=seen.pk, round=seen.round)
        if answered is not None:
            asked = Round.objects.filter(flow_id=seen.pk, number=seen.round)
            asked.update(actions=list(answered.actions), answered_at=Now())
    return new


def depart(flow_id: uuid.UUID, leg: uuid.UUID, lease: float) -> bool:
    """Note that bytes may leave from here on. False where the leg is no longer wanted."""
    with transaction.atomic():
        if not beat(flow_id, leg, lease):
            return False
        return bool(Leg.objects.filter(pk=leg).update(sent_at=Now()))


def beat(flow_id: uuid.UUID, leg: uuid.UUID, lease: float) -> bool:
    """Renew the lease. False where the flow was stopped, withdrawn, ended, or sent again, or its record is gone."""
    wanted = Flow.objects.filter(pk=flow_id, leg=leg, state__in=[State.RUNNING, State.UNKNOWN], record__isnull=False)
    return bool(wanted.update(lease_until=_lease(lease)))


def land(flow_id: uuid.UUID, leg: uuid.UUID, landing: Landing) -> bool:
    """Write the end of a leg: state, record, round, findings. False where it is dropped because it came too late."""
    with transaction.atomic():
        Leg.objects.filter(pk=leg).update(ended_at=Now(), outcome=landing.outcome)
        waits = landing.event is Event.TOLD_TO_WAIT
        moved = move(
            flow_id,
            landing.event,
            where=Q(leg=leg, state__in=[State.RUNNING, State.UNKNOWN], record__isnull=False),
            audit={
                "kinds": list(landing.asked.kinds),
                "sent_bytes": landing.sent_bytes,
                "received_bytes": landing.received_bytes,
                "outcome": landing.outcome,
            },
            round=landing.round,
            outcome=landing.outcome,
            lease_until=None,
            state_only=F("state_only") + 1 if waits else 0,
            told_to_wait_at=Coalesce("told_to_wait_at", Now()) if waits else None,
        )
        if not moved:
            return False
        SealedRecord.objects.filter(pk=flow_id).update(sealed=landing.sealed)
        if landing.event is Event.ASKED:
            _note_round(flow_id, landing.round, landing.asked)
        if landing.findings:
            note_findings(Flow.objects.values_list("server_id", flat=True).get(pk=flow_id), landing.findings)
        return True


def _note_round(flow_id: uuid.UUID, number: int, asked: Asked) -> None:
    Round.objects.create(
        flow_id=flow_id,
        number=number,
        kinds=list(asked.kinds),
        hosts=list(asked.hosts),
        warnings=list(asked.warnings),
    )
    if asked.kept is not None and _still_keeps(flow_id):
        KeptMessages.objects.create(flow_id=flow_id, round=number, sealed=asked.kept)


def _still_keeps(flow_id: uuid.UUID) -> bool:
    """Whether the server's words are still to be kept; who switches that off waits, and then deletes them, too."""
    keeping = Server.objects.select_for_update().filter(flows=flow_id, keep_messages=True)
    return keeping.values_list("pk", flat=True).first() is not None


def note_findings(server_id: int, rules: Iterable[str]) -> None:
    """Count that a server was seen to break these rules: in one order, so that no two wait for each other."""
    for rule in sorted(rules):
        Finding.objects.get_or_create(server_id=server_id, rule=rule)
        Finding.objects.filter(server_id=server_id, rule=rule).update(count=F("count") + 1, last_at=Now())


def expire_leases(**only: Any) -> int:
    """Flows whose lease ran out: unknown, or unsent where nothing had been sent. Returns how many were moved."""
    late = Flow.objects.filter(state=State.RUNNING, lease_until__lt=Now(), **only)
    legs = [(pk, leg) for pk, leg in late.values_list("pk", "leg") if leg is not None]
    moved = sum(abandon(pk, leg, where=Q(lease_until__lt=Now())) for pk, leg in legs)
    transaction.on_commit(functools.partial(measures.LEASES.inc, moved))
    return moved


def expire_orphans(**only: Any) -> int:
    """Open flows whose record is gone can never go on: they are expired (D2). Returns how many were moved."""
    gone = Q(record__isnull=True)
    lost = Flow.objects.filter(gone, state__in=machine.OPEN, **only).values_list("pk", flat=True)
    return sum(move(pk, Event.SESSION_ENDED, where=gone, lease_until=None) for pk in list(lost))


def expire_old_orphans() -> int:
    """Those that nothing happened to for a minute: a restored backup has them. Returns how many were moved."""
    return expire_orphans(changed_at__lt=Now() - timedelta(minutes=1))


def abandon_all(legs: Iterable[tuple[uuid.UUID, uuid.UUID]]) -> None:
    """Give up on these (flow, leg), one after the other: the first that the database refuses ends it."""
    for flow_id, leg in legs:
        abandon(flow_id, leg)


def abandon(flow_id: uuid.UUID, leg: uuid.UUID, where: Q | None = None) -> bool:
    """Give up on a leg whose process is gone or going: unknown, or unsent where nothing had been sent."""
    sent = Leg.objects.filter(pk=leg, sent_at__isnull=False).exists()
    event, outcome = (Event.LOST, "lease") if sent else (Event.NOT_SENT, "killed")
    still = Q(leg=leg, state=State.RUNNING) & (where or Q())
    return move(flow_id, event, where=still, lease_until=None, outcome=outcome)
