"""Sockets as a page opens them."""

import contextlib
import json
import time
from collections.abc import Iterator
from typing import Any

from websockets.exceptions import ConnectionClosed, InvalidStatus
from websockets.sync.client import ClientConnection, connect

from tests.person import Person
from tests.servers import BOUND
from tests.visitors import cookie_header


class Ear:
    """The socket of one page: every text that came, as it came."""

    def __init__(self, connection: ClientConnection) -> None:
        self.connection = connection
        self.texts: list[str] = []

    def next(self) -> dict[str, Any]:
        text = self.connection.recv(BOUND)
        assert isinstance(text, str)
        self.texts.append(text)
        said: dict[str, Any] = json.loads(text)
        return said

    def until_moved(self) -> None:
        while self.next().get("type") != "moved":
            pass

    def is_silent(self, seconds: float = 0.3) -> bool:
        try:
            self.texts.append(str(self.connection.recv(seconds)))
        except TimeoutError:
            return True
        return False

    def closed(self) -> int:
        """The code that the app closes with."""
        end = time.monotonic() + BOUND
        while time.monotonic() < end:
            try:
                self.connection.recv(BOUND)
            except ConnectionClosed as closed:
                assert closed.rcvd is not None
                return int(closed.rcvd.code)
        raise AssertionError("the socket stayed open")


@contextlib.contextmanager
def listening(person: Person, seen: str = "", **changes: Any) -> Iterator[Ear]:
    """Open the socket of the flow that the person looks at; `changes`: path, origin, cookies, headers, base."""
    base = changes.get("base", person.base)
    path = changes.get("path", f"/ws{person.page.path}")
    cookies = changes.get("cookies", dict(person.client.cookies))
    headers = {"Cookie": cookie_header(cookies)} | changes.get("headers", {})
    url = f"{base.replace('http', 'ws')}{path}?seen={seen}"
    with connect(
        url, origin=changes.get("origin", base), additional_headers=headers, open_timeout=BOUND, proxy=None
    ) as connection:
        yield Ear(connection)


def refusal(person: Person, **changes: Any) -> int:
    """The HTTP status that a handshake is refused with."""
    try:
        with listening(person, **changes):
            return 101
    except InvalidStatus as refused:
        return refused.response.status_code
