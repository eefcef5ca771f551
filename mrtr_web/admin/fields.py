"""Fields of the admin's forms: lists one a line, folders, and secrets that are never shown again."""

import re
from typing import Any

from django import forms

from mrtr_web import roots


class LinesField(forms.CharField):
    """A list of texts, one a line or comma separated."""

    widget = forms.Textarea(attrs={"rows": 3, "class": "vLargeTextField"})

    def prepare_value(self, value: Any) -> Any:
        return "\n".join(map(str, value)) if isinstance(value, list) else value

    def clean(self, value: Any) -> Any:
        parts = (part.strip() for part in re.split(r"[,\n]", super().clean(value)))
        return list(dict.fromkeys(part for part in parts if part))

    def has_changed(self, initial: Any, data: Any) -> bool:
        return bool((initial or []) != self.clean(data))


class NamesField(forms.CharField):
    """Exact names, one a line: commas and spaces are part of them."""

    widget = forms.Textarea(attrs={"rows": 3, "class": "vLargeTextField"})

    def __init__(self, **options: Any) -> None:
        super().__init__(strip=False, **options)

    def clean(self, value: Any) -> Any:
        lines = (line.removesuffix("\r") for line in super().clean(value).split("\n"))
        return [line for line in lines if line.strip()]


class RootsField(forms.CharField):
    """Roots, one a line."""

    widget = forms.Textarea(attrs={"rows": 3, "class": "vLargeTextField"})

    def prepare_value(self, value: Any) -> Any:
        return roots.write_lines(value) if isinstance(value, list) else value

    def clean(self, value: Any) -> Any:
        return roots.read_lines(super().clean(value))

    def has_changed(self, initial: Any, data: Any) -> bool:
        return bool((initial or []) != roots.read_lines(data or ""))


class SecretLines(forms.Textarea):
    """Typed, and never given back: also not where the form is shown again because of a mistake."""

    def format_value(self, value: Any) -> str:
        return ""
