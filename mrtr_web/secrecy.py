"""What looks like a secret is sent and then forgotten: not kept as a raw message, nor to pre-fill anything (T-39)."""

from collections.abc import Mapping
from typing import Any

from mrtr_web import pages
from mrtr_web.rounds import Kind, Step
from mrtr_web.schema import read
from mrtr_web.schema.secrets import hidden
from mrtr_web.schema.spec import ABSENT, Absent, FieldSpec, SchemaFault
from mrtr_web.schema.spec import Kind as FieldKind

MASK = "\u2022\u2022\u2022"
UNKNOWN = FieldSpec("", FieldKind.JSON, "")
"""Of a form that cannot be read: names alone tell what is secret in it."""
Object = dict[str, Any]


def of_step(step: Step) -> FieldSpec:
    """What a form asks for."""
    spec = pages.drawn(step) if step.kind is Kind.FORM and step.showable else None
    return spec.root if spec else UNKNOWN


def of_input(schema: Mapping[str, Any] | None) -> FieldSpec:
    """What a tool's arguments are."""
    try:
        return read.read_input(schema).root if schema is not None else UNKNOWN
    except SchemaFault:
        return UNKNOWN


def masked(message: Object, arguments: FieldSpec, answers: Mapping[str, FieldSpec]) -> Object:
    """A request as it was sent, with the secrets in its arguments and in its answers (by step) masked."""
    params = message.get("params", {})
    shown = dict(params)
    if isinstance(params.get("arguments"), dict):
        shown["arguments"] = _hidden(arguments, params["arguments"], MASK)
    if isinstance(params.get("inputResponses"), dict):
        shown["inputResponses"] = {
            key: _in_content(answer, answers.get(key, UNKNOWN), MASK)
            for key, answer in params["inputResponses"].items()
        }
    return {**message, "params": shown}


def without(answer: Object, spec: FieldSpec) -> Object:
    """An answer without the secrets in its content."""
    return _in_content(answer, spec, ABSENT)


def values_without(values: Object, spec: FieldSpec) -> Object:
    return _hidden(spec, values, ABSENT)


def _in_content(answer: Object, spec: FieldSpec, mask: str | Absent) -> Object:
    content = answer.get("content")
    return {**answer, "content": _hidden(spec, content, mask)} if isinstance(content, dict) else answer


def _hidden(spec: FieldSpec, values: Object, mask: str | Absent) -> Object:
    try:
        found = hidden(spec, values, mask)
    except SchemaFault:
        found = hidden(UNKNOWN, values, mask)
    return found if isinstance(found, dict) else {}
