"""People and their sessions. Ending a session goes through sessions.end_session(), and so does deleting one here."""

from datetime import datetime, timedelta
from typing import Any

from django.conf import settings
from django.contrib import admin, messages
from django.contrib.auth.admin import UserAdmin
from django.contrib.auth.models import User
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest
from django.utils.translation import gettext_lazy as _
from django.utils.translation import ngettext

from mrtr_web import review, sessions
from mrtr_web.models import Session

_POWERS = ("is_staff", "is_superuser", "groups", "user_permissions")

admin.site.unregister(User)


@admin.register(User)
class PersonAdmin(UserAdmin):  # type: ignore[type-arg]
    """Only superusers give powers, and change those who have them all."""

    actions = ("end_sessions",)

    def get_readonly_fields(self, request: HttpRequest, obj: Any = None) -> Any:
        return () if _is_super(request) else _POWERS

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return super().has_change_permission(request, obj) and (_is_super(request) or not _is_super_person(obj))

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return super().has_delete_permission(request, obj) and (_is_super(request) or not _is_super_person(obj))

    def has_end_sessions_permission(self, request: HttpRequest) -> bool:
        return _is_super(request) and super().has_change_permission(request)

    @admin.action(description=_("End their sessions"), permissions=["end_sessions"])
    def end_sessions(self, request: HttpRequest, queryset: Any) -> None:
        ended = sum(
            review.end_sessions(person, by=request.user.pk or 0) for person in queryset.exclude(pk=request.user.pk)
        )
        text = ngettext("%d session was ended.", "%d sessions were ended.", ended) % ended
        messages.success(request, f"{text} {_('Your own are left: sign out to end them.')}")

    def delete_model(self, request: HttpRequest, obj: User) -> None:
        sessions.end_sessions_of(obj.pk, by=request.user.pk)
        super().delete_model(request, obj)

    def delete_queryset(self, request: HttpRequest, queryset: Any) -> None:
        for person in queryset:
            self.delete_model(request, person)


@admin.register(Session)
class SessionAdmin(admin.ModelAdmin):  # type: ignore[type-arg]
    list_display = fields = ("user", "since", "seen_at", "expire_date", "ends_at")
    list_select_related = ("user",)
    search_fields = ("user__username",)
    ordering = ("-seen_at",)

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        """One's own is ended by signing out."""
        return super().has_delete_permission(request, obj) and (obj is None or obj.pk != _own(request))

    @admin.display(description=_("Signed in since"))
    def since(self, session: Session) -> datetime:
        return session.ends_at - timedelta(seconds=settings.CONFIG.session_absolute)

    def delete_model(self, request: HttpRequest, obj: Session) -> None:
        sessions.end_session(obj.pk, by=request.user.pk)

    def delete_queryset(self, request: HttpRequest, queryset: Any) -> None:
        if queryset.filter(pk=_own(request)).exists():
            raise PermissionDenied
        for pk in list(queryset.values_list("pk", flat=True)):
            sessions.end_session(pk, by=request.user.pk)


def _own(request: HttpRequest) -> int | None:
    visitor = getattr(request, "visitor", None)
    return visitor.session if visitor else None


def _is_super(request: HttpRequest) -> bool:
    return bool(getattr(request.user, "is_superuser", False))


def _is_super_person(person: User | None) -> bool:
    return person is not None and person.is_superuser
