"""The stored listings of servers: whom one serves, how long, and when it goes."""

from collections.abc import Collection, Iterable, Mapping
from datetime import datetime, timedelta
from typing import Any

from django.db.models import F, Q, QuerySet
from django.utils import timezone

from mrtr_web import entries
from mrtr_web.models import Listing, Server, Session
from mrtr_web.relay import Listed

METHODS = {
    "tools": "tools/list",
    "prompts": "prompts/list",
    "resources": "resources/list",
    "templates": "resources/templates/list",
}
DISCOVERY = "discovery"
"""The kind of what a server says of itself."""
_CAPABILITY = {"tools": "tools", "prompts": "prompts", "resources": "resources", "templates": "resources"}


def attach(user: int, servers: Collection[Server], kinds: Collection[str] = ()) -> None:
    """Give each server what is known of it for this person: their own listing where it has one, else everybody's.

    `kinds`: of these alone; without, all.
    """
    rows = _rows_for(user, servers).defer("briefs")
    _attach_rows(servers, rows.filter(kind__in=kinds) if kinds else rows)
    for server in servers:
        known = server.listed.get(DISCOVERY)
        server.discovered = known.entries[0] if known else None
        server.listed_at = min((row.listed_at for row in server.listed.values()), default=None)
        server.offers = {kind: row.entries for kind, row in server.listed.items() if kind != DISCOVERY}


def attach_found(server: Server, found: Mapping[str, Listed]) -> None:
    """Give a server what it has just said, whoever it may be stored for."""
    server.discovered = found[DISCOVERY].entries[0]
    server.offers = {kind: each.entries for kind, each in found.items() if kind != DISCOVERY}


def attach_briefs(user: int, servers: Collection[Server]) -> None:
    """Only what a search needs: schemas are most of a listing, and take long to read."""
    _attach_rows(servers, _rows_for(user, servers).defer("entries"))


def _rows_for(user: int, servers: Collection[Server]) -> QuerySet[Listing]:
    rows = Listing.objects.filter(Q(user=None) | Q(user=user), server__in=[server.pk for server in servers])
    return rows.order_by(F("user").asc(nulls_first=True))


def _attach_rows(servers: Collection[Server], rows: Iterable[Listing]) -> None:
    found: dict[int, dict[str, Listing]] = {server.pk: {} for server in servers}
    for row in rows:
        found[row.server_id][row.kind] = row
    for server in servers:
        server.listed = found[server.pk]


def declared(discovered: object) -> list[str]:
    """The kinds that a server with this discovery has listings of."""
    capabilities = discovered.get("capabilities") if isinstance(discovered, dict) else None
    return [kind for kind in METHODS if isinstance(capabilities, dict) and _CAPABILITY[kind] in capabilities]


def is_incomplete(server: Server) -> bool:
    """Whether anything is unknown that a search would look through, stale or not."""
    known = server.listed.get(DISCOVERY)
    return known is None or not server.listed.keys() >= set(known.briefs)


def is_fresh(server: Server, kind: str) -> bool:
    """Whether what is known of this kind still serves (CH-3)."""
    return kind in server.listed and server.listed[kind].fresh_until > timezone.now()


def is_stale(server: Server, kinds: Iterable[str]) -> bool:
    """Whether anything of these kinds should be asked for."""
    wanted = {DISCOVERY} | set(declared(server.discovered)) & set(kinds)
    return not all(is_fresh(server, kind) for kind in wanted)


def keep(server: Server, user: int, kind: str, found: Listed, asked_at: datetime) -> None:
    """Store what was listed, in place of what cannot be true beside it. Whoever calls holds the server's row.

    Something private is kept while its person has a session, and seen by nobody else (CH-2).
    """
    private = found.lifetime.private
    rows = Listing.objects.filter(server=server, kind=kind)
    (rows.filter(Q(user=None) | Q(user=user)) if private else rows).delete()
    if private and not Session.objects.select_for_update().filter(user=user).exists():
        return
    rows.create(
        server=server,
        kind=kind,
        user_id=user if private else None,
        entries=found.entries,
        briefs=_briefs(server, kind, found),
        listed_at=asked_at,
        fresh_until=asked_at + timedelta(seconds=found.lifetime.seconds),
    )


def _briefs(server: Server, kind: str, found: Listed) -> list[Any]:
    """Of what a server says of itself, the kinds that it has listings of."""
    if kind == DISCOVERY:
        return declared(found.entries[0])
    return entries.briefs(entries.read(server, kind, found.entries))


def drop_undeclared(server: Server, user: int, discovery: Listed) -> None:
    """Of a kind that it has no capability for any more, nothing is kept."""
    rows = Listing.objects.filter(server=server).exclude(kind__in=[DISCOVERY, *declared(discovery.entries[0])])
    (rows.filter(Q(user=None) | Q(user=user)) if discovery.lifetime.private else rows).delete()
