"""What a server asks, kept for its reviewers where an admin has set it so: sealed under the key ring until the flow
ends. It often repeats what people typed. Their answers themselves are never in it."""

import contextlib
import json
from collections.abc import Sequence
from typing import Any

from mrtr_web import keyring, pages
from mrtr_web.models import Flow, KeptMessages, Server
from mrtr_web.rounds import Kind, Step

LONGEST = 5_000
"""Characters that are kept of one text."""
PURPOSE = "messages"
Object = dict[str, Any]


def seal(row: Flow, number: int, steps: Sequence[Step]) -> bytes | None:
    """The words of a round, sealed. None where this server's were not to be kept when its leg was claimed."""
    if not keyring.is_set() or not row.server.keep_messages:
        return None
    words = json.dumps([_words(step) for step in steps])
    return keyring.seal(words, PURPOSE, str(row.pk), number)


def _words(step: Step) -> Object:
    drawn = pages.drawn(step) if step.kind is Kind.FORM and step.showable else None
    titles = [field.title[:LONGEST] for field in drawn.fields] if drawn else []
    return {"kind": step.kind, "key": step.key[:LONGEST], "message": step.message[:LONGEST], "titles": titles}


def read(row: Flow) -> list[tuple[int, list[Object]]]:
    """What is kept of an open flow, by round. What no key opens is left out."""
    found: list[tuple[int, list[Object]]] = []
    if not row.server.keep_messages or not keyring.is_set():
        return found
    for number, sealed in KeptMessages.objects.filter(flow=row.pk).values_list("round", "sealed"):
        with contextlib.suppress(keyring.Locked):
            found.append((number, json.loads(keyring.open(bytes(sealed), PURPOSE, str(row.pk), number))))
    return found


def forget(server: Server) -> None:
    """For a server whose words are no longer to be kept."""
    KeptMessages.objects.filter(flow__server=server).delete()
