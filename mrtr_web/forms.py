"""From field specs to Django forms, and from a posted form to the exact content that is sent.

Input names are ours (s0-f3, with companions s0-f3-zone, -fold and -blank): a server's keys never reach the
browser. Its texts are hostile: everything shown goes through clean_text and is escaped by the templates.
FIELDS is the register: one small class per kind.
"""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

from django import forms
from django.forms.utils import ErrorDict
from django.utils.translation import gettext as _
from django.utils.translation import gettext_noop

from mrtr_web.readback import MAX_LABEL, Row, labelled, told
from mrtr_web.schema.check import Problem
from mrtr_web.schema.hints import hints
from mrtr_web.schema.invalid import Invalid
from mrtr_web.schema.parse import parse, shown
from mrtr_web.schema.sentences import SENTENCES
from mrtr_web.schema.spec import ABSENT, Absent, FieldSpec, FormSpec, Json, Kind, Typed
from mrtr_web.schema.text import clean_text, one_line
from mrtr_web.schema.words import autocomplete
from mrtr_web.widgets import (
    COMPANIONS,
    AnswerWidget,
    Attrs,
    CheckboxesWidget,
    Data,
    DateTimeWidget,
    RadiosWidget,
    SelectWidget,
    values,
)

MAX_HINT = 2_000
MAX_MORE = 20_000
MAX_RADIOS = 7
SECRET_WARNING = gettext_noop(
    "This looks like a secret, such as a password, key or card number. A server must not ask for one in a "
    "form. Do not give it unless you are sure."
)
_LITERAL = {"spellcheck": "false", "autocapitalize": "none"}


def build(
    spec: FormSpec,
    *,
    prefix: str,
    data: Data | None,
    initial: Mapping[str, Json | Absent] | None,
    zone: str,
) -> "StepForm":
    """The form of one step. `initial` goes before the schema's defaults; ABSENT there means left empty.

    Values that a field cannot show are passed over. `zone` is the time zone first offered.
    """
    return StepForm(spec, prefix=prefix, data=data, initial=initial, zone=zone)


def say(code: str, params: Mapping[str, object]) -> str:
    """The translated sentence of an Invalid, a Problem or a SchemaFault."""
    cleaned = {name: clean_text(str(value), MAX_LABEL) for name, value in params.items()}
    return _(SENTENCES[code]) % cleaned


class AnswerBound(forms.BoundField):
    @property
    def aria_describedby(self) -> str | None:
        warned = f"{self.auto_id}_warning " if getattr(self.field, "warning", "") else ""
        return (warned + (super().aria_describedby or "")).strip() or None


class AnswerField(forms.Field):
    """A field whose cleaned value is exact JSON, or ABSENT."""

    bound_field_class = AnswerBound

    def __init__(self, spec: FieldSpec, label: str, first: Typed) -> None:
        self.spec = spec
        self.first = first
        self.needed = spec.needs_answer
        self.warning = _(SECRET_WARNING) if spec.secret else ""
        self.more = _more(spec)
        super().__init__(
            required=spec.required,
            label=label,
            help_text=_help(spec),
            initial=first,
            widget=self.control(),
        )

    def clean(self, value: Any) -> Json | Absent:
        try:
            return parse(self.spec, value)
        except Invalid as error:
            raise forms.ValidationError(self.sentence(error), code=error.code) from None

    def sentence(self, error: Invalid) -> str:
        return say(error.code, error.params)

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
        return say("integer_comma" if error.code == "number_comma" else error.code, error.params)


class ChoiceField(AnswerField):
    def choices(self) -> list[tuple[str, str]]:
        return labelled(self.spec)

    def control(self) -> AnswerWidget:
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


class JsonField(AnswerField):
    def attrs(self) -> Attrs:
        return {**_LITERAL, **self.secrecy()}


FIELDS: Mapping[Kind, type[AnswerField]] = {
    Kind.TEXT: TextField,
    Kind.LONG_TEXT: TextField,
    Kind.EMAIL: EmailField,
    Kind.URI: UriField,
    Kind.DATE: DateField,
    Kind.DATE_TIME: DateTimeField,
    Kind.NUMBER: NumberField,
    Kind.INTEGER: IntegerField,
    Kind.BOOLEAN: BooleanField,
    Kind.CHOICE: ChoiceField,
    Kind.CHOICES: ChoicesField,
    Kind.JSON: JsonField,
}


class StepForm(forms.Form):
    template_name = "forms/form.html"
    use_required_attribute = False

    def __init__(
        self,
        spec: FormSpec,
        *,
        prefix: str,
        data: Data | None,
        initial: Mapping[str, Json | Absent] | None,
        zone: str,
    ) -> None:
        super().__init__(data=data, prefix=prefix, label_suffix="")
        self.spec = spec
        given = {"": dict(initial)} if spec.whole and initial is not None else initial or {}
        for index, field in enumerate(spec.fields):
            first = replace(_prefill(field, given), zone=zone)
            self.fields[name_of(index)] = FIELDS[field.kind](field, _label(field, index), first)

    def value(self) -> dict[str, Any]:
        """The exact content, in the schema's order and without absent keys; only after is_valid()."""
        found = {field.key: self.cleaned_data[name_of(i)] for i, field in enumerate(self.spec.fields)}
        content = found[""] if self.spec.whole else found
        return {key: value for key, value in content.items() if not isinstance(value, Absent)}

    def forgive(self) -> None:
        """Nothing of it is sent: what was typed stays as it is, and is not judged."""
        self._errors = ErrorDict()
        self.cleaned_data: dict[str, Any] = {}

    def add_problems(self, problems: Iterable[Problem]) -> None:
        """Show what the final check found, each at its field."""
        for problem in problems:
            path = problem.path
            if problem.code == "missing" and not path:
                path = (str(problem.params["name"]),)
            where = "" if self.spec.whole else path[0] if path else None
            name = next((name_of(i) for i, field in enumerate(self.spec.fields) if field.key == where), None)
            inner = path if self.spec.whole else path[1:]
            place = " \u203a ".join(clean_text(str(step), MAX_LABEL) for step in inner)
            sentence = say(problem.code, problem.params)
            self.add_error(name, f"{place}: {sentence}" if place else sentence)

    def rows(self) -> list[Row]:
        """The answers as they will be sent; only after is_valid()."""
        return [self._row(name_of(i), field) for i, field in enumerate(self.spec.fields)]

    def _row(self, name: str, spec: FieldSpec) -> Row:
        bound, value = self[name], self.cleaned_data[name]
        words, exact = ((), "") if value is ABSENT else told(spec, value, bound.value())
        return Row(
            name=bound.html_name,
            id=bound.id_for_label,
            label=str(bound.label),
            words=words,
            exact=exact,
            sent=value is not ABSENT,
            secret=spec.secret,
        )

    def carried(self) -> list[tuple[str, str]]:
        """Every input of this form as it was posted, for hidden inputs of a page in between."""
        names = [self.add_prefix(name) + part for name in self.fields for part in COMPANIONS]
        return [(name, value) for name in names for value in values(self.data, name)]


def name_of(index: int) -> str:
    """The name of a field's input, without the prefix of its form."""
    return f"f{index}"


def _prefill(spec: FieldSpec, given: Mapping[str, Json | Absent]) -> Typed:
    """The first of the given value and the schema's default that the field can show."""
    if spec.key in given:
        try:
            return shown(spec, given[spec.key])
        except Invalid:
            pass
    return shown(spec, spec.default)


def _label(spec: FieldSpec, index: int) -> str:
    """The title, else the property's name, on one line."""
    for text in (spec.title, spec.key):
        if label := one_line(clean_text(text, MAX_LABEL)):
            return label
    return _("Input, as JSON") if spec.kind is Kind.JSON and not spec.key else _("Field %d") % (index + 1)


def _help(spec: FieldSpec) -> str:
    """The description, with runs of empty lines closed up, and what the schema asks."""
    lines = (line.strip() for line in clean_text(spec.description, MAX_HINT).split("\n"))
    said = (say(code, params) for code, params in hints(spec))
    return "\n".join(line for line in (*lines, *said) if line)


def _more(spec: FieldSpec) -> str:
    """Texts that were cut, as far as anyone would read them."""
    cut = [text for text, limit in ((spec.title, MAX_LABEL), (spec.description, MAX_HINT)) if len(text) > limit]
    return "\n".join(clean_text(text, MAX_MORE) for text in cut)
