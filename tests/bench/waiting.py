"""What 1,000 flows that wait for their people add to the process that began them.

Memory grows in leaps, whenever the allocator fetches more, and most by the first flows: see docs/performance.md.
"""

import itertools
import tempfile
import uuid
from pathlib import Path

from django.contrib.auth.models import User

from mrtr_web.models import Server
from tests.bench import spent
from tests.bench.legs import registered
from tests.bench.rows import row
from tests.desk import TOOL, asks, desk
from tests.person import Person
from tests.processes import documented, serving
from tests.visitors import cookies_of

BEFORE = 1000
"""So that what the first ones load does not count."""
STEP, STEPS = 500, 3


def run() -> None:
    server = registered("http://127.0.0.1:9/")
    Server.objects.update(slug="demo")
    people = [User.objects.create(username=f"person {number}") for number in range(1 + STEPS)]
    with (
        tempfile.TemporaryDirectory() as name,
        desk(server, asks()),
        serving(Path(name), None, documented, MRTR_OPEN_FLOWS="100000") as process,
        Person(process.base) as person,
    ):
        _begin(person, people[0], BEFORE)
        grown = [spent.resident(process.handle.pid)]
        for user in people[1:]:
            _begin(person, user, STEP)
            grown.append(spent.resident(process.handle.pid))
    steps = ", ".join(f"{after - before:+.2f}" for before, after in itertools.pairwise(grown))
    value = (grown[-1] - grown[0]) / (STEP * STEPS) * 1000
    row("waiting", "memory of a process for 1,000 more waiting flows", value, "MiB", note=f"by {STEP}: {steps}")


def _begin(person: Person, user: User, number: int) -> None:
    person.client.cookies.clear()
    person.client.cookies.update(cookies_of(user))
    person.get(TOOL)
    person.fill("Topic", "x")
    form = person.page.button("Start")[0].data()
    for _ in range(number):
        anew = form | {"flow": [str(uuid.uuid4())]}
        sent = person.client.post(TOOL, data=anew, headers={"Origin": person.base}, follow_redirects=False)
        assert sent.status_code == 302, sent.status_code
