"""People and their sessions. Ending a session goes through the review desk's way out, and so does deleting one here."""

from datetime import datetime
from typing import Any

from django.apps import apps
from django.contrib import admin, messages
from django.contrib.auth.admin import GroupAdmin, UserAdmin
from django.contrib.auth.forms import AdminPasswordChangeForm, UserChangeForm
from django.contrib.auth.models import Group, User
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest
from django.utils.translation import gettext_lazy as _
from django.utils.translation import ngettext

from mrtr_web import review, sessions
from mrtr_web.admin.guarded import DrawnForm, Guarded, is_super
from mrtr_web.models import Connection, Session

_POWERS = ("is_staff", "is_superuser", "groups", "user_permissions")

admin.site.unregister([User, Group])
if apps.is_installed("allauth.socialaccount"):  # the provider is that of the settings, whatever its tables say
    for name in ("account", "socialaccount"):
        admin.site.unregister(list(filter(admin.site.is_registered, apps.get_app_config(name).get_models())))


class PersonForm(DrawnForm, UserChangeForm):  # type: ignore[type-arg]
    pass


class PasswordForm(AdminPasswordChangeForm):  # type: ignore[type-arg]
    """Who has no password any more is signed out as with a new one: elsewhere, where it is one's own."""

    def save(self, commit: bool = True) -> Any:
        person = super().save(commit)
        if not person.has_usable_password():
            sessions.end_elsewhere(person.pk)
        return person


@admin.register(User)
class PersonAdmin(Guarded, UserAdmin):  # type: ignore[type-arg]
    """Only superusers give powers, or change people with powers that one has not: who sets a password takes them."""

    form = PersonForm
    change_password_form = PasswordForm
    actions = ("end_sessions",)

    def get_readonly_fields(self, request: HttpRequest, obj: Any = None) -> Any:
        return ("last_login", "date_joined", *(() if is_super(request) else _POWERS))

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return super().has_change_permission(request, obj) and _is_within(request, obj)

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return super().has_delete_permission(request, obj) and _is_within(request, obj)

    def has_end_sessions_permission(self, request: HttpRequest) -> bool:
        return is_super(request) and super().has_change_permission(request)

    @admin.action(description=_("End their sessions"), permissions=["end_sessions"])
    def end_sessions(self, request: HttpRequest, queryset: Any) -> None:
        ended = sum(
            review.end_sessions(person, by=request.user.pk or 0) for person in queryset.exclude(pk=request.user.pk)
        )
        text = ngettext("%d session was ended.", "%d sessions were ended.", ended) % ended
        own = _("Your own are left: sign out to end them.")  # gettext's own programs do not look into f-strings
        messages.success(request, f"{text} {own}")

    def get_deleted_objects(self, objs: Any, request: HttpRequest) -> Any:
        """Their tokens for servers go with them."""
        to_delete, counts, needed, protected = super().get_deleted_objects(objs, request)
        return to_delete, counts, set(needed) - {Connection._meta.verbose_name}, protected

    def delete_model(self, request: HttpRequest, obj: User) -> None:
        review.end_sessions(obj, by=request.user.pk or 0)
        super().delete_model(request, obj)

    def delete_queryset(self, request: HttpRequest, queryset: Any) -> None:
        for person in queryset:
            self.delete_model(request, person)


@admin.register(Group)
class PeopleAdmin(Guarded, GroupAdmin):
    """Permissions are powers; and with its last group, a server is everybody's."""

    form = DrawnForm

    def get_readonly_fields(self, request: HttpRequest, obj: Any = None) -> Any:
        return () if is_super(request) else ("permissions",)

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return super().has_delete_permission(request, obj) and is_super(request)


@admin.register(Session)
class SessionAdmin(Guarded):
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
        return session.since

    def delete_model(self, request: HttpRequest, obj: Session) -> None:
        review.end_session(obj, by=request.user.pk or 0)

    def delete_queryset(self, request: HttpRequest, queryset: Any) -> None:
        if queryset.filter(pk=_own(request)).exists():
            raise PermissionDenied
        for session in queryset:
            self.delete_model(request, session)


def _own(request: HttpRequest) -> int | None:
    visitor = getattr(request, "visitor", None)
    return visitor.session if visitor else None


def _is_within(request: HttpRequest, person: User | None) -> bool:
    """Whether whoever takes this person's place gains no power by it."""
    user: Any = request.user
    return is_super(request) or person is None or not person.is_superuser and _powers(person) <= _powers(user)


def _powers(person: User) -> set[tuple[int | None, int | None]]:
    """Permissions, and the groups of who has any: at the review desk they say for which servers."""
    in_person = {(None, pk) for pk in person.user_permissions.values_list("pk", flat=True)}
    found = in_person | set(person.groups.values_list("pk", "permissions"))
    return found if any(permission for _group, permission in found) else set()
