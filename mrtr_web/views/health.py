"""Is this process alive, and can it work."""

from django.db import DatabaseError
from django.http import HttpRequest, HttpResponse

from mrtr_web.models import Session


def healthz(request: HttpRequest) -> HttpResponse:
    return HttpResponse("ok", content_type="text/plain")


def readyz(request: HttpRequest) -> HttpResponse:
    try:
        Session.objects.exists()  # also where the database is there and nobody has made its tables
    except DatabaseError:
        return HttpResponse("database", status=503, content_type="text/plain")
    return HttpResponse("ok", content_type="text/plain")
