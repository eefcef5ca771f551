"""Suggestions of a server while a person types the arguments of a prompt or the values of a resource's address (CO-1).

A comfort: where anything is amiss there are none. Nothing is kept.
"""

from collections.abc import Mapping
from dataclasses import replace
from functools import partial

from asgiref.sync import async_to_sync
from django.db import close_old_connections

from mrtr_web import admission, catalog, relay
from mrtr_web.operations import Operation
from mrtr_web.schema.text import clean_text, one_line

SECONDS = 2.0
MAX_BYTES = 256 * 1024
MAX_VALUES, MAX_LENGTH = 100, 200


def is_offered(operation: Operation) -> bool:
    """Whether the server can be asked for suggestions for this operation's values."""
    discovered = operation.server.discovered
    declared = discovered.get("capabilities") if isinstance(discovered, dict) else None
    has_values = bool(operation.schema.get("properties")) and bool(operation.name) and operation.copy == 1
    return has_values and operation.method != "tools/call" and isinstance(declared, dict) and "completions" in declared


def suggest(operation: Operation, user: int, name: str, values: Mapping[str, str]) -> list[str]:
    """Suggestions for the value `name`, of which `values` holds the beginning, beside the other values so far."""
    key = "uri" if operation.method == "resources/read" else "name"
    kind = "ref/resource" if key == "uri" else "ref/prompt"
    # Browsers send every line break as CRLF; the start form sends it on as LF.
    others = {other: value.replace("\r\n", "\n") for other, value in values.items() if other != name and value}
    params = {
        "ref": {"type": kind, key: operation.name},
        "argument": {"name": name, "value": values.get(name, "")},
        "context": {"arguments": others},
    }
    whole = catalog.limits()
    bounds = replace(whole, connect=SECONDS, silence=SECONDS, total=SECONDS, max_bytes=MAX_BYTES)
    declared = catalog.capabilities(operation.server)
    ask = partial(relay.complete, limits=bounds, params=params, capabilities=declared)
    close_old_connections()
    try:
        found = async_to_sync(admission.admitted)(operation.server, user, ask)
    except relay.RelayError:
        return []
    return [value for value in found[:MAX_VALUES] if value == one_line(clean_text(value)) and len(value) <= MAX_LENGTH]
