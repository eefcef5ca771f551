"""How long records stay: sessions, requests that are over, the audit trail; and how a person leaves."""

from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from axes.models import AccessAttempt
from django.contrib.admin.models import LogEntry
from django.contrib.auth.models import AbstractUser
from django.db import transaction
from django.db.models import Q, QuerySet
from django.db.models.functions import Now
from django.utils import timezone

from mrtr_web.flow import ENDS
from mrtr_web.models import AuditEntry, Flow, Session
from mrtr_web.sessions import SessionStore, end_sessions_of

BATCH = 1000
"""Rows that go in one transaction, so that nobody waits for long."""


@dataclass(frozen=True, slots=True)
class Purged:
    sessions: int
    entries: int
    flows: int


def purge(days: int, *, dry_run: bool = False) -> Purged:
    """End the sessions that ran out, and delete what is older: rows of the audit trail, requests that ended.

    Their legs and rounds go with them.
    """
    expired = Session.objects.filter(expire_date__lte=timezone.now()).count()
    limit = Now() - timedelta(days=days)
    entries = AuditEntry.objects.filter(at__lt=limit).order_by("pk")
    flows = Flow.objects.filter(state__in=ENDS, changed_at__lt=limit).order_by("pk")
    if dry_run:
        return Purged(expired, entries.count(), flows.count())
    SessionStore.clear_expired()
    return Purged(expired, _emptied(entries), _emptied(flows))


@dataclass(frozen=True, slots=True)
class Traces:
    """What is known of a person; `acts` are rows of the audit trail on what they did to others' requests."""

    sessions: int
    flows: int
    entries: int
    acts: int


def traces(person: AbstractUser) -> Traces:
    name = person.get_username()
    return Traces(
        Session.objects.filter(user=person.pk).count(),
        Flow.objects.filter(user=person.pk).count(),
        _about(person).count(),
        AuditEntry.objects.filter(by=name).exclude(person=name).count(),
    )


@transaction.atomic
def delete_person(person: AbstractUser) -> None:
    """The account and all rows about it; what they did to others' requests stays on record until the purge.

    No request of theirs moves on meanwhile, which would write another row: they are held.
    """
    name, pk = person.get_username(), person.pk
    end_sessions_of(pk)
    list(Flow.objects.select_for_update().filter(user=pk).values_list("pk"))
    AccessAttempt.objects.filter(username=name).delete()
    LogEntry.objects.filter(content_type__app_label="auth", content_type__model="user", object_id=str(pk)).delete()
    _about(person).delete()
    person.delete()


def _about(person: AbstractUser) -> QuerySet[AuditEntry]:
    """Rows about somebody and their requests. Their name may have been another one then, and somebody else's."""
    own, others = Flow.objects.filter(user=person.pk), Flow.objects.exclude(user=person.pk)
    found = AuditEntry.objects.filter(Q(person=person.get_username()) | Q(flow__in=own.values("pk")))
    return found.exclude(flow__in=others.values("pk"))


def _emptied(rows: QuerySet[Any]) -> int:
    gone = 0
    while batch := list(rows.values_list("pk", flat=True)[:BATCH]):
        rows.model._default_manager.filter(pk__in=batch).delete()
        gone += len(batch)
    return gone
