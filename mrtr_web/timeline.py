"""A flow as a sequence between person, app and server, with the time that each of them took. No content, no I/O.

Between two rows one side has the turn, so the times of the three sides add up to the whole.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from enum import StrEnum
from itertools import pairwise

from mrtr_web.flow import ENDS, State

MOST_ROWS = 400
"""Of one picture; the middle of what is longer is left out."""
RESULTS = frozenset({"done", "tool_error", "odd_result"})
ERRORS = frozenset({"step_expired", "too_many_rounds", "legacy"})
"""Outcomes of legs that end a flow, beside those that begin as in ERROR_KINDS."""
ERROR_KINDS = ("refused:", "broken:")


class Side(StrEnum):
    PERSON = "person"
    APP = "app"
    SERVER = "server"


class What(StrEnum):
    STARTED = "started"
    CALL = "call"
    ASKS = "asks"
    ANSWERS = "answers"
    NOT_YET = "not_yet"
    MORE_CALLS = "more_calls"
    """Several calls in a row, each answered with "not yet"."""
    UNSENT = "unsent"
    """The leg never left."""
    BREAK = "break"
    """The leg left, and came to nothing that ends the flow."""
    AGAIN = "again"
    RESULT = "result"
    ERROR = "error"
    LEFT_OUT = "left_out"
    END = "end"
    NOW = "now"


ARROWS: dict[What, tuple[Side, Side]] = {
    What.STARTED: (Side.PERSON, Side.APP),
    What.CALL: (Side.APP, Side.SERVER),
    What.ASKS: (Side.SERVER, Side.PERSON),
    What.ANSWERS: (Side.PERSON, Side.APP),
    What.NOT_YET: (Side.SERVER, Side.APP),
    What.MORE_CALLS: (Side.APP, Side.SERVER),
    What.BREAK: (Side.SERVER, Side.APP),
    What.AGAIN: (Side.PERSON, Side.APP),
    What.RESULT: (Side.SERVER, Side.PERSON),
    What.ERROR: (Side.SERVER, Side.PERSON),
}
TURNS: dict[What, Side] = {
    What.STARTED: Side.APP,
    What.CALL: Side.SERVER,
    What.ASKS: Side.PERSON,
    What.ANSWERS: Side.APP,
    What.NOT_YET: Side.SERVER,
    What.UNSENT: Side.PERSON,
    What.BREAK: Side.PERSON,
    What.AGAIN: Side.APP,
}
"""Whose turn it is after that."""


@dataclass(frozen=True, slots=True)
class Call:
    """A leg."""

    round: int
    started: datetime
    sent: datetime | None = None
    ended: datetime | None = None
    outcome: str = ""


@dataclass(frozen=True, slots=True)
class Asked:
    """A round."""

    number: int
    kinds: tuple[str, ...]
    actions: tuple[str, ...] = ()
    answered: datetime | None = None


@dataclass(frozen=True, slots=True)
class Facts:
    """What is known of a flow; the legs in the order in which they began."""

    state: State
    started: datetime
    changed: datetime
    now: datetime
    calls: Sequence[Call] = ()
    rounds: Sequence[Asked] = ()

    @property
    def ended(self) -> datetime | None:
        return self.changed if self.state in ENDS else None


@dataclass(frozen=True, slots=True)
class Row:
    """Something that happened, and the time after it until the next."""

    what: What
    at: datetime
    round: int = 0
    kinds: tuple[str, ...] = ()
    actions: tuple[str, ...] = ()
    outcome: str = ""
    """A code of ours; the state where it is an end, or now."""
    count: int = 0
    turn: Side | None = None
    spent: timedelta = timedelta()

    @property
    def arrow(self) -> tuple[Side, Side] | None:
        return ARROWS.get(self.what)


@dataclass(frozen=True, slots=True)
class Timeline:
    rows: tuple[Row, ...]
    person: timedelta
    app: timedelta
    server: timedelta

    @property
    def whole(self) -> timedelta:
        return self.person + self.app + self.server


def of(facts: Facts) -> Timeline:
    """The sequence of a flow."""
    rows = _timed([*_begun(facts), *_closing(facts)])
    spent = {side: sum((row.spent for row in rows if row.turn is side), timedelta()) for side in Side}
    return Timeline(
        tuple(_cut(_folded(rows))), person=spent[Side.PERSON], app=spent[Side.APP], server=spent[Side.SERVER]
    )


def _begun(facts: Facts) -> Iterable[Row]:
    yield Row(What.STARTED, facts.started)
    rounds = {each.number: each for each in facts.rounds}
    broken = False
    for number, call in enumerate(facts.calls):
        after = facts.calls[number + 1] if number + 1 < len(facts.calls) else None
        if broken:
            yield Row(What.AGAIN, call.started, call.round)
        elif (asked := rounds.pop(call.round, None)) and asked.answered:
            yield Row(What.ANSWERS, asked.answered, asked.number, asked.kinds, asked.actions)
        found = list(_call(facts, call, after, rounds))
        broken = bool(found) and found[-1].what in (What.UNSENT, What.BREAK)
        yield from found


def _call(facts: Facts, call: Call, after: Call | None, rounds: dict[int, Asked]) -> Iterable[Row]:
    """A leg's way out and back. What came back after the flow had gone on is not shown: it was dropped."""
    if call.sent:
        yield Row(What.CALL, call.sent, call.round)
    limit = after.started if after else facts.ended
    if call.ended and (limit is None or call.ended <= limit):
        yield _returned(call, call.ended, rounds)
    elif after or facts.state in (State.UNSENT, State.UNKNOWN):
        yield _broken(call, after.started if after else facts.changed)


def _returned(call: Call, at: datetime, rounds: dict[int, Asked]) -> Row:
    if call.outcome == "asked":
        asked = rounds.get(call.round + 1, Asked(call.round + 1, ()))
        return Row(What.ASKS, at, asked.number, asked.kinds)
    if call.outcome == "state_only":
        return Row(What.NOT_YET, at, call.round)
    if call.outcome in RESULTS:
        return Row(What.RESULT, at, call.round, outcome=call.outcome)
    if call.outcome in ERRORS or call.outcome.startswith(ERROR_KINDS):
        return Row(What.ERROR, at, call.round, outcome=call.outcome)
    return _broken(call, at)


def _broken(call: Call, at: datetime) -> Row:
    return Row(What.BREAK if call.sent else What.UNSENT, at, call.round, outcome=call.outcome)


def _closing(facts: Facts) -> Iterable[Row]:
    if facts.ended:
        yield Row(What.END, facts.ended, outcome=facts.state)
    else:
        yield Row(What.NOW, facts.now, outcome=facts.state)


def _timed(rows: list[Row]) -> list[Row]:
    """With whose turn it is after each, and for how long. Clocks that disagree a little never give less than none."""
    found, latest = [], rows[0].at
    for row, following in pairwise(rows):
        until = max(latest, following.at)
        found.append(replace(row, turn=TURNS.get(row.what), spent=until - latest))
        latest = until
    return [*found, rows[-1]]


def _folded(rows: list[Row]) -> list[Row]:
    """Repeated calls that were each answered with "not yet": the first is shown, the others are one row."""
    found: list[Row] = []
    for row in rows:
        found.append(row)
        if [each.what for each in found[-4:]] == [What.CALL, What.NOT_YET] * 2:
            _fold(found, 2, 0)
        elif [each.what for each in found[-3:]] == [What.MORE_CALLS, What.CALL, What.NOT_YET]:
            _fold(found, 3, found[-3].count)
    return found


def _fold(rows: list[Row], last: int, count: int) -> None:
    folded = rows[-last:]
    del rows[-last:]
    spent = sum((each.spent for each in folded), timedelta())
    rows.append(replace(folded[0], what=What.MORE_CALLS, count=count + 1, turn=Side.SERVER, spent=spent))


def _cut(rows: list[Row]) -> list[Row]:
    if len(rows) <= MOST_ROWS:
        return rows
    half = MOST_ROWS // 2
    out = rows[half:-half]
    return [*rows[:half], Row(What.LEFT_OUT, out[0].at, count=len(out)), *rows[-half:]]
