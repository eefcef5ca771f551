"""What a leg's outcome means for its flow: the event, a code, and the record as it goes on. Nothing is written here."""

from dataclasses import dataclass
from typing import Any

from django.conf import settings

from mrtr_web import relay, rounds, vault
from mrtr_web.flow import Event
from mrtr_web.runner import Outcome
from mrtr_web.schema import read
from mrtr_web.schema.spec import SchemaFault
from mrtr_web.vault import Record

Object = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Verdict:
    """What a leg's outcome means: the event, a code for the row, and the record as it goes on."""

    event: Event
    outcome: str
    record: Record
    round: int
    kinds: tuple[str, ...] = ()
    findings: tuple[str, ...] = ()


def judge(record: Record, round_number: int, outcome: Outcome) -> Verdict:
    """Judge an outcome against the record that its leg was sent from."""
    noted = record.noting(outcome.sent, outcome.received)
    if isinstance(outcome, relay.RelayError):
        return _judge_error(noted, round_number, outcome)
    try:
        read_result = rounds.read(outcome.result, record.capabilities, max_state_bytes=settings.CONFIG.max_state_bytes)
        if isinstance(read_result, rounds.Complete):
            return _judge_complete(noted, round_number, outcome.result)
        return _judge_round(noted, round_number, outcome.result, read_result)
    except rounds.BrokenRule as broken:
        return _broken(noted, round_number, broken.rule)


def _judge_complete(record: Record, round_number: int, result: Object) -> Verdict:
    code = "tool_error" if result.get("isError") is True else "done"
    ended = record.ended().model_copy(update={"result": result})
    return Verdict(Event.FINISHED, code, ended, round_number)


def _judge_round(record: Record, round_number: int, result: Object, asked: rounds.Round) -> Verdict:
    past = list(record.past)
    if record.requests and record.responses is not None:
        past = [vault.PastRound(requests=record.requests, responses=record.responses)]
    onward = record.model_copy(
        update={
            "request_state": asked.request_state,
            "requests": result["inputRequests"] if asked.steps else None,
            "responses": None,
            "past": past,
        }
    )
    if not asked.steps:
        return Verdict(Event.TOLD_TO_WAIT, "state_only", onward, round_number, findings=asked.findings)
    if round_number >= settings.CONFIG.max_rounds:
        return Verdict(Event.FAILED, "too_many_rounds", onward.ended(), round_number)
    kinds = tuple(step.kind.value for step in asked.steps)
    findings = asked.findings + (() if all(map(_drawable, asked.steps)) else ("FM-6",))
    return Verdict(Event.ASKED, "asked", onward, round_number + 1, kinds, tuple(dict.fromkeys(findings)))


def _drawable(step: rounds.Step) -> bool:
    """Whether a form can be made that answers this step; else it is answered `cancel` (T-15)."""
    if step.kind is not rounds.Kind.FORM:
        return step.showable
    try:
        return not read.read_elicitation(step.schema).unanswerable
    except SchemaFault:
        return False


def _judge_error(record: Record, round_number: int, error: relay.RelayError) -> Verdict:
    match error:
        case relay.Unsent():
            return Verdict(Event.NOT_SENT, error.reason, record, round_number)
        case relay.Lost():
            return Verdict(Event.LOST, error.reason, record, round_number)
        case relay.Refused():
            return _judge_refusal(record, round_number, error)
        case relay.Broken():
            return _broken(record, round_number, error.rule)
    return Verdict(Event.FAILED, "legacy", record.ended(), round_number)


def _judge_refusal(record: Record, round_number: int, error: relay.Refused) -> Verdict:
    code = f"refused:{error.code}" if abs(error.code) < 10**9 else "refused"
    if error.code == -32602 and record.request_state is not None:
        code = "step_expired"
    told = {"code": error.code, "message": error.message, "data": error.data}
    return Verdict(Event.FAILED, code, record.ended().model_copy(update={"error": told}), round_number)


def _broken(record: Record, round_number: int, rule: str) -> Verdict:
    return Verdict(Event.FAILED, f"broken:{rule}", record.ended(), round_number, findings=(rule,))
