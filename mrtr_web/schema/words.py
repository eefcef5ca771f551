"""What the words of a property say about it: is it a secret, a long text, a person's name."""

import re
from collections.abc import Iterable

_WORD = re.compile(r"[^\W\d_]+")
_CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")

_SECRETS = (
    "password passwd passwort kennwort passphrase passcode pwd contraseña senha wachtwoord hasło пароль "
    "secret secrets token apikey apitoken accesskey privatekey credential credentials otp cvv cvc cvv2 pin"
)
_SECRET_WORDS = frozenset(_SECRETS.split())
_SECRET_PAIRS = frozenset(
    tuple(pair.split())
    for pair in (
        "api key",
        "access token",
        "api token",
        "access key",
        "secret key",
        "private key",
        "card number",
        "credit card",
        "debit card",
        "security code",
        "pass phrase",
        "verification code",
        "mot de passe",
    )
)
_COUNTED = frozenset({"token", "secret", "secrets", "credential", "credentials"})
_LOOSE = _COUNTED | {"pin", "otp"}
_SECRET_WORDS |= {f"{word}s" for word in _SECRET_WORDS - _LOOSE if word.isascii()}
_LONG = (
    "message messages text body content contents comment comments description notes note prompt summary "
    "details instructions bio biography feedback markdown html sql paragraph letter multiline textarea "
    "json yaml xml script story review explanation"
)
_LONG_WORDS = frozenset(_LONG.split())


def words(text: str) -> tuple[str, ...]:
    """The words of a name or sentence, in lower case: apiKey, api_key and "API key" give the same two."""
    return tuple(word.lower() for word in _WORD.findall(_CAMEL.sub(" ", text)))


def sounds_secret(names: Iterable[str], description: str, *, number: bool = False) -> bool:
    """Whole words only, so that a secretary is none. A number of tokens is a count, not a token.

    In a sentence, words such as "token" or "pin" mean too many other things.
    """
    in_names = _SECRET_WORDS - _COUNTED if number else _SECRET_WORDS
    return any(_holds_secret(words(name), in_names) for name in names) or _holds_secret(
        words(description), _SECRET_WORDS - _LOOSE
    )


def _holds_secret(found: tuple[str, ...], secrets: frozenset[str]) -> bool:
    pairs = {found[i : i + size] for size in (2, 3) for i in range(len(found))}
    return not secrets.isdisjoint(found) or not _SECRET_PAIRS.isdisjoint(pairs)


def sounds_long(texts: Iterable[str]) -> bool:
    return any(not _LONG_WORDS.isdisjoint(words(text)) for text in texts)


_AUTOCOMPLETE = {
    ("name",): "name",
    ("full", "name"): "name",
    ("your", "name"): "name",
    ("first", "name"): "given-name",
    ("given", "name"): "given-name",
    ("last", "name"): "family-name",
    ("family", "name"): "family-name",
    ("surname",): "family-name",
    ("email",): "email",
    ("e", "mail"): "email",
    ("email", "address"): "email",
    ("phone",): "tel",
    ("phone", "number"): "tel",
    ("telephone",): "tel",
    ("telephone", "number"): "tel",
    ("mobile",): "tel",
    ("mobile", "number"): "tel",
}


def autocomplete(key: str, title: str) -> str:
    """The browser's own name for what is asked (WCAG 1.3.5), or "" where the words do not say."""
    return _AUTOCOMPLETE.get(words(key)) or _AUTOCOMPLETE.get(words(title)) or ""
