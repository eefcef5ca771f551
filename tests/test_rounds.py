"""Judging results by resultType, and building inputResponses."""

from typing import Any

import pytest

from mrtr_web.rounds import (
    Action,
    BrokenRule,
    Complete,
    Kind,
    MissingAnswer,
    Round,
    elicit_result,
    read,
    responses,
)

CAPS: dict[str, Any] = {"elicitation": {"form": {}, "url": {}}}
FORM = {
    "method": "elicitation/create",
    "params": {"message": "Who?", "requestedSchema": {"type": "object", "properties": {}}},
}
LINK = {
    "method": "elicitation/create",
    "params": {"mode": "url", "message": "Pay", "url": "https://pay.example/x"},
}


def required(**fields: Any) -> dict[str, Any]:
    return {"resultType": "input_required", **fields}


def a_round(**fields: Any) -> Round:
    found = read(required(**fields), CAPS)
    assert isinstance(found, Round)
    return found


def test_absent_result_type_is_complete() -> None:
    """MR-12"""
    assert read({"content": []}, CAPS) == Complete({"content": []})


def test_result_type_decides_not_the_shape() -> None:
    """MR-12: a hybrid with content is still a round; inputRequests in a complete result are not."""
    assert a_round(content=[], requestState="s").request_state == "s"
    assert isinstance(read({"resultType": "complete", "inputRequests": {"k": FORM}}, CAPS), Complete)


@pytest.mark.parametrize("kind", ["weird", "", None, 5, "task"])
def test_an_unknown_result_type_breaks_a_rule(kind: object) -> None:
    """MR-12, VE-3, T-42"""
    with pytest.raises(BrokenRule, match="MR-12"):
        read({"resultType": kind, "content": []}, CAPS)


def test_both_fields() -> None:
    found = a_round(inputRequests={"who": FORM}, requestState="s")
    assert ([step.key for step in found.steps], found.request_state) == (["who"], "s")


def test_requests_without_state() -> None:
    assert a_round(inputRequests={"who": FORM}).request_state is None


def test_state_without_requests_is_state_only() -> None:
    assert a_round(requestState="") == Round((), "")


def test_empty_requests_with_state_are_state_only() -> None:
    """T-11"""
    assert a_round(inputRequests={}, requestState="s").steps == ()


def test_null_counts_as_absent() -> None:
    """T-7"""
    assert a_round(inputRequests={"who": FORM}, requestState=None).request_state is None


@pytest.mark.parametrize(
    "fields",
    [
        {},
        {"inputRequests": None, "requestState": None},
        {"requestState": 5},
        {"inputRequests": []},
        {"inputRequests": "x"},
    ],
)
def test_neither_field_or_a_wrong_type_breaks_a_rule(fields: dict[str, Any]) -> None:
    """T-41, MR-13, T-7"""
    with pytest.raises(BrokenRule, match="MR-13"):
        read(required(**fields), CAPS)


@pytest.mark.parametrize(
    "entry",
    [
        "text",
        None,
        {},
        {"method": "tools/call"},
        {"method": "sampling/createMessage", "params": {"messages": [], "maxTokens": 5}},
        {"method": "roots/list"},
    ],
)
def test_an_unknown_method_or_an_undeclared_kind_ends_the_flow(entry: object) -> None:
    """MR-14, T-15: there is no slot for an error, and no truthful answer."""
    with pytest.raises(BrokenRule, match="MR-14"):
        read(required(inputRequests={"good": FORM, "bad": entry}), CAPS)


@pytest.mark.parametrize(
    "params",
    [
        {"mode": "video", "message": "m"},
        {"mode": 5, "message": "m"},
        {"mode": {}, "message": "m"},
        [],
        "text",
        None,
        {},
    ],
)
def test_an_unusable_elicitation_cannot_be_shown_and_the_others_can(params: object) -> None:
    """MR-14, T-15"""
    found = a_round(inputRequests={"bad": {"method": "elicitation/create", "params": params}, "good": FORM})
    assert [step.showable for step in found.steps] == [False, True]
    assert found.findings == ("MR-14",)


def test_url_mode_needs_its_own_declaration() -> None:
    """EL-1: an empty elicitation object declares forms alone."""
    found = read(required(inputRequests={"form": FORM, "link": LINK}), {"elicitation": {}})
    assert isinstance(found, Round)
    assert [(step.kind, step.showable) for step in found.steps] == [(Kind.FORM, True), (Kind.URL, False)]
    assert found.findings == ("MR-14",)


@pytest.mark.parametrize(
    ("params", "rule"),
    [
        (None, "SA-5"),
        ({"maxTokens": 5}, "SA-5"),
        ({"messages": "text", "maxTokens": 5}, "SA-5"),
        ({"messages": [], "maxTokens": 5, "tools": [{"name": "t"}]}, "SA-6"),
        ({"messages": [], "maxTokens": 5, "toolChoice": {"mode": "auto"}}, "SA-6"),
        ({"messages": [{"role": "user", "content": [{"type": "tool_result"}]}], "maxTokens": 5}, "SA-6"),
    ],
)
def test_sampling_that_cannot_be_replied_to_ends_the_flow(params: object, rule: str) -> None:
    """SA-5, SA-7, SA-6, MR-20, T-16: neither tools nor a conversation that is none."""
    entry = {"method": "sampling/createMessage", "params": params}
    with pytest.raises(BrokenRule, match=rule):
        read(required(inputRequests={"s": entry}), {"sampling": {}})


@pytest.mark.parametrize(
    ("params", "rule"),
    [
        ({"messages": [], "maxTokens": 5, "includeContext": "allServers"}, "SA-1"),
        ({"messages": []}, "SA-3"),
        ({"messages": [], "maxTokens": True}, "SA-3"),
        ({"messages": ["text"], "maxTokens": 5}, "SA-5"),
        ({"messages": [{"role": "system", "content": {"type": "text", "text": "x"}}], "maxTokens": 5}, "SA-5"),
    ],
)
def test_sampling_with_a_fault_can_still_be_replied_to(params: object, rule: str) -> None:
    """SA-1, SA-5"""
    entry = {"method": "sampling/createMessage", "params": params}
    found = read(required(inputRequests={"s": entry}), {"sampling": {}})
    assert isinstance(found, Round)
    assert found.findings == (rule,)


def test_declared_sampling_and_roots_are_steps() -> None:
    caps: dict[str, Any] = {"sampling": {}, "roots": {}}
    entries = {
        "s": {"method": "sampling/createMessage", "params": {"messages": [], "maxTokens": 5}},
        "r": {"method": "roots/list"},
    }
    found = read(required(inputRequests=entries), caps)
    assert isinstance(found, Round)
    assert [step.kind for step in found.steps] == [Kind.SAMPLING, Kind.ROOTS]


def test_missing_mode_is_a_form_and_order_and_odd_keys_are_kept() -> None:
    """EL-2, T-22"""
    found = a_round(inputRequests={"z.1": FORM, "": LINK, "__proto__": FORM})
    assert [(s.key, s.kind) for s in found.steps] == [("z.1", "form"), ("", "url"), ("__proto__", "form")]


def test_a_form_without_schema_is_a_yes_or_no_and_a_finding() -> None:
    found = a_round(inputRequests={"k": {"method": "elicitation/create", "params": {"message": "Sure?"}}})
    assert found.steps[0].schema == {"type": "object", "properties": {}}
    assert found.findings == ("FM-6",)


def test_a_url_step_without_url_cannot_be_shown() -> None:
    found = a_round(inputRequests={"k": {"method": "elicitation/create", "params": {"mode": "url", "message": "m"}}})
    assert not found.steps[0].showable


def test_a_state_over_the_cap_breaks_a_rule() -> None:
    with pytest.raises(BrokenRule, match="STATE-SIZE"):
        read(required(requestState="é" * 6), CAPS, max_state_bytes=11)


def test_content_goes_with_accept_only() -> None:
    """EL-7, T-17, H06"""
    assert elicit_result(Action.ACCEPT, {}) == {"action": "accept", "content": {}}
    assert elicit_result(Action.ACCEPT) == {"action": "accept"}
    assert elicit_result(Action.DECLINE, {"a": 1}) == {"action": "decline"}
    assert elicit_result(Action.CANCEL, {"a": 1}) == {"action": "cancel"}


def test_every_key_is_answered_and_no_other() -> None:
    """MR-9, M04"""
    steps = a_round(inputRequests={"b": FORM, "a": LINK}).steps
    answers = {"a": {"action": "accept"}, "b": {"action": "cancel"}, "old": {"action": "accept"}}
    assert list((responses(steps, answers) or {}).items()) == [
        ("b", {"action": "cancel"}),
        ("a", {"action": "accept"}),
    ]
    with pytest.raises(MissingAnswer):
        responses(steps, {"a": {"action": "accept"}})


def test_a_state_only_round_has_no_responses() -> None:
    assert responses((), {}) is None
