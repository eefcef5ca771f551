"""How long records stay: the audit trail, and requests that are over."""

from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from django.db.models import QuerySet
from django.db.models.functions import Now

from mrtr_web.flow import ENDS
from mrtr_web.models import AuditEntry, Flow

BATCH = 1000
"""Rows that go in one transaction, so that nobody waits for long."""


@dataclass(frozen=True, slots=True)
class Purged:
    entries: int
    flows: int


def purge(days: int, *, dry_run: bool = False) -> Purged:
    """Delete what is older: rows of the audit trail, and requests that ended, with their legs and rounds."""
    limit = Now() - timedelta(days=days)
    entries = AuditEntry.objects.filter(at__lt=limit).order_by("pk")
    flows = Flow.objects.filter(state__in=ENDS, changed_at__lt=limit).order_by("pk")
    if dry_run:
        return Purged(entries.count(), flows.count())
    return Purged(_emptied(entries), _emptied(flows))


def _emptied(rows: QuerySet[Any]) -> int:
    gone = 0
    while batch := list(rows.values_list("pk", flat=True)[:BATCH]):
        rows.model._default_manager.filter(pk__in=batch).delete()
        gone += len(batch)
    return gone
