"""What is kept of a flow, as a timeline: from its rows, without content."""

from django.utils import timezone

from mrtr_web import lifelines, timeline
from mrtr_web.flow import State
from mrtr_web.models import Flow


def timeline_of(row: Flow) -> lifelines.Drawing:
    """The timeline of a flow and its picture."""
    calls = [timeline.Call(leg.round, leg.started_at, leg.sent_at, leg.ended_at, leg.outcome) for leg in row.legs.all()]
    rounds = [
        timeline.Asked(each.number, tuple(each.kinds), tuple(each.actions or ()), each.answered_at)
        for each in row.rounds.all()
    ]
    facts = timeline.Facts(State(row.state), row.started_at, row.changed_at, timezone.now(), calls, rounds)
    return lifelines.drawn(timeline.of(facts))
