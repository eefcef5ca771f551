"""Servers for tests, over real HTTP: serve() runs an app, Recorder keeps what came, Scripted answers."""

import asyncio
import atexit
import contextlib
import functools
import itertools
import json
import logging
import socket
import threading
import time
from collections.abc import Awaitable, Callable, Coroutine, Iterable, Iterator, Mapping, MutableMapping
from dataclasses import dataclass, field
from typing import Any, Literal, TypeVar
from urllib.parse import parse_qsl

import httpx2
import uvicorn

Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]
T = TypeVar("T")
Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]
App = Callable[[Scope, Receive, Send], Awaitable[None]]

BOUND = 20.0
"""How long a test waits for anything, in seconds."""


def until(happened: Callable[[], object]) -> None:
    """Wait for it."""
    end = time.monotonic() + BOUND
    while not happened():
        assert time.monotonic() < end
        time.sleep(0.05)


@contextlib.contextmanager
def side_by_side(works: Iterable[Callable[[], None]], over: threading.Event, longest: float = BOUND) -> Iterator[None]:
    """Each in a thread of its own until the block ends: then it is over, and they have so many seconds to finish."""
    threads = [threading.Thread(target=work) for work in works]
    for thread in threads:
        thread.start()
    try:
        yield
    finally:
        over.set()
        for thread in threads:
            thread.join(longest)


def run(coroutine: Coroutine[Any, Any, T]) -> T:
    """asyncio.run() with a bound, and the shared connections closed at the end."""

    from mrtr_web import egress  # it needs Django's settings, and a server does not

    async def main() -> T:
        try:
            async with asyncio.timeout(BOUND):
                return await coroutine
        finally:
            await egress.aclose()

    return asyncio.run(main())


class _Server(uvicorn.Server):
    """Ends at once when it is told to: uvicorn looks every 0.1 s, and then waits 0.1 s, a thousand times over."""

    def __init__(self, config: uvicorn.Config) -> None:
        super().__init__(config)
        self.ready = threading.Event()

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        self.loop, self.ending = asyncio.get_running_loop(), asyncio.Event()
        await super().startup(sockets=sockets)
        self.ready.set()

    def end(self) -> None:
        self.should_exit = True
        with contextlib.suppress(RuntimeError):  # it has ended by itself
            self.loop.call_soon_threadsafe(self.ending.set)

    async def main_loop(self) -> None:
        await self.on_tick(0)
        await self.ending.wait()

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        for server in self.servers:
            server.close()
        for connection in list(self.server_state.connections):
            connection.shutdown()
        for _ in range(5):
            await asyncio.sleep(0)
        if self.server_state.connections or self.server_state.tasks:
            return await super().shutdown(sockets)
        for listener in sockets or []:
            listener.close()
        for server in self.servers:
            await server.wait_closed()
        await self.lifespan.shutdown()


@contextlib.contextmanager
def serve(app: Any, *, port: int = 0, **options: Any) -> Iterator[str]:
    """Run an ASGI app on a loopback port, a free one unless said, in a thread; gives its base URL."""
    options = {"ws": "none"} | options
    config = uvicorn.Config(app, log_config=None, access_log=False, timeout_graceful_shutdown=1, **options)
    server = _Server(config)
    with socket.socket() as listener:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind(("127.0.0.1", port))
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]}, daemon=True)
        thread.start()
        try:
            assert server.ready.wait(BOUND), "the server did not start"
            yield f"http://127.0.0.1:{listener.getsockname()[1]}"
        finally:
            server.end()
            thread.join(BOUND)


def free_port() -> int:
    """A port on which nothing listens."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


@dataclass(frozen=True)
class Post:
    """A request as it arrived: header names in lower case, the raw body, and the JSON in it (else None)."""

    method: str
    path: str
    headers: Mapping[str, str]
    raw: bytes
    json: Any
    query: str = ""

    @property
    def asked(self) -> dict[str, str]:
        """The parameters in the URL."""
        return dict(parse_qsl(self.query, keep_blank_values=True))

    @property
    def form(self) -> dict[str, str]:
        """The body, where it is a form."""
        return dict(parse_qsl(self.raw.decode(), keep_blank_values=True))

    @property
    def id(self) -> Any:
        return self.json["id"]

    @property
    def params(self) -> dict[str, Any]:
        params: dict[str, Any] = self.json["params"]
        return params

    @property
    def meta(self) -> dict[str, Any]:
        meta: dict[str, Any] = self.params["_meta"]
        return meta


class Proxy:
    """Passes every request of a Recorder on to the next of its targets in turn, and keeps what came back."""

    def __init__(self, *targets: str) -> None:
        self.turns = itertools.cycle(targets)
        self.answers: list[bytes] = []
        self.used: list[str] = []

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        post: Post = scope["mrtr.post"]
        kept = {name: value for name, value in post.headers.items() if name not in ("host", "content-length")}
        self.used.append(next(self.turns))
        async with httpx2.AsyncClient(trust_env=False) as client:
            answer = await client.request(post.method, self.used[-1] + post.path, content=post.raw, headers=kept)
        self.answers.append(answer.content)
        headers = [(b"content-type", answer.headers["content-type"].encode())]
        await send({"type": "http.response.start", "status": answer.status_code, "headers": headers})
        await send({"type": "http.response.body", "body": answer.content})


class Recorder:
    """Keeps every request in `posts`, in order, and passes it on. `gone` is set when a client hangs up."""

    def __init__(self, app: App) -> None:
        self.app = app
        self.posts: list[Post] = []
        self.gone = threading.Event()
        self.arrived = threading.Event()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            return await self.app(scope, receive, send)
        post = await _read(scope, receive)
        scope["mrtr.post"] = post
        self.posts.append(post)
        self.arrived.set()
        await self.app(scope, self._replay(post.raw, receive), send)

    def _replay(self, raw: bytes, receive: Receive) -> Receive:
        first = [{"type": "http.request", "body": raw, "more_body": False}]

        async def replayed() -> MutableMapping[str, Any]:
            if first:
                return first.pop()
            message = await receive()
            if message["type"] == "http.disconnect":
                self.gone.set()
            return message

        return replayed

    @property
    def methods(self) -> list[str]:
        return [post.json["method"] for post in self.posts]


async def _read(scope: Scope, receive: Receive) -> Post:
    raw = b""
    more = True
    while more:
        message = await receive()
        raw += message.get("body", b"")
        more = message.get("more_body", False)
    headers = {name.decode().lower(): value.decode("latin-1") for name, value in scope["headers"]}
    try:
        body = json.loads(raw)
    except ValueError:
        body = None
    return Post(scope["method"], scope["path"], headers, raw, body, scope.get("query_string", b"").decode("latin-1"))


@dataclass
class Answer:
    """One scripted response. `then`: end it, keep it open until the client goes, or cut the connection."""

    body: bytes = b""
    status: int = 200
    headers: dict[str, str] = field(default_factory=lambda: {"content-type": "application/json"})
    then: Literal["end", "hang", "cut"] = "end"


def raw_json(text: str | bytes, status: int = 200, **headers: str) -> Answer:
    body = text.encode() if isinstance(text, str) else text
    return Answer(body, status, {"content-type": "application/json", **_names(headers)})


def result(post: Post, value: Any, status: int = 200, **headers: str) -> Answer:
    return raw_json(json.dumps({"jsonrpc": "2.0", "id": post.id, "result": value}), status, **headers)


def error(post: Post, code: int, data: Any = None, status: int = 400, message: str = "no") -> Answer:
    body = {"code": code, "message": message} | ({} if data is None else {"data": data})
    return raw_json(json.dumps({"jsonrpc": "2.0", "id": post.id, "error": body}), status)


def events(*messages: Any, then: Literal["end", "hang", "cut"] = "end", prefix: str = "") -> Answer:
    text = "".join(f"event: message\ndata: {json.dumps(message)}\n\n" for message in messages)
    return Answer((prefix + text).encode(), 200, {"content-type": "text/event-stream"}, then)


def html(status: int, **headers: str) -> Answer:
    return Answer(b"<h1>Hello</h1>", status, {"content-type": "text/html", **_names(headers)})


def _names(headers: Mapping[str, str]) -> dict[str, str]:
    return {name.replace("_", "-"): value for name, value in headers.items()}


Step = Callable[[Post], Answer]


class Scripted:
    """Answers the n-th request with the n-th step; the last step goes on for ever."""

    def __init__(self, *steps: Step) -> None:
        self.steps = list(steps)
        self.taken = 0

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            return await _lifespan(receive, send)
        step = self.steps[min(self.taken, len(self.steps) - 1)]
        self.taken += 1
        answer = step(scope["mrtr.post"])
        await receive()
        headers = [(name.encode(), value.encode("latin-1")) for name, value in answer.headers.items()]
        await send({"type": "http.response.start", "status": answer.status, "headers": headers})
        await send({"type": "http.response.body", "body": answer.body, "more_body": answer.then != "end"})
        if answer.then == "hang":
            while (await receive())["type"] != "http.disconnect":
                pass


async def _lifespan(receive: Receive, send: Send) -> None:
    for kind in ("startup", "shutdown"):
        await receive()
        await send({"type": f"lifespan.{kind}.complete"})


@contextlib.contextmanager
def scripted(*steps: Step) -> Iterator[tuple[str, Recorder]]:
    """A hostile server: gives the URL of its endpoint, and what it received."""
    recorder = Recorder(Scripted(*steps))
    name = f"/{next(_numbers)}"
    _shared_apps[name] = recorder
    try:
        yield f"{_shared_base()}{name}/mcp", recorder
    finally:
        del _shared_apps[name]


_numbers = itertools.count()
_shared_apps: dict[str, App] = {}


async def _shared(scope: Scope, receive: Receive, send: Send) -> None:
    """All scripted servers behind one, which is faster: each has a path of its own, and does not see it."""
    if scope["type"] == "lifespan":
        return await _lifespan(receive, send)
    _, name, rest = scope["path"].split("/", 2)
    await _shared_apps[f"/{name}"]({**scope, "path": f"/{rest}"}, receive, send)


@functools.cache
def _shared_base() -> str:
    running = contextlib.ExitStack()
    atexit.register(running.close)
    atexit.register(logging.disable)  # the last in is the first out: pytest has closed its streams by then
    return running.enter_context(serve(_shared))
