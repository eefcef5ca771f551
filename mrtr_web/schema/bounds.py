"""How much of a stranger's schema we take on: size, depth, patterns. cost.py tells the work of checking against it."""

import json
from collections.abc import Iterator
from typing import Any

from mrtr_web.schema.spec import MAX_BYTES, MAX_DEPTH, SchemaFault, SchemaTooLarge

MAX_NESTING = 4 * MAX_DEPTH
"""Of the JSON text: one level of schema is up to four of JSON (properties, name, anyOf, entry)."""
MAX_PATTERNS = 200


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
