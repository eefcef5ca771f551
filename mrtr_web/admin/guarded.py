"""What keeps staff from undoing what others did meanwhile, and from feeling out columns that they do not see."""

from typing import Any

from django import forms
from django.contrib import admin
from django.core.exceptions import ValidationError
from django.db import connection
from django.db.models import Model, QuerySet
from django.http import HttpRequest
from django.utils.crypto import salted_hmac
from django.utils.translation import gettext_lazy as _


class DrawnForm(forms.ModelForm):  # type: ignore[type-arg]
    """Refused where its row is no longer as it was when the form was drawn: fields depend on each other."""

    drawn = forms.CharField(widget=forms.HiddenInput, required=False)

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self.fields["drawn"].initial = self._mark

    def _mark(self) -> str:
        """Of the row as it is now; keyed, so that nothing can be guessed from it."""
        given = {name: field for name, field in self.fields.items() if name != "drawn" and not field.disabled}
        values = {name: _plain(self.get_initial_for_field(field, name)) for name, field in given.items()}
        return salted_hmac("mrtr_web.drawn", f"{self.instance.pk} {values}").hexdigest()

    def clean(self) -> dict[str, Any]:
        cleaned: dict[str, Any] = super().clean() or self.cleaned_data
        if self.instance.pk and cleaned.get("drawn") != self._mark():
            raise ValidationError(
                _("Nothing was saved: somebody has changed this since you opened the page. Open it anew, and look.")
            )
        return cleaned


def _plain(value: Any) -> Any:
    if isinstance(value, list) and value and isinstance(value[0], Model):
        return sorted(row.pk for row in value)
    return value


class Guarded(admin.ModelAdmin):  # type: ignore[type-arg]
    def get_queryset(self, request: HttpRequest) -> QuerySet[Any]:
        """What is saved is held from when it is read."""
        found = super().get_queryset(request)
        holds = request.method == "POST" and connection.in_atomic_block
        return found.select_for_update(no_key=True, of=("self",)) if holds else found

    def lookup_allowed(self, lookup: str, value: str, request: Any = None) -> bool:
        """Filters of the address: by columns that the list shows, no others."""
        filters = [each[0] if isinstance(each, tuple) else each for each in self.get_list_filter(request)]
        shown = {*self.get_list_display(request), *filters}
        return lookup.split("__")[0] in shown and super().lookup_allowed(lookup, value, request)


def is_super(request: HttpRequest) -> bool:
    return bool(getattr(request.user, "is_superuser", False))
