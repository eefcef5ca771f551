"""The server's own key ring: seals what must outlive sessions, under MRTR_CREDENTIAL_KEYS. The first key is current.

What it seals is bound to its purpose, and to what it belongs to: ("credential", server id, origin) and
("messages", flow id, round). A former key opens until everything was resealed (manage.py rotatekeys).
"""

import hashlib

from django.conf import settings

from mrtr_web import sealing

_PEPPER = b""  # not the one of SECRET_KEY: the two are rotated each on its own


class NoKeys(Exception):
    """MRTR_CREDENTIAL_KEYS is empty."""

    def __init__(self) -> None:
        super().__init__("MRTR_CREDENTIAL_KEYS is empty")


class Locked(Exception):
    """None of the keys opens this, or it belongs to something else."""

    def __init__(self) -> None:
        super().__init__("no key of the key ring opens this")


def is_set() -> bool:
    return bool(settings.CONFIG.credential_keys)


def seal(plaintext: str | bytes, *binding: str | int) -> bytes:
    """Seal under the current key. Raises NoKeys."""
    data = plaintext.encode() if isinstance(plaintext, str) else plaintext
    return sealing.seal(data, secret=_secrets()[0], pepper=_PEPPER, aad=sealing.bind(*binding))


def open(blob: bytes, *binding: str | int) -> bytes:
    """What was sealed with this binding under any of the keys. Raises NoKeys, Locked."""
    return _open(blob, binding)[0]


def reseal(blob: bytes, *binding: str | int) -> bytes | None:
    """The same under the current key; None where it is under that already. Raises NoKeys, Locked."""
    plaintext, is_current = _open(blob, binding)
    return None if is_current else seal(plaintext, *binding)


def _open(blob: bytes, binding: tuple[str | int, ...]) -> tuple[bytes, bool]:
    for number, secret in enumerate(_secrets()):
        try:
            found = sealing.open_sealed(blob, secret=secret, peppers=(_PEPPER,), aad=sealing.bind(*binding))
        except sealing.Sealed:
            continue
        return found, number == 0
    raise Locked


def _secrets() -> list[bytes]:
    if not is_set():
        raise NoKeys
    return [hashlib.sha256(b"mrtr_web/keyring/v1" + key.encode()).digest() for key in settings.CONFIG.credential_keys]
