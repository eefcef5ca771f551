"""The records of the review desk: audit trail, findings, numbers; and the rules that findings point at."""

from typing import Any
from urllib.parse import urlencode

from django.http import HttpResponse, HttpResponseBase, StreamingHttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.views.decorators.http import require_safe

from mrtr_web import allowances, audit, figures, findings, reports, review
from mrtr_web.models import Server
from mrtr_web.views.review import reviewer
from mrtr_web.views.web import SignedIn, signed_in

Context = dict[str, Any]


@require_safe
@reviewer
def trail(request: SignedIn) -> HttpResponse:
    """The audit trail, newest first. A filter that is wrong finds nothing, and says so."""
    servers, wish = _wish(request)
    context: Context = {
        "fields": [wish[name] for name in wish.SHOWN],
        "query": urlencode({k: v for k, v in request.GET.items() if k in wish.SHOWN and v}),
        "wish": wish,
    }
    if wish.is_valid():
        found = audit.find(request.user, servers, wish.cleaned_data)
        context["page"] = audit.read(request.user, found, wish.cleaned_data["before"])
    return render(request, "review/audit.html", context, status=422 if wish.errors else 200)


@require_safe
@reviewer
def trail_csv(request: SignedIn) -> HttpResponse:
    servers, wish = _wish(request)
    if not wish.is_valid():
        return redirect(f"{reverse('audit')}?{request.GET.urlencode()}")
    allowances.spend(request.user.pk, "export")
    found = audit.find(request.user, servers, wish.cleaned_data)
    return _download(StreamingHttpResponse(audit.export(found), content_type="text/csv; charset=utf-8"), "audit.csv")


def _wish(request: SignedIn) -> tuple[dict[int, Server], audit.Wish]:
    servers = {server.pk: server for server in review.servers(request.user)}
    return servers, audit.Wish(request.GET, servers.values())


def _download(response: HttpResponseBase, name: str) -> HttpResponse:
    response["Content-Disposition"] = f'attachment; filename="{name}"'
    return response  # type: ignore[return-value]


@require_safe
@reviewer
def findings_list(request: SignedIn) -> HttpResponse:
    return render(request, "review/findings.html", {"rows": reports.overview(review.servers(request.user))})


@require_safe
@reviewer
def findings_of(request: SignedIn, slug: str) -> HttpResponse:
    server = _server(request, slug)
    context = {"server": server, "rows": reports.rows(server), "text": reports.text(server)}
    return render(request, "review/findings_of.html", context)


@require_safe
@reviewer
def findings_text(request: SignedIn, slug: str) -> HttpResponse:
    """The report as a file, for the people who make the server."""
    text = reports.text(_server(request, slug))
    return _download(HttpResponse(text, content_type="text/plain; charset=utf-8"), f"findings-{slug}.txt")


def _server(request: SignedIn, slug: str) -> Server:
    return get_object_or_404(review.servers(request.user), slug=slug)


@require_safe
@reviewer
def numbers(request: SignedIn) -> HttpResponse:
    return render(request, "review/numbers.html", {"figures": figures.read(request.user), "days": figures.DAYS})


@require_safe
@signed_in
def rules(request: SignedIn) -> HttpResponse:
    """What each rule means that a server can be seen to break."""
    return render(request, "review/rules.html", {"rules": findings.rules()})
