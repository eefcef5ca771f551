"""What a leg costs with 100 and with 100,000 open flows of others, on PostgreSQL: two databases, in turn."""

import asyncio
import os
import tempfile
from functools import partial
from pathlib import Path
from urllib.parse import urlsplit

import psycopg
from django.contrib.auth.models import User
from django.db import connection

from mrtr_web.models import Flow, SealedRecord, Server, Session
from tests.bench.clients import Browser, Load
from tests.bench.legs import Way, registered, upstream
from tests.bench.rows import milliseconds, quartiles
from tests.processes import documented, serving
from tests.visitors import cookies_of

OTHERS = 100
"""People who have all the flows."""
FEW, MANY = 100, 100_000
PAIRS, WARM_UP = 60, 10


def run() -> None:
    others = User.objects.bulk_create(User(username=f"other {number}", password="!") for number in range(OTHERS))
    cookies = cookies_of(User.objects.create(username="alice"))
    with upstream() as url, tempfile.TemporaryDirectory() as name:
        _fill(others, registered(url))
        small, folder = _thinned(), Path(name)
        with serving(folder, None, documented, DATABASE_URL=small) as few, serving(folder, None, documented) as many:
            ways = []
            for process in (few, many):
                browser = Browser(cookies, Load(), process.base)
                ways.append(Way(partial(asyncio.to_thread, browser.leg), browser.prepare, (process.handle.pid,)))
            asyncio.run(_in_turn(ways))
    for size, way in zip((FEW, MANY), ways, strict=True):
        milliseconds("growth", f"a leg with {size:,} open flows", way.took[WARM_UP:])
        milliseconds("growth", f"a leg with {size:,} open flows, processor time", way.spent[WARM_UP:])
    pairs = [b / a for a, b in zip(ways[0].took[WARM_UP:], ways[1].took[WARM_UP:], strict=True)]
    quartiles("growth", f"{MANY:,} open flows / {FEW}", pairs, "")


async def _in_turn(ways: list[Way]) -> None:
    for _ in range(WARM_UP + PAIRS):
        for way in ways:
            await way.once()


def _fill(others: list[User], server: Server) -> None:
    facts = {"server": server, "method": "tools/call", "name": "ask", "state": "waiting", "round": 1}
    flows = [Flow(user=others[n % OTHERS], **facts) for n in range(MANY)]
    Flow.objects.bulk_create(flows, batch_size=2000)
    for other in others:
        cookies_of(other)
    session = dict(Session.objects.values_list("user", "pk"))
    records = (SealedRecord(flow=flow, session_id=session[flow.user_id], sealed=b"x") for flow in flows)
    SealedRecord.objects.bulk_create(records, batch_size=2000)
    with connection.cursor() as cursor:
        cursor.execute("VACUUM ANALYZE")


def _thinned() -> str:
    """A copy of the database in which only FEW of the flows are left: its URL."""
    full = urlsplit(os.environ["DATABASE_URL"])
    connection.close()
    connection.close_pool()  # type: ignore[attr-defined]  # PostgreSQL's alone: nobody may be in what is copied
    with psycopg.connect(full._replace(path="/template1").geturl(), autocommit=True) as server:
        server.execute(f"CREATE DATABASE few TEMPLATE {full.path[1:]}".encode())
    small = full._replace(path="/few").geturl()
    with psycopg.connect(small, autocommit=True) as server:
        rest = "SELECT id FROM mrtr_web_flow ORDER BY id OFFSET %s"
        server.execute(f"DELETE FROM mrtr_web_sealedrecord WHERE flow_id IN ({rest})".encode(), [FEW])
        server.execute(f"DELETE FROM mrtr_web_flow WHERE id IN ({rest})".encode(), [FEW])
        server.execute("VACUUM FULL ANALYZE")
    return small
