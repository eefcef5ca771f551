"""The unit of systemd in docs/deploy."""

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from mrtr_web import config
from tests.processes import BASE

UNIT = BASE / "docs" / "deploy" / "mrtr-web@.service"


@pytest.mark.skipif(
    shutil.which("systemd-analyze") is None, reason="systemd-analyze is not installed: it is in systemd"
)
def test_systemd_understands_it(tmp_path: Path) -> None:
    text = UNIT.read_text().replace("/srv/mrtr_web/.venv/bin/python", sys.executable)
    (tmp_path / UNIT.name).write_text(text.replace("/srv/mrtr_web", str(BASE)))
    told = subprocess.run(["systemd-analyze", "verify", tmp_path / UNIT.name], capture_output=True, text=True)
    assert (told.returncode, told.stdout + told.stderr) == (0, "")


def test_a_process_is_not_killed_before_it_has_drained() -> None:
    stop, graceful = (
        int(re.findall(rf"{name}[= ](\d+)", UNIT.read_text())[0]) for name in ("TimeoutStopSec", "graceful-shutdown")
    )
    assert stop > graceful + config.Config.model_fields["drain_timeout"].default
