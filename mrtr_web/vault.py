"""The sealed record of a flow: what goes in, what it is bound to, what stays at the end.

The record holds everything that comes from the server or the person (design D2). It is JSON, ASCII only,
so that any text survives exactly: NUL, line separators, an empty state, key order, integers of any size.
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from mrtr_web import sealing

Object = dict[str, Any]
MESSAGES_CAP = 256 * 1024
"""Bytes of raw messages kept for the owner's details panel."""


class Unreadable(Exception):
    """The record does not open here: another browser, an ended session, or a changed row. One message for all."""

    def __init__(self) -> None:
        super().__init__("the record does not open")


@dataclass(frozen=True, slots=True)
class Binding:
    """What a record belongs to. A record copied to anywhere else does not open."""

    user: int
    flow: str
    round: int
    server: int
    method: str
    session_ends: int
    """The session's absolute end, in whole seconds since the epoch."""

    def aad(self) -> bytes:
        return sealing.bind(
            "flow record", self.user, self.flow, self.round, self.server, self.method, self.session_ends
        )


@dataclass(frozen=True, slots=True)
class Keys:
    """The browser's secret with the server's peppers, the current one first."""

    secret: bytes
    peppers: tuple[bytes, ...]

    def __repr__(self) -> str:
        return "Keys()"


def peppers(server_keys: Sequence[str]) -> tuple[bytes, ...]:
    """The server's share of the keys, from SECRET_KEY and its fallbacks."""
    return tuple(sealing.pepper(key) for key in server_keys)


class PastRound(BaseModel):
    """An answered round, kept only to pre-fill an identical question."""

    model_config = ConfigDict(strict=True)
    requests: Object
    responses: Object


class Message(BaseModel):
    """One raw JSON-RPC message of a leg."""

    model_config = ConfigDict(strict=True)
    sent: bool
    body: Object


class Record(BaseModel):
    """The content of one flow. None means absent, which is not the same as empty."""

    model_config = ConfigDict(strict=True)
    method: str
    params: Object
    capabilities: Object
    input_schema: Object | None = None
    request_state: str | None = None
    requests: Object | None = None
    responses: Object | None = None
    past: list[PastRound] = Field(default_factory=list)
    messages: list[Message] = Field(default_factory=list)
    result: Object | None = None
    error: Object | None = None

    def __repr__(self) -> str:
        return "Record()"

    __str__ = __repr__

    def ended(self) -> "Record":
        """What stays once the flow has ended: params, outcome and raw messages."""
        return self.model_copy(
            update={
                "request_state": None,
                "requests": None,
                "responses": None,
                "past": [],
                "input_schema": None,
            }
        )

    def noting(self, sent: Sequence[Object], received: Sequence[Object]) -> "Record":
        """With a leg's raw messages added, the oldest dropped where they pass the cap."""
        added = [Message(sent=True, body=body) for body in sent] + [Message(sent=False, body=body) for body in received]
        return self.model_copy(update={"messages": _newest([*self.messages, *added])})


def _newest(messages: list[Message]) -> list[Message]:
    room, kept = MESSAGES_CAP, 0
    for message in reversed(messages):
        room -= len(json.dumps(message.body))
        if room < 0:
            break
        kept += 1
    return messages[len(messages) - kept :]


def close(record: Record, keys: Keys, binding: Binding) -> bytes:
    """Seal a record for its row."""
    plain = json.dumps(record.model_dump(), separators=(",", ":")).encode("ascii")
    return sealing.seal(plain, secret=keys.secret, pepper=keys.peppers[0], aad=binding.aad())


def open_record(blob: bytes, keys: Keys, binding: Binding) -> Record:
    """Open and validate a record. Raises Unreadable, whatever the reason."""
    try:
        plain = sealing.open_sealed(blob, secret=keys.secret, peppers=keys.peppers, aad=binding.aad())
        return Record.model_validate(json.loads(plain))
    except (sealing.Sealed, ValidationError, ValueError):
        raise Unreadable from None
