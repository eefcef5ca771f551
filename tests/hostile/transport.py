"""Behaviours that break HTTP, the stream or JSON."""

import gzip
import json
import zlib
from typing import Any

from tests.desk import always, done
from tests.hostile.line import CANARY, CHUNK, Act, Behaviour, Line
from tests.servers import Answer, Post, Step, events, html, raw_json, result

BROKEN = "breaks the rules"
LOST = "We do not know whether the server acted"
JSON = {"content-type": "application/json"}
STREAM = {"content-type": "text/event-stream"}
CHUNKED = {"transfer-encoding": "chunked"}
DONE = {"resultType": "complete", "content": [{"type": "text", "text": "All done."}]}
BIG = 60 * 2**20
BOMB = gzip.compress(bytes(32 * 2**20))


def breaks(name: str, rule: str, *answers: Step | Act, **more: Any) -> Behaviour:
    return Behaviour(name, answers, "failed", f"broken:{rule}", BROKEN, (rule,), **more)


def loses(name: str, reason: str, *answers: Step | Act, **more: Any) -> Behaviour:
    return Behaviour(name, answers, "unknown", reason, LOST, **more)


def completes(name: str, *answers: Step | Act, says: str = "All done.", **more: Any) -> Behaviour:
    return Behaviour(name, answers, "completed", "done", says, **more)


def unsent(name: str, reason: str, says: str, *answers: Step | Act, **more: Any) -> Behaviour:
    return Behaviour(name, answers, "unsent", reason, says, **more)


def text(post: Post, body: str) -> Answer:
    """A body with the id in place of ID."""
    return raw_json(body.replace("ID", json.dumps(post.id)))


def final(post: Post) -> bytes:
    """The last event of a stream."""
    return f"data: {json.dumps({'jsonrpc': '2.0', 'id': post.id, 'result': DONE})}\n\n".encode()


def good(post: Post) -> bytes:
    """A whole answer on the wire."""
    body = result(post, DONE).body
    return b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: %d\r\n\r\n" % len(body) + body


def wire(*pieces: bytes) -> Act:
    """These bytes, and then the end."""

    async def act(post: Post, line: Line) -> None:
        await line.send(*pieces)

    return act


def streaming(piece: bytes, *, head: dict[str, str] = STREAM, pause: float = 0, begin: bytes = b"") -> Act:
    """A body without end."""

    async def act(post: Post, line: Line) -> None:
        await line.head(200, head)
        await line.send(begin)
        await line.forever(piece, pause)

    return act


async def _big(post: Post, line: Line) -> None:
    await line.head(200, JSON | {"content-length": str(BIG)})
    for _ in range(BIG // len(CHUNK)):
        await line.send(CHUNK)


async def big_in_chunks(post: Post, line: Line) -> None:
    await line.head(200, JSON | CHUNKED)
    for _ in range(BIG // len(CHUNK)):
        await line.send(b"%x\r\n" % len(CHUNK), CHUNK, b"\r\n")


async def _slow_head(post: Post, line: Line) -> None:
    await line.send(b"HTTP/1.1 200 OK\r\n")
    await line.forever(b"x-slow: 1\r\n", 0.05)


async def _silent(post: Post, line: Line) -> None:
    await line.hang()


async def _cut_body(post: Post, line: Line) -> None:
    await line.head(200, JSON | {"content-length": "1000"})
    await line.send(b'{"jsonrpc":')


async def _reset_before(post: Post, line: Line) -> None:
    line.reset()


async def _reset_after_head(post: Post, line: Line) -> None:
    await line.head(200, JSON | {"content-length": "1000"})
    line.reset()


async def _reset_in_stream(post: Post, line: Line) -> None:
    await line.head(200, STREAM)
    await line.send(b": on its way\n\n")
    line.reset()


async def _informed(post: Post, line: Line) -> None:
    await line.send(
        b"HTTP/1.1 103 Early Hints\r\nlink: <https://evil.example/>; rel=preload\r\n\r\n" * 2_000, good(post)
    )


async def _informed_for_ever(post: Post, line: Line) -> None:
    await line.forever(b"HTTP/1.1 103 Early Hints\r\n\r\n" * 10, 0.02)


async def _continue(post: Post, line: Line) -> None:
    await line.send(b"HTTP/1.1 100 Continue\r\n\r\n", good(post))


async def _switch(post: Post, line: Line) -> None:
    await line.send(b"HTTP/1.1 101 Switching Protocols\r\nupgrade: h2c\r\nconnection: upgrade\r\n\r\n")
    await line.hang()


async def _two_lengths(post: Post, line: Line) -> None:
    await line.send(b"HTTP/1.1 200 OK\r\ncontent-length: 5\r\ncontent-length: 7\r\n\r\nabcdefg")


async def _smuggled(post: Post, line: Line) -> None:
    """A second answer behind the first: it belongs to nobody."""
    await line.send(good(post) + good(post).replace(b"All done.", b"Not ours!"))


async def _flood(post: Post, line: Line) -> None:
    """100,000 notifications of progress, each a little further."""
    await line.head(200, STREAM)
    token = json.dumps(post.meta["progressToken"])
    told = f'data: {{"jsonrpc":"2.0","method":"notifications/progress","params":{{"progressToken":{token},"progress":'
    for start in range(0, 100_000, 1000):
        await line.send("".join(f"{told}{number}}}}}\n\n" for number in range(start, start + 1000)).encode())
    await line.send(final(post))


async def _odd_progress(post: Post, line: Line) -> None:
    await line.head(200, STREAM)
    for progress in ("1e308", "-1", "1e400", "NaN", "true", '"7"', "9" * 400, "[]", "0.1"):
        await line.send(
            f'data: {{"jsonrpc":"2.0","method":"notifications/progress","params":{{"progressToken":'
            f'{json.dumps(post.meta["progressToken"])},"progress":{progress},"total":{progress},'
            f'"message":"{CANARY}<script>"}}}}\n\n'.encode()
        )
    await line.send(final(post))


async def _event_ids(post: Post, line: Line) -> None:
    await line.head(200, STREAM)
    await line.send(*[b"id: " + b"9" * 100_000 + b"\nretry: 0\nevent: x\n\n"] * 20, b"\xef\xbb\xbf" + final(post))
    await line.send(final(post))


async def _two_answers(post: Post, line: Line) -> None:
    await line.head(200, STREAM)
    await line.send(final(post), final(post).replace(b"All done.", b"Not this"))


async def _late(post: Post, line: Line) -> None:
    """Asks what the client will, and answers when it has gone."""
    await line.head(200, STREAM)
    await line.hang()
    await line.send(final(post))


def _redirect(status: int, location: str) -> Step:
    return lambda post: html(status, location=location)


ELSEWHERE = {
    "private": "http://10.0.0.1/mcp",
    "metadata": "http://169.254.169.254/latest/meta-data/",
    "metadata_v6": "http://[fd00:ec2::254]/latest/",
    "file": "file:///etc/passwd",
    "another_port": "http://127.0.0.1:{canary}/mcp",
}
REDIRECTS = [
    breaks(f"redirect_{status}_to_{name}", f"HT-{status}", _redirect(status, ELSEWHERE[name]))
    for status, name in [
        (301, "private"),
        (302, "metadata"),
        (303, "file"),
        (307, "private"),
        (307, "metadata"),
        (307, "another_port"),
        (308, "metadata_v6"),
        (308, "another_port"),
    ]
]
ENCODED = [
    loses(
        f"encoding_{name}",
        "encoding",
        always(Answer(body, 200, JSON | {"content-encoding": name.replace("_twice", ", gzip")})),
        mib=20,
    )
    for name, body in {
        "gzip": BOMB,
        "deflate": zlib.compress(bytes(2**20)),
        "br": b"\x1b",
        "zstd": b"\x28\xb5\x2f\xfd",
        "gzip_twice": gzip.compress(BOMB),
    }.items()
]
MESSAGES = [
    breaks("wrong_id", "BA-1", lambda post: text(post, '{"jsonrpc":"2.0","id":"other","result":{}}')),
    breaks("id_is_number", "BA-1", lambda post: text(post, '{"jsonrpc":"2.0","id":1,"result":{}}')),
    breaks("batch", "HT-2", lambda post: text(post, '[{"jsonrpc":"2.0","id":ID,"result":{}}]')),
    breaks("garbage", "HT-2", always(raw_json(bytes(range(256)) * 40))),
    breaks("truncated_json", "HT-2", lambda post: text(post, '{"jsonrpc":"2.0","id":ID,"result":{"a":')),
    breaks("utf_16", "HT-2", lambda post: raw_json(result(post, DONE).body.decode().encode("utf-16"))),
    breaks("byte_order_mark", "HT-2", lambda post: raw_json(b"\xef\xbb\xbf" + result(post, DONE).body)),
    breaks("a_page", "HT-2", always(html(200))),
    breaks("plain_text", "HT-2", lambda post: Answer(result(post, DONE).body, 200, {"content-type": "text/plain"})),
    breaks("deep_json", "HT-2", lambda post: text(post, '{"jsonrpc":"2.0","id":ID,"result":' + "[" * 100_000)),
    breaks("too_big_a_float", "HT-2", lambda post: text(post, '{"jsonrpc":"2.0","id":ID,"result":{"a":1e400}}')),
    breaks("not_a_number", "HT-2", lambda post: text(post, '{"jsonrpc":"2.0","id":ID,"result":{"a":NaN}}')),
    breaks("infinity", "HT-2", lambda post: text(post, '{"jsonrpc":"2.0","id":ID,"result":{"a":-Infinity}}')),
    completes(
        "duplicate_keys",
        lambda post: text(post, f'{{"jsonrpc":"2.0","id":"other","id":ID,"result":7,"result":{json.dumps(DONE)}}}'),
    ),
    completes(
        "huge_integer",
        lambda post: text(
            post,
            '{"jsonrpc":"2.0","id":ID,"result":{"content":[{"type":"text",'
            '"text":"All done."}],"structuredContent":{"n":%s}}}' % ("9" * 4000),
        ),
    ),
    breaks(
        "a_request_in_the_stream",
        "HT-9",
        lambda post: events({"jsonrpc": "2.0", "id": 1, "method": "roots/list"}, then="hang"),
    ),
    completes("two_answers", _two_answers),
    completes("progress_flood", _flood, seconds=30, cpu=30),
    completes("odd_progress", _odd_progress),
    completes("event_id_bombs", _event_ids),
    loses(
        "stream_without_answer",
        "cut",
        wire(b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n\r\nid: 1\nretry: 0\ndata:\n\n"),
    ),
    loses("one_line_without_end", "too_big", streaming(CHUNK, begin=b"data: "), mib=160),
    loses("one_event_without_end", "too_big", streaming(b"data: " + CHUNK + b"\n", begin=b""), mib=160),
    loses("notifications_without_end", "timeout", streaming(b'data: {"jsonrpc":"2.0","method":"x"}\n\n', pause=0.05)),
    loses("json_without_end", "too_big", streaming(b" " * 65536, head=JSON), mib=160),
]
CONNECTIONS = [
    loses("drip", "timeout", streaming(b" ", head=JSON, pause=0.05)),
    loses("silence", "timeout", _silent),
    loses("slow_head", "timeout", _slow_head),
    loses("big_body", "too_big", _big, mib=20),
    loses("big_body_in_chunks", "too_big", big_in_chunks, mib=160),
    loses("cut_body", "cut", _cut_body),
    loses("closed_before", "cut", wire()),
    loses("reset_before_head", "cut", _reset_before),
    loses("reset_after_head", "cut", _reset_after_head),
    loses("reset_in_stream", "cut", _reset_in_stream),
    loses(
        "bad_chunks",
        "cut",
        wire(b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ntransfer-encoding: chunked\r\n\r\nzz\r\n{}"),
    ),
    loses(
        "chunk_of_endless_size",
        "cut",
        wire(b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ntransfer-encoding: chunked\r\n\r\n" + b"f" * 1000),
    ),
    loses("gzip_as_transfer_encoding", "cut", wire(b"HTTP/1.1 200 OK\r\ntransfer-encoding: gzip, chunked\r\n\r\n")),
    loses("two_lengths", "cut", _two_lengths),
    loses("negative_length", "cut", wire(b"HTTP/1.1 200 OK\r\ncontent-length: -1\r\n\r\n{}")),
    loses("no_http", "cut", wire(b"SSH-2.0-OpenSSH_9.9\r\n")),
    loses("http_2", "cut", wire(b"\x00\x00\x12\x04\x00\x00\x00\x00\x00" + bytes(18))),
    loses("switching_protocols", "cut", _switch),
    loses("one_huge_header", "cut", wire(b"HTTP/1.1 200 OK\r\nx-big: ", *[CHUNK] * 64)),
    loses("headers_without_end", "cut", wire(b"HTTP/1.1 200 OK\r\n", *[b"x-many: 1\r\n" * 6_000] * 20)),
    loses("header_injection", "cut", wire(b"HTTP/1.1 200 OK\r\nx-a: b\0c\r\n\r\n{}")),
    completes("early_hints", _informed),
    loses("early_hints_without_end", "timeout", _informed_for_ever),
    completes("continue", _continue),
    completes("smuggled_answer", _smuggled),
    completes("cookies", lambda post: result(post, DONE, set_cookie="session=1; Path=/; SameSite=None")),
    breaks("misdirected", "HT-421", always(html(421))),
    breaks("proxy_authentication", "HT-407", always(html(407, proxy_authenticate="Basic"))),
    loses("server_error_with_a_page", "server_error", always(Answer(CHUNK * 40, 500, {"content-type": "text/html"}))),
    unsent(
        "unauthorized",
        "unauthorized",
        "did not accept this app",
        always(
            html(401, www_authenticate='Bearer resource_metadata="javascript:alert(1)", scope="' + "x" * 50_000 + '"')
        ),
    ),
    unsent("too_many", "too_many", "too many requests", always(html(429, retry_after="9" * 30))),
    unsent("handshake_without_end", "connect_timeout", "took too long to answer the call", wire(), door="tls_silent"),
    unsent("slow_handshake", "connect_timeout", "took too long to answer the call", wire(), door="tls_drip"),
    unsent("no_tls", "tls", "A secure connection could not be made", wire(), door="tls_plain"),
]
LATE = Behaviour("answer_after_stop", (_late,), "stopped", "", "stopped", then=lambda person: person.press("Stop"))
REDIRECTED = [
    completes("redirect_within_the_origin", _redirect(307, "/redirect_within_the_origin/again"), done()),
    breaks("redirect_in_circles", "HT-307", _redirect(307, "/redirect_in_circles/mcp")),
]
ALL = [*REDIRECTS, *REDIRECTED, *ENCODED, *MESSAGES, *CONNECTIONS]
