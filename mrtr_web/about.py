"""PURE. What a line of the log is about: the ids of a request, a flow and a leg, wherever work for them is done.

They follow a coroutine and its tasks by themselves; threads and legs take them along, and nothing else of a context.
"""

import uuid
from collections.abc import Mapping
from contextvars import ContextVar
from types import MappingProxyType

Ids = Mapping[str, str]
_ids: ContextVar[Ids] = ContextVar("ids", default=MappingProxyType({}))


def ids() -> Ids:
    return _ids.get()


def take(ids: Ids) -> None:
    """From here on it is about these, and about nothing else."""
    _ids.set(ids)


def add(**more: str) -> None:
    _ids.set({**ids(), **more})


def begin() -> str:
    """A request comes in: the id that it gets, always one of our own, for others' may be anything."""
    request = uuid.uuid4().hex
    take({"request": request})
    return request
