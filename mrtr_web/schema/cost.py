"""What it takes to check one value against a stranger's schema, told before jsonschema-rs begins.

The engine has no bounds of its own: references double the work at each step (2 kB of schema, hours of checking),
and it collects every error, each with copies of the value, of the choices, and of the errors of all branches.
So schema and value are walked together here, each pair once, and what each keyword may take is added up.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from mrtr_web.schema.pointer import resolve
from mrtr_web.schema.spec import SchemaFault

MAX_WORK = 50_000_000
"""In units of 10 ns: about half a second of jsonschema-rs."""
MAX_VISITS = 100_000
"""Keywords that are looked at here, each with each value."""
MAX_NODES = 100_000
"""Of the value."""
DEAREST = 3_000
"""Units that one character of a text may take: a pattern with counted repetitions has no fast way."""
Pair = tuple[int, int]


@dataclass(frozen=True, slots=True)
class Cost:
    """`work` to tell whether the value is valid, in units of 10 ns; `errors`, if all fail, in units of 64 bytes."""

    work: int
    errors: int


def cost(schema: Mapping[str, Any], value: Any) -> Cost:
    """An upper bound. Raises SchemaFault where it is out of bounds, or cannot be told."""
    try:
        found = _Walk(schema, value).of(schema, value)
    except RecursionError:
        raise _costly() from None
    return Cost(*found)


def _costly() -> SchemaFault:
    return SchemaFault("schema_costly")


class _Sizes:
    """Of values: memory in units of 64 bytes, and the effort that numbers past 64 bits take, in units of 10 ns."""

    def __init__(self) -> None:
        self.known: dict[int, Pair] = {}
        self.nodes = 0

    def of(self, value: Any) -> Pair:
        if isinstance(value, str):
            return 1 + len(value) // (64 if value.isascii() else 16), 0
        if isinstance(value, int) and value.bit_length() > 64:
            return 1 + value.bit_length() // 128, max(200, value.bit_length() ** 2 // 500)
        if isinstance(value, float) and value and not 2**-64 < abs(value) < 2**64:
            return 1, 1_000
        if not isinstance(value, dict | list):
            return 1, 0
        if id(value) not in self.known:
            self.nodes += len(value)
            if self.nodes > MAX_NODES:
                raise _costly()
            parts = [self.of(part) for part in (value.values() if isinstance(value, dict) else value)]
            keys = sum(self.of(key)[0] for key in value) if isinstance(value, dict) else 0
            self.known[id(value)] = 1 + keys + sum(bulk for bulk, _ in parts), sum(effort for _, effort in parts)
        return self.known[id(value)]


class _Walk:
    def __init__(self, root: Mapping[str, Any], value: Any) -> None:
        self.root = root
        self.sizes = _Sizes()
        self.sizes.of(value)  # too many nodes are told at once
        self.known: dict[Pair, Pair | None] = {}
        self.rates: dict[str, int] = {}
        self.targets: dict[str, Any] = {}
        self.visits = 0
        self.renamed = _has_inner_ids(root)
        self.place = (_longest_path(value) + _longest_path(root)) // 64
        """What it takes at most to say where an error is."""

    def of(self, schema: Any, value: Any) -> Pair:
        self._look(1)
        if not isinstance(schema, dict):
            return 1, self._copy(value) if schema is False else 0
        key = id(schema), id(value)
        if key not in self.known:
            self._look(len(schema))
            self.known[key] = None
            self.known[key] = self._sum(schema, value)
        found = self.known[key]
        if found is None:  # what leads back to itself at the same place has no end
            raise _costly()
        return found

    def _look(self, times: int) -> None:
        self.visits += times
        if self.visits > MAX_VISITS:
            raise _costly()

    def _copy(self, value: Any) -> int:
        """One error about this value."""
        return 64 + self.place + 2 * self.sizes.of(value)[0]

    def _sum(self, schema: Mapping[str, Any], value: Any) -> Pair:
        work = errors = same = 0
        for name, part in schema.items():
            work += self._work(name, part, value)
            errors += self._errors(name, part, value)
            for more, failing in self._here(name, part, value):
                same, errors = same + more, errors + failing
            for more, failing in self._below(schema, name, part, value):
                work, errors = work + more, errors + failing
        work += same
        if not _UNEVALUATED.isdisjoint(schema):  # asks all others again what they have looked at
            work += 3 * same + 10 * _length(value) * sum(_length(schema.get(name)) for name in _HERE)
        if work > MAX_WORK:
            raise _costly()
        return 1 + work, errors

    def _work(self, name: str, part: Any, value: Any) -> int:
        size, effort = self.sizes.of(value)
        if isinstance(value, str) and name in _OF_TEXTS:
            return 200 + len(value) * self._per_character(name, part)
        if isinstance(value, int | float) and name in _LIMITS:
            return 1 + effort + self.sizes.of(part)[1]
        match name:
            case "enum" | "const":
                return sum(self.sizes.of(part)) + effort
            case "uniqueItems" if isinstance(value, list):  # large numbers are compared each with each
                return 10 * size + len(value) * effort
            case "multipleOf":
                return 3 * effort + (3_000 if isinstance(value, float) or isinstance(part, float) else 10)
            case "patternProperties" if isinstance(part, dict) and isinstance(value, dict):
                self._look(len(part))
                return sum(map(len, value)) * sum(map(self._rate, part))
        return 1 + _length(part)

    def _per_character(self, name: str, part: Any) -> int:
        if name == "contentMediaType":  # the older dialects parse it
            return 20 if part == "application/json" else 0
        return self._rate(part) if name == "pattern" else _OF_TEXTS[name]

    def _rate(self, pattern: Any) -> int:
        """The work for one character. Repetitions are written out: so many states may it lead through."""
        if not isinstance(pattern, str):
            return 1
        if pattern not in self.rates:
            states = min(len(pattern), DEAREST)
            for count in _REPEATED.findall(pattern):
                states = min(states * max(int(count), 1), DEAREST)
            self.rates[pattern] = states
        return self.rates[pattern]

    def _errors(self, name: str, part: Any, value: Any) -> int:
        match name:
            case "required" if isinstance(part, list) and isinstance(value, dict):
                self._look(len(part) // 8)
                return self._copy(value) * sum(key not in value for key in part if isinstance(key, str))
            case "dependentRequired" | "dependencies" if isinstance(part, dict):
                self._look(len(part) // 8)
                return self._copy(value) * sum(map(_length, part.values()))
            case "enum" | "const":
                return self._copy(value) + self.sizes.of(part)[0]
        return self._copy(value) if name in _FAILING else 0

    def _here(self, name: str, part: Any, value: Any) -> Iterator[Pair]:
        """What the schemas take that are about the value itself."""
        if name in ("$ref", "$dynamicRef", "$recursiveRef"):
            yield self.of(self._target(part), value)
        elif name in _HERE:
            yield from (self.of(entry, value) for entry in _schemas(name, part))

    def _target(self, reference: Any) -> Any:
        if self.renamed or not isinstance(reference, str):
            raise _costly()
        if reference not in self.targets:
            self.targets[reference] = resolve(self.root, reference)
        if self.targets[reference] is None:  # a named reference may lead anywhere
            raise _costly()
        return self.targets[reference]

    def _below(self, schema: Mapping[str, Any], name: str, part: Any, value: Any) -> Iterator[Pair]:
        """What the schemas take that are about parts of the value."""
        if isinstance(value, dict):
            yield from (self.of(entry, inner) for entry, inner in _members(schema, name, part, value))
        elif isinstance(value, list) and name in ("items", "prefixItems") and isinstance(part, list):
            yield from (self.of(entry, inner) for entry, inner in zip(part, value, strict=False))
        elif isinstance(value, list) and name in _ENTRIES:
            yield from (self.of(part, inner) for inner in value)


def _members(schema: Mapping[str, Any], name: str, part: Any, value: Mapping[str, Any]) -> Iterator[tuple[Any, Any]]:
    match name:
        case "properties" if isinstance(part, dict):
            fewer, other = (part, value) if len(part) < len(value) else (value, part)
            yield from ((part[key], value[key]) for key in fewer if key in other)
        case "patternProperties" if isinstance(part, dict):
            yield from ((entry, inner) for entry in part.values() for inner in value.values())
        case "additionalProperties" | "unevaluatedProperties":
            named = schema.get("properties")
            known = named if isinstance(named, dict) else {}
            yield from ((part, inner) for key, inner in value.items() if key not in known)
        case "propertyNames":
            yield from ((part, key) for key in value)


_REPEATED = re.compile(r"\{(?:\d{0,9},)?(\d{1,9})")
_HERE = frozenset({"allOf", "anyOf", "oneOf", "not", "if", "then", "else", "dependentSchemas", "dependencies"})
_ENTRIES = frozenset({"items", "additionalItems", "unevaluatedItems", "contains"})
_OF_TEXTS = {"pattern": 0, "contentMediaType": 0, "format": 30, "contentEncoding": 1, "minLength": 1, "maxLength": 1}
"""Keywords that read a text to its end, and their work for each character."""
_LIMITS = frozenset({"minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"})
_UNEVALUATED = frozenset({"unevaluatedProperties", "unevaluatedItems"})
_FAIL = (
    "type multipleOf maximum exclusiveMaximum minimum exclusiveMinimum maxLength minLength pattern format maxItems "
    "minItems uniqueItems contains maxProperties minProperties additionalProperties additionalItems propertyNames "
    "unevaluatedProperties unevaluatedItems anyOf oneOf not contentMediaType contentEncoding"
)
_FAILING = frozenset(_FAIL.split())
"""Keywords that make an error of their own."""


def _schemas(name: str, part: Any) -> Iterable[Any]:
    """The schemas in a keyword's value: one, a list of them, or a map of them."""
    if isinstance(part, dict):
        return part.values() if name in ("dependentSchemas", "dependencies") else (part,)
    return part if isinstance(part, list) else ()


def _length(part: Any) -> int:
    return len(part) if isinstance(part, dict | list) else 0


def _inside(part: Any) -> Iterable[Any]:
    return part.values() if isinstance(part, dict) else part if isinstance(part, list) else ()


def _has_inner_ids(root: Mapping[str, Any]) -> bool:
    """Whether a part names itself: references in it do not start at the root then."""
    name = "id" if "draft-04" in str(root.get("$schema")) else "$id"
    level = list(root.values())
    while level:
        if any(isinstance(part, dict) and isinstance(part.get(name), str) for part in level):
            return True
        level = [below for part in level for below in _inside(part)]
    return False


def _longest_path(part: Any) -> int:
    """As long as the longest key of each level, one after the other."""
    level, length = [part], 0
    while level:
        length += max((len(key) for each in level if isinstance(each, dict) for key in each), default=0)
        level = [below for each in level for below in _inside(each)]
    return length
