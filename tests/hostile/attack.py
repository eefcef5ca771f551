"""The app as a process of its own under attack: what each attack costs it, in time and memory, and others in time."""

import contextlib
import re
import threading
import time
import uuid
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Self

from django.contrib.auth.models import User

from mrtr_web.models import PRIVATE_NETWORKS, Server
from tests.desk import Desk, done
from tests.hostile.line import Behaviour, Hostile, serving_hostile
from tests.person import Person
from tests.processes import Process, serving
from tests.servers import BOUND, Recorder, serve
from tests.visitors import cookies_of

SETTINGS = {
    "MRTR_CONNECT_TIMEOUT": "1",
    "MRTR_MAX_ROUNDS": "2",
    "MRTR_MAX_STATE_ONLY_LEGS": "1",
    "MRTR_LOG_LEVEL": "DEBUG",
}
PROMPT = 5.0
"""Seconds within which a leg of somebody else ends, whatever another server does; it takes 0.05 on an idle machine."""


class Cost:
    """What a process spends in a `with` block: seconds, seconds of CPU, and MiB at the peak above what it had."""

    def __init__(self, process: Process) -> None:
        self.folder = Path(f"/proc/{process.handle.pid}")
        self.seconds = self.cpu = self.mib = 0.0

    def __enter__(self) -> Self:
        (self.folder / "clear_refs").write_text("5")  # the peak begins anew
        self.had, self.spent, self.began = self._memory("VmRSS"), self._busy(), time.monotonic()
        return self

    def __exit__(self, *_: object) -> None:
        self.seconds = time.monotonic() - self.began
        self.cpu, self.mib = self._busy() - self.spent, self._memory("VmHWM") - self.had

    def _memory(self, what: str) -> float:
        found = re.search(rf"{what}:\s+(\d+) kB", (self.folder / "status").read_text())
        assert found is not None
        return int(found[1]) / 1024

    def _busy(self) -> float:
        fields = (self.folder / "stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / 100


@dataclass
class Attack:
    """The app, the hostile server, a good one, and who uses it."""

    process: Process
    hostile: Hostile
    good: str
    """The address of the good one."""
    read: int = 0

    def logged(self) -> str:
        """What the app has logged since the last time."""
        told = self.process.log.read_bytes()[self.read :]
        self.read += len(told)
        return told.decode(errors="replace")

    def register(self, slug: str, url: str, **more: Any) -> Server:
        return Server.objects.create(
            slug=slug, name=f"{slug.title()} desk", url=url, private_networks=list(PRIVATE_NETWORKS), **more
        )

    @contextlib.contextmanager
    def person(self, name: str) -> Iterator[Person]:
        with Person(self.process.base) as someone:
            user = User.objects.create(username=name)
            someone.client.cookies.update(cookies_of(user))
            yield someone

    @contextlib.contextmanager
    def another(self) -> Iterator["Another"]:
        """Somebody else at the good server, from now on and until the block ends."""
        self.register("good", self.good)
        path = "/s/good/tools/ask/"
        with self.person("bob") as bob:
            bob.get(path)
            bob.fill("Topic", "bread")
            another = Another(bob, path, bob.page.button("Start")[0].data())
            thread = threading.Thread(target=another.work)
            thread.start()
            try:
                yield another
            finally:
                another.over.set()
                thread.join(BOUND)


@dataclass
class Another:
    person: Person
    path: str
    form: Mapping[str, list[str]]
    over: threading.Event = field(default_factory=threading.Event)
    legs: list[float] = field(default_factory=list)
    """The seconds of each, from Start to the page of its result."""

    def work(self) -> None:
        while not self.legs or not self.over.wait(0.4):
            began = time.monotonic()
            self.person.post(self.path, {**self.form, "flow": [str(uuid.uuid4())]})
            self.person.until("completed")
            self.legs.append(time.monotonic() - began)


@contextlib.contextmanager
def attacking(folder: Path, behaviours: Mapping[str, Behaviour]) -> Iterator[Attack]:
    """Everything that is needed, on the database at hand."""
    recorder = Recorder(Desk(done("Here you are.")))
    with (
        serve(recorder, lifespan="on") as base,
        serving_hostile(behaviours) as hostile,
        serving(folder, **SETTINGS) as process,
    ):
        yield Attack(process, hostile, f"{base}/mcp")
