"""How often people may do what costs something: exact over all processes, for it is counted in the database.

Of each action a person has an allowance over all servers, and half of it at any one of them.
"""

import math
from collections.abc import Collection
from datetime import timedelta
from typing import Any

from django.conf import settings
from django.db import transaction
from django.db.models import Count, Q
from django.db.models.functions import Now

from mrtr_web import measures, rates
from mrtr_web.flow import OPEN, State
from mrtr_web.models import Allowance, Flow
from mrtr_web.rates import Limit

LIMITS = {
    "suggest": Limit(12, 1 / 6),  # while somebody types
    "ask": Limit(12, 5),  # a server, what it offers
    "test": Limit(12, 5),  # a server, by staff: saved or tested
    "connect": Limit(12, 5),  # tokens pasted, sign-ins begun
    "export": Limit(6, 10),  # of the audit trail
    "password": Limit(5, 180),  # the old one, to set a new one
    "reset": Limit(3, 1200),  # mails to somebody who forgot it
}
"""All but "legs", which are set by MRTR_LEGS_PER_MINUTE."""
LOOK_AGAIN = 10
"""Seconds after which it is worth trying again where other requests must end first."""


class TooMany(Exception):
    """Not now: nothing was done. `why`: pace, running (too many legs under way) or open (too many open flows)."""

    def __init__(self, why: str, wait: float, count: int = 0) -> None:
        super().__init__(why)
        self.why, self.seconds, self.count = why, max(1, math.ceil(wait)), count


@transaction.atomic(savepoint=False)
def spend(user: int, action: str, server: int | None = None) -> None:
    """Take one of what this person may do. Raises TooMany."""
    limit = _limit(action)
    shares = {None: limit} | ({server: limit.half()} if server is not None else {})
    longest = 0.0
    for row in _held(user, action, shares):
        due, wait = rates.take(shares[row.server_id], (row.due - row.now).total_seconds(), 0)
        Allowance.objects.filter(pk=row.pk).update(due=row.now + timedelta(seconds=due))
        longest = max(longest, wait)
    if longest:
        measures.REFUSED.labels(action).inc()
        raise TooMany("pace", longest)


def _limit(action: str) -> Limit:
    return rates.per_minute(settings.CONFIG.legs_per_minute) if action == "legs" else LIMITS[action]


def _held(user: int, action: str, servers: Collection[int | None]) -> list[Any]:
    """The rows, locked in this order until the transaction ends, with the time on the database's clock as `now`."""
    any_of = Q(server=None) | Q(server__in=[server for server in servers if server is not None])
    rows = Allowance.objects.select_for_update().filter(any_of, user=user, action=action).annotate(now=Now())
    held = list(rows.order_by("pk"))
    if len(held) == len(servers):
        return held
    for server in servers:
        which: dict[str, Any] = {"user_id": user, "action": action, "server_id": server}
        # Each is held before the next one is made: else two could wait for each other's.
        Allowance.objects.select_for_update().get_or_create(**which, defaults={"due": Now()})
    return list(rows.order_by("pk"))


def spend_leg(user: int, server: int) -> None:
    """One leg more, which is claimed in this very transaction: who is told TooMany rolls that back."""
    spend(user, "legs", server)  # whose lock makes the counts below exact
    found = Flow.objects.filter(user=user, state__in=OPEN).aggregate(
        open=Count("pk"), running=Count("pk", filter=Q(state=State.RUNNING))
    )
    for why, most in (("running", settings.CONFIG.running_legs), ("open", settings.CONFIG.open_flows)):
        if found[why] > most:
            measures.REFUSED.labels(why).inc()
            raise TooMany(why, LOOK_AGAIN, most)


@transaction.atomic
def forget_free() -> None:
    """Rows that say no more than none would."""
    free = Allowance.objects.select_for_update(skip_locked=True).filter(due__lt=Now())
    Allowance.objects.filter(pk__in=list(free.values_list("pk", flat=True)[:1000])).delete()
