"""Each target of fuzzing for a moment, always with the same examples; and what fuzzing found, as tests of its own.

`make fuzz MINUTES=10` draws others each time.
"""

import secrets as randomness
from typing import Any

import pytest

from mrtr_web import sealing, vault
from mrtr_web.schema import prefill
from mrtr_web.schema.read import read_input
from tests import fuzz_bytes as fuzz_bytes  # they make the targets
from tests import fuzz_forms as fuzz_forms
from tests.fuzz_core import FEWEST, TARGETS, run

pytestmark = pytest.mark.usefixtures("collected")  # before anything looks for static files
SEED = 20261202


@pytest.mark.parametrize("name", TARGETS)
def test_nothing_falls_over(name: str) -> None:
    tally = run(name, examples=60, seconds=1.0, seed=SEED)
    assert tally.fault == "", f"seed {SEED}\n{tally.fault}"
    assert tally.examples >= FEWEST


def test_words_that_are_no_text_do_not_open() -> None:
    keys = vault.Keys(randomness.token_bytes(32), (sealing.pepper("a"),))
    binding = vault.Binding(1, "flow", 2, 3, "tools/call", 4)
    odd = sealing.seal(b"\x80", secret=keys.secret, pepper=keys.peppers[0], aad=binding.words_aad())
    with pytest.raises(vault.Unreadable):
        vault.open_words(odd, keys, binding)


@pytest.mark.parametrize("value", [{"": {}}, {"": {"a": "1"}}, {"": {"": {"a": "~3"}}}])
def test_a_link_takes_a_member_without_a_name_for_itself_and_not_for_the_whole(value: Any) -> None:
    root = read_input({"type": "object", "properties": {"": {"type": "object", "additionalProperties": {}}}}).root
    link = prefill.pairs(root, value)
    assert prefill.values(root, {}, link) == (value, [])
