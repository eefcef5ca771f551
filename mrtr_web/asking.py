"""Asks servers what they are and what they offer, all at once, each only for what is not known any more."""

import asyncio
import time
from collections.abc import Collection, Iterable
from dataclasses import dataclass, field, replace
from typing import Any

from mrtr_web import admission, listings, relay
from mrtr_web.lifetimes import lifetime
from mrtr_web.models import Server

GRACE = 0.5
"""Seconds for the bounds of the exchanges themselves to tell what is wrong."""


@dataclass(frozen=True, slots=True)
class Question:
    """What to ask one server, which is attached: for those of these kinds that are stale."""

    server: Server
    user: int
    """Who asks; nobody where it is 0."""
    limits: relay.Limits
    capabilities: dict[str, Any]
    kinds: Collection[str]

    def within(self, end: float) -> relay.Limits:
        left = max(end - time.monotonic(), 0.1)
        return replace(self.limits, silence=min(self.limits.silence, left), total=min(self.limits.total, left))


@dataclass(slots=True, repr=False)
class Answers:
    """What a server said of itself and listed, by kind, and what went wrong first."""

    found: dict[str, relay.Listed] = field(default_factory=dict)
    error: relay.RelayError | None = None


async def ask(questions: Iterable[Question], seconds: float) -> list[Answers]:
    """The answers in the order of the questions, after so many seconds at the latest."""
    end = time.monotonic() + seconds
    return await asyncio.gather(*(_ask(question, end) for question in questions))


async def _ask(question: Question, end: float) -> Answers:
    answers = Answers()

    async def attempt(target: relay.Endpoint) -> None:
        await _ask_all(question, target, answers, end)

    try:
        async with asyncio.timeout(max(end - time.monotonic(), 0.1) + GRACE):
            await admission.admitted(question.server, question.user, attempt)
    except relay.RelayError as error:
        answers.error = error
    except TimeoutError:  # only what comes before an attempt has no bound of its own
        answers.error = relay.Unsent("renewal")
    return answers


async def _ask_all(question: Question, target: relay.Endpoint, answers: Answers, end: float) -> None:
    """One after the other; where the server does not answer at all, the rest is left out."""
    server = question.server
    discovered = server.discovered if listings.is_fresh(server, listings.DISCOVERY) else None
    if discovered is None:
        bounds = question.within(end)
        discovered = await relay.discover(target, bounds, capabilities=question.capabilities)
        answers.found[listings.DISCOVERY] = relay.Listed([discovered], lifetime(discovered))
    for kind in listings.declared(discovered):
        if kind in question.kinds and not listings.is_fresh(server, kind):
            await _ask_kind(question, target, kind, answers, end)


async def _ask_kind(question: Question, target: relay.Endpoint, kind: str, answers: Answers, end: float) -> None:
    """A listing that is wrong in itself hides only itself."""
    bounds, method = question.within(end), listings.METHODS[kind]
    try:
        answers.found[kind] = await relay.listing(target, bounds, method, capabilities=question.capabilities)
    except (relay.Refused, relay.Broken) as error:
        answers.error = answers.error or error
