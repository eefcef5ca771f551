"""The way through a forward proxy, over real sockets: what it is asked, what is believed of it, what it never sees."""

import ipaddress
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx2
import pytest
from django.template.loader import render_to_string
from pydantic import SecretStr
from pytest_django import Settings

from mrtr_web import authserver, egress, relay
from mrtr_web.access import Challenge
from mrtr_web.demo.server import build
from mrtr_web.egress import Policy, Unreached
from mrtr_web.models import Server
from tests import booking
from tests.certificates import authority as authority
from tests.certificates import certificate as certificate
from tests.desk import point_to
from tests.forward import OPEN, Answer, Forward, forward
from tests.guarded import PRIVATE, PUBLIC, fault, fetch, get
from tests.guarded import names as names
from tests.person import Person
from tests.servers import Recorder, Scripted, free_port, html, run, scripted, serve

LOGIN = "me:c4n%C3%A4ry@"
GLOBAL = "8.8.8.8"


def go_by(settings: Settings, url: str) -> None:
    settings.CONFIG = settings.CONFIG.model_copy(update={"egress_proxy": SecretStr(url)})


@contextmanager
def behind(settings: Settings, *answers: Answer, certificate: Path | None = None) -> Iterator[Forward]:
    """All goes by a proxy that answers like this."""
    scheme, host = ("https", "localhost") if certificate else ("http", "127.0.0.1")
    with forward(*answers, certificate=certificate) as proxy:
        go_by(settings, f"{scheme}://{LOGIN}{host}:{proxy.port}")
        yield proxy


class Site:
    """A server that only TLS under the name one.test leads to, at a public address."""

    def __init__(self, base: str, recorder: Recorder) -> None:
        self.port = httpx2.URL(base).port
        self.url = f"https://one.test:{self.port}/"
        self.posts = recorder.posts


@pytest.fixture
def site(certificate: Path, authority: Path, names: dict[str, list[str]], settings: Settings) -> Iterator[Site]:
    settings.CONFIG = settings.CONFIG.model_copy(update={"ca_file": authority})
    names.update({"one.test": [GLOBAL], "other.test": [GLOBAL]})
    recorder = Recorder(Scripted(lambda post: html(200)))
    with serve(recorder, ssl_certfile=str(certificate)) as base:
        yield Site(base, recorder)


def test_a_public_address_is_asked_for_by_its_number_and_the_name_is_in_tls_alone(
    site: Site, settings: Settings
) -> None:
    async def twice() -> list[int]:
        return [(await get(PUBLIC, site.url, Authorization="Bearer c4n4ry")).status_code for _ in range(2)]

    with behind(settings) as proxy:
        assert run(twice()) == [200, 200]
        assert fault(PUBLIC, site.url.replace("one.", "other.")).code == "tls"
    head = (
        f"CONNECT {GLOBAL}:{site.port} HTTP/1.1\r\nHost: {GLOBAL}:{site.port}\r\n"
        "Proxy-Authorization: Basic bWU6YzRuw6RyeQ==\r\n\r\n"
    )
    assert proxy.heads == [head.encode()] * 2  # the second request of one name went by the first one's tunnel
    assert [name in first for name, first in zip((b"one.test", b"other.test"), proxy.first, strict=True)] == [True] * 2
    assert [post.headers["host"] for post in site.posts] == [f"one.test:{site.port}"] * 2
    assert not any("proxy-authorization" in post.headers for post in site.posts)


def test_a_proxy_that_takes_tls_itself_and_an_address_of_ipv6(
    site: Site, settings: Settings, certificate: Path, names: dict[str, list[str]]
) -> None:
    names["localhost"] = ["127.0.0.1"]
    names["one.test"] = ["2606:4700::1111"]
    with behind(settings, certificate=certificate) as proxy:
        assert fetch(PUBLIC, site.url).status_code == 200
    assert proxy.lines == [f"CONNECT [2606:4700::1111]:{site.port} HTTP/1.1"]
    with behind(settings, certificate=certificate) as proxy:
        settings.CONFIG = settings.CONFIG.model_copy(update={"ca_file": None})
        assert fault(PUBLIC, site.url).code == "proxy"
    assert proxy.heads == []


REFUSED = b"HTTP/1.1 %d no\r\nContent-Length: 6\r\n\r\nc4n4ry"


@pytest.mark.parametrize(
    ("answer", "code"),
    [
        (REFUSED % 407, "proxy_login"),
        (REFUSED % 403, "proxy_refused"),
        (REFUSED % 502, "proxy_refused"),
        (b"HTTP/1.0 302 Found\r\nLocation: http://169.254.169.254/\r\n\r\n", "proxy_refused"),
        (b"", "proxy"),
        (b"SSH-2.0-c4n4ry\r\n\r\n", "proxy"),
        (b"HTTP/1.1 2000 OK\r\n\r\n", "proxy"),
        (b"HTTP/1.1 100 Continue\r\n\r\n", "proxy"),
        (b"HTTP/1.1 101 Switching Protocols\r\n\r\n", "proxy"),
        (b"HTTP/1.1 200 OK\nA: b\n\r\n\r\n", "proxy"),
        (b"HTTP/1.1 200 OK\r\n\r\nHTTP/1.1 200 OK\r\n\r\n", "proxy"),
        (b"HTTP/1.1 200 " + b"x" * 10_000, "proxy"),
        (b"HTTP/1.1 200 OK\r\n" + b"A: b\r\n" * 2_000 + b"\r\n", "proxy"),
    ],
)
def test_what_a_proxy_may_answer_leaves_the_server_without_a_byte(
    site: Site, settings: Settings, caplog: pytest.LogCaptureFixture, answer: bytes, code: str
) -> None:
    began: list[str] = []

    async def ask() -> None:
        transport = egress.GuardedTransport(PUBLIC, lambda: began.append("sending"))
        async with egress.client(PUBLIC, transport=transport) as client:
            await client.post(site.url, content=b"c4n4ry")

    with behind(settings, answer) as proxy:
        with pytest.raises(Unreached) as caught:
            run(ask())
        assert repr(caught.value) == f"Unreached('{code}')"
        assert answer == b"" or proxy.gone.wait(5)
    assert (len(proxy.heads), began, site.posts, proxy.first) == (1, [], [], [])
    told = [record.getMessage() for record in caplog.records]
    status = answer[9:12].decode()
    assert told == ([] if code == "proxy" else [f"the egress proxy answered with {status}"])


@pytest.mark.parametrize("answer", [(b"",), (b"x",), (b"HTTP/1.1 200 OK\r\n", b"A: b\r\n")])
def test_a_proxy_that_hangs_or_drips_is_left_in_time(site: Site, settings: Settings, answer: Answer) -> None:
    with behind(settings, answer) as proxy:
        began = time.monotonic()
        assert repr(fault(Policy(connect_timeout=0.5), site.url)) == "Unreached('connect_timeout')"
        assert time.monotonic() - began < 2
        assert proxy.gone.wait(5)


def test_a_proxy_that_is_not_there_is_told_from_a_server_that_is_not(site: Site, settings: Settings) -> None:
    go_by(settings, f"http://{LOGIN}127.0.0.1:{free_port()}")
    assert repr(fault(PUBLIC, site.url)) == "Unreached('proxy')"
    go_by(settings, f"http://{LOGIN}nowhere.test:8080")
    assert repr(fault(PUBLIC, site.url)) == "Unreached('proxy')"
    assert site.posts == []


def test_another_address_is_tried_where_the_proxy_does_not_get_to_the_first(
    site: Site, settings: Settings, names: dict[str, list[str]]
) -> None:
    names["one.test"] = ["1.1.1.1", GLOBAL]
    with behind(settings, REFUSED % 503, OPEN) as proxy:
        assert fetch(PUBLIC, site.url).status_code == 200
    assert proxy.lines == [f"CONNECT {address}:{site.port} HTTP/1.1" for address in ("1.1.1.1", GLOBAL)]


@pytest.mark.parametrize(
    "addresses", [["10.0.0.1"], ["127.0.0.1"], ["169.254.169.254"], [GLOBAL, "169.254.169.254"], ["fd00:ec2::254"]]
)
def test_what_the_guard_refuses_never_gets_to_the_proxy(
    site: Site, settings: Settings, names: dict[str, list[str]], addresses: list[str]
) -> None:
    names["one.test"] = addresses
    with behind(settings) as proxy:
        assert fault(PUBLIC, site.url).code == "blocked"
        for url in (f"http://one.test:{site.port}/", "http://other.test/", "https://c4n4ry@other.test/"):
            assert fault(Policy(("192.168.9.0/24",)), url).code == "blocked"
    assert proxy.heads == []


def test_a_listed_address_is_on_this_side_of_the_proxy(site: Site, settings: Settings, names: Any) -> None:
    names["one.test"] = ["127.0.0.1"]
    with behind(settings) as proxy, scripted(lambda post: html(200)) as (url, _):
        names["127.0.0.1"] = ["127.0.0.1"]
        assert fetch(PRIVATE, site.url).status_code == fetch(PRIVATE, url).status_code == 200
    assert proxy.heads == []


def test_a_connection_by_one_way_is_not_used_for_another(site: Site, settings: Settings) -> None:
    async def thrice(one: Forward, two: Forward) -> None:
        for proxy in (one, two, one):
            go_by(settings, f"http://127.0.0.1:{proxy.port}")
            assert (await get(PUBLIC, site.url)).status_code == 200

    with forward() as one, forward() as two:
        run(thrice(one, two))
    assert (len(one.heads), len(two.heads)) == (1, 1)
    assert b"Proxy-Authorization" not in one.heads[0]


def test_proxies_of_the_environment_are_never_read(
    site: Site, settings: Settings, monkeypatch: pytest.MonkeyPatch, names: dict[str, list[str]]
) -> None:
    with forward() as strange:
        for name in ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"):
            monkeypatch.setenv(name, f"http://127.0.0.1:{strange.port}")
            monkeypatch.setenv(name.lower(), f"http://127.0.0.1:{strange.port}")
        with scripted(lambda post: html(200)) as (url, _):
            names["127.0.0.1"] = ["127.0.0.1"]
            assert fetch(PRIVATE, url).status_code == 200
        monkeypatch.setenv("NO_PROXY", "*")
        monkeypatch.setenv("no_proxy", "*")
        with behind(settings) as proxy:
            assert fetch(PUBLIC, site.url).status_code == 200
    assert (len(proxy.heads), strange.heads) == (1, [])


def test_a_leg_that_the_proxy_stops_is_not_sent(site: Site, settings: Settings) -> None:
    limits = relay.Limits(connect=2, silence=5, total=10, max_bytes=1000)
    call = relay.Call("tools/call", {"name": "ask", "arguments": {}}, {})
    for answer, reason in ((REFUSED % 407, "proxy_login"), (b"", "proxy"), (REFUSED % 502, "proxy_refused")):
        with behind(settings, answer), pytest.raises(relay.Unsent) as caught:
            run(relay.send(relay.Endpoint(site.url), call, limits))
        assert caught.value.reason == reason
    assert site.posts == []


def test_on_the_way_to_a_sign_in_server_it_is_told_what_to_do(site: Site, settings: Settings) -> None:
    def trouble() -> str:
        with pytest.raises(authserver.Trouble) as caught:
            run(authserver.find(site.url, Challenge(), ()))
        return caught.value.code

    for answer in (REFUSED % 407, REFUSED % 403, b""):
        with behind(settings, answer):
            assert trouble() == "proxy"
    settings.CONFIG = settings.CONFIG.model_copy(update={"ca_file": None})
    with behind(settings):
        assert trouble() == "tls"
    for template in ("connections", "flows"):
        assert "MRTR_CA_FILE must name it" in render_to_string(f"{template}/_trouble.html", {"code": "tls"})
    assert "The proxy through which" in render_to_string("connections/_trouble.html", {"code": "proxy"})


@pytest.mark.django_db(transaction=True)
def test_a_booking_goes_by_the_proxy_and_what_it_stops_is_sent_again(
    person: Person,
    server: Server,
    settings: Settings,
    certificate: Path,
    authority: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async def resolve(*_: object) -> list[ipaddress.IPv4Address]:
        return [ipaddress.IPv4Address(GLOBAL)]

    monkeypatch.setattr(egress, "_resolve", resolve)  # the app's loop, uvloop, has a resolver of its own
    settings.CONFIG = settings.CONFIG.model_copy(update={"ca_file": authority})
    recorder = Recorder(build("a key for the tests"))
    with serve(recorder, lifespan="on", ssl_certfile=str(certificate)) as base, behind(settings) as proxy:
        here = base.replace("http://127.0.0.1", "https://localhost")  # which the demo server answers to
        point_to(server, here)
        Server.objects.update(private_networks=[])
        booking.start(person)
        booking.tell_details(person)
        with behind(settings, REFUSED % 407) as refusing:
            person.press("Send")
            person.until("unsent")
            assert "did not accept its user and password" in person.page.text
        go_by(settings, f"http://127.0.0.1:{proxy.port}")
        person.press("Send again")
        person.until("waiting")
        paying = person.page.link("Open").replace("http:", "https:")
        assert httpx2.post(paying, verify=settings.CONFIG.trust, trust_env=False, follow_redirects=True).is_success
        person.press("I have finished")
        person.until("waiting")
        person.fill("I confirm", "Yes")
        person.press("Send")
        person.until("completed")
    port = httpx2.URL(here).port
    assert {*proxy.lines, *refusing.lines} == {f"CONNECT {GLOBAL}:{port} HTTP/1.1"}
    assert [post.json["method"] for post in recorder.posts if post.json].count("tools/call") == 4
