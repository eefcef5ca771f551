"""The form that starts a flow."""

import hashlib
import json
import re
import uuid
from collections.abc import Mapping
from typing import Any
from urllib.parse import parse_qsl, urlencode

from django.http import Http404, HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.utils.encoding import escape_uri_path

from mrtr_web import catalog, completion, forms, operations, pages, wizard
from mrtr_web.inputs import say
from mrtr_web.operations import Operation
from mrtr_web.schema import prefill, read
from mrtr_web.schema.drawing import Drawing
from mrtr_web.schema.edits import edited
from mrtr_web.schema.invalid import Invalid
from mrtr_web.schema.parse import parse
from mrtr_web.schema.places import ROOT, plainly, walk
from mrtr_web.schema.spec import Absent, FormSpec, Json, Kind, SchemaFault, SchemaTooLarge
from mrtr_web.views.web import SignedIn, limited, lost_post, posted, signed_in, typed_in, uuid_in

Context = dict[str, Any]
PREFIX = "s0"
MAX_LINK = 256 * 1024
KINDS = {"tools": ["tools"], "prompts": ["prompts"], "resources": ["resources", "templates"]}
"""What each kind of page is drawn from."""
_MEMBER = re.compile(rf"{PREFIX}-{ROOT}([0-9]{{1,4}})(-.*)?", re.DOTALL)


@signed_in
def start(request: SignedIn, slug: str, kind: str, name: str = "", copy: int = 1) -> HttpResponse:
    """The form that starts a flow. Its flow id is minted when it is drawn: a double click is one flow."""
    server = catalog.visible(request.user).filter(slug=slug).first()
    if server is None:
        return _not_here(request)
    catalog.attach(request.user.pk, server)
    name = name or _uri(request, kind)
    operation = operations.find(server, kind, name, copy)
    if operation is None or request.method != "POST":
        catalog.renew(server, request.user.pk, KINDS[kind])
        operation = operations.find(server, kind, name, copy)
    if operation is None and request.method == "POST":
        return _not_here(request)
    if operation is None:
        connects = catalog.may_connect(server, server.trouble)
        status = 200 if connects else 502 if server.trouble else 404
        return render(request, "catalog/gone.html", {"server": server, "connects": connects}, status=status)
    try:
        page = StartPage(request, kind, operation)
        if request.method != "POST":
            return page.first()
        return page.change(request.POST["do"]) if "do" in request.POST else page.begin()
    except SchemaFault as fault:
        typed = typed_in(request) if request.method == "POST" else []
        told = say(fault.code, fault.params)
        context = {"server": server, "operation": operation, "fault": told, "typed": typed}
        return render(request, "catalog/unusable.html", context, status=422)


def _not_here(request: SignedIn) -> HttpResponse:
    """A server or operation that is not offered, or not any more. What was typed for it is given back."""
    if request.method != "POST":
        raise Http404
    response = lost_post(request, "gone")
    response.status_code = 404
    return response


def _uri(request: SignedIn, kind: str) -> str:
    """Of the resource that the page is for; other operations may have a value of that name."""
    return request.GET.get("uri", "") if kind == "resources" else ""


class StartPage:
    """One operation's form in one request. Raises SchemaFault where none can be made."""

    def __init__(self, request: SignedIn, kind: str, operation: Operation) -> None:
        self.request, self.kind, self.operation = request, kind, operation
        self.uri, self.digest = _uri(request, kind), _digest(operation)
        self.spec: FormSpec = read.read_input(operation.schema)
        self.notice = ""
        self.link = ""
        self.unused: list[str] = []

    def first(self) -> HttpResponse:
        """Filled in by a link, or with what an earlier flow was started with, or with the schema's defaults."""
        initial = self._earlier()
        link = [pair for pair in self.request.GET.lists() if pair[0] not in self._reserved()]
        if link:
            return self._filled([(key, text) for key, texts in link for text in texts], initial)
        return self._drawn(self._form(None, initial))

    def change(self, do: str) -> HttpResponse:
        """Draw the form anew, with another shape. Nothing is judged and nothing is sent."""
        if do == "fill":
            pairs = parse_qsl(self.request.POST.get("fill", "")[:MAX_LINK], keep_blank_values=True)
            return self._filled(pairs, self._earlier())
        data = self._fitted(posted(self.request))
        form = self._form_with_room(data, do)
        form.forgive()
        if self.notice:
            return self._drawn(form)
        if do == "link":
            return self._linked(form)
        try:
            changed = edited(self.spec, forms.unprefixed(data, PREFIX), do)
            redrawn = self._form({f"{PREFIX}-{name}": given for name, given in changed.items()})
        except Invalid as invalid:
            form.add_error(do.partition(" ")[2], say(invalid.code, invalid.params))
            return self._drawn(form)
        except SchemaTooLarge:
            self.notice = "full"
            return self._drawn(form)
        redrawn.forgive()
        return self._drawn(redrawn)

    def begin(self) -> HttpResponse:
        """Start the flow, if all is well."""
        flow_id = uuid_in(self.request.POST.get("flow", "")) or uuid.uuid4()
        if wizard.flow_of(self.request.user.pk, flow_id) is not None:
            return redirect("flow", flow_id)
        form = self._form(self._fitted(posted(self.request)))
        if self.notice:
            form.is_valid()
            return self._drawn(form)
        if not pages.accepts(form, self.operation.schema):
            return self._drawn(form)
        if problems := operations.unmirrored(self.operation, form.value()):
            form.add_problems(problems)
            return self._drawn(form)
        try:
            params = self.operation.params(form.value())
        except ValueError:
            self.notice = "address"
            return self._drawn(form)
        return self._launch(form, flow_id, params)

    def _launch(self, form: forms.StepForm, flow_id: uuid.UUID, params: Context) -> HttpResponse:
        again = uuid_in(self.request.POST.get("again", ""))
        try:
            launched = wizard.start(self.request.visitor, self.operation, flow_id, params, again)
        except wizard.SessionOver:
            return lost_post(self.request, "signed_out")
        except wizard.TooMany as too_many:
            return limited(self._drawn(form, too_many), too_many)
        if launched is not None:
            wizard.wait(launched)
        return redirect("flow", flow_id)

    def _form_with_room(self, data: dict[str, list[str]], do: str) -> forms.StepForm:
        """A kind that was chosen may have more fields than the page has room for."""
        try:
            return self._form(data)
        except SchemaTooLarge:
            verb, _, name = do.partition(" ")
            if verb != "branch":
                raise
            self.notice = "full"
            return self._form({each: given for each, given in data.items() if each != f"{PREFIX}-{name}-branch"})

    def _fitted(self, data: dict[str, list[str]]) -> dict[str, list[str]]:
        """What was posted for a form of another schema, as far as its members are still there: nothing may slip on."""
        if self.request.POST.get("schema") == self.digest:
            return data
        self.notice = "changed"
        before, now = self.request.POST.get("keys", "").split(","), _keys(self.spec)
        found: dict[str, list[str]] = {}
        for name, given in data.items():
            match = _MEMBER.fullmatch(name)
            key = before[int(match[1])] if match and int(match[1]) < len(before) else ""
            if match and key and key in now:
                found[f"{PREFIX}-{ROOT}{now.index(key)}{match[2] or ''}"] = given
        return found

    def _linked(self, form: forms.StepForm) -> HttpResponse:
        for place in walk(form.root):
            try:
                parse(place.spec, place.typed) if place.spec.kind is Kind.JSON and place.typed.text else None
            except Invalid as invalid:  # a secret in it cannot be told
                form.add_error(place.name, say(invalid.code, invalid.params))
                return self._drawn(form)
        self.link = self._link_to(form)
        return self._drawn(form)

    def _form(self, data: Mapping[str, Any] | None, initial: Mapping[str, Json] | None = None) -> forms.StepForm:
        zone = timezone.get_current_timezone_name()
        return forms.build(self.spec, prefix=PREFIX, data=data, initial=initial, zone=zone)

    def _earlier(self) -> Context | None:
        again = uuid_in(self.request.GET.get("again", ""))
        row = wizard.flow_of(self.request.user.pk, again) if again else None
        same = (self.operation.server.pk, self.operation.method, self.operation.name)
        if row is not None and (row.server_id, row.method, row.name) == same:
            return wizard.earlier_values(self.request.visitor, row, self.operation)
        asked = self.operation.name and self.uri not in ("", self.operation.name)
        return self.operation.values({"uri": self.uri}) if asked else None

    def _filled(self, link: list[prefill.Pair], initial: Mapping[str, Json] | None) -> HttpResponse:
        given = dict(initial) if initial else self._defaults()
        try:
            found, self.unused = prefill.values(self.spec.root, given, link)
        except SchemaTooLarge:  # it is written as JSON
            found, self.unused = given, [key for key, _ in link]
        self.notice = "link"
        return self._drawn(self._form(None, found if isinstance(found, dict) else None))

    def _defaults(self) -> Json:
        try:
            given = plainly(Drawing(json=True).fresh(self.spec.root))
        except SchemaTooLarge:  # it is written as JSON
            return {}
        return {} if isinstance(given, Absent) else given

    def _link_to(self, form: forms.StepForm) -> str:
        """The address of this page with what is filled in behind its #, which browsers send to nobody."""
        value = plainly(form.root)
        try:
            pairs = [] if isinstance(value, Absent) else prefill.pairs(self.spec.root, value)
        except SchemaTooLarge:
            pairs = []
        return f"{self.request.build_absolute_uri(self._address())}#{urlencode(pairs)}"

    def _reserved(self) -> set[str]:
        return {"again", "uri"} if self.kind == "resources" else {"again"}

    def _address(self) -> str:
        """This page's, without what a link filled in."""
        path = escape_uri_path(self.request.path)
        return f"{path}?{urlencode({'uri': self.uri})}" if self.uri else path

    def _drawn(self, form: forms.StepForm, too_many: wizard.TooMany | None = None) -> HttpResponse:
        request, operation = self.request, self.operation
        context = {
            "server": operation.server,
            "operation": operation,
            "form": form,
            "flow_id": uuid_in(request.POST.get("flow", "")) or uuid.uuid4(),
            "schema": self.digest,
            "keys": ",".join(_keys(self.spec)),
            "notice": self.notice,
            "too_many": too_many,
            "kind": self.kind,
            "suggests": completion.is_offered(operation),
            "again": request.POST.get("again") or request.GET.get("again", ""),
            "address": self._address(),
            "link": self.link,
            "unused": self.unused,
            "too_large": say(form.too_large.code, form.too_large.params) if form.too_large else "",
        }
        wrong = form.errors or self.notice in ("changed", "address", "full")
        return render(request, "catalog/start.html", context, status=422 if wrong else 200)


def _keys(spec: FormSpec) -> list[str]:
    """Short digests of the members' names, in order: names themselves never reach the browser (D5)."""
    try:
        return [hashlib.sha256(member.key.encode(errors="replace")).hexdigest()[:12] for member in spec.fields]
    except SchemaTooLarge:
        return []


def _digest(operation: Operation) -> str:
    """Tells a form that was drawn from another schema."""
    return hashlib.sha256(json.dumps(operation.schema).encode()).hexdigest()[:16]
