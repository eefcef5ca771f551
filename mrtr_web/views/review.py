"""The review desk: the queue, one request, and what a reviewer may do about it."""

import functools
import uuid
from collections.abc import Callable
from typing import Any, Concatenate, cast
from urllib.parse import urlencode

from django import forms
from django.contrib import messages
from django.contrib.auth.models import AbstractUser
from django.db.models import Count, Q
from django.http import Http404, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext
from django.views.decorators.http import require_safe

from mrtr_web import kept, ledger, records, review, tokens, wording
from mrtr_web import queue as pending
from mrtr_web.flow import OPEN, State
from mrtr_web.models import AuditEntry, Flow, Server, Session
from mrtr_web.views.web import P, Request, SignedIn, View, signed_in

Context = dict[str, Any]
TRAIL = 10
"""Rows of the audit trail that a request's page shows, the newest."""


class ReasonForm(forms.Form):
    """Why a request is withdrawn, or a server switched off: for people to read."""

    reason = forms.CharField(
        label=gettext_lazy("Reason"),
        max_length=300,
        widget=forms.Textarea({"rows": 3}),
        error_messages={"required": gettext_lazy("Say why: the person will read it.")},
    )


class NoteForm(forms.Form):
    """What the other reviewers should know."""

    note = forms.CharField(label=gettext_lazy("Note for other reviewers"), max_length=300, required=False)


def reviewer(view: View[P]) -> Callable[Concatenate[Request, P], HttpResponse]:
    """Only for people who may review something; for others the page is not there."""

    @functools.wraps(view)
    def guarded(request: SignedIn, *args: P.args, **kwargs: P.kwargs) -> HttpResponse:
        if not review.is_reviewer(request.user):
            raise Http404
        return view(request, *args, **kwargs)

    return signed_in(cast(View[P], guarded))


@require_safe
@reviewer
def queue(request: SignedIn) -> HttpResponse:
    servers = _servers(request.user)
    ledger.expire_leases(server__in=list(servers))
    mark = review.mark(servers)  # before the look: what comes between the two is told again
    wish = pending.Wish(request.GET, servers.values())
    found = pending.read(request.user, servers, wish)
    context = {
        "mark": mark,
        "queue": found,
        "wish": wish,
        "fields": [wish[name] for name in wish.SHOWN],
        "counts": [(state, words, found.counts.get(state, 0)) for state, words in wording.STATES.items()],
        "others": urlencode({k: v for k, v in request.GET.items() if k in wish.SHOWN and k != "state" and v}),
        "query": urlencode({k: v for k, v in request.GET.items() if k in wish.SHOWN and v}),
    }
    return render(request, "review/queue.html", context)


def _servers(user: AbstractUser) -> dict[int, Server]:
    return {server.pk: server for server in review.servers(user)}


@require_safe
@reviewer
def flow(request: SignedIn, flow_id: uuid.UUID) -> HttpResponse:
    return _flow_page(request, _flow(request, flow_id))


def _flow(request: SignedIn, flow_id: uuid.UUID) -> Flow:
    row = review.find(request.user, flow_id)
    if row is None:
        raise Http404
    return row


def _flow_page(
    request: SignedIn, row: Flow, *, reason: forms.Form | None = None, note: forms.Form | None = None
) -> HttpResponse:
    """The page of a request, with what was typed there where it is refused."""
    (shown,) = pending.rows(request.user, [row], {row.server_id: row.server})
    trail = AuditEntry.objects.filter(flow=row.pk)[: TRAIL + 1]
    context = {
        "mark": review.mark([row.server_id]),
        "row": shown,
        "flow": row,
        "connection": tokens.of(row.server, row.user_id) if row.server.asks_each else None,
        "rounds": row.rounds.all(),
        "kept": kept.read(row),
        "drawing": records.timeline_of(row),
        "trail": trail[:TRAIL],
        "trail_goes_on": len(trail) > TRAIL,
        "reason": reason or ReasonForm(auto_id="withdraw-%s"),
        "note": note or NoteForm(initial={"note": row.note}, auto_id="take-%s"),
        "waits_for_person": shown.waits_for == pending.PERSON or row.state == State.NOT_YET,
        "may_end_sessions": review.may_end_sessions(request.user, row.user),
    }
    return render(request, "review/flow.html", context, status=422 if reason or note else 200)


def action(view: Callable[[SignedIn, Flow], HttpResponse | None]) -> Callable[..., HttpResponse]:
    """What a reviewer does to a request; a GET of it, and its end, lead to the request's page."""

    @functools.wraps(view)
    @reviewer
    def done(request: SignedIn, flow_id: uuid.UUID) -> HttpResponse:
        row = _flow(request, flow_id)
        page = view(request, row) if request.method == "POST" else None
        return page or redirect("review_flow", flow_id)

    return done


def _say(request: SignedIn, done: bool, words: str) -> None:
    """What came of it."""
    if done:
        messages.success(request, words)
    else:
        messages.warning(request, _("Nothing was changed: the request had moved on. This is where it stands."))


@action
def withdraw(request: SignedIn, row: Flow) -> HttpResponse | None:
    form = ReasonForm(request.POST, auto_id="withdraw-%s")
    if not form.is_valid():
        return _flow_page(request, row, reason=form)
    done = review.withdraw(row, request.user.pk, form.cleaned_data["reason"])
    _say(request, done, _("Withdrawn. The person sees your reason."))
    return None


@action
def remind(request: SignedIn, row: Flow) -> None:
    _say(request, review.remind(row, request.user.pk), _("Reminded: they see it on the pages that they have open."))


@action
def take(request: SignedIn, row: Flow) -> HttpResponse | None:
    form = NoteForm(request.POST, auto_id="take-%s")
    if not form.is_valid():
        return _flow_page(request, row, note=form)
    done = review.take(row, request.user.pk, form.cleaned_data["note"])
    _say(request, done, _("You look after this request now."))
    return None


@action
def release(request: SignedIn, row: Flow) -> None:
    _say(request, review.release(row, request.user.pk), _("Nobody looks after this request now."))


@reviewer
def end_sessions(request: SignedIn, flow_id: uuid.UUID) -> HttpResponse:
    """A page that says what will be lost; its POST does it."""
    row = _flow(request, flow_id)
    if not review.may_end_sessions(request.user, row.user):
        raise Http404
    if request.method == "POST":
        count = review.end_sessions(row.user, request.user.pk)
        messages.success(request, ngettext("%d session was ended.", "%d sessions were ended.", count) % count)
        return redirect("review_flow", flow_id)
    context = {
        "flow": row,
        "sessions": Session.objects.filter(user=row.user).count(),
        "requests": review.flows(request.user).filter(user=row.user, state__in=OPEN).count(),
    }
    return render(request, "review/end_sessions.html", context)


@require_safe
@reviewer
def servers(request: SignedIn) -> HttpResponse:
    return _servers_page(request)


def _servers_page(request: SignedIn, refused: dict[str, forms.Form] | None = None) -> HttpResponse:
    open_here = Count("flows", filter=Q(flows__state__in=OPEN))
    rows = review.servers(request.user).annotate(open=open_here).order_by("name")
    forms_of = refused or {}
    context = {
        "rows": [(row, forms_of.get(row.slug) or ReasonForm(auto_id=f"{row.slug}-%s")) for row in rows],
        "may_switch": review.may_switch(request.user),
    }
    return render(request, "review/servers.html", context, status=422 if refused else 200)


@reviewer
def switch(request: SignedIn, slug: str) -> HttpResponse:
    """Switch a server off, with a reason, or on again."""
    server = get_object_or_404(review.servers(request.user), slug=slug)
    if not review.may_switch(request.user):
        raise Http404
    if request.method != "POST":
        return redirect("review_servers")
    turn_on = request.POST.get("to") == "on"
    form = ReasonForm(request.POST, auto_id=f"{slug}-%s")
    if not turn_on and not form.is_valid():
        return _servers_page(request, {slug: form})
    ledger.switch(server, on=turn_on, by=request.user.pk, note="" if turn_on else form.cleaned_data["reason"])
    words = _("%s is switched on.") if turn_on else _("%s is switched off. Calls that run may finish.")
    messages.success(request, words % server.name)
    return redirect("review_servers")
