"""What templates need beside Django's own filters: server text made safe to look at, hosts, and times gone by."""

import zlib
from collections.abc import Iterable, Mapping
from datetime import datetime, timedelta
from typing import Any
from urllib.parse import urlsplit

from django import template
from django.conf import settings
from django.forms.utils import flatatt
from django.utils import timezone
from django.utils.html import format_html
from django.utils.translation import gettext as _

from mrtr_web import facts, live, operations, results, sessions, waits, wizard, wording
from mrtr_web.models import Flow
from mrtr_web.schema.text import clean_text, isolated, one_line

MESSAGE_LIMIT = 20_000
TITLE_LIMIT = 200

WARN_BEFORE = 120
"""Seconds before the end of a session at which a script warns of it."""
NEAR = 600
"""Seconds before the end of a session from which on every page says so."""

TILES = 6
"""Colours of icons that the style sheets have."""
OUR_ENDINGS = ("-zone", "-fold", "-blank", "-action")
SHORT_NUMBER = 3
"""Digits: a posted number of so few may be the index of a choice, and is quickly typed again."""

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
def names(words: str, label: object) -> bool:
    """Whether an error says by itself which field it is about."""
    return isolated(str(label)) in words


@register.filter
def marked(words: str) -> str:
    """An error, with the label in it as words of a server, whose language nobody knows."""
    before, _start, rest = words.partition("\u2068")
    label, _end, after = rest.partition("\u2069")
    return format_html('{}<bdi lang="">{}</bdi>{}', before, label, after) if label else words


@register.filter
def host(url: str) -> str:
    """Host and port of a URL, for people to recognise a server by."""
    return urlsplit(url).netloc.rpartition("@")[2]


@register.filter
def tile(slug: str) -> int:
    """Which of the icons' colours is a server's: always the same one."""
    return zlib.crc32(slug.encode()) % TILES


register.filter(facts.table)
register.filter("attributes", flatatt)


@register.filter
def as_json(value: object) -> str:
    """What a server says as data; a text as it is."""
    return value if isinstance(value, str) else results.written(value, facts.DATA_LIMIT)


@register.filter
def typed_texts(posted: Iterable[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """What of a lost post is worth copying: texts, not the marks of choices, which a server's form posts as numbers."""
    return [each for each in posted if each["shown"] and _worth_copying(each["name"], each["value"])]


def _worth_copying(name: str, value: str) -> bool:
    short = value.isdecimal() and len(value) <= SHORT_NUMBER
    return bool(value) and not short and value not in ("true", "false") and not name.endswith(OUR_ENDINGS)


@register.filter
def share(progress: Mapping[str, Any]) -> str:
    """How much of its total a server has reached, from 0 to 1, as HTML writes numbers."""
    return f"{min(progress['progress'] / progress['total'], 1):.4f}"


@register.filter
def percent(progress: Mapping[str, Any]) -> str:
    return _("%(number)d%%") % {"number": round(100 * float(share(progress)))}


@register.filter
def mark(flow: Flow) -> str:
    """What tells this page of a flow apart from others of it."""
    return live.mark_of(flow)


@register.filter
def elapsed(moment: datetime) -> int:
    """Whole seconds since then."""
    return max(0, int((timezone.now() - moment).total_seconds()))


@register.filter
def reminded(flow: Flow) -> bool:
    """Whether a reviewer has asked the person to go on since the flow is where it is."""
    return flow.reminded_at is not None and flow.reminded_at >= flow.changed_at


@register.simple_tag(takes_context=True)
def reminders(context: template.Context) -> list[Flow]:
    """The requests of the person that reviewers have asked them to go on with."""
    return waits.reminders(context["user"].pk)


@register.filter
def since(moment: datetime) -> str:
    """The time gone by since then, in short."""
    return wording.span(timezone.now() - moment)


@register.filter
def goes_on(flow: Flow) -> bool:
    """Whether a running or state-only flow is expected to move without the person."""
    if flow.state != "not_yet":
        return flow.state == "running"
    return not waits.needs_person(flow) and wizard.goes_on_by_itself(flow)


register.filter(waits.needs_person)


@register.simple_tag(takes_context=True)
def session_left(context: template.Context) -> Mapping[str, Any] | None:
    """When the session ends, for its warning: seconds from now, the moment, and how long before that to warn."""
    found = sessions.left(context["request"]) if "request" in context else None
    if found is None:
        return None
    seconds = min(found.idle, found.absolute)
    warn = min(WARN_BEFORE, settings.CONFIG.session_idle / 2)
    return {
        "seconds": max(0, int(seconds)),
        "warn": int(warn),
        "final": found.absolute <= found.idle + 1,
        "at": timezone.now() + timedelta(seconds=seconds),
        "near": seconds <= NEAR,
    }


register.filter(operations.start_again)


@register.simple_tag
def site_name() -> str:
    """What the team that hosts this calls it."""
    return settings.CONFIG.site_name


@register.simple_tag
def has_logo() -> bool:
    """Whether that team has a logo of its own."""
    return settings.CONFIG.site_logo is not None


@register.simple_tag
def drafts() -> str:
    """Whether browsers may keep half-typed answers over a reload: on or off."""
    return "on" if settings.CONFIG.drafts else "off"
