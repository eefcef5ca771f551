"""What templates need beside Django's own filters: server text made safe to look at, hosts, and times gone by."""

from datetime import datetime
from urllib.parse import urlsplit

from django import template
from django.conf import settings
from django.utils import timezone

from mrtr_web.models import Flow
from mrtr_web.schema.text import clean_text, one_line

MESSAGE_LIMIT = 20_000
TITLE_LIMIT = 200
LONGEST_PAUSE = 35
"""Seconds in `not_yet` after which no leg is coming by itself any more: a little over wizard.MAX_PAUSE."""

register = template.Library()


@register.filter
def server_text(value: object, limit: int = MESSAGE_LIMIT) -> str:
    """Text of a server as plain text: hidden characters shown, cut to `limit`. Line breaks stay."""
    return clean_text(str(value), limit)


@register.filter
def server_title(value: object, limit: int = TITLE_LIMIT) -> str:
    """A name or title of a server's, on one line."""
    return one_line(clean_text(str(value), limit))


@register.filter
def host(url: str) -> str:
    """Host and port of a URL, for people to recognise a server by."""
    return urlsplit(url).netloc.rpartition("@")[2]


@register.filter
def elapsed(moment: datetime) -> int:
    """Whole seconds since then."""
    return max(0, int((timezone.now() - moment).total_seconds()))


@register.filter
def goes_on(flow: Flow) -> bool:
    """Whether a running or state-only flow is expected to move without the person."""
    if flow.state != "not_yet":
        return flow.state == "running"
    return flow.state_only < settings.CONFIG.max_state_only_legs and elapsed(flow.changed_at) < LONGEST_PAUSE


@register.simple_tag
def drafts() -> str:
    """Whether browsers may keep half-typed answers over a reload: on or off."""
    return "on" if settings.CONFIG.drafts else "off"
