"""People's own tokens: kept sealed, bound to person, server, kind and address, and sent nowhere else.

Whoever wants to renew one claims its row first, so that no two processes use up one refresh token (claim()).
"""

import random
import uuid
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from django.db import transaction
from django.db.models import Q, QuerySet
from django.db.models.functions import Now
from django.utils import timezone
from pydantic import ValidationError

from mrtr_web import headerlines, keyring, ledger
from mrtr_web.access import MOST_SIGN_INS, Tokens
from mrtr_web.flow import Act
from mrtr_web.models import Connection, Registration, Server

CLAIM = timedelta(seconds=30)
"""How long a claim lasts whose process is gone: longer than the exchange may take."""
FREE = Q(claimed_until=None) | Q(claimed_until__lt=Now())
"""Of a token that nobody is renewing."""
EARLY = (0.1, 0.3)
"""The share of its life that is left when a token is renewed: by chance, so that not all people's are at once."""
MOST_FORCED = 2
"""After so many renewals that did not help, a refusal brings about no other."""
LONG = 1_000.0
"""Seconds of a life; what lives longer is treated alike."""
NOBODY = 0
"""By whom this app itself does something."""


@dataclass(frozen=True, slots=True)
class Claimed:
    """A token that is this process's to renew: `seen` is its sealed form."""

    row: Connection
    tokens: Tokens
    seen: bytes
    claim: uuid.UUID
    private: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Busy:
    """Somebody else is renewing it. `serves`: it can be used until that is done."""

    serves: bool


class Changed(Exception):
    """The server is not any more what the token was for."""


def of(server: Server, user: int) -> Connection | None:
    """This person's connection to the server as it is now."""
    return Connection.objects.filter(user=user, server=server.pk, kind=server.credential_kind, url=server.url).first()


def connected(servers: list[Server], user: int) -> dict[int, Connection]:
    """A person's connections to these servers, by the server's id."""
    found = {row.server_id: row for row in Connection.objects.filter(user=user, server__in=servers)}
    return {
        server.pk: row
        for server in servers
        if (row := found.get(server.pk)) and (row.kind, row.url) == (server.credential_kind, server.url)
    }


def access(server: Server, user: int) -> str:
    """The token that this person's requests carry; "" where there is none that serves."""
    row = of(server, user)
    if row is None or not serves(row):
        return ""
    text = _opened(row)
    if row.kind == "each":
        return text
    tokens = _read(text)
    return tokens.access if tokens else ""


def tokens_of(row: Connection) -> Tokens | None:
    """What a sign-in brought; None for a pasted token, and for what no key opens."""
    return _read(_opened(row)) if row.kind == "oauth" else None


def check(text: str) -> None:
    """Whether this can be sent as a token. Raises headerlines.Malformed."""
    headerlines.read("bearer", text)


def paste(server: Server, user: int, text: str) -> None:
    """Keep a token that a person pasted. Raises headerlines.Malformed, keyring.NoKeys, Changed."""
    check(text)
    _keep(server, user, text.strip(), None)


def keep(server: Server, user: int, tokens: Tokens) -> None:
    """Keep what a sign-in brought. Raises keyring.NoKeys, Changed."""
    _keep(server, user, tokens.model_dump_json(), tokens)


def may_sign_in(row: Connection | None) -> bool:
    """Whether signing in once more is worth offering: not where it has been of no use several times (AZ-11)."""
    return row is None or row.sign_ins < MOST_SIGN_INS


def note_let_in(server: Server, user: int) -> None:
    """The server has answered this person: their sign-in, or the renewal of their token, was of use."""
    counted = Q(sign_ins__gt=0) | Q(forced__gt=0)
    Connection.objects.filter(counted, user=user, server=server.pk).update(sign_ins=0, forced=0)


def drop(row: Connection, by: int | None = None) -> bool:
    """Disconnect a person, who does so unless it says by whom. False where it was done already."""
    with transaction.atomic():
        deleted, _ = Connection.objects.filter(pk=row.pk).delete()
        if deleted:
            ledger.note_connection(row.server, row.user_id, Act.DISCONNECTED, by=by)
    return bool(deleted)


def drop_unusable(server: Server, by: int | None = None) -> None:
    """What people and this app were given for another address, or another kind, than the server has now.

    `by`: who has changed that; None for the command line.
    """
    here = {"kind": server.credential_kind, "url": server.url}
    with transaction.atomic():
        others = Connection.objects.select_for_update(of=("self",)).filter(server=server.pk).exclude(**here)
        for row in others.order_by("pk"):
            row.delete()
            ledger.note_connection(server, row.user_id, Act.CONNECTION_LOST, by=by or NOBODY)
    if server.credential_kind != "oauth":
        drop_registrations(server)


def drop_registrations(server: Server) -> None:
    """This app registers itself anew, where it is asked to."""
    Registration.objects.filter(server=server.pk).delete()


def claim(server: int, user: int, refused: str | None) -> Claimed | Busy | None:
    """Claim a token that is to be renewed: soon over, or `refused` by the server. None: there is nothing to be done."""
    found = Server.objects.filter(pk=server, credential_kind="oauth").first()
    row = of(found, user) if found else None
    tokens = tokens_of(row) if row else None
    if found is None or row is None or tokens is None or not tokens.refresh:
        return None
    if tokens.access != refused if refused else row.renew_at is None or row.renew_at > timezone.now():
        return None
    if refused and row.forced >= MOST_FORCED:
        return None
    this = uuid.uuid4()
    mine = Connection.objects.filter(FREE, pk=row.pk, sealed=row.sealed)
    if not mine.update(claimed_until=Now() + CLAIM, claimed_by=this, forced=row.forced + bool(refused)):
        return Busy(serves=not refused and serves(row))
    return Claimed(row, tokens, bytes(row.sealed), this, tuple(found.private_networks))


def renewed(claimed: Claimed, tokens: Tokens) -> None:
    """Keep the new tokens in place of the claimed ones, unless the person has disconnected or signed in anew.

    Also where the claim is over: whoever has it now holds a refresh token that was used up.
    """
    row = claimed.row
    sealed = keyring.seal(tokens.model_dump_json(), *binding(row))
    times = _times(tokens)
    Connection.objects.filter(pk=row.pk, sealed=claimed.seen).update(sealed=sealed, claimed_until=None, **times)


def give_back(claimed: Claimed) -> None:
    """It could not be renewed just now: others may try."""
    _held(claimed).update(claimed_until=None)


def give_up(claimed: Claimed) -> None:
    """It cannot be renewed any more: the person has to sign in again."""
    with transaction.atomic():
        if _held(claimed).delete()[0]:
            ledger.note_connection(claimed.row.server, claimed.row.user_id, Act.CONNECTION_LOST, by=NOBODY)


def _held(claimed: Claimed) -> QuerySet[Connection]:
    """The row, as long as the claim holds."""
    return Connection.objects.filter(pk=claimed.row.pk, sealed=claimed.seen, claimed_by=claimed.claim)


def _keep(server: Server, user: int, text: str, tokens: Tokens | None) -> None:
    row = Connection(user_id=user, server=server, kind=server.credential_kind, url=server.url)
    values: dict[str, Any] = {
        "kind": row.kind,
        "url": row.url,
        "sealed": keyring.seal(text, *binding(row)),
        "connected_at": timezone.now(),
        "claimed_until": None,
        "forced": 0,
        **_times(tokens),
    }
    with transaction.atomic():
        held = Server.objects.select_for_update().filter(pk=server.pk, url=server.url, credential_kind=row.kind)
        if held.values_list("pk", flat=True).first() is None:
            raise Changed
        before = Connection.objects.filter(user=user, server=server).values_list("sign_ins", flat=True).first() or 0
        values["sign_ins"] = before + 1 if tokens else 0
        Connection.objects.update_or_create(user_id=user, server=server, defaults=values)
        ledger.note_connection(server, user, Act.CONNECTED if tokens else Act.TOKEN_GIVEN)


def _times(tokens: Tokens | None) -> dict[str, datetime | None]:
    """When a token ends, and when it is to be renewed."""
    if tokens is None or tokens.lifetime is None:
        return {"ends_at": None, "renew_at": None}
    now, lifetime = timezone.now(), float(tokens.lifetime)
    early = min(lifetime, LONG) * random.uniform(*EARLY)  # spreads renewals, hides nothing  # nosec B311
    renew_at = now + timedelta(seconds=lifetime - early) if tokens.refresh else None
    return {"ends_at": now + timedelta(seconds=lifetime), "renew_at": renew_at}


def serves(row: Connection) -> bool:
    """Whether its token has not ended, as far as is known."""
    return row.ends_at is None or row.ends_at > timezone.now()


def binding(row: Connection) -> tuple[str | int, ...]:
    """What its sealed form is bound to."""
    return "connection", row.user_id, row.server_id, row.kind, row.url


def registration_binding(server: int, issuer_digest: str) -> tuple[str | int, ...]:
    """What the sealed form of a client that was registered for a server is bound to."""
    return "registration", server, issuer_digest


def _opened(row: Connection) -> str:
    """Its sealed text; "" where no key opens it: the person then connects again."""
    try:
        return keyring.open(bytes(row.sealed), *binding(row)).decode()
    except (keyring.Locked, keyring.NoKeys):
        return ""


def _read(text: str) -> Tokens | None:
    try:
        return Tokens.model_validate_json(text)
    except ValidationError:
        return None
