"""What a person has used last."""

from collections.abc import Collection
from dataclasses import dataclass

from django.db.models import Max

from mrtr_web import catalog, listings, operations
from mrtr_web.models import Flow, Server

MOST = 8


@dataclass(frozen=True, slots=True)
class Recent:
    """An operation that was used; it may be gone since. Of a resource that was not listed no address is known."""

    server: Server
    title: str
    address: str
    gone: bool


def recents(user: int, servers: Collection[Server]) -> list[Recent]:
    """The latest ones on these servers, each once, the last one first."""
    by_id = {server.pk: server for server in servers}
    flows = Flow.objects.filter(user=user, server__in=by_id).values_list("server", "method", "name", "label")
    latest = list(flows.annotate(last=Max("started_at")).order_by("-last")[:MOST])
    catalog.attach(user, *{by_id[server]: None for server, *_ in latest})
    return [_recent(by_id[server], *operation) for server, *operation, _ in latest]


def _recent(server: Server, method: str, name: str, label: str) -> Recent:
    operation = operations.of_flow(server, method, name) if name else None
    title = operation.title if operation else name or label
    return Recent(server, title, operations.address(server, method, name, label), _is_gone(server, method, name, label))


def _is_gone(server: Server, method: str, name: str, label: str) -> bool:
    kind = operations.KINDS[method] if name else "resources"
    if not (name or label) or not _is_known(server, kind):
        return False
    return operations.find(server, kind, name) is None if name else not operations.is_listed(server, label)


def _is_known(server: Server, kind: str) -> bool:
    """Where nothing is known of a listing, nothing is said of what it lacks."""
    return kind in server.offers or (server.discovered is not None and kind not in listings.declared(server.discovered))
