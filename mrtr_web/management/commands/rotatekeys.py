"""Seal everything of the key ring under its first key."""

from typing import Any

from django.core.management.base import BaseCommand, CommandError

from mrtr_web import keyring
from mrtr_web.models import KeptMessages, Server


class Command(BaseCommand):
    help = "Seals credentials and kept messages under the first key of MRTR_CREDENTIAL_KEYS; former keys may go then."

    def handle(self, *args: Any, **options: Any) -> None:
        if not keyring.is_set():
            raise CommandError("MRTR_CREDENTIAL_KEYS is empty")
        resealed, locked = 0, list[str]()
        for server in Server.objects.exclude(credential_sealed=None):
            place = ("credential", server.pk, server.credential_origin)
            resealed += _reseal(server, "credential_sealed", place, f"{server.slug}: its credential", locked)
        for kept in KeptMessages.objects.select_related("flow__server").iterator():
            binding = ("messages", str(kept.flow_id), kept.round)
            what = f"{kept.flow.server.slug}: messages of request {kept.flow.reference}"
            resealed += _reseal(kept, "sealed", binding, what, locked)
        self.stdout.write(f"{resealed} sealed under the first key")
        if locked:
            raise CommandError("no key opens these:\n" + "\n".join(f"  {line}" for line in locked))


def _reseal(
    row: Server | KeptMessages, column: str, binding: tuple[str | int, ...], what: str, locked: list[str]
) -> bool:
    """Whether it was sealed anew. What changed meanwhile is under the first key already."""
    old = getattr(row, column)
    try:
        new = keyring.reseal(bytes(old), *binding)
    except keyring.Locked:
        locked.append(what)
        return False
    if new is None:
        return False
    return bool(type(row)._default_manager.filter(pk=row.pk, **{column: old}).update(**{column: new}))
