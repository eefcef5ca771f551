"""The catalogue with 200 servers of 50 tools each: processor time and queries of the first page, and of a search."""

import time

from django.conf import settings
from django.contrib.auth.models import User
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from mrtr_web import listings
from mrtr_web.lifetimes import Lifetime
from mrtr_web.models import Server
from mrtr_web.relay import Listed
from tests.bench.rows import milliseconds, row
from tests.desk import LISTED
from tests.reviewers import looking

SERVERS, TOOLS, TIMES = 200, 50, 15
DAY = 24 * 3600


def run() -> None:
    settings.ALLOWED_HOSTS = ["testserver"]
    servers = Server.objects.bulk_create(
        Server(slug=f"s{n}", name=f"Server {n}", url="https://a.example/mcp", checked_at=timezone.now())
        for n in range(SERVERS)
    )
    discovery = LISTED["server/discover"]
    tools = [{"name": f"tool{n}", "title": f"Tool {n}", "inputSchema": {"type": "object"}} for n in range(TOOLS)]
    user, now = User.objects.create(username="alice"), timezone.now()
    for server in servers:
        for kind, entries in ((listings.DISCOVERY, [discovery]), ("tools", tools)):
            listings.keep(server, user.pk, kind, Listed(entries, Lifetime(DAY, private=False)), now)
    client = looking(user)
    for what, path in (("the catalogue", "/"), ("a search in it", "/?q=tool+49")):
        used = []
        for _ in range(TIMES):
            with CaptureQueriesContext(connection) as queries:
                began = time.process_time()
                assert client.get(path).status_code == 200
                used.append(time.process_time() - began)
        milliseconds("catalogue", f"{what}, {SERVERS} servers of {TOOLS} tools: processor time", used)
        row("catalogue", f"{what}, {SERVERS} servers of {TOOLS} tools: queries", len(queries), "")
