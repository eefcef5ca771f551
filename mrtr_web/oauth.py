"""Signing in at an MCP server's authorization server, in two halves: start() and finish(), in any two processes.

Between them stands a SignIn row: found by the digest of `state`, bound to person, session and server, used once, and
over after ten minutes. What has to be known again is sealed in it under the key ring. `state` itself is kept nowhere:
it is made of the id of the sign-in and the key that the browser holds.
"""

import asyncio
import base64
import hashlib
import time
import uuid
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta

from asgiref.sync import async_to_sync
from django.conf import settings
from django.db import close_old_connections, transaction
from django.db.models import QuerySet
from django.utils import timezone
from django.utils.crypto import salted_hmac
from mcp.client.auth.oauth2 import PKCEParameters
from mcp.client.auth.utils import should_use_client_metadata_url, union_scopes
from pydantic import ValidationError

from mrtr_web import admission, authserver, catalog, credentials, keyring, ledger, links, relay, renewal, tokens
from mrtr_web.access import Challenge, Client, Leaving, Tokens
from mrtr_web.authserver import Found, Trouble
from mrtr_web.flow import Act
from mrtr_web.models import Connection, Registration, Server, Session, SignIn
from mrtr_web.sessions import Visitor

LASTS = timedelta(minutes=10)
MOST = 10
"""Sign-ins under way in one session; with another one the oldest ends."""
MOST_RIGHTS = 20
"""Of what is asked for, so many are shown."""


Dropped = tuple[Connection, Tokens | None]
"""A connection that is gone, and its tokens if there were any."""


class Refused(Exception):
    """An answer of an authorization server that is not taken. `code`: one of ours.

    unknown: no sign-in of this person in this session is waiting for it. late, changed, wrong_issuer, denied, failed.
    """

    def __init__(self, code: str, server: Server | None = None, leaving: Leaving | None = None) -> None:
        super().__init__(code)
        self.code, self.server = code, server
        self.flow, self.page = (leaving.flow, leaving.page) if leaving else ("", "")


@dataclass(frozen=True, slots=True, repr=False)
class Way:
    """Where a person goes to sign in. `host` is shown to them, and codes of what they should look at in it."""

    url: str
    host: str
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Departure:
    """A sign-in under way. `rights` is what is asked for there, in the words of the two servers; it is hostile text."""

    server: Server
    way: Way
    until: datetime
    rights: tuple[str, ...]
    flow: str
    page: str


@dataclass(frozen=True, slots=True)
class Back:
    """A person who is back, and the leg or the page that they left for, if any."""

    server: Server
    flow: str
    leg: str
    page: str


def start(
    visitor: Visitor,
    server: Server,
    *,
    callback: str,
    own_hosts: Collection[str],
    challenge: Challenge | None = None,
    flow: str = "",
    leg: str = "",
    page: str = "",
) -> uuid.UUID:
    """The first half: everything up to the link that the person follows. Returns the id by which departure() knows it.

    Not inside a transaction. `callback` is the address of ours that they come back to. Raises Trouble, keyring.NoKeys,
    ledger.SessionOver.
    """
    private = tuple(server.private_networks)
    own = credentials.headers(server, visitor.user)
    close_old_connections()  # servers that hang must not keep others from theirs
    asked = challenge or async_to_sync(_challenge)(server, own)
    found = async_to_sync(authserver.find)(server.url, asked, private)
    client = _client(server, found, callback)
    leaving = Leaving(
        issuer=found.issuer,
        says_issuer=found.metadata.authorization_response_iss_parameter_supported is True,
        verifier=PKCEParameters.generate().code_verifier,
        redirect=callback,
        resource=found.resource,
        scope=_scope(server, visitor.user, found, asked),
        authorization_endpoint=str(found.metadata.authorization_endpoint),
        token_endpoint=str(found.metadata.token_endpoint),
        revocation_endpoint=str(found.metadata.revocation_endpoint or ""),
        client=client,
        url=server.url,
        flow=flow,
        leg=leg,
        page=page,
    )
    new = uuid.uuid4()
    state = _state(visitor, new)
    way(authserver.address(leaving, state), own_hosts)
    _remember(visitor, server, state, leaving)
    return new


def departure(visitor: Visitor, ident: uuid.UUID, own_hosts: Collection[str]) -> Departure | None:
    """A sign-in of this person in this session that was begun and waits for its answer. None where there is none."""
    state = _state(visitor, ident)
    row = _rows(visitor, state).filter(expires_at__gt=timezone.now()).first()
    try:
        leaving = _opened(row, visitor) if row else None
        if row is None or leaving is None:
            return None
        leads_to = way(authserver.address(leaving, state), own_hosts)
    except (Trouble, keyring.NoKeys):
        return None
    rights = tuple((leaving.scope or "").split()[:MOST_RIGHTS])
    return Departure(row.server, leads_to, row.expires_at, rights, leaving.flow, leaving.page)


def finish(visitor: Visitor, params: Mapping[str, str]) -> Back:
    """The second half, when the person is back: the tokens are kept. Raises Refused, Trouble, keyring.NoKeys."""
    server, leaving = _taken(visitor, params.get("state", ""))
    try:
        _finish(visitor, server, leaving, params)
    except Refused as refused:
        denied = refused.code == "denied"
        ledger.note_connection(server, visitor.user, Act.SIGN_IN_DENIED if denied else Act.SIGN_IN_FAILED)
        raise
    return Back(server, leaving.flow, leaving.leg, leaving.page)


def _finish(visitor: Visitor, server: Server, leaving: Leaving, params: Mapping[str, str]) -> None:
    same = server.url == leaving.url and server.credential_kind == "oauth"
    if not same or not catalog.may_use(visitor.user, server.pk):
        raise Refused("changed", server, leaving)
    named = params.get("iss")
    if named != leaving.issuer if named is not None else leaving.says_issuer:
        raise Refused("wrong_issuer", server, leaving)  # and whatever else it says is not to be believed (AZ-8)
    if error := params.get("error"):
        _forget_registration(server, leaving, error)
        raise Refused("denied" if error == "access_denied" else "failed", server, leaving)
    try:
        found = _exchanged(server, leaving, params.get("code", ""))
        async_to_sync(renewal.written)(tokens.keep, server, visitor.user, found)  # the code is used up
    except tokens.Changed:
        raise Refused("changed", server, leaving) from None


def forget(rows: Collection[Connection], by: int | None = None) -> list[Dropped]:
    """Forget people's tokens, who do so themselves unless it says by whom. What can be revoked of each."""
    held = [(row, tokens.tokens_of(row)) for row in rows]
    return [(row, given if tokens.drop(row, by) else None) for row, given in held]


def revoke(dropped: Collection[Dropped]) -> list[bool | None]:
    """Have forgotten tokens revoked, all at once. Of each, whether that was done; None where it cannot be.

    Not inside a transaction.
    """
    close_old_connections()
    return async_to_sync(_revoked)(dropped)


async def _revoked(dropped: Collection[Dropped]) -> list[bool | None]:
    return list(await asyncio.gather(*(_revoke(row, held) for row, held in dropped)))


async def _revoke(row: Connection, held: Tokens | None) -> bool | None:
    if held is None or not held.revocation_endpoint:
        return None
    return await authserver.revoke(held, tuple(row.server.private_networks))


def _exchanged(server: Server, leaving: Leaving, code: str) -> Tokens:
    """The tokens for a code. Raises Refused."""
    if not code:
        raise Refused("failed", server, leaving)
    close_old_connections()
    try:
        return async_to_sync(authserver.exchange)(leaving, code, tuple(server.private_networks))
    except Trouble as trouble:
        _forget_registration(server, leaving, trouble.error)
        raise Refused(trouble.code, server, leaving) from None


def _forget_registration(server: Server, leaving: Leaving, error: str) -> None:
    """Where the authorization server does not know us any more: the next time we are registered anew."""
    if error in authserver.UNKNOWN_CLIENT:
        Registration.objects.filter(server=server, issuer_digest=_digest(leaving.issuer)).delete()


async def _challenge(server: Server, own: Mapping[str, str] | None) -> Challenge:
    """What the server asks of the person as they are: more than they have, or else what it asks of anybody.

    Nothing in particular where it lets everybody in.
    """
    for headers in (own, {}) if own else ({},):
        try:
            await relay.discover(relay.Endpoint(server.url, headers, tuple(server.private_networks)), admission.LOOK)
        except relay.Unsent as refused:
            if refused.challenge is None:
                raise Trouble("unreachable") from None
            return refused.challenge
        except relay.RelayError:
            pass  # the well-known places are left
    return Challenge()


def _scope(server: Server, user: int, found: Found, asked: Challenge) -> str | None:
    """Where more is wanted than there is, what there is stays (AZ-11)."""
    row = tokens.of(server, user) if asked.wants_more else None
    held = tokens.tokens_of(row) if row else None
    before = held.scope if held and held.issuer == found.issuer else None
    return union_scopes(before, found.scope(asked))


def _client(server: Server, found: Found, callback: str) -> Client:
    """What we are there: as an admin has it, or our metadata document, or registered by ourselves (AZ-3, AZ-6)."""
    document = settings.CONFIG.client_metadata_url
    if given := _given(server, found):
        return given
    if should_use_client_metadata_url(found.metadata, document or None):
        return Client(client_id=document)
    digest = _digest(found.issuer)
    stored = Registration.objects.filter(server=server, issuer_digest=digest).first()
    known = _registered(stored) if stored else None
    if known is not None and callback in known.redirects and not 0 < known.until < time.time():
        return known
    close_old_connections()
    new = async_to_sync(authserver.register)(found, [callback], tuple(server.private_networks))
    sealed = keyring.seal(new.model_dump_json(), *tokens.registration_binding(server.pk, digest))
    Registration.objects.update_or_create(server=server, issuer_digest=digest, defaults={"sealed": sealed})
    return new


def _given(server: Server, found: Found) -> Client | None:
    """The client that an admin has had registered: for one authorization server, the first met if none is named."""
    try:
        given = credentials.client(server)
    except credentials.Unavailable:
        raise Trouble("unregistered") from None
    if given is None:
        return None
    digest = _digest(given.issuer or found.issuer)
    if not given.issuer:
        Server.objects.filter(pk=server.pk, client_issuer="").update(client_issuer=digest)
        digest = Server.objects.values_list("client_issuer", flat=True).get(pk=server.pk)
    if digest != _digest(found.issuer):
        return None
    return Client(
        client_id=given.client_id, secret=given.secret, method=authserver.method_for(found, bool(given.secret))
    )


def _registered(row: Registration) -> Client | None:
    try:
        opened = keyring.open(bytes(row.sealed), *tokens.registration_binding(row.server_id, row.issuer_digest))
        return Client.model_validate_json(opened)
    except (keyring.Locked, ValidationError):
        return None


def way(url: str, own_hosts: Collection[str] = ()) -> Way:
    """The link, if it is one that may be offered (UR-7): never to this app's own host, for cookies ignore ports.

    Raises Trouble.
    """
    link = links.judge(url, own_hosts)
    if link.refused:
        raise Trouble("insecure" if link.refused == "insecure" else "odd")
    return Way(link.url, link.host, link.warnings)


def _remember(visitor: Visitor, server: Server, state: str, leaving: Leaving) -> None:
    SignIn.objects.filter(expires_at__lt=timezone.now()).delete()
    others = SignIn.objects.filter(session=visitor.session).order_by("-expires_at")
    SignIn.objects.filter(pk__in=list(others.values_list("pk", flat=True)[MOST - 1 :])).delete()
    digest = _digest(state)
    sealed = keyring.seal(leaving.model_dump_json(), *_binding(digest, visitor, server.pk))
    row = SignIn(state_digest=digest, session_id=visitor.session, user_id=visitor.user, server=server, sealed=sealed)
    row.expires_at = timezone.now() + LASTS
    with transaction.atomic():
        if Session.objects.select_for_update().filter(pk=visitor.session).first() is None:
            raise ledger.SessionOver
        row.save(force_insert=True)


def _taken(visitor: Visitor, state: str) -> tuple[Server, Leaving]:
    """The sign-in that this answer is for, which is over with that. Raises Refused."""
    rows = _rows(visitor, state)
    row = rows.first()
    if row is None or not rows.delete()[0]:
        raise Refused("unknown")
    leaving = _opened(row, visitor)
    if leaving is None:
        raise Refused("unknown")
    if row.expires_at < timezone.now():
        raise Refused("late", row.server, leaving)
    return row.server, leaving


def _rows(visitor: Visitor, state: str) -> QuerySet[SignIn]:
    """The sign-in with this state, if it is this person's in this session."""
    rows = SignIn.objects.filter(state_digest=_digest(state), session=visitor.session, user=visitor.user)
    return rows.select_related("server")


def _opened(row: SignIn, visitor: Visitor) -> Leaving | None:
    """What is sealed in it; None where no key opens that. Raises keyring.NoKeys."""
    try:
        opened = keyring.open(bytes(row.sealed), *_binding(row.state_digest, visitor, row.server_id))
        return Leaving.model_validate_json(opened)
    except (keyring.Locked, ValidationError):
        return None


def _state(visitor: Visitor, ident: uuid.UUID) -> str:
    """The `state` of a sign-in: nobody can tell it from the id, or from what is stored, without the browser's key."""
    made = salted_hmac("mrtr_web.state", ident.bytes, secret=visitor.secret, algorithm="sha256")
    return base64.urlsafe_b64encode(made.digest()).decode().rstrip("=")


def _binding(digest: str, visitor: Visitor, server: int) -> tuple[str | int, ...]:
    return "sign-in", digest, visitor.session, visitor.user, server


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode(errors="replace")).hexdigest()
