"""The catalogue: servers, what they offer, and a search over both."""

import contextlib
from collections.abc import Iterable
from typing import Any

from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.views.decorators.http import require_http_methods, require_safe

from mrtr_web import allowances, catalog, entries, listings, recents, relay, review, search, tokens
from mrtr_web.entries import Entry
from mrtr_web.models import Server
from mrtr_web.views.connections import is_connected, page_of
from mrtr_web.views.web import SignedIn, signed_in

MOST_FOUND = 60
"""Entries that one page of a search shows."""


@require_safe
@signed_in
def home(request: SignedIn) -> HttpResponse:
    query, tag, slug = (request.GET.get(name, "").strip() for name in ("q", "tag", "server"))
    servers = list(catalog.visible(request.user))
    chosen = [server for server in servers if (not tag or tag in server.tags) and slug in ("", server.slug)]
    context: dict[str, Any] = {
        "servers": servers,
        "tags": sorted({each for server in servers for each in server.tags}),
        "query": query,
        "tag": tag,
        "slug": slug,
        "chosen": chosen,
    }
    if wanted := search.words(query):
        context |= _searched(request.user.pk, chosen, wanted)
    elif not tag and not slug:
        context["recents"] = recents.recents(request.user.pk, servers)
    return render(request, "catalog/home.html", context)


def _searched(user: int, servers: list[Server], wanted: list[str]) -> dict[str, Any]:
    catalog.look(servers, user)
    found = search.offers(servers, wanted)
    return {
        "chosen": search.servers(servers, wanted),
        "found": found[:MOST_FOUND],
        "count": len(found),
        "claims": any(entry.claims for entry in found[:MOST_FOUND]),
        "unknown": [server for server in servers if listings.is_incomplete(server)],
    }


@require_http_methods(["GET", "HEAD", "POST"])
@signed_in
def server(request: SignedIn, slug: str) -> HttpResponse:
    """What one server offers. A post asks it anew."""
    found = get_object_or_404(catalog.visible(request.user), slug=slug)
    catalog.attach(request.user.pk, found)
    if request.method == "POST":
        return _asked_anew(request, found)
    catalog.renew(found, request.user.pk)
    query = request.GET.get("q", "").strip()
    shown = _shown(found, query)
    context: dict[str, Any] = {
        "server": found,
        "query": query,
        **_connection(found, request.user.pk),
        "cut": entries.is_cut(found),
        "offers_something": any(found.offers.values()),
        "claims": any(entry.claims for entry in shown["tools"]),
        **shown,
    }
    if request.user.has_perm("mrtr_web.view_finding"):
        context |= {"hidden": entries.unusable(found), "findings": found.findings.all()}
        context["report"] = review.is_reviewer(request.user) and review.servers(request.user).filter(pk=found.pk)
    is_down = found.trouble and not found.offers and not context["connects"]
    return render(request, "catalog/server.html", context, status=502 if is_down else 200)


def _connection(found: Server, user: int) -> dict[str, Any]:
    """How this person is let in, where each needs something of their own."""
    row = tokens.of(found, user) if found.asks_each else None
    connects = catalog.may_connect(found, found.trouble)
    may_sign_in = tokens.may_sign_in(row)
    return {"connection": row, "connected": is_connected(row), "connects": connects, "may_sign_in": may_sign_in}


def _asked_anew(request: SignedIn, found: Server) -> HttpResponse:
    allowances.spend(request.user.pk, "ask", found.pk)
    with contextlib.suppress(relay.RelayError):  # the page says what is wrong
        catalog.refresh(found, request.user.pk)
    return redirect(page_of(found, request.POST.get("page", "")) or reverse("server", args=[found.slug]))


def _shown(found: Server, query: str) -> dict[str, list[Entry]]:
    """What it offers that matches, by kind."""
    wanted = search.words(query)
    everything = (entry for kind in entries.KEYS for entry in entries.offered(found, kind))
    matching: Iterable[Entry] = search.offers([found], wanted) if wanted else everything
    shown: dict[str, list[Entry]] = {kind: [] for kind in entries.KEYS}
    for entry in matching:
        shown[entry.kind].append(entry)
    return shown
