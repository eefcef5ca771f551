"""From a form's spec to a Django form, and from a posted form to the exact content that is sent.

Input names are ours (s0-f3, with companions such as s0-f3-zone): a server's keys never reach the browser. Its texts
are hostile: everything shown goes through clean_text and is escaped by the templates.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any

from django import forms
from django.core.exceptions import NON_FIELD_ERRORS
from django.forms.utils import ErrorDict
from django.utils.datastructures import MultiValueDict
from django.utils.translation import gettext as _

from mrtr_web.inputs import say
from mrtr_web.parts import FIELDS, branch_labels
from mrtr_web.readback import Row, told
from mrtr_web.schema import dates
from mrtr_web.schema.check import Problem
from mrtr_web.schema.drawing import Drawing
from mrtr_web.schema.labels import MAX_LABEL
from mrtr_web.schema.places import ROOT, Place, Posted, find, plainly, value_of, walk
from mrtr_web.schema.spec import ABSENT, FieldSpec, FormSpec, Json, Kind, SchemaTooLarge, Typed
from mrtr_web.schema.text import clean_text, one_line
from mrtr_web.widgets import COMPANIONS, Data, DateTimeWidget, SearchWidget, values

MAX_ZONE_LISTS = 3


def build(
    spec: FormSpec, *, prefix: str, data: Data | None, initial: Mapping[str, Json] | None, zone: str
) -> "StepForm":
    """The form of one step, with what was posted, else with a whole earlier value, else with the schema's defaults.

    `zone` is the time zone first offered. Raises SchemaTooLarge where not even a JSON field can take its place.
    """
    return StepForm(spec, prefix=prefix, data=data, initial=initial, zone=zone)


class StepForm(forms.Form):
    template_name = "forms/form.html"
    use_required_attribute = False

    def __init__(
        self,
        spec: FormSpec,
        *,
        prefix: str,
        data: Data | None,
        initial: Mapping[str, Json] | None,
        zone: str,
    ) -> None:
        super().__init__(data=data, prefix=prefix, label_suffix="")
        self.spec = spec
        self.too_large: SchemaTooLarge | None = None
        self.root = self._drawn(None if data is None else unprefixed(data, prefix), initial)
        self.above: dict[str, tuple[str, ...]] = {}
        for place, label, above in _labelled(self.root, "", ()):
            place.typed = (
                replace(place.typed, zone=place.typed.zone or zone) if self.is_bound else _in_zone(place, zone)
            )
            if place.name == ROOT and place.spec.kind is Kind.GROUP:
                continue
            self.above[place.name] = above
            self.fields[place.name] = FIELDS[place.spec.kind](place, label)
            self.fields[place.name].widget.is_judged = self.is_bound
        self._share_zones()
        self._share_lists()

    def _share_lists(self) -> None:
        """What is searched in many places, as in each entry of a list, is listed once."""
        first: dict[int, str] = {}
        for name, field in self.fields.items():
            if isinstance(field.widget, SearchWidget):
                known = id(field.widget.spec.options)
                field.widget.draws_list = known not in first
                field.widget.list_id = first.setdefault(known, f"{self.prefix}-{name}-list")

    def _share_zones(self) -> None:
        """A list of all time zones beside each of many fields would be most of the page."""
        widgets = [field.widget for field in self.fields.values() if isinstance(field.widget, DateTimeWidget)]
        self.zones = dates.zones() if len(widgets) > MAX_ZONE_LISTS else ()
        for widget in widgets:
            widget.zone_list = f"{self.prefix}-zones" if self.zones else ""

    def _drawn(self, posted: Posted | None, initial: Mapping[str, Json] | None) -> Place:
        """A tool's input that is too large for a page is written as JSON."""
        root, given = self.spec.root, ABSENT if initial is None else dict(initial)
        try:
            drawing = Drawing(json=self.spec.may_be_json)
            if posted is not None:
                return drawing.posted(root, posted)
            return drawing.fresh(root) if given is ABSENT else drawing.value(root, given)
        except SchemaTooLarge as too_large:
            if not self.spec.may_be_json or posted is not None:
                raise
            self.too_large = too_large
            return Drawing(json=True).as_json(root, given, ROOT)

    @property
    def top(self) -> list[forms.BoundField]:
        """What is drawn first: the members of a plain object, else the whole."""
        first = self.root.parts if self.root.spec.kind is Kind.GROUP else (self.root,)
        return [self[place.name] for place in first if place.name in self.fields]

    @property
    def is_empty(self) -> bool:
        """Whether there is nothing to fill in."""
        return not self.top

    @property
    def has_files(self) -> bool:
        return any(place.spec.kind is Kind.FILE for place in walk(self.root))

    def value(self) -> dict[str, Any]:
        """The exact content, in the schema's order and without absent keys; only after is_valid()."""
        found = value_of(self.root, lambda place: self.cleaned_data[place.name])
        return found if isinstance(found, dict) else {}

    def forgive(self) -> None:
        """Nothing of it is sent: what was typed stays as it is, and is not judged."""
        self._errors = ErrorDict()
        self.cleaned_data: dict[str, Any] = {}
        for field in self.fields.values():
            field.widget.is_judged = False

    def clean(self) -> None:
        """A key that stands twice would be lost."""
        for place in walk(self.root):
            keys = {part.spec.key for part in place.parts} if place.spec.kind is Kind.GROUP else set()
            for key in _entry_keys(place):
                given = self.cleaned_data.get(key.name)
                if given in keys:
                    self.add_error(key.name, say("key_twice", {}))
                if given is not None:
                    keys.add(given)

    def add_problems(self, problems: Iterable[Problem]) -> None:
        """Show what the final check found, each at its field."""
        for problem in problems:
            path = problem.path
            if problem.code == "missing":
                path = (*path, str(problem.params["name"]))
            place, rest = find(self.root, path)
            if problem.code == "missing" and len(rest) == 1:
                rest = ()
            elif problem.code == "missing":
                rest = rest[:-1]
            sentence = _sentence(problem, place) if not rest else say(problem.code, problem.params)
            where = " \u203a ".join(clean_text(str(step), MAX_LABEL) for step in rest)
            name = None if place is self.root and place.spec.kind is Kind.GROUP else place.name
            self.add_error(name, f"{where}: {sentence}" if where else sentence)

    def so_far(self) -> dict[str, Any]:
        """The content as far as it goes: what is no answer yet stands in it as it was typed."""
        found = plainly(self.root)
        return found if isinstance(found, dict) else {}

    def add_further(self, problems: Iterable[Problem]) -> None:
        """Of what the final check says of a form that has errors already: what concerns a field that has none."""
        for problem in problems:
            place, rest = find(self.root, problem.path)
            wrong = {name for name in self.errors if name != NON_FIELD_ERRORS}
            if place.is_leaf and not rest and place.name not in wrong and problem.code != "missing":
                self.add_problems([problem])

    def rows(self) -> list[Row]:
        """The answers as they will be sent; only after is_valid()."""
        return [self._row(place) for place in walk(self.root) if place.is_leaf and place.name in self.fields]

    def _row(self, place: Place) -> Row:
        bound, value, spec = self[place.name], self.cleaned_data[place.name], place.spec
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


def _entry_keys(place: Place) -> list[Place]:
    """Of a map's entries, or of those that stand in a group beside its own members."""
    rest = next((part for part in place.parts if part.spec.rest), None) if place.spec.kind is Kind.GROUP else place
    return [part.key for part in rest.parts if part.key is not None] if rest and not place.spec.rest else []


def unprefixed(data: Data, prefix: str) -> dict[str, list[str]]:
    """What was posted for the form with this prefix, by names without it."""
    start = f"{prefix}-"
    names = data.keys() if isinstance(data, MultiValueDict) else data
    return {name[len(start) :]: values(data, name) for name in names if name.startswith(start)}


def _in_zone(place: Place, zone: str) -> Typed:
    """A date and time that comes with an offset is shown as people read it, where that says the same."""
    typed = place.typed
    if place.spec.kind is not Kind.DATE_TIME or not dates.has_offset(typed.text):
        return replace(typed, zone=zone)
    text, zone = dates.localised(typed.text, zone)
    return replace(typed, text=text, zone=zone, fold=typed.text[-6:])


def _labelled(place: Place, label: str, above: tuple[str, ...]) -> Iterator[tuple[Place, str, tuple[str, ...]]]:
    """Each place that has a field, with its label and the names of what it stands in."""
    if place.spec.kind is Kind.FIXED:
        return
    if place.key is not None:
        yield place.key, _("Name of %(label)s") % {"label": label}, above
        label = _("Value of %(label)s") % {"label": label} if place.is_leaf else label
    label = label or _label(place.spec, place.name)
    yield place, label, above
    inside = above if place.name == ROOT else (*above, place.name)
    for number, part in enumerate(place.parts, start=1):
        yield from _labelled(part, _part_label(place, part, label, number), inside)


def _part_label(place: Place, part: Place, label: str, number: int) -> str:
    match place.spec.kind:
        case Kind.GROUP:
            return _label(part.spec, part.name)
        case Kind.UNION:
            return branch_labels(place.spec)[place.branch or 0]
    return f"{_titled(part.spec) or label} {number}"


def _label(spec: FieldSpec, name: str) -> str:
    """The title, else the property's name, on one line; else words of ours for a field that is named."""
    if name == ROOT:
        return _("Input, as JSON") if spec.kind is Kind.JSON else _titled(spec) or _("Input")
    if spec.rest:
        return _("Further entries")
    return _titled(spec) or _("Field %d") % (int(name.rpartition("-")[2].removeprefix(ROOT)) + 1)


def _titled(spec: FieldSpec) -> str:
    lines = (one_line(clean_text(text, MAX_LABEL)) for text in (spec.title, spec.key))
    return next(filter(None, lines), "")


def _sentence(problem: Problem, place: Place) -> str:
    """Entries are added, options are chosen."""
    entries = place.repeats and problem.code in ("too_few", "too_many")
    return say(f"{problem.code}_entries" if entries else problem.code, problem.params)
