"""Whose leg goes next to a server: only so many are out at once, and people take turns for the places.

A person with a hundred legs in the queue has one of them sent for each one of anybody else's, and never holds more
than half of the places, rounded up. Lives on one event loop.
"""

import asyncio
import contextlib
from collections import Counter, OrderedDict, deque
from collections.abc import Iterator
from dataclasses import dataclass, field

Turn = asyncio.Future[None]


@dataclass(slots=True)
class _Queue:
    """At one server: how many are out of whom, and who waits, the person whose turn comes next first."""

    out: Counter[int] = field(default_factory=Counter)
    waiting: OrderedDict[int, deque[Turn]] = field(default_factory=OrderedDict)

    def advance(self, limit: int) -> None:
        while self.out.total() < limit and (person := self._next((limit + 1) // 2)) is not None:
            turns = self.waiting.pop(person)
            turns.popleft().set_result(None)
            if turns:
                self.waiting[person] = turns
            self.out[person] += 1

    def _next(self, share: int) -> int | None:
        return next((person for person in self.waiting if self.out[person] < share), None)

    def leave(self, person: int, turn: Turn) -> None:
        """Give up the turn, or the place in the queue."""
        if turn not in self.waiting.get(person, ()):
            self.out -= Counter([person])
            return
        self.waiting[person].remove(turn)
        if not self.waiting[person]:
            del self.waiting[person]


class Turns:
    def __init__(self) -> None:
        self._queues: dict[int, _Queue] = {}

    @contextlib.contextmanager
    def place(self, server: int, person: int, limit: int) -> Iterator[Turn]:
        """A place in the queue: the future is done when the turn has come. Leaving gives up the place or the turn."""
        turn: Turn = asyncio.get_running_loop().create_future()
        queue = self._queues.setdefault(server, _Queue())
        queue.waiting.setdefault(person, deque()).append(turn)
        queue.advance(limit)
        try:
            yield turn
        finally:
            queue.leave(person, turn)
            queue.advance(limit)
            if not queue.out.total() and not queue.waiting:
                self._queues.pop(server, None)
