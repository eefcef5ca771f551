"""The sealed record of a flow: what goes in, what it is bound to, what stays at the end.

The record holds everything that comes from the server or the person (design D2). It is JSON, ASCII only,
so that any text survives exactly: NUL, line separators, an empty state, key order, integers of any size.
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from mrtr_web import sealing
from mrtr_web.access import Refusals

Object = dict[str, Any]
Entry = TypeVar("Entry", bound=BaseModel)
MESSAGES_CAP = 256 * 1024
"""Bytes of raw messages kept for the owner's details panel."""
PAST_CAP = 256 * 1024
"""Bytes of earlier questions and answers kept for pre-fill."""


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

    def words_aad(self) -> bytes:
        """For texts that are only on their way to a page: of the flow, whatever its round."""
        return sealing.bind("flow words", self.user, self.flow, self.server, self.method, self.session_ends)


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


class _Silent(BaseModel):
    """Shows nothing of itself, in an error of its own neither."""

    model_config = ConfigDict(strict=True, hide_input_in_errors=True)

    def __repr__(self) -> str:
        return f"{type(self).__name__}()"

    __str__ = __repr__


class PastAnswer(_Silent):
    """An answered question, kept only to pre-fill the same one when it comes again."""

    key: str
    params: Object
    answer: Object


class Message(_Silent):
    """One raw JSON-RPC message of a leg."""

    sent: bool
    body: Object


class Record(_Silent):
    """The content of one flow. None means absent, which is not the same as empty."""

    method: str
    params: Object
    capabilities: Object
    url: str = ""
    """The address of the server when the flow began: none of its legs goes to another one."""
    roots: list[Object] = Field(default_factory=list)
    """The folders that are offered, as they were when the flow began: a form names them by number."""
    input_schema: Object | None = None
    output_schema: Object | None = None
    request_state: str | None = None
    requests: Object | None = None
    responses: Object | None = None
    posted: str = ""
    """Digest of the post that was sent last, to know it again."""
    past: list[PastAnswer] = Field(default_factory=list)
    messages: list[Message] = Field(default_factory=list)
    result: Object | None = None
    error: Object | None = None
    refusals: Refusals | None = None
    """What the server asks for that did not let the last leg in."""

    def ended(self) -> "Record":
        """What stays once the flow has ended: params, outcome and raw messages."""
        return self.failed().model_copy(update={"past": []})

    def failed(self) -> "Record":
        """What stays of a flow that did not come to a good end: the answers, too, for a new start (T-3)."""
        gone = ("request_state", "requests", "responses", "input_schema", "output_schema", "refusals")
        return self.model_copy(update={**dict.fromkeys(gone), "roots": []})

    def remembering(self, answers: Sequence[PastAnswer]) -> "Record":
        """With these answers kept, each in place of the last one to the same question."""
        new = {(each.key, json.dumps(each.params)) for each in answers}
        kept = [each for each in self.past if (each.key, json.dumps(each.params)) not in new]
        return self.model_copy(update={"past": _newest([*kept, *answers], PAST_CAP)})

    def noting(self, sent: Sequence[Object], received: Sequence[Object]) -> "Record":
        """With a leg's raw messages added, the oldest dropped where they pass the cap."""
        added = [Message(sent=True, body=body) for body in sent] + [Message(sent=False, body=body) for body in received]
        return self.model_copy(update={"messages": _newest([*self.messages, *added], MESSAGES_CAP)})


def _newest(entries: list[Entry], cap: int) -> list[Entry]:
    """The newest entries that fit into `cap` bytes."""
    room, kept = cap, 0
    for entry in reversed(entries):
        room -= len(json.dumps(entry.model_dump()))
        if room < 0:
            break
        kept += 1
    return entries[len(entries) - kept :]


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


def close_words(text: str, keys: Keys, binding: Binding) -> bytes:
    """Seal a text for the flow's open pages."""
    return sealing.seal(text.encode(), secret=keys.secret, pepper=keys.peppers[0], aad=binding.words_aad())


def open_words(blob: bytes, keys: Keys, binding: Binding) -> str:
    """Open a text that was sealed for the flow's pages. Raises Unreadable."""
    try:
        return sealing.open_sealed(blob, secret=keys.secret, peppers=keys.peppers, aad=binding.words_aad()).decode()
    except (sealing.Sealed, ValueError):
        raise Unreadable from None
