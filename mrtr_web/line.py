"""The line between processes: hints over the channel layer, where there is one. A dead Redis costs hints alone.

What waits to be sent is kept once for each flow and type, the newest, so a long silence cannot pile up.
"""

import asyncio
import contextlib
import logging
import uuid
from collections.abc import Callable
from typing import Any

import redis
from channels.layers import get_channel_layer
from redis.backoff import NoBackoff
from redis.retry import Retry

Message = dict[str, Any]
Heard = Callable[[uuid.UUID, Any], None]

log = logging.getLogger(__name__)
GROUP = "flows"
PATIENCE = 2.0
"""Seconds that one hint may take to be sent."""
PAUSE = 0.5
"""Seconds between two tries while Redis is away."""
MOST_WAITING = 1_000


class Line:
    """Lives on the running loop from its making until close()."""

    def __init__(self, layer: Any, heard: Heard) -> None:
        self._layer, self._heard = layer, heard
        self._me = uuid.uuid4().hex
        self._waiting: dict[tuple[str, str], Message] = {}
        self._wake = asyncio.Event()
        self._cut = self._closed = False
        self._tasks = [asyncio.create_task(self._speak()), asyncio.create_task(self._listen())]

    def say(self, flow: uuid.UUID, message: Message) -> None:
        """Have this sent to the other processes, as soon as may be."""
        key = str(flow), str(message["type"])
        self._waiting[key] = {"type": "hint", "from": self._me, "flow": key[0], "message": message}
        if len(self._waiting) > MOST_WAITING:
            del self._waiting[next(iter(self._waiting))]
        self._wake.set()

    async def close(self) -> None:
        """Within twice PATIENCE, also where the layer swallows the cancelling."""
        self._closed = True
        self._wake.set()
        for task in self._tasks:
            task.cancel()
        await asyncio.wait(self._tasks, timeout=PATIENCE)
        await self._hang_up()

    async def _speak(self) -> None:
        while not self._closed:
            await self._wake.wait()
            self._wake.clear()
            while self._waiting and not self._closed:
                key = next(iter(self._waiting))
                await self._send(key, self._waiting.pop(key))

    async def _send(self, key: tuple[str, str], hint: Message) -> None:
        try:
            async with asyncio.timeout(PATIENCE):
                await self._layer.group_send(GROUP, hint)
            self._note(None)
        except Exception as error:  # whatever a dead Redis raises: the hint waits, unless a newer one does
            self._note(error)
            self._waiting.setdefault(key, hint)
            await asyncio.sleep(PAUSE)

    async def _listen(self) -> None:
        while not self._closed:
            try:
                channel = await self._layer.new_channel()
                await self._layer.group_add(GROUP, channel)
                self._note(None)
                while not self._closed:
                    self._take(await self._layer.receive(channel))
            except Exception as error:  # not there yet: once subscribed, the layer comes back by itself
                self._note(error)
                await self._hang_up()
                await asyncio.sleep(PAUSE)

    async def _hang_up(self) -> None:
        """Drop the layer's connections, in whatever state Redis is."""
        with contextlib.suppress(Exception):
            async with asyncio.timeout(PATIENCE):
                await self._layer.flush()

    def _take(self, hint: Any) -> None:
        """Whatever comes: others may be able to speak on the line, too."""
        match hint:
            case {"type": "hint", "from": str(speaker), "flow": str(flow), "message": message} if speaker != self._me:
                with contextlib.suppress(ValueError):
                    self._heard(uuid.UUID(flow), message)

    def _note(self, error: Exception | None) -> None:
        """One line when hints begin to be lost, one when they are back."""
        if error is not None and not self._cut:
            log.warning("no hints between processes, pages poll: %s", type(error).__name__)
        elif error is None and self._cut:
            log.warning("hints between processes are back")
        self._cut = error is not None


def ping(url: str, patience: float) -> None:
    """Ask the Redis there for a sign of life, once, `patience` seconds for each step. Raises RedisError or OSError."""
    once = Retry(NoBackoff(), 0)
    with redis.Redis.from_url(url, socket_connect_timeout=patience, socket_timeout=patience, retry=once) as client:
        client.ping()


def connect(heard: Heard) -> Line | None:
    """The line of this process. None without a channel layer."""
    layer = get_channel_layer()
    return None if layer is None else Line(layer, heard)


# While Redis is away the layer writes a traceback each second.
logging.getLogger("channels_redis").setLevel(logging.CRITICAL + 1)
