"""What a leg's outcome means for its flow: the event, a code, and the record as it goes on. Nothing is written here."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote_plus

from django.conf import settings

from mrtr_web import links, pages, relay, rounds, secrecy, vault
from mrtr_web.access import Refusals
from mrtr_web.flow import Event
from mrtr_web.ledger import Asked
from mrtr_web.rounds import Kind, Step
from mrtr_web.runner import Outcome
from mrtr_web.schema import check
from mrtr_web.schema.secrets import asks_secret
from mrtr_web.schema.spec import FieldSpec, FormSpec, SchemaFault
from mrtr_web.schema.spec import Kind as FieldKind
from mrtr_web.vault import Record

Object = dict[str, Any]
Forms = Mapping[str, tuple[Step, FieldSpec]]
"""The steps of a round by their keys, each with what its form asks for."""
ODD_RESULT = "odd_result"
"""A finished flow whose result does not have the announced form."""
RESERVED = range(-32_768, -31_999)
"""Codes of JSON-RPC and of MCP."""
INPUTS = 4
"""That one field may post: its value, its zone, its offset, and that it is left empty on purpose."""
INPUT_BYTES = 40
"""Of the name of one input, and what stands around it in a post."""


@dataclass(frozen=True, slots=True, repr=False)
class Verdict:
    """What a leg's outcome means: the event, a code for the row, and the record as it goes on."""

    event: Event
    outcome: str
    record: Record
    round: int
    asked: Asked = Asked()
    findings: tuple[str, ...] = ()


def judge(record: Record, round_number: int, outcome: Outcome) -> Verdict:
    """Judge an outcome against the record that its leg was sent from."""
    forms = {step.key: (step, secrecy.of_step(step)) for step in asked_in(record)}
    noted = record.noting([_masked(record, forms, message) for message in outcome.sent], outcome.received)
    noted = noted.remembering(_answered(record, forms))
    noted = noted.model_copy(update={"refusals": _refusals(record, outcome)})
    if isinstance(outcome, relay.RelayError):
        return _judge_error(noted, round_number, outcome)
    try:
        read_result = rounds.read(outcome.result, record.capabilities, max_state_bytes=settings.CONFIG.max_state_bytes)
        if isinstance(read_result, rounds.Complete):
            return _judge_complete(noted, round_number, outcome.result)
        return _judge_round(noted, round_number, outcome.result, read_result)
    except rounds.BrokenRule as broken:
        return _broken(noted, round_number, broken.rule)


def _refusals(record: Record, outcome: Outcome) -> Refusals | None:
    """What the server asks for that let nobody in; what came in between, and was no answer, does not start it anew."""
    if not isinstance(outcome, relay.Unsent):
        return None
    if outcome.challenge is None:
        return record.refusals
    return Refusals(challenge=outcome.challenge, sign_ins=record.refusals.sign_ins if record.refusals else 0)


def asked_in(record: Record) -> tuple[Step, ...]:
    """The steps of the record's current round."""
    result = {"resultType": "input_required", "inputRequests": record.requests or {}}
    judged = rounds.read(result, record.capabilities)
    return judged.steps if isinstance(judged, rounds.Round) else ()


def _masked(record: Record, forms: Forms, message: Object) -> Object:
    answers = {key: spec for key, (_, spec) in forms.items()}
    return secrecy.masked(message, secrecy.of_input(record.input_schema), answers)


def _answered(record: Record, forms: Forms) -> list[vault.PastAnswer]:
    answers = record.responses or {}
    return [
        vault.PastAnswer(key=key, params=dict(step.params), answer=secrecy.without(answers[key], spec))
        for key, (step, spec) in forms.items()
        if key in answers
    ]


def _judge_complete(record: Record, round_number: int, result: Object) -> Verdict:
    if result.get("isError") is True:
        return Verdict(Event.FINISHED, "tool_error", _with_result(record.failed(), result), round_number)
    odd = not _as_announced(record.output_schema, result)
    code, findings = (ODD_RESULT, ("TO-4",)) if odd else ("done", ())
    return Verdict(Event.FINISHED, code, _with_result(record.ended(), result), round_number, findings=findings)


def _with_result(record: Record, result: Object) -> Record:
    return record.model_copy(update={"result": result})


def _as_announced(schema: Object | None, result: Object) -> bool:
    """Whether the structured content fits the tool's outputSchema (TO-4). What cannot be checked passes."""
    if schema is None:
        return True
    if "structuredContent" not in result:
        return False
    try:
        return not check.check(schema, result["structuredContent"])
    except SchemaFault:
        return True


def _judge_round(record: Record, round_number: int, result: Object, asked: rounds.Round) -> Verdict:
    onward = record.model_copy(
        update={
            "request_state": asked.request_state,
            "requests": result["inputRequests"] if asked.steps else None,
            "responses": None,
        }
    )
    if not asked.steps:
        return Verdict(Event.TOLD_TO_WAIT, "state_only", onward, round_number, findings=asked.findings)
    if round_number >= settings.CONFIG.max_rounds:
        return Verdict(Event.FAILED, "too_many_rounds", onward.failed(), round_number)
    drawn = [_drawn(step) for step in asked.steps]
    if not _can_be_posted(filter(None, drawn)):
        raise rounds.BrokenRule("ROUND-SIZE")
    faults = [_fault(step, form) for step, form in zip(asked.steps, drawn, strict=True)]
    asked_of = Asked(
        tuple(step.kind.value for step in asked.steps),
        tuple(dict.fromkeys(filter(None, map(_host, asked.steps)))),
        tuple(dict.fromkeys(code for each in zip(asked.steps, faults, strict=True) for code in _warnings(*each))),
    )
    findings = tuple(dict.fromkeys([*asked.findings, *faults]))
    return Verdict(Event.ASKED, "asked", onward, round_number + 1, asked_of, tuple(filter(None, findings)))


def _host(step: Step) -> str:
    """Where a page is that a step asks to open, for reviewers; "" where it is none."""
    return links.judge(step.url).host if step.kind is Kind.URL and step.showable else ""


def _warnings(step: Step, fault: str) -> Iterable[str]:
    """What reviewers should look at in a step; of an address, what is wrong with it."""
    if step.kind is Kind.URL and step.showable:
        link = links.judge(step.url)
        return [f"url:{code}" for code in (link.refused, *link.warnings) if code]
    return ["secret"] if fault == "FM-5" else []


def _drawn(step: Step) -> FormSpec | None:
    return pages.drawn(step) if step.kind is Kind.FORM and step.showable else None


def _can_be_posted(forms: Iterable[FormSpec]) -> bool:
    """Whether one post can hold the page as it is first drawn, with every choice ticked and the rest half full."""
    posted = [_posted(spec) for form in forms for spec in form.fields]
    inputs, size = sum(inputs for inputs, _ in posted), sum(size for _, size in posted)
    return inputs < settings.DATA_UPLOAD_MAX_NUMBER_FIELDS and size < settings.CONFIG.max_request_bytes // 2


def _posted(spec: FieldSpec) -> tuple[int, int]:
    """The most inputs of a field, and the bytes of them before anything is typed."""
    ticks = len(spec.options) if spec.kind is FieldKind.CHOICES else 0
    level, texts = [spec.default], 0
    inputs = INPUTS + ticks
    while not ticks and level:
        texts += sum(len(quote_plus(part.replace("\n", "\r\n"))) for part in level if isinstance(part, str))
        level = [below for part in level for below in _inside(part)]
        inputs += INPUTS * len(level)
    return inputs, texts + INPUT_BYTES * inputs


def _inside(part: Any) -> Iterable[Any]:
    return part.values() if isinstance(part, dict) else part if isinstance(part, list) else ()


def _fault(step: Step, drawn: FormSpec | None) -> str:
    """The rule that a step breaks by what it asks; "" for none."""
    if step.kind is Kind.URL and step.showable:
        return "UR-7" if links.judge(step.url).refused else ""
    if step.kind is not Kind.FORM or not step.showable:
        return ""
    if drawn is None:  # no form can be made that answers it; it is answered `cancel` (T-15)
        return "FM-6"
    return "FM-5" if asks_secret(drawn.root) else ""


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
    return Verdict(Event.FAILED, "legacy", record.failed(), round_number)


def _judge_refusal(record: Record, round_number: int, error: relay.Refused) -> Verdict:
    # Another number may be anything, an answer too: the owner reads it in the record.
    code = f"refused:{error.code}" if error.code in RESERVED else "refused"
    if error.code == -32602 and record.request_state is not None:
        code = "step_expired"
    told = {"code": error.code, "message": error.message, "data": error.data}
    return Verdict(Event.FAILED, code, record.failed().model_copy(update={"error": told}), round_number)


def _broken(record: Record, round_number: int, rule: str) -> Verdict:
    return Verdict(Event.FAILED, f"broken:{rule}", record.failed(), round_number, findings=(rule,))
