"""The queue of the review desk: which requests are pending, who waits for whom, and since when. No content."""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar

from django import forms
from django.contrib.auth.models import AbstractUser
from django.db.models import Count, F, Q, QuerySet
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from mrtr_web import references, waits, wording
from mrtr_web.flow import OPEN, State
from mrtr_web.models import Flow, Round, Server

PER_PAGE = 50
MANY_ROUNDS = 10
"""From here on a request is worth a look."""
PERSON, SERVER, HERE, CHECK, NOBODY = "person", "server", "here", "check", "nobody"
WAITS_FOR = {
    State.RUNNING: SERVER,
    State.NOT_YET: SERVER,
    State.WAITING: PERSON,
    State.UNSENT: PERSON,
    State.UNKNOWN: PERSON,
}
ORDERS = {"": ("changed_at", "pk"), "newest": ("-started_at", "pk"), "oldest": ("started_at", "pk")}


class Wish(forms.Form):
    """What of the queue is to be seen. Every part may be left out."""

    state = forms.ChoiceField(
        label=gettext_lazy("State"),
        required=False,
        choices=[
            ("", gettext_lazy("All that are open")),
            *wording.STATES.items(),
            ("all", gettext_lazy("All, also those that are over")),
        ],
    )
    server = forms.ChoiceField(label=gettext_lazy("Server"), required=False)
    person = forms.CharField(label=gettext_lazy("Person"), required=False, max_length=150)
    reference = references.ReferenceField()
    taken = forms.ChoiceField(
        label=gettext_lazy("Looked after"),
        required=False,
        choices=[
            ("", gettext_lazy("By anybody or nobody")),
            ("me", gettext_lazy("By me")),
            ("nobody", gettext_lazy("By nobody yet")),
        ],
    )
    order = forms.ChoiceField(
        label=gettext_lazy("First"),
        required=False,
        choices=[
            ("", gettext_lazy("Longest in its state")),
            ("newest", gettext_lazy("Newest request")),
            ("oldest", gettext_lazy("Oldest request")),
        ],
    )
    page = forms.IntegerField(required=False, min_value=1, max_value=100_000, widget=forms.HiddenInput)
    SHOWN: ClassVar = ("state", "server", "person", "reference", "taken", "order")

    @property
    def is_narrow(self) -> bool:
        """Whether more than a state was asked for."""
        return any(self.data.get(name) for name in self.SHOWN if name != "state")

    def __init__(self, data: Mapping[str, Any], servers: Iterable[Server]) -> None:
        super().__init__(data)
        choice = self.fields["server"]
        assert isinstance(choice, forms.ChoiceField)
        choice.choices = [("", gettext_lazy("All")), *((server.slug, server.name) for server in servers)]

    @property
    def wanted(self) -> dict[str, Any]:
        """What was asked for; a part that is wrong counts as left out."""
        self.is_valid()
        return self.cleaned_data


@dataclass(frozen=True, slots=True)
class Row:
    """One request in the queue."""

    flow: Flow
    waits_for: str
    kinds: Mapping[str, int] = field(default_factory=dict)
    hosts: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()

    @property
    def state(self) -> str:
        return wording.word(wording.STATES, self.flow.state)

    @property
    def who(self) -> str:
        """Who waits for whom."""
        names = {"person": self.flow.user.get_username(), "server": self.flow.server.name}
        match self.waits_for:
            case "person":
                return _("%(server)s waits for %(person)s") % names
            case "server":
                return _("%(person)s waits for %(server)s") % names
            case "check":
                return _("%(server)s waits for %(person)s to check again") % names
            case "here":
                return _("%(person)s waits for a free place here") % names
        return names["person"]

    @property
    def asked(self) -> str:
        return wording.counted(self.kinds)

    @property
    def warned(self) -> list[str]:
        return [wording.word(wording.WARNINGS, code) for code in self.warnings]


@dataclass(frozen=True, slots=True)
class Queue:
    """A page of the queue. `counts` by state are of all that the wish finds, but for its state."""

    rows: list[Row]
    counts: Mapping[str, int]
    page: int
    pages: int


def read(user: AbstractUser, servers: Mapping[int, Server], wish: Wish) -> Queue:
    """The page of the queue that is wished for, out of these servers' requests; a constant number of queries."""
    wanted = wish.wanted
    found = _found(user, servers, wanted)
    counts = dict(found.order_by().values_list("state").annotate(Count("pk")))
    states = _states(wanted.get("state", ""))
    total = sum(counts.get(state, 0) for state in states)
    pages = max(1, -(-total // PER_PAGE))
    page = min(wanted.get("page") or 1, pages)
    ordered = found.filter(state__in=states).order_by(*ORDERS[wanted.get("order", "")])
    flows = list(ordered.select_related("user", "taken_by")[(page - 1) * PER_PAGE : page * PER_PAGE])
    return Queue(rows(flows, servers), counts, page, pages)


def _found(user: AbstractUser, servers: Mapping[int, Server], wanted: Mapping[str, Any]) -> QuerySet[Flow]:
    only = Q(server__in=list(servers))
    if wanted.get("server"):
        only &= Q(server__in=[pk for pk, server in servers.items() if server.slug == wanted["server"]])
    if wanted.get("person"):
        only &= Q(user__username__icontains=wanted["person"])
    if wanted.get("reference"):
        only &= Q(pk__range=references.between(wanted["reference"]))
    if wanted.get("taken"):
        only &= Q(taken_by=user.pk if wanted["taken"] == "me" else None)
    return Flow.objects.filter(only)


def _states(wish: str) -> Iterable[str]:
    if wish == "all":
        return list(State)
    return [wish] if wish else sorted(OPEN)


def rows(flows: list[Flow], servers: Mapping[int, Server]) -> list[Row]:
    """What the desk tells of these requests; three queries less the ones that are not needed."""
    ids = [flow.pk for flow in flows]
    asked = {each.flow_id: each for each in Round.objects.filter(flow__in=ids, number=F("flow__round"))}
    here = waits.queued(flows)
    for flow in flows:
        flow.server = servers[flow.server_id]
    return [_row(flow, asked.get(flow.pk), flow.pk in here) for flow in flows]


def _row(flow: Flow, asked: Round | None, is_here: bool) -> Row:
    waits_for = HERE if is_here else WAITS_FOR.get(State(flow.state), NOBODY)
    waits_for = CHECK if waits.needs_person(flow) else waits_for
    many = ("many_rounds",) if flow.round >= MANY_ROUNDS else ()
    if asked is None:
        return Row(flow, waits_for, warnings=many)
    return Row(flow, waits_for, dict(Counter(asked.kinds)), tuple(asked.hosts), (*asked.warnings, *many))
