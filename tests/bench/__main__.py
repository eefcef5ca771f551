"""What a leg costs through the app, against the same leg by the relay alone, in pairs; and the pure parts.

Prints medians and what lies between the quartiles; then the memory of open pages and of waiting flows, and a soak,
which may fail. Before all that, on PostgreSQL: the audit trail of a million rows.
"""

import asyncio
import os
import statistics
import subprocess
import sys
import tempfile
import time
import uuid
from collections.abc import Callable
from pathlib import Path
from typing import Any

import tests.env  # noqa: F401  settings, before Django reads them
from tests.bench import audit, queue

_GUEST = {"properties": {"name": {"type": "string"}, "age": {"type": "integer"}}, "required": ["name"]}
FORMS: dict[str, Any] = {
    "build and render a form of 100 fields": {
        "properties": {f"f{n}": {"type": "string", "title": "T"} for n in range(100)}
    },
    "build and render 50 entries of 2 fields": {
        "properties": {"guests": {"type": "array", "items": _GUEST, "default": [{"name": "Ada", "age": 1}] * 50}}
    },
    "build and render a choice of 5,000 options": {"properties": {"c": {"enum": [f"Option {n}" for n in range(5000)]}}},
    "build and render 5,000 boxes to tick": {
        "properties": {"c": {"type": "array", "items": {"enum": [f"Option {n}" for n in range(5000)]}}}
    },
}
PAIRS = 100
WARM_UP = 10


def main() -> None:
    audit.run(os.environ.get("DATABASE_URL", ""))
    with tempfile.TemporaryDirectory() as folder:
        os.environ["DATABASE_URL"] = f"sqlite:///{folder}/bench.sqlite3"
        os.environ["DJANGO_SETTINGS_MODULE"] = "mrtr_web.settings"
        subprocess.run([sys.executable, "manage.py", "migrate", "-v0"], check=True)
        import django

        django.setup()
        _pure()
        queue.run()
        _legs(Path(folder))
        _hung(Path(folder))
        _open_pages(Path(folder))
        _memory(Path(folder))
        _soak(Path(folder))


def _memory(folder: Path) -> None:
    """What 1,000 flows that wait for their people add to the process that began them."""
    from django.contrib.auth.models import User

    from mrtr_web.models import Server
    from tests.desk import TOOL, asks, desk
    from tests.person import Person
    from tests.processes import serving
    from tests.visitors import cookies_of

    server = Server.objects.get()
    with desk(server, asks()), serving(folder) as process, Person(process.base) as person:
        person.client.cookies.update(cookies_of(User.objects.get(username="alice")))
        person.get(TOOL)
        person.fill("Topic", "x")
        data = person.page.button("Start")[0].data()

        def begin(number: int) -> int:
            for _ in range(number):
                form = data | {"flow": [str(uuid.uuid4())]}
                person.client.post(TOOL, data=form, headers={"Origin": person.base}, follow_redirects=False)
            pages = Path(f"/proc/{process.handle.pid}/statm").read_text().split()[1]
            return int(pages) * os.sysconf("SC_PAGE_SIZE")

        before = begin(500)
        grown = begin(1000) - before
    print(f"{'memory of a process for 1,000 waiting flows':45} {grown / 2**20:8.2f} MiB")


def _soak(folder: Path) -> None:
    from mrtr_web.models import Flow, Server
    from tests.soak import ROUNDS, soak

    Flow.objects.all().delete()
    tally = soak(folder, Server.objects.get(), people=50, seconds=60, kill_every=5, pace=3)
    again = sum(tally.again.values())
    print(f"soak: 50 people, {ROUNDS} rounds each, {tally.kills} kills, {tally.broken_connections} broken connections")
    print(f"  {tally.finished} flows ended, {dict(tally.states)}; {sum(tally.sent.values())} calls, {again} sent again")
    print(f"  {len(tally.doubled)} rounds called twice unasked, {len(tally.wrong)} faults {tally.wrong[:3]}")
    if tally.doubled or tally.wrong or set(tally.states) != {"completed"}:
        sys.exit("the soak failed")


def _pure() -> None:
    from mrtr_web import forms, vault
    from mrtr_web.schema import read

    keys = vault.Keys(bytes(32), vault.peppers(["server key"]))
    binding = vault.Binding(1, "f", 1, 1, "tools/call", 1)
    record = vault.Record(method="tools/call", params={}, capabilities={}, request_state="x" * 65536)
    blob = vault.close(record, keys, binding)
    _report("seal a record of 64 kB", _timed(lambda: vault.close(record, keys, binding), 200))
    _report("open a record of 64 kB", _timed(lambda: vault.open_record(blob, keys, binding), 200))

    def drawing(schema: Any) -> Callable[[], Any]:
        return lambda: str(forms.build(read.read_input(schema), prefix="s0", data=None, initial=None, zone="UTC"))

    for name, schema in FORMS.items():
        _report(name, _timed(drawing(schema), 20))


def _legs(folder: Path) -> None:
    from django.contrib.auth.models import User

    from mrtr_web import networks, relay
    from mrtr_web.models import Server
    from tests.desk import TOOL, desk, done
    from tests.person import Person
    from tests.processes import serving

    User.objects.create_user("alice", password="alice's password")
    server = Server.objects.create(
        slug="demo", name="Bench", url="", private_networks=list(networks.PRIVATE), capabilities=["elicitation"]
    )
    limits = relay.Limits(5, 20, 60, 2**24)
    call = relay.Call("tools/call", {"name": "ask", "arguments": {"topic": "x"}}, {})
    with desk(server, done()), serving(folder) as process, Person(process.base) as person, asyncio.Runner() as loop:
        person.sign_in("alice")
        person.get(TOOL)
        person.fill("Topic", "x")
        form, _, _ = person.page.button("Start")
        endpoint = relay.Endpoint(Server.objects.get().url, private=networks.PRIVATE)

        def through_the_app() -> None:
            data = form.data() | {"flow": [str(uuid.uuid4())]}
            person.client.post(TOOL, data=data, headers={"Origin": person.base}, follow_redirects=False)

        pairs = [
            (
                _once(lambda: loop.run(relay.send(endpoint, call, limits))),
                _once(through_the_app),
                _once(lambda: person.client.get("/flows/")),
            )
            for _ in range(WARM_UP + PAIRS)
        ][WARM_UP:]
    _report("a leg by the relay alone", [pair[0] for pair in pairs])
    _report("a leg through the app (post to redirect)", [pair[1] for pair in pairs])
    _report("a page (my requests)", [pair[2] for pair in pairs])
    ratios = [pair[1] / pair[0] for pair in pairs]
    print(f"{'paired ratio of the two legs':45} {statistics.median(ratios):8.2f}")


def _hung(folder: Path) -> None:
    from tests.bench import hung

    hung.run(folder)


def _open_pages(folder: Path) -> None:
    from mrtr_web.models import Server
    from tests.bench import sockets

    sockets.run(folder, Server.objects.get())


def _once(work: Callable[[], object]) -> float:
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def _timed(work: Callable[[], object], times: int) -> list[float]:
    return [_once(work) for _ in range(times)]


def _report(what: str, seconds: list[float]) -> None:
    low, middle, high = (value * 1000 for value in statistics.quantiles(seconds, n=4))
    print(f"{what:45} {middle:8.2f} ms  ({low:.2f} to {high:.2f})")


if __name__ == "__main__":
    main()
