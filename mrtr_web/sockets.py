"""The pages that are open on this process: what is due to each, and a look at all of them with every heartbeat.

The look makes up for hints that were lost, and ends sockets whose session has ended: three queries for all pages of
flows, however many there are, and a few for each reviewer.
"""

import abc
import asyncio
import contextlib
import logging
import uuid
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from django.conf import settings

from mrtr_web import ledger, measures, review, sessions, wizard
from mrtr_web.live import Message, hub, mark_of
from mrtr_web.models import Flow
from mrtr_web.sessions import Visitor
from mrtr_web.threads import threaded

log = logging.getLogger(__name__)
OVER: Message = {"type": "over"}
"""The session has ended."""
MOST = 20
"""Sockets of one person on one process."""
AT_ONCE = 500
"""Sockets that one query looks after."""


class Full(Exception):
    """This person has as many sockets open as one may have."""


class Socket(abc.ABC):
    """One open page. Of what is due to it, the latest of each kind is kept. Lives on the event loop, but for look()."""

    gap = 0.0
    """Seconds between two messages at least."""

    def __init__(self, visitor: Visitor, seen: str) -> None:
        self.visitor, self.seen = visitor, seen
        self._due: dict[str, Message] = {}
        self._wake = asyncio.Event()

    @abc.abstractmethod
    def listening(self) -> contextlib.AbstractContextManager[None]:
        """Hear the hints that concern this page, until the block ends."""

    @abc.abstractmethod
    def look(self) -> Any:
        """Database work: what the page is to be compared with at its start; None where it may not be open."""

    @abc.abstractmethod
    def enter(self, found: Any) -> None:
        """Catch up with what look() found."""

    @abc.abstractmethod
    def says(self, message: Message) -> Message:
        """What the browser is told."""

    def hear(self, message: Message) -> None:
        self._due[message["type"]] = message
        self._wake.set()

    def compare(self, found: str) -> None:
        """Where things are by the database: a page that shows something else is told."""
        if found != self.seen:
            self.seen = found
            self.hear({"type": "moved"})

    async def due(self) -> Message:
        """The next message, as soon as there is one."""
        while not self._due:
            self._wake.clear()
            await self._wake.wait()
        return self._due.pop(next(iter(self._due)))


class FlowSocket(Socket):
    """The page of one flow, for its owner."""

    def __init__(self, visitor: Visitor, seen: str, flow: uuid.UUID) -> None:
        super().__init__(visitor, seen)
        self.flow = flow
        self.read: Callable[[Message], Message] | None = None

    def listening(self) -> contextlib.AbstractContextManager[None]:
        return hub.listening(self.flow, self.hear)

    def hear(self, message: Message) -> None:
        self.seen = message.get("mark", self.seen)
        super().hear(message)

    def look(self) -> Flow | None:
        return wizard.flow_of(self.visitor.user, self.flow)

    def enter(self, found: Flow) -> None:
        self.read = wizard.progress_reader(self.visitor, found)
        self.compare(mark_of(found))
        latest = hub.progress_of(found.pk, found.leg)
        if latest is not None:
            self.hear(latest)

    def says(self, message: Message) -> Message:
        if message["type"] == "moved" or self.read is None:
            return {"type": "moved", "flow": str(self.flow)}
        return self.read(message)


class DeskSocket(Socket):
    """The queue of a reviewer. A hint may be of something that the database shows only later: both are told."""

    gap = 0.5

    def __init__(self, visitor: Visitor, seen: str) -> None:
        super().__init__(visitor, seen)
        self.servers: frozenset[int] = frozenset()

    def listening(self) -> contextlib.AbstractContextManager[None]:
        return hub.overhearing(self._overhear)

    def _overhear(self, message: Message) -> None:
        if message["type"] == "moved" and message["server"] in self.servers:
            self.hear({"type": "moved"})

    def look(self) -> review.Scope | None:
        return review.scope(self.visitor.user)

    def enter(self, found: review.Scope) -> None:
        self.servers = found.servers
        self.compare(found.mark)

    def says(self, message: Message) -> Message:
        return {"type": "moved"}


class Sockets:
    def __init__(self) -> None:
        self._open: set[Socket] = set()
        self._people: Counter[int] = Counter()
        self._watch: asyncio.Task[None] | None = None

    @contextlib.contextmanager
    def keeping(self, socket: Socket) -> Iterator[None]:
        """Look after a socket until the block ends. Raises Full."""
        user = socket.visitor.user
        if self._people[user] >= MOST:
            measures.REFUSED.labels("sockets").inc()
            raise Full
        self._people[user] += 1
        self._open.add(socket)
        if self._watch is None:
            self._watch = asyncio.create_task(self._look_after_all())
        try:
            with socket.listening(), measures.SOCKETS.track_inprogress():
                yield
        finally:
            self._open.remove(socket)
            self._people -= Counter([user])
            if not self._open and self._watch is not None:
                self._watch.cancel()
                self._watch = None

    async def _look_after_all(self) -> None:
        while True:
            await asyncio.sleep(settings.CONFIG.heartbeat)
            everybody = list(self._open)
            for start in range(0, len(everybody), AT_ONCE):
                some = everybody[start : start + AT_ONCE]
                try:
                    self._tell(some, await threaded(_look, some))
                except Exception as error:  # a lost database must not end the watch
                    log.warning("open pages could not be looked after: %s", type(error).__name__)

    def _tell(self, some: Sequence[Socket], seen: "Seen") -> None:
        for socket in some:
            if socket.visitor.session not in seen.alive:
                socket.hear(OVER)
            elif isinstance(socket, FlowSocket) and socket.flow in seen.marks:
                socket.compare(seen.marks[socket.flow])
            elif isinstance(socket, DeskSocket):
                scope = seen.scopes[socket.visitor.user]
                socket.enter(scope) if scope is not None else socket.hear(OVER)


@dataclass(frozen=True, slots=True)
class Seen:
    """Whose session still counts, where each flow is, and what each reviewer may see of the queue."""

    alive: set[int]
    marks: dict[uuid.UUID, str]
    scopes: dict[int, review.Scope | None]


def _look(some: Sequence[Socket]) -> Seen:
    flows = {socket.flow for socket in some if isinstance(socket, FlowSocket)}
    reviewers = {socket.visitor.user for socket in some if isinstance(socket, DeskSocket)}
    ledger.expire_leases(pk__in=flows)
    found = Flow.objects.filter(pk__in=flows).select_related("server") if flows else ()
    return Seen(
        sessions.alive([socket.visitor for socket in some]),
        {row.pk: mark_of(row) for row in found},
        {user: review.scope(user) for user in reviewers},
    )


sockets = Sockets()
"""The sockets of this process."""
