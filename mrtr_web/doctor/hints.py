"""The line between processes: Redis, and a message through the real channel layer."""

import asyncio
import contextlib
import uuid
from collections.abc import Iterator
from typing import Any
from urllib.parse import urlsplit

import redis
from asgiref.sync import async_to_sync
from channels.layers import get_channel_layer
from django.conf import settings

from mrtr_web.doctor.finding import Finding, doubt, fault, well
from mrtr_web.line import ping

PATIENCE = 3.0
"""Seconds."""


def line() -> Iterator[Finding]:
    url = settings.CONFIG.redis_url.get_secret_value()
    if not url:
        words = "REDIS_URL is not set, so live hints stay within one process: set it where there are several"
        yield doubt("redis", words)
        return
    reached = _redis(url)
    yield reached
    if reached.level == "ok":
        yield _layer()


def _redis(url: str) -> Finding:
    place = urlsplit(url).hostname
    try:
        ping(url, PATIENCE)
    except (redis.AuthenticationError, redis.exceptions.NoPermissionError):
        return fault("redis", f"{place} refuses the user or the password. Put those of REDIS_URL right")
    except (redis.RedisError, OSError) as error:
        words = (
            f"{place} is not reached ({type(error).__name__}). Start it, or put REDIS_URL right; pages poll meanwhile"
        )
        return fault("redis", words)
    return well("redis", f"{place} answers")


def _layer() -> Finding:
    try:
        back = async_to_sync(_round_trip)(get_channel_layer())
    except Exception as error:  # whatever a layer raises; its text may hold the address
        return fault("channel layer", f"a message was not carried ({type(error).__name__}). May this user publish?")
    if not back:
        return fault("channel layer", "another message came back. Is this Redis shared with something else?")
    return well("channel layer", "a message went through and came back")


async def _round_trip(layer: Any) -> bool:
    """Whether what is sent on a channel of its own comes back."""
    mark = uuid.uuid4().hex
    try:
        async with asyncio.timeout(PATIENCE):
            channel = await layer.new_channel()
            hearing = asyncio.ensure_future(layer.receive(channel))
            while not hearing.done():  # sent again: the first may arrive before the channel is listened to
                await layer.send(channel, {"type": "doctor", "mark": mark})
                await asyncio.wait({hearing}, timeout=0.5)
            return bool(hearing.result()["mark"] == mark)
    finally:
        with contextlib.suppress(Exception):
            async with asyncio.timeout(PATIENCE):
                await layer.flush()
