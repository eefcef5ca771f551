"""What fuzzing is made of: MAY says what each function may raise, tries() holds it to that, run() draws examples.

A target draws its input from hypothesis and calls our functions by tries(). All else that comes out of one is a
finding, and so is a call that takes more than SECONDS; what must hold beyond that is asserted by the target.
"""

import time
import traceback
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, ParamSpec, TypeVar

import hypothesis
from django.core.exceptions import BadRequest, SuspiciousOperation
from django.http.multipartparser import MultiPartParserError
from hypothesis import HealthCheck, Phase, given
from hypothesis import strategies as st
from hypothesis.strategies import DataObject

from mrtr_web import addresses, clientlines, forms, headerlines, mcpjson, rawjson, rounds, sealing, vault, wire
from mrtr_web.schema import check, drawing, edits, parse, prefill, read, secrets
from mrtr_web.schema.invalid import Invalid
from mrtr_web.schema.spec import SchemaFault, SchemaTooLarge
from mrtr_web.views import web

P = ParamSpec("P")
T = TypeVar("T")
Target = Callable[[DataObject], None]
TARGETS: dict[str, Target] = {}
SECONDS = 2.0
"""Of this thread's CPU time, for one call."""
SHRINKING = 30.0
"""Seconds more for making what fell over small."""

MAY: Mapping[Callable[..., Any], tuple[type[Exception], ...]] = {
    rounds.read: (rounds.BrokenRule,),
    read.read_input: (SchemaFault,),
    read.read_elicitation: (SchemaFault,),
    check.check: (SchemaFault,),
    forms.build: (SchemaTooLarge,),
    edits.edited: (Invalid, SchemaTooLarge),
    drawing.Drawing.value: (SchemaTooLarge,),
    parse.parse: (Invalid,),
    parse.shown: (Invalid,),
    prefill.values: (SchemaTooLarge,),
    prefill.pairs: (SchemaTooLarge,),
    secrets.hidden: (SchemaTooLarge,),
    sealing.open_sealed: (sealing.Sealed,),
    vault.open_record: (vault.Unreadable,),
    vault.open_words: (vault.Unreadable,),
    rawjson.read: (ValueError,),
    rawjson.read_listing: (ValueError,),
    wire.compose: (wire.Unsendable,),
    addresses.expand: (ValueError,),
    mcpjson.read: (mcpjson.Unreadable,),
    mcpjson.entry: (mcpjson.Unsupported, mcpjson.Malformed),
    headerlines.read: (headerlines.Malformed,),
    clientlines.read: (headerlines.Malformed,),
    web.posted: (SuspiciousOperation, BadRequest, MultiPartParserError),  # Django makes a 400 of each
}
"""What each function may raise; one that is not here may raise nothing."""


class Slow(AssertionError):
    """A call took too long."""


class _Over(KeyboardInterrupt):
    """The time of a target is over: hypothesis lets this through as it is."""


@dataclass
class Tally:
    """Of one target: how often it ran, the longest call in seconds, and what fell over."""

    examples: int = 0
    longest: float = 0.0
    fault: str = ""


_longest = 0.0


def target(function: Target) -> Target:
    TARGETS[function.__name__] = function
    return function


def tries(function: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T | None:
    """What the function gives; None where it refused as it may."""
    global _longest
    began = time.thread_time()
    try:
        found = function(*args, **kwargs)
    except MAY.get(function, ()):
        found = None
    spent = time.thread_time() - began
    _longest = max(_longest, spent)
    if spent > SECONDS:
        raise Slow(f"{function.__qualname__}: {spent:.1f} s")
    return found


FEWEST = 5
"""Examples, however slow the machine is."""


def run(name: str, *, examples: int, seconds: float, seed: int) -> Tally:
    """Up to so many examples of a target in this time, but a few in any case, led towards what takes long."""
    global _longest
    tally, end = Tally(), time.monotonic() + seconds

    @hypothesis.seed(seed)
    @hypothesis.settings(
        max_examples=examples,
        deadline=None,
        database=None,
        phases=(Phase.generate, Phase.target, Phase.shrink),
        suppress_health_check=list(HealthCheck),
    )
    @given(st.data())
    def examine(data: DataObject) -> None:
        global _longest
        if tally.examples >= FEWEST and time.monotonic() > end + (SHRINKING if tally.fault else 0):
            raise _Over
        tally.examples += 1
        _longest = 0.0
        try:
            TARGETS[name](data)
        except Exception:
            tally.fault = traceback.format_exc()
            raise
        hypothesis.target(_longest, label="seconds of the longest call")
        tally.longest = max(tally.longest, _longest)

    try:
        examine()
    except _Over:
        pass
    except Exception:
        tally.fault = traceback.format_exc()
    return tally
