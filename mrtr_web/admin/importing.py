"""The page on which a superuser imports the servers of another MCP host."""

from typing import Any

from django import forms
from django.contrib import admin
from django.core.exceptions import PermissionDenied, ValidationError
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils.translation import gettext_lazy as _

from mrtr_web import importing, mcpjson
from mrtr_web.admin.fields import LinesField, SecretLines

MAX_BYTES = 1024 * 1024


class ImportForm(forms.Form):
    file = forms.FileField(label=_("File"), help_text=_("mcp.json or the like."), required=False)
    text = forms.CharField(
        label=_("Or its text"),
        widget=SecretLines(
            attrs={"rows": 12, "class": "vLargeTextField", "autocomplete": "off", "spellcheck": "false"}
        ),
        required=False,
        strip=False,
        max_length=MAX_BYTES,
    )
    groups = LinesField(
        label=_("Groups"),
        help_text=_("Who may use them, one a line; new ones are made. Empty: everybody."),
        required=False,
    )
    allow_private = forms.BooleanField(label=_("Let them lead to loopback and private addresses"), required=False)
    dry_run = forms.BooleanField(label=_("Only say what would be done"), required=False)

    def clean(self) -> dict[str, Any]:
        cleaned: dict[str, Any] = super().clean() or self.cleaned_data
        file, text = cleaned.get("file"), cleaned.get("text")
        if bool(file) == bool(text):
            raise ValidationError(_("Choose a file or paste its text, one of the two."))
        cleaned["json"] = _read(file) if file else text
        return cleaned


def _read(file: Any) -> str:
    if file.size > MAX_BYTES:
        raise ValidationError(_("The file is too big."))
    try:
        return str(file.read().decode())
    except UnicodeDecodeError:
        raise ValidationError(_("The file is not text in UTF-8.")) from None


def import_page(request: HttpRequest) -> HttpResponse:
    """The form, and what became of each entry."""
    if not getattr(request.user, "is_superuser", False):
        raise PermissionDenied
    form = ImportForm(request.POST or None, request.FILES or None)
    rows = _import(request, form) if request.method == "POST" and form.is_valid() else None
    context = {
        **admin.site.each_context(request),
        "title": _("Import servers"),
        "form": form,
        "rows": rows,
        "is_dry": rows is not None and form.cleaned_data["dry_run"],
    }
    return render(request, "admin/mrtr_web/server/import.html", context)


def _import(request: HttpRequest, form: ImportForm) -> list[importing.Row] | None:
    given = form.cleaned_data
    groups = tuple(given["groups"]) or None
    try:
        return importing.run(
            given["json"], importing.Options(groups, given["allow_private"], given["dry_run"], request.user.pk)
        )
    except mcpjson.Unreadable as error:
        form.add_error(None, str(error))
        return None
