"""From a server's result to the steps of a round, and from answers back to inputResponses.

The result comes raw, as the server sent it; here it is judged entry by entry (MCP 2026-07-28, MRTR).
A breach that leaves the round answerable is a finding; one that does not is a BrokenRule.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

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


@dataclass(frozen=True, slots=True)
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


@dataclass(frozen=True, slots=True)
class Round:
    """An InputRequiredResult. Without steps it is state-only: the server asks to be called again."""

    steps: tuple[Step, ...]
    request_state: str | None
    findings: tuple[str, ...] = field(default=())


@dataclass(frozen=True, slots=True)
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
    if not isinstance(entry, Mapping):
        raise BrokenRule("MR-14")
    params = entry.get("params")
    params = {} if params is None else params
    if not isinstance(params, Mapping):
        raise BrokenRule("MR-14")
    kind = _kind(entry.get("method"), params)
    if not _declared(kind, capabilities):
        raise BrokenRule("MR-14")
    faults = _faults(kind, params)
    findings.extend(faults)
    return Step(key, kind, params, showable="SHOW" not in faults)


def _kind(method: object, params: Mapping[str, Any]) -> Kind:
    match method:
        case "elicitation/create":
            return _elicitation_kind(params.get("mode"))
        case "sampling/createMessage":
            return Kind.SAMPLING
        case "roots/list":
            return Kind.ROOTS
    raise BrokenRule("MR-14")


def _elicitation_kind(mode: object) -> Kind:
    if mode == "url":
        return Kind.URL
    if mode is None or mode == "form":  # absent means form (EL-2)
        return Kind.FORM
    raise BrokenRule("MR-14")


def _declared(kind: Kind, capabilities: Mapping[str, Any]) -> bool:
    if kind in (Kind.FORM, Kind.URL):
        modes = capabilities.get("elicitation")
        return modes is not None and (kind in modes or (kind is Kind.FORM and not modes))
    return kind in capabilities


def _faults(kind: Kind, params: Mapping[str, Any]) -> list[str]:
    """Rule ids that this entry breaks although it can still be answered; "SHOW" = no page can be made of it."""
    faults = []
    if kind in (Kind.FORM, Kind.URL) and not isinstance(params.get("message"), str):
        faults.append("EL-5")
    if kind is Kind.FORM and not isinstance(params.get("requestedSchema"), Mapping):
        faults.append("FM-6")
    if kind is Kind.URL and not isinstance(params.get("url"), str):
        faults += ["UR-4", "SHOW"]
    return faults


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
