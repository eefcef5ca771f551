"""The life of a flow: its states, the events that move it, and what the next leg sends.

Two rules:
1. Everything that can change a flow's state is in TRANSITIONS. A pair that is not in it is an error (BadMove).
2. Nothing here does I/O. ledger.move() applies the table to the database and writes the audit row.

A flow is one original request of one person. A leg is in the air while it is `running`; between legs it
is `waiting` for the person or `not_yet` for the server. The rest are ends, save `unsent` and `unknown`, from
which only the person goes on.
"""

from collections.abc import Mapping
from enum import StrEnum
from typing import Any


class State(StrEnum):
    RUNNING = "running"
    WAITING = "waiting"
    NOT_YET = "not_yet"
    UNSENT = "unsent"
    UNKNOWN = "unknown"
    COMPLETED = "completed"
    FAILED = "failed"
    STOPPED = "stopped"
    WITHDRAWN = "withdrawn"
    EXPIRED = "expired"


class Event(StrEnum):
    ASKED = "asked"
    """The server answered with steps for the person."""
    TOLD_TO_WAIT = "told_to_wait"
    """The server answered with a state and no steps: it asks to be called again."""
    CALLED_AGAIN = "called_again"
    """The next state-only leg starts."""
    ANSWERED = "answered"
    """The person sent the answers of the round."""
    SENT_AGAIN = "sent_again"
    """The person had the same leg sent again."""
    NOT_SENT = "not_sent"
    """The leg never reached the server, or was refused before it acted."""
    LOST = "lost"
    """Bytes were sent, then the leg broke or its lease ran out."""
    FINISHED = "finished"
    FAILED = "failed"
    STOPPED = "stopped"
    WITHDRAWN = "withdrawn"
    SESSION_ENDED = "session_ended"


class Act(StrEnum):
    """What else the audit trail tells: what people did without moving a flow."""

    STARTED = "started"
    REMINDED = "reminded"
    TAKEN = "taken"
    RELEASED = "released"
    SERVER_ADDED = "server_added"
    SERVER_CHANGED = "server_changed"
    SERVER_REMOVED = "server_removed"
    SERVER_ON = "server_on"
    SERVER_OFF = "server_off"
    SESSIONS_ENDED = "sessions_ended"
    CONNECTED = "connected"
    TOKEN_GIVEN = "token_given"  # the name of an event  # nosec B105
    SIGN_IN_DENIED = "sign_in_denied"
    """The person did not allow it at the sign-in server."""
    SIGN_IN_FAILED = "sign_in_failed"
    DISCONNECTED = "disconnected"
    CONNECTION_LOST = "connection_lost"
    """A token was dropped that is of no use any more."""


ENDS = frozenset({State.COMPLETED, State.FAILED, State.STOPPED, State.WITHDRAWN, State.EXPIRED})
OPEN = frozenset(State) - ENDS

_LEAVE: dict[Event, State] = {
    Event.STOPPED: State.STOPPED,
    Event.WITHDRAWN: State.WITHDRAWN,
    Event.SESSION_ENDED: State.EXPIRED,
}
_LANDING: dict[Event, State] = {
    Event.ASKED: State.WAITING,
    Event.TOLD_TO_WAIT: State.NOT_YET,
    Event.FINISHED: State.COMPLETED,
    Event.FAILED: State.FAILED,
}

TRANSITIONS: dict[State, dict[Event, State]] = {
    State.RUNNING: {**_LEAVE, **_LANDING, Event.NOT_SENT: State.UNSENT, Event.LOST: State.UNKNOWN},
    State.WAITING: {**_LEAVE, Event.ANSWERED: State.RUNNING},
    State.NOT_YET: {**_LEAVE, Event.CALLED_AGAIN: State.RUNNING, Event.SENT_AGAIN: State.RUNNING},
    State.UNSENT: {**_LEAVE, Event.SENT_AGAIN: State.RUNNING},
    # The leg may still land: its result is better than not knowing, and so is that it never left.
    State.UNKNOWN: {**_LEAVE, **_LANDING, Event.NOT_SENT: State.UNSENT, Event.SENT_AGAIN: State.RUNNING},
    **{end: {} for end in ENDS},
}


class BadMove(Exception):
    """This event cannot happen to a flow in this state."""

    def __init__(self, state: State, event: Event) -> None:
        super().__init__(f"{event} cannot happen to a flow that is {state}")


def after(state: State, event: Event) -> State:
    """The state that follows. Raises BadMove for a pair that is not in the table."""
    try:
        return TRANSITIONS[state][event]
    except KeyError:
        raise BadMove(state, event) from None


def next_params(
    params: Mapping[str, Any], responses: Mapping[str, Any] | None, request_state: str | None
) -> dict[str, Any]:
    """What the next leg sends: the original params untouched, the last round's answers, the last state.

    None means absent: the key is then left out, while "" and {} are sent (MR-3, MR-5, MR-8).
    """
    sent = dict(params)
    if responses is not None:
        sent["inputResponses"] = dict(responses)
    if request_state is not None:
        sent["requestState"] = request_state
    return sent
