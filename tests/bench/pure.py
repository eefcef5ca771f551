"""The parts that do no input or output: sealing, and forms of unusual size."""

import time
from collections.abc import Callable
from typing import Any

from mrtr_web import forms, vault
from mrtr_web.schema import read
from tests.bench.rows import milliseconds

_GUEST = {"properties": {"name": {"type": "string"}, "age": {"type": "integer"}}, "required": ["name"]}
FORMS: dict[str, Any] = {
    "a form of 100 fields": {"properties": {f"f{n}": {"type": "string", "title": "T"} for n in range(100)}},
    "50 entries of 2 fields": {
        "properties": {"guests": {"type": "array", "items": _GUEST, "default": [{"name": "Ada", "age": 1}] * 50}}
    },
    "a choice of 5,000 options": {"properties": {"c": {"enum": [f"Option {n}" for n in range(5000)]}}},
    "5,000 boxes to tick": {
        "properties": {"c": {"type": "array", "items": {"enum": [f"Option {n}" for n in range(5000)]}}}
    },
}


def run() -> None:
    keys = vault.Keys(bytes(32), vault.peppers(["server key"]))
    binding = vault.Binding(1, "f", 1, 1, "tools/call", 1)
    record = vault.Record(method="tools/call", params={}, capabilities={}, request_state="x" * 65536)
    blob = vault.close(record, keys, binding)
    milliseconds("pure", "seal a record of 64 kB", _timed(lambda: vault.close(record, keys, binding), 200))
    milliseconds("pure", "open a record of 64 kB", _timed(lambda: vault.open_record(blob, keys, binding), 200))
    for name, schema in FORMS.items():
        milliseconds("pure", f"build and render {name}", _timed(_drawing(schema), 20))


def _drawing(schema: Any) -> Callable[[], Any]:
    return lambda: str(forms.build(read.read_input(schema), prefix="s0", data=None, initial=None, zone="UTC"))


def _timed(work: Callable[[], object], times: int) -> list[float]:
    seconds = []
    for _ in range(times):
        began = time.perf_counter()
        work()
        seconds.append(time.perf_counter() - began)
    return seconds
