"""`make fuzz MINUTES=10`: every target in turn, anew with another seed, until the time is over.

Prints how often each ran, its longest call, and everything that fell over, with the seed that leads there again.
"""

import argparse
import os
import random
import sys
import time

import tests.env  # noqa: F401  settings, before Django reads them

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "mrtr_web.settings")

import django

django.setup()

from tests import fuzz_bytes as fuzz_bytes  # they make the targets
from tests import fuzz_forms as fuzz_forms
from tests.fuzz_core import TARGETS, Tally, run

EXAMPLES = 1_000
SHARE = 10.0
"""Examples and seconds of one target at a time: a third of its whole time at most."""


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--minutes", type=float, default=10)
    parser.add_argument("--seed", type=int, default=random.SystemRandom().randrange(2**32))
    parser.add_argument("--target", choices=sorted(TARGETS), action="append")
    asked = parser.parse_args()
    print(f"seed {asked.seed}", flush=True)
    tallies = {name: Tally() for name in asked.target or TARGETS}
    end, seed = time.monotonic() + 60 * asked.minutes, asked.seed
    while time.monotonic() < end:
        for name, tally in tallies.items():
            _one_turn(name, tally, seed, min(SHARE, 20 * asked.minutes / len(tallies)))
        seed += 1
    for name, tally in tallies.items():
        print(
            f"{name:24}{tally.examples:9,} examples, longest call {tally.longest:.3f} s {'FELL' if tally.fault else ''}"
        )
    return 1 if any(tally.fault for tally in tallies.values()) else 0


def _one_turn(name: str, tally: Tally, seed: int, seconds: float) -> None:
    found = run(name, examples=EXAMPLES, seconds=seconds, seed=seed)
    tally.examples += found.examples
    tally.longest = max(tally.longest, found.longest)
    if found.fault and found.fault != tally.fault:
        print(f"{name} fell, seed {seed}\n{found.fault}", flush=True)
    tally.fault = found.fault or tally.fault


if __name__ == "__main__":
    sys.exit(main())
