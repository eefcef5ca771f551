"""50 people through many rounds while processes are killed: nothing may be sent twice, nothing may be lost."""

import sys
import tempfile
from pathlib import Path

from mrtr_web.models import Server
from tests import soak as people
from tests.bench.legs import registered
from tests.bench.rows import row


def run() -> None:
    server = registered("http://127.0.0.1:9/")
    Server.objects.update(slug="demo")
    with tempfile.TemporaryDirectory() as folder:
        tally = people.soak(Path(folder), server, people=50, seconds=60, kill_every=5, pace=3)
    row("soak", "flows that ended", tally.finished, "", note=str(dict(tally.states)))
    row("soak", "calls", sum(tally.sent.values()), "", note=f"{sum(tally.again.values())} sent again by people")
    row("soak", "processes killed", tally.kills, "", note=f"{tally.broken_connections} broken connections")
    row("soak", "rounds called twice unasked", len(tally.doubled), "")
    row("soak", "faults", len(tally.wrong), "", note=str(tally.wrong[:3]))
    if tally.doubled or tally.wrong or set(tally.states) != {"completed"}:
        sys.exit("the soak failed")
