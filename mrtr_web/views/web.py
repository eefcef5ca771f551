"""What all pages share: the request as it really is, the guard for signed-in people, and lost posts shown again."""

import base64
import functools
import hashlib
import json
import uuid
from collections.abc import Callable
from typing import Any, Concatenate, ParamSpec, cast
from urllib.parse import urlsplit

from django.contrib.auth.models import AbstractUser
from django.contrib.auth.views import redirect_to_login
from django.core.files.uploadedfile import UploadedFile
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils import timezone
from django.utils.http import escape_leading_slashes

from mrtr_web import wizard
from mrtr_web.schema.spec import FILE_LEFT_OUT, MAX_FILE_BYTES, MAX_FILES_BYTES
from mrtr_web.sessions import GatedRequest, Visitor

P = ParamSpec("P")
OURS = frozenset(
    {"csrfmiddlewaretoken", "flow", "round", "leg", "schema", "again", "change", "do", "fill", "keys", "next"}
)
"""Names of hidden inputs: not something that a person typed."""
COMPANIONS = (
    "-zone",
    "-fold",
    "-blank",
    "-action",
    "-in",
    "-drawn",
    "-items",
    "-branch",
    "-as",
    "-name",
    "-remove",
    "-secret",
)
"""Ends of names of inputs that stand beside one that a person typed in."""


class Request(GatedRequest):
    """A request behind our middleware."""

    user: AbstractUser  # type: ignore[assignment]


class SignedIn(Request):
    """A request of a signed-in person whose browser holds the key."""

    visitor: Visitor


View = Callable[Concatenate[SignedIn, P], HttpResponse]


def signed_in(view: View[P]) -> Callable[Concatenate[Request, P], HttpResponse]:
    """Only for people signed in in this browser. A post without is answered with what was typed, to be kept."""

    @functools.wraps(view)
    def guarded(request: Request, *args: P.args, **kwargs: P.kwargs) -> HttpResponse:
        if request.visitor is not None and request.user.pk is not None:
            request.taken = True
            try:
                with timezone.override(wizard.zone_of(request.user)):
                    return view(request, *args, **kwargs)  # type: ignore[arg-type]
            except Http404:
                request.taken = False
                raise
            except wizard.TooMany as too_many:  # where nothing was typed that could be lost
                return too_often(request, too_many)
        if request.method == "POST":
            return lost_post(request, "signed_out")
        return redirect_to_login(address_of(request))

    return cast(Callable[Concatenate[Request, P], HttpResponse], guarded)


def address_of(request: HttpRequest) -> str:
    """Path and query, as a link to this app: what begins with two slashes would lead to another one."""
    return escape_leading_slashes(request.get_full_path())


def own_host(request: HttpRequest) -> str:
    """The name of this app's host, as the browser knows it."""
    return urlsplit(f"//{request.get_host()}").hostname or ""


def limited(response: HttpResponse, too_many: wizard.TooMany) -> HttpResponse:
    """This page, as the answer to what cannot be done just now."""
    response.status_code = 429
    response["Retry-After"] = str(too_many.seconds)
    return response


def too_often(request: HttpRequest, too_many: wizard.TooMany) -> HttpResponse:
    """A page of its own, where nothing was typed that could be lost."""
    return limited(render(request, "account/too_often.html", {"too_many": too_many}), too_many)


def lost_post(request: HttpRequest, reason: str, status: int = 403, **context: Any) -> HttpResponse:
    """A post that could not be taken: says why, shows what was typed, offers to send it again where that helps."""
    context |= {"reason": reason, "typed": typed_in(request), "again": address_of(request)}
    context["token_left_out"] = "token_password" in request.POST
    return render(request, "account/lost_post.html", context, status=status)


def typed_in(request: HttpRequest) -> list[dict[str, Any]]:
    """Every posted value but passwords; `shown` is false for hidden ones."""
    return [
        {
            "name": name,
            "value": value,
            "shown": name not in OURS and not name.endswith(COMPANIONS) and f"{name}-secret" not in request.POST,
        }
        for name, values in posted(request).items()
        if name != "csrfmiddlewaretoken" and "password" not in name
        for value in values
    ]


def posted(request: HttpRequest) -> dict[str, list[str]]:
    """What was posted, with files as base64 text in the place of their names."""
    found = {name: [str(value) for value in values] for name, values in request.POST.lists()}
    for name in [name.removesuffix("-remove") for name in found if name.endswith("-remove")]:
        for part in ("", "-name", "-remove"):
            found.pop(name + part, None)
    room = MAX_FILES_BYTES
    for name, file in request.FILES.items():
        assert isinstance(file, UploadedFile)
        kept, size = name.removesuffix("-file"), file.size or 0
        fits = size <= min(room, MAX_FILE_BYTES)
        room -= size if fits else 0
        found[kept] = [base64.b64encode(_bytes_of(file)).decode() if fits else FILE_LEFT_OUT]
        found[f"{kept}-name"] = [file.name or ""]
    return _without_too_much(found)


def digest(request: HttpRequest) -> str:
    """What tells a post from others: of everything that was posted but its token."""
    given = {name: values for name, values in posted(request).items() if name != "csrfmiddlewaretoken"}
    return hashlib.sha256(json.dumps(given, sort_keys=True).encode()).hexdigest()


def _bytes_of(file: "UploadedFile[bytes]") -> bytes:
    """All of it, wherever it was read to before; whoever reads it later has it all, too."""
    file.seek(0)
    content: bytes = file.read()
    file.seek(0)
    return content


def _without_too_much(found: dict[str, list[str]]) -> dict[str, list[str]]:
    """Files that came before count, too."""
    room = MAX_FILES_BYTES * 4 // 3 + 64
    for name in [name.removesuffix("-name") for name in found if name.endswith("-name")]:
        size = len("".join(found.get(name, [])))
        if size > room:
            found[name] = [FILE_LEFT_OUT]
        else:
            room -= size
    return found


def uuid_in(text: str) -> uuid.UUID | None:
    """The id that a browser posted, if it is one."""
    try:
        return uuid.UUID(text)
    except ValueError:
        return None
