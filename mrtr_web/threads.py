"""Database work of coroutines, off the event loop: on our own threads (D3)."""

import asyncio
import concurrent.futures
from collections.abc import Callable
from typing import Any, TypeVar

from django.db import close_old_connections

from mrtr_web import about

T = TypeVar("T")
_pool = concurrent.futures.ThreadPoolExecutor(4, thread_name_prefix="leg")


async def threaded(work: Callable[..., T], *args: Any) -> T:
    """Database work off the loop, on the legs' own threads."""
    return await asyncio.get_running_loop().run_in_executor(_pool, _about, about.ids(), work, *args)


def _about(ids: about.Ids, work: Callable[..., T], *args: Any) -> T:
    about.take(ids)
    return with_connection(work, *args)


def with_connection(work: Callable[..., T], *args: Any) -> T:
    """For threads that live on: a connection of a pool is given back, one that is too old is closed."""
    close_old_connections()
    try:
        return work(*args)
    finally:
        close_old_connections()
