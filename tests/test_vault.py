"""The record of a flow survives exactly, and opens nowhere but where it belongs."""

import dataclasses
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mrtr_web.vault import (
    MESSAGES_CAP,
    PAST_CAP,
    Binding,
    Keys,
    PastAnswer,
    Record,
    Unreadable,
    close,
    open_record,
    peppers,
)

KEYS = Keys(bytes(range(32)), peppers(["server key"]))
BINDING = Binding(user=1, flow="f", round=2, server=3, method="tools/call", session_ends=4)
PARAMS = {"name": "t", "arguments": {"z": 1, "a": 1.0, "big": 2**70, "text": "\u2028\x00\r\n é😀"}}


def a_record(**changes: Any) -> Record:
    return Record(method="tools/call", params=PARAMS, capabilities={"elicitation": {"form": {}}}).model_copy(
        update=changes
    )


def reopened(record: Record) -> Record:
    return open_record(close(record, KEYS, BINDING), KEYS, BINDING)


def test_everything_comes_back_as_it_went_in() -> None:
    record = a_record(
        request_state="",
        requests={"b": {"method": "roots/list"}, "a": {}},
        responses={"b": {"roots": []}},
        past=[PastAnswer(key="a", params={}, answer={"action": "cancel"})],
    )
    found = reopened(record)
    assert found == record
    assert json.dumps(found.params) == json.dumps(PARAMS)
    assert list(found.requests or {}) == ["b", "a"]


@pytest.mark.parametrize(
    "state",
    ["", " ", "a\x00b", "\u2028\u2029", "\ud800", "x" * 200_000, '{"a":1}', "</script>", "é😀", "\r\n"],
)
def test_any_state_survives(state: str) -> None:
    """T-6, M03"""
    assert reopened(a_record(request_state=state)).request_state == state


def test_an_absent_state_stays_absent() -> None:
    assert reopened(a_record()).request_state is None


@given(st.text(alphabet=st.characters()))
def test_any_text_survives(text: str) -> None:
    assert reopened(a_record(request_state=text)).request_state == text


@pytest.mark.parametrize("change", [f.name for f in dataclasses.fields(Binding)])
def test_a_record_opens_only_where_it_belongs(change: str) -> None:
    other = {"flow": "g", "method": "prompts/get"}.get(change, 99)
    elsewhere = dataclasses.replace(BINDING, **{change: other})  # type: ignore[arg-type]
    with pytest.raises(Unreadable):
        open_record(close(a_record(), KEYS, BINDING), KEYS, elsewhere)


def test_other_keys_do_not_open() -> None:
    blob = close(a_record(), KEYS, BINDING)
    for keys in (Keys(bytes(32), KEYS.peppers), Keys(KEYS.secret, peppers(["other"]))):
        with pytest.raises(Unreadable):
            open_record(blob, keys, BINDING)


def test_a_rotated_server_key_still_opens() -> None:
    blob = close(a_record(), KEYS, BINDING)
    assert open_record(blob, Keys(KEYS.secret, peppers(["new", "server key"])), BINDING) == a_record()


def test_an_ended_flow_keeps_params_outcome_and_messages_alone() -> None:
    full = a_record(request_state="s", requests={"k": {}}, responses={"k": {}}, result={"content": []})
    ended = full.noting([{"id": "1"}], [{"id": "1"}]).ended()
    assert ended.model_dump(exclude_defaults=True) == {
        "method": "tools/call",
        "params": PARAMS,
        "capabilities": {"elicitation": {"form": {}}},
        "messages": [{"sent": True, "body": {"id": "1"}}, {"sent": False, "body": {"id": "1"}}],
        "result": {"content": []},
    }


def test_old_messages_make_room() -> None:
    big = {"text": "x" * (MESSAGES_CAP // 2)}
    noted = a_record().noting([big], [big]).noting([{"id": "new"}], [])
    assert [m.body for m in noted.messages] == [big, {"id": "new"}]


def test_records_and_keys_print_nothing() -> None:
    assert "f" not in repr(KEYS).replace("Keys", "") and str(a_record(request_state="canary")) == "Record()"


def an_answer(key: str, text: str, **params: Any) -> PastAnswer:
    return PastAnswer(key=key, params=params, answer={"action": "accept", "content": {"text": text}})


def test_a_later_answer_takes_the_place_of_the_one_to_the_same_question() -> None:
    record = a_record().remembering([an_answer("k", "old"), an_answer("k", "other", message="2")])
    record = record.remembering([an_answer("k", "new")])
    assert [each.answer["content"]["text"] for each in record.past] == ["other", "new"]


def test_remembered_answers_are_capped_and_the_newest_stay() -> None:
    record = a_record()
    for number in range(40):
        record = record.remembering([an_answer(f"k{number}", "x" * 10_000)])
    assert record.past[-1].key == "k39"
    assert sum(len(json.dumps(each.model_dump())) for each in record.past) <= PAST_CAP


def test_a_failed_flow_keeps_its_answers_and_an_ended_one_does_not() -> None:
    """T-3"""
    record = a_record(request_state="s", requests={"k": {}}, responses={"k": {}}, past=[an_answer("k", "x")])
    assert (record.failed().past, record.failed().request_state, record.failed().responses) == (record.past, None, None)
    assert (record.ended().past, record.ended().requests) == ([], None)
