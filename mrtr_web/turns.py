"""Whose leg goes next to a server: only so many are out at once, and people take turns for the places.

A person with a hundred legs in the queue has one of them sent for each one of anybody else's. Lives on one event loop.
"""

import asyncio
import contextlib
from collections import OrderedDict, deque
from collections.abc import Iterator
from dataclasses import dataclass, field

Turn = asyncio.Future[None]


@dataclass(slots=True)
class _Queue:
    """At one server: how many are out, and who waits, the person whose turn comes next first."""

    out: int = 0
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
                queue.out -= 1
            turn.cancel()
            self._advance(queue, limit)
            if not queue.out and not queue.waiting:
                self._queues.pop(server, None)

    @staticmethod
    def _advance(queue: _Queue, limit: int) -> None:
        while queue.waiting and queue.out < limit:
            person, turns = queue.waiting.popitem(last=False)
            turn = turns.popleft()
            if turns:
                queue.waiting[person] = turns
            if not turn.done():
                turn.set_result(None)
                queue.out += 1
