"""Registering a server from the command line or from a file: what changes, its credential, and the audit row."""

from dataclasses import dataclass, field
from typing import Any

from django.core.exceptions import ValidationError
from django.db import transaction
from django.utils.translation import gettext as _

from mrtr_web import catalog, credentials, egress, ledger, tokens
from mrtr_web.access import PER_PERSON
from mrtr_web.flow import Act
from mrtr_web.models import Server
from mrtr_web.schema.jsontext import is_whole_text

_ASKED_ANEW = {"url", "private_networks", "capabilities", "credential"}
"""After a change of these the server may offer something else."""


@dataclass(frozen=True, slots=True)
class Credential:
    """One to be given: `ref` names a variable or a file, `text` is the secret itself."""

    kind: str
    source: str
    ref: str = ""
    text: str = field(default="", repr=False)


@dataclass(frozen=True, slots=True)
class Stored:
    is_new: bool
    changed: tuple[str, ...]
    dropped: bool
    """Whether a credential was dropped because it had been given for another origin."""


def store(server: Server, values: dict[str, Any], credential: Credential | None, *, by: int | None = None) -> Stored:
    """Give a server these values and this credential, and save it.

    Raises ValidationError, headerlines.Malformed, keyring.NoKeys: then nothing was written.
    """
    is_new = server.pk is None
    check_text(*(value for value in values.values() if isinstance(value, str)))
    before = {name: None if is_new else getattr(server, name) for name in values}
    for name, value in values.items():
        setattr(server, name, value)
    with transaction.atomic():
        server.full_clean()
        changed = [name for name in values if is_new or getattr(server, name) != before[name]]
        credential = None if credential and _is_held(server, credential) else credential
        changed += ["credential"] if credential else []
        if _ASKED_ANEW & set(changed):
            catalog.forget_listings(server)
        server.save()
        dropped = settle(server, credential, by=by)
        server.save()
        if changed:
            event = Act.SERVER_ADDED if is_new else Act.SERVER_CHANGED
            ledger.note_server(server, event, by=by, note=", ".join(changed))
    return Stored(is_new, tuple(changed), dropped)


def check_text(*texts: str) -> None:
    """Raises ValidationError for characters that no database takes; forms refuse them before."""
    if not all("\0" not in text and is_whole_text(text) for text in texts):
        raise ValidationError(_("It has characters that no text may hold."))


def _is_held(server: Server, credential: Credential) -> bool:
    """Whether the server has this credential already, for where it is now. It stays then, with all that is known of it.

    That each person has their own says nothing of a client that an admin has had registered.
    """
    if credential.kind in PER_PERSON and credential.source == "form" and not credential.text:
        return server.credential_kind == credential.kind
    kind, source, ref = server.credential_kind, server.credential_source, server.credential_ref
    if (kind, source, ref) != (credential.kind, credential.source, credential.ref):
        return False
    if credential.source != "form":
        return server.credential_origin == egress.origin_of(server.url)
    return credentials.typed(server) == credential.text.strip()


def settle(server: Server, credential: Credential | None, *, by: int | None = None) -> bool:
    """Give a row that has its id this credential; None keeps the one of the same origin. Whether one was dropped.

    What people, or this app, were given for another kind or another origin goes.
    """
    if server.credential_origin not in ("", egress.origin_of(server.url)):
        tokens.drop_registrations(server)
    dropped = _give(server, credential)
    tokens.drop_unusable(server, by)
    return dropped


def _give(server: Server, credential: Credential | None) -> bool:
    if credential is None:
        return credentials.drop_if_moved(server)
    if credential.kind == "none":
        credentials.drop(server)
    elif credential.source == "form":
        credentials.give(server, credential.kind, credential.text)
    else:
        credentials.refer(server, credential.kind, credential.source, credential.ref)
    return False
