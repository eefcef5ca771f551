"""What servers were seen to do wrong, to read and to send to the people who make them. Nothing of anybody's content."""

from urllib.parse import urlsplit

from django.db.models import Count, Max, QuerySet, Sum
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from mrtr_web import findings
from mrtr_web.models import Finding, Server
from mrtr_web.schema.text import clean_text, one_line

MOMENT = "%Y-%m-%d %H:%M UTC"


def overview(servers: QuerySet[Server]) -> QuerySet[Server]:
    """The servers, each with how many rules it was seen to break, how often, and when last."""
    return servers.annotate(
        rules=Count("findings"), times=Sum("findings__count", default=0), last=Max("findings__last_at")
    ).order_by("name")


def rows(server: Server) -> list[tuple[Finding, findings.Rule]]:
    """What was seen of a server, the most frequent first."""
    return [(each, findings.rule(each.rule)) for each in server.findings.order_by("-count", "rule")]


def text(server: Server) -> str:
    """The report as plain text."""
    host = urlsplit(server.url).netloc.rpartition("@")[2]
    head = _("Findings about %(server)s (%(host)s)") % {"server": one_line(clean_text(server.name)), "host": host}
    about = _("Seen by mrtr_web, a client of the Model Context Protocol (revision 2026-07-28), until %s.")
    found = rows(server)
    parts = [_entry(*each) for each in found] or [_("Nothing was seen that breaks a rule.")]
    return "\n\n".join([head, about % timezone.now().strftime(MOMENT), *parts]) + "\n"


def _entry(seen: Finding, rule: findings.Rule) -> str:
    times = ngettext("seen once", "seen %(count)d times", seen.count) % {"count": seen.count}
    when = _("first %(first)s, last %(last)s") % {
        "first": seen.first_at.strftime(MOMENT),
        "last": seen.last_at.strftime(MOMENT),
    }
    lines = [f"{rule.id}: {times}, {when}", rule.meaning, rule.advice, rule.link]
    return "\n    ".join(filter(None, lines))
