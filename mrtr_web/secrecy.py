"""What looks like a secret is sent and then forgotten: not kept as a raw message, nor to pre-fill anything (T-39)."""

from collections.abc import Collection, Mapping
from typing import Any

from mrtr_web import pages
from mrtr_web.rounds import Kind, Step
from mrtr_web.schema import read
from mrtr_web.schema.spec import SchemaFault

MASK = "\u2022\u2022\u2022"
Object = dict[str, Any]


def of_step(step: Step) -> frozenset[str]:
    """Keys of a form's fields that look secret."""
    spec = pages.drawn(step) if step.kind is Kind.FORM and step.showable else None
    return spec.secrets if spec else frozenset()


def of_input(schema: Mapping[str, Any] | None) -> frozenset[str]:
    """Keys of a tool's arguments that look secret."""
    try:
        return read.read_input(schema).secrets if schema is not None else frozenset()
    except SchemaFault:
        return frozenset()


def masked(message: Object, arguments: Collection[str], answers: Mapping[str, Collection[str]]) -> Object:
    """A request as it was sent, with the secrets in its arguments and in its answers (keys by step) masked."""
    params = message.get("params", {})
    shown = dict(params)
    if isinstance(params.get("arguments"), dict):
        shown["arguments"] = _mask(params["arguments"], arguments)
    if isinstance(params.get("inputResponses"), dict):
        shown["inputResponses"] = {
            key: _mask_answer(answer, answers.get(key, ())) for key, answer in params["inputResponses"].items()
        }
    return {**message, "params": shown}


def without(answer: Object, keys: Collection[str]) -> Object:
    """An answer without the secrets in its content."""
    content = answer.get("content")
    if not keys or not isinstance(content, dict):
        return answer
    return {**answer, "content": {key: value for key, value in content.items() if key not in keys}}


def _mask_answer(answer: Object, keys: Collection[str]) -> Object:
    content = answer.get("content")
    return {**answer, "content": _mask(content, keys)} if keys and isinstance(content, dict) else answer


def _mask(values: Object, keys: Collection[str]) -> Object:
    return {key: MASK if key in keys else value for key, value in values.items()}
