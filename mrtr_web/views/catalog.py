"""The catalogue: servers, and what one server offers."""

from django.http import HttpResponse
from django.shortcuts import get_object_or_404, render
from django.views.decorators.http import require_safe

from mrtr_web import catalog, operations, relay
from mrtr_web.models import Server
from mrtr_web.views.web import SignedIn, signed_in


@require_safe
@signed_in
def home(request: SignedIn) -> HttpResponse:
    return render(request, "catalog/home.html", {"servers": catalog.visible(request.user)})


@require_safe
@signed_in
def server(request: SignedIn, slug: str) -> HttpResponse:
    found = get_object_or_404(catalog.visible(request.user), slug=slug)
    catalog.attach(request.user.pk, found)
    trouble = refreshed(request, found)
    context = {
        "server": found,
        "trouble": trouble,
        "cut": operations.is_cut(found),
        **operations.offered(found),
        "resources": operations.resources(found),
    }
    if request.user.has_perm("mrtr_web.view_finding"):
        context |= {"hidden": operations.hidden(found), "findings": found.findings.all()}
    return render(request, "catalog/server.html", context, status=502 if trouble and not found.offers else 200)


def refreshed(request: SignedIn, found: Server) -> str:
    """Bring a stale listing up to date; the code of what went wrong, if anything did."""
    if not catalog.is_stale(found, request.user.pk):
        return ""
    try:
        catalog.refresh(found, request.user.pk)
    except relay.RelayError as error:
        return relay_code(error)
    return ""


def relay_code(error: relay.RelayError) -> str:
    """The code by which pages name a fault of the relay."""
    match error:
        case relay.Unsent() | relay.Lost():
            return error.reason
        case relay.LegacyServer():
            return "legacy"
        case relay.Broken():
            return f"broken:{error.rule}"
    return "refused"
