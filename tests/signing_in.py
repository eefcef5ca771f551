"""A person who signs in at the authorization server of tests/authserver.py, without scripts."""

import contextlib
from collections.abc import Iterator
from typing import Any
from urllib.parse import urlsplit

import httpx2

from mrtr_web import credentials
from mrtr_web.models import Server
from tests.authserver import World, authorized
from tests.desk import point_to
from tests.person import BOUND, Page, Person
from tests.servers import Post

OFFER, AGAIN = "Sign in to Demo desk", "Sign in again to Demo desk"
WHOAMI, ASK, ADMIN = (f"/s/demo/tools/{name}/" for name in ("whoami", "ask", "admin"))


@contextlib.contextmanager
def protected(server: Server, **knobs: Any) -> Iterator[World]:
    """The protected server, registered as one that people sign in to."""
    with authorized(**knobs) as world:
        point_to(server, world.url.removesuffix("/mcp"))
        server.refresh_from_db()
        credentials.give(server, "oauth", "")
        server.save()
        yield world


def way(page: Page) -> str:
    """Where the link leads to that a page offers for signing in."""
    return page.link("Go on to")


def answered(url: str) -> str:
    """What the authorization server answers to somebody who goes there: path and query of our callback."""
    found = httpx2.get(url, timeout=BOUND, trust_env=False)
    assert found.status_code == 302, found.text
    parts = urlsplit(found.headers["location"])
    return f"{parts.path}?{parts.query}"


def leave(person: Person) -> Page:
    """From a page that offers signing in, for the first time or again, to the one that leads there."""
    offers = [button.label for form in person.page.reader.forms for button in form.buttons]
    return person.press(next(label.strip() for label in offers if label.strip() in (OFFER, AGAIN)))


def sign_in(person: Person) -> Page:
    """From a page that offers it, there and back."""
    return person.get(answered(way(leave(person))))


def connected(person: Person) -> Page:
    person.get("/s/demo/")
    return sign_in(person)


def begin(person: Person, path: str = WHOAMI) -> Page:
    """Start a tool and wait until it cannot go on without the person."""
    person.get(path)
    person.press("Start")
    return person.until("waiting", "unsent", "completed", "failed")


def calls(world: World) -> list[Post]:
    return [post for post in world.mcp.posts if post.json and post.json["method"] == "tools/call"]


def token_of(post: Post) -> str:
    """The token that a request carries; "" where it has none."""
    return post.headers.get("authorization", "").removeprefix("Bearer ")
