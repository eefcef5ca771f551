"""The processes of a site, any of which may be killed or replaced while people use it."""

import contextlib
import signal
import socket
from pathlib import Path
from typing import Self

from tests.processes import Command, Process, documented, serving

Place = int | socket.socket


class Fleet:
    """One process at each place: ports, or the same socket several times. Enter it to start them."""

    def __init__(
        self, folder: Path, places: list[Place], environ: dict[str, str], command: Command = documented
    ) -> None:
        self.folder, self.places, self.environ, self.command = folder, places, environ, command
        self._slots = [contextlib.ExitStack() for _ in places]
        self.running: list[Process] = []
        self.logs: list[Path] = []

    def __enter__(self) -> Self:
        with contextlib.ExitStack() as undo:
            undo.callback(self._end)
            self.running = [self._started(number) for number in range(len(self.places))]
            undo.pop_all()
        return self

    def __exit__(self, *_: object) -> None:
        self._end()

    def kill(self, number: int) -> None:
        """At once, as if memory had run out. Nothing takes its place yet."""
        self.running[number].handle.kill()
        self._slots[number].close()

    def start(self, number: int) -> None:
        self.running[number] = self._started(number)

    def replace(self, number: int) -> None:
        """As `systemctl restart`, and until the new one takes requests. Raises where the old one does not end."""
        self.running[number].handle.send_signal(signal.SIGTERM)
        self.running[number].handle.wait(60)  # TimeoutStopSec
        self._slots[number].close()
        self.start(number)

    def replace_all(self) -> None:
        """A rolling restart: one after the other."""
        for number in range(len(self.places)):
            self.replace(number)

    def _started(self, number: int) -> Process:
        started = serving(self.folder, self.places[number], self.command, **self.environ)
        process = self._slots[number].enter_context(started)
        self.logs.append(process.log)
        return process

    def _end(self) -> None:
        with contextlib.ExitStack() as all_of_them:
            for slot in self._slots:
                all_of_them.push(slot)
