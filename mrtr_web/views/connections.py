"""My connections: what lets a person in at servers, and the way to an authorization server and back."""

import contextlib
import uuid
from typing import Any

from django import forms
from django.conf import settings
from django.contrib import messages
from django.http import Http404, HttpResponse, JsonResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy as _lazy
from django.views.decorators.http import require_GET, require_http_methods, require_POST, require_safe

from mrtr_web import allowances, authserver, catalog, headerlines, keyring, oauth, tokens, wizard
from mrtr_web.access import PER_PERSON
from mrtr_web.models import Connection, Server
from mrtr_web.views.web import Request, SignedIn, lost_post, own_host, signed_in, too_often, uuid_in

Context = dict[str, Any]


class TokenForm(forms.Form):
    """A token that a person pastes. No page has it again: not this one, nor the one that shows a lost post."""

    token_password = forms.CharField(
        required=False,
        help_text=_lazy(
            "A long text that the server gives you, mostly in its own settings. Paste it alone, without the word "
            "Bearer. It is kept sealed, sent to this server only, and never shown again."
        ),
        widget=forms.PasswordInput(attrs={"autocomplete": "off", "spellcheck": "false"}),
    )

    def __init__(self, server: Server, data: Any = None) -> None:
        super().__init__(data)
        self.fields["token_password"].label = _("Your token for %(server)s") % {"server": server.name}


@require_safe
@signed_in
def mine(request: SignedIn) -> HttpResponse:
    servers = list(catalog.visible(request.user).filter(credential_kind__in=PER_PERSON))
    connected = tokens.connected(servers, request.user.pk)
    rows = [(server, row := connected.get(server.pk), is_connected(row)) for server in servers]
    return render(request, "connections/list.html", {"rows": rows})


def is_connected(row: Connection | None) -> bool:
    """Whether the token serves, or can be renewed without the person."""
    return row is not None and (tokens.serves(row) or row.renew_at is not None)


@require_http_methods(["GET", "HEAD", "POST"])
@signed_in
def one(request: SignedIn, slug: str) -> HttpResponse:
    """How this person is let in at one server. A post connects, or leads to where they sign in."""
    server = _server(request, slug)
    if request.method != "POST":
        return _page(request, server)
    try:
        allowances.spend(request.user.pk, "connect", server.pk)
    except allowances.TooMany as too_many:
        return too_often(request, too_many)
    return _paste(request, server) if server.credential_kind == "each" else _leave(request, server)


@require_POST
@signed_in
def disconnect(request: SignedIn, slug: str) -> HttpResponse:
    server = _server(request, slug)
    told = oauth.disconnect(server, request.user.pk)
    catalog.forget_own(server, request.user.pk)
    words = _("You are disconnected from %(server)s. Your token is deleted here.")
    if told is not None:
        words = (
            _("You are disconnected from %(server)s. Your token is deleted here, and no longer accepted there.")
            if told
            else _(
                "You are disconnected from %(server)s. Your token is deleted here, but its sign-in server could not be "
                "told: it may accept the token until that runs out."
            )
        )
    messages.success(request, words % {"server": server.name})
    return redirect("connections")


@require_GET
def callback(request: Request) -> HttpResponse:
    """Back from an authorization server. Whoever is not the person who left, in the same session, gets nowhere."""
    if request.visitor is None:
        return _refused(request, oauth.Refused("signed_out"))
    return _back(request)


@signed_in
def _back(request: SignedIn) -> HttpResponse:
    try:
        back = oauth.finish(request.visitor, _told(request))
    except oauth.Refused as refused:
        return _refused(request, refused)
    except keyring.NoKeys:
        return _refused(request, oauth.Refused("failed"))
    messages.success(request, _("You are signed in at %(server)s.") % {"server": back.server.name})
    return _go_on(request, back.server, uuid_in(back.flow), uuid_in(back.leg))


def _told(request: SignedIn) -> dict[str, str]:
    """What the authorization server says; nothing at all where it says one thing twice (RFC 6749 section 3.1)."""
    given = request.GET
    return given.dict() if all(len(texts) == 1 for _, texts in given.lists()) else {}


@require_safe
def document(request: Request) -> HttpResponse:
    """Our Client ID Metadata Document: an authorization server reads here who we are (AZ-4)."""
    address = settings.CONFIG.client_metadata_url
    if not address:
        raise Http404
    hosts = [host for host in settings.ALLOWED_HOSTS if not host.startswith((".", "*"))]
    told = {
        "client_id": address,
        "client_name": authserver.CLIENT_NAME,
        "redirect_uris": [f"https://{host}{reverse('oauth_callback')}" for host in hosts],
        "grant_types": authserver.GRANTS,
        "response_types": ["code"],
        "token_endpoint_auth_method": "none",
    }
    return JsonResponse(told)


def _server(request: SignedIn, slug: str) -> Server:
    return get_object_or_404(catalog.visible(request.user).filter(credential_kind__in=PER_PERSON), slug=slug)


def _page(request: SignedIn, server: Server, status: int = 200, **more: Any) -> HttpResponse:
    flow, leg = _left(request, server)
    connection = tokens.of(server, request.user.pk)
    context = {
        "server": server,
        "connection": connection,
        "connected": is_connected(connection),
        "form": TokenForm(server),
        "flow_id": flow or "",
        "leg": leg or "",
        **more,
    }
    return render(request, "connections/one.html", context, status=status)


def _paste(request: SignedIn, server: Server) -> HttpResponse:
    try:
        tokens.paste(server, request.user.pk, request.POST.get("token_password", ""))
    except headerlines.Malformed as error:
        form = TokenForm(server, {})
        form.add_error("token_password", str(error))
        return _page(request, server, 422, form=form)
    except keyring.NoKeys:
        return _page(request, server, 503, code="no_keys")
    except tokens.Changed:
        return _page(request, server, 409, code="changed")
    messages.success(request, _("Your token for %(server)s is kept.") % {"server": server.name})
    return _go_on(request, server, *_left(request, server))


def _left(request: SignedIn, server: Server) -> tuple[uuid.UUID | None, uuid.UUID | None]:
    """The flow and leg that the person has left for this, if they are theirs and of this server: what another server
    asks for says nothing of this one."""
    given = request.POST if request.method == "POST" else request.GET
    flow = uuid_in(given.get("flow", ""))
    row = wizard.flow_of(request.user.pk, flow) if flow else None
    if row is None or row.server_id != server.pk:
        return None, None
    return flow, uuid_in(given.get("leg", ""))


def _leave(request: SignedIn, server: Server) -> HttpResponse:
    flow, leg = _left(request, server)
    refusals = wizard.refusals(request.visitor, flow) if flow else None
    try:
        way = oauth.start(
            request.visitor,
            server,
            callback=request.build_absolute_uri(reverse("oauth_callback")),
            own_hosts={own_host(request)},
            challenge=refusals.challenge if refusals else None,
            flow=str(flow or ""),
            leg=str(leg or ""),
        )
    except authserver.Trouble as trouble:
        return _page(request, server, 502, code=trouble.code)
    except keyring.NoKeys:
        return _page(request, server, 503, code="no_keys")
    except wizard.SessionOver:
        return lost_post(request, "signed_out")
    return render(request, "connections/leave.html", {"server": server, "way": way, "flow_id": flow})


def _go_on(request: SignedIn, server: Server, flow: uuid.UUID | None, leg: uuid.UUID | None) -> HttpResponse:
    """Where the person was; the leg that they left for is sent again, unless the flow has moved on meanwhile."""
    catalog.forget_own(server, request.user.pk)
    if flow is None or wizard.flow_of(request.user.pk, flow) is None:
        return redirect("server", server.slug)
    if leg is not None:
        with contextlib.suppress(wizard.Barred, wizard.Stale, wizard.Unreadable):  # its page says what is
            wizard.wait(wizard.send_again(request.visitor, flow, leg, signed_in=True))
    return redirect("flow", flow)


def _refused(request: Request, refused: oauth.Refused) -> HttpResponse:
    flow = uuid_in(refused.flow)
    context: Context = {"code": refused.code, "server": refused.server, "flow_id": flow}
    return render(request, "connections/refused.html", context, status=403)
