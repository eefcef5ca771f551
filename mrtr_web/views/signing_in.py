"""The way to an authorization server and back: the page that leads there, what comes of the answer, and who we are."""

import uuid
from typing import Any

from django.conf import settings
from django.contrib import messages
from django.http import Http404, HttpResponse, JsonResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET, require_safe

from mrtr_web import authserver, catalog, keyring, oauth, tokens, wizard
from mrtr_web.models import Server
from mrtr_web.views.connections import Errand, go_on, is_connected, page_of
from mrtr_web.views.web import Request, SignedIn, own_host, signed_in, uuid_in

REFUSED = "refused_sign_in"
"""Where the session keeps how the last answer was refused: a code of ours, and ids."""


@require_safe
@signed_in
def leave(request: SignedIn, slug: str, ident: uuid.UUID) -> HttpResponse:
    """Where the person goes, for as long as they are awaited from there: they may come back here and leave again."""
    found = oauth.departure(request.visitor, ident, {own_host(request)})
    if found is None or found.server.slug != slug or not catalog.may_use(request.user.pk, found.server.pk):
        messages.warning(request, _("That sign-in is over. What you see here is how it stands now."))
        return redirect("connection", slug)
    connected = is_connected(tokens.of(found.server, request.user.pk))
    context = {"server": found.server, "leaving": found, "flow_id": found.flow, "page": found.page}
    return render(request, "connections/leave.html", context | {"connected": connected})


@require_GET
def callback(request: Request) -> HttpResponse:
    """Back from an authorization server. Whoever is not the person who left, in the same session, gets nowhere.

    Nobody stays at this address: it holds what is for this app alone.
    """
    return redirect("oauth_refused") if request.visitor is None else _back(request)


@signed_in
def _back(request: SignedIn) -> HttpResponse:
    try:
        back = oauth.finish(request.visitor, _told(request))
    except oauth.Refused as refused:
        return _refuse(request, refused)
    except keyring.NoKeys:
        return _refuse(request, oauth.Refused("failed"))
    messages.success(request, _("You are signed in at %(server)s.") % {"server": back.server.name})
    return go_on(request, back.server, Errand(uuid_in(back.flow), uuid_in(back.leg), back.page))


def _told(request: SignedIn) -> dict[str, str]:
    """What the authorization server says; nothing at all where it says one thing twice (RFC 6749 section 3.1)."""
    given = request.GET
    return given.dict() if all(len(texts) == 1 for _, texts in given.lists()) else {}


def _refuse(request: SignedIn, refused: oauth.Refused) -> HttpResponse:
    server = refused.server.pk if refused.server else 0
    request.session[REFUSED] = {"code": refused.code, "server": server, "flow": refused.flow, "page": refused.page}
    return redirect("oauth_refused")


@require_safe
def refused(request: Request) -> HttpResponse:
    """Why the answer was not taken, and how things stand now."""
    if request.visitor is None:
        return render(request, "connections/refused.html", {"code": "signed_out"}, status=403)
    return _refused(request)


@signed_in
def _refused(request: SignedIn) -> HttpResponse:
    told = request.session.get(REFUSED)
    if told is None:
        return redirect("connections")
    server = catalog.visible(request.user).filter(pk=told["server"]).first()
    return render(request, "connections/refused.html", _how(request, told, server), status=403)


def _how(request: SignedIn, told: dict[str, Any], server: Server | None) -> dict[str, Any]:
    flow = uuid_in(told["flow"])
    row = wizard.flow_of(request.user.pk, flow) if flow else None
    return {
        "code": told["code"],
        "server": server,
        "connected": server is not None and is_connected(tokens.of(server, request.user.pk)),
        "flow_id": flow if row is not None and row.is_open else None,
        "page": page_of(server, told["page"]) if server else "",
    }


@require_safe
def document(request: Request) -> HttpResponse:
    """Our Client ID Metadata Document: an authorization server reads here who we are (AZ-4)."""
    address = settings.CONFIG.client_metadata_url
    if not address:
        raise Http404
    hosts = [host for host in settings.ALLOWED_HOSTS if not host.startswith((".", "*"))]
    told = {
        "client_id": address,
        "client_name": settings.CONFIG.site_name,
        "redirect_uris": [f"https://{host}{reverse('oauth_callback')}" for host in hosts],
        "grant_types": authserver.GRANTS,
        "response_types": ["code"],
        "token_endpoint_auth_method": "none",  # the name of a method  # nosec B105
    }
    return JsonResponse(told)
