"""Targets: schemas that become forms, what is posted for them, rounds, verdicts, links that fill in a form."""

import json
import re
from collections.abc import Mapping
from typing import Any

import httpx2
from django.http import QueryDict
from hypothesis import strategies as st
from hypothesis.strategies import DataObject

from mrtr_web import forms, pages, relay, rounds, secrecy, steps, vault, verdicts, wire
from mrtr_web.forms import StepForm
from mrtr_web.schema import check, edits, parse, prefill, read, secrets
from mrtr_web.schema.jsontext import same
from mrtr_web.schema.labels import labels
from mrtr_web.schema.places import as_posted, walk
from mrtr_web.schema.spec import ABSENT, FormSpec, Kind, Typed
from tests import fuzz_inputs as some
from tests.fuzz_core import target, tries
from tests.person import Form, Page

Posted = dict[str, list[str]]
PREFIX, ZONE = "s0", "Europe/Berlin"
_TEXTS = frozenset(
    {Kind.TEXT, Kind.LONG_TEXT, Kind.EMAIL, Kind.URI, Kind.UUID, Kind.DATE, Kind.TIME, Kind.DATE_TIME}
    | {Kind.NUMBER, Kind.INTEGER, Kind.JSON}
)


def built(spec: FormSpec, posted: Posted | None, initial: Any = None) -> StepForm | None:
    data = None if posted is None else {f"{PREFIX}-{name}": given for name, given in posted.items()}
    return tries(forms.build, spec, prefix=PREFIX, data=data, initial=initial, zone=ZONE)


def in_browser(form: StepForm, prefix: str = PREFIX) -> Posted:
    """What a browser without scripts would send of the page as drawn."""
    html = tries(str, form)
    page = Page.read(httpx2.Response(200, html=f"<form>{html}</form>"))
    return forms.unprefixed(_sent(page.reader.forms[0]), prefix)


def _sent(form: Form) -> Posted:
    return {name: [re.sub(r"\r\n?|\n", "\r\n", each) for each in given] for name, given in form.data().items()}


def assert_kept(posted: Posted, form: StepForm, but: str = "") -> None:
    """What was typed into the fields of this form is in the page that is drawn now."""
    drawn = in_browser(form)
    for place in walk(form.root):
        typed = "".join(posted.get(place.name, ())[-1:])
        is_text = place.spec.kind in _TEXTS or place.spec.is_searched
        if is_text and typed and not (but and place.name.startswith(but)):
            assert _lines(drawn[place.name][-1]) == _lines(typed), place.name


def _lines(text: str) -> str:
    return re.sub(r"\r\n?", "\n", text)


@target
def forms_of_tools(data: DataObject) -> None:
    schema = data.draw(some.schemas())
    spec = tries(read.read_input, schema)
    if spec is None:
        return
    fresh = built(spec, None, data.draw(st.none() | some.objects))
    if fresh is None:
        return
    posted = in_browser(fresh) | data.draw(some.posts(fresh.root))
    form = built(spec, posted)
    for _ in range(data.draw(st.integers(0, 3))):
        if form is None:
            return
        assert_kept(posted, form)
        posted = _reshaped(data, spec, posted, form)
        form = built(spec, posted)
    if form is not None:
        assert_kept(posted, form)
        _judged(schema, spec, form)


def _reshaped(data: DataObject, spec: FormSpec, posted: Posted, form: StepForm) -> Posted:
    """What is posted after a button of the shape was pressed, and something more was typed."""
    do = data.draw(some.wishes(form.root))
    changed = tries(edits.edited, spec, posted, do)
    redrawn = None if changed is None else built(spec, {name: list(given) for name, given in changed.items()})
    if redrawn is None:
        return posted
    redrawn.forgive()
    verb, _, name = do.partition(" ")
    if verb in ("add", "branch", "x"):
        drawn = in_browser(redrawn)
        for place in walk(form.root):
            typed = "".join(posted.get(place.name, ())[-1:])
            if place.spec.kind in _TEXTS and typed:
                assert _lines(drawn[place.name][-1]) == _lines(typed), (do, place.name)
    else:
        assert_kept({name: list(given) for name, given in (changed or {}).items()}, redrawn)
    return in_browser(redrawn) | data.draw(some.posts(redrawn.root))


def _judged(schema: Any, spec: FormSpec, form: StepForm) -> None:
    """What is accepted is what the form posts again, what a link to it holds, and what can be sent."""
    tries(form.so_far)
    if not tries(pages.accepts, form, schema):
        tries(str, form)
        return
    tries(form.rows)
    value = form.value()
    again = built(spec, forms.unprefixed(_carried(form), PREFIX))
    assert again is not None and again.is_valid() and same(again.value(), value)
    assert tries(wire.compose, "r1", "tools/call", {"name": "t", "arguments": value}, {}, schema) is not None
    if tries(check.check, schema, value) == []:
        edited = built(spec, None, value)
        bound = built(spec, as_posted(edited.root)) if edited is not None else None
        if bound is not None:
            assert bound.is_valid(), bound.errors
            assert same(bound.value(), value), (value, bound.value())
    link = tries(prefill.pairs, spec.root, value)
    if link is not None:
        found = tries(prefill.values, spec.root, {}, link)
        shown = tries(secrets.hidden, spec.root, value, ABSENT, files=True)
        by_fields = all(place.instead_of is None for place in walk(form.root))  # JSON may name what has no field
        if found is not None and by_fields and len(link) <= prefill.MAX_PAIRS:
            assert found[1] == [] and same(found[0], {} if shown is ABSENT else shown), (value, link, found)


def _carried(form: StepForm) -> Posted:
    found: Posted = {}
    for name, given in form.carried():
        found.setdefault(name, []).append(given)
    return found | {
        name: list(v)
        for name, v in form.data.items()
        if name.endswith(("-items", "-branch", "-in", "-drawn", "-as", "-key"))
    }


@target
def links_that_fill_in(data: DataObject) -> None:
    spec = tries(read.read_input, data.draw(some.schemas()))
    if spec is None:
        return
    keys = st.lists(some.names, max_size=3).map(".".join).flatmap(lambda key: st.sampled_from((key, key, f"{key}:")))
    link = data.draw(st.lists(st.tuples(keys, some.texts), max_size=6))
    found = tries(prefill.values, spec.root, data.draw(some.objects), link)
    if found is not None:
        form = built(spec, None, found[0] if isinstance(found[0], dict) else None)
        tries(str, form)


@target
def checks(data: DataObject) -> None:
    schema, value = data.draw(some.schemas()), data.draw(some.values)
    first = tries(check.check, schema, value)
    assert tries(check.check, schema, value) == first
    spec = secrecy.of_input(schema)
    message = {"params": {"arguments": value, "inputResponses": {"a": {"content": value}, "b": {"content": 1}}}}
    tries(secrecy.masked, message, spec, {"a": spec})
    tries(secrecy.values_without, {"a": value}, spec)


@target
def typed_texts(data: DataObject) -> None:
    """Each kind of field with whatever is typed; what it takes it shows, and takes again."""
    schema = data.draw(some.flat_schemas())
    spec = tries(read.read_elicitation, schema, data.draw(some.texts))
    for field in spec.fields if spec is not None else ():
        zone = data.draw(st.sampled_from(("UTC", "Europe/Berlin", "x", "")))
        typed = Typed(data.draw(some.texts), tuple(data.draw(st.lists(some.texts, max_size=3))), zone, blank=True)
        value = tries(parse.parse, field, typed)
        if value is not None and value is not ABSENT:
            again = tries(parse.shown, field, value)
            assert again is None or same(parse.parse(field, again), value)  # type: ignore[arg-type]
        assert len(labels(field)) == len(field.options)


@target
def rounds_of_a_person(data: DataObject) -> None:
    """From a raw result to the answers sent: drawn, posted, read back, judged."""
    capabilities, result = data.draw(st.sampled_from(some.CAPABILITIES)), data.draw(some.results)
    found = tries(rounds.read, result, capabilities)
    if not isinstance(found, rounds.Round):
        return
    assert found.request_state == result.get("requestState")
    form = _round(found, None)
    if form is None:
        return
    posted = QueryDict(mutable=True)
    for page in form.pages:
        posted[f"{page.prefix}-action"] = data.draw(
            some.mostly(st.sampled_from(("accept", "accept", "decline"))).map(str)
        )
        if page.form is not None:
            for name, given in (in_browser(page.form, page.prefix) | data.draw(some.posts(page.form.root))).items():
                posted.setlist(f"{page.prefix}-{name}", given)
    bound = _round(found, posted)
    if bound is not None:
        if not tries(bound.is_valid):
            _drawn(bound)
            return
        _answered(capabilities, found, bound)


def _round(found: rounds.Round, data: Mapping[str, Any] | None) -> steps.RoundForm | None:
    offered = ({"uri": "file:///a", "name": "A"},)
    drawing = pages.Drawing(1, data, ZONE, ("127.0.0.1",), offered)
    form = tries(steps.round_form, found.steps, drawing, [(step.key, dict(step.params), {}) for step in found.steps])
    if form is not None:
        _drawn(form)
    return form


def _drawn(form: steps.RoundForm) -> None:
    for page in form.pages:
        if page.form is not None:
            tries(str, page.form)


def _answered(capabilities: Any, found: rounds.Round, bound: steps.RoundForm) -> None:
    answers = tries(bound.responses)
    assert answers is not None and list(answers) == [step.key for step in found.steps]
    tries(bound.actions)
    carried = QueryDict(mutable=True)
    for name, given in bound.carried():
        carried.appendlist(name, given)
    again = _round(found, carried)
    assert again is not None and again.is_valid() and same(again.responses(), answers)
    params = {"name": "t", "inputResponses": answers, "requestState": found.request_state}
    assert tries(wire.compose, "r1", "tools/call", params, capabilities) is not None
    asked = {step.key: {"method": "x", "params": dict(step.params)} for step in found.steps}
    record = vault.Record(method="tools/call", params={"name": "t"}, capabilities=capabilities, responses=answers)
    assert json.loads(record.model_dump_json())["responses"] == json.loads(json.dumps(answers)), asked


@target
def verdicts_on_results(data: DataObject) -> None:
    """A leg's outcome against the record that it was sent from."""
    capabilities, asked = data.draw(st.sampled_from(some.CAPABILITIES)), data.draw(some.results)
    before = tries(rounds.read, asked, capabilities)
    steps_asked = before.steps if isinstance(before, rounds.Round) else ()
    record = vault.Record(
        method="tools/call",
        params={"name": "t", "arguments": data.draw(some.objects)},
        capabilities=capabilities,
        input_schema=data.draw(st.none() | some.schemas().filter(lambda each: isinstance(each, dict))),
        output_schema=data.draw(st.none() | some.schemas().filter(lambda each: isinstance(each, dict))),
        requests=asked["inputRequests"] if steps_asked else None,
        responses={step.key: {"action": "accept", "content": data.draw(some.objects)} for step in steps_asked},
    )
    sent = (
        {
            "method": "tools/call",
            "params": {"arguments": record.params["arguments"], "inputResponses": record.responses},
        },
    )
    result = data.draw(some.results | some.objects)
    verdict = tries(verdicts.judge, record, 1, relay.Reply(result, sent, ({"result": result},), 9))
    assert verdict is not None
    if verdict.event == "asked":
        assert verdict.record.request_state == result.get("requestState")
    assert json.loads(verdict.record.model_dump_json()) is not None
