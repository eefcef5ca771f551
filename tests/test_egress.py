"""What the guarded client lets out and lets in, over real HTTP; the test resolves names where needed."""

import contextlib
import ipaddress
import socket
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx2
import pytest
from pytest_django import Settings

from mrtr_web import egress, networks
from mrtr_web.egress import EgressError, Interrupted, Policy, Unreached
from mrtr_web.networks import permitted
from tests.certificates import authority as authority
from tests.certificates import certificate as certificate
from tests.guarded import LISTED, PRIVATE, PUBLIC, fault, fetch, get
from tests.guarded import names as names
from tests.servers import Answer, Post, Recorder, Scripted, free_port, html, run, scripted, serve

NEVER = [
    "0.0.0.0",
    "0.1.2.3",
    "169.254.169.254",
    "169.254.1.1",
    "168.63.129.16",
    "192.0.0.192",
    "100.100.100.200",
    "100.64.0.1",
    "224.0.0.1",
    "239.255.255.250",
    "255.255.255.255",
    "240.0.0.1",
    "192.0.2.1",
    "198.18.0.1",
    "198.51.100.7",
    "203.0.113.9",
    "::",
    "fe80::1",
    "fe80::1%1",
    "fec0::1",
    "ff02::1",
    "fd00:ec2::254",
    "fd00:ec2::23",
    "192.88.99.1",
    "3fff::1",
    "2002:c058:6301::",
    "64:ff9b::192.88.99.1",
    "fd20:ce::254",
    "2001:db8::1",
    "::7f00:1",
    "100::1",
    "::ffff:169.254.169.254",
    "::ffff:0.0.0.0",
    "::ffff:168.63.129.16",
    "64:ff9b::169.254.169.254",
    "64:ff9b::127.0.0.1",
    "64:ff9b::10.0.0.1",
    "64:ff9b:1::8.8.8.8",
    "64:ff9b::168.63.129.16",
    "2002:7f00:1::",
    "2002:a9fe:a9fe::",
    "2002:a00:1::",
    "2001:0:4136:e378:8000:63bf:80ff:fffe",
]
INSIDE = [
    "127.0.0.1",
    "127.8.8.8",
    "10.0.0.1",
    "172.16.0.1",
    "172.31.255.255",
    "192.168.1.1",
    "::1",
    "fc00::1",
    "fd12:3456::1",
    "::ffff:127.0.0.1",
    "::ffff:10.0.0.1",
]
OUTSIDE = [
    "1.1.1.1",
    "8.8.8.8",
    "172.32.0.1",
    "2606:4700::1111",
    "::ffff:8.8.8.8",
    "64:ff9b::8.8.8.8",
    "2002:808:808::",
]


@pytest.mark.parametrize("address", NEVER)
def test_no_policy_lets_these_addresses_through(address: str) -> None:
    everything = networks.read(("0.0.0.0/0", "::/0"))
    for listed in (frozenset(), LISTED, everything):
        assert not permitted(ipaddress.ip_address(address), listed)
        assert not networks.is_listed(ipaddress.ip_address(address), listed)


@pytest.mark.parametrize("address", INSIDE)
def test_private_addresses_are_let_through_only_where_their_network_is_listed(address: str) -> None:
    found = ipaddress.ip_address(address)
    assert permitted(found, LISTED) and networks.is_listed(found, LISTED)
    others = networks.read(("10.9.0.0/16", "192.168.9.0/24", "fd99::/16"))
    for listed in (frozenset(), others):
        assert not permitted(found, listed)
        assert not networks.is_listed(found, listed)


@pytest.mark.parametrize("address", OUTSIDE)
def test_public_addresses_are_let_through(address: str) -> None:
    for listed in (frozenset(), LISTED):
        assert permitted(ipaddress.ip_address(address), listed)
        assert not networks.is_listed(ipaddress.ip_address(address), networks.read(("0.0.0.0/0", "::/0")))


@pytest.mark.parametrize(
    ("text", "stored"),
    [
        (" 10.1.2.3 ", "10.1.2.3/32"),
        ("10.1.0.0/16", "10.1.0.0/16"),
        ("::1", "::1/128"),
        ("FD00:0::/16", "fd00::/16"),
        ("127.0.0.0/255.0.0.0", "127.0.0.0/8"),
    ],
)
def test_a_private_network_is_stored_in_one_spelling(text: str, stored: str) -> None:
    assert networks.normalised(text) == stored


@pytest.mark.parametrize(
    "text",
    [
        "",
        "x",
        "10.1.2.3/8",
        "0.0.0.0/0",
        "8.8.8.8",
        "10.0.0.0/7",
        "169.254.0.0/16",
        "::/0",
        "fe80::/10",
        "::ffff:10.0.0.1",
    ],
)
def test_what_is_not_wholly_private_cannot_be_listed(text: str) -> None:
    with pytest.raises(ValueError):
        networks.normalised(text)


def test_plain_http_goes_to_listed_networks_alone(names: dict[str, list[str]]) -> None:
    names["public.test"] = ["8.8.8.8"]
    names["mixed.test"] = ["127.0.0.1", "8.8.8.8"]
    names["other.test"] = ["127.0.0.2"]
    names["127.0.0.1"] = ["127.0.0.1"]
    for host in ("public.test", "mixed.test"):
        assert fault(PRIVATE, f"http://{host}/").code == "blocked"
    one = Policy(("127.0.0.1/32",), connect_timeout=2)
    with scripted(lambda post: html(200)) as (url, server):
        assert fetch(one, url).status_code == 200
        assert fault(one, str(httpx2.URL(url).copy_with(host="other.test"))).code == "blocked"
    assert len(server.posts) == 1


def test_a_connection_is_not_shared_with_who_may_not_dial_it() -> None:
    async def scene(url: str) -> list[str]:
        assert (await get(PRIVATE, url)).status_code == 200
        found: list[str] = []
        for policy in (PUBLIC, Policy(("10.0.0.0/8",))):
            try:
                await get(policy, url)
            except EgressError as error:
                found.append(error.code)
        return found

    with scripted(lambda post: html(200)) as (url, server):
        assert run(scene(url)) == ["blocked", "blocked"]
    assert len(server.posts) == 1


@pytest.mark.parametrize(
    "host",
    ["127.0.0.1", "localhost", "2130706433", "0x7f000001", "127.1", "[::1]", "[::ffff:7f00:1]"],
)
def test_no_spelling_of_loopback_is_dialled(host: str) -> None:
    with scripted(lambda post: html(200)) as (url, server):
        target = url.replace("http://127.0.0.1", f"https://{host}")
        assert repr(fault(PUBLIC, target)) == "Unreached('blocked')"
    assert server.posts == []


def test_one_forbidden_address_among_good_ones_blocks_the_name(names: dict[str, list[str]]) -> None:
    names["mixed.test"] = ["8.8.8.8", "127.0.0.1"]
    assert fault(PUBLIC, "https://mixed.test/").code == "blocked"
    names["metadata.test"] = ["127.0.0.1", "169.254.169.254"]
    assert fault(PRIVATE, "http://metadata.test/").code == "blocked"


@pytest.mark.parametrize(
    ("policy", "url"),
    [
        (PUBLIC, "http://example.com/"),
        (PRIVATE, "ftp://example.com/"),
        (PRIVATE, "http://user:password@127.0.0.1/"),
        (PRIVATE, "ws://127.0.0.1/"),
    ],
)
def test_urls_that_are_never_asked(policy: Policy, url: str) -> None:
    assert fault(policy, url).code == "blocked"


def test_the_checked_address_is_dialled_and_host_stays_the_name(names: dict[str, list[str]]) -> None:
    names["one.test"] = ["127.0.0.1"]
    with scripted(lambda post: html(200)) as (url, server):
        target = httpx2.URL(url).copy_with(host="one.test")
        assert fetch(PRIVATE, str(target)).status_code == 200
    assert server.posts[0].headers["host"] == f"one.test:{target.port}"


def test_the_next_address_is_tried_when_one_does_not_answer(names: dict[str, list[str]]) -> None:
    names["two.test"] = ["127.0.0.2", "127.0.0.1"]
    with scripted(lambda post: html(200)) as (url, _):
        assert fetch(PRIVATE, str(httpx2.URL(url).copy_with(host="two.test"))).status_code == 200


def test_connection_refused() -> None:
    error = fault(PRIVATE, f"http://127.0.0.1:{free_port()}/")
    assert isinstance(error, Unreached) and error.args == ("refused",)


def test_unknown_name(names: dict[str, list[str]]) -> None:
    assert repr(fault(PRIVATE, "http://canary.test/")) == "Unreached('dns')"
    names["empty.test"] = []
    assert fault(PRIVATE, "http://empty.test/").code == "dns"


def test_an_address_that_does_not_answer_is_left_in_time() -> None:
    with socket.socket() as full:  # its queue is full, so the handshake never ends
        full.bind(("127.0.0.1", 0))
        full.listen(0)
        port = full.getsockname()[1]
        with contextlib.ExitStack() as queue:
            for _ in range(4):
                waiting = queue.enter_context(socket.socket())
                waiting.setblocking(False)
                waiting.connect_ex(("127.0.0.1", port))
            policy = Policy(networks.PRIVATE, connect_timeout=0.3)
            assert fault(policy, f"http://127.0.0.1:{port}/").code == "connect_timeout"


def test_a_plain_server_behind_https_is_a_tls_failure() -> None:
    with scripted(lambda post: html(200)) as (url, _):
        assert repr(fault(PRIVATE, url.replace("http:", "https:"))) == "Unreached('tls')"


@pytest.fixture
def tls(certificate: Path) -> Iterator[int]:
    """A server with that certificate: its port."""
    app = Recorder(Scripted(lambda post: html(200)))
    with serve(app, ssl_certfile=str(certificate)) as base:
        port = httpx2.URL(base).port
        assert port is not None
        yield port


def test_an_unknown_authority_is_a_tls_failure(tls: int, names: dict[str, list[str]]) -> None:
    names["one.test"] = ["127.0.0.1"]
    assert fault(PRIVATE, f"https://one.test:{tls}/").code == "tls"


def test_the_certificate_is_checked_against_the_name_not_the_address(
    tls: int, authority: Path, names: dict[str, list[str]], settings: Settings
) -> None:
    names["one.test"] = names["other.test"] = ["127.0.0.1"]
    settings.CONFIG = settings.CONFIG.model_copy(update={"ca_file": authority})
    assert fetch(PRIVATE, f"https://one.test:{tls}/").status_code == 200
    assert fault(PRIVATE, f"https://other.test:{tls}/").code == "tls"


def test_the_answer_may_be_as_big_as_the_policy_allows() -> None:
    with scripted(lambda post: Answer(b"x" * 1000)) as (url, _):
        assert len(fetch(PRIVATE, url).content) == 1000


@pytest.mark.parametrize("announced", [True, False])
def test_a_bigger_answer_breaks_off(announced: bool) -> None:
    headers = {"content-length": "1001"} if announced else {"content-type": "text/event-stream"}
    with scripted(lambda post: Answer(b"x" * 1001, headers=headers)) as (url, _):
        error = fault(PRIVATE, url)
    assert isinstance(error, Interrupted) and error.code == "too_big"


def test_an_endless_answer_breaks_off() -> None:
    with scripted(lambda post: Answer(b"x" * 5000, then="hang")) as (url, server):
        assert fault(PRIVATE, url).code == "too_big"
        assert server.gone.wait(5)


def test_compression_is_not_asked_for_and_not_accepted() -> None:
    with scripted(lambda post: Answer(b"\x1f\x8b", headers={"content-encoding": "gzip"})) as (url, server):
        assert fault(PRIVATE, url).code == "encoding"
    assert server.posts[0].headers["accept-encoding"] == "identity"


def test_cookies_are_neither_kept_nor_sent() -> None:
    def step(post: Post) -> Answer:
        return Answer(b"", headers={"set-cookie": "a=canary", "x-kept": "1"})

    async def twice(url: str) -> httpx2.Response:
        async with egress.client(PRIVATE, {"Cookie": "b=canary"}) as client:
            first = await client.get(url)
            await client.get(url)
            return first

    with scripted(step) as (url, server):
        response = run(twice(url))
    assert "set-cookie" not in response.headers
    assert response.headers["x-kept"] == "1"
    assert ["cookie" in post.headers for post in server.posts] == [False, False]


def test_redirects_are_not_followed() -> None:
    with scripted(lambda post: html(302, location="/elsewhere")) as (url, server):
        assert fetch(PRIVATE, url).status_code == 302
    assert len(server.posts) == 1


def test_clients_share_connections_but_not_headers() -> None:
    connections = set()

    async def app(scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] == "http":
            connections.add(scope["client"])
        await Scripted(lambda post: html(200))(scope, receive, send)

    async def twice(url: str) -> None:
        await get(PRIVATE, url, Authorization="canary")
        await get(PRIVATE, url)

    recorder = Recorder(app)
    with serve(recorder) as base:
        run(twice(base))
    assert len(connections) == 1
    assert "authorization" in recorder.posts[0].headers
    assert "authorization" not in recorder.posts[1].headers


def test_a_header_that_cannot_be_written_is_not_sent() -> None:
    with scripted(lambda post: html(200)) as (url, server):
        with pytest.raises(Unreached) as caught:
            fetch(PRIVATE, url, Authorization="canary\r\nx: y")
        assert repr(caught.value) == "Unreached('unsendable')"
    assert server.posts == []


def test_unix_sockets_are_refused() -> None:
    with pytest.raises(Unreached):
        run(egress._Dialler(LISTED, "http", None).connect_unix_socket("/tmp/canary"))
