"""Suggestions while a person types. By POST alone: what is typed reaches no URL and no log."""

from django.http import Http404, HttpResponse, JsonResponse
from django.shortcuts import get_object_or_404
from django.views.decorators.http import require_POST

from mrtr_web import allowances, catalog, completion, operations
from mrtr_web.schema import read
from mrtr_web.schema.places import ROOT, member
from mrtr_web.schema.spec import SchemaFault
from mrtr_web.views.start import PREFIX
from mrtr_web.views.web import SignedIn, limited, signed_in


@require_POST
@signed_in
def suggest(request: SignedIn, slug: str) -> HttpResponse:
    """Suggestions for the input `typing` of a start form that is posted as it stands."""
    server = get_object_or_404(catalog.visible(request.user), slug=slug)
    catalog.attach(request.visitor.user, server)
    operation = operations.find(server, request.POST.get("kind", ""), request.POST.get("name", ""))
    if operation is None or not completion.is_offered(operation):
        raise Http404
    try:
        spec = read.read_input(operation.schema)
    except SchemaFault:
        raise Http404 from None
    inputs = {f"{PREFIX}-{member(ROOT, index)}": field for index, field in enumerate(spec.fields)}
    typing = inputs.get(request.POST.get("typing", ""))
    if typing is None or typing.secret:
        raise Http404
    try:
        allowances.spend(request.visitor.user, "suggest", server.pk)
    except allowances.TooMany as too_many:
        return limited(JsonResponse({"values": []}), too_many)
    values = {field.key: request.POST.get(name, "") for name, field in inputs.items() if not field.secret}
    return JsonResponse({"values": completion.suggest(operation, request.visitor.user, typing.key, values)})
