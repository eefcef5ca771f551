"""The façade that views talk to: start a flow, draw its current page, take answers, go on or stop.

The only importer of the vault. A record is opened with the visitor's key, before anything is claimed; what a
leg brings back is sealed by settle(), which the runner calls without ever seeing the key.
"""

import concurrent.futures
import contextlib
import functools
import json
import uuid
from collections.abc import Callable, Collection, Mapping
from dataclasses import replace
from typing import Any

from django.conf import settings
from django.contrib.auth.models import AbstractUser
from django.db import close_old_connections, transaction
from django.db.models.functions import Length

from mrtr_web import allowances, catalog, kept, ledger, live, operations, pages, relay, secrecy, steps, vault, waits
from mrtr_web.access import Refusals
from mrtr_web.flow import ENDS, Event, State, next_params
from mrtr_web.models import Flow, Person, SealedRecord, Session
from mrtr_web.runner import Again, Job, Outcome, runner
from mrtr_web.sessions import Visitor
from mrtr_web.verdicts import asked_in, judge

Unreadable = vault.Unreadable
SessionOver = ledger.SessionOver
TooMany = allowances.TooMany
Barred = catalog.Barred
Record = vault.Record
Object = dict[str, Any]
Launched = concurrent.futures.Future[None]
WAIT = 1.0
"""Seconds that a page waits for a leg before it shows the progress page."""


class Stale(Exception):
    """The page that was posted is not the flow's current one: nothing was changed, nothing sent."""


def zone_of(user: AbstractUser) -> str:
    """The time zone that date-times are typed in unless the page says otherwise."""
    person: Person | None = getattr(user, "person", None)
    return (person.time_zone if person else "") or settings.TIME_ZONE


def flow_of(user_id: int, flow_id: uuid.UUID) -> Flow | None:
    """This person's flow, brought up to date where its lease has run out. None for anybody else's."""
    found = Flow.objects.select_related("server").filter(user=user_id, pk=flow_id)
    row = found.first()
    return found.first() if row is not None and _has_expired(row) else row


def _has_expired(row: Flow) -> bool:
    """Whether its lease has run out, on the database's clock, and it is somewhere else now."""
    return row.state == State.RUNNING and ledger.expire_leases(pk=row.pk) > 0


def open_flow(visitor: Visitor, flow_id: uuid.UUID) -> tuple[Flow, Record]:
    """A flow, as flow_of() gives it, and its content: read in one statement, so that they belong together.

    Raises Unreadable where this browser does not hold the content.
    """
    found = SealedRecord.objects.select_related("flow__server").filter(
        pk=flow_id, session=visitor.session, flow__user=visitor.user
    )
    sealed = found.first()
    if sealed is not None and _has_expired(sealed.flow):
        sealed = found.first()
    if sealed is None:
        raise Unreadable
    row = sealed.flow
    return row, vault.open_record(bytes(sealed.sealed), _keys(visitor), _binding(visitor, row, row.round))


def small_records(visitor: Visitor, flows: Collection[uuid.UUID], size: int) -> dict[uuid.UUID, Record]:
    """The content of those of these flows whose sealed records have so many bytes at most."""
    small = SealedRecord.objects.annotate(size=Length("sealed")).filter(size__lte=size, session=visitor.session)
    found, keys = {}, _keys(visitor)
    for sealed in small.filter(pk__in=flows).select_related("flow"):
        row = sealed.flow
        with contextlib.suppress(Unreadable):
            found[row.pk] = vault.open_record(bytes(sealed.sealed), keys, _binding(visitor, row, row.round))
    return found


def held(visitor: Visitor) -> set[uuid.UUID]:
    """The flows whose content this browser session holds."""
    return set(SealedRecord.objects.filter(session=visitor.session).values_list("pk", flat=True))


def reduce(visitor: Visitor, row: Flow, record: Record) -> Record:
    """What stays of a flow that a reviewer withdrew, who could not open its record: sealed anew where need be."""
    ended = record.ended()
    if ended != record:
        SealedRecord.objects.filter(pk=row.pk).update(sealed=_seal(visitor, row, row.round, ended))
    return ended


def expire_without_record(row: Flow) -> Flow:
    """The flow as it is, once it is over where its record is gone."""
    if row.is_open:
        ledger.expire_orphans(pk=row.pk)
        row.refresh_from_db()
    return row


def start(
    visitor: Visitor,
    operation: operations.Operation,
    flow_id: uuid.UUID,
    params: Object,
    after: uuid.UUID | None = None,
) -> Launched | None:
    """Open a flow and send its first leg. None where this start form was sent before (a double click).

    `after` is a flow that did not come to a good end: what was answered there pre-fills the same questions
    here (T-3). Raises SessionOver, TooMany.
    """
    server = operation.server
    called = {"method": operation.method, "name": operation.name, "label": operation.label}
    row = Flow(pk=flow_id, user_id=visitor.user, server=server, **called)
    record = Record(
        method=operation.method,
        params=params,
        capabilities=catalog.capabilities(server),
        url=server.url,
        roots=server.roots if "roots" in server.capabilities else [],
        input_schema=dict(operation.schema) if operation.method == "tools/call" else None,
        output_schema=operation.output_schema,
        past=_answers_of(visitor, after, server.pk) if after else [],
    )
    sealed = _seal(visitor, row, 0, record)
    with transaction.atomic():
        leg = ledger.begin(row, session=visitor.session, sealed=sealed, lease=settings.CONFIG.lease)
        if leg:  # the second click of two costs nothing
            allowances.spend_leg(visitor.user, server.pk)
    return runner.launch(_job(visitor, row, leg, record)) if leg else None


def _answers_of(visitor: Visitor, flow_id: uuid.UUID, server: int) -> list[vault.PastAnswer]:
    """Answers are offered again to the server alone that they were given to."""
    try:
        row, record = open_flow(visitor, flow_id)
    except Unreadable:
        return []
    return record.past if row.server_id == server else []


def round_form(
    row: Flow, record: Record, *, data: Mapping[str, Any] | None, zone: str, own_hosts: Collection[str]
) -> steps.RoundForm:
    """The current round as a form."""
    drawing = pages.Drawing(row.round, data, zone, own_hosts, tuple(record.roots))
    return steps.round_form(asked_in(record), drawing, [(each.key, each.params, each.answer) for each in record.past])


def shown_content(row: Flow, record: Record) -> Object:
    """What the pages of this flow show of pictures, sounds and files: the result, or what is to be replied to."""
    if row.state == State.WAITING:
        return steps.conversation(asked_in(record))
    return record.result or {}


def answer(visitor: Visitor, row: Flow, record: Record, form: steps.RoundForm, posted: str) -> Launched:
    """Send a valid round, known by the digest of its post from here on.

    Raises Barred, TooMany; Stale where it was answered already, is over, or the session has ended.
    """
    answered = record.model_copy(update={"responses": form.responses(), "posted": posted})
    kinds = tuple(step.kind.value for step in asked_in(record))
    return _send(visitor, row, answered, Event.ANSWERED, answered=ledger.Answered(kinds, form.actions()))


def send_again(visitor: Visitor, flow_id: uuid.UUID, leg: uuid.UUID, *, signed_in: bool = False) -> Launched:
    """Send the leg again that is known as `leg`: same answers and state, new id.

    Raises Barred, Stale, TooMany, Unreadable.

    `signed_in`: because the person has signed in at the server for it; then it counts as sent by itself.
    """
    row, record = open_flow(visitor, flow_id)
    if row.leg != leg:
        raise Stale
    if signed_in and record.refusals is not None:
        counted = record.refusals.model_copy(update={"sign_ins": record.refusals.sign_ins + 1})
        record = record.model_copy(update={"refusals": counted})
    return _send(visitor, row, record, Event.SENT_AGAIN, counts=not signed_in)


def refusals(visitor: Visitor, flow_id: uuid.UUID) -> Refusals | None:
    """What the server asks for that did not let a flow's last leg in. None where it is not known here."""
    with contextlib.suppress(Unreadable):
        return open_flow(visitor, flow_id)[1].refusals
    return None


def was_sent(visitor: Visitor, flow_id: uuid.UUID, posted: str) -> bool:
    """Whether this very post is the one that was sent last: a double click, or the same answers in two tabs."""
    with contextlib.suppress(Unreadable):
        return open_flow(visitor, flow_id)[1].posted == posted
    return False


def is_over(visitor: Visitor) -> bool:
    """Whether the visitor's session has ended while their request was on its way."""
    return not Session.objects.filter(pk=visitor.session).exists()


def stop(visitor: Visitor, flow_id: uuid.UUID) -> bool:
    """Stop a flow; nothing is sent, a running stream is closed. From another browser its record goes at once."""
    with transaction.atomic():
        stopped = ledger.move(flow_id, Event.STOPPED, by=visitor.user, lease_until=None)
        if stopped:
            _drop_content(flow_id, visitor)
    return stopped


def forget(visitor: Visitor, flow_id: uuid.UUID) -> bool:
    """Delete what is kept of an ended flow: input, result, raw messages. False where nothing is, or it is not over."""
    kept_here = SealedRecord.objects.filter(pk=flow_id, flow__user=visitor.user, flow__state__in=ENDS)
    return kept_here.delete()[0] > 0


def _drop_content(flow_id: uuid.UUID, visitor: Visitor) -> None:
    """What an ended flow no longer needs goes; where the content is held elsewhere, all of it."""
    stored = SealedRecord.objects.filter(pk=flow_id)
    try:
        row, record = open_flow(visitor, flow_id)
        stored.update(sealed=_seal(visitor, row, row.round, record.ended()))
    except Unreadable:
        stored.delete()


def wait(launched: Launched) -> None:
    """Give the database connection back and wait a moment for the leg, so that most pages need no progress page."""
    close_old_connections()
    concurrent.futures.wait([launched], timeout=WAIT)


def earlier_values(visitor: Visitor, row: Flow, operation: operations.Operation) -> Object | None:
    """The inputs that a flow was started with, to pre-fill a new start. None where they cannot be read here."""
    try:
        record = open_flow(visitor, row.pk)[1]
    except Unreadable:
        return None
    values = secrecy.values_without(operation.values(record.params), secrecy.of_input(operation.schema))
    return secrecy.values_without(values, secrecy.of_input(record.input_schema))


def progress_reader(visitor: Visitor, row: Flow) -> Callable[[live.Message], Object]:
    """Makes of a hint about progress what its owner may see: progress, total, and message, None where there is none
    or this browser cannot open it."""
    keys, binding = _keys(visitor), _binding(visitor, row, row.round)

    def read(hint: live.Message) -> Object:
        message = None
        with contextlib.suppress(Unreadable):
            message = vault.open_words(hint["words"], keys, binding) if hint["words"] else None
        return {"progress": hint["progress"], "total": hint["total"], "message": message}

    return read


def progress(visitor: Visitor, row: Flow) -> Object | None:
    """What the server last said of its progress, as far as this process knows."""
    hint = live.hub.progress_of(row.pk, row.leg)
    return progress_reader(visitor, row)(hint) if hint is not None else None


def _keys(visitor: Visitor) -> vault.Keys:
    server_keys = (settings.SECRET_KEY, *settings.SECRET_KEY_FALLBACKS)
    return vault.Keys(visitor.secret, vault.peppers(server_keys))


def _binding(visitor: Visitor, row: Flow, round_number: int) -> vault.Binding:
    return vault.Binding(
        user=visitor.user,
        flow=str(row.pk),
        round=round_number,
        server=row.server_id,
        method=row.method,
        session_ends=int(visitor.ends_at.timestamp()),
    )


def _seal(visitor: Visitor, row: Flow, round_number: int, record: Record) -> bytes:
    return vault.close(record, _keys(visitor), _binding(visitor, row, round_number))


def _send(visitor: Visitor, row: Flow, record: Record, event: Event, *, counts: bool = True, **claim: Any) -> Launched:
    with transaction.atomic():
        job = _claimed(visitor, row, record, event, **claim)
        if job is None:
            raise Stale
        if counts:
            allowances.spend_leg(visitor.user, row.server_id)
    return runner.launch(job)


def _claimed(visitor: Visitor, row: Flow, record: Record, event: Event, **claim: Any) -> Job | None:
    """The next leg of a flow, whoever has it sent. None where another was first. Raises Barred."""
    row.server = catalog.usable(row.user_id, row.server_id, record.url)
    leg = ledger.claim(
        row,
        event,
        by=visitor.user,
        sealed=_seal(visitor, row, row.round, record),
        lease=settings.CONFIG.lease,
        **claim,
    )
    return _job(visitor, row, leg, record, looked=True) if leg else None


def _job(visitor: Visitor, row: Flow, leg: uuid.UUID, record: Record, *, looked: bool = False) -> Job:
    call = relay.Call(
        method=record.method,
        params=next_params(record.params, record.responses, record.request_state),
        capabilities=record.capabilities,
        input_schema=catalog.newest_schema(row) or record.input_schema,
    )
    settle = functools.partial(_settle, visitor, row, leg, record)
    seal_words = functools.partial(vault.close_words, keys=_keys(visitor), binding=_binding(visitor, row, row.round))
    limits = catalog.limits(row.server)
    return Job(row.pk, leg, row.server, looked, row.user_id, row.server.url, call, limits, settle, seal_words)


def _settle(visitor: Visitor, row: Flow, leg: uuid.UUID, record: Record, outcome: Outcome) -> Again | None:
    """Write what a leg brought back; where the server asks to be called again, say when and how."""
    verdict = judge(record, row.round, outcome)
    words = kept.seal(row, verdict.round, asked_in(verdict.record)) if verdict.event is Event.ASKED else None
    landing = ledger.Landing(
        verdict.event,
        verdict.outcome,
        verdict.round,
        _seal(visitor, row, verdict.round, verdict.record),
        replace(verdict.asked, kept=words),
        verdict.findings,
        sent_bytes=sum(len(json.dumps(body, ensure_ascii=False).encode()) for body in outcome.sent),
        received_bytes=outcome.size,
    )
    landed = ledger.land(row.pk, leg, landing)
    if not landed or verdict.event is not Event.TOLD_TO_WAIT:
        return None
    return _call_again(visitor, row, leg, verdict.record)


def _call_again(visitor: Visitor, row: Flow, leg: uuid.UUID, record: Record) -> Again | None:
    landed = _told_to_wait(row, leg)
    if landed is None or not goes_on_by_itself(landed):
        return None

    def claim() -> Job | None:
        waiting = _told_to_wait(row, leg)  # the server may be another one after the pause
        with contextlib.suppress(Barred):
            return _claimed(visitor, waiting, record, Event.CALLED_AGAIN) if waiting else None
        return None

    return Again(waits.pause(landed.state_only), claim)


def _told_to_wait(row: Flow, leg: uuid.UUID) -> Flow | None:
    return Flow.objects.select_related("server").filter(pk=row.pk, leg=leg, state=State.NOT_YET).first()


def goes_on_by_itself(row: Flow) -> bool:
    """Whether a state-only flow is still called again without the person."""
    return waits.lasts(row) and catalog.may_use(row.user_id, row.server_id)


def take_up(visitor: Visitor, row: Flow, record: Record) -> Launched | None:
    """Call again for a state-only flow whose process is gone: its person's browser has come, and holds the key.

    None where it is not due, is no longer asked for, or another was first.
    """
    if not (row.state == State.NOT_YET and waits.is_due(row) and goes_on_by_itself(row)):
        return None
    with contextlib.suppress(Barred):
        job = _claimed(visitor, row, record, Event.CALLED_AGAIN)
        return runner.launch(job) if job else None
    return None
