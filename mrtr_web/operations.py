"""What a server offers, from its stored listing: operations with the schema of the form that starts them.

Malformed entries hide only themselves.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from mcp.shared.inbound import find_invalid_x_mcp_header, x_mcp_header_map

from mrtr_web import addresses
from mrtr_web.models import Flow, Server
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
    tools = [_tool(server, entry) for entry in _tools(server) if _mirror_fault(entry) is None]
    prompts = [_prompt(server, entry) for entry in server.offers.get("prompts", []) if _addressable(entry)]
    templates = [
        _template(server, entry)
        for entry in server.offers.get("templates", [])
        if _named(entry, "uriTemplate") and addresses.fault(entry["uriTemplate"]) is None
    ]
    return {"tools": tools, "prompts": prompts, "templates": templates}


def unmirrorable(server: Server) -> list[tuple[str, str]]:
    """Tools that are not offered because of their x-mcp-header annotations: name and reason (HT-7)."""
    faults = ((entry["name"], _mirror_fault(entry)) for entry in _tools(server))
    return [(name, fault) for name, fault in faults if fault is not None]


def hidden(server: Server) -> list[tuple[str, str]]:
    """What is listed and not offered, for the server's staff: name and reason."""
    named = (entry["uriTemplate"] for entry in server.offers.get("templates", []) if _named(entry, "uriTemplate"))
    templates = ((name, addresses.fault(name)) for name in named)
    return unmirrorable(server) + [(name, fault) for name, fault in templates if fault is not None]


def _tools(server: Server) -> list[Object]:
    return [entry for entry in server.offers.get("tools", []) if _addressable(entry)]


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
    return [entry for entry in server.offers.get("resources", []) if _named(entry, "uri")]


def find(server: Server, kind: str, name: str) -> Operation | None:
    """One operation by kind (tools, prompts, templates) and name; for the kind `resources` by template or URI."""
    if kind == "resources":
        return resource(server, name)
    return next((each for each in offered(server).get(kind, []) if each.name == name), None)


def resource(server: Server, uri: str) -> Operation:
    """Reading by URI: the template of that name, else the listed resource, else the template that matches."""
    templates = offered(server)["templates"]
    listed = next((entry for entry in resources(server) if entry["uri"] == uri), None)
    fitting = [] if listed else [each for each in templates if addresses.matches(each.name, uri)]
    for each in [each for each in templates if each.name == uri] + fitting:
        return each
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


def newest_schema(row: Flow) -> Object | None:
    """A tool's input schema as it is listed now: headers mirror by it, whatever the flow began with (HT-6, T-37)."""
    operation = of_flow(row.server, row.method, row.name) if row.method == "tools/call" else None
    return dict(operation.schema) if operation else None


def titles(server: Server) -> dict[tuple[str, str], str]:
    """The titles of all operations, by method and name."""
    return {(each.method, each.name): each.title for kind in offered(server).values() for each in kind}


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
    title = _text(entry, "title") or _text(hints, "title") or entry["name"]
    schema, output = entry.get("inputSchema"), entry.get("outputSchema")
    return Operation(
        server,
        "tools/call",
        entry["name"],
        title,
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
    title = _text(entry, "title") or entry["name"]
    return Operation(server, "prompts/get", entry["name"], title, _text(entry, "description"), schema)


def _template(server: Server, entry: Object) -> Operation:
    template = entry["uriTemplate"]
    title = _text(entry, "title") or _text(entry, "name") or template
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
