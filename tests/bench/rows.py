"""What was measured, as a line for a reader at once, and as a row of the JSON file for whoever compares."""

import json
import os
import statistics
from collections.abc import Sequence
from pathlib import Path
from typing import Any

FILE = "BENCH_ROWS"
"""The variable that names the file which rows are appended to."""
Row = dict[str, Any]


def row(part: str, what: str, value: float, unit: str, **more: Any) -> None:
    """One figure. `more`: quartiles, `note`, and whatever else tells what it was measured with."""
    spread = f"  ({more['low']:.2f} to {more['high']:.2f})" if "low" in more else ""
    note = f"  {more['note']}" if "note" in more else ""
    print(f"{what:64} {value:10.2f} {unit}{spread}{note}", flush=True)
    if FILE in os.environ:
        with Path(os.environ[FILE]).open("a") as file:
            file.write(json.dumps({"part": part, "what": what, "value": value, "unit": unit} | more) + "\n")


def quartiles(part: str, what: str, values: Sequence[float], unit: str, **more: Any) -> None:
    """The median of many, with what lies between the quartiles."""
    low, middle, high = statistics.quantiles(values, n=4)
    row(part, what, middle, unit, low=low, high=high, count=len(values), **more)


def milliseconds(part: str, what: str, seconds: Sequence[float], **more: Any) -> None:
    quartiles(part, what, [each * 1000 for each in seconds], "ms", **more)


def read(file: Path) -> list[Row]:
    return [json.loads(line) for line in file.read_text().splitlines()] if file.exists() else []
