"""Django fields of parts that are made of others, without a text of their own. FIELDS is the register of all kinds."""

from collections.abc import Mapping
from typing import Any

from django import forms
from django.utils.translation import gettext as _
from django.utils.translation import gettext_noop

from mrtr_web.inputs import LEAVES, AnswerField, say
from mrtr_web.schema.labels import MAX_LABEL
from mrtr_web.schema.spec import ABSENT, Absent, FieldSpec, Json, Kind, SchemaTooLarge
from mrtr_web.schema.text import clean_text, one_line
from mrtr_web.widgets import AnswerWidget, PartWidget

_KIND_LABELS = {
    Kind.TEXT: gettext_noop("Text"),
    Kind.LONG_TEXT: gettext_noop("Text"),
    Kind.EMAIL: gettext_noop("Email address"),
    Kind.URI: gettext_noop("Web address"),
    Kind.UUID: gettext_noop("Identifier (UUID)"),
    Kind.DATE: gettext_noop("Date"),
    Kind.TIME: gettext_noop("Time"),
    Kind.DATE_TIME: gettext_noop("Date and time"),
    Kind.FILE: gettext_noop("File"),
    Kind.NUMBER: gettext_noop("Number"),
    Kind.INTEGER: gettext_noop("Whole number"),
    Kind.BOOLEAN: gettext_noop("Yes or no"),
    Kind.CHOICE: gettext_noop("One of a list"),
    Kind.CHOICES: gettext_noop("Some of a list"),
    Kind.JSON: gettext_noop("Anything else, as JSON"),
    Kind.GROUP: gettext_noop("Several fields"),
    Kind.LIST: gettext_noop("List"),
    Kind.TUPLE: gettext_noop("List"),
    Kind.MAP: gettext_noop("Named values"),
    Kind.UNION: gettext_noop("One of several kinds"),
}


def branch_labels(spec: FieldSpec) -> list[str]:
    """What people read for the branches of a union: the title, else the constant that tells it, else its kind."""
    found: list[str] = []
    for number, branch in enumerate(spec.parts(), start=1):
        label = one_line(clean_text(branch.title or _telling(branch), MAX_LABEL)) or _(_KIND_LABELS[branch.kind])
        found.append(label if label not in found else f"{label} ({number})")
    return found


def _telling(branch: FieldSpec) -> str:
    try:
        fixed = [part for part in branch.parts() if part.kind is Kind.FIXED] if branch.kind is Kind.GROUP else []
    except SchemaTooLarge:
        return ""
    return fixed[0].options[0].label if fixed else ""


class PartField(AnswerField):
    """A part that is made of others: it has no text of its own."""

    template_name = "forms/part.html"

    def control(self) -> AnswerWidget:
        return PartWidget(self.spec, self.first, {})

    def clean(self, value: Any) -> Json | Absent:
        return ABSENT

    @property
    def may_add(self) -> bool:
        return self.spec.max_items is None or len(self.place.parts) < self.spec.max_items

    @property
    def offers_blank(self) -> bool:
        """Whether an empty list or object can be meant: where it was one before."""
        return self.spec.may_be_empty and self.place.typed.blank


class UnionField(PartField):
    def clean(self, value: Any) -> Json | Absent:
        if self.place.needs_branch:
            raise forms.ValidationError(say("choose_branch", {}), code="choose_branch")
        return ABSENT

    @property
    def beside(self) -> list[tuple[str, str]]:
        """What was typed for the other branches, as hidden inputs."""
        return [(name, value) for name, values in self.place.beside.items() for value in values]

    @property
    def branches(self) -> list[tuple[str, str, bool]]:
        """What is posted for each, what people read, and whether it is chosen."""
        chosen = self.place.branch
        empty = [("", _("No answer"), chosen is None)] if self.spec.may_be_empty else []
        return [*((str(n), label, n == chosen) for n, label in enumerate(branch_labels(self.spec))), *empty]


FIELDS: Mapping[Kind, type[AnswerField]] = {
    **LEAVES,
    Kind.GROUP: PartField,
    Kind.LIST: PartField,
    Kind.TUPLE: PartField,
    Kind.MAP: PartField,
    Kind.UNION: UnionField,
}
