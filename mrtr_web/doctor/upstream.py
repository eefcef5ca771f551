"""What is kept for servers, and whether each of them answers."""

import asyncio
import socket
import ssl
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

from asgiref.sync import sync_to_async
from django.conf import settings
from django.db import connections

from mrtr_web import credentials, egress, keyring, probe, sealedrows
from mrtr_web.doctor.finding import Finding, doubt, fault, well
from mrtr_web.models import Server

PATIENCE = 5.0
"""Seconds, to reach the forward proxy."""
AT_ONCE = 16
MOST_NAMED = 5


def proxy() -> Iterator[Finding]:
    """Whether the forward proxy is there; nothing where there is none."""
    found = settings.CONFIG.proxy
    if found is None:
        return
    place = f"{found.host}:{found.port}"
    try:
        with socket.create_connection((found.host, found.port), PATIENCE) as plain:
            if found.is_tls:
                settings.CONFIG.trust.wrap_socket(plain, server_hostname=found.host).close()
    except ssl.SSLError:
        words = "TLS fails. Is MRTR_EGRESS_PROXY http:// or https://, and does MRTR_CA_FILE name its authority?"
        yield fault("egress proxy", f"{place}: {words}")
    except OSError as error:
        words = f"{place} is not reached ({type(error).__name__}). Start it, or put MRTR_EGRESS_PROXY right"
        yield fault("egress proxy", words)
    else:
        yield well("egress proxy", f"{place} is there; where it leads, the servers show")


def kept() -> Iterator[Finding]:
    """Whether all that is sealed can be opened, and what comes from variables and files can be had."""
    count, locked = 0, list[str]()
    for row, column, binding, what in sealedrows.all_of_them():
        count += 1
        if not _opens(bytes(getattr(row, column)), binding):
            locked.append(what)
    yield _ring(count, locked)
    for server in Server.objects.filter(enabled=True).order_by("slug"):
        is_sealed = server.credential_source == "form" and not server.asks_each
        if not is_sealed and (why := credentials.trouble(server)):
            yield fault("credentials", f"{server.slug}: {why} Set it, or change it on the server's admin page")


def _opens(blob: bytes, binding: tuple[str | int, ...]) -> bool:
    try:
        keyring.open(blob, *binding)
    except (keyring.NoKeys, keyring.Locked):
        return False
    return True


def _ring(count: int, locked: list[str]) -> Finding:
    if not locked:
        keys = len(settings.CONFIG.credential_keys)
        if not keys:
            return doubt("credentials", "MRTR_CREDENTIAL_KEYS is empty: no credential can be typed in, no token kept")
        return well("credentials", f"{count} are sealed, and the {keys} keys of the ring open them")
    named = "; ".join(locked[:MOST_NAMED]) + ("; …" if len(locked) > MOST_NAMED else "")
    words = f"{len(locked)} of {count} cannot be opened ({named}). Put the key that sealed them back into "
    return fault("credentials", f"{words}MRTR_CREDENTIAL_KEYS, or have them given again")


def servers() -> Iterator[Finding]:
    """Each that is switched on, asked as "Test connection" does, many at once."""
    rows = list(Server.objects.filter(enabled=True).order_by("slug"))
    connections.close_all()
    if not rows:
        yield doubt("servers", "none is switched on: register one with manage.py addserver")
        return
    yield from asyncio.run(_ask(rows))


async def _ask(rows: list[Server]) -> list[Finding]:
    """On one loop, so that the connections to servers can be closed at the end."""
    try:
        with ThreadPoolExecutor(AT_ONCE) as pool:
            asking = sync_to_async(_asked, thread_sensitive=False, executor=pool)
            return await asyncio.gather(*map(asking, rows))
    finally:
        await egress.aclose()


def _asked(server: Server) -> Finding:
    place = f"server {server.slug}"
    try:
        report = probe.probe(server, None)
    except Exception as error:  # one server must not hide the others; texts may hold addresses
        return fault(place, f"asking it went wrong ({type(error).__name__}). Test it on its admin page")
    finally:
        connections.close_all()
    return (well if report.reachable else fault)(place, report.words)
