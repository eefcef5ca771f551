"""From a server's result to the steps of a round, and from answers back to inputResponses.

The result comes raw, as the server sent it; here it is judged entry by entry (MCP 2026-07-28, MRTR).
A breach that leaves the round answerable is a finding; one that does not is a BrokenRule.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from mrtr_web import sampling

MAX_STEPS = 20
"""Steps that one round may have: more cannot be one form that a browser sends."""


class Kind(StrEnum):
    FORM = "form"
    URL = "url"
    SAMPLING = "sampling"
    ROOTS = "roots"


class Action(StrEnum):
    ACCEPT = "accept"
    DECLINE = "decline"
    CANCEL = "cancel"


@dataclass(frozen=True, slots=True, repr=False)
class Step:
    """One entry of inputRequests. `params` is as received; `showable` is false where no page can be made of it."""

    key: str
    kind: Kind
    params: Mapping[str, Any]
    showable: bool = True

    @property
    def message(self) -> str:
        text = self.params.get("message")
        return text if isinstance(text, str) else ""

    @property
    def schema(self) -> Mapping[str, Any]:
        """The requested schema; one without fields where the server sent none (a plain Yes or No)."""
        schema = self.params.get("requestedSchema")
        return schema if isinstance(schema, Mapping) else {"type": "object", "properties": {}}

    @property
    def url(self) -> str:
        return str(self.params.get("url", ""))


@dataclass(frozen=True, slots=True, repr=False)
class Round:
    """An InputRequiredResult. Without steps it is state-only: the server asks to be called again."""

    steps: tuple[Step, ...]
    request_state: str | None
    findings: tuple[str, ...] = field(default=())


@dataclass(frozen=True, slots=True, repr=False)
class Complete:
    """The final result, as received."""

    result: Mapping[str, Any]


class BrokenRule(Exception):
    """The server broke a rule and the flow cannot go on. `rule` is the id of the rule in docs/conformance.md."""

    def __init__(self, rule: str) -> None:
        super().__init__(rule)
        self.rule = rule


class MissingAnswer(Exception):
    """A key of the round has no answer: nothing may be sent (MR-9)."""


def read(
    result: Mapping[str, Any], capabilities: Mapping[str, Any], *, max_state_bytes: int = 256 * 1024
) -> Round | Complete:
    """Judge a raw result. Absent resultType is a complete result (MR-12). Raises BrokenRule."""
    kind = result.get("resultType", "complete")
    if kind == "complete":
        return Complete(result)
    if kind != "input_required":
        raise BrokenRule("MR-12")
    requests = _field(result, "inputRequests", Mapping)
    state = _field(result, "requestState", str)
    if requests is None and state is None:
        raise BrokenRule("MR-13")
    if state is not None and len(state.encode(errors="surrogatepass")) > max_state_bytes:
        raise BrokenRule("STATE-SIZE")
    if requests is not None and len(requests) > MAX_STEPS:
        raise BrokenRule("ROUND-SIZE")
    findings: list[str] = []
    steps = tuple(_step(key, entry, capabilities, findings) for key, entry in (requests or {}).items())
    return Round(steps, state, tuple(dict.fromkeys(findings)))


def _field(result: Mapping[str, Any], name: str, kind: type) -> Any:
    value = result.get(name)  # null counts as absent (T-7)
    if value is not None and not isinstance(value, kind):
        raise BrokenRule("MR-13")
    return value


def _step(key: str, entry: object, capabilities: Mapping[str, Any], findings: list[str]) -> Step:
    """One entry. There is no slot for an error: only an elicitation has a truthful answer, `cancel`, where it is
    unusable (T-15). Everything else that is unusable ends the flow.
    """
    if not isinstance(entry, Mapping):
        raise BrokenRule("MR-14")
    params = entry.get("params")
    match entry.get("method"):
        case "elicitation/create":
            return _elicitation(key, params, capabilities, findings)
        case "sampling/createMessage":
            return _sampling(key, params, capabilities, findings)
        case "roots/list" if "roots" in capabilities:
            return Step(key, Kind.ROOTS, params if isinstance(params, Mapping) else {})
    raise BrokenRule("MR-14")


def _elicitation(key: str, params: object, capabilities: Mapping[str, Any], findings: list[str]) -> Step:
    known = params if isinstance(params, Mapping) else {}
    kind = Kind.URL if known.get("mode") == "url" else Kind.FORM  # absent means form (EL-2)
    if not _declared(kind, capabilities) or known.get("mode", "form") not in (None, "form", "url") or not known:
        findings.append("MR-14")
        return Step(key, kind, known, showable=False)
    if not isinstance(known.get("message"), str):
        findings.append("EL-5")
    if kind is Kind.FORM and not isinstance(known.get("requestedSchema"), Mapping):
        findings.append("FM-6")
    no_url = kind is Kind.URL and not isinstance(known.get("url"), str)
    if no_url:
        findings.append("UR-4")
    return Step(key, kind, known, showable=not no_url)


def _declared(mode: Kind, capabilities: Mapping[str, Any]) -> bool:
    modes = capabilities.get("elicitation")
    return modes is not None and (mode in modes or (mode is Kind.FORM and not modes))


def _sampling(key: str, params: object, capabilities: Mapping[str, Any], findings: list[str]) -> Step:
    if "sampling" not in capabilities:
        raise BrokenRule("MR-14")
    try:
        findings += sampling.faults(params)
    except sampling.Unusable as unusable:
        raise BrokenRule(unusable.rule) from None
    assert isinstance(params, Mapping)
    return Step(key, Kind.SAMPLING, params)


def elicit_result(action: Action, content: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """An ElicitResult: content goes with an accepted form only (EL-7)."""
    if action is Action.ACCEPT and content is not None:
        return {"action": action.value, "content": dict(content)}
    return {"action": action.value}


def responses(steps: tuple[Step, ...], answers: Mapping[str, Mapping[str, Any]]) -> dict[str, Any] | None:
    """inputResponses: one answer for each key, in the order asked; None for a state-only round (T-11).

    Raises MissingAnswer where a key has none.
    """
    if not steps:
        return None
    try:
        return {step.key: dict(answers[step.key]) for step in steps}
    except KeyError:
        raise MissingAnswer from None
