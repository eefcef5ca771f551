"""What strangers may send, for hypothesis: JSON, schemas, rounds, posts; hostile, but such as can arrive."""

import json
from typing import Any

from hypothesis import strategies as st

from mrtr_web.schema.places import Place, as_posted, walk
from mrtr_web.schema.spec import Kind

Draw = st.DrawFn
NASTY = (
    "", " ", "0", "-0", "-1", "1e3", "1.50", "1e999", "9" * 400, "true", "null", "None", "f", "f0", "f0-0",
    "-", ".", "..", "~", "~0", "~1", ":", "a:", "a.b", "/", "a/b", "#", "?", "%", "%2e%2e", "%s", "%(x)s",
    "{}", "{x}", "{{ x }}", "${X}", "__proto__", "constructor", "\r\n", "\n", "\r", "\t", "\u2028", "\u202e",
    "\u200b", "\u200d", "\ufeff", "\x00", "\x7f", "\u0130", "\u1e9e", "\ufb01", "e\u0301",
    "\U0001f469\u200d\U0001f4bb", "\u0967", "\uff11", "x" * 301, "<b>", "\"'&<>`", "password", "api_key",
    "token", "2026-02-30", "2026-03-29", "0000-01-01", "9999-12-31", "2026-03-29T02:30",
    "2026-10-25T02:30:00", "2026-12-31T23:59:60Z", "9999-12-31T23:59:59-23:59", "24:00", "23:59:60", "a@b",
    "@", "x:y", "https://a.example/", "aGk=", "=", "{", "[", '{"a": 1}', '{"a": 1, "a": 2}', '["\\ud800"]',
    "[" * 40 + "]" * 40, '"x"', "1e400", "NaN", "[1e5]",
)  # fmt: skip
NAMES = (
    "a", "b", "c", "kind", "", "a.b", "a:", "~", "/", "0", "password", "api_key", "__proto__", "\u0130",
    "x" * 301, "\n", "name", "email", "f0", "-", "city", "\u202e",
)  # fmt: skip

texts = st.one_of(st.sampled_from(NASTY), st.text(max_size=12), st.builds("".join, st.lists(st.sampled_from(NASTY))))
names = st.one_of(st.sampled_from(NAMES), st.sampled_from(NAMES), texts)
numbers = st.one_of(
    st.integers(-5, 5),
    st.integers(),
    st.floats(allow_nan=False, allow_infinity=False),
    st.sampled_from((0.0, -0.0, 1.0, 0.1, 1e308, 5e-324, 2**53, 2**64, -(2**63), 10**400, 10**4299)),
)
scalars = st.one_of(st.none(), st.booleans(), numbers, texts)
values = st.recursive(
    scalars, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(names, inner, max_size=4), max_leaves=10
)
objects = st.dictionaries(names, values, max_size=4)
junk = st.one_of(scalars, values)


def mostly(good: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    """Now and then something that has no place here."""
    return st.integers(0, 15).flatmap(lambda n: junk if n == 15 else good)


# Schemas

TYPES = ("string", "number", "integer", "boolean", "array", "object", "null")
FORMATS = ("email", "uri", "uuid", "date", "time", "date-time", "byte", "duration", "ipv4", "regex", "x")
REFS = (
    "#",
    "#/$defs/a",
    "#/$defs/b",
    "#/properties/a",
    "#/properties/a/items",
    "#any",
    "#/",
    "http://127.0.0.1:9/x",
    "",
)
PATTERNS = ("^a", "(a+)+$", "[", "^x-", "\\d{3}", "(?=a)", "\\p{L}", ".{1,1000}", "")
DIALECTS = ("https://json-schema.org/draft/2020-12/schema", "http://json-schema.org/draft-07/schema#", "x")
counts = st.one_of(st.integers(-1, 3), st.sampled_from((0.5, 2.0, 10**400, 10**9)))
_LIMITS = ("minLength", "maxLength", "minItems", "maxItems", "minProperties", "maxProperties")
_BOUNDS = ("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf")
_PLAIN: dict[str, st.SearchStrategy[Any]] = {
    "type": st.one_of(st.sampled_from(TYPES), st.sampled_from(TYPES), st.lists(st.sampled_from(TYPES), max_size=3)),
    "format": st.sampled_from(FORMATS),
    "enum": st.one_of(st.lists(junk, max_size=5), st.just([*map(str, range(120))])),
    "enumNames": st.lists(texts, max_size=5),
    "const": junk,
    "default": junk,
    "examples": st.lists(junk, max_size=3),
    "title": texts,
    "description": texts,
    "pattern": st.sampled_from(PATTERNS),
    "contentEncoding": st.just("base64"),
    "contentMediaType": st.sampled_from(("application/json", "image/png", "x")),
    "uniqueItems": st.booleans(),
    "nullable": st.booleans(),
    "readOnly": st.booleans(),
    "deprecated": st.booleans(),
    "$ref": st.sampled_from(REFS),
    "$id": texts,
    "x-mcp-header": texts,
    **dict.fromkeys(_LIMITS, counts),
    **dict.fromkeys(_BOUNDS, numbers),
}


@st.composite
def _plain(draw: Draw) -> Any:
    """A part without parts."""
    chosen = draw(st.lists(st.sampled_from(sorted(_PLAIN)), max_size=4, unique=True))
    return {name: draw(mostly(_PLAIN[name])) for name in ["type", *chosen] if name != "type" or draw(st.booleans())}


def _made_of(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    members = st.dictionaries(names, inner, max_size=4)
    nested = {
        "properties": members,
        "required": st.lists(names, max_size=3),
        "additionalProperties": inner | st.booleans(),
        "patternProperties": st.dictionaries(st.sampled_from(PATTERNS), inner, max_size=2),
        "propertyNames": inner,
        "dependentSchemas": members,
        "dependentRequired": st.dictionaries(names, st.lists(names, max_size=2), max_size=2),
        "items": inner | st.lists(inner, max_size=3),
        "prefixItems": st.lists(inner, max_size=3),
        "contains": inner,
        **dict.fromkeys(("anyOf", "oneOf", "allOf"), st.lists(inner, max_size=3)),
        **dict.fromkeys(("not", "if", "then", "else"), inner),
    }
    shapes = (
        ("properties", "required"),
        ("items",),
        ("oneOf",),
        ("anyOf",),
        ("additionalProperties",),
        ("prefixItems",),
    )

    @st.composite
    def made(draw: Draw) -> Any:
        shape = draw(st.sampled_from(shapes))
        more = draw(st.lists(st.sampled_from(sorted(nested)), max_size=2, unique=True))
        part = draw(_plain()) if draw(st.integers(0, 3)) == 0 else {}
        return part | {name: draw(mostly(nested[name])) for name in (*shape, *more)}

    return made()


parts = st.recursive(_plain() | st.booleans(), _made_of, max_leaves=8)


@st.composite
def schemas(draw: Draw) -> Any:
    """A schema that a server sends: mostly of an object."""
    if draw(st.integers(0, 19)) == 0:
        return draw(objects)
    root = {"type": "object", "properties": draw(st.dictionaries(names, parts, max_size=4))}
    root |= draw(_made_of(parts)) if draw(st.integers(0, 4)) == 0 else {}
    named = root["properties"] if isinstance(root.get("properties"), dict) else {}
    if named:
        root["required"] = draw(st.lists(st.sampled_from(list(named)), max_size=4, unique=True))
    if draw(st.integers(0, 3)) == 0:
        root["$defs"] = {"a": draw(parts), "b": draw(parts)}
    if draw(st.integers(0, 9)) == 0:
        root["$schema"] = draw(st.sampled_from(DIALECTS))
    return root


@st.composite
def flat_schemas(draw: Draw) -> Any:
    """One of an elicitation."""
    fields = st.dictionaries(names, st.one_of(_plain(), _plain(), parts), max_size=5)
    root: dict[str, Any] = {"type": "object", "properties": draw(mostly(fields))}
    return root | {"required": draw(mostly(st.lists(names, max_size=2)))} if draw(st.booleans()) else root


# Rounds

CAPABILITIES: tuple[dict[str, Any], ...] = (
    {},
    {"elicitation": {}},
    {"elicitation": {"form": {}, "url": {}}, "sampling": {}, "roots": {}},
    {"elicitation": {"form": {}, "url": {}}, "sampling": {}, "roots": {}},
)
_URLS = (
    "https://a.example/?x=1",
    "javascript:alert(1)",
    "https://a@b.example",
    "http://[::1",
    "https://xn--a.example/",
    "",
)
_contents = st.fixed_dictionaries(
    {},
    optional={"type": st.sampled_from(("text", "image", "tool_use")), "text": texts, "data": texts, "mimeType": texts},
)
_messages = st.fixed_dictionaries({"role": st.sampled_from(("user", "assistant")), "content": mostly(_contents)})


@st.composite
def _requests(draw: Draw) -> Any:
    method = draw(mostly(st.sampled_from(("elicitation/create",) * 4 + ("sampling/createMessage", "roots/list"))))
    params: dict[str, Any] = {}
    match method:
        case "elicitation/create" if draw(st.integers(0, 3)) == 0:
            params = {"mode": "url", "message": draw(mostly(texts)), "url": draw(mostly(st.sampled_from(_URLS)))}
        case "elicitation/create":
            params = {"message": draw(mostly(texts)), "requestedSchema": draw(mostly(flat_schemas()))}
        case "sampling/createMessage":
            params = {"messages": draw(st.lists(mostly(_messages), max_size=3)), "maxTokens": draw(mostly(st.just(9)))}
            params["systemPrompt"] = draw(mostly(texts))
    return {"method": method, "params": draw(mostly(st.just(params)))}


results = st.fixed_dictionaries(
    {"resultType": mostly(st.just("input_required"))},
    optional={
        "inputRequests": mostly(st.dictionaries(names, mostly(_requests()), min_size=1, max_size=3)),
        "requestState": mostly(texts),
        "content": st.lists(mostly(_contents), max_size=3),
        "structuredContent": junk,
        "isError": mostly(st.booleans()),
        "messages": st.lists(mostly(_messages), max_size=2),
    },
)


# Posts

_TYPED: dict[Kind, tuple[str, ...]] = {
    Kind.INTEGER: ("1", "-3", "1.0", "1,5", "9" * 30),
    Kind.NUMBER: ("1", "0.5", "1e3", "1,5", ".5"),
    Kind.BOOLEAN: ("true", "false"),
    Kind.CHOICE: ("0", "1", "2", "119", "5000"),
    Kind.CHOICES: ("0", "1", "2", "119"),
    Kind.DATE: ("2026-03-04", "2026-02-30"),
    Kind.TIME: ("10:00", "10:00:01.5Z"),
    Kind.DATE_TIME: ("2026-03-29T02:30", "2026-10-25T02:30:00", "2026-03-04T05:06:07Z"),
    Kind.EMAIL: ("a@b.example",),
    Kind.URI: ("https://a.example/x",),
    Kind.UUID: ("123e4567-e89b-12d3-a456-426614174000",),
    Kind.FILE: ("aGk=", "x", "#"),
    Kind.JSON: ("{}", "[1, 2.50, null]", '"x"', '{"a": {"b": 1}}', "{"),
}
_BESIDE = (
    "-zone",
    "-fold",
    "-blank",
    "-in",
    "-drawn",
    "-items",
    "-branch",
    "-as",
    "-name",
    "-remove",
    "-secret",
    "-key",
)
_BESIDE_VALUES = ("1", "0", "json", "new", "Europe/Berlin", "+02:00", "UTC", "99999", "x")


@st.composite
def posts(draw: Draw, root: Place) -> dict[str, list[str]]:
    """What comes from a form as it is drawn: typed in here and there, and bent by somebody with tools of their own."""
    posted = as_posted(root)
    for place in walk(root):
        if place.name in posted and draw(st.booleans()):
            good = st.sampled_from(_TYPED.get(place.spec.kind, ("Ada", "two words")))
            posted[place.name] = draw(st.lists(st.one_of(good, good, texts), min_size=1, max_size=2))
        if draw(st.integers(0, 7)) == 0:
            beside = place.name + draw(st.sampled_from(_BESIDE))
            posted[beside] = [draw(st.sampled_from(_BESIDE_VALUES) | texts)]
    if draw(st.integers(0, 9)) == 0:
        posted |= draw(st.dictionaries(st.sampled_from(NASTY), st.lists(texts, max_size=2), max_size=2))
    return posted


@st.composite
def wishes(draw: Draw, root: Place) -> str:
    """A button of a form's shape; now and then one that is not there."""
    verb = draw(st.sampled_from(("add", "remove", "branch", "json", "form", "x")))
    return f"{verb} {draw(st.sampled_from([place.name for place in walk(root)]) | st.sampled_from(NASTY))}"


# Bytes


@st.composite
def json_bytes(draw: Draw) -> bytes:
    """JSON as it comes over the wire, whole or hurt."""
    raw = json.dumps(draw(values | results), ensure_ascii=draw(st.booleans())).encode(errors="surrogatepass")
    return draw(hurt(raw))


@st.composite
def hurt(draw: Draw, raw: bytes) -> bytes:
    for _ in range(draw(st.integers(0, 2))):
        at = draw(st.integers(0, len(raw)))
        piece = draw(
            st.binary(max_size=3) | st.sampled_from((b'"', b"\\", b"\\ud800", b"[", b"]" * 300, b"1e999", b"[" * 300))
        )
        raw = raw[:at] + piece + raw[at + draw(st.integers(0, 3)) :]
    return raw
