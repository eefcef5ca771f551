"""The site as people reach it: through the proxy, at its public address. Nobody signs in for it."""

import base64
import os
import socket
import ssl
import time
from collections.abc import Iterator
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from urllib.parse import urlsplit

import httpx2
from django.conf import settings

from mrtr_web.doctor.finding import Finding, doubt, fault, skew, well
from mrtr_web.policies import EVERYWHERE

PATIENCE = 10.0
"""Seconds."""
NOTABLE_DAYS = 14
FORWARDED = "Let the proxy send X-Forwarded-Proto: https, and name its address in uvicorn's --forwarded-allow-ips"
HEALTH = {
    301: f"the app believes that it was asked by http. {FORWARDED}",
    400: "the app does not know the host. Let the proxy pass on Host, or put the name into ALLOWED_HOSTS",
    **dict.fromkeys((502, 503, 504), "the proxy does not reach the app. Start it, or put the proxy's target right"),
}


def look(url: str) -> Iterator[Finding]:
    """`url`: scheme and host of the site."""
    if not url.startswith("https:") and not settings.CONFIG.loopback_http:
        yield fault("https", "this is not an https address. People must reach the site by https")
        return
    with httpx2.Client(verify=settings.CONFIG.trust, trust_env=False, timeout=PATIENCE) as client:
        try:
            yield from _look(client, url)
        except httpx2.HTTPError as error:
            yield fault("proxy", _unreached(error))


def _look(client: httpx2.Client, url: str) -> Iterator[Finding]:
    health = client.get(f"{url}/healthz")
    if health.status_code != 200 or health.text != "ok":
        other = f"/healthz is answered with {health.status_code}, not by this app. Put the proxy's target right"
        yield fault("proxy", HEALTH.get(health.status_code, other))
        return
    yield well("proxy", f"{url}/healthz is answered by the app")
    login = client.get(f"{url}/accounts/login/")
    yield _cookies(login)
    if url.startswith("https:"):
        yield _strict(login)
        yield _certificate(url)
    yield _upgrade(client, url)
    yield _date(login)


def _unreached(error: httpx2.HTTPError) -> str:
    cause: BaseException | None = error
    while cause is not None:
        if isinstance(cause, ssl.SSLCertVerificationError):
            return (
                "its certificate is not accepted. Renew it, send the whole chain, or name its authority in MRTR_CA_FILE"
            )
        if isinstance(cause, ssl.SSLError):
            return "TLS fails. Does the proxy end https at this port?"
        cause = cause.__cause__ or cause.__context__
    return f"the address is not reached ({type(error).__name__}). Look at its DNS, and at the proxy"


def _cookies(login: httpx2.Response) -> Finding:
    """As the app sets them: a proxy may rewrite them."""
    if login.status_code != 200:
        return fault("cookies", f"the sign-in page is answered with {login.status_code}. Look at the app's log")
    found = [_parts(line) for line in login.headers.get_list("set-cookie")]
    if settings.CSRF_COOKIE_NAME not in [name for name, _ in found]:
        return fault("cookies", f"{settings.CSRF_COOKIE_NAME} is missing. Let the proxy pass on Set-Cookie unchanged")
    for name, said in found:
        is_bound = name.startswith("__Host-") and {"secure", "path=/"} <= said
        if settings.SECURE_COOKIES and (not is_bound or any(each.startswith("domain=") for each in said)):
            return fault(
                "cookies", f"{name} lacks __Host-, Secure or Path=/. Let the proxy pass on Set-Cookie unchanged"
            )
    return well("cookies", ", ".join(name for name, _ in found))


def _parts(line: str) -> tuple[str, set[str]]:
    pair, *attributes = line.split(";")
    return pair.partition("=")[0].strip(), {each.strip().lower() for each in attributes}


def _strict(login: httpx2.Response) -> Finding:
    said = login.headers.get("strict-transport-security", "")
    ages = [part.partition("=")[2].strip('" ') for part in said.split(";") if part.strip().startswith("max-age")]
    if not any(age.isdecimal() and int(age) > 0 for age in ages):
        return fault("HSTS", f"Strict-Transport-Security is missing or off. {FORWARDED}")
    return well("HSTS", said)


def _certificate(url: str) -> Finding:
    """How long it still counts: who renews it may have stopped doing so."""
    parts = urlsplit(url)
    host = parts.hostname or ""
    with (
        socket.create_connection((host, parts.port or 443), PATIENCE) as plain,
        settings.CONFIG.trust.wrap_socket(plain, server_hostname=host) as there,
    ):
        found = there.getpeercert() or {}
    days = (ssl.cert_time_to_seconds(str(found["notAfter"])) - time.time()) / 86400
    words = f"the certificate counts for {days:.0f} more days"
    if days >= NOTABLE_DAYS:
        return well("certificate", words)
    return doubt("certificate", f"{words}. Look at what renews it")


def _upgrade(client: httpx2.Client, url: str) -> Finding:
    """Whoever is not signed in is refused by the app with 403 and its own headers."""
    headers = {
        "Connection": "Upgrade",
        "Upgrade": "websocket",
        "Sec-WebSocket-Version": "13",
        "Sec-WebSocket-Key": base64.b64encode(os.urandom(16)).decode(),
        "Origin": url,
    }
    answer = client.get(f"{url}/ws/review/", headers=headers)
    is_ours = answer.headers.get("content-security-policy") == EVERYWHERE["Content-Security-Policy"]
    if answer.status_code == 403 and is_ours:
        return well("WebSocket", "the upgrade reaches the app")
    words = f"the upgrade is answered with {answer.status_code}, so pages poll. "
    return fault("WebSocket", f"{words}Let the proxy pass on Upgrade and Connection on /ws/, by HTTP/1.1")


def _date(login: httpx2.Response) -> Finding:
    try:
        seen = parsedate_to_datetime(login.headers.get("date", ""))
    except ValueError:
        return doubt("clock", "the site sends no Date")
    ours = datetime.now(UTC)
    theirs = seen if seen.tzinfo else seen.replace(tzinfo=UTC)
    return skew("clock", (theirs - ours).total_seconds(), "the site's clock")
