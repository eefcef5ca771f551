"""My connections: what lets a person in at servers, given, begun and taken back."""

import contextlib
import logging
import uuid
from typing import Any, NamedTuple
from urllib.parse import unquote

from asgiref.sync import async_to_sync
from django import forms
from django.contrib import messages
from django.db import close_old_connections
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import Resolver404, resolve, reverse
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from django.views.decorators.http import require_http_methods, require_safe

from mrtr_web import admission, allowances, authserver, catalog, headerlines, keyring, oauth, tokens, wizard
from mrtr_web.access import PER_PERSON
from mrtr_web.models import Connection, Server
from mrtr_web.views.web import SignedIn, lost_post, own_host, signed_in, uuid_in

log = logging.getLogger(__name__)


class Errand(NamedTuple):
    """What a person has left for this: a leg of a flow, or the page of a tool."""

    flow: uuid.UUID | None = None
    leg: uuid.UUID | None = None
    page: str = ""


class TokenForm(forms.Form):
    """A token that a person pastes. No page has it again: not this one, nor the one that shows a lost post."""

    token_password = forms.CharField(
        required=False,
        help_text=gettext_lazy(
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
    allowances.spend(request.user.pk, "connect", server.pk)
    return _paste(request, server) if server.credential_kind == "each" else _leave(request, server)


@require_http_methods(["GET", "HEAD", "POST"])
@signed_in
def disconnect(request: SignedIn, slug: str) -> HttpResponse:
    """Asks once; a post disconnects."""
    server = _server(request, slug)
    row = tokens.of(server, request.user.pk)
    if request.method != "POST":
        return render(request, "connections/disconnect.html", {"server": server}) if row else redirect("connections")
    told = oauth.revoke(oauth.forget([row] if row else []))
    catalog.forget_own(server, request.user.pk)
    words = {
        None: _("You are disconnected from %(server)s. Your token is deleted here."),
        True: _("You are disconnected from %(server)s. Your token is deleted here, and no longer accepted there."),
        False: _(
            "You are disconnected from %(server)s. Your token is deleted here, but its sign-in server could not be "
            "told: it may accept the token until that runs out."
        ),
    }
    messages.success(request, words[told[0] if told else None] % {"server": server.name})
    return redirect("connections")


def _server(request: SignedIn, slug: str) -> Server:
    return get_object_or_404(catalog.visible(request.user).filter(credential_kind__in=PER_PERSON), slug=slug)


def page_of(server: Server, path: str) -> str:
    """The path of a page where one of the server's tools or prompts is started, as in a link; "" for any other."""
    try:
        match = resolve(unquote(path))
    except Resolver404:
        return ""
    if match.url_name not in ("tool", "prompt") or match.kwargs["slug"] != server.slug:
        return ""
    return reverse(match.url_name, kwargs=match.kwargs)


def _page(request: SignedIn, server: Server, status: int = 200, **more: Any) -> HttpResponse:
    errand = _errand(request, server)
    connection = tokens.of(server, request.user.pk)
    context = {
        "server": server,
        "connection": connection,
        "connected": is_connected(connection),
        "form": TokenForm(server),
        "flow_id": errand.flow or "",
        "leg": errand.leg or "",
        "page": errand.page,
        **more,
    }
    return render(request, "connections/one.html", context, status=status)


def _paste(request: SignedIn, server: Server) -> HttpResponse:
    text = request.POST.get("token_password", "").strip()
    try:
        tokens.check(text)
        close_old_connections()
        taken = async_to_sync(admission.takes)(server, text)
        if taken is False:
            raise headerlines.Malformed(
                _("%(server)s does not accept this token, so it was not kept. Look whether all of it was copied.")
                % {"server": server.name}
            )
        tokens.paste(server, request.user.pk, text)
    except headerlines.Malformed as error:
        form = TokenForm(server, {})
        form.add_error("token_password", str(error))
        return _page(request, server, 422, form=form)
    except keyring.NoKeys:
        return _page(request, server, 503, code="no_keys")
    except tokens.Changed:
        return _page(request, server, 409, code="changed")
    kept = _("Your token for %(server)s is kept.")
    unsure = _("Your token for %(server)s is kept, but the server could not be asked whether it accepts it.")
    messages.success(request, (kept if taken else unsure) % {"server": server.name})
    return go_on(request, server, _errand(request, server))


def _errand(request: SignedIn, server: Server) -> Errand:
    """The flow and leg that the person has left for this, if they are theirs and of this server: what another server
    asks for says nothing of this one. Or the page of this server that they have left."""
    given = request.POST if request.method == "POST" else request.GET
    page = page_of(server, given.get("page", ""))
    flow = uuid_in(given.get("flow", ""))
    row = wizard.flow_of(request.user.pk, flow) if flow else None
    if row is None or row.server_id != server.pk:
        return Errand(page=page)
    return Errand(flow, uuid_in(given.get("leg", "")), page)


def _leave(request: SignedIn, server: Server) -> HttpResponse:
    errand = _errand(request, server)
    refusals = wizard.refusals(request.visitor, errand.flow) if errand.flow else None
    try:
        ident = oauth.start(
            request.visitor,
            server,
            callback=request.build_absolute_uri(reverse("oauth_callback")),
            own_hosts={own_host(request)},
            challenge=refusals.challenge if refusals else None,
            flow=str(errand.flow or ""),
            leg=str(errand.leg or ""),
            page=errand.page,
        )
    except authserver.Trouble as trouble:
        log.warning("nobody can sign in at server %s: %s", server.slug, trouble.code)
        return _page(request, server, 502, code=trouble.code)
    except keyring.NoKeys:
        return _page(request, server, 503, code="no_keys")
    except wizard.SessionOver:
        return lost_post(request, "signed_out")
    return redirect("leave", server.slug, ident)


def go_on(request: SignedIn, server: Server, errand: Errand) -> HttpResponse:
    """Where the person was; the leg that they left for is sent again, unless the flow has moved on meanwhile."""
    catalog.forget_own(server, request.user.pk)
    flow, leg, page = errand
    if flow is None or wizard.flow_of(request.user.pk, flow) is None:
        return redirect(page_of(server, page) or reverse("server", args=[server.slug]))
    if leg is not None:
        with contextlib.suppress(wizard.Barred, wizard.Stale, wizard.Unreadable):  # its page says what is
            wizard.wait(wizard.send_again(request.visitor, flow, leg, signed_in=True))
    return redirect("flow", flow)
