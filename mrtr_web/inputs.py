"""From a field spec to its Django field: one small class per kind. LEAVES is the register.

A server's texts are hostile: everything shown goes through clean_text and is escaped by the templates.
"""

import re
from collections.abc import Mapping
from typing import Any

from django import forms
from django.utils.translation import gettext as _
from django.utils.translation import gettext_noop

from mrtr_web.readback import labelled
from mrtr_web.schema.hints import hints
from mrtr_web.schema.invalid import Invalid
from mrtr_web.schema.labels import MAX_LABEL
from mrtr_web.schema.parse import parse
from mrtr_web.schema.places import Place
from mrtr_web.schema.sentences import SENTENCES
from mrtr_web.schema.spec import Absent, FieldSpec, Json, Kind
from mrtr_web.schema.text import clean_text, isolated
from mrtr_web.schema.words import autocomplete
from mrtr_web.widgets import (
    AnswerWidget,
    Attrs,
    CheckboxesWidget,
    DateTimeWidget,
    FileWidget,
    JsonWidget,
    RadiosWidget,
    SearchWidget,
    SelectWidget,
    TimeWidget,
)

MEDIA_TYPE = re.compile(r"[\w.+-]+/[\w.+*-]+")
MAX_HINT = 2_000
MAX_MORE = 20_000
MAX_RADIOS = 7
SECRET_WARNING = gettext_noop(
    "This looks like a secret, such as a password, key or card number. A server must not ask for one in a "
    "form. Do not give it unless you are sure."
)
_LITERAL = {"spellcheck": "false", "autocapitalize": "none"}


def say(code: str, params: Mapping[str, object]) -> str:
    """The translated sentence of an Invalid, a Problem or a SchemaFault. A label in it is kept apart, as bdi does."""
    cleaned = {name: clean_text(str(value), MAX_LABEL) for name, value in params.items()}
    if "label" in cleaned:
        cleaned["label"] = isolated(cleaned["label"])
    return _(SENTENCES[code]) % cleaned


class AnswerBound(forms.BoundField):
    form: Any

    @property
    def data(self) -> Any:
        """What was posted; a part that was just added has its defaults instead."""
        return self.place.typed

    def value(self) -> Any:
        return self.place.typed

    @property
    def place(self) -> Place:
        place: Place = self.field.place  # type: ignore[attr-defined]
        return place

    @property
    def parts(self) -> "list[AnswerBound]":
        """The fields within this one, in order; what is fixed has none."""
        return [self.form[part.name] for part in self.place.parts if part.spec.kind is not Kind.FIXED]

    @property
    def key(self) -> "AnswerBound | None":
        """Of a map's entry: the field of its key."""
        return self.form[self.place.key.name] if self.place.key else None

    @property
    def full_label(self) -> str:
        """With the labels of what it stands in."""
        labels = [self.form.fields[name].label for name in self.form.above[self.name]]
        return " \u203a ".join(filter(None, [*labels, str(self.label)]))

    @property
    def aria_describedby(self) -> str | None:
        warned = f"{self.auto_id}_warning " if getattr(self.field, "warning", "") else ""
        return (warned + (super().aria_describedby or "")).strip() or None


class AnswerField(forms.Field):
    """A field whose cleaned value is exact JSON, or ABSENT."""

    bound_field_class = AnswerBound

    template_name: str | None = None

    def __init__(self, place: Place, label: str) -> None:
        spec = place.spec
        self.spec = spec
        self.place = place
        self.first = place.typed
        self.needed = spec.needs_answer
        self.warning = _(SECRET_WARNING) if spec.secret else ""
        self.more = _more(spec)
        self.described, self.asked = _described(spec), _asked(spec)
        super().__init__(
            required=spec.required,
            label=label,
            help_text="\n".join(filter(None, (self.described, self.asked))),
            initial=self.first,
            widget=self.control(),
            template_name=self.template_name,
        )

    def clean(self, value: Any) -> Json | Absent:
        try:
            return parse(self.spec, value)
        except Invalid as error:
            raise forms.ValidationError(self.sentence(error), code=error.code) from None

    def sentence(self, error: Invalid) -> str:
        return say(error.code, {**error.params, "label": self.label})

    def control(self) -> AnswerWidget:
        return AnswerWidget(self.spec, self.first, {"class": "input", **self.attrs()})

    def attrs(self) -> Attrs:
        return {}

    def secrecy(self) -> Attrs:
        """data-secret tells the scripts that keep half-typed answers to leave this one alone."""
        return {"autocomplete": "off", "data-secret": True} if self.spec.secret else {}


class TextField(AnswerField):
    def attrs(self) -> Attrs:
        if self.spec.secret:
            return {**_LITERAL, **self.secrecy()}
        known = autocomplete(self.spec.key, self.spec.title)
        return {"autocomplete": known} if known else {}


class LiteralField(TextField):
    def attrs(self) -> Attrs:
        return {**_LITERAL, **self.secrecy()}


class EmailField(TextField):
    def attrs(self) -> Attrs:
        # type=email would trim the text and rewrite foreign letters
        return {"inputmode": "email", "autocomplete": "email", **_LITERAL}


class UriField(TextField):
    def attrs(self) -> Attrs:
        return {"inputmode": "url", **_LITERAL}


class DateField(AnswerField):
    def attrs(self) -> Attrs:
        return {"type": "date", "max": "9999-12-31"}


class TimeField(AnswerField):
    def control(self) -> AnswerWidget:
        return TimeWidget(self.spec, self.first, {"class": "input"})


class DateTimeField(AnswerField):
    def control(self) -> AnswerWidget:
        return DateTimeWidget(self.spec, self.first, {"class": "input"})


class NumberField(AnswerField):
    inputmode = "decimal"

    def attrs(self) -> Attrs:
        """The number pads of phones have no minus sign."""
        low = self.spec.minimum
        mode = self.inputmode if low is not None and low >= 0 else "text"
        return {"inputmode": mode, **_LITERAL, **self.secrecy()}


class IntegerField(NumberField):
    inputmode = "numeric"

    def sentence(self, error: Invalid) -> str:
        """A comma in a whole number is no question of how decimals are written."""
        return super().sentence(Invalid("integer_comma") if error.code == "number_comma" else error)


class ChoiceField(AnswerField):
    def choices(self) -> list[tuple[str, str]]:
        return labelled(self.spec)

    def control(self) -> AnswerWidget:
        if self.spec.is_searched:
            return SearchWidget(self.spec, self.first, {"class": "input", "autocomplete": "off"}, labelled(self.spec))
        choices = self.choices()
        if len(choices) > MAX_RADIOS:
            empty = _("No answer") if self.spec.may_be_empty else _("Choose one")
            return SelectWidget(self.spec, self.first, {"class": "input"}, [("", empty), *choices])
        empty_choice = [("", _("No answer"))] if self.spec.may_be_empty else []
        return RadiosWidget(self.spec, self.first, {}, [*choices, *empty_choice])


class BooleanField(ChoiceField):
    def choices(self) -> list[tuple[str, str]]:
        return [("true", _("Yes")), ("false", _("No"))]


class ChoicesField(AnswerField):
    def control(self) -> AnswerWidget:
        return CheckboxesWidget(self.spec, self.first, {}, labelled(self.spec))


class FileField(AnswerField):
    def control(self) -> AnswerWidget:
        accept = {"accept": self.spec.media} if MEDIA_TYPE.fullmatch(self.spec.media) else {}
        return FileWidget(self.spec, self.first, {"class": "input", **accept})


class JsonField(AnswerField):
    def control(self) -> AnswerWidget:
        if self.place.instead_of:
            self.warning = ""  # somewhere in it there may be a secret, or not
        return JsonWidget(self.spec, self.first, {"class": "input", **self.attrs()}, self.place)

    def attrs(self) -> Attrs:
        return {**_LITERAL, **self.secrecy()}


LEAVES: Mapping[Kind, type[AnswerField]] = {
    Kind.TEXT: TextField,
    Kind.LONG_TEXT: TextField,
    Kind.EMAIL: EmailField,
    Kind.URI: UriField,
    Kind.UUID: LiteralField,
    Kind.DATE: DateField,
    Kind.TIME: TimeField,
    Kind.DATE_TIME: DateTimeField,
    Kind.NUMBER: NumberField,
    Kind.INTEGER: IntegerField,
    Kind.BOOLEAN: BooleanField,
    Kind.CHOICE: ChoiceField,
    Kind.CHOICES: ChoicesField,
    Kind.JSON: JsonField,
    Kind.FILE: FileField,
}


def _described(spec: FieldSpec) -> str:
    """The server's description, with runs of empty lines closed up."""
    lines = (line.strip() for line in clean_text(spec.description, MAX_HINT).split("\n"))
    return "\n".join(filter(None, lines))


def _asked(spec: FieldSpec) -> str:
    """What the schema asks, in words of ours."""
    return "\n".join(filter(None, (say(code, params) for code, params in hints(spec))))


def _more(spec: FieldSpec) -> str:
    """Texts that were cut, as far as anyone would read them."""
    cut = [text for text, limit in ((spec.title, MAX_LABEL), (spec.description, MAX_HINT)) if len(text) > limit]
    return "\n".join(clean_text(text, MAX_MORE) for text in cut)
