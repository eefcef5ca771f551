"""Servers: who may see which, where their legs go, what is declared to them, discovery and listings."""

import copy
import logging
from collections.abc import Collection
from datetime import datetime, timedelta
from typing import Any

from asgiref.sync import async_to_sync
from django.conf import settings
from django.contrib.auth import get_user_model
from django.contrib.auth.models import AbstractUser
from django.db import close_old_connections, transaction
from django.db.models import Q, QuerySet
from django.utils import timezone

from mrtr_web import entries, ledger, listings, measures, operations, relay, tokens
from mrtr_web.asking import Answers, Question, ask
from mrtr_web.models import Flow, Listing, Server

log = logging.getLogger(__name__)
PAUSE = timedelta(seconds=30)
"""After trouble a server is asked again no sooner, unless a person says so."""
LISTING_SECONDS = 15.0
"""For all that it is asked at once: a person waits for what a server offers; longer is a fault of the server."""
LOOK_SECONDS = 5.0
"""And so long for servers that they only search."""
ASKED_BY = ("url", "capabilities", "credential_kind", "credential_source", "credential_ref", "credential_sealed")
"""What of a server decides what it answers."""
OF_ALL = frozenset({"refused", "dns", "tls", "blocked", "connect_timeout", "proxy", "proxy_login", "proxy_refused"})
"""Troubles of everybody alike, also where each person has a credential of their own."""
CONNECTS = frozenset({"unauthorized", "forbidden", "credential", "renewal"})
"""Troubles that a person ends by signing in, or by giving a token, where each has their own."""
Object = dict[str, Any]


def visible(user: AbstractUser) -> QuerySet[Server]:
    """The servers that this person may use."""
    servers = Server.objects.filter(enabled=True)
    if user.is_superuser:
        return servers
    return servers.filter(Q(groups=None) | Q(groups__user=user)).distinct()


class Barred(Exception):
    """Nothing may be sent. `why`: switched_off (for this person, or for all) or moved."""

    def __init__(self, why: str) -> None:
        super().__init__(why)
        self.why = why


def may_use(user: int, server: int) -> bool:
    """Whether this person may use this server now, whatever was true when a request began."""
    return _usable(user, server) is not None


def usable(user: int, server: int, url: str) -> Server:
    """The server as it is now. Raises Barred where this person may send nothing to it at this address."""
    found = _usable(user, server)
    if found is None:
        raise Barred("switched_off")
    if found.url != url:
        raise Barred("moved")
    return found


def _usable(user: int, server: int) -> Server | None:
    person = get_user_model().objects.filter(pk=user, is_active=True).only("is_superuser").first()
    return visible(person).filter(pk=server).first() if person is not None else None


def limits(server: Server | None = None) -> relay.Limits:
    """The time and size limits of one leg, from the settings; a server's own times go before them."""
    config = settings.CONFIG
    return relay.Limits(
        connect=config.connect_timeout,
        silence=(server and server.silence_timeout) or config.silence_timeout,
        total=(server and server.total_timeout) or config.total_timeout,
        max_bytes=config.max_response_bytes,
    )


def capabilities(server: Server) -> Object:
    """What is declared to this server on every leg (D7)."""
    all_of_them: Object = {"elicitation": {"form": {}, "url": {}}, "sampling": {}, "roots": {}}
    return {name: value for name, value in all_of_them.items() if name in server.capabilities}


def attach(user: int, *servers: Server, kinds: Collection[str] = ()) -> None:
    """Give each server what it lists for this person: their own listing where it has one, else everybody's.

    `kinds`: of these alone; without, all.
    """
    listings.attach(user, servers, kinds)


def operation_of(row: Flow) -> operations.Operation | None:
    """The operation that a flow was started from, if the server still lists it for its person.

    The row gets a server object of its own: what else is attached to the one it had belongs to whoever gave it.
    """
    row.server = copy.copy(row.server)
    attach(row.user_id, row.server, kinds=operations.kinds_of(row.method, row.name))
    return operations.of_flow(row.server, row.method, row.name)


def newest_schema(row: Flow) -> Object | None:
    """A tool's input schema as it is listed now: headers mirror by it, whatever the flow began with (HT-6, T-37)."""
    operation = operation_of(row) if row.method == "tools/call" else None
    if operation is None or operations.has_twins(row.server, row.method, row.name):
        return None
    return dict(operation.schema)


def may_connect(server: Server, trouble: str) -> bool:
    """Whether this trouble is one that the person can end by connecting."""
    return server.asks_each and trouble in CONNECTS


def forget_own(server: Server, user: int) -> None:
    """What was listed for one person, who is another one to the server from now on."""
    Listing.objects.filter(server=server.pk, user=user).delete()


def forget_listings(server: Server) -> None:
    """For a change after which the server may offer something else. Its row is saved by the caller."""
    server.checked_at, server.trouble = None, ""
    Listing.objects.filter(server=server.pk).delete()


def refresh(server: Server, user: int) -> None:
    """Ask the server anew for all that it offers this person, store it and attach it. Raises relay.RelayError.

    For nobody (0), what is private is attached but not stored.
    """
    server.listed, server.discovered = {}, None
    (answers,) = _ask_all([server], user, listings.METHODS, LISTING_SECONDS)
    if answers.error is not None:
        raise answers.error
    listings.attach_found(server, answers.found)


def renew(server: Server, user: int, kinds: Collection[str] = listings.METHODS) -> str:
    """Ask for what is stale of a server that is attached. Returns the code of its trouble, if it has any."""
    asks = listings.is_stale(server, kinds) and not _rests(server)
    measures.LISTINGS.labels("asked" if asks else "kept").inc()
    if asks:
        _ask_all([server], user, kinds, LISTING_SECONDS)
    return server.trouble


def look(servers: Collection[Server], user: int) -> None:
    """Attach to servers what a search needs. Those that have not told this person everything are asked, all at once."""
    listings.attach_briefs(user, servers)
    unknown = [server for server in servers if listings.is_incomplete(server) and not _rests(server)]
    if unknown:
        attach(user, *unknown)
        _ask_all(unknown, user, listings.METHODS, LOOK_SECONDS)


def trouble_of(error: relay.RelayError) -> str:
    """The code by which pages name a fault of the relay."""
    match error:
        case relay.Unsent() | relay.Lost():
            return error.reason
        case relay.LegacyServer():
            return "legacy"
        case relay.Broken():
            return f"broken:{error.rule}"
    return "refused_listing"


def _rests(server: Server) -> bool:
    asked = server.checked_at if server.trouble else None
    return asked is not None and timezone.now() - asked < PAUSE


def _ask_all(servers: list[Server], user: int, kinds: Collection[str], seconds: float) -> list[Answers]:
    """Ask servers for what is stale of these kinds, store it, and attach it. Returns what each has answered.

    The database connection is given back meanwhile: a server that hangs must not keep others from theirs.
    """
    asked_at = timezone.now()
    questions = [Question(server, user, limits(), capabilities(server), kinds) for server in servers]
    close_old_connections()
    found = async_to_sync(ask)(questions, seconds)
    for server, each in zip(servers, found, strict=True):
        _store(server, user, each, asked_at)
    attach(user, *servers)
    for server, each in zip(servers, found, strict=True):
        broken = [each.error.rule] if isinstance(each.error, relay.Broken) else []
        ledger.note_findings(server.pk, {*broken, *entries.broken_rules(server, each.found.keys() & server.offers)})
    return found


def _store(server: Server, user: int, answers: Answers, asked_at: datetime) -> None:
    """Keep what came, unless the server is asked in another way since: then it is another's."""
    server.checked_at = timezone.now()
    server.trouble = trouble_of(answers.error) if answers.error else ""
    asked = {name: getattr(server, name) for name in ASKED_BY}
    if server.asks_each and not answers.error:
        tokens.note_let_in(server, user)
    with transaction.atomic():
        rows = Server.objects.select_for_update().filter(pk=server.pk, **asked)
        before = rows.values_list("trouble", flat=True).first()
        if before is None:
            return
        # Of one person, others are not told.
        common = server.trouble if not server.asks_each or server.trouble in OF_ALL else ""
        rows.update(checked_at=server.checked_at, trouble=common)
        if common not in ("", before):
            log.warning("server %s has trouble: %s", server.slug, common)
        for kind, found in answers.found.items():
            listings.keep(server, user, kind, found, asked_at)
        if discovery := answers.found.get(listings.DISCOVERY):
            listings.drop_undeclared(server, user, discovery)
