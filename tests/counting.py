"""What a request costs in whole numbers, whatever the machine does besides: thread hops and queries."""

import concurrent.futures
import contextlib
import functools
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any
from unittest import mock

from django.db.backends.utils import CursorWrapper

from tests.servers import BOUND


@contextlib.contextmanager
def hops() -> Iterator[list[str]]:
    """What this process hands to threads, until the block ends."""
    found: list[str] = []
    submit = concurrent.futures.ThreadPoolExecutor.submit

    def counted(self: Any, work: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Any:
        found.append(_name(work))
        return submit(self, work, *args, **kwargs)

    with mock.patch.object(concurrent.futures.ThreadPoolExecutor, "submit", counted):
        yield found


def _name(work: Callable[..., Any]) -> str:
    """Without what it is bound to: that may be a request, with cookies."""
    while isinstance(work, functools.partial):
        work = work.func
    return getattr(work, "__qualname__", type(work).__qualname__)


@contextlib.contextmanager
def queries() -> Iterator[list[str]]:
    """The SQL of all threads of this process, until the block ends, but for BEGIN: on PostgreSQL it is not seen."""
    found: list[str] = []
    execute = CursorWrapper.execute

    def counted(self: Any, sql: str, params: Any = None) -> Any:
        if not sql.startswith("BEGIN"):
            found.append(sql)
        return execute(self, sql, params)

    with mock.patch.object(CursorWrapper, "execute", counted):
        yield found


def settled(found: list[str]) -> int:
    """How many there were, once they have stopped coming."""
    end = time.monotonic() + BOUND
    while time.monotonic() < end:
        before = len(found)
        threading.Event().wait(0.2)
        if len(found) == before:
            return before
    raise AssertionError("they never settled")
