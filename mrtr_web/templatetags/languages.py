"""The switch of languages: where it leads back to, and when it opens a page beside the one that is read."""

import contextlib
from typing import Any

from django import template
from django.conf import settings
from django.http import HttpRequest
from django.urls import Resolver404, ResolverMatch, resolve, reverse
from django.utils.translation import get_language

register = template.Library()

TYPED_IN = frozenset({"tool", "prompt", "resource", "connection", "review_flow", "review_servers"})
"""Pages that people type in for a while: the switch leaves them as they are, and opens another tab. So does that of a
request, while it asks something."""
READ_IN_ADMIN = frozenset({"index", "app_list"})
POST_ONLY = frozenset({"disconnect", "suggest", "switch"})


@register.inclusion_tag("_language.html", takes_context=True)
def language_switch(context: template.Context) -> dict[str, Any]:
    """A button for each language but the one that is shown."""
    request: HttpRequest = context["request"]
    return {
        "others": [(code, name) for code, name in settings.LANGUAGES if code != get_language()],
        "next": _shown_by_get(request),
        "beside": request.method == "POST" or _is_typed_in(request.resolver_match, "round_form" in context),
        "csrf_token": context.get("csrf_token"),
    }


def _is_typed_in(match: ResolverMatch | None, asks: bool) -> bool:
    if match is None:
        return False
    if match.app_name == "admin":
        return match.url_name not in READ_IN_ADMIN and not (match.url_name or "").endswith("_changelist")
    return asks if match.url_name == "flow" else match.url_name in TYPED_IN


def _match(request: HttpRequest) -> ResolverMatch | None:
    """Also where the request was refused before it was led to a page."""
    with contextlib.suppress(Resolver404):
        return request.resolver_match or resolve(request.path_info)
    return None


def _shown_by_get(request: HttpRequest) -> str:
    """The address of this page; where it answers a post that has none of its own, the page that it belongs to."""
    match = _match(request)
    if request.method != "POST" or match is None:
        return request.get_full_path()
    if "flow_id" in match.kwargs:
        of_reviewers = request.path.startswith(reverse("review"))
        return reverse("review_flow" if of_reviewers else "flow", args=[match.kwargs["flow_id"]])
    return reverse("home") if match.url_name in POST_ONLY else request.get_full_path()
