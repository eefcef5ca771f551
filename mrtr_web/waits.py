"""What open requests wait for: a turn, a server that says “not yet”, or their person.

A server that says “not yet” is asked again without the person, bounded in count and in time (T-12).
"""

import uuid
from collections.abc import Iterable
from datetime import datetime, timedelta

from django.conf import settings
from django.db.models import F
from django.utils import timezone

from mrtr_web.flow import State
from mrtr_web.models import Flow, Leg

MAX_PAUSE = 30.0
SLACK = 5.0
"""Seconds by which a leg may come late; after that no process is going to send it."""


def pause(count: int) -> float:
    """Seconds before the next state-only leg: none the first time, then growing (MR-2, T-12)."""
    return 0.0 if count <= 1 else min(0.25 * 2 ** (count - 2), MAX_PAUSE)


def lasts(row: Flow) -> bool:
    """Whether a state-only flow is still asked again without the person."""
    config = settings.CONFIG
    waited = timezone.now() - row.told_to_wait_at if row.told_to_wait_at else timedelta()
    return row.state_only < config.max_state_only_legs and waited.total_seconds() < config.state_only_timeout


def is_due(row: Flow) -> bool:
    """Whether the next leg should have been sent: the process that would have done it is gone."""
    return (timezone.now() - row.changed_at).total_seconds() > pause(row.state_only) + SLACK


def needs_person(row: Flow) -> bool:
    """Whether a state-only flow goes on only once its person looks at it, or has it asked again."""
    return row.state == State.NOT_YET and (is_due(row) or not lasts(row))


def sent_at(rows: Iterable[Flow]) -> dict[uuid.UUID, datetime | None]:
    """When the leg of each of these flows that runs was sent; None while it waits for its turn."""
    legs = [row.leg for row in rows if row.leg is not None and row.state == State.RUNNING]
    return dict(Leg.objects.filter(pk__in=legs).values_list("flow_id", "sent_at"))


def queued(rows: Iterable[Flow]) -> set[uuid.UUID]:
    """Which of these flows have a leg that still waits for its turn: nothing of it has been sent."""
    return {flow for flow, sent in sent_at(rows).items() if sent is None}


def reminders(user_id: int) -> list[Flow]:
    """The person's requests that a reviewer has asked them to go on with, since they are where they are."""
    waiting = [State.WAITING, State.NOT_YET, State.UNSENT, State.UNKNOWN]
    found = Flow.objects.filter(user=user_id, state__in=waiting, reminded_at__gte=F("changed_at"))
    return list(found.select_related("server")[:5])
