"""PURE. The latest of many values, no more often than people can read them."""

from typing import Generic, TypeVar

T = TypeVar("T")
MOST_PROGRESS = 1e15
"""Numbers up to here are exact in a browser; nothing is larger than that in earnest."""


class Pace(Generic[T]):
    """Lets the first value through at once, then the latest one after each gap (seconds). Times are the caller's."""

    def __init__(self, gap: float) -> None:
        self.gap = gap
        self._latest: list[T] = []
        self._next = float("-inf")

    def offer(self, value: T, now: float) -> float | None:
        """Keep a value. How many seconds from now take() is due; None where it was asked for already."""
        asked = bool(self._latest)
        self._latest[:] = [value]
        return None if asked else max(0.0, self._next - now)

    def take(self, now: float) -> T:
        """The latest value that was offered."""
        self._next = now + self.gap
        return self._latest.pop()
