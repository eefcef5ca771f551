"""What goes to a server to be let in: nothing, a bearer token, headers, or a token that each person has of their own.

The first three are the server's, typed in, or from a variable or a file; of a server that people sign in to, so is
the client that an admin has had registered for it.

It is bound to the origin that it was given for and goes to no other. Where one is set up but cannot be had, no
request goes without it: headers() is None. Nothing here puts a secret into an exception, a log or a page.
"""

import os
import re
import stat
from pathlib import Path

from django.conf import settings
from django.utils.translation import gettext as _

from mrtr_web import clientlines, headerlines, keyring, secretfiles, tokens
from mrtr_web.egress import origin_of
from mrtr_web.headerlines import Malformed
from mrtr_web.models import Server

MAX_FILE = 64 * 1024
_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*\Z")
_OWN = frozenset(("SECRET_KEY", "SECRET_KEY_FALLBACKS", "DATABASE_URL", "REDIS_URL"))
_OWN_PREFIXES = ("MRTR_", "PG", "DJANGO_")
"""Of variables that this app, its framework and its database's client read."""


class Unavailable(Exception):
    """The credential cannot be had; the message says why, for admins."""


def headers(server: Server, user: int = 0) -> dict[str, str] | None:
    """The headers for every request of this person to this server. None: there is a credential that cannot be had.

    Whoever has still to sign in sends none: the server then says what it asks for (AZ-1). `user` 0 is nobody.
    """
    try:
        return _headers(server, user)
    except Unavailable:
        return None


def client(server: Server) -> clientlines.Given | None:
    """The client that an admin has had registered for a server that people sign in to. Raises Unavailable."""
    if server.credential_source == "form" and server.credential_sealed is None:
        return None
    _check_origin(server)
    try:
        return clientlines.read(_text(server))
    except Malformed as error:
        raise Unavailable(str(error)) from None


def trouble(server: Server) -> str:
    """Why the credential cannot be had; "" where it can, or where there is none."""
    try:
        if not server.asks_each:
            _headers(server, 0)
        elif not keyring.is_set():
            raise Unavailable(_("MRTR_CREDENTIAL_KEYS is empty, so people's tokens cannot be kept."))
        elif server.credential_kind == "oauth":
            client(server)
    except Unavailable as error:
        return str(error)
    return ""


def typed(server: Server) -> str | None:
    """What was typed in, if it can be opened and is for the address as it is now."""
    try:
        _check_origin(server)
        return _unsealed(server).strip()
    except Unavailable:
        return None


def give(server: Server, kind: str, text: str) -> None:
    """Seal a credential for the origin of the server's URL. The row, which has its id, is saved by the caller.

    Without a text, where each person has their own, there is nothing to seal. Raises Malformed, keyring.NoKeys.
    """
    check(kind, text)
    origin = origin_of(server.url)
    server.credential_sealed = keyring.seal(text, "credential", server.pk, origin) if text else None
    server.credential_kind, server.credential_source, server.credential_ref = kind, "form", ""
    server.credential_origin, server.client_issuer = origin, ""


def check(kind: str, text: str) -> None:
    """Whether a text can be this kind of credential. Raises Malformed."""
    if kind in ("bearer", "headers"):
        headerlines.read(kind, text)
    elif kind == "oauth" and text:
        clientlines.read(text)
    elif text:
        raise Malformed(_("Each person gives a token of their own: there is none for all."))


def refer(server: Server, kind: str, source: str, ref: str) -> None:
    """Take the credential from a variable or a file each time, for the origin of the server's URL. Raises Malformed."""
    if why := fault(source, ref):
        raise Malformed(why)
    server.credential_kind, server.credential_source, server.credential_ref = kind, source, ref
    server.credential_sealed, server.credential_origin, server.client_issuer = None, origin_of(server.url), ""


def drop(server: Server) -> None:
    server.credential_kind, server.credential_source, server.credential_ref = "none", "form", ""
    server.credential_sealed, server.credential_origin, server.client_issuer = None, "", ""


def drop_if_moved(server: Server) -> bool:
    """Drop what the server was given for another origin than its URL has now. Whether there was something.

    That each person has their own goes on at the new address.
    """
    moved = server.credential_kind != "none" and server.credential_origin != origin_of(server.url)
    if not moved:
        return False
    if not server.asks_each:
        drop(server)
        return True
    had_client = server.credential_sealed is not None or server.credential_source != "form"
    give(server, server.credential_kind, "")
    return had_client


def fault(source: str, ref: str) -> str:
    """Why this variable or file may not be a source; "" where it may, whether it is there or not."""
    if source == "env":
        if not _VARIABLE.match(ref):
            return _("This is not the name of an environment variable.")
        if ref.upper() in _OWN or ref.upper().startswith(_OWN_PREFIXES):
            return _("This variable holds a secret of this app itself, which is never sent to a server.")
        return ""
    path = _path(ref)
    if path is None:
        return _("This is not the name of a file inside the directory of MRTR_CREDENTIAL_DIR.")
    if secretfiles.is_own(path, os.environ):
        return _("This file holds a secret of this app itself, which is never sent to a server.")
    return ""


def _headers(server: Server, user: int) -> dict[str, str]:
    if server.credential_kind == "none":
        return {}
    if server.asks_each:
        return _own(server, user)
    _check_origin(server)
    try:
        return headerlines.read(server.credential_kind, _text(server))
    except Malformed as error:
        raise Unavailable(str(error)) from None


def _own(server: Server, user: int) -> dict[str, str]:
    """Of one person; none is an error where they could not sign in when they are asked to."""
    if token := tokens.access(server, user):
        return {"Authorization": f"Bearer {token}"}
    if server.credential_kind == "each":
        raise Unavailable(_("There is none yet of this person."))
    return {}


def _check_origin(server: Server) -> None:
    if not server.credential_origin or origin_of(server.url) != server.credential_origin:
        raise Unavailable(_("It was given for another address."))


def _text(server: Server) -> str:
    if server.credential_source == "form":
        return _unsealed(server)
    if why := fault(server.credential_source, server.credential_ref):
        raise Unavailable(why)
    if server.credential_source == "file":
        return _file(server.credential_ref)
    text = os.environ.get(server.credential_ref, "")
    if not text.strip():
        raise Unavailable(_("The environment variable is not set, or empty."))
    return text


def _unsealed(server: Server) -> str:
    blob = bytes(server.credential_sealed or b"")
    try:
        return keyring.open(blob, "credential", server.pk, server.credential_origin).decode()
    except keyring.NoKeys:
        raise Unavailable(_("MRTR_CREDENTIAL_KEYS is empty, so it cannot be opened.")) from None
    except keyring.Locked:
        raise Unavailable(_("No key of MRTR_CREDENTIAL_KEYS opens it. Type it in again.")) from None


def _path(ref: str) -> Path | None:
    """Where a file of the directory is in truth, links followed; None where that is outside."""
    base = Path(settings.CONFIG.credential_dir).resolve()
    try:
        path = (base / ref).resolve()
    except (OSError, ValueError, RuntimeError):
        return None
    return path if ref and path != base and path.is_relative_to(base) else None


def _file(ref: str) -> str:
    path = _path(ref)
    assert path is not None
    try:
        with os.fdopen(os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK), "rb") as file:
            data = file.read(MAX_FILE + 1) if stat.S_ISREG(os.fstat(file.fileno()).st_mode) else b""
            text = data.decode()
    except OSError:
        raise Unavailable(_("The file cannot be read.")) from None
    except UnicodeDecodeError:
        raise Unavailable(_("The file is not text.")) from None
    if not text.strip() or len(data) > MAX_FILE:
        raise Unavailable(_("The file is empty, too big, or not a regular file."))
    return text
