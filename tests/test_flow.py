"""The transition table, pair by pair, and what a leg sends."""

import pytest

from mrtr_web.flow import ENDS, OPEN, TRANSITIONS, BadMove, Event, State, after, next_params

EVERY_MOVE = [
    ("running", "asked", "waiting"),
    ("running", "told_to_wait", "not_yet"),
    ("running", "finished", "completed"),
    ("running", "failed", "failed"),
    ("running", "not_sent", "unsent"),
    ("running", "lost", "unknown"),
    ("waiting", "answered", "running"),
    ("not_yet", "called_again", "running"),
    ("not_yet", "sent_again", "running"),
    ("unsent", "sent_again", "running"),
    ("unknown", "sent_again", "running"),
    ("unknown", "asked", "waiting"),
    ("unknown", "told_to_wait", "not_yet"),
    ("unknown", "not_sent", "unsent"),
    ("unknown", "finished", "completed"),
    ("unknown", "failed", "failed"),
    *[(state, "stopped", "stopped") for state in ("running", "waiting", "not_yet", "unsent", "unknown")],
    *[(state, "withdrawn", "withdrawn") for state in ("running", "waiting", "not_yet", "unsent", "unknown")],
    *[(state, "session_ended", "expired") for state in ("running", "waiting", "not_yet", "unsent", "unknown")],
]


def test_the_table_holds_exactly_these_moves() -> None:
    table = {(s.value, e.value, t.value) for s, moves in TRANSITIONS.items() for e, t in moves.items()}
    assert table == set(EVERY_MOVE)


@pytest.mark.parametrize("state", list(State))
@pytest.mark.parametrize("event", list(Event))
def test_a_pair_outside_the_table_is_an_error(state: State, event: Event) -> None:
    expected = {(s, e): t for s, e, t in EVERY_MOVE}.get((state.value, event.value))
    if expected is None:
        with pytest.raises(BadMove):
            after(state, event)
    else:
        assert after(state, event) == expected


def test_nothing_leaves_an_end_state() -> None:
    assert all(TRANSITIONS[state] == {} for state in ENDS)
    assert {s.value for s in OPEN} == {"running", "waiting", "not_yet", "unsent", "unknown"}


def test_the_first_leg_sends_the_params_alone() -> None:
    assert next_params({"name": "t", "arguments": {}}, None, None) == {"name": "t", "arguments": {}}


def test_empty_state_and_empty_answers_are_sent_absent_ones_are_not() -> None:
    """MR-3, MR-5: "" is a state; None is none."""
    assert next_params({"uri": "a:b"}, {}, "") == {"uri": "a:b", "inputResponses": {}, "requestState": ""}
    assert next_params({"uri": "a:b"}, None, "s") == {"uri": "a:b", "requestState": "s"}


def test_the_original_params_are_not_touched() -> None:
    params = {"name": "t", "arguments": {"n": 1.0}}
    next_params(params, {"k": {"action": "cancel"}}, "s")
    assert params == {"name": "t", "arguments": {"n": 1.0}}
