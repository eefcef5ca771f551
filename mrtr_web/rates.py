"""PURE. How often something may be done: so many at once, then one more after each interval (GCRA).

Times are seconds on the caller's clock.
"""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Limit:
    at_once: int
    interval: float
    """Seconds until one more is free."""

    def half(self) -> "Limit":
        """Half as many, rounded up, half as often."""
        return Limit((self.at_once + 1) // 2, self.interval * 2)


def per_minute(number: int) -> Limit:
    """A minute's worth at once, evenly from then on."""
    return Limit(number, 60 / number)


def take(limit: Limit, due: float, now: float) -> tuple[float, float]:
    """One of them: when all that was taken is free again, and for how many seconds to wait.

    `due` is the former of a moment ago. Where there is something to wait for, nothing was taken.
    """
    due = min(due, now + limit.interval * limit.at_once)  # a clock was set back, or the limit was another one
    wait = due - limit.interval * (limit.at_once - 1) - now
    return (due, wait) if wait > 0 else (max(due, now) + limit.interval, 0.0)
