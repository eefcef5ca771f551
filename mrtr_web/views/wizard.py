"""The wizard: the current page of a flow, check page, answers, stop, send again, content of results."""

import functools
import uuid
from collections.abc import Callable, Mapping
from typing import Any

from django.contrib import messages
from django.http import Http404, HttpResponse
from django.shortcuts import redirect, render
from django.template.loader import render_to_string
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.http import require_safe

from mrtr_web import catalog, operations, rawjson, records, results, steps, tokens, waits, wizard
from mrtr_web.flow import State
from mrtr_web.models import Flow
from mrtr_web.policies import CONTENT_POLICY
from mrtr_web.views.web import Request, SignedIn, digest, limited, lost_post, own_host, signed_in, uuid_in
from mrtr_web.wizard import Record

Context = dict[str, Any]
PAGES = {
    State.RUNNING: "flows/running.html",
    State.NOT_YET: "flows/running.html",
    State.WAITING: "flows/waiting.html",
    State.UNSENT: "flows/unsent.html",
    State.UNKNOWN: "flows/unknown.html",
    State.COMPLETED: "flows/result.html",
    State.FAILED: "flows/failed.html",
}


def posted(view: Callable[[Request, uuid.UUID], HttpResponse]) -> Callable[[Request, uuid.UUID], HttpResponse]:
    """For posts; whoever comes any other way, by reload or bookmark, is led to the flow's current page.

    Where the flow is gone, as when its server was deleted, what was typed is shown.
    """

    @functools.wraps(view)
    def led(request: Request, flow_id: uuid.UUID) -> HttpResponse:
        if request.method != "POST":
            return redirect("flow", flow_id)
        try:
            return view(request, flow_id)
        except Http404:
            return lost_post(request, "gone", status=404)

    return led


@require_safe
@signed_in
def flow(request: SignedIn, flow_id: uuid.UUID) -> HttpResponse:
    """The current page of a flow, whatever its state."""
    return _page(request, flow_id)


def _page(request: SignedIn, flow_id: uuid.UUID) -> HttpResponse:
    try:
        row, record = wizard.open_flow(request.visitor, flow_id)
        if (launched := wizard.take_up(request.visitor, row, record)) is not None:
            wizard.wait(launched)
            row, record = wizard.open_flow(request.visitor, flow_id)
    except wizard.Unreadable:
        return _unreadable(request, _row(request, flow_id))
    state = State(row.state)
    if state is State.WITHDRAWN:
        record = wizard.reduce(request.visitor, row, record)
    if state is State.WAITING:
        return _round_page(request, row, record, _round_form(request, row, record, None))
    context = _context(row, record)
    if state is State.RUNNING:
        context["progress"] = wizard.progress(request.visitor, row)
    if state is State.COMPLETED:
        context["result"] = results.show(record.result or {})
    sent = waits.sent_at([row])
    if None in sent.values():
        return render(request, "flows/queued.html", context | {"queued": True})
    context["sent_at"] = sent.get(row.pk)
    return render(request, PAGES.get(state, "flows/over.html"), context)


@require_safe
@signed_in
def timeline(request: SignedIn, flow_id: uuid.UUID) -> HttpResponse:
    """Who did what, and when: without content, so it is there in any browser of this person's."""
    row = _row(request, flow_id)
    return render(request, "flows/timeline.html", _context(row, None) | {"drawing": records.timeline_of(row)})


@posted
@signed_in
def check(request: SignedIn, flow_id: uuid.UUID) -> HttpResponse:
    """The answers as they will be sent, with a way back to each; sends nothing."""
    current = _posted_round(request, flow_id)
    if current is None:
        return _not_used(request, flow_id)
    row, record, form = current
    valid = form.is_valid()
    if not valid or "change" in request.POST:
        return _round_page(request, row, record, form, valid or "change" in request.POST)
    context = _context(row, record) | {"round_form": form, "hidden": form.carried()}
    return render(request, "flows/check.html", context)


@posted
@signed_in
def answer(request: SignedIn, flow_id: uuid.UUID) -> HttpResponse:
    """Send the round."""
    current = _posted_round(request, flow_id)
    if current is None:
        return _not_used(request, flow_id)
    row, record, form = current
    if not form.is_valid():
        return _round_page(request, row, record, form, False)
    try:
        wizard.wait(wizard.answer(request.visitor, row, record, form, digest(request)))
    except wizard.Barred as barred:
        _say_barred(request, barred)
        return _round_page(request, row, record, form, status=403)
    except wizard.TooMany as too_many:
        _say_too_many(request, too_many)
        return limited(_round_page(request, row, record, form), too_many)
    except wizard.Stale:
        return _not_used(request, flow_id)
    return redirect("flow", flow_id)


def _not_used(request: SignedIn, flow_id: uuid.UUID) -> HttpResponse:
    """What was posted was not sent: the session ended on the way, or another tab was first. Typed texts are shown."""
    if wizard.is_over(request.visitor):
        return lost_post(request, "signed_out")
    row = _row(request, flow_id)
    if wizard.was_sent(request.visitor, flow_id, digest(request)):
        messages.warning(
            request, _("This was already answered, perhaps in another tab. What you sent now was not used.")
        )
        return redirect("flow", flow_id)
    return lost_post(request, "moved_on", status=409, flow=row)


def _say_barred(request: SignedIn, barred: wizard.Barred) -> None:
    messages.error(request, render_to_string("flows/_trouble.html", {"code": barred.why}).strip())


def _say_too_many(request: SignedIn, too_many: wizard.TooMany) -> None:
    messages.error(request, render_to_string("flows/_too_many.html", {"too_many": too_many}).strip())


@posted
@signed_in
def stop(request: SignedIn, flow_id: uuid.UUID) -> HttpResponse:
    """Stop this request. Nothing is sent."""
    _row(request, flow_id)
    wizard.stop(request.visitor, flow_id)
    return redirect("flow", flow_id)


@posted
@signed_in
def forget(request: SignedIn, flow_id: uuid.UUID) -> HttpResponse:
    """Remove the input and the result of a request that is over, now instead of at the end of the session."""
    _row(request, flow_id)
    if wizard.forget(request.visitor, flow_id):
        messages.success(request, _("Removed. That the request was made stays on record, without its content."))
    return redirect("flows")


@posted
@signed_in
def again(request: SignedIn, flow_id: uuid.UUID) -> HttpResponse:
    """Send the same leg again, after it was not sent or is unknown, or call again for a state-only round."""
    _row(request, flow_id)
    leg = uuid_in(request.POST.get("leg", ""))
    if leg is not None:
        try:
            wizard.wait(wizard.send_again(request.visitor, flow_id, leg))
        except wizard.Barred as barred:
            _say_barred(request, barred)
        except wizard.TooMany as too_many:
            _say_too_many(request, too_many)
            return limited(_page(request, flow_id), too_many)
        except (wizard.Stale, wizard.Unreadable):
            pass  # the current page says what is
    return redirect("flow", flow_id)


@require_safe
@signed_in
def content(request: SignedIn, flow_id: uuid.UUID, number: int) -> HttpResponse:
    """An image, sound or file of the server: shown in place only where its type is allowed and its bytes agree."""
    try:
        found = results.content(wizard.shown_content(*wizard.open_flow(request.visitor, flow_id)), number)
    except wizard.Unreadable:
        found = None
    if found is None:
        raise Http404
    data, mime, inline = found
    response = HttpResponse(data, content_type=mime)
    response["Content-Disposition"] = "inline" if inline else f'attachment; filename="result-{number}"'
    response["Content-Security-Policy"] = CONTENT_POLICY
    return response


def _row(request: SignedIn, flow_id: uuid.UUID) -> Flow:
    row = wizard.flow_of(request.user.pk, flow_id)
    if row is None:
        raise Http404
    return row


def _context(row: Flow, record: Record | None) -> Context:
    operation = catalog.operation_of(row)
    connects = row.state == State.UNSENT and catalog.may_connect(row.server, row.outcome)
    return {
        "flow": row,
        "server": row.server,
        "label": operation.title if operation is not None and operation.title else row.called,
        "start": operations.start_again(row),
        "held": record is not None,
        "repeatable": operation is not None and operation.repeatable,
        "announced": operation.output_schema if operation is not None else None,
        "raw_messages": [(message.sent, rawjson.written(message.body)) for message in record.messages]
        if record
        else [],
        "has_input": record is not None and operations.has_input(row, record.params),
        "connects": connects,
        "connection": tokens.of(row.server, row.user_id) if connects else None,
        "may_sign_in": record is None or record.refusals is None or record.refusals.may_sign_in,
        "error": record.error if record else None,
        "missing": _missing(record.error) if record and record.error else [],
    }


def _missing(error: Context) -> list[str]:
    """The names of the capabilities that a refused client lacks (-32021)."""
    data = error.get("data")
    required = data.get("requiredCapabilities") if isinstance(data, dict) else None
    return list(required)[:10] if isinstance(required, dict) else []


def _unreadable(request: SignedIn, row: Flow) -> HttpResponse:
    row = wizard.expire_without_record(row)
    template = "flows/elsewhere.html" if row.is_open else "flows/over.html"
    return render(request, template, _context(row, None) | {"unreadable": True})


def _round_form(request: SignedIn, row: Flow, record: Record, data: Mapping[str, Any] | None) -> steps.RoundForm:
    own = own_host(request)
    return wizard.round_form(row, record, data=data, zone=timezone.get_current_timezone_name(), own_hosts={own})


def _round_page(
    request: SignedIn, row: Flow, record: Record, form: steps.RoundForm, valid: bool = True, status: int = 200
) -> HttpResponse:
    context = _context(row, record) | {"round_form": form, "valid": valid, "changes": "change" in request.POST}
    return render(request, "flows/waiting.html", context, status=status if valid else 422)


def _posted_round(request: SignedIn, flow_id: uuid.UUID) -> tuple[Flow, Record, steps.RoundForm] | None:
    """The current round with what was posted for it; None where the post belongs to another round."""
    try:
        row, record = wizard.open_flow(request.visitor, flow_id)
    except wizard.Unreadable:
        _row(request, flow_id)
        return None
    if row.state != State.WAITING or request.POST.get("round") != str(row.round):
        return None
    return row, record, _round_form(request, row, record, request.POST)
