"""Signing in elsewhere: there by a button, and back. Only where MRTR_OIDC_ISSUER is set."""

from urllib.parse import urlencode

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.http import url_has_allowed_host_and_scheme
from django.views.decorators.http import require_GET, require_POST, require_safe

from mrtr_web.sso import adapter


@require_POST
def start(request: HttpRequest) -> HttpResponse:
    """A page that leads on by itself: `form-action` would have to let through a redirect, and each that comes after."""
    try:
        way = adapter.depart(request, _own_page(request, request.POST.get("next", "")))
    except adapter.Refused as refused:
        return _refuse(refused)
    return render(request, "account/leave.html", {"way": way, "provider": settings.CONFIG.sso_name})


@require_GET
def callback(request: HttpRequest) -> HttpResponse:
    """Nobody stays at this address: it holds what is for this app alone."""
    try:
        return adapter.arrive(request)
    except adapter.Refused as refused:
        return _refuse(refused)


@require_safe
def refused(request: HttpRequest) -> HttpResponse:
    """Why nobody was signed in, and what to do."""
    context = {
        "code": request.GET.get("why", ""),
        "next": _own_page(request, request.GET.get("next", "")),
        "provider": settings.CONFIG.sso_name,
    }
    return render(request, "account/refused.html", context, status=403)


def _refuse(refused: adapter.Refused) -> HttpResponse:
    said = {"why": refused.code, "next": refused.page}
    query = urlencode({name: value for name, value in said.items() if value})
    return redirect(f"{reverse('sso_refused')}?{query}")


def _own_page(request: HttpRequest, page: str) -> str:
    """Where the person wanted to go, if that is on this site."""
    is_ours = url_has_allowed_host_and_scheme(page, {request.get_host()}, require_https=request.is_secure())
    return page if is_ours else ""
