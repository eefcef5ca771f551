"""The scripted server of tests/desk.py behind a door: it lets in who has one of its tokens, and keeps who came."""

import contextlib
from collections.abc import Iterator

from mrtr_web.models import Server
from tests.desk import Desk, point_to
from tests.servers import Post, Receive, Recorder, Scope, Scripted, Send, Step, html, serve


class Gate:
    """Answers 401 to whoever has none of `tokens`."""

    def __init__(self, tokens: set[str], *steps: Step) -> None:
        self.tokens, self.app = tokens, Desk(*steps)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        post = scope.get("mrtr.post")
        refused = post is not None and token_of(post) not in self.tokens
        await (Scripted(lambda post: html(401, www_authenticate="Bearer")) if refused else self.app)(
            scope, receive, send
        )


@contextlib.contextmanager
def gate(server: Server, tokens: set[str], *steps: Step) -> Iterator[Recorder]:
    """Serve this script behind a door and register it. Whoever is let in is in `tokens`, which may change."""
    recorder = Recorder(Gate(tokens, *steps))
    with serve(recorder, lifespan="on") as base:
        point_to(server, base)
        yield recorder


def token_of(post: Post) -> str:
    """The token that a request carries; "" where it has none."""
    return post.headers.get("authorization", "").removeprefix("Bearer ")
