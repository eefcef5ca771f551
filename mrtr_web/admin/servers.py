"""Servers: registered, changed, tested, imported."""

from typing import Any, ClassVar

from django.contrib import admin, messages
from django.core.exceptions import PermissionDenied
from django.db.models import QuerySet
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.urls import path, reverse
from django.utils.html import format_html_join
from django.utils.translation import gettext, gettext_lazy, ngettext
from django.utils.translation import gettext_lazy as _
from django.views.decorators.http import require_POST

from mrtr_web import allowances, catalog, credentials, egress, entries, kept, ledger, probe
from mrtr_web.admin import clientform, credentialform, records
from mrtr_web.admin.guarded import Guarded, is_super
from mrtr_web.admin.importing import import_page
from mrtr_web.admin.serverform import ServerForm
from mrtr_web.flow import Act
from mrtr_web.models import Connection, Finding, Server
from mrtr_web.schema.text import clean_text

_PEOPLE_SEE = ("slug", "name", "letter", "description", "tags")
_FIELDSETS: Any = [
    (_("What people see"), {"fields": _PEOPLE_SEE}),
    (_("Where it is"), {"fields": ("url", "private_networks", "silence_timeout", "total_timeout")}),
    (_("Credential"), {"fields": ("credential_status", *credentialform.OF_ALL)}),
    (
        _("Signing in (OAuth)"),
        {
            "fields": clientform.FIELDS,
            "description": _(
                "For servers at which each person signs in. All empty: this app registers itself there, or is known "
                "by its metadata document."
            ),
        },
    ),
    (_("What it may ask"), {"fields": ("capabilities", "roots")}),
    (_("Who and what"), {"fields": ("groups", "hidden_tools", "hide_too", "not_offered", "enabled", "keep_messages")}),
]
_ASKED_ANEW = {"url", "private_networks", "capabilities", *credentialform.FIELDS}


class FindingInline(admin.TabularInline):  # type: ignore[type-arg]
    """Rules that this server was seen to break; docs/conformance.md says what each means."""

    model = Finding
    fields = readonly_fields = ("meaning", "count", "first_at", "last_at")
    extra = 0
    can_delete = False

    def get_queryset(self, request: HttpRequest) -> QuerySet[Any]:
        return records.reviewed(super().get_queryset(request), request, "server")

    def has_add_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False


@admin.register(Server)
class ServerAdmin(Guarded):
    form = ServerForm
    list_display = ("name", "slug", "url", "enabled", "credential_status")
    search_fields = ("name", "slug", "url")
    readonly_fields = ("credential_status", "not_offered")
    filter_horizontal = ("groups",)
    inlines: ClassVar = [FindingInline]

    def get_fieldsets(self, request: HttpRequest, obj: Any = None) -> Any:
        if is_super(request):
            return _FIELDSETS
        may_change = self.has_change_permission(request, obj) if obj else self.has_add_permission(request)
        hidden = set(credentialform.OF_SUPERUSERS if may_change else ("hide_too", *credentialform.FIELDS))
        return [
            (title, options | {"fields": tuple(_shown(name) for name in options["fields"] if name not in hidden)})
            for title, options in _FIELDSETS
            if not hidden.issuperset(options["fields"])
        ]

    def get_readonly_fields(self, request: HttpRequest, obj: Any = None) -> Any:
        """What reaches this app's own surroundings is for superusers: private networks, variables and files."""
        own = () if is_super(request) else ("private_networks", *credentialform.OF_SUPERUSERS)
        return (*self.readonly_fields, "listed_networks", *own)

    def get_form(self, request: HttpRequest, obj: Any = None, change: bool = False, **options: Any) -> Any:
        form: Any = super().get_form(request, obj, change, **options)
        form.looker = request.user.pk
        return form

    def get_urls(self) -> Any:
        view = self.admin_site.admin_view
        own = [
            path("import/", view(import_page), name="mrtr_web_server_import"),
            path("<int:pk>/test/", view(require_POST(self.test)), name="mrtr_web_server_test"),
        ]
        return own + super().get_urls()

    def save_model(self, request: HttpRequest, obj: Server, form: Any, change: bool) -> None:
        changed = [name for name in form.changed_data if name != "enabled" or not change]
        if change and obj.private_networks and not is_super(request) and _is_moved(form):
            obj.private_networks = []
            changed.append("private_networks")
            messages.warning(request, gettext("Its private networks were allowed for another address: taken away."))
        wanted, obj.enabled = obj.enabled, form.initial["enabled"] if change else obj.enabled
        if _ASKED_ANEW & set(changed):
            catalog.forget_listings(obj)
        super().save_model(request, obj, form, change)
        _settle(request, obj, form)
        obj.save()
        if not obj.keep_messages:
            kept.forget(obj)
        if changed:
            event = Act.SERVER_CHANGED if change else Act.SERVER_ADDED
            ledger.note_server(obj, event, by=request.user.pk, note=", ".join(changed)[:300])
        if wanted != obj.enabled:
            ledger.switch(obj, on=wanted, by=request.user.pk)
            obj.enabled = wanted
        request.saved_server = obj  # type: ignore[attr-defined]

    def changeform_view(self, request: HttpRequest, *args: Any, **options: Any) -> Any:
        """The server is asked once it is saved, outside the transaction."""
        response = super().changeform_view(request, *args, **options)
        if (saved := getattr(request, "saved_server", None)) is not None:
            _tell(request, saved)
        return response

    def test(self, request: HttpRequest, pk: int) -> HttpResponse:
        """Test connection: asks the server as it is saved."""
        server = self.get_object(request, str(pk))
        if server is None:
            raise Http404
        if not self.has_change_permission(request, server):
            raise PermissionDenied
        _tell(request, server)
        return HttpResponseRedirect(reverse("admin:mrtr_web_server_change", args=[pk]))

    def get_deleted_objects(self, objs: Any, request: HttpRequest) -> Any:
        """What it was seen to break goes with it, and people's tokens for it.

        Requests do not: a server that has some is switched off instead.
        """
        to_delete, counts, needed, protected = super().get_deleted_objects(objs, request)
        let_go = {Finding._meta.verbose_name, Connection._meta.verbose_name}
        return to_delete, counts, set(needed) - let_go, protected

    def delete_model(self, request: HttpRequest, obj: Server) -> None:
        ledger.note_server(obj, Act.SERVER_REMOVED, by=request.user.pk)
        super().delete_model(request, obj)

    def delete_queryset(self, request: HttpRequest, queryset: Any) -> None:
        for server in queryset:
            self.delete_model(request, server)

    @admin.display(description=gettext_lazy("Credential"))
    def credential_status(self, server: Server) -> str:
        trouble = credentials.trouble(server)
        if trouble:
            return gettext("set, but unusable: %s") % trouble
        match server.credential_kind:
            case "none":
                return gettext("not set")
            case "each":
                return gettext("each person gives a token of their own")
            case "oauth" if server.credential_sealed is None and server.credential_source == "form":
                return gettext("each person signs in; this app registers itself there")
            case "oauth":
                return gettext("each person signs in; the client is set")
        return gettext("set")

    @admin.display(description=gettext_lazy("Private networks"))
    def listed_networks(self, server: Server) -> str:
        return ", ".join(server.private_networks) or "-"

    @admin.display(description=gettext_lazy("Listed, but not offered"))
    def not_offered(self, server: Server) -> str:
        """What people do not see, and why."""
        catalog.attach(0, server)
        told = [(clean_text(name, 200), clean_text(reason, 500)) for name, reason in entries.unusable(server)]
        return format_html_join("", "<p><strong>{}</strong>: {}</p>", told) or "-"


def _settle(request: HttpRequest, server: Server, form: ServerForm) -> None:
    """Give the server its credential, and say what was dropped: those people have to connect again."""
    connections = Connection.objects.filter(server=server)
    before = connections.count()
    if form.settle(server, request.user.pk):
        text = gettext("Its credential was given for another address and has been dropped: give it anew.")
        messages.warning(request, text)
    if lost := before - connections.count():
        text = ngettext("The token of %d person was dropped.", "The tokens of %d people were dropped.", lost) % lost
        messages.warning(request, text)


def _is_moved(form: ServerForm) -> bool:
    """Whether it is saved with another origin than it had."""
    return egress.origin_of(form.initial["url"]) != egress.origin_of(form.instance.url)


def _shown(name: str) -> str:
    return "listed_networks" if name == "private_networks" else name


def _tell(request: HttpRequest, server: Server) -> None:
    """Ask the server, and say how that went."""
    try:
        allowances.spend(request.user.pk or 0, "test", server.pk)
    except allowances.TooMany as too_many:
        text = ngettext(
            "It was not asked: that was a lot in a short time. Wait %d second, then test its connection.",
            "It was not asked: that was a lot in a short time. Wait %d seconds, then test its connection.",
            too_many.seconds,
        )
        messages.warning(request, text % too_many.seconds)
        return
    report = probe.probe(server, request.user.pk)
    messages.add_message(request, messages.SUCCESS if report.reachable else messages.WARNING, report.words)
