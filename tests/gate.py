"""The scripted server of tests/desk.py behind a door: it lets in who has one of its tokens, and keeps who came."""

import contextlib
from collections.abc import Iterator

from mrtr_web.models import Server
from tests.desk import LISTED, Desk, point_to
from tests.servers import Post, Receive, Recorder, Scope, Scripted, Send, Step, html, serve


class Gate:
    """Answers 401 to whoever has none of `tokens`; with `open_listings`, anybody may ask what it is and offers."""

    def __init__(self, tokens: set[str], *steps: Step, open_listings: bool = False) -> None:
        self.tokens, self.app, self.open_listings = tokens, Desk(*steps), open_listings

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        post = scope.get("mrtr.post")
        is_open = self.open_listings and post is not None and bool(post.json) and post.json["method"] in LISTED
        refused = post is not None and not is_open and token_of(post) not in self.tokens
        await (Scripted(lambda post: html(401, www_authenticate="Bearer")) if refused else self.app)(
            scope, receive, send
        )


@contextlib.contextmanager
def gate(server: Server, tokens: set[str], *steps: Step, open_listings: bool = False) -> Iterator[Recorder]:
    """Serve this script behind a door and register it. Whoever is let in is in `tokens`, which may change."""
    recorder = Recorder(Gate(tokens, *steps, open_listings=open_listings))
    with serve(recorder, lifespan="on") as base:
        point_to(server, base)
        yield recorder


def token_of(post: Post) -> str:
    """The token that a request carries; "" where it has none."""
    return post.headers.get("authorization", "").removeprefix("Bearer ")
