"""A scripted MCP server for pages: it lists one tool, `ask`, and answers its calls step by step."""

import contextlib
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from django.db import connection

from mrtr_web import catalog
from mrtr_web.models import PRIVATE_NETWORKS, Listing, Server
from tests import servers
from tests.person import Page, Person
from tests.servers import Answer, Post, Recorder, Step

LISTED: dict[str, Any] = {
    "server/discover": {
        "resultType": "complete",
        "supportedVersions": ["2026-07-28"],
        "capabilities": {"tools": {}},
        "ttlMs": 0,
        "cacheScope": "public",
    },
    "tools/list": {
        "resultType": "complete",
        "tools": [
            {
                "name": "ask",
                "title": "Ask me",
                "inputSchema": {
                    "type": "object",
                    "properties": {"topic": {"type": "string", "title": "Topic"}},
                    "required": ["topic"],
                },
            }
        ],
        "ttlMs": 0,
        "cacheScope": "public",
    },
}
TOOL = "/s/demo/tools/ask/"


class Desk(servers.Scripted):
    """Lists the tool; the n-th call is answered by the n-th step, the last goes on for ever."""

    listed = LISTED

    async def __call__(self, scope: servers.Scope, receive: servers.Receive, send: servers.Send) -> None:
        post = scope.get("mrtr.post")
        listed = self.listed.get(post.json["method"]) if post and post.json else None
        if listed is None:
            return await super().__call__(scope, receive, send)
        await servers.Scripted(lambda post: servers.result(post, listed))(scope, receive, send)


@contextlib.contextmanager
def desk(server: Server, *steps: Step, listings: dict[str, Any] = LISTED, port: int = 0) -> Iterator[Recorder]:
    """Serve this script and register it; gives what came, the calls under `calls`."""
    script = Desk(*steps)
    script.listed = listings
    recorder = Recorder(script)
    with servers.serve(recorder, lifespan="on", port=port) as base:
        point_to(server, base)
        yield recorder


def on_this_machine(slug: str, name: str, url: str = "http://127.0.0.1:9/mcp") -> Server:
    """A server registered as its admin would: the address may be private, and it may ask. At 9 nobody answers."""
    private = list(PRIVATE_NETWORKS)
    return Server.objects.create(slug=slug, name=name, url=url, private_networks=private, capabilities=["elicitation"])


def point_to(server: Server, base: str) -> None:
    """Register this address for the server, and forget what was listed."""
    catalog.forget_listings(server)
    Server.objects.filter(pk=server.pk).update(url=f"{base}/mcp", checked_at=None, trouble="")


def relisted(recorder: Recorder, listings: dict[str, Any]) -> None:
    """The server lists something else from now on."""
    assert isinstance(recorder.app, Desk)
    recorder.app.listed = listings


def meanwhile(act: Callable[[], object]) -> None:
    """For a step: do something to the database while the app waits for the answer."""
    with ThreadPoolExecutor() as aside:
        aside.submit(_with_own_connection, act).result()


def _with_own_connection(act: Callable[[], object]) -> None:
    act()
    connection.close()


def lists_now(*tools: dict[str, Any]) -> None:
    """What the server lists changes, and the app has heard of it."""
    Listing.objects.filter(kind="tools").update(entries=list(tools))


def tools(*entries: dict[str, Any]) -> dict[str, Any]:
    """Listings with these tools in place of `ask`."""
    return LISTED | {"tools/list": LISTED["tools/list"] | {"tools": list(entries)}}


def start(person: Person, topic: str = "cheese") -> Page:
    """Start the tool: the page that is there at once."""
    person.get(TOOL)
    person.fill("Topic", topic)
    return person.press("Start")


def calls(recorder: Recorder) -> list[Post]:
    return [
        post
        for post in recorder.posts
        if post.json and post.json["method"] in ("tools/call", "prompts/get", "resources/read")
    ]


def asks(state: str | None = "s1", message: str = "Who are you?", **properties: Any) -> Step:
    """A round with one form; a text field `name` where no properties are given."""
    schema = {
        "type": "object",
        "properties": properties or {"name": {"type": "string", "title": "Name"}},
        "required": list(properties) or ["name"],
    }
    entry = {"method": "elicitation/create", "params": {"message": message, "requestedSchema": schema}}
    return required({"who": entry}, state)


def required(requests: dict[str, Any] | None, state: str | None) -> Step:
    fields: dict[str, Any] = {"resultType": "input_required"}
    if requests is not None:
        fields["inputRequests"] = requests
    if state is not None:
        fields["requestState"] = state
    return lambda post: servers.result(post, fields)


def done(text: str = "All done.", **more: Any) -> Step:
    return lambda post: servers.result(
        post, {"resultType": "complete", "content": [{"type": "text", "text": text}], **more}
    )


def always(answer: Answer) -> Step:
    return lambda post: answer
