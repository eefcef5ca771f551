"""What the review desk's queue costs with 10,000 requests in it: CPU of one page, and how many queries."""

import statistics
import time

TOTAL = 10_000
TIMES = 20


def run() -> None:
    from django.conf import settings
    from django.contrib.auth.models import User
    from django.db import connection
    from django.test.utils import CaptureQueriesContext

    from mrtr_web.models import Flow, Server
    from tests.reviewers import fill, looking, reviewer_of

    settings.ALLOWED_HOSTS = ["testserver"]
    servers = [Server.objects.create(slug=f"s{n}", name=f"Server {n}", url="https://a.example/mcp") for n in range(5)]
    people = [User.objects.create_user(f"person {n}") for n in range(20)]
    fill(people, servers, TOTAL)
    client = looking(reviewer_of("rita", *servers))
    for query in ("", "?state=all&page=150", "?person=7&order=newest"):
        spent = []
        for _ in range(TIMES):
            with CaptureQueriesContext(connection) as queries:
                began = time.process_time()
                client.get(f"/review/{query}")
                spent.append((time.process_time() - began) * 1000)
        cost = f"{statistics.median(spent):8.1f} ms of CPU, {len(queries)} queries"
        print(f"{f'queue of {TOTAL:,} requests {query}':45} {cost}")
    Flow.objects.all().delete()
    Server.objects.all().delete()
    User.objects.all().delete()
