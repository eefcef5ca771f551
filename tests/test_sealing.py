"""The envelope: opens with exactly the right things and with nothing else."""

import pytest

from mrtr_web.sealing import Sealed, bind, open_sealed, pepper, seal

SECRET = bytes(range(32))
PEPPER = pepper("server key")
AAD = bind("flow record", 7, "flow", 1)
BLOB = seal(b"secret text", secret=SECRET, pepper=PEPPER, aad=AAD)


def opened(
    blob: bytes = BLOB, secret: bytes = SECRET, peppers: tuple[bytes, ...] = (PEPPER,), aad: bytes = AAD
) -> bytes:
    return open_sealed(blob, secret=secret, peppers=peppers, aad=aad)


def test_what_was_sealed_opens() -> None:
    assert opened() == b"secret text"


def test_empty_and_large_texts_open() -> None:
    for text in (b"", b"x" * 1_000_000):
        assert opened(seal(text, secret=SECRET, pepper=PEPPER, aad=AAD)) == text


def test_every_flipped_byte_is_refused() -> None:
    for place in range(len(BLOB)):
        flipped = bytearray(BLOB)
        flipped[place] ^= 1
        with pytest.raises(Sealed):
            opened(bytes(flipped))


@pytest.mark.parametrize("cut", [0, 1, 3, 35, 67, 82, -1])
def test_a_truncated_blob_is_refused(cut: int) -> None:
    with pytest.raises(Sealed):
        opened(BLOB[:cut])


def test_another_cookie_is_refused() -> None:
    with pytest.raises(Sealed):
        opened(secret=bytes(32))
    with pytest.raises(Sealed):
        opened(secret=SECRET[:-1])


def test_another_pepper_is_refused_and_a_fallback_opens() -> None:
    other = pepper("new server key")
    with pytest.raises(Sealed):
        opened(peppers=(other,))
    assert opened(peppers=(other, PEPPER)) == b"secret text"


def test_another_context_is_refused() -> None:
    with pytest.raises(Sealed):
        opened(aad=bind("flow record", 7, "flow", 2))


def test_parts_of_the_context_cannot_run_into_each_other() -> None:
    assert bind("ab", "c") != bind("a", "bc") != bind("abc")


def test_two_envelopes_of_one_text_share_nothing() -> None:
    again = seal(b"secret text", secret=SECRET, pepper=PEPPER, aad=AAD)
    assert again[3:35] != BLOB[3:35] and again[67:] != BLOB[67:]


def test_the_error_says_nothing_of_the_reason() -> None:
    messages = set()
    for blob, secret in ((BLOB[:-1], SECRET), (b"", SECRET), (BLOB, bytes(32))):
        with pytest.raises(Sealed) as caught:
            opened(blob, secret)
        messages.add(str(caught.value))
    assert len(messages) == 1
