"""What can be called on a server, from its stored listing: operations with the schema of the form that starts them."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlencode

from mcp.shared.inbound import x_mcp_header_map

from mrtr_web import addresses, entries
from mrtr_web.entries import Entry, text
from mrtr_web.models import MOST_LABEL, Flow, Server
from mrtr_web.schema.check import Problem, check
from mrtr_web.schema.text import clean_text, one_line

METHODS = {"tools": "tools/call", "prompts": "prompts/get", "resources": "resources/read"}
KINDS = {"tools/call": "tools", "prompts/get": "prompts", "resources/read": "templates"}
"""Where the operations of each method are listed by name."""
MAX_MIRRORED = 2**53 - 1
BY_ADDRESS = {
    "type": "object",
    "properties": {"uri": {"type": "string", "format": "uri", "title": "URI"}},
    "required": ["uri"],
}
"""What starts the reading of any resource."""
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
    copy: int = 1
    """Which one of the tools or prompts of this name it is."""
    uri: str = field(default="", repr=False)
    """Of the one resource that it reads: there is nothing to fill in."""

    def params(self, values: Object) -> Object:
        """The original params of a flow: frozen from here on."""
        if self.method == "resources/read":
            return {"uri": self.uri or (addresses.expand(self.name, values) if self.name else values["uri"])}
        return {"name": self.name, "arguments": values}

    def values(self, params: Mapping[str, Any]) -> Object:
        """The form's values that led to these params, as far as they can be told."""
        if self.uri:
            return {}
        if self.method == "resources/read":
            return addresses.values(self.name, params["uri"]) if self.name else {"uri": params["uri"]}
        return dict(params.get("arguments") or {})

    @property
    def label(self) -> str:
        """What records call a listed resource, whose address they may not hold."""
        return _label(self.title) if self.uri else ""

    @property
    def claims(self) -> list[str]:
        return entries.claims(self.hints)

    @property
    def repeatable(self) -> bool:
        """The server says, or the method implies, that sending twice does no harm. A claim, never a guarantee."""
        claims = (self.hints.get("readOnlyHint"), self.hints.get("idempotentHint"))
        return self.method != "tools/call" or any(claim is True for claim in claims)


def offered(server: Server) -> dict[str, list[Operation]]:
    """What can be started by name, by kind."""
    return {kind: [_built(entry) for entry in entries.offered(server, kind)] for kind in _BUILDERS}


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


def find(server: Server, kind: str, name: str, copy: int = 1) -> Operation | None:
    """One that people may start, by kind (tools, prompts, templates) and name; of `resources` by template or URI."""
    if kind == "resources":
        return resource(server, name)
    return None if kind == "tools" and name in server.hidden_tools else _find(server, kind, name, copy)


def resource(server: Server, uri: str) -> Operation:
    """Reading by URI: the template of that name, else the listed resource, else the template that matches.

    What is no URI is left to be typed.
    """
    if template := _find(server, "templates", uri):
        return template
    listed = next((entry for entry in entries.offered(server, "resources") if entry.name == uri), None)
    for entry in () if listed else entries.offered(server, "templates"):
        if addresses.matches(entry.name, uri):
            return _template(entry)
    if listed is None and check(BY_ADDRESS, {"uri": uri}):
        return Operation(server, "resources/read", "", "", "", BY_ADDRESS)
    title = text(listed.raw, "title") or text(listed.raw, "name") if listed else ""
    return Operation(
        server, "resources/read", "", title, listed.description if listed else "", {"type": "object"}, uri=uri
    )


def kinds_of(method: str, name: str) -> tuple[str, ...]:
    """The kinds of listings that tell of such a flow's operation, and of where it is started."""
    return (KINDS[method],) if name else ("resources", "templates")


def of_flow(server: Server, method: str, name: str) -> Operation | None:
    """The operation that a flow was started from, if the server still lists it: hidden or not."""
    if method == "resources/read" and not name:
        return resource(server, "")
    return _find(server, KINDS[method], name)


def address(server: Server, method: str, name: str, label: str = "") -> str:
    """Of the page that starts it. A resource without a name is found by its label, if no other has the same."""
    found = [] if name else _labelled(server, label)
    return Entry(server, KINDS[method], found[0].name if len(found) == 1 else name, 1, {}).address


def is_listed(server: Server, label: str) -> bool:
    """Whether there still is a resource that records call so."""
    return bool(_labelled(server, label))


def _labelled(server: Server, label: str) -> list[Entry]:
    return [entry for entry in entries.offered(server, "resources") if label and _label(entry.title) == label]


def _label(title: str) -> str:
    return one_line(clean_text(title, MOST_LABEL))[:MOST_LABEL]


def start_again(row: Flow) -> str:
    """The address of the page that starts the same once more, with what this flow was started with."""
    start = address(row.server, row.method, row.name, row.label)
    return f"{start}{'&' if '?' in start else '?'}{urlencode({'again': row.pk})}"


def has_input(row: Flow, params: Mapping[str, Any]) -> bool:
    """Whether anything was filled in to start it."""
    return bool(params.get("arguments")) or ("uri" in params and not row.label)


def has_twins(server: Server, method: str, name: str) -> bool:
    """Whether the name alone does not tell which operation is meant (LIST-TWICE)."""
    return _find(server, KINDS[method], name, copy=2) is not None


def titles(server: Server) -> dict[tuple[str, str], str]:
    """The titles of all that is listed, by method and name; of several, the first one's."""
    found: dict[tuple[str, str], str] = {}
    for method, kind in KINDS.items():
        for entry in entries.named(server, kind):
            found.setdefault((method, entry.name), entry.title)
    return found


def _find(server: Server, kind: str, name: str, copy: int = 1) -> Operation | None:
    known = entries.named(server, kind) if kind in _BUILDERS else ()
    asked = (entry for entry in known if (entry.name, entry.copy) == (name, copy))
    return next((_built(entry) for entry in asked if entry.fault is None), None)


def _built(entry: Entry) -> Operation:
    return _BUILDERS[entry.kind](entry)


def _tool(entry: Entry) -> Operation:
    schema, output = entry.raw.get("inputSchema"), entry.raw.get("outputSchema")
    return Operation(
        entry.server,
        "tools/call",
        entry.name,
        entry.title,
        entry.description,
        schema if isinstance(schema, dict) else {"type": "object"},
        entry.hints,
        output if isinstance(output, dict) else None,
        entry.copy,
    )


def _prompt(entry: Entry) -> Operation:
    listed = entry.raw.get("arguments")
    each_of = listed if isinstance(listed, list) else []
    arguments = [each for each in each_of if isinstance(each, dict) and text(each, "name")]
    schema = {
        "type": "object",
        "properties": {each["name"]: _argument(each) for each in arguments},
        "required": [each["name"] for each in arguments if each.get("required") is True],
    }
    return Operation(entry.server, "prompts/get", entry.name, entry.title, entry.description, schema, copy=entry.copy)


def _template(entry: Entry) -> Operation:
    schema = addresses.schema(entry.name)
    return Operation(entry.server, "resources/read", entry.name, entry.title, entry.description, schema)


def _argument(raw: Object) -> Object:
    """A prompt's argument is a text; an empty one is none at all."""
    return {
        "type": "string",
        "minLength": 1,
        "title": text(raw, "title") or raw["name"],
        "description": text(raw, "description"),
    }


_BUILDERS = {"tools": _tool, "prompts": _prompt, "templates": _template}
