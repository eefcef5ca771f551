"""Targets: bytes and texts that are read, sealed, opened, judged: over the wire, from files, headers, links."""

import asyncio
import json
from typing import Any

import httpx2
from django.test import RequestFactory
from hypothesis import strategies as st
from hypothesis.strategies import DataObject

from mrtr_web import (
    addresses,
    clientlines,
    egress,
    entries,
    headerlines,
    links,
    mcpjson,
    operations,
    rawjson,
    relay,
    results,
    roots,
    sampling,
    screen,
    sealing,
    sessions,
    vault,
)
from mrtr_web.models import Server
from mrtr_web.schema import read
from mrtr_web.schema.text import clean_text, one_line
from mrtr_web.views import web
from tests import fuzz_inputs as some
from tests.fuzz_core import target, tries

KEYS = vault.Keys(b"s" * 32, (sealing.pepper("one"), sealing.pepper("two")))
BINDING = vault.Binding(1, "flow", 2, 3, "tools/call", 4)


@target
def sealed_bytes(data: DataObject) -> None:
    """Nothing but the whole envelope under its own keys opens."""
    plain, aad = data.draw(st.binary(max_size=40)), data.draw(st.binary(max_size=20))
    blob = sealing.seal(plain, secret=KEYS.secret, pepper=KEYS.peppers[0], aad=aad)
    opened = {"secret": KEYS.secret, "peppers": KEYS.peppers, "aad": aad}
    assert tries(sealing.open_sealed, blob, **opened) == plain  # type: ignore[arg-type]
    bent = data.draw(some.hurt(blob) | st.binary(max_size=120))
    at = data.draw(st.integers(0, len(blob) - 1))
    flipped = blob[:at] + bytes([blob[at] ^ data.draw(st.integers(1, 255))]) + blob[at + 1 :]
    for other in (bent, flipped, blob[: data.draw(st.integers(0, len(blob) - 1))]):
        assert other == blob or tries(sealing.open_sealed, other, **opened) is None  # type: ignore[arg-type]
    foreign = data.draw(st.binary(max_size=33))
    assert foreign == aad or tries(sealing.open_sealed, blob, **(opened | {"aad": foreign})) is None  # type: ignore[arg-type]
    assert tries(sealing.open_sealed, blob, **(opened | {"secret": foreign})) is None  # type: ignore[arg-type]


@target
def records(data: DataObject) -> None:
    """What is kept of a flow comes back to the byte; whatever else is sealed under its key is no record."""
    state = data.draw(st.none() | some.texts | st.text(st.characters()))
    record = vault.Record(
        method="tools/call",
        params=data.draw(some.objects),
        capabilities={},
        request_state=state,
        requests=data.draw(st.none() | some.objects),
        result=data.draw(st.none() | some.objects),
    )
    record = record.noting([data.draw(some.objects)], [data.draw(some.objects)])
    blob = vault.close(record, KEYS, BINDING)
    opened = tries(vault.open_record, blob, KEYS, BINDING)
    assert opened == record and opened.request_state == state
    assert json.dumps(opened.model_dump()) == json.dumps(record.model_dump())
    other = vault.Binding(1, "flow", data.draw(st.integers(3, 9)), 3, "tools/call", 4)
    assert tries(vault.open_record, blob, KEYS, other) is None
    assert tries(vault.open_words, blob, KEYS, BINDING) is None
    plain = data.draw(some.json_bytes() | some.hurt(json.dumps(record.model_dump()).encode()) | st.binary())
    odd = sealing.seal(plain, secret=KEYS.secret, pepper=KEYS.peppers[1], aad=BINDING.aad())
    tries(vault.open_record, odd, KEYS, BINDING)
    words = sealing.seal(plain, secret=KEYS.secret, pepper=KEYS.peppers[1], aad=BINDING.words_aad())
    tries(vault.open_words, words, KEYS, BINDING)


_PIECES = (
    "https://", "http://", "javascript:", "HTTPS:", "//", "/", "\\", "@", ":", "443", "0", "99999", "[", "]",
    "::1", "%", ".", "localhost", "127.0.0.1", "0x7f.1", "017700000001", "2130706433", "a.example", "xn--",
    "xn--pypal-4ve.example", "\u0430pple.example", "\u3002", "\uff0e", "\u00df", "\u200d", "\u202e", "\u2100",
    "\u00ad", " ", "\t", "\n", "?", "#", "x=1", "user:pw", "..", "-", "_", "a" * 64,
)  # fmt: skip


@target
def addresses_to_open(data: DataObject) -> None:
    url = data.draw(st.lists(st.sampled_from(_PIECES) | some.texts, max_size=7).map("".join))
    link = tries(links.judge, url, ("127.0.0.1", "mrtr.example"))
    assert link is not None
    if link.refused:
        return
    assert link.url.startswith(("https://", "http://")) or link.url.lower().startswith(("https://", "http://"))
    assert link.host.isascii() and "@" not in link.host
    again = links.judge(link.url, ())
    assert (again.refused, again.host, again.url) == ("", link.host, link.url)
    shown = links.judge(link.before + link.host + link.after, ())
    assert (shown.refused, shown.host) == ("", link.host)


@target
def results_to_show(data: DataObject) -> None:
    result = data.draw(some.results | some.objects)
    shown = tries(results.show, result, data.draw(st.integers(0, 3)))
    assert shown is not None
    for number in range(-1, len(shown.blocks) + 2):
        tries(results.content, result, number)
    tries(results.written, result, data.draw(st.integers(0, 50)))
    for text in (data.draw(some.texts), shown.raw):
        clean = tries(clean_text, text, data.draw(st.none() | st.integers(1, 20)))
        tries(one_line, clean or "")


@target
def json_of_servers(data: DataObject) -> None:
    raw = data.draw(some.json_bytes() | st.binary(max_size=30))
    parts, value, listing = tries(rawjson.parts, raw), tries(rawjson.read, raw), tries(rawjson.read_listing, raw)
    try:
        rawjson.read(raw)
    except ValueError:
        return
    assert parts is not None and _count(value) <= parts + 1
    assert json.dumps(listing) == json.dumps(value)


def _count(value: Any) -> int:
    inner = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return 1 + sum(map(_count, inner))


class _Canned(egress.GuardedTransport):
    """What a server answered, without a network."""

    def __init__(self, response: httpx2.Response) -> None:
        self.response = response

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        return self.response


_KINDS = (
    "application/json",
    "application/json; charset=utf-16",
    "text/event-stream",
    "text/event-stream;x",
    "text/html",
    "",
)


@target
def answers_of_servers(data: DataObject) -> None:
    """Any answer is a result, an error, or a fault that has a name."""
    message: Any = data.draw(
        st.fixed_dictionaries(
            {"jsonrpc": some.mostly(st.just("2.0"))},
            optional={
                "id": some.mostly(st.just("r1")),
                "result": some.mostly(some.results),
                "error": some.mostly(
                    st.fixed_dictionaries({"code": some.mostly(st.just(-32022)), "data": some.objects})
                ),
                "method": some.mostly(st.just("notifications/progress")),
                "params": some.mostly(
                    st.fixed_dictionaries({"progressToken": st.just("r1"), "progress": some.scalars})
                ),
            },
        )
    )
    body = data.draw(some.hurt(json.dumps(message).encode()))
    kind = data.draw(st.sampled_from(_KINDS))
    if "event" in kind:
        body = (
            b"data: "
            + body.replace(b"\n", b"\ndata: ")
            + data.draw(st.sampled_from((b"\n\n", b"\r\r", b"", b"\nid: \x00\n\n")))
        )
    header = data.draw(
        some.texts | st.sampled_from(('Bearer scope="a", resource_metadata="x"', 'Bearer error="', "a=" * 500))
    )
    headers = [(b"content-type", kind.encode()), (b"www-authenticate", _on_a_line(header))]
    headers.append((b"retry-after", _on_a_line(data.draw(some.texts | st.just("Wed, 99 Xyz 99999 00:00:00 GMT")))))
    status = data.draw(st.sampled_from((200, 200, 200, 202, 400, 401, 403, 429, 500, 307)))
    told = screen.Wire("r1", lambda progress: None, is_listing=data.draw(st.booleans()))
    asking = screen.Screen(egress.Policy(max_bytes=10_000), told)
    asking.inner = _Canned(httpx2.Response(status, headers=headers, content=body))
    request = httpx2.Request("POST", "http://127.0.0.1/", content=b"{}")
    tries(lambda: asyncio.run(asking.handle_async_request(request)))
    if told.answer is None:
        assert told.fault is not None or 300 <= status < 400
    elif "error" in told.answer:
        assert isinstance(tries(relay._failure, told.answer["error"]), relay.RelayError)


def _on_a_line(text: str) -> bytes:
    return text.encode(errors="replace").translate(None, b"\r\n\0")


_TEMPLATE = (
    "x://",
    "{",
    "}",
    "{a}",
    "{+a}",
    "{#a}",
    "{.a}",
    "{/a*}",
    "{;a,b}",
    "{?a,b*}",
    "{&b}",
    "{a:3}",
    "/",
    "a",
    "%",
    "*",
    ",",
    "\u00fc",
)


@target
def templates_of_addresses(data: DataObject) -> None:
    template = data.draw(st.lists(st.sampled_from(_TEMPLATE) | some.texts, max_size=6).map("".join))
    if tries(addresses.fault, template) is not None:
        return
    schema = tries(addresses.schema, template)
    assert tries(read.read_input, schema) is not None
    filled = {name: data.draw(some.texts) for name in (schema or {})["properties"]}
    uri = tries(addresses.expand, template, filled)
    for text in (data.draw(some.texts), uri or "", "x://" + "a/" * 2_000 + "!"):
        if tries(addresses.matches, template, text):
            assert addresses.expand(template, addresses.values(template, text)) == text
        tries(addresses.values, template, text)


@target
def files_of_admins(data: DataObject) -> None:
    """Lists of servers, credentials, clients, roots: refused in words that do not repeat them."""
    secret = "canary" + data.draw(some.texts)
    entry = st.fixed_dictionaries(
        {},
        optional={
            **dict.fromkeys(
                ("url", "serverUrl", "type", "command", "auth", "oauth", "disabled"), some.mostly(some.texts)
            ),
            "headers": some.mostly(
                st.dictionaries(some.names, some.texts | st.just("Bearer ${A:-" + secret + "}"), max_size=3)
            ),
        },
    )
    whole = {
        data.draw(st.sampled_from(("mcpServers", "servers", "x"))): data.draw(
            st.dictionaries(some.names, some.mostly(entry), max_size=3)
        )
    }
    text = data.draw(some.hurt(json.dumps(whole).encode())).decode(errors="replace")
    for name, value in (tries(mcpjson.read, text) or {}).items():
        tries(mcpjson.entry, name, value, lambda variable: None)
    for kind in ("bearer", "headers"):
        try:
            headerlines.read(kind, f"{data.draw(some.texts)}: {secret}")
        except headerlines.Malformed as refused:
            assert "canary" not in str(refused)
    try:
        clientlines.read(f"client_id: a\n{data.draw(some.texts)}{secret}")
    except headerlines.Malformed as refused:
        assert "canary" not in str(refused)
    for line in tries(roots.lines, data.draw(some.texts)) or []:
        tries(roots.fault, tries(roots.address, line) or line)
    tries(roots.write_lines, tries(roots.read_lines, data.draw(some.texts)) or [])


@target
def listings(data: DataObject) -> None:
    tool = st.fixed_dictionaries(
        {"name": some.mostly(some.names)},
        optional={
            "inputSchema": some.mostly(some.schemas()),
            "annotations": some.mostly(some.objects),
            "title": some.mostly(some.texts),
            "arguments": some.mostly(st.lists(some.mostly(st.fixed_dictionaries({"name": some.names})), max_size=3)),
            "uriTemplate": some.mostly(st.just("x://{a}")),
            "uri": some.texts,
        },
    )
    server = Server(slug="demo", pk=1)
    listed = data.draw(st.lists(some.mostly(tool), max_size=4))
    server.offers = dict.fromkeys(entries.KEYS, listed)
    tries(entries.broken_rules, server, tuple(entries.KEYS))
    tries(entries.unusable, server)
    tries(operations.titles, server)
    for kind, offered in (tries(operations.offered, server) or {}).items():
        for operation in offered:
            assert tries(operations.find, server, kind, operation.name, operation.copy) is not None
            tries(operations.unmirrored, operation, data.draw(some.objects))
    for entry in entries.named(server, "tools"):
        tries(entries.Entry.address.fget, entry)  # type: ignore[attr-defined]
    params = data.draw(some.values)
    try:
        sampling.faults(params)
    except sampling.Unusable:
        return
    tries(sampling.wanted, params)  # type: ignore[arg-type]


_FORM = "application/x-www-form-urlencoded"
_TYPES = (
    _FORM,
    "multipart/form-data; boundary=b",
    "multipart/form-data; boundary=b; charset=utf-8",
    "multipart/form-data",
    f"{_FORM}; charset=utf-7",
    "text/plain",
    "",
)
_LINES = (
    b"--b", b"--b--", b'Content-Disposition: form-data; name="s0-f0"',
    b'Content-Disposition: form-data; name="s0-f0-file"; filename="a\x00/../b"',
    b"Content-Disposition: form-data; name*=utf-8''s0; filename*=x'y'%ff", b"Content-Transfer-Encoding: base64",
    b"Content-Type: text/plain; charset=utf-16", b"", b"", b"aGk=", b"\xff\xfe", b"x",
)  # fmt: skip


@target
def posts_of_browsers(data: DataObject) -> None:
    """Bodies as nobody's browser makes them."""
    from mrtr_web import asgi  # not sooner: it fixes where static files are

    kind = data.draw(st.sampled_from(_TYPES) | some.texts)
    if kind.startswith("multipart"):
        body = b"\r\n".join(data.draw(st.lists(st.sampled_from(_LINES) | st.binary(max_size=5), max_size=12)))
    else:
        names = st.sampled_from(
            ("s0-f0", "s0-f0-name", "s0-f0-remove", "s0-f0-file", "do", "round", "%00", "%ff", "token_password")
        )
        pairs = st.tuples(names, some.texts | st.just("%ff%fe")).map("=".join)
        body = "&".join(data.draw(st.lists(pairs, max_size=6))).encode(errors="surrogatepass")
    header = _on_a_line(kind)
    if not tries(asgi._is_utf8, [(b"content-type", header)]):
        return
    request = RequestFactory().generic("POST", "/x/", body, content_type=header.decode("latin-1"))
    if tries(web.posted, request) is not None:
        tries(web.typed_in, request)
        tries(web.digest, request)
    tries(web.uuid_in, data.draw(some.texts))
    cookie = data.draw(some.texts)
    tries(sessions.secret_in, {"mrtr_key": cookie, "__Host-mrtr_key": cookie})
