"""People who do their work over and over, without scripts, and count what they sent and what went wrong."""

import ssl
import threading
from contextlib import AbstractContextManager
from urllib.parse import urlsplit

import httpx2

from tests import booking
from tests.person import Page, Person
from tests.servers import side_by_side

LONGEST = 60.0
"""Seconds that a person's last request may still take when all are asked to stop."""


class Visitor(Person):
    """Counts every answer, those of 400 and above as failed; and the posts that start a request or answer a round."""

    def __init__(self, base: str, trust: ssl.SSLContext, cookies: dict[str, str], over: threading.Event) -> None:
        super().__init__(base, trust)
        self.client.cookies.update(cookies)
        self.client.event_hooks = {"response": [self._seen]}
        self.over = over
        self.requests = self.started = self.answered = self.finished = 0
        self.trouble: list[str] = []

    def _seen(self, response: httpx2.Response) -> None:
        self.requests += 1
        if response.status_code >= 400:
            self.trouble.append(f"{response.request.method} {response.request.url.path}: {response.status_code}")

    def post(self, path: str, data: dict[str, list[str]]) -> Page:
        where = urlsplit(path).path
        self.answered += where.endswith("/answer/")
        self.started += "/tools/" in where
        return super().post(path, data)

    def live(self) -> None:
        """Until it is over, or something fails: that is kept, and ends it."""
        with self:
            try:
                while not self.over.is_set():
                    self.once()
                    self.finished += 1
            except (AssertionError, httpx2.TransportError) as error:
                self.trouble.append(repr(error)[:500])

    def once(self) -> None:
        """Three rounds and four legs."""
        booking.start(self)
        booking.tell_details(self)
        self.press("Send")
        self.until("waiting")
        booking.pay(self)
        self.press("I have finished")
        self.until("waiting")
        self.fill("I confirm", "Yes")
        self.press("Send")
        self.until("completed")


class Patient(Visitor):
    """Somebody whose one leg takes a while, so that it is under way when its process is told to stop."""

    def once(self) -> None:
        self.get("/s/demo/tools/slow_report/")
        self.fill("Seconds", "2")
        self.press("Start")
        self.until("completed")


class Crowd:
    """One person for each set of cookies, of whom every fourth is patient."""

    def __init__(self, base: str, trust: ssl.SSLContext, cookies: list[dict[str, str]]) -> None:
        self.over = threading.Event()
        self.people = [
            (Visitor if number % 4 else Patient)(base, trust, each, self.over) for number, each in enumerate(cookies)
        ]

    def at_work(self) -> AbstractContextManager[None]:
        """Until the block ends; then everybody finishes what they are at."""
        return side_by_side([person.live for person in self.people], self.over, LONGEST)

    @property
    def requests(self) -> int:
        return sum(person.requests for person in self.people)

    @property
    def sent(self) -> int:
        """What people started and answered: as many calls must have come to the server."""
        return sum(person.started + person.answered for person in self.people)

    @property
    def finished(self) -> int:
        return sum(person.finished for person in self.people)

    @property
    def trouble(self) -> list[str]:
        return [each for person in self.people for each in person.trouble]
