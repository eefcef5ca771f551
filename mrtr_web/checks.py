"""Start-up checks: settings that would break a promise of the design. No message has a secret's value in it.

`manage.py` runs sound_settings() before every command; the ASGI entry runs both and does not start with an error.
"""

import multiprocessing
import os
import sys
from collections.abc import Iterator
from typing import Any

from django.conf import settings
from django.core import checks

from mrtr_web import logs
from mrtr_web.values import LOOPBACK

PLACEHOLDERS = ("django-insecure-", "changeme", "change-me", "your-secret")
FEWEST_CHARACTERS = 10
"""Different ones, in a key that can pass for random."""
FIRST = "mrtr_web.middleware.PagePolicy"
NEEDED = (
    FIRST,
    "django.middleware.security.SecurityMiddleware",
    "mrtr_web.sessions.SessionGate",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
)
"""In this order, with others between."""


def _error(number: int, words: str, hint: str = "") -> checks.Error:
    return checks.Error(words, hint=hint or None, id=f"mrtr_web.E{number:03}")


@checks.register(checks.Tags.security)
def sound_settings(**_: Any) -> list[checks.CheckMessage]:
    """What no command may run with."""
    found: list[checks.CheckMessage] = []
    if any(database.get("ATOMIC_REQUESTS") for database in settings.DATABASES.values()):
        found.append(_error(1, "ATOMIC_REQUESTS must be off.", "A leg is awaited in a request."))
    if len(settings.SECRET_KEY) < 50 or settings.SECRET_KEY.startswith("django-insecure-"):
        hint = "Use 50 random characters or more: it is the server's share of every record's key."
        found.append(_error(2, "SECRET_KEY is too short.", hint))
    return found


@checks.register(checks.Tags.security, deploy=True)
def sound_site(**_: Any) -> list[checks.CheckMessage]:
    """What no site may be served with."""
    return [*_keys(), *_place(), *_cookies(), *_proxy(), *_parts(), *_processes()]


def _keys() -> Iterator[checks.CheckMessage]:
    fallbacks = list(settings.SECRET_KEY_FALLBACKS)
    for name, key in [("SECRET_KEY", settings.SECRET_KEY), *(("SECRET_KEY_FALLBACKS", key) for key in fallbacks)]:
        if _is_guessable(key):
            yield _error(
                3, f"{name} is not random.", "Make one: python -c 'import secrets; print(secrets.token_urlsafe(64))'"
            )
    if settings.SECRET_KEY in fallbacks:
        yield _error(4, "SECRET_KEY is among SECRET_KEY_FALLBACKS.", "Only former keys belong there.")
    if {settings.SECRET_KEY, *fallbacks} & set(settings.CONFIG.credential_keys):
        yield _error(5, "SECRET_KEY is also in MRTR_CREDENTIAL_KEYS.", "Each seals something else: make one for each.")


def _is_guessable(key: str) -> bool:
    """Made up by a person: a placeholder, few characters, or one piece again and again."""
    repeats = key in (key + key)[1:-1]
    return repeats or len(set(key)) < FEWEST_CHARACTERS or any(word in key.lower() for word in PLACEHOLDERS)


def _place() -> Iterator[checks.CheckMessage]:
    if settings.DEBUG:
        yield _error(6, "DEBUG must be off.", "Its pages show what people type.")
    if not settings.ALLOWED_HOSTS:
        yield _error(7, "ALLOWED_HOSTS is empty.", "Name the hosts of this site, comma separated.")
    if "*" in settings.ALLOWED_HOSTS:
        yield _error(8, "ALLOWED_HOSTS must not be '*'.", "Links that people share are made from it.")
    elif settings.CONFIG.can_mail and any(host.startswith(".") for host in settings.ALLOWED_HOSTS):
        hint = "Whoever asks for a mail to somebody else chooses among them where its link leads: name each host."
        yield _error(8, "ALLOWED_HOSTS must not begin with a dot where mails are sent.", hint)
    public = [host for host in settings.CONFIG.allowed_hosts if not _is_loopback(host)]
    if settings.CONFIG.loopback_http and public:
        hint = "It takes Secure from cookies: leave it out where https is used, or name loopback hosts only."
        yield _error(9, f"MRTR_LOOPBACK_HTTP is on, and ALLOWED_HOSTS names {', '.join(public)}.", hint)


def _is_loopback(host: str) -> bool:
    return host.strip("[]") in LOOPBACK or host.endswith(".localhost")


def _cookies() -> Iterator[checks.CheckMessage]:
    secure = not settings.CONFIG.loopback_http
    for kind in ("SESSION", "CSRF", "LANGUAGE"):
        said = {
            part: getattr(settings, f"{kind}_COOKIE_{part}") for part in ("SECURE", "HTTPONLY", "SAMESITE", "DOMAIN")
        }
        sound = (not secure or said["SECURE"]) and said["HTTPONLY"] and said["SAMESITE"] in ("Lax", "Strict")
        if not sound or said["DOMAIN"] or getattr(settings, f"{kind}_COOKIE_PATH") != "/":
            yield _error(
                10, f"The settings of {kind}_COOKIE are not safe.", "Leave them as mrtr_web.settings has them."
            )
    for name in (
        "SESSION_COOKIE_NAME",
        "CSRF_COOKIE_NAME",
        "KEY_COOKIE_NAME",
        "LANGUAGE_COOKIE_NAME",
        "MESSAGE_COOKIE_NAME",
    ):
        if secure and not getattr(settings, name).startswith("__Host-"):
            yield _error(11, f"{name} must begin with __Host-.", "Else another host of the domain can set it.")
    if secure and not settings.SECURE_COOKIES:
        yield _error(10, "SECURE_COOKIES is off.", "Leave it as mrtr_web.settings has it.")
    if secure and not (settings.SECURE_SSL_REDIRECT and settings.SECURE_HSTS_SECONDS):
        yield _error(
            12, "SECURE_SSL_REDIRECT and SECURE_HSTS_SECONDS must be on.", "Without https use MRTR_LOOPBACK_HTTP."
        )


def _proxy() -> Iterator[checks.CheckMessage]:
    """uvicorn believes a proxy's X-Forwarded-Proto, from the addresses that it is told; nothing else is needed."""
    for name in ("SECURE_PROXY_SSL_HEADER", "USE_X_FORWARDED_HOST", "USE_X_FORWARDED_PORT", "CSRF_TRUSTED_ORIGINS"):
        if getattr(settings, name):
            yield _error(
                13, f"{name} must not be set.", "Any browser could send such a header, or any such site a form."
            )


def _parts() -> Iterator[checks.CheckMessage]:
    if settings.SESSION_ENGINE != "mrtr_web.sessions":
        yield _error(14, "SESSION_ENGINE must be mrtr_web.sessions.", "Sealed records hang below its rows.")
    chain = list(settings.MIDDLEWARE)
    there = [name for name in chain if name in NEEDED]
    if there != list(NEEDED) or chain[0] != FIRST:
        yield _error(15, "MIDDLEWARE lacks a part, or has it in another order.", f"Needed: {', '.join(NEEDED)}.")
    if settings.FILE_UPLOAD_HANDLERS != ["django.core.files.uploadhandler.MemoryFileUploadHandler"]:
        yield _error(16, "FILE_UPLOAD_HANDLERS must keep files in memory.", "What people send must not be on a disk.")


def _processes() -> Iterator[checks.CheckMessage]:
    several = multiprocessing.parent_process() is not None or os.environ.get("WEB_CONCURRENCY", "1") not in (
        "",
        "0",
        "1",
    )
    if several and str(settings.DATABASES["default"]["ENGINE"]).endswith("sqlite3"):
        hint = "SQLite is for one process: set DATABASE_URL to a PostgreSQL database."
        yield checks.Warning("Several processes share an SQLite database.", hint=hint, id="mrtr_web.W001")


def refuse_unsound() -> None:
    """Ends the process with one line for each error; warnings are only told."""
    found = checks.run_checks(tags=[checks.Tags.security], include_deployment_checks=True)
    ours = [each for each in found if each.is_serious() or str(each.id).startswith("mrtr_web.")]
    for each in ours:
        words = f"mrtr_web: {each.id}: {each.msg} {each.hint or ''}".rstrip()
        logs.tell(words, settings.CONFIG.log_format, each.level)
    if any(each.is_serious() for each in ours):
        sys.exit(1)
