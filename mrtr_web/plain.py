"""Pages that are shown when little can be relied on: they read no database and no session (templates/_plain.html)."""

from collections.abc import Mapping
from io import BytesIO
from typing import Any

from django.core.handlers.asgi import ASGIRequest
from django.http import HttpRequest
from django.http.response import HttpResponseBase
from django.middleware.csrf import CsrfViewMiddleware, get_token
from django.template.loader import render_to_string
from django.utils import translation


def page(request: HttpRequest, template: str, **context: Any) -> str:
    """With the switch of languages where the browser's token is known: a new one would not reach it any more."""
    token = get_token(request) if request.META.get("CSRF_COOKIE") else ""
    return render_to_string(template, {"request": request, "csrf_token": token, **context})


def page_before_django(scope: Mapping[str, Any], template: str, **context: Any) -> str:
    """For what is refused before any middleware has seen it: in the reader's language all the same."""
    request = ASGIRequest({**scope, "headers": _only_of_the_reader(scope["headers"])}, BytesIO())
    CsrfViewMiddleware(_nothing).process_request(request)
    with translation.override(translation.get_language_from_request(request)):
        return page(request, template, **context)


def _only_of_the_reader(headers: list[tuple[bytes, bytes]]) -> list[tuple[bytes, bytes]]:
    return [(name, value) for name, value in headers if name.lower() in (b"cookie", b"accept-language")]


def _nothing(request: HttpRequest) -> HttpResponseBase:
    raise NotImplementedError
