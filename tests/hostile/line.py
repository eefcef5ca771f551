"""A hostile MCP server on bare sockets, so that it can break HTTP as well: each behaviour has a path of its own."""

import asyncio
import contextlib
import json
import socket
import struct
import threading
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from tests.desk import LISTED
from tests.person import Person
from tests.servers import BOUND, Answer, Post, Step, result

CHUNK = b"x" * 65536
CANARY = "c4n4ry-of-the-server"
"""Stands in what servers say; no log may hold it."""


class Line:
    """The connection of one request."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, canary: int) -> None:
        self.reader, self.writer, self.canary = reader, writer, canary

    async def request(self) -> Post:
        head = await self.reader.readuntil(b"\r\n\r\n")
        first, *lines = head.decode("latin-1").split("\r\n")
        method, path, _ = first.split(" ")
        headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines if line)}
        raw = await self.reader.readexactly(int(headers.get("content-length", 0)))
        return Post(method, path, headers, raw, json.loads(raw) if raw else None)

    async def send(self, *pieces: bytes) -> None:
        for piece in pieces:
            self.writer.write(piece)
            await self.writer.drain()

    async def answer(self, answer: Answer) -> None:
        """A proper one, but for `then`. `{canary}` stands for the port that nobody may ask."""
        body = answer.body.replace(b"{canary}", b"%d" % self.canary)
        length = {} if answer.then != "end" else {"content-length": str(len(body))}
        headers = {name: value.replace("{canary}", str(self.canary)) for name, value in answer.headers.items()}
        await self.head(answer.status, headers | length | {"connection": "close"})
        await self.send(body)
        if answer.then == "hang":
            await self.hang()

    async def head(self, status: int, headers: Mapping[str, str]) -> None:
        lines = "".join(f"{name}: {value}\r\n" for name, value in headers.items())
        await self.send(f"HTTP/1.1 {status} OK\r\n{lines}\r\n".encode("latin-1"))

    async def hang(self) -> None:
        """Say nothing until the other side has gone."""
        while await self.reader.read(65536):
            pass

    async def forever(self, piece: bytes, pause: float = 0) -> None:
        """Until the other side has gone."""
        while True:
            await self.send(piece)
            await asyncio.sleep(pause)

    def reset(self) -> None:
        """Break the connection at once, by RST."""
        sock = self.writer.get_extra_info("socket")
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.writer.transport.abort()


Act = Callable[[Post, Line], Awaitable[None]]


@dataclass(frozen=True)
class Behaviour:
    """What a server does, and what must come of it: the state and outcome of the flow, and a sentence of the page.

    `answers`: to the first call, the second and so on; the last goes on. `then`: what the person does on the first
    page. `never`: what no page may hold, as it is. `seconds`, `cpu` and `mib` are about ten times what was seen.
    """

    name: str
    answers: tuple[Step | Act, ...]
    state: str
    outcome: str
    says: str
    rules: tuple[str, ...] = ()
    then: Callable[[Person], object] | None = None
    never: tuple[str, ...] = ()
    listed: Mapping[str, Any] = field(default_factory=dict)
    door: str = "http"
    seconds: float = 5.0
    cpu: float = 3.0
    mib: float = 60.0

    @property
    def patience(self) -> dict[str, int]:
        """Seconds after which the app is to give up on the server."""
        waits = self.outcome == "timeout"
        return {"silence_timeout": 1 if waits else 30, "total_timeout": 2 if waits else 60}


def acting(step: Step | Act) -> Act:
    """A plain answer as something to do."""

    async def act(post: Post, line: Line) -> None:
        found = step(post, line) if step.__code__.co_argcount == 2 else step(post)  # type: ignore[call-arg]
        await (line.answer(found) if isinstance(found, Answer) else found)

    return act


@dataclass
class Hostile:
    """The running server: where its doors are, and what has come."""

    behaviours: Mapping[str, Behaviour]
    doors: dict[str, int] = field(default_factory=dict)
    posts: list[Post] = field(default_factory=list)
    knocks: Counter[str] = field(default_factory=Counter)
    """Connections to the doors on which no request is read."""
    taken: Counter[str] = field(default_factory=Counter)

    def url(self, name: str, door: str = "http") -> str:
        scheme = "https" if door.startswith("tls") else "http"
        return f"{scheme}://127.0.0.1:{self.doors[door]}/{name}/mcp"

    async def on_http(self, line: Line) -> None:
        post = await line.request()
        self.posts.append(post)
        behaviour = self.behaviours[post.path.split("/")[1]]
        method = post.json["method"] if post.json else ""
        listed = ({} if method == "tools/call" else LISTED | dict(behaviour.listed)).get(method)
        if callable(listed):
            return await acting(listed)(post, line)
        if listed is not None:
            return await line.answer(result(post, listed))
        number = min(self.taken[behaviour.name], len(behaviour.answers) - 1)
        self.taken[behaviour.name] += 1
        await acting(behaviour.answers[number])(post, line)

    async def on_tls_silent(self, line: Line) -> None:
        await line.hang()

    async def on_tls_drip(self, line: Line) -> None:
        """The head of a TLS record, and then its 16 kB byte by byte."""
        await line.send(b"\x16\x03\x03\x40\x00")
        await line.forever(b"\x02", 0.05)

    async def on_tls_plain(self, line: Line) -> None:
        await line.send(b"HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n")

    async def on_canary(self, line: Line) -> None:
        """Nobody has any business here: references and redirects of the others lead to it."""
        await line.send(b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 2\r\n\r\n{}")


DOORS = ("http", "tls_silent", "tls_drip", "tls_plain", "canary")


@contextlib.asynccontextmanager
async def _opened(hostile: Hostile) -> AsyncIterator[None]:
    async with contextlib.AsyncExitStack() as stack:
        for door in DOORS:
            serve: Callable[[Line], Awaitable[None]] = getattr(hostile, f"on_{door}")
            served = await asyncio.start_server(_handler(hostile, door, serve), "127.0.0.1", limit=2**20, backlog=256)
            stack.callback(served.close)
            hostile.doors[door] = served.sockets[0].getsockname()[1]
        yield


def _handler(
    hostile: Hostile, door: str, serve: Callable[[Line], Awaitable[None]]
) -> Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]:
    async def handle(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        hostile.knocks[door] += 1
        with contextlib.suppress(ConnectionError, asyncio.IncompleteReadError):
            await serve(Line(reader, writer, hostile.doors["canary"]))
        writer.close()

    return handle


@contextlib.contextmanager
def serving_hostile(behaviours: Mapping[str, Behaviour]) -> Iterator[Hostile]:
    """Run it in a thread."""
    hostile, ready = Hostile(behaviours), threading.Event()
    loop = asyncio.new_event_loop()
    end = asyncio.Event()

    async def main() -> None:
        async with _opened(hostile):
            ready.set()
            await end.wait()
        for task in asyncio.all_tasks() - {asyncio.current_task()}:
            task.cancel()

    thread = threading.Thread(target=loop.run_until_complete, args=(main(),), daemon=True)
    thread.start()
    try:
        assert ready.wait(BOUND), "the server did not start"
        yield hostile
    finally:
        loop.call_soon_threadsafe(end.set)
        thread.join(BOUND)
        loop.run_until_complete(loop.shutdown_asyncgens())
        loop.close()
