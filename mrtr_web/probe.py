"""Asks a server what it is and what it offers, and says in words how that went: for admins, when they save or test."""

from dataclasses import dataclass, replace

from asgiref.sync import async_to_sync
from django.conf import settings
from django.db import close_old_connections
from django.template.loader import render_to_string
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from mrtr_web import authserver, catalog, credentials, oauth, relay, tokens, wording
from mrtr_web.access import Challenge
from mrtr_web.authserver import Trouble
from mrtr_web.models import Server
from mrtr_web.schema.text import clean_text, one_line


@dataclass(frozen=True, slots=True)
class Report:
    reachable: bool
    words: str


def probe(server: Server, user: int | None) -> Report:
    """Ask now, within the bounds of a listing, and store what it lists. Not inside a transaction."""
    is_in = not server.asks_each or tokens.of(server, user or 0) is not None
    try:
        if server.credential_kind == "each" and not is_in:
            return _without_token(server)
        catalog.refresh(server, user or 0)
    except relay.RelayError as error:
        return _refusal(server, error, is_in)
    return Report(True, " ".join(_offer(server)))


def _without_token(server: Server) -> Report:
    """Of a server that gets no request from who has no token: whether it is there. Raises relay.RelayError."""
    close_old_connections()
    target = relay.Endpoint(server.url, {}, tuple(server.private_networks))
    bounds = replace(catalog.limits(), silence=catalog.LISTING_SECONDS, total=catalog.LISTING_SECONDS)
    async_to_sync(relay.discover)(target, bounds, capabilities=catalog.capabilities(server))
    return Report(True, _("%s answers. What it offers is seen by who has given a token of their own.") % server.name)


def _refusal(server: Server, error: relay.RelayError, is_in: bool) -> Report:
    """Why it was not asked what it offers; no fault where people are to sign in, and the admin is not signed in."""
    refused = isinstance(error, relay.Unsent) and error.reason == "unauthorized"
    challenge = (error.challenge if isinstance(error, relay.Unsent) else None) or Challenge()
    if refused and not is_in:
        return _asks_people(server, challenge)
    if refused and challenge.metadata and not server.asks_each:
        words = _(
            "%s answers, and asks people to sign in (OAuth). Set the kind of its credential to “Each person signs in”."
        )
        return Report(False, words % server.name)
    why = _words("flows/_trouble.html", code=catalog.trouble_of(error), server=server)
    return Report(False, _("%(name)s was not reached. %(why)s") % {"name": server.name, "why": why})


def _asks_people(server: Server, challenge: Challenge) -> Report:
    """That it asks for what it is set up for, and whether people can sign in where it sends them."""
    if server.credential_kind == "each":
        return Report(True, _("%s answers, and asks people for a token, as it is set up.") % server.name)
    names = {"name": server.name}
    try:
        host = _sign_in_host(server, challenge)
    except Trouble as trouble:
        why = _words("connections/_trouble.html", code=trouble.code)
        return Report(False, _("%(name)s answers, and asks people to sign in. %(why)s") % (names | {"why": why}))
    words = _("%(name)s answers, and asks people to sign in, as it is set up. They do so at %(host)s.")
    return Report(True, words % (names | {"host": host}))


def _sign_in_host(server: Server, challenge: Challenge) -> str:
    """Where people are sent to. Raises Trouble where they could not sign in there."""
    close_old_connections()
    try:
        found = async_to_sync(authserver.find)(server.url, challenge, tuple(server.private_networks))
        client = credentials.client(server)
    except credentials.Unavailable:
        raise Trouble("unregistered") from None
    by_document = settings.CONFIG.client_metadata_url and found.metadata.client_id_metadata_document_supported
    if client is None and not by_document and found.metadata.registration_endpoint is None:
        raise Trouble("unregistered")
    return oauth.way(str(found.metadata.authorization_endpoint)).host


def _words(template: str, **context: object) -> str:
    return one_line(render_to_string(template, context))


def _offer(server: Server) -> list[str]:
    discovered = server.discovered if isinstance(server.discovered, dict) else {}
    revisions, capabilities = discovered.get("supportedVersions"), discovered.get("capabilities")
    return [
        _("%s answers.") % server.name,
        _("Revisions of MCP: %s.") % _listed(revisions if isinstance(revisions, list) else []),
        _("It declares: %s.") % _listed(list(capabilities) if isinstance(capabilities, dict) else []),
        _("It offers %s.") % wording.listed(_counts(server)),
    ]


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
