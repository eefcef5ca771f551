"""Seal everything of the key ring under its first key."""

from typing import Any

from django.core.management.base import BaseCommand, CommandError
from django.db.models import Model

from mrtr_web import keyring, sealedrows, tokens
from mrtr_web.models import Connection


class Command(BaseCommand):
    help = (
        "Seals credentials, people's tokens and kept messages under the first key of MRTR_CREDENTIAL_KEYS; former "
        "keys may go then."
    )

    def handle(self, *args: Any, **options: Any) -> None:
        if not keyring.is_set():
            raise CommandError("MRTR_CREDENTIAL_KEYS is empty")
        resealed, locked, busy = 0, list[str](), list[str]()
        for row, column, binding, what in sealedrows.all_of_them():
            try:
                done = _reseal(row, column, binding)
            except keyring.Locked:
                locked.append(what)
                continue
            resealed += done is True
            busy += [what] if done is False else []
        self.stdout.write(f"{resealed} sealed under the first key")
        problems = [f"no key opens these:\n{_lines(locked)}"] if locked else []
        if busy:
            problems.append(f"these are just being renewed, so run this once more:\n{_lines(busy)}")
        if problems:
            raise CommandError("\n".join(problems))


def _reseal(row: Model, column: str, binding: tuple[str | int, ...]) -> bool | None:
    """True: it was sealed anew; False: it could not be just now; None: there was nothing to do.

    What changed meanwhile is under the first key already. Raises keyring.Locked.
    """
    old = getattr(row, column)
    new = keyring.reseal(bytes(old), *binding)
    if new is None:
        return None
    same = type(row)._default_manager.filter(pk=row.pk, **{column: old})
    if isinstance(row, Connection):  # who renews it would find it changed, and lose what the renewal brings
        return bool(same.filter(tokens.FREE).update(**{column: new})) or (False if same.exists() else None)
    return bool(same.update(**{column: new})) or None


def _lines(texts: list[str]) -> str:
    return "\n".join(f"  {text}" for text in texts)
