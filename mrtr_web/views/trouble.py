"""What is shown when a page fails: the database is away (503, with what was typed), or this app is at fault (500).

Neither page reads the database. What is logged of a failure says where it was, never what its message said: a
database's messages quote values.
"""

import logging
import sys
from urllib.parse import urlsplit

from django.core.exceptions import TooManyFieldsSent, TooManyFilesSent
from django.db import InterfaceError, OperationalError
from django.http import HttpRequest, HttpResponse

from mrtr_web import plain
from mrtr_web.logs import named
from mrtr_web.origins import own_origin
from mrtr_web.views.web import address_of, typed_in

log = logging.getLogger(__name__)
RETRY_AFTER = 5
"""Seconds after which it is worth trying again."""


def broken(request: HttpRequest) -> HttpResponse:
    """handler500: called while the exception is being handled."""
    error = sys.exc_info()[1]
    if isinstance(error, OperationalError | InterfaceError):
        log.error("the database is away: %s", named(error))
        response = _away(request)
    else:
        log.error("a page failed: %s", named(error))
        response = HttpResponse(plain.page(request, "500.html"), status=500)
    response._has_been_logged = True  # type: ignore[attr-defined]  # Django would log the message, too
    return response


def unreadable(request: HttpRequest, exception: Exception) -> HttpResponse:
    """handler400. What was posted is not looked at: reading it may be what failed."""
    too_many = isinstance(exception, TooManyFieldsSent | TooManyFilesSent)
    return HttpResponse(plain.page(request, "too_many_fields.html" if too_many else "400.html"), status=400)


def _away(request: HttpRequest) -> HttpResponse:
    context: dict[str, object] = {"path": address_of(request)}
    if request.method == "POST" and _is_ours(request) and not _has_password(request):
        token = request.POST.get("csrfmiddlewaretoken", "")  # the page's own: Django's may not have been read yet
        context |= {"post": True, "typed": typed_in(request), "token": token}
    response = HttpResponse(plain.page(request, "503.html", **context), status=503)
    response["Retry-After"] = str(RETRY_AFTER)
    return response


def _is_ours(request: HttpRequest) -> bool:
    """Whether the browser says that a page of ours sent this: what another site sent is not offered to be sent again.

    Django's own look at it may not have been taken yet.
    """
    headers, ours = request.headers, own_origin(request)
    if ours is None:
        return False
    if "Origin" in headers:
        return headers["Origin"] == ours
    if "Sec-Fetch-Site" in headers:
        return headers["Sec-Fetch-Site"] == "same-origin"
    try:
        referer = urlsplit(headers.get("Referer", ""))
    except ValueError:
        return False
    return f"{referer.scheme}://{referer.netloc}" == ours


def _has_password(request: HttpRequest) -> bool:
    """Passwords are not given back, so such a form cannot be sent again from here."""
    return any("password" in name for name in request.POST)
