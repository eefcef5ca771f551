"""Values without what looks like a secret in them."""

from mrtr_web.schema.spec import MAX_DEPTH, Absent, FieldSpec, Json, Kind
from mrtr_web.schema.words import sounds_secret

_UNKNOWN = FieldSpec("", Kind.JSON, "")


def asks_secret(spec: FieldSpec) -> bool:
    """Whether one of a form's own fields looks secret; what may be added to it later is not looked into."""
    return spec.secret or (spec.kind is Kind.GROUP and any(member.secret for member in spec.parts()))


def hidden(spec: FieldSpec, value: Json, mask: str | Absent, depth: int = MAX_DEPTH) -> Json | Absent:
    """The value with each secret replaced by `mask`, or left out. Raises SchemaTooLarge."""
    if spec.secret:
        return mask
    if depth > 0 and spec.kind is Kind.UNION:
        for branch in spec.parts():
            found = hidden(branch, value, mask, depth - 1)
            if isinstance(found, Absent):
                return found
            value = found
        return value
    if depth <= 0 or not isinstance(value, dict | list):
        return value
    if isinstance(value, dict):
        return _without_absent({key: hidden(_of_key(spec, key), part, mask, depth - 1) for key, part in value.items()})
    found_parts = (hidden(_of_position(spec, n), part, mask, depth - 1) for n, part in enumerate(value))
    return [part for part in found_parts if not isinstance(part, Absent)]


def _without_absent(found: dict[str, Json | Absent]) -> Json:
    return {key: part for key, part in found.items() if not isinstance(part, Absent)}


def _of_key(spec: FieldSpec, key: str) -> FieldSpec:
    """What is known of a key; of an unknown one no more than its name."""
    if spec.kind is Kind.GROUP:
        members = spec.parts()
        named = next((member for member in members if member.key == key and not member.rest), None)
        if named is None and members and members[-1].rest:
            return _of_key(members[-1], key)
        if named is not None:
            return named
    if spec.kind is Kind.MAP and not sounds_secret((key,), ""):
        return spec.parts()[0]
    return FieldSpec(key, Kind.JSON, key, secret=sounds_secret((key,), ""))


def _of_position(spec: FieldSpec, index: int) -> FieldSpec:
    if spec.kind is Kind.LIST:
        return spec.parts()[0]
    parts = spec.parts() if spec.kind is Kind.TUPLE else ()
    return parts[index] if index < len(parts) else _UNKNOWN
