"""The pages of a round: one per step, from the record's requests and what was posted, to the answers sent.

Everything that a browser posts is matched by our own input names (s0-f3, s0-action); the server's keys never
leave the record (D5).
"""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import Any

from mrtr_web import forms, links, rounds
from mrtr_web.rounds import Action, Kind, Step
from mrtr_web.schema import check, read
from mrtr_web.schema.spec import SchemaFault

MAX_DIRECT_FIELDS = 4
Object = dict[str, Any]


@dataclass(slots=True)
class Page:
    """One step as the browser sees it."""

    number: int
    step: Step
    action: Action | None = None
    form: forms.StepForm | None = None
    link: links.Link | None = None
    repeated: bool = False
    """The same question as in the round before."""
    declined_before: bool = False
    error: str = ""

    @property
    def prefix(self) -> str:
        return f"s{self.number}"

    @property
    def kind(self) -> Kind:
        return self.step.kind

    @property
    def message(self) -> str:
        return self.step.message

    @property
    def impossible(self) -> bool:
        """No truthful answer but cancel can be given (T-15)."""
        if not self.step.showable or (self.link is not None and self.link.refused):
            return True
        return self.kind is Kind.FORM and self.form is None

    @property
    def is_confirmation(self) -> bool:
        """A form without fields: a plain yes or no."""
        return self.form is not None and not self.form.fields

    def is_valid(self) -> bool:
        if self.impossible:
            return True
        if self.action is None:
            self.error = "choose"
            return False
        if self.form is None:
            return True
        if self.action is not Action.ACCEPT:
            self.form.forgive()
            return True
        return accepts(self.form, self.step.schema)

    def answer(self) -> Object:
        """The ElicitResult of this step; only after is_valid()."""
        if self.impossible or self.action is None:
            return rounds.elicit_result(Action.CANCEL)
        content = self.form.value() if self.form is not None and self.action is Action.ACCEPT else None
        return rounds.elicit_result(self.action, content)


@dataclass(frozen=True, slots=True)
class RoundForm:
    """All steps of a round as one form."""

    steps: tuple[Step, ...]
    pages: tuple[Page, ...]
    bound: bool = field(default=False)

    def is_valid(self) -> bool:
        valid = [page.is_valid() for page in self.pages]  # all of them: every page shows its errors
        return all(valid)

    def responses(self) -> Object:
        """inputResponses for exactly these steps; only after is_valid()."""
        answers = {page.step.key: page.answer() for page in self.pages}
        return rounds.responses(self.steps, answers) or {}

    def actions(self) -> tuple[str, ...]:
        """What was done with each step, without content, for the round's row."""
        return tuple(f"{page.kind}:{page.answer()['action']}" for page in self.pages)

    def carried(self) -> list[tuple[str, str]]:
        """Every input of the round as it was posted, for hidden inputs of the page that reads it back."""
        chosen = [(f"{page.prefix}-action", page.action.value) for page in self.pages if page.action]
        return chosen + [each for page in self.pages if page.form is not None for each in page.form.carried()]

    @property
    def may_send_directly(self) -> bool:
        """One step with few fields needs no page that reads the answers back (D4)."""
        if len(self.pages) != 1:
            return False
        form = self.pages[0].form
        return form is None or len(form.fields) <= MAX_DIRECT_FIELDS


def accepts(form: forms.StepForm, schema: Mapping[str, Any]) -> bool:
    """Whether the answer is complete and fits the whole schema; what does not is said at its field (FM-2).

    A schema that cannot be checked is left to the server.
    """
    if not form.is_valid():
        return False
    try:
        form.add_problems(check.check(schema, form.value()))
    except SchemaFault:
        return True
    return not form.errors


def round_form(
    steps: tuple[Step, ...],
    *,
    data: Mapping[str, Any] | None,
    zone: str,
    own_hosts: Collection[str],
    before: tuple[Object, Object] | None = None,
) -> RoundForm:
    """Draw the round; `data` is what was posted, `before` the requests and responses of the round before."""
    pages = tuple(_page(number, step, data, zone, own_hosts, before) for number, step in enumerate(steps))
    return RoundForm(steps, pages, data is not None)


def _page(
    number: int,
    step: Step,
    data: Mapping[str, Any] | None,
    zone: str,
    own_hosts: Collection[str],
    before: tuple[Object, Object] | None,
) -> Page:
    page = Page(number, step)
    if step.kind is Kind.URL and step.showable:
        page.link = links.judge(step.url, own_hosts)
    earlier = _earlier(step, before)
    if step.kind is Kind.FORM:
        content = (earlier or {}).get("content")
        page.form = _form(step, data, content if isinstance(content, dict) else None, page.prefix, zone)
    has_fields = page.form is not None and bool(page.form.fields)
    page.action = _action(data, f"{page.prefix}-action", Action.ACCEPT if has_fields else None)
    page.repeated = earlier is not None
    page.declined_before = earlier is not None and earlier.get("action") == Action.DECLINE
    return page


def _action(data: Mapping[str, Any] | None, name: str, default: Action | None) -> Action | None:
    """What the person chose. A form with fields is answered unless they say otherwise; all else asks for a word."""
    try:
        return Action(str((data or {}).get(name, "")))
    except ValueError:
        return default


def _form(
    step: Step, data: Mapping[str, Any] | None, content: Object | None, prefix: str, zone: str
) -> forms.StepForm | None:
    try:
        spec = read.read_elicitation(step.schema)
    except SchemaFault:
        return None
    if spec.unanswerable:
        return None
    return forms.build(spec, prefix=prefix, data=data, initial=content, zone=zone)


def _earlier(step: Step, before: tuple[Object, Object] | None) -> Object | None:
    """The answer given in the round before to the identical question."""
    if before is None or before[0].get(step.key, {}).get("params", {}) != step.params:
        return None
    answer = before[1].get(step.key)
    return answer if isinstance(answer, dict) else None
