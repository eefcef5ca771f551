"""Text from a server is hostile: nothing in it may hide, reorder or imitate what stands around it."""

import re
import unicodedata

# Format characters that are drawn (number signs and verse ends of Arabic, Syriac and Kaithi).
_DRAWN = frozenset("\u0600\u0601\u0602\u0603\u0604\u0605\u06dd\u0890\u0891\u08e2\U000110bd\U000110cd")
# Drawn as nothing although they count as letters.
_BLANK_LETTERS = frozenset("\u115f\u1160\u3164\uffa0\u2800")
_BEYOND_ASCII = re.compile(r"[^\x00-\x7f]")
_ASCII = {code: chr(0x2400 + code) for code in range(0x20)} | {ord("\t"): " ", ord("\n"): "\n", 0x7F: "\u2421"}
_JOINERS = "\u200c\u200d"
REPLACEMENT = "\ufffd"
CUT = "\u2026"


def clean_text(text: str, limit: int | None = None) -> str:
    """Replace control, bidi and zero-width characters by visible ones; cut to `limit` characters.

    Line breaks become LF, a tab a space. A joiner stays between two letters or emoji that it can join.
    """
    text = text if limit is None else text[: 2 * limit + 2]
    if text.isascii() and text.isprintable() and (limit is None or len(text) <= limit):
        return text
    text = text.replace("\r\n", "\n").replace("\r", "\n").replace("\u2028", "\n").replace("\u2029", "\n")
    shown = _BEYOND_ASCII.sub(_visible, text).translate(_ASCII)
    return shown if limit is None or len(shown) <= limit else shown[: limit - 1] + CUT


def _visible(found: re.Match[str]) -> str:
    """One character beyond ASCII, as it may be shown where it stands."""
    character = found[0]
    if character in _JOINERS:
        return character if _joins(found.string, found.start()) else REPLACEMENT
    hidden = character in _BLANK_LETTERS or unicodedata.category(character) in ("Cc", "Cf", "Cs")
    return REPLACEMENT if hidden and character not in _DRAWN else character


def _joins(text: str, index: int) -> bool:
    """Emoji sequences and the scripts of India and Iran need joiners; elsewhere they only hide."""
    around = text[index - 1 : index] + text[index + 1 : index + 2]
    return len(around) == 2 and all(unicodedata.category(c) in ("Lo", "Mn", "Mc", "So", "Sk") for c in around)


def isolated(text: str) -> str:
    """With marks around it, which clean_text() lets nobody else set: its direction is its own."""
    return f"\u2068{text}\u2069"


def one_line(text: str) -> str:
    return " ".join(text.split())
