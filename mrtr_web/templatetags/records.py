"""Words for codes and spans of time on the pages of records."""

from collections.abc import Sequence

from django import template
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString

from mrtr_web import wording

register = template.Library()
register.filter("outcome_words", wording.outcome)
register.filter("duration", wording.span)


@register.filter
def state_words(code: str) -> str:
    return wording.word(wording.STATES, code)


@register.filter
def event_words(code: str) -> str:
    return wording.word(wording.EVENTS, code)


@register.filter
def steps_words(kinds: Sequence[str], actions: Sequence[str] = ()) -> str:
    return wording.steps(kinds, actions)


@register.filter
def coded(text: str) -> SafeString:
    """A sentence of ours, with what stands between backticks as code."""
    parts = enumerate(text.split("`"))
    return format_html_join("", "{}", ((format_html("<code>{}</code>", part) if n % 2 else part,) for n, part in parts))


@register.filter
def kind_words(code: str) -> str:
    return wording.word(wording.KINDS, code)


@register.filter
def warning_words(code: str) -> str:
    return wording.word(wording.WARNINGS, code)
