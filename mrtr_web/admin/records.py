"""The records of requests, to be read: ids, names, times, counts, outcomes. Staff see those of their servers."""

from typing import Any, ClassVar

from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest
from django.utils.translation import gettext_lazy as _

from mrtr_web import review
from mrtr_web.admin.guarded import Guarded, is_super
from mrtr_web.models import AuditEntry, Finding, Flow, Leg, Round


def reviewed(found: QuerySet[Any], request: HttpRequest, of_server: str) -> QuerySet[Any]:
    """Of these rows, those about servers that this person may review."""
    user: Any = request.user
    return found if is_super(request) else found.filter(**{f"{of_server}__in": review.servers(user).values("pk")})


class Records(Guarded):
    """Nobody adds, changes or deletes these."""

    of_server: ClassVar[str]
    """The lookup that leads to the server's id."""
    show_full_result_count = False
    actions = None

    def has_add_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    def get_queryset(self, request: HttpRequest) -> QuerySet[Any]:
        return reviewed(super().get_queryset(request), request, self.of_server)


@admin.register(Flow)
class FlowAdmin(Records):
    of_server = "server"
    list_display = ("reference", "server", "user", "method", "name", "state", "round", "started_at", "changed_at")
    list_select_related = ("server", "user")
    list_filter = ("state", "method")
    fields = (
        *("id", "server", "user", "method", "name", "label", "state", "outcome", "round", "state_only"),
        *("started_at", "changed_at", "lease_until", "taken_by", "note", "reason", "reminded_at"),
    )

    @admin.display(description=_("Reference"), ordering="id")
    def reference(self, row: Flow) -> str:
        return row.reference


@admin.register(Round)
class RoundAdmin(Records):
    of_server = "flow__server"
    list_display = ("flow", "number", "kinds", "hosts", "warnings", "actions_taken", "asked_at", "answered_at")
    list_select_related = ("flow",)
    ordering = ("-asked_at",)
    fields = ("flow", "number", "kinds", "hosts", "warnings", "actions_taken", "asked_at", "answered_at")
    readonly_fields = ("actions_taken",)

    @admin.display(description=_("actions"))
    def actions_taken(self, row: Round) -> str:
        return ", ".join(row.actions or ()) or "-"


@admin.register(Leg)
class LegAdmin(Records):
    of_server = "flow__server"
    list_display = fields = ("id", "flow", "round", "started_at", "sent_at", "ended_at", "outcome")
    list_select_related = ("flow",)
    ordering = ("-started_at",)


@admin.register(AuditEntry)
class AuditEntryAdmin(Records):
    of_server = "server_id"
    list_display = ("at", "by", "event", "person", "server", "method", "name", "before", "after", "round", "outcome")
    list_filter = ("event",)


@admin.register(Finding)
class FindingAdmin(Records):
    of_server = "server"
    list_display = fields = ("server", "rule", "meaning", "count", "first_at", "last_at")
    list_select_related = ("server",)
    readonly_fields = ("meaning",)
    list_filter = ("rule",)

    @admin.display(description=_("Meaning"))
    def meaning(self, row: Finding) -> str:
        return row.meaning
