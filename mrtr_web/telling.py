"""What a server reports of its progress, on its way to the pages: cleaned, sealed, four times a second at most."""

import asyncio
import uuid
from collections.abc import Callable

from mrtr_web import live
from mrtr_web.pace import Pace
from mrtr_web.relay import Progress
from mrtr_web.schema.text import clean_text, one_line

GAP = 0.25
LONGEST = 200
"""Characters of a server's message."""


class Teller:
    """Takes in the progress of one leg, on the event loop; neither waits nor raises. close() when the leg is over."""

    def __init__(self, flow: uuid.UUID, leg: uuid.UUID, seal: Callable[[str], bytes]) -> None:
        self._flow, self._leg, self._seal = flow, leg, seal
        self._loop = asyncio.get_running_loop()
        self._pace: Pace[Progress] = Pace(GAP)
        self._timer: asyncio.TimerHandle | None = None

    def __call__(self, news: Progress) -> None:
        due = self._pace.offer(news, self._loop.time())
        if due is not None:
            self._timer = self._loop.call_later(due, self._tell)

    def close(self) -> None:
        if self._timer is not None:
            self._timer.cancel()

    def _tell(self) -> None:
        news = self._pace.take(self._loop.time())
        words = one_line(clean_text(news.message or "", LONGEST))
        message = {
            "type": "progress",
            "leg": str(self._leg),
            "progress": news.progress,
            "total": news.total,
            "words": self._seal(words) if words else None,
        }
        live.hub.publish(self._flow, message)
