"""Registers the servers of a file that another MCP host keeps (mcpjson), one by one, and says what became of each."""

import os
import re
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from typing import Any

from django.contrib.auth.models import Group
from django.core.exceptions import ValidationError
from django.db import transaction
from django.utils.text import slugify
from django.utils.translation import gettext as _

from mrtr_web import credentials, egress, headerlines, keyring, ledger, mcpjson, registry
from mrtr_web.models import PRIVATE_NETWORKS, Server
from mrtr_web.schema.text import clean_text, one_line


@dataclass(frozen=True, slots=True)
class Options:
    groups: tuple[str, ...] | None = None
    allow_private: bool = False
    dry_run: bool = False
    by: int | None = None


@dataclass(frozen=True, slots=True)
class Row:
    """What became of an entry: registered, changed, unchanged, not_supported or skipped; and what is to be said."""

    name: str
    outcome: str
    slug: str = ""
    notes: tuple[str, ...] = ()

    @property
    def word(self) -> str:
        words = {
            "registered": _("registered"),
            "changed": _("changed"),
            "unchanged": _("as it was"),
            "not_supported": _("not supported"),
        }
        return words.get(self.outcome, _("skipped"))


def run(text: str, options: Options) -> list[Row]:
    """Import the servers of a file. Raises mcpjson.Unreadable."""
    found = mcpjson.read(text)
    with transaction.atomic():
        taken: set[str] = set()
        rows = [_row(name, value, options, taken) for name, value in found.items()]
        transaction.set_rollback(options.dry_run)
    return rows


def _row(name: str, value: Any, options: Options, taken: set[str]) -> Row:
    shown = one_line(clean_text(name, 100))
    try:
        entry = mcpjson.entry(shown, value, _variable)
        server = _server(entry, taken)
        taken.add(server.slug)
        with transaction.atomic():
            return _stored(server, entry, options)
    except mcpjson.Unsupported as error:
        return Row(shown, "not_supported", notes=(str(error),))
    except ValidationError as error:
        return Row(shown, "skipped", notes=tuple(error.messages))
    except keyring.NoKeys:
        why = _("It has a credential, and MRTR_CREDENTIAL_KEYS is empty: there is no key to seal it under.")
        return Row(shown, "skipped", notes=(why,))
    except (mcpjson.Malformed, headerlines.Malformed) as error:
        return Row(shown, "skipped", notes=(str(error),))


def _variable(name: str) -> str | None:
    if why := credentials.fault("env", name):
        raise mcpjson.Malformed(f"{name}: {why}")
    return os.environ.get(name)


def _server(entry: mcpjson.Entry, taken: Collection[str]) -> Server:
    """The server of this name, or of this slug at the same origin; else a new one with a slug of its own."""
    base = slugify(entry.name)[:44].strip("-") or "server"
    numbered = re.compile(rf"{re.escape(base)}(-\d+)?\Z")
    free = Server.objects.exclude(slug__in=taken)
    named = [each for each in free.filter(name=entry.name).order_by("pk") if numbered.match(each.slug)]
    if named:
        return named[0]
    same = free.filter(slug=base).first()
    if same is not None and egress.origin_of(same.url) == egress.origin_of(entry.url):
        return same
    slug, number, known = base, 1, {*taken, *Server.objects.values_list("slug", flat=True)}
    while slug in known:
        number += 1
        slug = f"{base}-{number}"
    return Server(slug=slug, name=entry.name, capabilities=["elicitation"])


def _stored(server: Server, entry: mcpjson.Entry, options: Options) -> Row:
    values: dict[str, Any] = {"url": entry.url}
    if options.allow_private:
        values["private_networks"] = list(PRIVATE_NETWORKS)
    if server.pk is None:
        values["enabled"] = entry.is_on
    stored = registry.store(server, values, _credential(entry), by=options.by)
    if not entry.is_on:
        ledger.switch(server, on=False, by=options.by)
        server.enabled = False
    notes = [*_notes(server, entry, stored), *join(server, options.groups)]
    outcome = "registered" if stored.is_new else "changed" if stored.changed or stored.dropped else "unchanged"
    return Row(entry.name, outcome, server.slug, tuple(notes))


def _credential(entry: mcpjson.Entry) -> registry.Credential | None:
    if entry.kind == "none":
        return None
    source = "env" if entry.variable else "form"
    return registry.Credential(entry.kind, source, entry.variable, entry.text)


def _notes(server: Server, entry: mcpjson.Entry, stored: registry.Stored) -> Iterable[str]:
    if entry.missing:
        missing = ", ".join(one_line(clean_text(name, 100)) for name in entry.missing)
        yield (
            _("Switched off: its credential needs what is not set here: %s. Give it, then switch the server on.")
            % missing
        )
    elif not entry.is_on:
        yield _("Switched off, as in the file.")
    if entry.left_out:
        yield _left_out(entry.left_out)
    if stored.dropped:
        yield _("Its credential was given for another address and has been dropped.")
    if entry.kind == "oauth" and (why := credentials.trouble(server)):
        yield _("Nobody can sign in there yet. %s") % why
    yield from doubts(server)


def _left_out(what: str) -> str:
    """What an entry says of signing in, and is not taken."""
    if what == "client":
        return _(
            "Each person signs in. The client in the file was left out: it sends people back to another program. This "
            "app registers itself there; where it cannot, have a client registered for it and enter that."
        )
    if what == "sign_in":
        return _("It has headers, so what it says of signing in was left out.")
    return _("What it says of authentication is not known here and was left out. Set its credential by form.")


def doubts(server: Server) -> Iterable[str]:
    """What will keep a server from being reached as it is registered."""
    if server.url.lower().startswith("http:") and not server.private_networks:
        yield _("Its address is http, which is used in private networks only, and it may not be in one.")


def join(server: Server, groups: Iterable[str] | None) -> Iterable[str]:
    """Give a server to these groups; None leaves it as it is. Says which groups are new. Raises ValidationError."""
    if groups is None:
        return []
    for name in groups:
        registry.check_text(name)
        Group(name=name).clean_fields()
    found = {name: Group.objects.get_or_create(name=name) for name in groups}
    server.groups.set(group for group, _made in found.values())
    new = [name for name, (_group, made) in found.items() if made]
    return [_("New groups, with nobody in them: %s") % ", ".join(new)] if new else []
