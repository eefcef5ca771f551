"""Finds servers, and what they offer, by words: all must be there; case and accents do not matter."""

import unicodedata
from collections.abc import Iterable, Sequence

from mrtr_web import entries
from mrtr_web.entries import Entry
from mrtr_web.models import Server

MAX_WORDS = 10


def words(query: str) -> list[str]:
    """What to look for; nothing, where there are none."""
    return _fold(query).split()[:MAX_WORDS]


def servers(candidates: Iterable[Server], wanted: Sequence[str]) -> list[Server]:
    """Those that match, by name before those that only match otherwise."""
    ranked = [(_rank(wanted, _fold(server.name), _about(server)), server) for server in candidates]
    return [server for rank, server in sorted(ranked, key=lambda each: each[0]) if rank]


def offers(candidates: Iterable[Server], wanted: Sequence[str]) -> list[Entry]:
    """What these attached servers offer that matches, by name or title before that which only matches otherwise.

    Some of the words may be the server's, but not all.
    """
    found: dict[int, list[Entry]] = {0: [], 1: [], 2: []}
    for server in candidates:
        about = _about(server)
        for entry in entries.in_brief(server):
            found[_rank_of(entry, wanted, about)].append(entry)
    return found[1] + found[2]


def _rank_of(entry: Entry, wanted: Sequence[str], about: str) -> int:
    called = _fold(f"{entry.title} {entry.name}")
    said = _fold(entry.description)
    own = any(word in called or word in said for word in wanted)
    return _rank(wanted, called, f"{said} {about}") if own else 0


def _rank(wanted: Sequence[str], called: str, about: str) -> int:
    """1: all words are in what it is called; 2: they are there or in what is said of it; 0: they are not."""
    missing = [word for word in wanted if word not in called]
    if not missing:
        return 1
    return 2 if all(word in about for word in missing) else 0


def _about(server: Server) -> str:
    return _fold(" ".join([server.name, server.slug, server.description, *server.tags]))


def _fold(text: str) -> str:
    """As texts are compared."""
    if text.isascii():
        return text.lower()
    apart = unicodedata.normalize("NFKD", text.casefold())
    return "".join(character for character in apart if not unicodedata.combining(character))
