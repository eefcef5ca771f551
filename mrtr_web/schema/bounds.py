"""How much of a stranger's schema we take on: size, depth, and the work of checking against it."""

import json
from collections.abc import Iterable, Iterator
from typing import Any

from mrtr_web.schema.pointer import resolve
from mrtr_web.schema.spec import MAX_BYTES, MAX_DEPTH, SchemaFault, SchemaTooLarge

MAX_NESTING = 4 * MAX_DEPTH
"""Of the JSON text: one level of schema is up to four of JSON (properties, name, anyOf, entry)."""
MAX_PATTERNS = 200
MAX_WORK = 50_000_000
"""About half a second of jsonschema-rs."""


def measure(schema: object) -> None:
    """Raises SchemaTooLarge."""
    level: list[Any] = [schema]
    for _ in range(MAX_NESTING):
        level = [below for part in level for below in _inside(part)]
        if not level:
            break
    else:
        raise SchemaTooLarge("schema_depth")
    try:
        text = json.dumps(schema, ensure_ascii=False)
    except (TypeError, ValueError):  # not JSON, or an integer of more digits than Python writes
        raise SchemaFault("schema_broken") from None
    if len(text.encode(errors="surrogatepass")) > MAX_BYTES:
        raise SchemaTooLarge("schema_size", maximum=MAX_BYTES)


def require_few_patterns(schema: Any) -> None:
    """Each pattern may take a quarter of a megabyte once compiled. Raises SchemaFault."""
    level, patterns = [schema], 0
    while level:
        for part in level:
            if isinstance(part, dict):
                named = part.get("patternProperties")
                patterns += ("pattern" in part) + (len(named) if isinstance(named, dict) else 0)
        level = [below for part in level for below in _inside(part)]
    if patterns > MAX_PATTERNS:
        raise SchemaFault("schema_costly")


def _inside(part: Any) -> Iterator[Any]:
    if isinstance(part, dict):
        yield from part.values()
    elif isinstance(part, list):
        yield from part


def require_cheap(schema: Any, value: Any) -> None:
    """References can double the work at each step, without end in sight: 2 kB of schema, hours of checking.

    Counts the ways to reach each schema, level by level of the value. A named reference ($anchor, $id) counts
    as without end. Raises SchemaFault.
    """
    nodes, depth = _extent(value)
    try:
        work = _Work(schema).of(schema, depth) * nodes
    except RecursionError:
        work = MAX_WORK + 1
    if work > MAX_WORK:
        raise SchemaFault("schema_costly")


def _extent(value: Any) -> tuple[int, int]:
    level, nodes, depth = [value], 0, 0
    while level:
        nodes, depth = nodes + len(level), depth + 1
        level = [below for part in level for below in _inside(part)]
    return nodes, depth


class _Work:
    """An upper bound of the schemas visited for one value of a given depth."""

    def __init__(self, root: Any) -> None:
        self.root = root
        self.known: dict[tuple[int, int], int] = {}

    def of(self, schema: Any, depth: int) -> int:
        key = (id(schema), depth)
        if key not in self.known:
            self.known[key] = MAX_WORK + 1  # what leads back to itself at the same place has no end
            self.known[key] = min(1 + sum(self._parts(schema, depth)), MAX_WORK + 1)
        return self.known[key]

    def _parts(self, schema: Any, depth: int) -> Iterator[int]:
        if not isinstance(schema, dict):
            return
        for name, part in schema.items():
            if name in ("$ref", "$dynamicRef", "$recursiveRef"):
                target = resolve(self.root, part)
                yield MAX_WORK + 1 if target is None else self.of(target, depth)
            elif name in _SAME_PLACE:
                yield from (self.of(entry, depth) for entry in _schemas(name, part))
            elif name in _BELOW and depth > 1:
                yield from (self.of(entry, depth - 1) for entry in _schemas(name, part))


_MAPS = frozenset({"properties", "patternProperties", "dependentSchemas", "dependencies"})
_SAME_PLACE = frozenset({"allOf", "anyOf", "oneOf", "not", "if", "then", "else", "dependentSchemas", "dependencies"})
_BELOW = frozenset(
    {
        "properties",
        "patternProperties",
        "additionalProperties",
        "unevaluatedProperties",
        "propertyNames",
        "items",
        "additionalItems",
        "prefixItems",
        "unevaluatedItems",
        "contains",
    }
)


def _schemas(name: str, part: Any) -> Iterable[Any]:
    """The schemas in a keyword's value: one, a list of them, or a map of them."""
    if isinstance(part, dict):
        return part.values() if name in _MAPS else (part,)
    return part if isinstance(part, list) else ()
