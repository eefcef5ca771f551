"""Whose leg goes next to a server: only so many are out at once, and people take turns for the places.

A person with a hundred legs in the queue has one of them sent for each one of anybody else's, and never holds more
than half of the places. Lives on one event loop.
"""

import asyncio
import contextlib
from collections import Counter, OrderedDict, deque
from collections.abc import Iterator
from dataclasses import dataclass, field

Turn = asyncio.Future[None]


@dataclass(slots=True)
class _Queue:
    """At one server: whose legs are out, and who waits, the person whose turn comes next first."""

    out: Counter[int] = field(default_factory=Counter)
    waiting: OrderedDict[int, deque[Turn]] = field(default_factory=OrderedDict)


class Turns:
    def __init__(self) -> None:
        self._queues: dict[int, _Queue] = {}

    @contextlib.contextmanager
    def place(self, server: int, person: int, limit: int) -> Iterator[Turn]:
        """A place in the queue: the future is done when the turn has come. Leaving gives up the place or the turn."""
        turn: Turn = asyncio.get_running_loop().create_future()
        queue = self._queues.setdefault(server, _Queue())
        queue.waiting.setdefault(person, deque()).append(turn)
        self._advance(queue, limit)
        try:
            yield turn
        finally:
            if turn.done() and not turn.cancelled():
                queue.out -= Counter([person])
            else:
                self._leave(queue, person, turn)
            self._advance(queue, limit)
            if not queue.out and not queue.waiting:
                self._queues.pop(server, None)

    @staticmethod
    def _leave(queue: _Queue, person: int, turn: Turn) -> None:
        turn.cancel()
        queue.waiting[person].remove(turn)
        if not queue.waiting[person]:
            del queue.waiting[person]

    @staticmethod
    def _advance(queue: _Queue, limit: int) -> None:
        share = (limit + 1) // 2
        while queue.out.total() < limit:
            person = next((each for each in queue.waiting if queue.out[each] < share), None)
            if person is None:
                return
            turns = queue.waiting.pop(person)
            turns.popleft().set_result(None)
            queue.out[person] += 1
            if turns:
                queue.waiting[person] = turns
