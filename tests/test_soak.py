"""A short soak: see tests/soak.py; `make bench` runs the long one."""

from pathlib import Path

import pytest

from mrtr_web.models import Server
from tests.soak import soak


@pytest.mark.django_db(transaction=True)
def test_nothing_is_doubled_lost_or_mixed_up_while_processes_are_killed(server: Server, tmp_path: Path) -> None:
    tally = soak(tmp_path, server, people=6, seconds=6, kill_every=2.5, pace=0.06)
    assert tally.wrong == []
    assert tally.doubled == []
    assert tally.kills >= 1
    assert tally.finished >= 6
    assert set(tally.states) == {"completed"}
