"""The review desk: who may review what, and what they may do. Rights are per group.

A reviewer sees facts of a request, never content, and each intervention leaves a row in the audit trail.
"""

import uuid
from collections.abc import Collection
from dataclasses import dataclass

from django.contrib.auth import get_user_model
from django.contrib.auth.models import AbstractUser, Permission
from django.db import transaction
from django.db.models import Q, QuerySet
from django.db.models.functions import Now

from mrtr_web import ledger, sessions
from mrtr_web.flow import Act, Event, State
from mrtr_web.models import AuditEntry, Flow, Server, Session

PERMISSION = "mrtr_web.review_flow"


def is_reviewer(user: AbstractUser) -> bool:
    """Whether this person may use the desk at all; servers() says for what."""
    return user.has_perm(PERMISSION)


def servers(user: AbstractUser) -> QuerySet[Server]:
    """The servers whose requests this person may review, also those that are switched off.

    Through a group: the servers of that group. In person: those that they may use. A superuser: all.
    """
    if not user.is_active:
        return Server.objects.none()
    if user.is_superuser:
        return Server.objects.all()
    app, name = PERMISSION.split(".")
    given = {"codename": name, "content_type__app_label": app}
    through = user.groups.filter(permissions__in=Permission.objects.filter(**given))
    allowed = Q(groups__in=through)
    if user.user_permissions.filter(**given).exists():
        allowed |= Q(groups=None) | Q(groups__in=user.groups.all())
    return Server.objects.filter(pk__in=Server.objects.filter(allowed).values("pk"))


def flows(user: AbstractUser) -> QuerySet[Flow]:
    """The requests that this person may review."""
    if user.is_active and user.is_superuser:
        return Flow.objects.all()
    return Flow.objects.filter(server__in=servers(user))


@dataclass(frozen=True, slots=True)
class Scope:
    """What one reviewer's queue is made of: servers by id, and a mark that changes with everything in it."""

    servers: frozenset[int]
    mark: str


def scope(user_id: int) -> Scope | None:
    """The queue of this person; None for who is no reviewer (any more)."""
    user = get_user_model().objects.filter(pk=user_id, is_active=True).first()
    if user is None or not is_reviewer(user):
        return None
    ids = frozenset(servers(user).values_list("pk", flat=True))
    return Scope(ids, mark(ids))


def mark(server_ids: Collection[int]) -> str:
    """What tells two sights of the queue apart: each change of it leaves a row in the audit trail."""
    seen = AuditEntry.objects.filter(server_id__in=server_ids).order_by("-id")
    return str(seen.values_list("pk", flat=True).first() or 0)


def find(user: AbstractUser, flow_id: uuid.UUID) -> Flow | None:
    """One request, brought up to date where its lease has run out. None where this person may not review it."""
    ledger.expire_leases(pk=flow_id)
    return flows(user).select_related("user", "server", "taken_by").filter(pk=flow_id).first()


def withdraw(flow: Flow, by: int, reason: str) -> bool:
    """End a request; a leg in the air is cut off. The person reads the reason. False where it was over already."""
    return ledger.move(
        flow.pk, Event.WITHDRAWN, by=by, audit={"note": reason}, reason=reason, lease_until=None, taken_by=None
    )


def remind(flow: Flow, by: int) -> bool:
    """Ask the person to go on, on the pages that they have open. False where nothing waits for them."""
    waits = Q(state__in=[State.WAITING, State.NOT_YET, State.UNSENT, State.UNKNOWN])
    return ledger.intervene(flow.pk, Act.REMINDED, by=by, where=waits, reminded_at=Now())


def take(flow: Flow, by: int, note: str) -> bool:
    """Look after a request from now on, with a note for the other reviewers. False where it is over."""
    return ledger.intervene(flow.pk, Act.TAKEN, by=by, remark=note, taken_by=by, note=note)


def release(flow: Flow, by: int) -> bool:
    """Leave a request to others. False where it is over."""
    return ledger.intervene(flow.pk, Act.RELEASED, by=by, taken_by=None, note="")


def may_switch(user: AbstractUser) -> bool:
    """Whether this person may switch servers off and on."""
    return user.has_perm("mrtr_web.switch_server")


def may_end_sessions(user: AbstractUser, person: AbstractUser) -> bool:
    """Whether this user may end that person's sessions: those of superusers are for superusers."""
    return user.has_perm("mrtr_web.end_sessions") and (user.is_superuser or not person.is_superuser)


def end_session(session: Session, by: int) -> None:
    """End one session: its open requests expire, what it keeps is gone."""
    with transaction.atomic():
        if sessions.end_session(session.pk, by=by):
            person = session.user.get_username() if session.user else ""
            ledger.note_person(person, Act.SESSIONS_ENDED, by=by)


def end_sessions(person: AbstractUser, by: int, *, but: int | None = None) -> int:
    """End the sessions of a person, save one: open requests expire, what they keep is gone. Returns how many ended."""
    with transaction.atomic():
        ended = sessions.end_sessions_of(person.pk, but=but, by=by)
        ledger.note_person(person.get_username(), Act.SESSIONS_ENDED, by=by)
    return ended
