"""The pages that are open on this process: what is due to each, and a look at all of them with every heartbeat.

The look makes up for hints that were lost, and ends sockets whose session has ended: three queries, however many
there are.
"""

import asyncio
import contextlib
import functools
import logging
import uuid
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from django.conf import settings

from mrtr_web import ledger, sessions
from mrtr_web.live import Message, hub, mark_of
from mrtr_web.models import Flow
from mrtr_web.runner import threaded
from mrtr_web.sessions import Visitor

log = logging.getLogger(__name__)
OVER: Message = {"type": "over"}
"""The session has ended."""
MOST = 20
"""Sockets of one person on one process."""
AT_ONCE = 500
"""Sockets that one query looks after."""


class Full(Exception):
    """This person has as many sockets open as one may have."""


class Socket:
    """One open page of a flow. Of what is due to it, the latest of each kind is kept."""

    def __init__(self, visitor: Visitor, flow: uuid.UUID, seen: str) -> None:
        self.visitor, self.flow, self.seen = visitor, flow, seen
        self.read: Callable[[Message], dict[str, Any]] | None = None
        self._due: dict[str, Message] = {}
        self._wake = asyncio.Event()

    def hear(self, message: Message) -> None:
        if message["type"] == "moved":
            self.seen = message["mark"]
        self._due[message["type"]] = message
        self._wake.set()

    def compare(self, found: str) -> None:
        """Where the flow is by the database: a page that shows something else is told."""
        if found != self.seen:
            self.hear({"type": "moved", "mark": found})

    async def due(self) -> Message:
        """The next message, as soon as there is one."""
        while not self._due:
            self._wake.clear()
            await self._wake.wait()
        return self._due.pop(next(iter(self._due)))


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
            raise Full
        self._people[user] += 1
        self._open.add(socket)
        if self._watch is None:
            self._watch = asyncio.create_task(self._look_after_all())
        try:
            with hub.listening(socket.flow, socket.hear):
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
                    self._tell(some, *await threaded(functools.partial(_look, some)))
                except Exception as error:  # a lost database must not end the watch
                    log.warning("open pages could not be looked after: %s", type(error).__name__)

    def _tell(self, some: Sequence[Socket], alive: set[int], marks: dict[uuid.UUID, str]) -> None:
        for socket in some:
            if socket.visitor.session not in alive:
                socket.hear(OVER)
            elif socket.flow in marks:
                socket.compare(marks[socket.flow])


def _look(some: Sequence[Socket]) -> tuple[set[int], dict[uuid.UUID, str]]:
    """Whose session still counts, and where each flow is."""
    flows = {socket.flow for socket in some}
    ledger.expire_leases(pk__in=flows)
    found = Flow.objects.filter(pk__in=flows).select_related("server")
    return sessions.alive([socket.visitor for socket in some]), {row.pk: mark_of(row) for row in found}


sockets = Sockets()
"""The sockets of this process."""
