"""What the database would not take of a leg, such as its outcome: kept in memory and written again, within bounds."""

import asyncio
import logging
from collections.abc import Awaitable, Callable
from typing import TypeVar

log = logging.getLogger(__name__)
T = TypeVar("T")
FIRST_PAUSE, LONGEST_PAUSE = 0.25, 15.0
KEPT_FOR = 600.0
"""Seconds that an outcome is kept for."""
KEPT_BYTES = 64 * 1024 * 1024
"""Of all outcomes that wait to be written again, as they came over the wire."""


class Keeper:
    def __init__(self) -> None:
        self._bytes = 0

    async def write(self, write: Callable[[], Awaitable[T]], size: int, unwanted: "asyncio.Future[None]") -> T | None:
        """Call `write` until it succeeds. None where it is given up: no longer wanted, too late, or no room to keep it.

        `unwanted` is done when nobody wants the outcome any more. What is given up ends by its lease, as unknown.
        """
        try:
            return await write()
        except Exception as error:  # whatever the database says, the outcome is worth another try
            log.error("a flow could not be written: %s", type(error).__name__)
        if self._bytes + size > KEPT_BYTES:
            log.error("an outcome was given up: too many wait to be written")
            return None
        self._bytes += size
        try:
            return await self._again(write, unwanted)
        finally:
            self._bytes -= size

    async def _again(self, write: Callable[[], Awaitable[T]], unwanted: "asyncio.Future[None]") -> T | None:
        loop = asyncio.get_running_loop()
        pause, end = FIRST_PAUSE, loop.time() + KEPT_FOR
        while loop.time() < end:
            await asyncio.wait({unwanted}, timeout=pause)
            if unwanted.done():
                return None
            try:
                return await write()
            except Exception as error:  # as above; one line a try would fill the log
                log.debug("a flow could not be written: %s", type(error).__name__)
            pause = min(pause * 2, LONGEST_PAUSE)
        log.error("an outcome was given up: the database was away for too long")
        return None
