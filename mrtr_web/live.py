"""Hints from legs to open pages: a flow has moved, or its server tells of progress. Never content in clear.

One hub lives in each serving process, on its event loop. It reaches the listeners of its own process directly,
those of others over the line where there is one. Hints may be lost: whoever listens looks into the database, too.

message: {"type": "moved", "server", "mark"}
or {"type": "progress", "leg", "progress", "total", "words": sealed or None}
"""

import asyncio
import contextlib
import uuid
from collections.abc import Callable, Iterator
from datetime import datetime
from typing import Any

from mrtr_web import line
from mrtr_web.models import Flow
from mrtr_web.pace import MOST_PROGRESS

Message = line.Message
Listener = Callable[[Message], None]
MOST_KEPT = 1_000
"""Flows whose latest progress is kept for pages that are opened in the middle of a leg."""


def mark(state: str, round_number: int, reminded_at: datetime | None, enabled: bool) -> str:
    """What tells two pages of a flow apart. `enabled`: whether its server is switched on."""
    reminded = int(reminded_at.timestamp() * 1000) if reminded_at is not None else 0
    return f"{state}.{round_number}.{reminded}.{int(enabled)}"


def mark_of(row: Flow) -> str:
    """The mark of a flow as it was read."""
    return mark(row.state, row.round, row.reminded_at, row.server.enabled)


def moved(server: int, mark: str) -> Message:
    return {"type": "moved", "server": server, "mark": mark}


def is_sound(message: Any) -> bool:
    """Whether this is a message as described above."""
    match message:
        case {"type": "moved", "server": int(), "mark": str()}:
            return True
        case {"type": "progress", "leg": str(), "progress": done, "total": total, "words": bytes() | None}:
            return _is_number(done) and (total is None or _is_number(total))
    return False


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and abs(value) <= MOST_PROGRESS


class Hub:
    def __init__(self) -> None:
        self._loop: asyncio.AbstractEventLoop | None = None
        self._line: line.Line | None = None
        self._listeners: dict[uuid.UUID, list[Listener]] = {}
        self._overhearing: list[Listener] = []
        self._progress: dict[uuid.UUID, Message] = {}

    def start(self) -> None:
        """Carry hints from now on, on the running loop. Called by the ASGI lifespan."""
        self._loop = asyncio.get_running_loop()
        self._line = line.connect(self.take)

    async def close(self) -> None:
        self._loop = None
        self._progress.clear()
        if self._line is not None:
            await self._line.close()

    def publish(self, flow: uuid.UUID, message: Message) -> None:
        """Tell everybody who listens to this flow. From any thread; neither waits nor raises."""
        loop = self._loop
        if loop is not None:
            with contextlib.suppress(RuntimeError):  # closed meanwhile
                loop.call_soon_threadsafe(self._spread, flow, message)

    @contextlib.contextmanager
    def listening(self, flow: uuid.UUID, listener: Listener) -> Iterator[None]:
        """Until the block ends the listener gets each message about this flow, on the loop. It must not raise."""
        listeners = self._listeners.setdefault(flow, [])
        listeners.append(listener)
        try:
            yield
        finally:
            listeners.remove(listener)
            if not listeners:
                del self._listeners[flow]

    @contextlib.contextmanager
    def overhearing(self, listener: Listener) -> Iterator[None]:
        """Until the block ends the listener gets the messages about all flows, on the loop. It must not raise."""
        self._overhearing.append(listener)
        try:
            yield
        finally:
            self._overhearing.remove(listener)

    def progress_of(self, flow: uuid.UUID, leg: uuid.UUID | None) -> Message | None:
        """The latest progress of this leg that came by here. From any thread."""
        found = self._progress.get(flow)
        return found if found is not None and found["leg"] == str(leg) else None

    def _spread(self, flow: uuid.UUID, message: Message) -> None:
        self._deliver(flow, message)
        if self._line is not None:
            self._line.say(flow, message)

    def take(self, flow: uuid.UUID, message: Message) -> None:
        """From another process, or from whoever else can speak on the line."""
        if is_sound(message):
            self._deliver(flow, message)

    def _deliver(self, flow: uuid.UUID, message: Message) -> None:
        self._progress.pop(flow, None)
        if message["type"] == "progress":
            self._progress[flow] = message
            if len(self._progress) > MOST_KEPT:
                del self._progress[next(iter(self._progress))]
        for listener in (*self._listeners.get(flow, ()), *self._overhearing):
            listener(message)


hub = Hub()
"""The hub of this process."""
