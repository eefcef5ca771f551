"""The form that starts a flow."""

import hashlib
import json
import uuid
from collections.abc import Mapping
from typing import Any

from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect, render

from mrtr_web import catalog, completion, forms, operations, pages, wizard
from mrtr_web.schema import read
from mrtr_web.schema.spec import SchemaFault
from mrtr_web.views.catalog import refreshed
from mrtr_web.views.web import SignedIn, lost_post, signed_in, uuid_in

Context = dict[str, Any]


@signed_in
def start(request: SignedIn, slug: str, kind: str, name: str = "") -> HttpResponse:
    """The form that starts a flow. Its flow id is minted when it is drawn: a double click is one flow."""
    server = get_object_or_404(catalog.visible(request.user), slug=slug)
    operation = operations.find(server, kind, name or request.GET.get("uri", ""))
    if operation is None:
        trouble = refreshed(server)
        operation = operations.find(server, kind, name or request.GET.get("uri", ""))
        if operation is None:
            return render(request, "catalog/gone.html", {"server": server, "trouble": trouble}, status=404)
    try:
        if request.method == "POST":
            return _start(request, kind, operation)
        form = _start_form(request, operation, None, _initial(request, operation))
        return _start_page(request, kind, operation, form)
    except SchemaFault as fault:
        context = {"server": server, "operation": operation, "fault": forms.say(fault.code, fault.params)}
        return render(request, "catalog/unusable.html", context, status=422)


def _initial(request: SignedIn, operation: operations.Operation) -> Context | None:
    again = uuid_in(request.GET.get("again", ""))
    row = wizard.flow_of(request.user.pk, again) if again else None
    if row is not None and row.server_id == operation.server.pk:
        return wizard.earlier_values(request.visitor, row, operation)
    uri = request.GET.get("uri", "")
    return operation.values({"uri": uri}) if uri and uri != operation.name else None


def _start_form(
    request: SignedIn, operation: operations.Operation, data: Mapping[str, Any] | None, initial: Context | None
) -> forms.StepForm:
    spec = read.read_input(operation.schema)
    return forms.build(spec, prefix="s0", data=data, initial=initial, zone=wizard.zone_of(request.user.pk))


def _start_page(
    request: SignedIn, kind: str, operation: operations.Operation, form: forms.StepForm, notice: str = ""
) -> HttpResponse:
    context = {
        "server": operation.server,
        "operation": operation,
        "form": form,
        "flow_id": uuid.uuid4(),
        "schema": _digest(operation),
        "notice": notice,
        "kind": kind,
        "suggests": completion.is_offered(operation),
        "again": request.POST.get("again") or request.GET.get("again", ""),
    }
    return render(request, "catalog/start.html", context, status=422 if form.errors or notice else 200)


def _start(request: SignedIn, kind: str, operation: operations.Operation) -> HttpResponse:
    flow_id = uuid_in(request.POST.get("flow", "")) or uuid.uuid4()
    if wizard.flow_of(request.user.pk, flow_id) is not None:
        return redirect("flow", flow_id)
    form = _start_form(request, operation, request.POST, None)
    if request.POST.get("schema") != _digest(operation):
        form.is_valid()
        return _start_page(request, kind, operation, form, "changed")
    if not pages.accepts(form, operation.schema):
        return _start_page(request, kind, operation, form)
    if problems := operations.unmirrored(operation, form.value()):
        form.add_problems(problems)
        return _start_page(request, kind, operation, form)
    try:
        params = operation.params(form.value())
    except ValueError:
        return _start_page(request, kind, operation, form, "address")
    try:
        launched = wizard.start(request.visitor, operation, flow_id, params, uuid_in(request.POST.get("again", "")))
    except wizard.SessionOver:
        return lost_post(request, "signed_out")
    if launched is not None:
        wizard.wait(launched)
    return redirect("flow", flow_id)


def _digest(operation: operations.Operation) -> str:
    """Tells a form that was drawn from another schema."""
    return hashlib.sha256(json.dumps(operation.schema).encode()).hexdigest()[:16]
