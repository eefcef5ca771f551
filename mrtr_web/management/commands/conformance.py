"""One client scenario of the official conformance suite, run through the wizard as the pages do it.

The suite starts this with the address of its scenario server; `make conformance` starts the suite. Everything the
server offers is started, and every round is drawn, filled in, posted and sent: saved and opened again each time.
"""

import asyncio
import contextlib
import json
import os
import secrets
import threading
import time
import uuid
from collections.abc import Iterator, Mapping
from typing import Any

from django.contrib.auth import SESSION_KEY
from django.contrib.auth.models import User
from django.core.management import call_command
from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.db import connection

from mrtr_web import catalog, egress, entries, forms, operations, pages, wizard
from mrtr_web.flow import State
from mrtr_web.models import Flow, Server
from mrtr_web.runner import runner
from mrtr_web.schema import read
from mrtr_web.schema.drawing import Drawing
from mrtr_web.schema.places import as_posted
from mrtr_web.schema.spec import ABSENT, NESTED, FieldSpec, Json, Kind, SchemaFault
from mrtr_web.sessions import SessionStore, Visitor

Object = dict[str, Any]
BOUND = 20.0
"""Seconds that a flow may take until it waits for the person or has ended."""
KNOWN: Mapping[str, Object] = {"add_numbers": {"a": 5, "b": 3}}
SAMPLES: Mapping[Kind, Json] = {
    Kind.BOOLEAN: True,
    Kind.INTEGER: 1,
    Kind.NUMBER: 1,
    Kind.JSON: {},
    Kind.EMAIL: "ada@example.org",
    Kind.URI: "https://example.org/",
}
NOT_THERE = "refused:-32601"
"""Some scenario servers list tools that they cannot call."""
ECHO, ECHOED = "json_schema_echo", "json_schema_2020_12_tool"


class Command(BaseCommand):
    help = "Runs a client scenario of the official conformance suite (see: make conformance)."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("url")

    def handle(self, *args: Any, **options: Any) -> None:
        if connection.introspection.table_names():
            raise CommandError("this needs an empty database of its own: set DATABASE_URL")
        call_command("migrate", verbosity=0, interactive=False)
        server = Server.objects.create(
            slug="suite",
            name="Suite",
            url=options["url"],
            private_networks=["127.0.0.0/8", "::1/128"],
            capabilities=["elicitation"],
        )
        with _legs():
            failed = _run(_visitor(), server)
        if failed:
            raise CommandError(", ".join(failed))


@contextlib.contextmanager
def _legs() -> Iterator[None]:
    """The runner on a loop of its own, as the ASGI lifespan has it."""
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever)
    thread.start()

    async def start() -> None:
        runner.start()

    async def stop() -> None:
        await runner.drain(BOUND)
        await egress.aclose()

    asyncio.run_coroutine_threadsafe(start(), loop).result()
    try:
        yield
    finally:
        asyncio.run_coroutine_threadsafe(stop(), loop).result()
        loop.call_soon_threadsafe(loop.stop)
        thread.join()
        loop.close()


def _visitor() -> Visitor:
    """Somebody who has just signed in."""
    user, secret, store = User.objects.create_user("suite"), secrets.token_bytes(32), SessionStore()
    store[SESSION_KEY] = str(user.pk)
    store.bind(secret)
    store.create()
    assert store.row is not None
    return Visitor(user.pk, store.row.pk, store.row.ends_at, secret)


def _run(visitor: Visitor, server: Server) -> list[str]:
    """Start everything, then answer everything, so that flows run beside each other. What did not complete."""
    catalog.refresh(server, visitor.user)
    started = [(operation.name, _start(visitor, operation, values)) for operation, values in _wanted(server)]
    ends = [(name, _finish(visitor, flow)) for name, flow in started]
    return [
        f"{name or 'resource'}: {row.state} {row.outcome}"
        for name, row in ends
        if row.state != State.COMPLETED and row.outcome != NOT_THERE
    ]


def _wanted(server: Server) -> Iterator[tuple[operations.Operation, Object]]:
    """Every operation with the values to start it with; where the suite names calls, those."""
    offered = operations.offered(server)
    tools = {each.name: each for each in offered["tools"]}
    context = json.loads(os.environ.get("MCP_CONFORMANCE_CONTEXT") or "{}")
    if calls := context.get("toolCalls"):
        yield from ((tools[call["name"]], call["arguments"]) for call in calls)
        return
    known = {**KNOWN, ECHO: {"schema": tools[ECHOED].schema}} if ECHOED in tools else KNOWN
    for operation in [*offered["tools"], *offered["prompts"], *offered["templates"]]:
        yield operation, _typed_in(operation, known.get(operation.name, {}))
    for entry in entries.offered(server, "resources"):
        operation = operations.resource(server, entry.name)
        yield operation, _typed_in(operation, {"uri": entry.name})


def _typed_in(operation: operations.Operation, values: Object) -> Object:
    """What the start form makes of these values. Raises CommandError."""
    try:
        spec = read.read_input(operation.schema)
    except SchemaFault as fault:
        raise CommandError(f"{operation.name}: {fault.code}") from None
    drawn = forms.build(spec, prefix="s0", data=None, initial=None, zone="UTC")
    form = forms.build(spec, prefix="s0", data=_posted(drawn, values), initial=None, zone="UTC")
    if not pages.accepts(form, operation.schema):
        raise CommandError(f"{operation.name}: its form cannot be filled in")
    return form.value()


def _start(visitor: Visitor, operation: operations.Operation, values: Object) -> uuid.UUID:
    flow_id = uuid.uuid4()
    launched = wizard.start(visitor, operation, flow_id, operation.params(values))
    assert launched is not None
    return flow_id


def _finish(visitor: Visitor, flow_id: uuid.UUID) -> Flow:
    """Answer round after round until the flow has ended."""
    row = _settled(flow_id)
    while row.state == State.WAITING:
        seen, record = wizard.open_flow(visitor, flow_id)
        drawn = wizard.round_form(seen, record, data=None, zone="UTC", own_hosts=())
        data = {key: value for page in drawn.pages for key, value in _posted_page(page).items()}
        form = wizard.round_form(seen, record, data=data, zone="UTC", own_hosts=())
        if not form.is_valid():
            raise CommandError("a round cannot be filled in")
        wizard.answer(visitor, seen, record, form, "").result(BOUND)
        row = _settled(flow_id)
    return row


def _settled(flow_id: uuid.UUID) -> Flow:
    """The flow, once no leg of it is in the air."""
    end = time.monotonic() + BOUND
    while time.monotonic() < end:
        row = Flow.objects.get(pk=flow_id)
        if row.state not in (State.RUNNING, State.NOT_YET):
            return row
        time.sleep(0.02)
    raise CommandError("the server took too long")


def _posted_page(page: pages.Page) -> Object:
    fields = _posted(page.form, {}) if page.form is not None else {}
    return fields | {f"{page.prefix}-action": "accept"}


def _posted(form: forms.StepForm, values: Object) -> Object:
    """The form as a browser would post it with these values, and something fitting for the others."""
    given = {spec.key: _sample(spec) for spec in form.spec.fields} | values
    drawn = Drawing(json=form.spec.may_be_json).value(form.spec.root, given)
    return {f"{form.prefix}-{name}": posted for name, posted in as_posted(drawn).items()}


def _sample(spec: FieldSpec) -> Json:
    if spec.kind in NESTED:
        return {part.key: _sample(part) for part in spec.parts()} if spec.kind is Kind.GROUP else []
    if spec.default is not ABSENT:
        return spec.default
    if spec.options:
        first = spec.options[0].value
        return [first] if spec.kind is Kind.CHOICES else first
    return SAMPLES.get(spec.kind, "text")
