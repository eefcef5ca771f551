"""What a leg costs with 100 and with 100,000 open flows of others in the database, on PostgreSQL."""

import asyncio
import tempfile
from functools import partial
from pathlib import Path

from django.contrib.auth.models import User
from django.db import connection

from mrtr_web.models import Flow, Server
from tests.bench.clients import Browser, Load
from tests.bench.legs import Way, registered, upstream
from tests.bench.rows import milliseconds, row
from tests.processes import DOCUMENTED, serving
from tests.visitors import cookies_of

OTHERS = 100
"""People who have all the flows."""
SIZES = (100, 100_000)
LEGS = 60


def run() -> None:
    others = User.objects.bulk_create(User(username=f"other {number}", password="!") for number in range(OTHERS))
    cookies = cookies_of(User.objects.create(username="alice"))
    middle = []
    with (
        upstream() as url,
        tempfile.TemporaryDirectory() as folder,
        serving(Path(folder), None, DOCUMENTED) as process,
    ):
        server = registered(url)
        for size in SIZES:
            _grow(others, server, size)
            browser = Browser(cookies, Load(), process.base)
            way = Way(partial(asyncio.to_thread, browser.leg), browser.prepare, (process.handle.pid,))
            asyncio.run(_legs(way))
            milliseconds("growth", f"a leg with {size:,} open flows", way.took[10:])
            middle.append(sorted(way.took[10:])[LEGS // 2])
    row("growth", "100,000 open flows / 100", middle[1] / middle[0], "")


async def _legs(way: Way) -> None:
    for _ in range(LEGS + 10):
        await way.once()


def _grow(others: list[User], server: Server, size: int) -> None:
    rows = (
        Flow(user=others[number % OTHERS], server=server, method="tools/call", name="ask", state="waiting", round=1)
        for number in range(size - Flow.objects.count())
    )
    Flow.objects.bulk_create(rows, batch_size=2000)
    with connection.cursor() as cursor:
        cursor.execute("ANALYZE")
