"""Where a person's requests to a server go, and with what they are let in: read anew each time, tokens renewed before.

A request that was refused although its token should serve is repeated once, with another token (O02).
"""

import contextlib
from collections.abc import Awaitable, Callable
from typing import TypeVar

from django.db import DatabaseError

from mrtr_web import credentials, relay, renewal, tokens
from mrtr_web.models import Server
from mrtr_web.relay import Endpoint, Unsent
from mrtr_web.threads import threaded

T = TypeVar("T")
LOOK = relay.Limits(connect=5, silence=10, total=10, max_bytes=1024 * 1024)
"""Of one look at what a server says of itself, for which a person waits."""


def endpoint(server: Server, user: int) -> Endpoint:
    """Where this person's legs to the server go, with its credential or theirs."""
    return Endpoint(server.url, credentials.headers(server, user), tuple(server.private_networks))


async def takes(server: Server, token: str) -> bool | None:
    """Whether the server lets in who shows this bearer token. None where it could not be asked."""
    shown = Endpoint(server.url, {"Authorization": f"Bearer {token}"}, tuple(server.private_networks))
    try:
        await relay.discover(shown, LOOK)
    except Unsent as refusal:
        return False if refusal.reason == "unauthorized" else None
    except relay.RelayError:
        return None
    return True


async def prepare(server: int, user: int, refused: str | None = None) -> None:
    """Have the person's token renewed where need be. Raises relay.Unsent where that fails for now."""
    try:
        await renewal.fresh(server, user, refused)
    except renewal.Unrenewed:
        raise Unsent("renewal") from None


async def admitted(server: Server, user: int, attempt: Callable[[Endpoint], Awaitable[T]]) -> T:
    """What an attempt brings with the person's credential. Raises what it raises, and relay.Unsent."""
    if server.credential_kind == "oauth":
        await prepare(server.pk, user)
    return await attempted(server, user, await threaded(endpoint, server, user), attempt)


async def attempted(
    server: Server,
    user: int,
    first: Endpoint,
    attempt: Callable[[Endpoint], Awaitable[T]],
    look: Callable[[Server, int], Endpoint] = endpoint,
) -> T:
    """An attempt, and another one where the token was refused and there is another one now.

    `look` says where that goes, if it still may; it may raise relay.Unsent.
    """
    try:
        return await attempt(first)
    except Unsent as refusal:
        token = (first.headers or {}).get("Authorization", "").removeprefix("Bearer ")
        if server.credential_kind != "oauth" or refusal.reason != "unauthorized" or not token:
            raise
        try:
            await prepare(server.pk, user, token)
            second = await threaded(look, server, user)
        except DatabaseError:  # what is known is that the server did not act
            raise refusal from None
        if not second.headers or second.headers == first.headers:
            raise
    found = await attempt(second)
    with contextlib.suppress(DatabaseError):  # what was found is worth more than the note
        await threaded(tokens.note_let_in, server, user)
    return found
