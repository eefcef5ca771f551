"""Django's admin: servers, and the rules that they were seen to break. People's requests are not here."""

from typing import Any, ClassVar

from django import forms
from django.contrib import admin
from django.http import HttpRequest
from django.utils.html import format_html_join
from django.utils.translation import gettext_lazy as _

from mrtr_web import catalog, entries, roots
from mrtr_web.models import CAPABILITIES, Finding, Server
from mrtr_web.schema.text import clean_text


class RootsField(forms.CharField):
    """Roots, one a line."""

    widget = forms.Textarea

    def prepare_value(self, value: Any) -> Any:
        return roots.write_lines(value) if isinstance(value, list) else value

    def clean(self, value: Any) -> Any:
        return roots.read_lines(super().clean(value))


class ServerForm(forms.ModelForm):  # type: ignore[type-arg]
    url = forms.URLField(label=_("Address"), max_length=500, assume_scheme="https")
    capabilities = forms.MultipleChoiceField(
        label=_("Declared to the server"),
        help_text=_(
            "What the server may ask people for: forms and pages to open (elicitation), texts to write (sampling), "
            "names of folders (roots). The last two are deprecated by the specification."
        ),
        choices=[(name, name) for name in CAPABILITIES],
        widget=forms.CheckboxSelectMultiple,
        required=False,
    )
    roots = RootsField(
        label=_("Folders"),
        help_text=_(
            "Offered to people when the server asks for roots. One a line: file:///home/ada/photos, or with a name: "
            "Photos = file:///home/ada/photos. Write %20 for a space in the address."
        ),
        required=False,
    )


def _hidden(server: Server) -> list[tuple[str, str]]:
    catalog.attach(0, server)
    return entries.unusable(server)


class FindingInline(admin.TabularInline):  # type: ignore[type-arg]
    """Rules that this server was seen to break; docs/conformance.md says what each means."""

    model = Finding
    fields = readonly_fields = ("meaning", "count", "first_at", "last_at")
    extra = 0
    can_delete = False

    def has_add_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False


@admin.register(Server)
class ServerAdmin(admin.ModelAdmin):  # type: ignore[type-arg]
    form = ServerForm
    list_display = ("name", "slug", "url", "enabled")
    fields = (
        "slug",
        "name",
        "url",
        "private_networks",
        "credential_kind",
        "credential_source",
        "credential_ref",
        "capabilities",
        "roots",
        "enabled",
        "groups",
        "not_offered",
    )
    readonly_fields = ("not_offered",)
    filter_horizontal = ("groups",)
    inlines: ClassVar = [FindingInline]

    def save_model(self, request: HttpRequest, obj: Server, form: Any, change: bool) -> None:
        if {"url", "private_networks", "capabilities"} & set(form.changed_data):
            catalog.forget_listings(obj)
        super().save_model(request, obj, form, change)

    @admin.display(description=_("Listed, but not offered"))
    def not_offered(self, server: Server) -> str:
        """What people do not see, and why."""
        told = [(clean_text(name, 200), clean_text(reason, 500)) for name, reason in _hidden(server)]
        return format_html_join("", "<p><strong>{}</strong>: {}</p>", told) or "-"
