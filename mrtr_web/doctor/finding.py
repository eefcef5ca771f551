"""What was found at one place: all is well, it is worth knowing, or it fails. No words of it hold a secret."""

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True, slots=True)
class Finding:
    level: Literal["ok", "warning", "FAIL"]
    place: str
    words: str

    def __str__(self) -> str:
        return f"{self.level:<8} {self.place}: {self.words}"


def well(place: str, words: str) -> Finding:
    return Finding("ok", place, words)


def doubt(place: str, words: str) -> Finding:
    return Finding("warning", place, words)


def fault(place: str, words: str) -> Finding:
    """The words also say what to do."""
    return Finding("FAIL", place, words)


NOTABLE, TOO_MUCH = 5.0, 60.0
"""Seconds between two clocks: leases, sessions and tokens count in these."""


def skew(place: str, seconds: float, whose: str) -> Finding:
    """How far another clock is before this machine's."""
    if abs(seconds) < NOTABLE:
        return well(place, f"{whose} agrees with this machine's")
    words = f"{whose} is {abs(seconds):.0f} seconds {'before' if seconds > 0 else 'behind'} this machine's. "
    return (doubt if abs(seconds) < TOO_MUCH else fault)(place, words + "Keep both by NTP.")
