"""What every answer says to the browser, over all routes: exact values, so that a new route cannot miss one."""

import http.client
import re
import uuid
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
from django.contrib.auth.models import User
from django.test import Client
from pytest_django import Settings
from websockets.exceptions import InvalidStatus
from websockets.sync.client import connect

from mrtr_web.models import Server
from tests import routes
from tests.desk import asks, desk
from tests.offers import store, tool
from tests.person import Person
from tests.processes import Process, serving
from tests.reviewers import admitted, flow_of, looking, reviewer_of
from tests.servers import BOUND
from tests.test_result_pages import PNG, coded, finish, giving

pytestmark = pytest.mark.django_db(transaction=True)

ADMIN = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; media-src 'self'; connect-src 'self'; "
    "form-action 'self'; base-uri 'none'; frame-ancestors 'none'; object-src 'none'"
)
PAGE = ADMIN + "; require-trusted-types-for 'script'; trusted-types 'none'"
CONTENT = "default-src 'none'; frame-ancestors 'none'; sandbox"
HEADERS = {
    "cache-control": "no-store",
    "content-security-policy": PAGE,
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "referrer-policy": "same-origin",
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
}
HSTS = "max-age=31536000; includeSubDomains; preload"
ODD = ("OPTIONS", "TRACE", "PUT")
HOST = "mrtr.example"


def wrong(path: str, headers: Mapping[str, str], **changes: str) -> dict[str, str | None]:
    """What an answer does not say as it should; `changes`: header names with underscores."""
    admin = {"content-security-policy": ADMIN} if path.startswith("/admin/") else {}
    wanted = HEADERS | admin | {name.replace("_", "-"): value for name, value in changes.items()}
    said = {name.lower(): value for name, value in headers.items()}
    found = {name: said.get(name) for name, value in wanted.items() if said.get(name) != value}
    if not re.search(
        r"camera=\(\), .*xr-spatial-tracking=\(\), clipboard-write=\(self\), unload=\(self\)$",
        said.get("permissions-policy", ""),
    ):
        found["permissions-policy"] = said.get("permissions-policy")
    return found


@pytest.fixture
def people(alice: User, server: Server, settings: Settings) -> dict[str, Client]:
    """Everybody who may come by, over https as in production."""
    settings.SECURE_HSTS_SECONDS = 365 * 24 * 3600
    settings.SECURE_HSTS_INCLUDE_SUBDOMAINS = settings.SECURE_HSTS_PRELOAD = settings.SECURE_SSL_REDIRECT = True
    store(server, tools=[tool("ask")], prompts=[{"name": "ask"}], resources=[{"uri": "a://b", "name": "b"}])
    admitted(alice, server)
    rita = reviewer_of("rita", server, may=("switch_server", "end_sessions"))
    root = User.objects.create_superuser("root")
    return {"anonymous": Client()} | {user.username: looking(user) for user in (alice, rita, root)}


@pytest.mark.parametrize("method", ["GET", "POST", "HEAD", *ODD])
def test_every_route_says_it_to_everybody(people: dict[str, Client], alice: User, server: Server, method: str) -> None:
    flow = flow_of(alice, server)
    for path in routes.paths(flow.pk, "demo", server.pk):
        for who, client in people.items():
            if path.startswith("/admin/") and (who == "rita" or method not in ("GET", "POST")):
                continue  # as alice; as elsewhere
            cookies = dict(client.cookies)
            response = client.generic(method, path, secure=True)
            client.cookies.update(cookies)
            wanted = (
                {} if method in ODD else {"strict_transport_security": HSTS}
            )  # for odd ones it is added further out
            assert wrong(path, response.headers, **wanted) == {}, (who, path)
            assert response.status_code < 500 or path == "/readyz", (who, path, response.status_code)
            if method in ODD:
                assert (response.status_code, response.headers["Allow"]) == (405, "GET, HEAD, POST"), path
            if response.status_code == 405 and method != "HEAD":
                assert b"This cannot be opened like that" in response.content, path


def test_http_is_led_to_https_with_the_headers(people: dict[str, Client], server: Server) -> None:
    for path in ("/", "/flows/", "/admin/", "//evil.example/x"):
        response = people["alice"].get(path)
        assert response.status_code == 301
        assert urlsplit(response.headers["Location"])[:2] == ("https", "testserver")
        assert wrong(path, response.headers) == {}


@pytest.mark.parametrize(
    "host", ["evil.example", "testserver.evil.example", "a@testserver", "testserver,evil", "", "["]
)
def test_a_host_that_is_not_ours_is_refused_with_the_headers(people: dict[str, Client], host: str) -> None:
    for client in people.values():
        for path in ("/", "/flows/", "/admin/", "/accounts/login/"):
            response = client.get(path, secure=True, headers={"host": host})
            assert (response.status_code, wrong(path, response.headers)) == (400, {}), path
            assert b"evil" not in response.content


def test_no_forwarded_host_is_believed(person: Person, server: Server) -> None:
    spoofed = {"X-Forwarded-Host": "evil.example", "Forwarded": "host=evil.example", "X-Host": "evil.example"}
    person.client.headers.update(spoofed)
    with desk(server, asks()):
        for path in ("/", "/s/demo/tools/ask/", "/connections/", "/flows", "/oauth/callback/"):
            page = person.get(path)
            assert "evil.example" not in page.response.text + str(page.response.headers)
            assert page.response.url.host == "127.0.0.1"


def raw(base: str, request: bytes) -> tuple[int, dict[str, str], bytes]:
    """Send these bytes; the answer."""
    parts = urlsplit(base)
    connection = http.client.HTTPConnection(parts.hostname or "", parts.port, timeout=BOUND)
    connection.connect()
    connection.sock.sendall(request)
    answer = http.client.HTTPResponse(connection.sock)
    answer.begin()
    found = answer.status, {name.lower(): value for name, value in answer.getheaders()}, answer.read(100_000)
    connection.close()
    return found


def test_answers_that_django_never_sees_say_it_too(app: str, settings: Settings) -> None:
    host = f"Host: {urlsplit(app).netloc}\r\nConnection: close\r\n"
    form = "Content-Type: application/x-www-form-urlencoded"
    size = settings.CONFIG.max_request_bytes + 1
    odd = {
        "POST / HTTP/1.1\r\nContent-Type: text/plain; charset=utf-7\r\nContent-Length: 0": 400,
        f"POST / HTTP/1.1\r\n{form}\r\nContent-Length: {size}": 413,
        "GET /static/js/nothing.js HTTP/1.1": 404,
        "GET /%ff%fe HTTP/1.1": 404,
        "TRACE / HTTP/1.1\r\nX-Canary: canary": 405,
        "PROPFIND /flows/ HTTP/1.1": 405,
        "GET /accounts/logout/ HTTP/1.1": 405,
        "GET / HTTP/1.1\r\nHost: evil.example": 400,
        "GET http://evil.example/ HTTP/1.1": 302,
        f"POST /accounts/login/ HTTP/1.1\r\n{form}\r\nOrigin: https://evil.example\r\nContent-Length: 0": 403,
    }
    for start, wanted in odd.items():
        body = b"x" * size if wanted == 413 else b""
        status, headers, content = raw(app, f"{start}\r\n{host}\r\n".encode() + body)
        assert int(headers.get("content-length", len(content))) == len(content) > 0 or wanted == 302, start
        assert (status, wrong("/", headers)) == (wanted, {}), start
        assert b"canary" not in content
        assert "evil" not in headers.get("location", "")


def test_static_files_are_kept_for_a_moment_and_say_the_rest(app: str) -> None:
    host = f"Host: {urlsplit(app).netloc}\r\nConnection: close\r\n"
    for method, wanted in {"GET": 200, "HEAD": 200, "POST": 405}.items():
        start = f"{method} /static/js/main.js HTTP/1.1\r\nContent-Length: 0\r\n{host}\r\n"
        status, headers, _ = raw(app, start.encode())
        kept = "max-age=300" if wanted == 200 else "no-store"
        said = wrong("/", headers, cache_control=kept)
        assert (status, said) == (wanted, {"permissions-policy": None}), method  # it is of pages, and the longest
        assert "access-control-allow-origin" not in headers


def test_content_of_servers_is_in_a_sandbox_under_a_name_of_ours(person: Person, server: Server) -> None:
    hostile = 'x"; filename=evil.html\r\nSet-Cookie: a=b\r\n\r\n<script>\u202egnp.exe'
    image = {"type": "image", "data": coded(PNG), "mimeType": "image/png", "name": hostile, "title": hostile}
    html = {"uri": f"file:///{hostile}", "mimeType": f"text/html{hostile}", "blob": coded(b"<script>1</script>")}
    text = {"uri": f"file:///{hostile}", "mimeType": f"text/html{hostile}", "text": "<script>1</script>"}
    content = [image, {"type": "resource", "resource": html}, {"type": "resource", "resource": text}]
    with desk(server, giving(content=content)):
        path = finish(person).path
    kinds = ["image/png", "application/octet-stream", "text/plain; charset=utf-8"]
    for number, kind in enumerate(kinds):
        headers = person.get(f"{path}content/{number}/").response.headers
        assert wrong("/", headers, content_security_policy=CONTENT, content_type=kind) == {}
        named = "inline" if number == 0 else f'attachment; filename="result-{number}"'
        assert headers["content-disposition"] == named
        assert "set-cookie" not in headers


def test_a_refused_handshake_is_an_answer_like_any_other(person: Person, server: Server) -> None:
    address = person.base.replace("http", "ws")
    for path in ("/ws/review/", f"/ws/flows/{uuid.UUID(int=1)}/", "/ws/x/", "/flows/"):
        for origin in (None, "null", "https://evil.example", person.base):
            with pytest.raises(InvalidStatus) as caught:
                connect(f"{address}{path}", origin=origin, proxy=None, open_timeout=BOUND)  # type: ignore[arg-type]
            answer = caught.value.response
            assert (answer.status_code, wrong("/", dict(answer.headers.raw_items()))) == (403, {}), (path, origin)


@pytest.fixture
def site(tmp_path: Path, alice: User, settings: Settings) -> Iterator[Process]:
    """A process with settings as in production."""
    settings.PASSWORD_HASHERS = ["django.contrib.auth.hashers.Argon2PasswordHasher"]
    alice.set_password("alice's password")
    alice.save()
    with serving(tmp_path, MRTR_LOOPBACK_HTTP="false", ALLOWED_HOSTS=HOST, MRTR_LOG_LEVEL="INFO") as process:
        yield process


def test_cookies_and_redirects_in_production(site: Process) -> None:
    headers = {"Host": HOST, "X-Forwarded-Proto": "https", "Origin": f"https://{HOST}"}
    with Person(site.base) as person:
        person.client.follow_redirects = False
        bare = person.client.get("/flows/", headers={"Host": HOST})
        assert (bare.status_code, bare.headers["location"]) == (301, f"https://{HOST}/flows/")
        assert wrong("/", bare.headers) == {} and "strict-transport-security" not in bare.headers
        page = person.client.get("/accounts/login/", headers=headers)
        token = re.search(r'name="csrfmiddlewaretoken" value="(\w+)"', page.text)
        assert token is not None
        jar = Jar(page.headers)
        data = {"csrfmiddlewaretoken": token[1], "username": "alice", "password": "alice's password"}
        signed = person.client.post("/accounts/login/?next=//evil.example", data=data, headers=headers | jar.sent())
        assert (signed.status_code, signed.headers["location"]) == (302, "/")
        jar.take(signed.headers)
        home = person.client.get("/accounts/profile/", headers=headers | jar.sent())
        assert home.status_code == 200
        jar.take(home.headers)
        token = re.search(r'name="csrfmiddlewaretoken" value="(\w+)"', home.text)
        assert token is not None
        data = {"csrfmiddlewaretoken": token[1], "time_zone": "Europe/Rome"}
        saved = person.client.post("/accounts/profile/", data=data, headers=headers | jar.sent())
        jar.take(saved.headers)
        assert jar.names() == {f"__Host-mrtr_{name}" for name in ("session", "csrf", "key", "notices")}
        out = person.client.post("/accounts/logout/", data=data, headers=headers | jar.sent())
        assert out.headers["clear-site-data"] == '"cache", "storage"'
        jar.take(out.headers)
        assert jar.names() == {"__Host-mrtr_csrf"}
        for answer in (page, signed, home, saved, out):
            assert wrong("/", answer.headers, strict_transport_security=HSTS) == {}
        odd = person.client.options("/", headers=headers)
        assert (odd.status_code, wrong("/", odd.headers, strict_transport_security=HSTS)) == (405, {})
        big = person.client.post("/", content=b"x" * (5 * 2**20), headers=headers)
        assert (big.status_code, wrong("/", big.headers, strict_transport_security=HSTS)) == (413, {})


class Jar:
    """Cookies as a browser keeps them; each is set as the prefix __Host- demands, or the test fails."""

    def __init__(self, headers: Any) -> None:
        self.kept: dict[str, str] = {}
        self.take(headers)

    def take(self, headers: Any) -> None:
        for line in headers.get_list("set-cookie"):
            pair, *attributes = (part.strip() for part in line.split(";"))
            name, _, value = pair.partition("=")
            said = dict(each.lower().partition("=")[::2] for each in attributes)
            assert name.startswith("__Host-mrtr_"), name
            assert ("secure" in said, said["path"], "domain" in said, said["samesite"]) == (True, "/", False, "lax"), (
                line
            )
            if said.get("max-age") == "0":
                self.kept.pop(name, None)
                continue
            assert "httponly" in said and not {"max-age", "expires"} & said.keys(), line
            self.kept[name] = value

    def sent(self) -> dict[str, str]:
        return {"Cookie": "; ".join(f"{name}={value}" for name, value in self.kept.items())}

    def names(self) -> set[str]:
        return set(self.kept)
