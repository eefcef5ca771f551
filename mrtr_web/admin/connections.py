"""People's tokens for servers: that they are there, and since when; deleting one disconnects. Nothing of a token."""

import functools
from typing import Any

from django.contrib import admin, messages
from django.db import transaction
from django.db.models import QuerySet
from django.http import HttpRequest
from django.utils.translation import gettext_lazy as _

from mrtr_web import catalog, oauth, tokens
from mrtr_web.admin import records
from mrtr_web.admin.guarded import Guarded, is_super
from mrtr_web.models import CREDENTIAL_KINDS, Connection


@admin.register(Connection)
class ConnectionAdmin(Guarded):
    """Staff see those of servers that they may review."""

    list_display = fields = ("user", "server", "what", "connected_at", "ends_at", "is_renewed")
    list_select_related = ("user", "server")
    search_fields = ("user__username", "server__name")
    ordering = ("-connected_at",)

    def get_queryset(self, request: HttpRequest) -> QuerySet[Any]:
        return records.reviewed(super().get_queryset(request), request, "server")

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        """As with sessions, those of superusers are for superusers."""
        may = super().has_delete_permission(request, obj)
        return may and (obj is None or is_super(request) or not obj.user.is_superuser)

    @admin.display(description=_("Kind"), ordering="kind")
    def what(self, row: Connection) -> str:
        return str(dict(CREDENTIAL_KINDS).get(row.kind, row.kind))

    @admin.display(description=_("Renewed"))
    def is_renewed(self, row: Connection) -> str:
        if row.renew_at is not None:
            return str(_("by itself, when it is used"))
        if not tokens.serves(row):
            return str(_("no: it has ended"))
        return str(_("no") if row.ends_at else _("not needed: no end is known"))

    def log_deletions(self, request: HttpRequest, queryset: QuerySet[Any]) -> None:  # type: ignore[override]
        """The audit trail has it. Django's own log would keep the person's name when they are gone."""

    def delete_model(self, request: HttpRequest, obj: Connection) -> None:
        self._disconnect(request, [obj])

    def delete_queryset(self, request: HttpRequest, queryset: Any) -> None:
        self._disconnect(request, list(queryset.select_related("user", "server")))

    def _disconnect(self, request: HttpRequest, rows: list[Connection]) -> None:
        """Deleted here at once, and revoked there as soon as that is committed."""
        dropped = oauth.forget(rows, by=request.user.pk)
        for row in rows:
            catalog.forget_own(row.server, row.user_id)
        transaction.on_commit(functools.partial(_revoke, request, dropped))


def _revoke(request: HttpRequest, dropped: list[oauth.Dropped]) -> None:
    """Says what could not be revoked."""
    if failed := [row for (row, _held), done in zip(dropped, oauth.revoke(dropped), strict=True) if done is False]:
        words = _("Deleted here, but its sign-in server could not be told, and may accept it until it runs out: %s")
        messages.warning(request, words % ", ".join(map(str, failed)))
