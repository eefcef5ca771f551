"""Servers and what they offer: who may see what, discovery, listings, and operations with their input schema."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import timedelta
from typing import Any

from asgiref.sync import async_to_sync
from django.conf import settings
from django.contrib.auth.models import AbstractUser
from django.db import connection
from django.db.models import Q, QuerySet
from django.utils import timezone
from mcp.shared.inbound import find_invalid_x_mcp_header, x_mcp_header_map
from mcp.shared.uri_template import UriTemplate

from mrtr_web import credentials, ledger, relay
from mrtr_web.models import Flow, Server
from mrtr_web.schema.check import Problem

LISTINGS = {
    "tools": "tools/list",
    "prompts": "prompts/list",
    "resources": "resources/list",
    "templates": "resources/templates/list",
}
_CAPABILITY = {"tools": "tools", "prompts": "prompts", "resources": "resources", "templates": "resources"}
METHODS = {"tools": "tools/call", "prompts": "prompts/get", "resources": "resources/read"}
FRESH_FOR = timedelta(minutes=5)
LISTING_SECONDS = 15.0
"""A person waits for a listing; longer is a fault of the server."""
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
            return {"uri": UriTemplate.parse(self.name).expand(values) if self.name else values["uri"]}
        return {"name": self.name, "arguments": values}

    def values(self, params: Mapping[str, Any]) -> Object:
        """The form's values that led to these params, as far as they can be told."""
        if self.method == "resources/read":
            if self.name:
                return dict(UriTemplate.parse(self.name).match(params["uri"]) or {})
            return {"uri": params["uri"]}
        return dict(params.get("arguments") or {})

    @property
    def repeatable(self) -> bool:
        """The server says, or the method implies, that sending twice does no harm. A claim, never a guarantee."""
        claims = (self.hints.get("readOnlyHint"), self.hints.get("idempotentHint"))
        return self.method != "tools/call" or any(claim is True for claim in claims)


def visible(user: AbstractUser) -> QuerySet[Server]:
    """The servers that this person may use."""
    servers = Server.objects.filter(enabled=True)
    if user.is_superuser:
        return servers
    return servers.filter(Q(groups=None) | Q(groups__in=user.groups.all())).distinct()


def endpoint(server: Server) -> relay.Endpoint:
    """Where legs to this server go, with its credentials."""
    return relay.Endpoint(server.url, credentials.headers(server), server.allow_private)


def limits() -> relay.Limits:
    """The time and size limits of one leg, from the settings."""
    config = settings.CONFIG
    return relay.Limits(
        connect=config.connect_timeout,
        silence=config.silence_timeout,
        total=config.total_timeout,
        max_bytes=config.max_response_bytes,
    )


def capabilities(server: Server) -> Object:
    """What is declared to this server on every leg (D7)."""
    all_of_them: Object = {"elicitation": {"form": {}, "url": {}}, "sampling": {}, "roots": {}}
    return {name: value for name, value in all_of_them.items() if name in server.capabilities}


def refresh(server: Server) -> None:
    """Ask the server what it offers and store it. Raises relay.RelayError.

    The database connection is given back meanwhile: a server that hangs must not keep others from theirs.
    """
    target = endpoint(server)
    connection.close()
    try:
        found = async_to_sync(_ask)(target, capabilities(server))
    except relay.Broken as broken:
        ledger.note_findings(server.pk, [broken.rule])
        raise
    server.discovered, server.offers, server.listed_at = found["discovered"], found["offers"], timezone.now()
    server.save(update_fields=["discovered", "offers", "listed_at"])
    if hidden(server):
        ledger.note_findings(server.pk, ["HT-7"])


async def _ask(target: relay.Endpoint, declared: Object) -> Object:
    whole = limits()
    bounds = replace(whole, silence=min(whole.silence, LISTING_SECONDS), total=min(whole.total, LISTING_SECONDS))
    discovered = await relay.discover(target, bounds, capabilities=declared)
    offered = discovered.get("capabilities")
    offered = offered if isinstance(offered, dict) else {}
    offers = {
        kind: await relay.listing(target, bounds, method, capabilities=declared)
        for kind, method in LISTINGS.items()
        if _CAPABILITY[kind] in offered
    }
    return {"discovered": discovered, "offers": offers}


def is_stale(server: Server) -> bool:
    """Whether the stored listing should be asked for again."""
    return server.listed_at is None or timezone.now() - server.listed_at > FRESH_FOR


def operations(server: Server) -> dict[str, list[Operation]]:
    """What the server offers, by kind, from the stored listing; malformed entries hide only themselves."""
    tools = [_tool(server, entry) for entry in _tools(server) if _mirror_fault(entry) is None]
    prompts = [_prompt(server, entry) for entry in server.offers.get("prompts", []) if _addressable(entry)]
    templates = [
        _template(server, entry)
        for entry in server.offers.get("templates", [])
        if _named(entry, "uriTemplate") and _parsable(entry["uriTemplate"])
    ]
    return {"tools": tools, "prompts": prompts, "templates": templates}


def hidden(server: Server) -> list[tuple[str, str]]:
    """Tools that are not offered because of their x-mcp-header annotations: name and reason (HT-7)."""
    faults = ((entry["name"], _mirror_fault(entry)) for entry in _tools(server))
    return [(name, fault) for name, fault in faults if fault is not None]


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
    """One operation by kind (tools, prompts, templates) and name."""
    return next((each for each in operations(server)[kind] if each.name == name), None)


def resource(server: Server, uri: str) -> Operation:
    """Reading by URI: the template of that name, else the listed resource, else the template that matches."""
    templates = operations(server)["templates"]
    listed = any(entry["uri"] == uri for entry in resources(server))
    fitting = [] if listed else [each for each in templates if UriTemplate.parse(each.name).match(uri) is not None]
    for each in [each for each in templates if each.name == uri] + fitting:
        return each
    schema = {
        "type": "object",
        "properties": {"uri": {"type": "string", "format": "uri", "title": "URI"}},
        "required": ["uri"],
    }
    return Operation(server, "resources/read", "", "", "", schema)


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
    return {(each.method, each.name): each.title for kind in operations(server).values() for each in kind}


def _named(entry: object, key: str) -> bool:
    return isinstance(entry, dict) and isinstance(entry.get(key), str) and entry[key] != ""


def _addressable(entry: object) -> bool:
    """Whether it has a name that can stand in the path of a page."""
    if not isinstance(entry, dict) or not _named(entry, "name"):
        return False
    name = entry["name"]
    return "\n" not in name and not {".", "..", ""} & set(name.split("/"))


def _parsable(template: str) -> bool:
    try:
        UriTemplate.parse(template)
    except ValueError:
        return False
    return True


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
    schema = _strings({each["name"]: each for each in arguments})
    schema["required"] = [each["name"] for each in arguments if each.get("required") is True]
    title = _text(entry, "title") or entry["name"]
    return Operation(server, "prompts/get", entry["name"], title, _text(entry, "description"), schema)


def _template(server: Server, entry: Object) -> Operation:
    template = entry["uriTemplate"]
    names = list(UriTemplate.parse(template).variable_names)
    schema = _strings({name: {} for name in names})
    schema["required"] = names
    title = _text(entry, "title") or _text(entry, "name") or template
    return Operation(server, "resources/read", template, title, _text(entry, "description"), schema)


def _strings(named: Mapping[str, Object]) -> Object:
    """An object schema of text properties; a required one may not be empty."""
    properties = {
        name: {
            "type": "string",
            "minLength": 1,
            "title": _text(entry, "title") or name,
            "description": _text(entry, "description"),
        }
        for name, entry in named.items()
    }
    return {"type": "object", "properties": properties}
