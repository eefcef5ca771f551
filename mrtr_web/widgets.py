"""The controls of a form: each reads its inputs into a Typed and draws one of our templates."""

from collections.abc import Mapping, Sequence
from typing import Any

from django import forms
from django.utils.datastructures import MultiValueDict

from mrtr_web.schema import dates
from mrtr_web.schema.places import ROOT, Place
from mrtr_web.schema.spec import FILE_LEFT_OUT, FieldSpec, Kind, Typed

COMPANIONS = ("", "-zone", "-fold", "-blank", "-name")
"""What may follow a field's name in the names of its inputs."""

Data = Mapping[str, Any]
Attrs = dict[str, Any]


class AnswerWidget(forms.Widget):
    """A control whose value is a Typed."""

    template_name = "forms/text.html"

    def __init__(self, spec: FieldSpec, first: Typed, attrs: Attrs) -> None:
        super().__init__(attrs)
        self.spec = spec
        self.first = first
        self.is_judged = False

    def get_context(self, name: str, value: Any, attrs: Attrs | None) -> dict[str, Any]:
        context = super().get_context(name, None, attrs)
        typed = value if isinstance(value, Typed) else Typed()
        left_empty = self.is_judged and self.spec.may_be_blank and self.spec.needs_answer and not typed.text
        offers_blank = typed.blank or self.first.blank or left_empty
        context["widget"] |= {"typed": typed, "spec": self.spec, "offers_blank": offers_blank}
        context["widget"]["invalid"] = "aria-invalid" in context["widget"]["attrs"]
        context["widget"] |= self.more_context(typed)
        return context

    def more_context(self, typed: Typed) -> dict[str, Any]:
        """A text with line breaks needs a box that can hold them."""
        return {"area": self.spec.kind is Kind.LONG_TEXT or "\n" in typed.text}


class DateTimeWidget(AnswerWidget):
    """A local time and its zone. A browser's own control cannot hold an offset or a half-typed text."""

    template_name = "forms/date_time.html"
    use_fieldset = True
    zone_list = ""
    """The id of a list of zones that many fields share; "" where this one has its own."""

    def more_context(self, typed: Typed) -> dict[str, Any]:
        zone = typed.zone or self.first.zone
        listed = () if self.zone_list else dates.zones()
        zones = listed if zone in listed or self.zone_list else (zone, *listed)
        return {
            "has_offset": dates.has_offset(typed.text),
            "type": "datetime-local" if not typed.text or dates.is_local(typed.text) else "text",
            "zone": zone,
            "zone_list": self.zone_list,
            "zones": [(name, name.replace("_", " ")) for name in zones],
            "folds": dates.offsets(typed.text, zone),
        }


class TimeWidget(AnswerWidget):
    """A browser's own control cannot hold an offset or a half-typed text."""

    def more_context(self, typed: Typed) -> dict[str, Any]:
        return {"type": "time" if not typed.text or dates.is_clock(typed.text) else "text", "area": False}


class FileWidget(AnswerWidget):
    """A file's bytes come back as base64 in a hidden input, so that nobody has to choose the file twice."""

    template_name = "forms/file.html"

    def more_context(self, typed: Typed) -> dict[str, Any]:
        size = len(typed.text) * 3 // 4 - typed.text[-2:].count("=")
        return {"kept": typed.text not in ("", FILE_LEFT_OUT), "kept_bytes": size}


class JsonWidget(AnswerWidget):
    """A text in JSON, which may stand for fields that could not show a value."""

    template_name = "forms/json.html"

    def __init__(self, spec: FieldSpec, first: Typed, attrs: Attrs, place: Place) -> None:
        super().__init__(spec, first, attrs)
        self.place = place

    def more_context(self, typed: Typed) -> dict[str, Any]:
        return {
            "place": self.place,
            "is_whole": self.place.name == ROOT,
            "rows": min(max(6, typed.text.count("\n") + 2), 24),
        }


class PartWidget(AnswerWidget):
    """Of a part that is made of others: nothing of its own."""

    use_fieldset = True


class OptionsWidget(AnswerWidget):
    """Choices by index, or by true and false: pairs of what is posted and what is read."""

    def __init__(self, spec: FieldSpec, first: Typed, attrs: Attrs, choices: Sequence[tuple[str, str]]) -> None:
        super().__init__(spec, first, attrs)
        self.choices = choices

    def more_context(self, typed: Typed) -> dict[str, Any]:
        chosen = set(typed.chosen) if self.spec.kind is Kind.CHOICES else {typed.text}
        return {"options": [(value, label, value in chosen) for value, label in self.choices]}


class SelectWidget(OptionsWidget):
    template_name = "forms/select.html"


class SearchWidget(OptionsWidget):
    """The browser's own list of suggestions: a part of a label finds it."""

    template_name = "forms/search.html"
    list_id = ""
    draws_list = True

    def more_context(self, typed: Typed) -> dict[str, Any]:
        return {"list_id": self.list_id, "options": self.choices if self.draws_list else ()}


class RadiosWidget(OptionsWidget):
    template_name = "forms/radios.html"
    use_fieldset = True

    def id_for_label(self, id_: str, index: str | None = None) -> str:
        return f"{id_}_0" if id_ else id_


class CheckboxesWidget(RadiosWidget):
    template_name = "forms/checkboxes.html"


def values(data: Data, name: str) -> list[str]:
    if isinstance(data, MultiValueDict):
        return list(data.getlist(name))
    value = data.get(name, [])
    return [str(entry) for entry in value] if isinstance(value, list | tuple) else [str(value)]
