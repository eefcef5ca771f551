"""What a server offers, from its stored listing: operations with the schema of the form that starts them.

Malformed entries hide only themselves.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from django.utils.translation import gettext as _
from mcp.shared.inbound import find_invalid_x_mcp_header, x_mcp_header_map

from mrtr_web import addresses
from mrtr_web.models import Server
from mrtr_web.relay import MAX_ENTRIES
from mrtr_web.schema.check import Problem

METHODS = {"tools": "tools/call", "prompts": "prompts/get", "resources": "resources/read"}
MAX_MIRRORED = 2**53 - 1
Object = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Operation:
    """What can be called on a server. `schema` describes the form that starts it."""

    server: Server
    method: str
    name: str
    """The tool's or prompt's name, or the URI template; empty for a plain resource."""
    title: str
    description: str
    schema: Mapping[str, Any]
    hints: Mapping[str, Any] = field(default_factory=dict)
    output_schema: Object | None = None

    def params(self, values: Object) -> Object:
        """The original params of a flow: frozen from here on."""
        if self.method == "resources/read":
            return {"uri": addresses.expand(self.name, values) if self.name else values["uri"]}
        return {"name": self.name, "arguments": values}

    def values(self, params: Mapping[str, Any]) -> Object:
        """The form's values that led to these params, as far as they can be told."""
        if self.method == "resources/read":
            return addresses.values(self.name, params["uri"]) if self.name else {"uri": params["uri"]}
        return dict(params.get("arguments") or {})

    @property
    def repeatable(self) -> bool:
        """The server says, or the method implies, that sending twice does no harm. A claim, never a guarantee."""
        claims = (self.hints.get("readOnlyHint"), self.hints.get("idempotentHint"))
        return self.method != "tools/call" or any(claim is True for claim in claims)


def offered(server: Server) -> dict[str, list[Operation]]:
    """What the server offers, by kind, from the stored listing; malformed entries hide only themselves."""
    return {
        kind: [_built(server, kind, entry) for entry in _listed(server, kind) if _fault(kind, entry) is None]
        for kind in _KEYS
    }


def is_cut(server: Server) -> bool:
    """Whether it lists more than is offered (LIST-SIZE)."""
    return any(len(entries) > MAX_ENTRIES for entries in server.offers.values())


def unmirrorable(server: Server) -> list[tuple[str, str]]:
    """Tools that are not offered because of their x-mcp-header annotations: name and reason (HT-7)."""
    faults = ((entry["name"], _mirror_fault(entry)) for entry in _listed(server, "tools"))
    return [(name, fault) for name, fault in faults if fault is not None]


def hidden(server: Server) -> list[tuple[str, str]]:
    """What is listed and not offered, for the server's staff: name and reason."""
    faults = ((entry[key], _fault(kind, entry)) for kind, key in _KEYS.items() for entry in _listed(server, kind))
    return [(name, fault) for name, fault in faults if fault is not None]


_KEYS = {"tools": "name", "prompts": "name", "templates": "uriTemplate"}
"""What an entry of each kind is called by."""


def _listed(server: Server, kind: str) -> Iterator[Object]:
    """The entries of a kind that have a name of their own."""
    for entry in server.offers.get(kind, [])[:MAX_ENTRIES]:
        if _named(entry, "uriTemplate") if kind == "templates" else _addressable(entry):
            yield entry


def _fault(kind: str, entry: Object) -> str | None:
    """Why an entry is not offered; None where it is."""
    name = entry[_KEYS[kind]]
    if "\0" in name or any("\ud800" <= character <= "\udfff" for character in name):  # no database stores it
        return _("Its name holds characters that no text may hold.")
    if kind == "templates":
        return addresses.fault(name)
    return _mirror_fault(entry) if kind == "tools" else None


def _built(server: Server, kind: str, entry: Object) -> Operation:
    match kind:
        case "tools":
            return _tool(server, entry)
        case "prompts":
            return _prompt(server, entry)
    return _template(server, entry)


def _mirror_fault(entry: Object) -> str | None:
    """Why a tool's arguments cannot be mirrored in headers as it asks; None where they can (HT-6, HT-7)."""
    schema = entry.get("inputSchema")
    return find_invalid_x_mcp_header(schema) if isinstance(schema, dict) else None


def unmirrored(operation: Operation, values: Object) -> list[Problem]:
    """Whole numbers that are too large for the headers that they must be mirrored in (HT-7)."""
    if operation.method != "tools/call":
        return []
    mirrored = {path: _at(values, path) for path in x_mcp_header_map(operation.schema)}
    limits = {"minimum": -MAX_MIRRORED, "maximum": MAX_MIRRORED}
    return [
        Problem(path, "mirrored_integer", limits)
        for path, value in mirrored.items()
        if isinstance(value, int) and abs(value) > MAX_MIRRORED
    ]


def _at(values: object, path: tuple[str, ...]) -> object:
    for step in path:
        values = values.get(step) if isinstance(values, dict) else None
    return values


def resources(server: Server) -> list[Object]:
    """The listed plain resources: uri, name, title, description."""
    return [entry for entry in server.offers.get("resources", [])[:MAX_ENTRIES] if _named(entry, "uri")]


def find(server: Server, kind: str, name: str) -> Operation | None:
    """One operation by kind (tools, prompts, templates) and name; for the kind `resources` by template or URI."""
    if kind == "resources":
        return resource(server, name)
    entries = _listed(server, kind) if kind in _KEYS else iter(())
    named = (entry for entry in entries if entry[_KEYS[kind]] == name and _fault(kind, entry) is None)
    return next((_built(server, kind, entry) for entry in named), None)


def resource(server: Server, uri: str) -> Operation:
    """Reading by URI: the template of that name, else the listed resource, else the template that matches."""
    if template := find(server, "templates", uri):
        return template
    listed = next((entry for entry in resources(server) if entry["uri"] == uri), None)
    templates = (
        () if listed else (entry for entry in _listed(server, "templates") if _fault("templates", entry) is None)
    )
    for entry in templates:
        if addresses.matches(entry["uriTemplate"], uri):
            return _template(server, entry)
    schema = {
        "type": "object",
        "properties": {"uri": {"type": "string", "format": "uri", "title": "URI"}},
        "required": ["uri"],
    }
    named = listed or {}
    title = _text(named, "title") or _text(named, "name")
    return Operation(server, "resources/read", "", title, _text(named, "description"), schema)


def of_flow(server: Server, method: str, name: str) -> Operation | None:
    """The operation that a flow was started from, if the server still lists it."""
    if method == "resources/read" and not name:
        return resource(server, "")
    if method == "resources/read":
        return find(server, "templates", name)
    return find(server, "tools" if method == "tools/call" else "prompts", name)


def titles(server: Server) -> dict[tuple[str, str], str]:
    """The titles of all that is listed, by method and name."""
    methods = METHODS | {"templates": "resources/read"}
    return {
        (methods[kind], entry[key]): _title(kind, entry)
        for kind, key in _KEYS.items()
        for entry in _listed(server, kind)
    }


def _title(kind: str, entry: Object) -> str:
    hints = entry.get("annotations") if kind == "tools" else None
    second = _text(hints, "title") if isinstance(hints, dict) else _text(entry, "name")
    return _text(entry, "title") or second or str(entry[_KEYS[kind]])


def _named(entry: object, key: str) -> bool:
    return isinstance(entry, dict) and isinstance(entry.get(key), str) and entry[key] != ""


def _addressable(entry: object) -> bool:
    """Whether it has a name that can stand in the path of a page."""
    if not isinstance(entry, dict) or not _named(entry, "name"):
        return False
    name = entry["name"]
    return "\n" not in name and not {".", "..", ""} & set(name.split("/"))


def _text(entry: Object, key: str) -> str:
    value = entry.get(key)
    return value if isinstance(value, str) else ""


def _tool(server: Server, entry: Object) -> Operation:
    hints = entry.get("annotations")
    hints = hints if isinstance(hints, dict) else {}
    schema, output = entry.get("inputSchema"), entry.get("outputSchema")
    return Operation(
        server,
        "tools/call",
        entry["name"],
        _title("tools", entry),
        _text(entry, "description"),
        schema if isinstance(schema, dict) else {"type": "object"},
        hints,
        output if isinstance(output, dict) else None,
    )


def _prompt(server: Server, entry: Object) -> Operation:
    listed = entry.get("arguments")
    arguments = [each for each in listed if _named(each, "name")] if isinstance(listed, list) else []
    schema = {
        "type": "object",
        "properties": {each["name"]: _argument(each) for each in arguments},
        "required": [each["name"] for each in arguments if each.get("required") is True],
    }
    title = _title("prompts", entry)
    return Operation(server, "prompts/get", entry["name"], title, _text(entry, "description"), schema)


def _template(server: Server, entry: Object) -> Operation:
    template = entry["uriTemplate"]
    title = _title("templates", entry)
    schema = addresses.schema(template)
    return Operation(server, "resources/read", template, title, _text(entry, "description"), schema)


def _argument(entry: Object) -> Object:
    """A prompt's argument is a text; an empty one is none at all."""
    return {
        "type": "string",
        "minLength": 1,
        "title": _text(entry, "title") or entry["name"],
        "description": _text(entry, "description"),
    }
