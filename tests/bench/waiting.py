"""What 1,000 flows that wait for their people add to the process that began them."""

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

BEFORE = 300
"""So that what the first ones load does not count."""
FLOWS = 1000


def run() -> None:
    server = registered("http://127.0.0.1:9/")
    Server.objects.update(slug="demo")
    people = [User.objects.create(username=f"person {number}") for number in range(2)]
    with (
        tempfile.TemporaryDirectory() as name,
        desk(server, asks()),
        serving(Path(name), None, documented, MRTR_OPEN_FLOWS="100000") as process,
        Person(process.base) as person,
    ):
        _begin(person, people[0], BEFORE)
        before = spent.resident(process.handle.pid)
        _begin(person, people[1], FLOWS)
        grown = spent.resident(process.handle.pid) - before
    row("waiting", f"memory of a process for {FLOWS:,} waiting flows", grown, "MiB")


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
