"""The audit trail as reviewers read it: who did what and when, to the requests and servers that they may review."""

from collections.abc import AsyncIterator, Iterable, Mapping
from dataclasses import dataclass
from datetime import MAXYEAR, MINYEAR, date, datetime, time, timedelta
from typing import Any, ClassVar
from uuid import UUID

from django import forms
from django.contrib.auth.models import AbstractUser
from django.db.models import Q, QuerySet
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from mrtr_web import references, review, sheets, wording
from mrtr_web.models import AuditEntry, Server
from mrtr_web.threads import threaded

PER_PAGE = 50
CHUNK = 1000
"""Rows that an export reads at once."""
COLUMNS = (
    *("id", "time", "by", "person", "server", "method", "name", "reference", "request", "event", "before", "after"),
    *("round", "kinds", "actions", "sent_bytes", "received_bytes", "seconds", "outcome", "note"),
)
FAMILIES = {"broken:": _("A rule was broken"), "refused:": _("The server refused")}
"""Outcomes that go on with an id."""


class Wish(forms.Form):
    """What of the trail is to be seen. Every part may be left out."""

    person = forms.CharField(label=_("Person"), required=False, max_length=150)
    by = forms.CharField(label=_("Who did it"), required=False, max_length=150)
    server = forms.ChoiceField(label=_("Server"), required=False)
    event = forms.ChoiceField(label=_("Event"), required=False, choices=[("", _("All")), *wording.EVENTS.items()])
    outcome = forms.ChoiceField(
        label=_("Outcome"), required=False, choices=[("", _("All")), *FAMILIES.items(), *wording.OUTCOMES.items()]
    )
    reference = references.ReferenceField()
    since = forms.DateField(label=_("From"), required=False, widget=forms.DateInput({"type": "date"}))
    until = forms.DateField(label=_("To"), required=False, widget=forms.DateInput({"type": "date"}))
    before = forms.IntegerField(required=False, min_value=1, max_value=2**63 - 1, widget=forms.HiddenInput)
    SHOWN: ClassVar = ("person", "by", "server", "event", "outcome", "reference", "since", "until")

    def __init__(self, data: Mapping[str, Any], servers: Iterable[Server]) -> None:
        super().__init__(data)
        choice = self.fields["server"]
        assert isinstance(choice, forms.ChoiceField)
        choice.choices = [("", _("All")), *((server.slug, server.name) for server in servers)]

    def clean(self) -> None:
        since, until = (self.cleaned_data.get(name) for name in ("since", "until"))
        if since and until and until < since:
            self.add_error("until", _("The last day is before the first one."))


@dataclass(frozen=True, slots=True)
class Page:
    """Rows of the trail, newest first. `before` leads to older ones; None where there are none."""

    rows: list[AuditEntry]
    linked: frozenset[UUID]
    """Requests that are still there."""
    before: int | None


def read(user: AbstractUser, found: QuerySet[AuditEntry], before: int | None) -> Page:
    """A page of what was found: two queries, whatever it is."""
    newest = list(_before(found, before, PER_PAGE + 1))
    rows, more = newest[:PER_PAGE], newest[PER_PAGE:]
    there = review.flows(user).filter(pk__in={row.flow for row in rows if row.flow}).values_list("pk", flat=True)
    return Page(rows, frozenset(there), rows[-1].pk if more else None)


async def export(found: QuerySet[AuditEntry]) -> AsyncIterator[bytes]:
    """All of it as CSV, a chunk at a time: memory stays flat."""
    yield sheets.start(COLUMNS)
    last = None
    while chunk := await threaded(_chunk, found, last):
        last = chunk[-1].pk
        yield b"".join(sheets.line(_cells(entry)) for entry in chunk)


def _chunk(found: QuerySet[AuditEntry], last: int | None) -> list[AuditEntry]:
    return list(_before(found, last, CHUNK))


def find(user: AbstractUser, servers: Mapping[int, Server], wanted: Mapping[str, Any]) -> QuerySet[AuditEntry]:
    """The rows that are wished for, out of those that this person may see."""
    only = Q() if user.is_superuser else Q(server_id__in=list(servers))
    exact = {name: wanted[name] for name in ("person", "by", "event") if wanted[name]}
    if wanted["server"]:
        exact["server_id"] = next(pk for pk, server in servers.items() if server.slug == wanted["server"])
    if wanted["reference"]:
        exact["flow__range"] = references.between(wanted["reference"])
    return AuditEntry.objects.filter(
        only, _days(wanted["since"], wanted["until"]), _outcome(wanted["outcome"]), **exact
    )


def _outcome(code: str) -> Q:
    return Q(outcome__startswith=code) if code in FAMILIES else Q(outcome=code) if code else Q()


def _days(since: date | None, until: date | None) -> Q:
    """From the beginning of a day to the end of another, in the reader's time zone. The ends of time are no limits."""
    only = Q(at__gte=_midnight(since)) if since and since.year > MINYEAR else Q()
    return only & Q(at__lt=_midnight(until + timedelta(days=1))) if until and until.year < MAXYEAR else only


def _midnight(day: date) -> datetime:
    return timezone.make_aware(datetime.combine(day, time.min))


def _before(found: QuerySet[AuditEntry], last: int | None, number: int) -> QuerySet[AuditEntry]:
    return (found.filter(pk__lt=last) if last else found)[:number]


def _cells(entry: AuditEntry) -> list[sheets.Cell]:
    return [
        *(entry.pk, entry.at.isoformat(), entry.by, entry.person, entry.server, entry.method, entry.name),
        *(entry.reference, str(entry.flow or "")),
        *(entry.event, entry.before, entry.after, entry.round),
        *(" ".join(entry.kinds), " ".join(entry.actions), entry.sent_bytes, entry.received_bytes),
        *(entry.duration.total_seconds() if entry.duration is not None else None, entry.outcome, entry.note),
    ]
