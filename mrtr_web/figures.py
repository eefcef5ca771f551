"""The numbers of the review desk: what happened lately, and who took how long for it. A constant number of queries."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from statistics import median
from typing import Any

from django.contrib.auth.models import AbstractUser
from django.db.models import Count, F, QuerySet
from django.utils import timezone

from mrtr_web import catalog, operations, review
from mrtr_web.flow import State
from mrtr_web.models import Flow, Leg, Round
from mrtr_web.rounds import Action

DAYS = 30
MOST = 10_000
"""Of requests, legs and rounds, the newest, that are looked at."""
Key = tuple[int, str, str, str]
"""An operation: id of its server, method, name, label."""


@dataclass(slots=True)
class _Seen:
    """What was seen of one operation."""

    rounds: list[int] = field(default_factory=list)
    server: list[float] = field(default_factory=list)
    """Seconds of its legs."""
    people: list[float] = field(default_factory=list)
    """Seconds of its rounds."""
    actions: Counter[str] = field(default_factory=Counter)


@dataclass(frozen=True, slots=True)
class Operation:
    """One operation in numbers; None where there is nothing to tell. Shares in percent of all steps."""

    server: str
    method: str
    name: str
    flows: int
    server_time: timedelta | None
    people_time: timedelta | None
    median_rounds: float
    most_rounds: int
    declined: int | None
    undecided: int | None
    title: str = ""
    """What it is listed as for who reads; "" where it is not."""

    @property
    def called(self) -> str:
        return self.title or self.name


@dataclass(frozen=True, slots=True)
class Figures:
    states: Mapping[str, int]
    operations: list[Operation]
    cut: bool
    """Whether there were more requests than are looked at."""

    @property
    def are_answered(self) -> bool:
        """Whether there is anything to tell of what people did."""
        return any(row.people_time is not None for row in self.operations)


def read(user: AbstractUser) -> Figures:
    """The numbers of the servers that this person reviews."""
    since = timezone.now() - timedelta(days=DAYS)
    flows = review.flows(user).filter(started_at__gte=since)
    seen = _seen(flows)
    servers = {server.pk: server for server in review.servers(user)}
    catalog.attach(user.pk, *servers.values())
    titles = {pk: operations.titles(server) for pk, server in servers.items()}
    known = ((key, each) for key, each in seen.items() if key[0] in servers)
    rows = [_operation(servers[key[0]].name, key, each, titles[key[0]]) for key, each in known]
    counted = dict(flows.order_by().values_list("state").annotate(Count("pk")))
    states = {state.value: counted[state] for state in State if state in counted}
    return Figures(states, sorted(rows, key=lambda row: -row.flows), sum(counted.values()) > MOST)


def _seen(flows: QuerySet[Flow]) -> dict[Key, _Seen]:
    seen: dict[Key, _Seen] = defaultdict(_Seen)
    newest = flows.order_by("-started_at")
    for *key, rounds in newest.values_list("server", "method", "name", "label", "round")[:MOST]:
        seen[_key(key)].rounds.append(rounds)
    legs = Leg.objects.filter(sent_at__isnull=False, ended_at__isnull=False)
    for *key, sent, ended in _newest(legs, flows, "sent_at", "ended_at"):
        seen[_key(key)].server.append((ended - sent).total_seconds())
    answered = Round.objects.filter(answered_at__isnull=False)
    for *key, asked, then, actions in _newest(answered, flows, "asked_at", "answered_at", "actions"):
        seen[_key(key)].people.append((then - asked).total_seconds())
        seen[_key(key)].actions.update(actions or ())
    return {key: each for key, each in seen.items() if each.rounds}


def _newest(rows: QuerySet[Any], flows: QuerySet[Flow], *fields: str) -> Iterable[tuple[Any, ...]]:
    """Of these requests' rows, those of the newest."""
    found = rows.filter(flow__in=flows.order_by()).order_by(F("flow__started_at").desc())
    return found.values_list("flow__server", "flow__method", "flow__name", "flow__label", *fields)[:MOST]


def _key(parts: list[Any]) -> Key:
    server, method, name, label = parts
    return server, method, name, label


def _operation(server: str, key: Key, seen: _Seen, titles: Mapping[tuple[str, str], str]) -> Operation:
    _, method, name, label = key
    return Operation(
        server,
        method,
        name or label,
        flows=len(seen.rounds),
        server_time=_typical(seen.server),
        people_time=_typical(seen.people),
        median_rounds=median(seen.rounds),
        most_rounds=max(seen.rounds),
        declined=_share(seen.actions, Action.DECLINE),
        undecided=_share(seen.actions, Action.CANCEL),
        title=titles.get((method, name), ""),
    )


def _typical(seconds: list[float]) -> timedelta | None:
    return timedelta(seconds=median(seconds)) if seconds else None


def _share(actions: Counter[str], action: Action) -> int | None:
    return round(100 * actions[action] / actions.total()) if actions else None
