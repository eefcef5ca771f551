"""The units of systemd in docs/deploy."""

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from mrtr_web import config
from tests.processes import BASE, UNITS, started_by

SERVICE, PURGE = UNITS / "mrtr-web@.service", UNITS / "mrtr-web-purge.service"
OF_THE_SOCKET = UNITS / "mrtr-web@.service.d" / "socket.conf"


@pytest.mark.skipif(
    shutil.which("systemd-analyze") is None, reason="systemd-analyze is not installed: it is in systemd"
)
def test_systemd_understands_them(tmp_path: Path) -> None:
    """Each by itself; those of the socket with what lets the processes take requests from it."""
    fits = (("/srv/mrtr_web/.venv/bin/python", sys.executable), ("/srv/mrtr_web", str(BASE)))
    for name in ("plain", "socket"):
        shutil.copytree(UNITS, tmp_path / name)
    shutil.rmtree(tmp_path / "plain" / OF_THE_SOCKET.parent.name)
    for unit in (*tmp_path.rglob("*.service"), *tmp_path.rglob("*.conf")):
        text = unit.read_text()
        for was, becomes in fits:
            text = text.replace(was, becomes)
        unit.write_text(text)
    for verified in (
        ("plain/mrtr-web@.service", "plain/mrtr-web-purge.service", "plain/mrtr-web-purge.timer"),
        ("socket/mrtr-web@a.service", "socket/mrtr-web.socket"),
    ):
        command = ["systemd-analyze", "verify", *(str(tmp_path / each) for each in verified)]
        told = subprocess.run(command, capture_output=True, text=True)
        assert (told.returncode, told.stdout + told.stderr) == (0, ""), verified


def test_a_process_is_not_killed_before_it_has_drained() -> None:
    stop, graceful = (
        int(re.findall(rf"{name}[= ](\d+)", SERVICE.read_text())[0]) for name in ("TimeoutStopSec", "graceful-shutdown")
    )
    assert stop > graceful + config.Config.model_fields["drain_timeout"].default


def test_a_process_on_the_socket_is_started_as_one_on_a_port() -> None:
    on_a_port, on_the_socket = map(" ".join, map(started_by, (SERVICE, OF_THE_SOCKET)))
    assert on_the_socket == on_a_port.replace("--port %i", "--fd 3")


def test_the_purge_is_as_shut_in_as_a_process_and_has_its_settings() -> None:
    process, purge = (_lines_of_service(unit) for unit in (SERVICE, PURGE))
    assert process - purge == {"Type=exec", "Restart=on-failure", "RestartSec=2", "TimeoutStopSec=60"}
    assert purge - process == {"Type=oneshot", "TimeoutStartSec=2h"}


def _lines_of_service(unit: Path) -> set[str]:
    """What is set for its process, but for what it runs."""
    text = unit.read_text().partition("[Service]\n")[2].partition("[Install]")[0].replace("\\\n", "")
    return {line for line in text.splitlines() if line and not line.startswith(("#", "ExecStart="))}
