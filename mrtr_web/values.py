"""What values of settings are made of: lists, lines and addresses."""

from typing import Annotated
from urllib.parse import SplitResult, urlsplit

from pydantic_settings import NoDecode

Names = Annotated[tuple[str, ...], NoDecode]
"""A comma separated list."""
LOOPBACK = ("localhost", "127.0.0.1", "::1")


def split_names(value: object) -> object:
    return tuple(filter(None, map(str.strip, value.split(",")))) if isinstance(value, str) else value


def one_line(value: str) -> str:
    """Raises ValueError where there is nothing, or more."""
    if not (value.isprintable() and value.strip()):
        raise ValueError("must be one line of text")
    return value.strip()


def in_parts(url: str) -> SplitResult:
    """An address in parts; empty ones where it is malformed. No error of the standard library, which may quote it."""
    try:
        found = urlsplit(url)
        return found if found.port != 0 else urlsplit("")
    except ValueError:
        return urlsplit("")
