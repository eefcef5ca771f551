"""A person's own requests as a list: the open ones, the newest of those that are over, and what tells each apart."""

import uuid
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from django.db.models import F, QuerySet

from mrtr_web import catalog, operations, secrecy, waits, wizard, wording
from mrtr_web.flow import ENDS, OPEN, State
from mrtr_web.models import Flow, Round, SealedRecord, Server
from mrtr_web.operations import Operation
from mrtr_web.sessions import Visitor
from mrtr_web.verdicts import asked_in
from mrtr_web.wizard import Record

MOST_OPEN = 200
STEP = 10
"""So many that are over are shown, and so many more with each “Show older”."""
MOST_ENDED = 200
MOST_READ = 50
"""Records that are opened for one page."""
SMALL = 64 * 1024
"""Bytes of a sealed record that is opened for it: results may be much larger."""
MOST_TOLD = 2
"""Inputs that a row tells."""


@dataclass(frozen=True, slots=True, repr=False)
class Row:
    flow: Flow
    label: str
    here: bool
    """Whether this browser holds its content."""
    queued: bool
    has_input: bool
    """Whether something can be filled in again: it is not known of a large record."""
    inputs: Sequence[tuple[str, str]] = ()
    """The first things that were typed in to start it, by their labels."""
    asks: str = ""
    """What the server asks now, in its own words."""
    kinds: str = ""
    """The same in ours."""


@dataclass(frozen=True, slots=True, repr=False)
class Mine:
    open: list[Row]
    ended: list[Row]
    older: int
    """How many that are over to ask for next; 0 where there are no more."""
    to_forget: int
    """How many that are over have content left."""


def read(visitor: Visitor, shown: int) -> Mine:
    """A constant number of queries."""
    own = Flow.objects.filter(user=visitor.user)
    shown = min(shown, MOST_ENDED)
    opened = list(own.filter(state__in=OPEN)[:MOST_OPEN])
    ended = list(own.filter(state__in=ENDS)[: shown + 1])
    more = len(ended) > shown and shown < MOST_ENDED
    rows = _rows(visitor, [*opened, *ended[:shown]])
    return Mine(rows[: len(opened)], rows[len(opened) :], shown + STEP if more else 0, _kept(visitor.user).count())


def open_here(visitor: Visitor) -> int:
    """How many open requests this browser session holds: they end with it."""
    return SealedRecord.objects.filter(session=visitor.session, flow__state__in=OPEN).count()


def forget_ended(user: int) -> int:
    """Delete what is kept of all of a person's requests that are over. Returns how many it was kept of."""
    return _kept(user).delete()[0]


def _kept(user: int) -> QuerySet[SealedRecord]:
    return SealedRecord.objects.filter(flow__user=user, flow__state__in=ENDS)


def _rows(visitor: Visitor, flows: list[Flow]) -> list[Row]:
    servers = Server.objects.in_bulk({flow.server_id for flow in flows})
    catalog.attach(visitor.user, *servers.values())
    for flow in flows:
        flow.server = servers[flow.server_id]
    here, queued, kinds = wizard.held(visitor), waits.queued(flows), _kinds(flows)
    titles = {server.pk: operations.titles(server) for server in servers.values()}
    records = wizard.small_records(visitor, [flow.pk for flow in flows if flow.pk in here][:MOST_READ], SMALL)
    found = []
    for flow in flows:
        label = titles[flow.server_id].get((flow.method, flow.name)) or flow.called
        record = records.get(flow.pk)
        inputs = _inputs(flow, record) if record else ()
        asks = _asks(record) if record and flow.state == State.WAITING else ""
        has_input = operations.has_input(flow, record.params) if record else flow.pk in here
        row = Row(flow, label, flow.pk in here, flow.pk in queued, has_input, inputs, asks, kinds.get(flow.pk, ""))
        found.append(row)
    return found


def _kinds(flows: Iterable[Flow]) -> dict[uuid.UUID, str]:
    waiting = [flow.pk for flow in flows if flow.state == State.WAITING]
    rounds = Round.objects.filter(flow__in=waiting, number=F("flow__round"))
    return {each.flow_id: wording.counted(Counter(each.kinds)) for each in rounds}


def _asks(record: Record) -> str:
    return next((step.message for step in asked_in(record) if step.message), "")


def _inputs(flow: Flow, record: Record) -> list[tuple[str, str]]:
    """None where it is not known which of them are secrets."""
    operation = operations.of_flow(flow.server, flow.method, flow.name)
    if operation is None or not operations.has_input(flow, record.params):
        return []
    values = secrecy.values_without(operation.values(record.params), secrecy.of_input(operation.schema))
    told = [(_label(operation, name), str(value)) for name, value in values.items() if _is_short(value)]
    return told[:MOST_TOLD]


def _is_short(value: object) -> bool:
    return isinstance(value, str | int | float) and not isinstance(value, bool) and value != ""


def _label(operation: Operation, name: str) -> str:
    known = operation.schema.get("properties")
    part = known.get(name) if isinstance(known, dict) else None
    title = part.get("title") if isinstance(part, dict) else None
    return title if isinstance(title, str) and title else name
