"""What a schema asks of an answer, said before it is typed: sentences by code, with their params."""

from collections.abc import Mapping

from mrtr_web.schema.spec import FieldSpec, Kind

_WRITTEN = frozenset({"duration", "ipv4", "ipv6", "hostname"})
Hint = tuple[str, Mapping[str, object]]


def hints(spec: FieldSpec) -> list[Hint]:
    examples = [("hint_examples", {"examples": ", ".join(spec.examples)})] if spec.examples and not spec.secret else []
    deprecated: list[Hint] = [("hint_deprecated", {})] if spec.deprecated else []
    written: list[Hint] = [(f"hint_{spec.format}", {})] if spec.format in _WRITTEN and spec.kind is Kind.TEXT else []
    return [*deprecated, *_asked(spec), *written, *examples]


def _asked(spec: FieldSpec) -> list[Hint]:
    match spec.kind:
        case Kind.TEXT | Kind.LONG_TEXT:
            low = spec.min_length if spec.min_length != 1 else None  # one character is just an answer
            return _limits("length", low or None, spec.max_length)
        case Kind.NUMBER | Kind.INTEGER:
            return _beyond(spec) + _limits("number", spec.minimum, spec.maximum)
        case Kind.CHOICE if spec.is_searched:
            return [("hint_search", {"count": len(spec.options)})]
        case Kind.CHOICES:
            low = spec.min_items or None
            return _limits("optional_count" if low and spec.may_be_empty else "count", low, spec.max_items)
        case Kind.LIST | Kind.MAP:
            return _limits("entries", spec.min_items or None, spec.max_items)
        case Kind.JSON:
            return [(f"json_{spec.json_type}" if spec.json_type else "hint_json", {})]
    return []


def _beyond(spec: FieldSpec) -> list[Hint]:
    limits = {"above": spec.above, "below": spec.below, "step": spec.step}
    return [(f"hint_number_{name}", {name: limit}) for name, limit in limits.items() if limit is not None]


def _limits(what: str, low: float | None, high: float | None) -> list[Hint]:
    params = {"minimum": low, "maximum": high}
    if low is not None and high is not None:
        exactly = low == high and what != "number"
        return [(f"hint_{what}_exactly" if exactly else f"hint_{what}_between", params)]
    if low is not None:
        return [(f"hint_{what}_from", params)]
    return [(f"hint_{what}_to", params)] if high is not None else []
