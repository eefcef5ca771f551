"""The envelope: seal and open bytes under a key that only a browser holds.

blob = "MR1" || salt (32) || commitment (32) || AES-256-GCM(key, nonce 0, plaintext, AAD)

key || commitment = HKDF-SHA256(secret || pepper, salt, info || SHA-256(AAD)). The salt is random for each
envelope, so each key is used once and a fixed nonce is safe. The commitment stops a blob from opening
under two keys. The pepper comes from SECRET_KEY: a stolen cookie and a stolen database are not enough.
Whatever is wrong, the answer is the same: Sealed.
"""

import hashlib
import hmac
import os
import struct
from collections.abc import Sequence

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.kdf.hkdf import HKDF

SECRET_BYTES = 32
_MAGIC = b"MR1"
_SALT = slice(3, 35)
_COMMITMENT = slice(35, 67)
_BODY = slice(67, None)
_TAG_BYTES = 16
_NONCE = bytes(12)
_INFO = b"mrtr_web/envelope/v1"


class Sealed(Exception):
    """The envelope does not open."""

    def __init__(self) -> None:
        super().__init__("the envelope does not open")


def pepper(server_key: str) -> bytes:
    """The server's share of every envelope key."""
    return hashlib.sha256(b"mrtr_web/pepper/v1" + server_key.encode()).digest()


def bind(*parts: str | int) -> bytes:
    """Additional authenticated data: length-prefixed, so that no two lists of parts read the same."""
    encoded = [str(part).encode() for part in parts]
    return _MAGIC + b"".join(struct.pack(">I", len(part)) + part for part in encoded)


def seal(plaintext: bytes, *, secret: bytes, pepper: bytes, aad: bytes) -> bytes:
    """Seal under the browser's secret and the server's pepper, bound to `aad`."""
    salt = os.urandom(32)
    key, commitment = _derive(secret, pepper, salt, aad)
    return _MAGIC + salt + commitment + AESGCM(key).encrypt(_NONCE, plaintext, aad)


def open_sealed(blob: bytes, *, secret: bytes, peppers: Sequence[bytes], aad: bytes) -> bytes:
    """The plaintext. `peppers` are tried in turn, the current one first. Raises Sealed for anything wrong."""
    if len(blob) < _BODY.start + _TAG_BYTES or not blob.startswith(_MAGIC) or len(secret) != SECRET_BYTES:
        raise Sealed
    for pepper in peppers:
        key, commitment = _derive(secret, pepper, blob[_SALT], aad)
        if hmac.compare_digest(commitment, blob[_COMMITMENT]):
            return _decrypt(key, blob[_BODY], aad)
    raise Sealed


def _derive(secret: bytes, pepper: bytes, salt: bytes, aad: bytes) -> tuple[bytes, bytes]:
    hkdf = HKDF(hashes.SHA256(), length=64, salt=salt, info=_INFO + hashlib.sha256(aad).digest())
    okm = hkdf.derive(secret + pepper)
    return okm[:32], okm[32:]


def _decrypt(key: bytes, body: bytes, aad: bytes) -> bytes:
    try:
        return AESGCM(key).decrypt(_NONCE, body, aad)
    except InvalidTag:
        raise Sealed from None
