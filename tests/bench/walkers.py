"""Simulated people who book trips at the demo server, by the pages: they answer what is asked, and think in between.

A rehearsal fills the forms by their labels, once; from then on the answers are known by the names of their inputs, and
each page is read for what it hides alone, so that the simulation costs little beside what it measures.
"""

import asyncio
import contextlib
import random
import re
import time
from dataclasses import dataclass, field
from urllib.parse import urlsplit

import httpx2
from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import InvalidStatus

from tests.bench.clients import GLANCE, RUNNING, WAITING, Data, filled, hidden
from tests.bench.world import World
from tests.person import Person
from tests.servers import BOUND
from tests.visitors import cookie_header

TOOL = "/s/demo/tools/book_trip/"
TRIP = {"Destination": "Lyon", "Nights": "3", "Day of departure": "2027-05-01"}
DETAILS = {
    "Full name": "Ada Lovelace",
    "E-mail address": "ada@example.org",
    "Date of birth": "1990-12-10",
    "Number of travellers": "2",
    "Room": "Double room",
    "What would you like to do?": "Museums and galleries",
    "I have read the travel conditions": "Yes",
}
BOOKED = b'data-flow-state="completed"'
PAYMENT = re.compile(rb'https?://[^"<\s]+/pay/[\w-]+/')
MARK = re.compile(rb'data-mark="([^"]*)"')


@dataclass
class Script:
    """What people send: the start, and the answers of each round."""

    start: Data
    rounds: tuple[Data, Data, Data]


@dataclass
class Tally:
    """Seconds from each post that sends a leg to the page of the next round, and what went wrong."""

    legs: list[float] = field(default_factory=list)
    pages: list[float] = field(default_factory=list)
    wrong: list[str] = field(default_factory=list)
    refused: int = 0
    """Sockets that were not let in; a page then polls, and tries again."""

    def clear(self) -> None:
        self.legs, self.pages, self.refused = [], [], 0


def rehearse(world: World, cookies: dict[str, str]) -> Script:
    """Book a trip as a person does, and keep what was typed."""
    with Person(world.front.base, world.front.trust()) as person:
        person.client.cookies.update(cookies)
        person.get(TOOL)
        start = filled(person, TRIP)
        person.press("Start")
        person.until("waiting")
        details = filled(person, DETAILS)
        person.press("Check")
        person.press("Send")
        person.until_told("deposit")
        found = PAYMENT.search(person.page.response.content)
        assert found is not None
        httpx2.post(found[0].decode(), trust_env=False)
        paid = {person.page.button("I have finished there")[1].name: ["accept"]}
        person.press("I have finished there")
        person.until_told("Shall we book it?")
        confirmed = filled(person, {"I confirm": "Yes"})
        person.press("Send")
        person.until("completed")
    return Script(start, (details, paid, confirmed))


class Walker:
    """One person in a browser of their own: a connection that is kept, cookies, and the socket of the open page."""

    def __init__(self, world: World, cookies: dict[str, str], script: Script, tally: Tally, think: float) -> None:
        self.world, self.script, self.tally, self.think = world, script, tally, think
        self.cookies = dict(cookies)
        self.socket: ClientConnection | None = None
        self.page, self.flow = b"", ""
        self.client = httpx2.AsyncClient(
            base_url=world.front.base,
            verify=world.trust,
            cookies=self.cookies,
            headers={"Origin": world.front.base},
            timeout=BOUND,
            trust_env=False,
        )

    async def begin(self) -> None:
        """Start a booking: from here on this person is in mid-wizard."""
        self.page = await self._leg(TOOL, await self._look(TOOL), self.script.start)

    async def walk(self, until: float) -> None:
        """Go on with what is begun, then book one trip after the other; who comes late stops where they are."""
        await self._pause(0, until)
        while time.monotonic() < until:
            try:
                await self._book(until)
            except (httpx2.HTTPError, AssertionError, OSError) as error:
                self.tally.wrong.append(f"{type(error).__name__} {error}")
                return

    async def close(self) -> None:
        await self._leave()
        await self.client.aclose()

    async def _book(self, until: float) -> None:
        if not self.page:
            await self.begin()
            await self._pause(self.think / 2, until)
        page, path = self.page, f"/flows/{self.flow}/"
        for number, answers in enumerate(self.script.rounds):
            if number:
                await self._pause(self.think / 2, until)
            if time.monotonic() > until:
                return
            if number == 0:
                await self._post(f"{path}check/", page, answers)
            if payment := PAYMENT.search(page):
                await self._pay(payment[0].decode())
            page = await self._leg(f"{path}answer/", page, answers)
        assert BOOKED in page, "not booked"
        self.page = b""

    async def _pause(self, least: float, until: float) -> None:
        """Think, but not beyond the end."""
        most = least + self.think
        await asyncio.sleep(max(min(random.uniform(least, most), until - time.monotonic()), 0))

    async def _leg(self, path: str, page: bytes, answers: Data) -> bytes:
        """Post, follow, and look again until the next round is there: its page."""
        await self._leave()
        began = time.monotonic()
        response = await self._post(path, page, answers)
        assert response.status_code == 302, f"{path} answered {response.status_code}"
        target = response.headers["location"]
        self.flow = urlsplit(target).path.split("/")[2]
        page = await self._look(target)
        while RUNNING in page:
            await asyncio.sleep(GLANCE)
            page = await self._look(target)
        self.tally.legs.append(time.monotonic() - began)
        assert WAITING in page or BOOKED in page, f"{target} is neither waiting nor done"
        if WAITING in page:
            await self._stay(page)
        return page

    async def _post(self, path: str, page: bytes, answers: Data) -> httpx2.Response:
        response = await self.client.post(path, data=hidden(page) | answers)
        assert response.status_code in (200, 302), f"{path} answered {response.status_code}"
        return response

    async def _look(self, path: str) -> bytes:
        began = time.monotonic()
        response = await self.client.get(path)
        assert response.status_code == 200, f"{path} answered {response.status_code}"
        self.tally.pages.append(time.monotonic() - began)
        return response.content

    async def _pay(self, address: str) -> None:
        response = await self.world.elsewhere.post(address)
        assert response.status_code == 303

    async def _stay(self, page: bytes) -> None:
        """Open the socket of the page, as its script does."""
        mark = MARK.search(page)
        assert mark is not None
        url = f"{self.world.front.base.replace('http', 'ws', 1)}/ws/flows/{self.flow}/?seen={mark[1].decode()}"
        try:
            self.socket = await connect(
                url,
                ssl=self.world.trust,
                origin=self.world.front.base,  # type: ignore[arg-type]
                additional_headers={"Cookie": cookie_header(self.cookies)},
                proxy=None,
                compression=None,
                ping_interval=None,
                open_timeout=BOUND,
            )
        except InvalidStatus:
            self.tally.refused += 1

    async def _leave(self) -> None:
        if self.socket is not None:
            with contextlib.suppress(OSError):
                await self.socket.close()
        self.socket = None
