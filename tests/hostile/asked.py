"""Behaviours that keep to HTTP and JSON, and are hostile in what they ask and answer."""

import base64
from collections.abc import Callable
from typing import Any

from mrtr_web.policies import CONTENT_POLICY
from tests.desk import LISTED, asks, done, required, tools
from tests.hostile import corpus
from tests.hostile.line import CANARY, Behaviour
from tests.hostile.transport import breaks, completes, loses, text
from tests.person import Person
from tests.servers import Post, Step, error, result

REGEX_BOMB = "^(a+)+$"
BAIT = "a" * 60 + "!"
IMPOSSIBLE = "This app cannot show what the server asks for here"
REFUSED = "So this app does not open it for you"


def waits(name: str, says: str, *answers: Step, rules: tuple[str, ...] = (), **more: Any) -> Behaviour:
    return Behaviour(name, answers, "waiting", "asked", says, rules, **more)


def form(
    name: str, says: str, schema: Any, *, message: Any = "Who?", rules: tuple[str, ...] = (), **more: Any
) -> Behaviour:
    params = {"message": message, "requestedSchema": schema}
    return waits(
        name, says, required({"who": {"method": "elicitation/create", "params": params}}, "s"), rules=rules, **more
    )


def fields(**properties: Any) -> Any:
    return {"type": "object", "properties": properties}


def pages(*urls: str) -> Step:
    """A round with pages to open."""
    asked = {"mode": "url", "message": "Pay"}
    return required(
        {f"p{n}": {"method": "elicitation/create", "params": asked | {"url": url}} for n, url in enumerate(urls)}, "s"
    )


def nested(levels: int) -> Any:
    schema: Any = {"type": "string"}
    for _ in range(levels):
        schema = fields(x=schema)
    return schema


def answering(**filled: str) -> Callable[[Person], object]:
    def act(person: Person) -> object:
        for label, value in filled.items():
            person.fill(label, value)
        return person.press("Send")

    return act


def again_and_again(person: Person) -> None:
    while person.page.state == "waiting":
        person.fill("Name", "Ada")
        person.press("Send")
        person.until("waiting", "failed")


def _scripts(place: str) -> dict[str, Any]:
    """A form with every payload in every place that has text."""
    found: dict[str, Any] = {}
    for number, payload in enumerate(corpus.payloads(place)):
        kinds: list[dict[str, Any]] = [
            {"type": "string", "default": payload},
            {"type": "string", "enum": [payload, "b"], "enumNames": [payload, payload]},
            {"type": "array", "items": {"anyOf": [{"const": payload, "title": payload}, {"const": "c", "title": "c"}]}},
        ]
        found[payload] = kinds[number % 3] | {"title": payload, "description": payload}
    return found


def scripts_in_a_step(place: str = "step") -> Step:
    entry = {
        "method": "elicitation/create",
        "params": {"message": "\n".join(corpus.payloads(place)), "requestedSchema": fields(**_scripts(place))},
    }
    return required({corpus.XSS[0]: entry}, "s")


def scripts_in_a_result(place: str = "result") -> Step:
    said = corpus.payloads(place)
    content: list[Any] = [{"type": "text", "text": each} for each in said]
    content += [
        {"type": "resource_link", "uri": f"javascript:alert(1)//{each}", "name": each, "title": each} for each in said
    ]
    content += [{"type": "image", "data": _coded(each.encode()), "mimeType": each} for each in said]
    content += [{"type": "resource", "resource": {"uri": each, "text": each, "mimeType": "text/html"}} for each in said]
    structured = {each: [each, {each: each}] if number % 2 else each for number, each in enumerate(said)}
    return lambda post: result(post, {"resultType": "complete", "content": content, "structuredContent": structured})


def scripts_in_an_error(place: str = "error") -> Step:
    said = corpus.payloads(place)
    return lambda post: error(post, -32000, data={each: each for each in said}, status=200, message="\n".join(said))


def _coded(data: bytes) -> str:
    return base64.b64encode(data).decode()


FILES = {
    "text/html": b"<script>alert(1)</script>",
    "image/svg+xml": b"<svg xmlns='http://www.w3.org/2000/svg' onload='alert(1)'/>",
    "application/xhtml+xml": b"<html xmlns='http://www.w3.org/1999/xhtml'><script>alert(1)</script></html>",
    "text/xml": b"<?xml-stylesheet href='https://evil.example/x.xsl'?><a/>",
    "image/png": b"<script>alert(1)</script>",
    "image/gif": b"GIF89a/*<script>*/=1;alert(1)",
    "application/javascript": b"alert(1)",
    "text/html\r\nX-Injected: 1": b"<script>alert(1)</script>",
    "../../etc/passwd": b"x",
    "application/pdf": b"%PDF-1.7 <script>",
}


def _fetched(person: Person) -> None:
    """Each file as a browser gets it: what is not what it says is a download of no type, and runs nowhere."""
    path = person.until("completed").path
    for number, mime in enumerate(FILES):
        answer = person.client.get(f"{path}content/{number}/")
        shown = mime == "image/gif"  # its bytes begin as they should, and a browser draws it or nothing
        kind, place = ("image/gif", "inline") if shown else ("application/octet-stream", "attachment")
        assert (answer.status_code, answer.headers["content-type"]) == (200, kind)
        assert answer.headers["content-disposition"].startswith(place)
        assert answer.headers["x-content-type-options"] == "nosniff"
        assert answer.headers["content-security-policy"] == CONTENT_POLICY
        assert answer.headers["cache-control"] == "no-store" and "x-injected" not in answer.headers
    person.get(path)


def files(post: Post) -> Any:
    content = [{"type": "image", "mimeType": mime, "data": _coded(data)} for mime, data in FILES.items()]
    return result(post, {"resultType": "complete", "content": content})


REFERENCES = {
    "http": "http://127.0.0.1:{canary}/schema.json",
    "file": "file:///etc/passwd",
    "relative": "schema.json",
    "metaschema": "https://json-schema.org/draft/2020-12/schema",
}
ROUND = {"$defs": {"a": {"$ref": "#/$defs/b"}, "b": {"allOf": [{"$ref": "#/$defs/a"}]}}, "$ref": "#/$defs/a"}
REFUSED_LINKS = list(corpus.NEVER_OPENED.values())
LINKS = [
    waits(
        "links_that_lead_elsewhere",
        REFUSED,
        pages(*REFUSED_LINKS[:10]),
        rules=("UR-7",),
        never=('href="javascript', 'href="data', 'href="intent', 'href="file', 'href="blob', "Open it only if"),
    ),
    waits("links_that_deceive", REFUSED, pages(*REFUSED_LINKS[10:]), rules=("UR-7",), never=("Open it only if",)),
    waits("links_to_this_app", REFUSED, pages(*corpus.OWN_HOST), never=("Open it only if",)),
    waits(
        "links_to_be_warned_of",
        "Open it only if you know and expect that address",
        pages(*corpus.WARNED_OF),
        never=('href="https://\u0430pple', REFUSED),
    ),
]
KINDS = [
    breaks(
        "sampling",
        "MR-14",
        required({"a": {"method": "sampling/createMessage", "params": {"messages": [], "maxTokens": 1}}}, "s"),
    ),
    breaks("roots", "MR-14", required({"a": {"method": "roots/list"}}, "s")),
    breaks(
        "unknown_kind", "MR-14", required({"a": {"method": "computer/execute", "params": {"command": "rm -rf /"}}}, "s")
    ),
    waits(
        "unknown_mode",
        IMPOSSIBLE,
        required({"a": {"method": "elicitation/create", "params": {"mode": "voice", "message": "Hi"}}}, "s"),
        rules=("MR-14",),
    ),
    breaks(
        "requests_are_a_list", "MR-13", lambda post: result(post, {"resultType": "input_required", "inputRequests": []})
    ),
    breaks("no_requests_and_no_state", "MR-13", required(None, None)),
    breaks(
        "ten_thousand_requests",
        "ROUND-SIZE",
        required({f"k{n}": {"method": "elicitation/create", "params": {"message": "x"}} for n in range(10_000)}, "s"),
    ),
    breaks("huge_state", "STATE-SIZE", required(None, CANARY * 100_000)),
    breaks("unknown_result", "MR-12", lambda post: result(post, {"resultType": "ask_the_admin"})),
    *(
        breaks(f"half_a_letter_in_{place}", "HT-2", step)
        for place, step in {
            "state": required(None, "\ud800"),
            "message": asks(message="\udfff"),
            "key": required({"\ud83d": {"method": "roots/list"}}, "s"),
        }.items()
    ),
    Behaviour(
        "endless_rounds",
        (asks(),),
        "failed",
        "too_many_rounds",
        "kept asking for more",
        then=again_and_again,
    ),
    Behaviour("endless_states", (required(None, "s"),), "not_yet", "state_only", "Check again"),
]
FORMS = [
    form(
        "nul_everywhere",
        "Who\u2400?",
        fields(**{"a\0b": {"type": "string", "title": "\0T", "enum": ["\0", "b"]}}),
        message="Who\0?",
    ),
    form(
        "twenty_thousand_fields",
        IMPOSSIBLE,
        fields(**{f"f{n}": {"type": "string"} for n in range(20_000)}),
        rules=("FM-6",),
    ),
    form("deep_schema", "Yes or no", nested(60)),
    form(
        "regex_bomb",
        "There is a problem",
        fields(a={"type": "string", "title": "A", "pattern": REGEX_BOMB}),
        then=answering(A=BAIT),
    ),
    form("regex_bomb_of_names", "Yes or no", {"type": "object", "patternProperties": {REGEX_BOMB: {"type": "string"}}}),
    form(
        "a_hundred_thousand_options", IMPOSSIBLE, fields(a={"enum": [f"{n}" for n in range(100_000)]}), rules=("FM-6",)
    ),
    form("a_title_of_a_megabyte", IMPOSSIBLE, fields(a={"type": "string", "title": "T" * 2**20}), rules=("FM-6",)),
    form("a_message_of_a_megabyte", "M" * 1000, fields(a={"type": "string"}), message="M" * 2**20),
    form("a_number_without_end", "Who?", fields(a={"type": "number", "minimum": 10**4000, "default": 10**4000})),
    form("message_is_no_text", "Who?", fields(a={"title": "Who?"}), message={"toString": "alert"}, rules=("EL-5",)),
    form("schema_is_no_schema", "Yes or no", ["object"], rules=("FM-6",)),
    form("a_reference_round", IMPOSSIBLE, ROUND, rules=("FM-6",)),
    form("asks_for_a_password", "Who?", fields(password={"type": "string", "format": "password"}), rules=("FM-5",)),
    form(
        "references_to_elsewhere",
        "Who?",
        fields(**{name: {"$ref": place} for name, place in REFERENCES.items()}),
    ),
    waits("scripts_in_a_step", "hostile-mark", scripts_in_a_step(), rules=("FM-5",)),
]
RESULTS = [
    completes("scripts_in_a_result", scripts_in_a_result(), says="alert('result0')"),
    Behaviour("scripts_in_an_error", (scripts_in_an_error(),), "failed", "refused:-32000", "alert('error0')"),
    completes("hostile_files", files, says="Download the file", then=_fetched),
    completes(
        "ten_thousand_pieces",
        lambda post: result(post, {"content": [{"type": "text", "text": "<b>x</b>"}] * 10_000}),
        says="x",
    ),
    completes("a_text_of_five_megabytes", done("<i>" * 1_700_000), says="too long to be shown whole", mib=200),
    completes("a_table_without_end", done(structuredContent={"rows": [{"a": n} for n in range(50_000)]}), mib=200),
    completes(
        "odd_content",
        lambda post: result(
            post, {"content": [None, 7, [], {"type": 7}, {"type": "text", "text": {}}, {"type": "image", "data": "%%"}]}
        ),
        says="",
    ),
    loses(
        "more_values_than_fit",
        "too_big",
        lambda post: text(post, '{"jsonrpc":"2.0","id":ID,"result":{"a":[%s1]}}' % ("1," * 600_000)),
    ),
    Behaviour(
        "odd_error", (lambda post: error(post, 10**30, status=200, message=CANARY),), "failed", "refused", CANARY
    ),
]


def _listing(*entries: Any) -> Any:
    return {"tools/list": LISTED["tools/list"] | {"tools": list(entries)}}


def _with(**schemas: Any) -> Any:
    return tools({**LISTED["tools/list"]["tools"][0], **schemas})


OUTPUT = fields(a={"type": "string", "pattern": REGEX_BOMB})
SCHEMAS = [
    Behaviour(
        "regex_bomb_in_the_output",
        (done(structuredContent={"a": BAIT}),),
        "completed",
        "odd_result",
        "All done.",
        ("TO-4",),
        listed=_with(outputSchema=OUTPUT),
    ),
    *(
        completes(
            f"reference_{name}_in_the_output",
            done(structuredContent={"a": 1}),
            listed=_with(outputSchema={"$ref": REFERENCES[name]}),
        )
        for name in ("http", "file")
    ),
    completes("a_reference_round_in_the_output", done(structuredContent={"a": 1}), listed=_with(outputSchema=ROUND)),
]
ALL = [*LINKS, *KINDS, *FORMS, *RESULTS, *SCHEMAS]
