"""What the review desk's queue costs with 10,000 requests in it: processor time of one page, and how many queries."""

import time

from django.conf import settings
from django.contrib.auth.models import User
from django.db import connection
from django.test.utils import CaptureQueriesContext

from mrtr_web.models import Server
from tests.bench.rows import milliseconds, row
from tests.reviewers import fill, looking, reviewer_of

TOTAL = 10_000
TIMES = 20


def run() -> None:
    settings.ALLOWED_HOSTS = ["testserver"]
    servers = [Server.objects.create(slug=f"s{n}", name=f"Server {n}", url="https://a.example/mcp") for n in range(5)]
    people = [User.objects.create_user(f"person {n}") for n in range(20)]
    fill(people, servers, TOTAL)
    client = looking(reviewer_of("rita", *servers))
    for query in ("", "?state=all&page=150", "?person=7&order=newest"):
        used = []
        for _ in range(TIMES):
            with CaptureQueriesContext(connection) as queries:
                began = time.process_time()
                client.get(f"/review/{query}")
                used.append(time.process_time() - began)
        milliseconds("queue", f"queue of {TOTAL:,} requests {query}: processor time", used)
        row("queue", f"queue of {TOTAL:,} requests {query}: queries", len(queries), "")
