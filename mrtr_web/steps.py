"""All pages of a round as one form, from the record's requests and what was posted, to the answers sent.

Everything that a browser posts is matched by our own input names (r1s0-f3, r1s0-action); the server's keys never
leave the record (D5).
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from mrtr_web import links, pages, results, rounds
from mrtr_web.pages import Drawing, FormPage, Page, SamplingPage, UrlPage
from mrtr_web.rounds import Action, Kind, Step

MAX_DIRECT_FIELDS = 4
Object = dict[str, Any]
Asked = tuple[str, Object, Object]
"""What was asked and answered before: key, params, answer."""


@dataclass(frozen=True, slots=True, repr=False)
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
        return tuple(page.answer().get("action", "accept") for page in self.pages)

    def carried(self) -> list[tuple[str, str]]:
        """Every input of the round as it was posted, for hidden inputs of the page that reads it back."""
        chosen = [(f"{page.prefix}-action", page.action.value) for page in self.pages if page.action]
        return chosen + [each for page in self.pages if page.form is not None for each in page.form.carried()]

    @property
    def nothing_to_answer(self) -> bool:
        """No step of the round can be shown: all that can be sent is that nothing was decided (T-15)."""
        return all(page.impossible for page in self.pages)

    @property
    def leaves_out(self) -> bool:
        """Whether a question stays without an answer; only after is_valid()."""
        answered = [page.form for page in self.pages if isinstance(page, FormPage) and page.action is Action.ACCEPT]
        return any(not row.sent for form in answered if form is not None for row in form.rows())

    @property
    def may_send_directly(self) -> bool:
        """One step with few fields needs no page that reads the answers back (D4)."""
        if len(self.pages) != 1:
            return False
        form = self.pages[0].form
        return form is None or len(form.fields) <= MAX_DIRECT_FIELDS


def round_form(steps: tuple[Step, ...], drawing: Drawing, past: Iterable[Asked] = ()) -> RoundForm:
    """Draw the round; `past` is what was asked and answered before, the newest last."""
    known = tuple(past)
    found = tuple(pages.page(drawing.round, number, step, _earlier(step, known)) for number, step in enumerate(steps))
    for page in found:
        page.draw(drawing)
        if isinstance(page, UrlPage):
            page.moved_from = _moved_from(page.step, known)
    _number_blocks(found)
    return RoundForm(steps, found, drawing.data is not None)


def conversation(steps: Iterable[Step]) -> Object:
    """The messages of all sampling steps of a round, as one result whose contents can be numbered."""
    return {"messages": [message for step in steps for message in _messages(step)]}


def _messages(step: Step) -> list[Any]:
    return list(step.params["messages"]) if step.kind is Kind.SAMPLING else []


def _number_blocks(found: tuple[Page, ...]) -> None:
    """Contents are numbered through the whole round: a page's images have addresses of their own."""
    start = 0
    for page in found:
        if isinstance(page, SamplingPage):
            page.said = results.show(conversation([page.step]), start)
            start += len(page.said.blocks) + page.said.more


def _earlier(step: Step, past: tuple[Asked, ...]) -> Object | None:
    """The latest answer to the same question: same key, and the same thing asked under it (T-10)."""
    for key, params, answer in reversed(past):
        if key == step.key and question(step.kind, params) == question(step.kind, step.params):
            return answer
    return None


def question(kind: Kind, params: Mapping[str, Any]) -> object:
    """What makes two questions the same: a form's fields, however it is introduced; else all of it."""
    schema = params.get("requestedSchema")
    if kind is Kind.FORM and isinstance(schema, Mapping) and schema.get("properties"):
        return schema
    return params


def _moved_from(step: Step, past: tuple[Asked, ...]) -> str:
    """The host that this key's last link led to, where this one leads elsewhere (T-26)."""
    urls = (params.get("url") for key, params, _ in reversed(past) if key == step.key)
    before = links.judge(next((url for url in urls if isinstance(url, str)), ""))
    return before.host if before.host != links.judge(step.url).host else ""
