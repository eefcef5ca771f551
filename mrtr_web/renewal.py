"""Renews people's tokens somewhat before they end, once, however many processes want it at the same moment."""

import asyncio
import time
from collections.abc import Callable

from django.db import DatabaseError

from mrtr_web import authserver, tokens
from mrtr_web.authserver import Trouble
from mrtr_web.threads import threaded

WAIT = 25.0
"""Seconds that others wait for whoever renews a token that no longer serves."""
LOOK_EVERY = 0.1
PAUSES = (0.1, 0.4, 1.5, 5.0)
"""Between tries to keep new tokens, in seconds: all within one claim."""
_exchanges: set[asyncio.Task[bool]] = set()


class Unrenewed(Exception):
    """The token is over, and the authorization server could not be asked for another one just now."""


async def fresh(server: int, user: int, refused: str | None = None) -> None:
    """See to it that the person's token serves, as far as that can be done without the person. Raises Unrenewed.

    `refused` is a token that the server did not take, whatever is known of its end (O02).
    """
    end = time.monotonic() + WAIT
    while time.monotonic() < end:
        found = await threaded(tokens.claim, server, user, refused)
        if isinstance(found, tokens.Claimed):
            return await _exchanged(found, refused)
        if found is None or found.serves:
            return
        await asyncio.sleep(LOOK_EVERY)
    raise Unrenewed


async def _exchanged(claimed: tokens.Claimed, refused: str | None) -> None:
    """To the end, whoever has stopped waiting: a refresh token that was sent may be used up."""
    task = asyncio.create_task(_exchange(claimed))
    _exchanges.add(task)
    task.add_done_callback(_exchanges.discard)
    if not await asyncio.shield(task) and (refused or not tokens.serves(claimed.row)):
        raise Unrenewed


async def _exchange(claimed: tokens.Claimed) -> bool:
    """False where it can be tried again."""
    try:
        new = await authserver.renew(claimed.tokens, claimed.private)
    except Trouble as trouble:
        lost = trouble.code == "refused"
        await threaded(tokens.give_up if lost else tokens.give_back, claimed)
        return lost
    await written(tokens.renewed, claimed, new)
    return True


async def finish() -> None:
    """Wait for the exchanges of this event loop before its process ends: what they bring would be lost."""
    loop = asyncio.get_running_loop()
    if under_way := [task for task in _exchanges if task.get_loop() is loop]:
        await asyncio.wait(under_way, timeout=authserver.SECONDS)


async def written(write: Callable[..., None], *args: object) -> None:
    """For what must not be lost to a database that is away for a moment. Raises DatabaseError when it stays away."""
    for pause in PAUSES:
        try:
            return await threaded(write, *args)
        except DatabaseError:
            await asyncio.sleep(pause)
    await threaded(write, *args)
