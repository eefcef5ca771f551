"""Behind nginx, set up as docs/deploy/nginx.conf says: TLS, cookies, addresses, sizes, other names, logs."""

import contextlib
import functools
import socket
import ssl
from collections.abc import Iterator
from pathlib import Path

import httpx2
import pytest
from axes.models import AccessAttempt

from mrtr_web.models import Server
from tests import proxy
from tests.certificates import certificate as certificate
from tests.desk import TOOL, asks, desk, done, start
from tests.person import Person
from tests.proxy import NAME, Front, needs_nginx, nginx
from tests.proxy import front as front
from tests.proxy import processes as processes
from tests.servers import BOUND, Receive, Scope, Send, free_port, serve, until

pytestmark = needs_nginx
MEGABYTE = 2**20
CANARY = "canary-of-a-query"


@pytest.fixture
def alone(tmp_path: Path, certificate: Path) -> Iterator[Front]:
    """Without the app."""
    with nginx(tmp_path, certificate, free_port(), free_port()) as running:
        yield running


def test_a_person_behind_nginx(front: Front, server: Server) -> None:
    with Person(front.base, front.trust()) as person, desk(server, asks(), done()):
        person.client.headers["X-Forwarded-For"] = "203.0.113.9"
        person.get("/accounts/login/")
        person.press("Sign in", {"username": "alice", "password": "wrong"})
        assert list(AccessAttempt.objects.values_list("ip_address", flat=True)) == ["127.0.0.1"]
        assert person.sign_in("alice").path == "/"
        cookies = {cookie.name: cookie for cookie in person.client.cookies.jar}
        assert cookies.keys() >= {f"__Host-mrtr_{name}" for name in ("session", "csrf", "key")}
        assert all(cookie.secure and not cookie.domain_specified for cookie in cookies.values())
        assert "strict-transport-security" in person.page.response.headers
        start(person, CANARY)
        person.until("waiting")
        person.fill("Name", CANARY)
        person.press("Send")
        person.until("completed")
        assert person.get(f"{TOOL}?topic={CANARY}").status == 200
    assert " GET /s/demo/tools/ask/ 200 " in front.logged()
    assert CANARY not in front.logged()


def test_what_is_too_large_is_told_so_and_never_on_a_disk(front: Front) -> None:
    with Person(front.base, front.trust()) as person:
        large = person.client.post("/accounts/login/", content=b"x" * (5 * MEGABYTE))
        assert (large.status_code, "This is too large" in large.text) == (413, True)
        small = person.client.post("/accounts/login/", content=b"x" * (3 * MEGABYTE))
        assert small.status_code == 403  # read whole, and then there is no token in it
        huge = person.client.post("/accounts/login/", content=b"x" * (33 * MEGABYTE))
        assert (huge.status_code, "nginx" in huge.text) == (413, True)
    assert not front.ever_spooled()


def test_another_name_gets_nothing(alone: Front) -> None:
    unchecked = ssl.create_default_context()
    unchecked.check_hostname, unchecked.verify_mode = False, ssl.CERT_NONE
    with (
        socket.create_connection(("127.0.0.1", alone.port), BOUND) as plain,
        pytest.raises(ssl.SSLError, match="(?i)unrecognized.name"),
    ):
        unchecked.wrap_socket(plain, server_hostname="other.example")
    with pytest.raises(httpx2.RemoteProtocolError):
        httpx2.get(f"http://127.0.0.1:{alone.plain}/", trust_env=False)
    led = httpx2.get(f"http://{NAME}:{alone.plain}/flows/?x=1", trust_env=False)
    assert (led.status_code, led.headers["location"]) == (301, f"https://{NAME}/flows/?x=1")


GOES = b"\r\nConnection: close\r\n\r\n"
QUERY = f"?topic={CANARY}".encode()
ELSEWHERE = (
    b"GET /%b HTTP/1.1\r\nHost: other.example" % QUERY + GOES,
    b"GET https://other.example/%b HTTP/1.1\r\nHost: localhost" % QUERY + GOES,
    b"GET /%b HTTP/1.0\r\n\r\n" % QUERY,
    b"GET /%b HTTP/1.1" % QUERY + GOES,
)


def said(front: Front, request: bytes, secure: bool = True) -> bytes:
    """All that comes back for these bytes, sent under our own name as TLS has it."""
    with (
        socket.create_connection(("127.0.0.1", front.port if secure else front.plain), BOUND) as plain,
        front.trust().wrap_socket(plain, server_hostname=NAME) if secure else plain as connection,
    ):
        connection.sendall(request)
        return b"".join(iter(functools.partial(connection.recv, 65536), b""))


@pytest.mark.parametrize("secure", [True, False])
def test_another_host_or_none_is_told_nothing_and_not_logged(alone: Front, secure: bool) -> None:
    for request in ELSEWHERE:
        answer = said(alone, request, secure)
        assert answer == b"" or answer.startswith(b"HTTP/1.1 400 ")
        assert b"nginx/" not in answer and b"Welcome" not in answer
    assert CANARY not in alone.logged()


def test_what_nginx_and_the_app_could_read_in_two_ways_ends_at_one_of_them(front: Front) -> None:
    hidden = b"GET /hidden HTTP/1.1\r\nHost: localhost" + GOES
    sized = b"\r\nHost: localhost\r\nContent-Length: %d\r\nConnection: close" % len(hidden)
    both = b"\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"
    twice = b"\r\nHost: other.example"
    assert said(front, b"POST /accounts/login/ HTTP/1.1" + sized + both + hidden).startswith(b"HTTP/1.1 400 ")
    assert said(front, b"POST /accounts/login/ HTTP/1.1" + sized + twice + b"\r\n\r\n").startswith(b"HTTP/1.1 400 ")
    for wanted in (b"h2c", b"TLS/1.0", b"websocket"):
        upgrade = sized + b", Upgrade\r\nUpgrade: " + wanted + b"\r\n\r\n"
        status = said(front, b"POST /accounts/login/ HTTP/1.1" + upgrade + hidden)[:12]
        assert status == (b"HTTP/1.1 400" if wanted == b"websocket" else b"HTTP/1.1 403"), wanted
    for path in (
        b"/static/../manage.py",
        b"/static/%2e%2e/%2e%2e/manage.py",
        b"/static/..%5cmanage.py",
        b"/static//etc/passwd",
    ):
        assert said(front, b"GET " + path + b" HTTP/1.1\r\nHost: localhost" + GOES)[:12] in (
            b"HTTP/1.1 400",
            b"HTTP/1.1 404",
        )
    assert "/hidden" not in front.logged()


def test_where_the_app_is_away_people_are_told_what_to_do_and_no_query_is_logged(alone: Front) -> None:
    with Person(alone.base, alone.trust()) as person:
        assert person.get(f"/?topic={CANARY}").status == 502
        assert 'lang="en"' in person.page.response.text and "not sent twice" in person.page.text
        person.client.headers["Accept-Language"] = "zh-TW,zh;q=0.9,en;q=0.8"
        assert 'lang="zh-Hant"' in person.get("/").response.text and "不會重複送出" in person.page.text
    until(lambda: " GET / 502 " in alone.logged())  # which nginx writes after its answer
    assert CANARY not in alone.logged()


def test_what_is_of_one_process_is_not_told_outside(alone: Front) -> None:
    for path in (b"/metrics", b"/readyz", b"//metrics", b"/%6detrics", b"/x/../readyz", b"/metrics?x"):
        assert said(alone, b"GET " + path + b" HTTP/1.1\r\nHost: localhost" + GOES)[:12] == b"HTTP/1.1 404", path
    assert said(alone, b"GET /healthz HTTP/1.1\r\nHost: localhost" + GOES)[:12] == b"HTTP/1.1 502"


def test_no_query_is_logged_where_nginx_runs_out_of_connections(
    tmp_path: Path, certificate: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As anybody can make it do, while others are on their way with a link in which there is a token."""
    many = "worker_connections 4096;"
    assert many in proxy.MAIN
    monkeypatch.setattr(proxy, "MAIN", proxy.MAIN.replace(many, "worker_connections 8;"))
    with socket.create_server(("127.0.0.1", 0)) as silent, contextlib.ExitStack() as held:
        port = silent.getsockname()[1]
        front = held.enter_context(nginx(tmp_path, certificate, port, port))
        for _ in range(8):
            plain = held.enter_context(socket.create_connection(("127.0.0.1", front.port), BOUND))
            connection = held.enter_context(front.trust().wrap_socket(plain, server_hostname=NAME))
            connection.sendall(b"GET /accounts/%b HTTP/1.1\r\nHost: localhost\r\n\r\n" % QUERY)
        until(lambda: " GET /accounts/ 500 " in front.logged())
        assert CANARY not in front.logged()


async def _says_hello(scope: Scope, receive: Receive, send: Send) -> None:
    await send({"type": "http.response.start", "status": 200, "headers": []})
    await send({"type": "http.response.body", "body": b"hello"})


def test_a_process_that_was_away_a_moment_ago_is_asked_again_at_once(tmp_path: Path, certificate: Path) -> None:
    """One after the other is replaced, without a pause for nginx to forget which one it could not reach."""
    ports = free_port(), free_port()
    with nginx(tmp_path, certificate, *ports) as front, Person(front.base, front.trust()) as person:
        for port in (*ports, *ports):
            with serve(_says_hello, port=port, lifespan="off"):
                assert [person.get("/").status for _ in range(4)] == [200] * 4
