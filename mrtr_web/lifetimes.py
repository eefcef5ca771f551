"""PURE. How long an answer of a server may serve, and whom: its `ttlMs` and `cacheScope` (CH-2, CH-3)."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

SHORTEST, LONGEST = 5.0, 24 * 60 * 60.0
"""Seconds. Within the shortest, a person goes from one page to the next; nothing serves for more than the longest."""


@dataclass(frozen=True, slots=True)
class Lifetime:
    """How many seconds an answer serves from when it was asked for, and whether it is for one person alone."""

    seconds: float
    private: bool


def lifetime(*pages: Mapping[str, Any]) -> Lifetime:
    """Of all pages of an answer together. What does not say that it is for everybody is for one person."""
    seconds = min(_seconds(page.get("ttlMs")) for page in pages)
    return Lifetime(seconds, any(page.get("cacheScope") != "public" for page in pages))


def _seconds(ttl: object) -> float:
    if not isinstance(ttl, int) or isinstance(ttl, bool):
        return SHORTEST
    return min(max(ttl, SHORTEST * 1000), LONGEST * 1000) / 1000
