"""One step as the browser sees it: one class per kind, each with a template of its own.

A page knows what was chosen and typed for its step, whether that can be sent, and what is sent then.
"""

import contextlib
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from itertools import islice
from typing import Any, ClassVar

from django.utils.translation import gettext as _

from mrtr_web import forms, links, results, roots, rounds, sampling
from mrtr_web.rounds import Action, Kind, Step
from mrtr_web.schema import check, read
from mrtr_web.schema.check import Problem
from mrtr_web.schema.secrets import asks_secret
from mrtr_web.schema.spec import FieldSpec, FormSpec, Option, SchemaFault, flat
from mrtr_web.schema.spec import Kind as FieldKind
from mrtr_web.schema.words import sounds_secret

MAX_MODEL = 200
Object = dict[str, Any]


@dataclass(frozen=True, slots=True, repr=False)
class Drawing:
    """What a page is drawn with, beside its step. `data` is what was posted; `roots` those the admin offers."""

    round: int
    data: Mapping[str, Any] | None
    zone: str
    own_hosts: Collection[str]
    roots: tuple[Mapping[str, Any], ...] = ()


@dataclass(slots=True, repr=False)
class Page:
    """A step that cannot be shown: the only truthful answer is `cancel` (T-15)."""

    round: int
    number: int
    step: Step
    action: Action | None = None
    form: forms.StepForm | None = None
    earlier: Object | None = None
    """The answer that was given before to the same question."""
    error: str = ""
    template: ClassVar[str] = "flows/_step_impossible.html"
    impossible: ClassVar[bool] = True

    @property
    def prefix(self) -> str:
        """Of the names of its inputs: of no other round, for on the way back browsers fill in by name."""
        return f"r{self.round}s{self.number}"

    @property
    def kind(self) -> Kind:
        return self.step.kind

    @property
    def message(self) -> str:
        return self.step.message

    @property
    def is_confirmation(self) -> bool:
        """A form without fields: a plain yes or no."""
        return False

    @property
    def declined_before(self) -> bool:
        return self.earlier is not None and self.earlier.get("action") == Action.DECLINE

    def draw(self, drawing: Drawing) -> None:
        """Take in what was posted."""

    def is_valid(self) -> bool:
        return True

    def answer(self) -> Object:
        """The answer to this step; only after is_valid()."""
        return rounds.elicit_result(Action.CANCEL)


@dataclass(slots=True, repr=False)
class ChosenPage(Page):
    """A step that the person answers, declines or leaves undecided."""

    impossible: ClassVar[bool] = False

    def choose(self, drawing: Drawing, default: Action | None = None) -> None:
        try:
            self.action = Action(str((drawing.data or {}).get(f"{self.prefix}-action", "")))
        except ValueError:
            self.action = default

    def is_valid(self) -> bool:
        self.error = "" if self.action else "choose"
        return not self.error

    def answer(self) -> Object:
        return rounds.elicit_result(self.action or Action.CANCEL)


@dataclass(slots=True, repr=False)
class FormPage(ChosenPage):
    spec: FormSpec = field(default_factory=lambda: FormSpec(flat(())))
    template: ClassVar[str] = "flows/_step_form.html"

    @property
    def is_confirmation(self) -> bool:
        return not self.spec.fields

    @property
    def message_asks_secret(self) -> bool:
        return asks_secret(self.spec.root) and sounds_secret((), self.message)

    def draw(self, drawing: Drawing) -> None:
        content = (self.earlier or {}).get("content")
        initial = content if isinstance(content, dict) else None
        self.form = forms.build(self.spec, prefix=self.prefix, data=drawing.data, initial=initial, zone=drawing.zone)
        if self.message_asks_secret:  # said above them, with the server's name
            for drawn_field in self.form.fields.values():
                drawn_field.warning = ""  # type: ignore[attr-defined]
        # A form with fields is answered unless the person says otherwise; all else asks for a word.
        self.choose(drawing, None if self.is_confirmation else Action.ACCEPT)

    def is_valid(self) -> bool:
        assert self.form is not None
        if self.action is Action.ACCEPT:
            return accepts(self.form, self.step.schema)
        self.form.forgive()
        return ChosenPage.is_valid(self)

    def answer(self) -> Object:
        assert self.form is not None
        if self.action is not Action.ACCEPT:
            return ChosenPage.answer(self)
        return rounds.elicit_result(Action.ACCEPT, self.form.value())


@dataclass(slots=True, repr=False)
class UrlPage(ChosenPage):
    link: links.Link = field(default_factory=lambda: links.judge(""))
    moved_from: str = ""
    """The host that the link of this key led to before, where it was another one (T-26)."""
    template: ClassVar[str] = "flows/_step_url.html"

    @property
    def impossible(self) -> bool:  # type: ignore[override]
        return bool(self.link.refused)

    @property
    def finished_before(self) -> bool:
        """Whether the person has said so of this very page, and is asked again: then it hardly needs to be opened."""
        return self.earlier is not None and not self.declined_before and not self.moved_from

    def draw(self, drawing: Drawing) -> None:
        self.link = links.judge(self.step.url, drawing.own_hosts)
        self.choose(drawing)

    def is_valid(self) -> bool:
        return self.impossible or ChosenPage.is_valid(self)

    def answer(self) -> Object:
        return Page.answer(self) if self.impossible else ChosenPage.answer(self)


@dataclass(slots=True, repr=False)
class OwnPage(Page):
    """A step that brings no schema: its fields are ours. No answer to it means no, but to stop the flow (T-16)."""

    impossible: ClassVar[bool] = False

    def draw(self, drawing: Drawing) -> None:
        spec = FormSpec(flat(self.fields(drawing)))
        initial = self.initial() if self.earlier else None
        self.form = forms.build(spec, prefix=self.prefix, data=drawing.data, initial=initial, zone=drawing.zone)
        self.action = Action.ACCEPT

    def fields(self, drawing: Drawing) -> tuple[FieldSpec, ...]:
        raise NotImplementedError

    def initial(self) -> Object:
        """The values of the earlier answer."""
        raise NotImplementedError

    def problems(self) -> list[Problem]:
        """What is wrong with values that the fields let pass."""
        raise NotImplementedError

    def value(self) -> Object:
        assert self.form is not None
        return self.form.value()

    def is_valid(self) -> bool:
        assert self.form is not None
        if self.form.is_valid():
            self.form.add_problems(self.problems())
        return not self.form.errors


@dataclass(slots=True, repr=False)
class SamplingPage(OwnPage):
    """Something to write."""

    said: results.Shown = results.Shown()
    """The conversation so far."""
    template: ClassVar[str] = "flows/_step_sampling.html"

    @property
    def wanted(self) -> sampling.Wanted:
        return sampling.wanted(self.step.params)

    def fields(self, drawing: Drawing) -> tuple[FieldSpec, ...]:
        words = self.wanted.about_words
        length = _("At most about %(words)d words of English.") % {"words": words} if words else ""
        text = FieldSpec("text", FieldKind.LONG_TEXT, _("Your reply"), length, required=True, min_length=1)
        model = FieldSpec(
            "model",
            FieldKind.TEXT,
            _("Who wrote the reply"),
            _(
                "The server is told this; “human” is a person, such as you. If you paste what a language model wrote, "
                "put the name of the model here."
            ),
            required=True,
            default=sampling.HUMAN,
            min_length=1,
            max_length=MAX_MODEL,
        )
        return text, model

    def initial(self) -> Object:
        return sampling.replied(self.earlier or {})

    def problems(self) -> list[Problem]:
        limit, words = self.wanted.max_tokens, self.wanted.about_words
        too_long = sampling.is_too_long(self.value()["text"], limit)
        return [Problem(("text",), "too_many_tokens", {"maximum": limit, "words": words})] if too_long else []

    def answer(self) -> Object:
        value = self.value()
        return sampling.reply(value["text"], value["model"])


@dataclass(slots=True, repr=False)
class RootsPage(OwnPage):
    """Folders that the server may know of. None at all is an answer, too."""

    offered: tuple[Mapping[str, Any], ...] = ()
    template: ClassVar[str] = "flows/_step_roots.html"

    def fields(self, drawing: Drawing) -> tuple[FieldSpec, ...]:
        self.offered = drawing.roots
        options = tuple(Option(entry["uri"], _root_label(entry)) for entry in self.offered)
        chosen = FieldSpec("chosen", FieldKind.CHOICES, _("Folders that you want to name"), options=options)
        typed = FieldSpec(
            "typed",
            FieldKind.LONG_TEXT,
            _("Other folders"),
            _("One a line, written from the beginning, such as /home/ada/photos or C:/Users/Ada."),
        )
        return (chosen, typed) if options else (typed,)

    def initial(self) -> Object:
        return roots.answered(self.earlier or {}, self.offered)

    def problems(self) -> list[Problem]:
        faults = ((line, roots.fault(roots.address(line))) for line in self._typed())
        wrong = (Problem(("typed",), code, {"uri": line}) for line, code in faults if code)
        return list(islice(wrong, check.MAX_PROBLEMS))

    def answer(self) -> Object:
        chosen = self.value().get("chosen", ())
        return roots.answer(
            [entry for entry in self.offered if entry["uri"] in chosen], map(roots.address, self._typed())
        )

    def _typed(self) -> list[str]:
        return roots.lines(self.value().get("typed", ""))


def _root_label(entry: Mapping[str, Any]) -> str:
    name, folder = entry.get("name"), roots.folder(entry["uri"])
    return f"{name} ({folder})" if name else folder


def drawn(step: Step) -> FormSpec | None:
    """The fields of an elicitation form, or None where no form can be made that answers it."""
    try:
        spec = read.read_elicitation(step.schema, step.message)
    except SchemaFault:
        return None
    return None if spec.unanswerable else spec


def page(round_number: int, number: int, step: Step, earlier: Object | None) -> Page:
    """The page for a step, not drawn yet."""
    place = round_number, number
    match step.kind:
        case Kind.SAMPLING:
            return SamplingPage(*place, step, earlier=earlier)
        case Kind.ROOTS:
            return RootsPage(*place, step, earlier=earlier)
        case Kind.URL if step.showable:
            return UrlPage(*place, step, earlier=earlier)
        case Kind.FORM if step.showable and (spec := drawn(step)) is not None:
            return FormPage(*place, step, earlier=earlier, spec=spec)
    return Page(*place, step)


def accepts(form: forms.StepForm, schema: Mapping[str, Any]) -> bool:
    """Whether the answer is complete and fits the whole schema; what does not is said at its field (FM-2).

    A schema that cannot be checked is left to the server.
    """
    if not form.is_valid():
        with contextlib.suppress(SchemaFault):
            form.add_further(check.check(schema, form.so_far()))
        return False
    try:
        form.add_problems(check.check(schema, form.value()))
    except SchemaFault:
        return True
    return not form.errors
