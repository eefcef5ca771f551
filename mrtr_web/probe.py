"""Asks a server what it is and what it offers, and says in words how that went: for admins, when they save or test."""

from dataclasses import dataclass

from django.db.models import F, Q
from django.template.loader import render_to_string
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from mrtr_web import catalog, relay
from mrtr_web.models import Listing, Server
from mrtr_web.schema.text import clean_text, one_line


@dataclass(frozen=True, slots=True)
class Report:
    reachable: bool
    words: str


def probe(server: Server, user: int) -> Report:
    """Ask now, within the bounds of a listing, and store what it lists. Not inside a transaction."""
    try:
        catalog.refresh(server, user)
    except relay.RelayError as error:
        why = render_to_string("flows/_trouble.html", {"code": _code(error)})
        return Report(False, _("%(name)s was not reached. %(why)s") % {"name": server.name, "why": one_line(why)})
    discovered = server.discovered if isinstance(server.discovered, dict) else {}
    revisions, capabilities = discovered.get("supportedVersions"), discovered.get("capabilities")
    parts = [
        _("%s answers.") % server.name,
        _("Revisions of MCP: %s.") % _listed(revisions if isinstance(revisions, list) else []),
        _("It declares: %s.") % _listed(list(capabilities) if isinstance(capabilities, dict) else []),
        _("It offers %s.") % ", ".join(_counts(server, user)),
    ]
    return Report(True, " ".join(parts))


def _code(error: relay.RelayError) -> str:
    match error:
        case relay.Unsent() | relay.Lost():
            return error.reason
        case relay.LegacyServer():
            return "legacy"
        case relay.Broken():
            return f"broken:{error.rule}"
    return "refused_listing"


def _listed(names: list[object]) -> str:
    shown = [one_line(clean_text(name, 40)) for name in names[:20] if isinstance(name, str)]
    return ", ".join(shown) or _("nothing")


def _counts(server: Server, user: int) -> list[str]:
    rows = Listing.objects.filter(Q(user=None) | Q(user=user), server=server).order_by(F("user").asc(nulls_first=True))
    sizes = {row.kind: len(row.entries) for row in rows}
    tools, prompts = sizes.get("tools", 0), sizes.get("prompts", 0)
    resources = sizes.get("resources", 0) + sizes.get("templates", 0)
    return [
        ngettext("%d tool", "%d tools", tools) % tools,
        ngettext("%d prompt", "%d prompts", prompts) % prompts,
        ngettext("%d resource", "%d resources", resources) % resources,
    ]
