"""Servers: who may see which, where their legs go, what is declared to them, discovery and listings."""

from dataclasses import replace
from datetime import timedelta
from typing import Any

from asgiref.sync import async_to_sync
from django.conf import settings
from django.contrib.auth import get_user_model
from django.contrib.auth.models import AbstractUser
from django.db import connection
from django.db.models import F, Q, QuerySet
from django.utils import timezone

from mrtr_web import credentials, ledger, operations, relay
from mrtr_web.models import Flow, Listing, Server

LISTINGS = {
    "tools": "tools/list",
    "prompts": "prompts/list",
    "resources": "resources/list",
    "templates": "resources/templates/list",
}
_CAPABILITY = {"tools": "tools", "prompts": "prompts", "resources": "resources", "templates": "resources"}
FRESH_FOR = timedelta(minutes=5)
LISTING_SECONDS = 15.0
"""A person waits for a listing; longer is a fault of the server."""
Object = dict[str, Any]


def visible(user: AbstractUser) -> QuerySet[Server]:
    """The servers that this person may use."""
    servers = Server.objects.filter(enabled=True)
    if user.is_superuser:
        return servers
    return servers.filter(Q(groups=None) | Q(groups__in=user.groups.all())).distinct()


def may_use(user: int, server: int) -> bool:
    """Whether this person may use this server now, whatever was true when a request began."""
    person = get_user_model().objects.filter(pk=user, is_active=True).first()
    return person is not None and visible(person).filter(pk=server).exists()


def barred(user: int, server: int, url: str) -> str | None:
    """Why this person may send nothing to this server at this address now: switched_off or moved. None: they may."""
    if not may_use(user, server):
        return "switched_off"
    return None if Server.objects.filter(pk=server, url=url).exists() else "moved"


def endpoint(server: Server) -> relay.Endpoint:
    """Where legs to this server go, with its credentials."""
    return relay.Endpoint(server.url, credentials.headers(server), tuple(server.private_networks))


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


def attach(user: int, *servers: Server) -> None:
    """Give each server what it lists for this person: their own listing where it has one, else everybody's."""
    found = {server.pk: dict[str, list[Any]]() for server in servers}
    rows = Listing.objects.filter(Q(user=None) | Q(user=user), server__in=found)
    for row in rows.order_by(F("user").asc(nulls_first=True)):
        found[row.server_id][row.kind] = row.entries
    for server in servers:
        server.offers = found[server.pk]


def operation_of(row: Flow) -> operations.Operation | None:
    """The operation that a flow was started from, if the server still lists it for its person."""
    attach(row.user_id, row.server)
    return operations.of_flow(row.server, row.method, row.name)


def newest_schema(row: Flow) -> Object | None:
    """A tool's input schema as it is listed now: headers mirror by it, whatever the flow began with (HT-6, T-37)."""
    operation = operation_of(row) if row.method == "tools/call" else None
    return dict(operation.schema) if operation else None


def forget_listings(server: Server) -> None:
    """For a change after which the server may offer something else. Its row is saved by the caller."""
    server.discovered, server.checked_at, server.trouble = None, None, ""
    Listing.objects.filter(server=server.pk).delete()


def refresh(server: Server, user: int) -> None:
    """Ask the server what it offers this person, and store it. Raises relay.RelayError.

    The database connection is given back meanwhile: a server that hangs must not keep others from theirs.
    """
    target = endpoint(server)
    connection.close()
    try:
        found = async_to_sync(_ask)(target, capabilities(server))
    except relay.Broken as broken:
        ledger.note_findings(server.pk, [broken.rule])
        raise
    server.discovered, server.checked_at = found["discovered"], timezone.now()
    server.save(update_fields=["discovered", "checked_at"])
    for kind, entries in found["offers"].items():
        row = {"entries": entries, "fresh_until": timezone.now() + FRESH_FOR}
        Listing.objects.update_or_create(server=server, kind=kind, user=None, defaults=row)
    attach(user, server)
    seen = {"HT-7": operations.unmirrorable(server), "LIST-SIZE": operations.is_cut(server)}
    ledger.note_findings(server.pk, [rule for rule, broken in seen.items() if broken])


async def _ask(target: relay.Endpoint, declared: Object) -> Object:
    whole = limits()
    bounds = replace(whole, silence=min(whole.silence, LISTING_SECONDS), total=min(whole.total, LISTING_SECONDS))
    discovered = await relay.discover(target, bounds, capabilities=declared)
    offered = discovered.get("capabilities")
    offered = offered if isinstance(offered, dict) else {}
    offers = {
        kind: await relay.listing(target, bounds, method, capabilities=declared)
        for kind, method in LISTINGS.items()
        if _CAPABILITY[kind] in offered
    }
    return {"discovered": discovered, "offers": offers}


def is_stale(server: Server, user: int) -> bool:
    """Whether what is stored for this person should be asked for again."""
    for_them = Listing.objects.filter(Q(user=None) | Q(user=user), server=server)
    return server.checked_at is None or for_them.filter(fresh_until__lte=timezone.now()).exists()
