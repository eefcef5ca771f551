"""Values without what looks like a secret in them."""

from collections import deque

from mrtr_web.schema.spec import ABSENT, MAX_DEPTH, Absent, FieldSpec, Json, Kind, SchemaTooLarge
from mrtr_web.schema.words import sounds_secret

MAX_LOOKED_AT = 300
MAX_STEPS = 100_000
_UNKNOWN = FieldSpec("", Kind.JSON, "")


def asks_secret(spec: FieldSpec) -> bool:
    """Whether one of a form's own fields looks secret; what may be added to it later is not looked into."""
    return spec.secret or (spec.kind is Kind.GROUP and any(member.secret for member in spec.parts()))


def holds_secret(spec: FieldSpec) -> bool:
    """Whether one of its parts may be secret, however deep: so it is where there are too many to look at."""
    waiting = deque([spec])
    for _ in range(MAX_LOOKED_AT):
        if not waiting:
            return False
        part = waiting.popleft()
        try:
            waiting += part.parts()
        except SchemaTooLarge:
            return True
        if part.secret or len(waiting) > MAX_LOOKED_AT:
            return True
    return True


def hidden(spec: FieldSpec, value: Json, mask: str | Absent, *, files: bool = False) -> Json | Absent:
    """The value with each secret, and each file if told so, replaced by `mask` or left out. Raises SchemaTooLarge."""
    return _Hiding(mask, files).of(spec, value, MAX_DEPTH)


class _Hiding:
    """Unions can ask for a value to be looked at again and again: past a bound, names alone tell what is secret."""

    def __init__(self, mask: str | Absent, files: bool) -> None:
        self.mask = mask
        self.files = files
        self.left = MAX_STEPS

    def of(self, spec: FieldSpec, value: Json | Absent, depth: int) -> Json | Absent:
        if spec.secret or (self.files and spec.kind is Kind.FILE):
            return self.mask
        self.left -= 1
        if spec.kind is Kind.UNION and depth > 0 and self.left > 0:
            return self._of_union(spec, value, depth)
        if isinstance(value, dict):
            found = {key: self.of(self._of_key(spec, key), part, depth - 1) for key, part in value.items()}
            return {key: part for key, part in found.items() if not isinstance(part, Absent)}
        if isinstance(value, list):
            parts = [self.of(self._of_position(spec, n), part, depth - 1) for n, part in enumerate(value)]
            kept = [part for part in parts if not isinstance(part, Absent)]
            return kept if len(kept) == len(parts) else ABSENT  # the others would stand at another place
        return value

    def _of_union(self, spec: FieldSpec, value: Json | Absent, depth: int) -> Json | Absent:
        """One that lacks a part would be taken for another branch: it is left out as a whole."""
        shown = value
        for branch in spec.parts():
            shown = self.of(branch, shown, depth - 1)
        return ABSENT if isinstance(self.mask, Absent) and shown != value else shown

    def _of_key(self, spec: FieldSpec, key: str) -> FieldSpec:
        return of_key(spec, key) if self.left > 0 else _by_name(key)

    def _of_position(self, spec: FieldSpec, index: int) -> FieldSpec:
        return _of_position(spec, index) if self.left > 0 else _UNKNOWN


def of_key(spec: FieldSpec, key: str) -> FieldSpec:
    """What is known of a key; of an unknown one no more than its name."""
    found = spec.at_key(key)
    named_by_person = found is not None and found.key != key
    return _by_name(key) if found is None or (named_by_person and sounds_secret((key,), "")) else found


def _by_name(key: str) -> FieldSpec:
    return FieldSpec(key, Kind.JSON, key, secret=sounds_secret((key,), ""))


def _of_position(spec: FieldSpec, index: int) -> FieldSpec:
    if spec.kind is Kind.LIST:
        return spec.parts()[0]
    parts = spec.parts() if spec.kind is Kind.TUPLE else ()
    return parts[index] if index < len(parts) else _UNKNOWN
