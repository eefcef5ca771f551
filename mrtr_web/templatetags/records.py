"""Words for codes and spans of time on the pages of records."""

from collections.abc import Sequence

from django import template

from mrtr_web import wording
from mrtr_web.queue import STATE_WORDS

register = template.Library()
register.filter("outcome_words", wording.outcome)
register.filter("duration", wording.span)


@register.filter
def state_words(code: str) -> str:
    return wording.word(STATE_WORDS, code)


@register.filter
def event_words(code: str) -> str:
    return wording.word(wording.EVENTS, code)


@register.filter
def steps_words(kinds: Sequence[str], actions: Sequence[str] = ()) -> str:
    return wording.steps(kinds, actions)
