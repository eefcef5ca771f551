"""Asks a server what it is and what it offers, and says in words how that went: for admins, when they save or test."""

from dataclasses import dataclass

from django.template.loader import render_to_string
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from mrtr_web import catalog, relay
from mrtr_web.models import Server
from mrtr_web.schema.text import clean_text, one_line


@dataclass(frozen=True, slots=True)
class Report:
    reachable: bool
    words: str


def probe(server: Server, user: int | None) -> Report:
    """Ask now, within the bounds of a listing, and store what it lists. Not inside a transaction."""
    try:
        catalog.refresh(server, user or 0)
    except relay.RelayError as error:
        why = render_to_string("flows/_trouble.html", {"code": catalog.trouble_of(error)})
        return Report(False, _("%(name)s was not reached. %(why)s") % {"name": server.name, "why": one_line(why)})
    discovered = server.discovered if isinstance(server.discovered, dict) else {}
    revisions, capabilities = discovered.get("supportedVersions"), discovered.get("capabilities")
    parts = [
        _("%s answers.") % server.name,
        _("Revisions of MCP: %s.") % _listed(revisions if isinstance(revisions, list) else []),
        _("It declares: %s.") % _listed(list(capabilities) if isinstance(capabilities, dict) else []),
        _("It offers %s.") % ", ".join(_counts(server)),
    ]
    return Report(True, " ".join(parts))


def _listed(names: list[object]) -> str:
    shown = [one_line(clean_text(name, 40)) for name in names[:20] if isinstance(name, str)]
    return ", ".join(shown) or _("nothing")


def _counts(server: Server) -> list[str]:
    sizes = {kind: len(entries) for kind, entries in server.offers.items()}
    tools, prompts = sizes.get("tools", 0), sizes.get("prompts", 0)
    resources = sizes.get("resources", 0) + sizes.get("templates", 0)
    return [
        ngettext("%d tool", "%d tools", tools) % tools,
        ngettext("%d prompt", "%d prompts", prompts) % prompts,
        ngettext("%d resource", "%d resources", resources) % resources,
    ]
