"""The ways of sending one leg that are compared: the SDK's session kept warm, its Client anew each time, and the app.

A leg is an answer to a round, with what the round before brought. All are asked of the same server.
"""

import http.client
import itertools
import re
import time
from collections.abc import Mapping
from dataclasses import dataclass
from urllib.parse import urlencode, urlsplit

from mcp import Client
from mcp_types import ElicitResult, InputRequiredResult

from tests.bench.upstream import PLAIN, TOOL
from tests.person import Person
from tests.visitors import cookie_header

PAGE = "/s/bench/tools/ask/"
HIDDEN = re.compile(rb'<input type="hidden" name="([^"]+)" value="([^"]*)"')
WAITING = b'data-flow-state="waiting"'
RUNNING = b'data-flow-state="running"'
GLANCE = 0.2
"""Seconds between two looks at a page that says that the server is at work."""
KEPT = 2.0
"""Seconds that a connection may rest; the app closes it after 5."""
URLENCODED = {"Content-Type": "application/x-www-form-urlencoded"}
ROUNDS = 4
"""Of one flow; then another one is begun, for a record grows with its rounds."""
Data = dict[str, list[str]]


CLAIMS = 228
"""Characters that the server's SDK adds to a state when it seals it, at most; the rest is base64 of what it was."""
SLACK = 12
"""By how much what it adds varies."""


@dataclass(frozen=True)
class Load:
    """What the server is to do: milliseconds of work, bytes of state as it is sent, fields to ask for."""

    work: int = 0
    state: int = 240
    fields: int = 6

    @property
    def arguments(self) -> dict[str, int]:
        return {"work": self.work, "state": (self.state - CLAIMS) * 3 // 4, "fields": self.fields}

    @property
    def values(self) -> dict[str, str]:
        return {f"field{number}": f"value {number}" for number in range(self.fields)}


class Warm:
    """The floor: a session that stays open, with the SDK's own request."""

    def __init__(self, client: Client, load: Load) -> None:
        self.client, self.load, self.state = client, load, ""

    async def prepare(self) -> None:
        found = await self.client.session.call_tool(TOOL, self.load.arguments, allow_input_required=True)
        assert isinstance(found, InputRequiredResult)
        self.state = found.request_state or ""
        assert self.load.state - SLACK <= len(self.state) <= self.load.state, len(self.state)

    async def leg(self) -> None:
        found = await self.client.session.call_tool(
            TOOL,
            self.load.arguments,
            input_responses={"form": ElicitResult(action="accept", content=dict(self.load.values))},
            request_state=self.state,
            allow_input_required=True,
        )
        assert isinstance(found, InputRequiredResult)


async def fresh(url: str, warm: Warm) -> None:
    """What people write: a Client for each call, as it comes."""
    async with Client(url) as client:
        anew = Warm(client, warm.load)
        anew.state = warm.state
        await anew.leg()


class Plain:
    """A session of the older revisions: a call with the same work and as many bytes both ways, but no rounds."""

    def __init__(self, client: Client, load: Load) -> None:
        self.client = client
        self.arguments = {"work": load.work, "state": "s" * load.state, "answers": load.values}

    async def leg(self) -> None:
        found = await self.client.session.call_tool(PLAIN, self.arguments)
        assert not found.is_error, found


class Browser:
    """One person at the app, who takes its processes in turn. It blocks, and costs little beside what it measures."""

    def __init__(self, cookies: dict[str, str], load: Load, *bases: str) -> None:
        self.cookies = dict(cookies)
        self.used: dict[str, float] = {}
        self.posts: list[float] = []
        self.sites = itertools.cycle([(base, http.client.HTTPConnection(urlsplit(base).netloc)) for base in bases])
        self.started, self.answers = _rehearsed(bases[0], cookies, load)
        self.page, self.path, self.number = b"", "", 0

    def prepare(self) -> int:
        """Be at a round: begin a flow where the last one has had its rounds. How many legs that took."""
        begins = self.number % ROUNDS == 0
        if begins:
            if self.path:
                self._post("stop/", {})
            self.page, self.path = self._ask("GET", PAGE)[1], PAGE
            self.follow(self._post("", self.started))
            self.number = 0
        self.number += 1
        return int(begins)

    def post(self) -> str:
        """Send the answers: where the next page is."""
        now = {re.sub("^r1", f"r{self.number}", name): values for name, values in self.answers.items()}
        return self._post("answer/", now)

    def leg(self) -> None:
        """Send the answers, and read the page of the next round."""
        began = time.perf_counter()
        target = self.post()
        self.posts.append(time.perf_counter() - began)
        self.follow(target)

    def follow(self, target: str) -> None:
        """Until the next round is there."""
        self.page, self.path = self._ask("GET", target)[1], target
        while RUNNING in self.page:
            time.sleep(GLANCE)
            self.page = self._ask("GET", target)[1]
        assert WAITING in self.page, self.page[:2000]

    def _post(self, name: str, answers: Data) -> str:
        body = urlencode(hidden(self.page) | answers, doseq=True)
        return self._ask("POST", self.path + name, body)[0]

    def _ask(self, method: str, path: str, body: str | None = None) -> tuple[str, bytes]:
        """Where it leads, and what it says."""
        base, connection = next(self.sites)
        if time.monotonic() > self.used.get(base, 0.0) + KEPT:
            connection.close()  # the next request opens it anew
        headers = {"Cookie": cookie_header(self.cookies), "Origin": base}
        connection.request(method, path, body, headers | ({} if body is None else URLENCODED))
        response = connection.getresponse()
        self.used[base] = time.monotonic()
        for line in response.headers.get_all("Set-Cookie", []):
            name, _, value = line.partition(";")[0].partition("=")
            self.cookies[name] = value
        content = response.read()
        assert response.status in (200, 302), (path, response.status)
        return response.headers.get("Location", ""), content


def _rehearsed(base: str, cookies: dict[str, str], load: Load) -> tuple[Data, Data]:
    """The inputs of the start and of the answers."""
    with Person(base) as person:
        person.client.cookies.update(cookies)
        person.get(PAGE)
        started = filled(person, {name.title(): str(value) for name, value in load.arguments.items()})
        person.press("Start")
        person.until("waiting")
        answers = filled(person, {f"Field {number}": value for number, value in enumerate(load.values.values())})
        person.press("Stop")
    return started, answers


def hidden(page: bytes) -> Data:
    """What a page sends along."""
    return {name.decode(): [value.decode()] for name, value in HIDDEN.findall(page)}


def filled(person: Person, answers: Mapping[str, str]) -> dict[str, list[str]]:
    """What the form of the page sends once these labels are filled in, but for what it hides."""
    for label, value in answers.items():
        person.fill(label, value)
    form = next(form for form in person.page.reader.forms if any(c.kind != "hidden" for c in form.controls))
    unseen = {control.name for control in form.controls if control.kind == "hidden"}
    return {name: values for name, values in form.data().items() if name not in unseen}
