"""Headers of every page, methods that no page has, and what is compressed."""

import time
from collections.abc import Callable

from django.http import HttpRequest, HttpResponse, HttpResponseNotAllowed
from django.http.response import HttpResponseBase
from django.middleware.gzip import GZipMiddleware
from django.urls import reverse

from mrtr_web import measures, plain
from mrtr_web.policies import ADMIN_POLICY, EVERYWHERE

METHODS = ("GET", "HEAD", "POST")
Handler = Callable[[HttpRequest], HttpResponse]


class PagePolicy:
    """Outermost: one policy for every page, also for refusals and redirects of the middleware within.

    Nothing inline, nothing foreign, nothing kept by caches; and no page knows of other methods than METHODS.
    """

    def __init__(self, get_response: Handler) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        start, known = time.monotonic(), request.method in METHODS
        response = self.get_response(request) if known else HttpResponseNotAllowed(METHODS)
        if response.status_code == 405 and not response.content:
            response.content = plain.page(request, "405.html").encode()
            response.headers["Content-Length"] = str(len(response.content))  # Django has counted what was there before
        if request.path.startswith(reverse("admin:index")):
            response.headers.setdefault("Content-Security-Policy", ADMIN_POLICY)
        for name, value in EVERYWHERE.items():
            response.headers.setdefault(name, value)
        response.headers["Cache-Control"] = EVERYWHERE["Cache-Control"]
        measures.answered(_route(request), response.status_code, time.monotonic() - start)
        return response


def _route(request: HttpRequest) -> str:
    """The name of what was asked for, never its path; all of the admin is one."""
    match = request.resolver_match
    if match is None:
        return "none"
    return match.namespaces[0] if match.namespaces else match.url_name or "other"


class PagesCompressed(GZipMiddleware):
    """Pages alone: files of servers are what they are, and may be large.

    Django adds up to 100 random bytes to each, so that its length does not tell what stands beside a server's words.
    """

    def process_response(self, request: HttpRequest, response: HttpResponseBase) -> HttpResponseBase:
        is_page = response.headers.get("Content-Type", "").startswith("text/html")
        return super().process_response(request, response) if is_page else response
