"""The rows that are sealed under the key ring."""

from collections.abc import Iterator

from django.db.models import Model

from mrtr_web import tokens
from mrtr_web.models import Connection, KeptMessages, Registration, Server

Sealed = tuple[Model, str, tuple[str | int, ...], str]
"""A row, its sealed column, what that is bound to, and what to call it."""


def all_of_them() -> Iterator[Sealed]:
    """All that is kept for longer than minutes: who is signing in meanwhile may have to begin again."""
    for server in Server.objects.exclude(credential_sealed=None):
        place: tuple[str | int, ...] = ("credential", server.pk, server.credential_origin)
        yield server, "credential_sealed", place, f"{server.slug}: its credential"
    for row in Connection.objects.select_related("server", "user").iterator():
        yield row, "sealed", tokens.binding(row), f"{row.server.slug}: the token of {row.user.get_username()}"
    for client in Registration.objects.select_related("server").iterator():
        place = tokens.registration_binding(client.server_id, client.issuer_digest)
        yield client, "sealed", place, f"{client.server.slug}: a registration of this app"
    for kept in KeptMessages.objects.select_related("flow__server").iterator():
        what = f"{kept.flow.server.slug}: messages of request {kept.flow.reference}"
        yield kept, "sealed", ("messages", str(kept.flow_id), kept.round), what
