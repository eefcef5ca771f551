"""Settings that are secrets, given as files: what X would hold is in the file that X_FILE names.

Docker, Kubernetes and systemd hand secrets over like this. No message repeats what is in a file.
"""

import os
import stat
from collections.abc import Iterator, Mapping
from pathlib import Path

VARIABLES = (
    "SECRET_KEY",
    "SECRET_KEY_FALLBACKS",
    "DATABASE_URL",
    "REDIS_URL",
    "MRTR_CREDENTIAL_KEYS",
    "MRTR_EGRESS_PROXY",
    "MRTR_EMAIL_URL",
    "MRTR_METRICS_TOKEN",
    "MRTR_OIDC_CLIENT_SECRET",
)
MOST = 64 * 1024
"""Bytes of a file."""


class Unusable(Exception):
    """The file cannot be taken; the message says why."""


def read(environ: Mapping[str, str]) -> tuple[dict[str, str], dict[str, str]]:
    """The values by variable, and what is wrong, in words that name both, also by variable."""
    values, faults = dict[str, str](), dict[str, str]()
    given = {name.upper() for name, value in environ.items() if value}
    for variable, path in _named(environ):
        if variable in given:
            faults[variable] = f"{variable} and {variable}_FILE: give one of the two"
            continue
        try:
            values[variable] = _line(contents(path, MOST))
        except Unusable as error:
            faults[variable] = f"{variable}_FILE: {path or 'it'} {error}"
    return values, faults


def is_own(path: Path, environ: Mapping[str, str]) -> bool:
    """Whether this is one of the files that a secret of this app is read from."""
    return any(_is_same(path, own) for _, own in _named(environ))


def _named(environ: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    """Each variable whose value is in a file, and the path. Case counts as little as it does for other settings."""
    for name, path in environ.items():
        variable = name.upper().removesuffix("_FILE")
        if variable != name.upper() and variable in VARIABLES:
            yield variable, path


def contents(path: str, most: int) -> bytes:
    """What is in a file of so many bytes at most. Raises Unusable."""
    if not path:
        raise Unusable("names no file")
    try:
        with os.fdopen(os.open(path, os.O_RDONLY | os.O_NONBLOCK), "rb") as file:  # a pipe would be waited for
            is_regular = stat.S_ISREG(os.fstat(file.fileno()).st_mode)
            data = file.read(most + 1) if is_regular else b""
    except (OSError, ValueError) as error:
        raise Unusable(f"cannot be read ({getattr(error, 'strerror', None) or 'not a path'})") from None
    if not is_regular:
        raise Unusable("is not a regular file")
    if len(data) > most:
        raise Unusable(f"is larger than {most // 1024} KiB")
    return data


def _line(data: bytes) -> str:
    try:
        text = data.decode().removesuffix("\n").removesuffix("\r")
    except UnicodeDecodeError:
        raise Unusable("is not text in UTF-8") from None
    if not text.strip():
        raise Unusable("is empty")
    if not text.isprintable():
        raise Unusable("must hold one line of text")
    return text


def _is_same(path: Path, own: str) -> bool:
    try:
        return path.samefile(own)
    except (OSError, ValueError):
        return False
