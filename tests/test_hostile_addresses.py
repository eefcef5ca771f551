"""Every way to write an address that nobody may be led to, for all that this app sends: nothing is dialled."""

import asyncio
import json
import socket
from collections.abc import Callable, Iterable
from typing import Any

import httpcore2
import httpx2
import pytest
from mcp.shared.auth import OAuthMetadata, ProtectedResourceMetadata

from mrtr_web import authserver, egress, relay
from mrtr_web.access import Challenge, Client, Leaving, Tokens
from mrtr_web.egress import EgressError, Policy
from tests.servers import html, raw_json, run, scripted

HOSTS = [
    "127.0.0.1",
    "127.1",
    "127.0.1",
    "2130706433",
    "0x7f000001",
    "0X7F.1",
    "0177.0.0.1",
    "017700000001",
    "0x7f.0x0.0x0.0x1",
    "127.0.0.1.",
    "localhost",
    "LOCALHOST",
    "localhost.",
    "\uff4cocalhost",
    "\u2460\u2461\u2466.0.0.1",
    "127\u30020\u30020\u30021",
    "127\uff0e0\uff0e0\uff0e1",
    "\uff11\uff12\uff17.0.0.1",
    "0",
    "0.0.0.0",
    "[::]",
    "[::1]",
    "[0:0:0:0:0:0:0:1]",
    "[::ffff:127.0.0.1]",
    "[::FFFF:7F00:1]",
    "[::127.0.0.1]",
    "[fe80::1]",
    "[fe80::1%25lo]",
    "[fec0::1]",
    "[fc00::1]",
    "[fd00:ec2::254]",
    "[fd00:ec2::23]",
    "[fd20:ce::254]",
    "[ff02::1]",
    "[64:ff9b::7f00:1]",
    "[64:ff9b::a9fe:a9fe]",
    "[64:ff9b:1::7f00:1]",
    "[64:ff9b:1::808:808]",
    "[2002:7f00:1::]",
    "[2001:0:4136:e378:8000:63bf:80ff:fffe]",
    "[2001:db8::1]",
    "[100::1]",
    "[3fff::1]",
    "[::ffff:0:7f00:1]",
    "[5f00::1]",
    "169.254.169.254",
    "2852039166",
    "0xa9fea9fe",
    "0251.0376.0251.0376",
    "169.254.43518",
    "169.254.169.254.",
    "[::ffff:a9fe:a9fe]",
    "192.0.0.192",
    "0xc00000c0",
    "168.63.129.16",
    "168.63.33040",
    "100.64.0.1",
    "100.100.100.200",
    "198.18.0.1",
    "192.0.2.1",
    "198.51.100.1",
    "203.0.113.1",
    "192.88.99.1",
    "224.0.0.1",
    "255.255.255.255",
    "240.0.0.1",
    "10.0.0.1",
    "10.1",
    "172.16.0.1",
    "192.168.257",
    "user@127.0.0.1",
    "user:password@8.8.8.8",
    "8.8.8.8@127.0.0.1",
]
PUBLIC = Policy(connect_timeout=2)
Dialled = list[str]


@pytest.fixture
def dialled(monkeypatch: pytest.MonkeyPatch) -> Dialled:
    """The addresses that would be connected to. No connection is made."""
    found: Dialled = []

    async def connect_tcp(self: object, host: str, *_: object) -> Any:
        found.append(host)
        raise httpcore2.ConnectError

    monkeypatch.setattr(httpcore2.AnyIOBackend, "connect_tcp", connect_tcp)
    return found


@pytest.fixture
def answers(monkeypatch: pytest.MonkeyPatch) -> list[list[str]]:
    """What the name server answers, one time after the other, whatever it is asked for."""
    told: list[list[str]] = []

    async def getaddrinfo(_: object, host: str, port: int, **__: object) -> list[Any]:
        return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (address, port)) for address in told.pop(0)]

    monkeypatch.setattr(asyncio.BaseEventLoop, "getaddrinfo", getaddrinfo)
    return told


async def asked(url: str, policy: Policy = PUBLIC) -> str:
    """The code of what went wrong."""
    try:
        async with egress.client(policy) as client:
            await client.post(url)
    except EgressError as error:
        return error.code
    except httpx2.InvalidURL:
        return "invalid"
    return ""


@pytest.mark.parametrize("host", HOSTS)
def test_no_spelling_of_an_address_gets_through(host: str, dialled: Dialled) -> None:
    assert run(asked(f"https://{host}/mcp")) in ("blocked", "dns", "invalid")
    assert run(asked(f"http://{host}/mcp")) in ("blocked", "invalid")
    assert dialled == []


@pytest.mark.parametrize("host", ["8.8.8.8", "134744072", "[2606:4700::1111]"])
def test_a_public_address_is_dialled(host: str, dialled: Dialled) -> None:
    run(asked(f"https://{host}/mcp"))
    assert len(dialled) == 1


def test_a_name_that_changes_its_mind_is_asked_once_and_then_anew(dialled: Dialled, answers: list[list[str]]) -> None:
    """DNS rebinding: what was checked is what is dialled, and the next time it is checked again."""
    answers += [["8.8.8.8"], ["127.0.0.1"], ["8.8.8.8", "10.0.0.1"], ["169.254.169.254", "8.8.8.8"], ["8.8.4.4"]]
    codes = [run(asked("https://rebinding.test/mcp")) for _ in range(5)]
    assert codes == ["refused", "blocked", "blocked", "blocked", "refused"]
    assert dialled == ["8.8.8.8", "8.8.4.4"]
    assert answers == []


def test_a_name_that_changes_its_mind_between_a_redirect_and_its_end(answers: list[list[str]]) -> None:
    """The leg goes again to the same origin, and the name now leads elsewhere."""
    answers += [["127.0.0.1"], ["127.0.0.2"]]
    limits = relay.Limits(2, 5, 5, 2**20)
    call = relay.Call("tools/call", {"name": "ask", "arguments": {}}, {})
    with scripted(lambda post: html(307, location=post.path + "/again", connection="close")) as (url, server):
        named = str(httpx2.URL(url).copy_with(host="rebinding.test"))
        with pytest.raises(relay.RelayError) as caught:
            run(relay.send(relay.Endpoint(named, private=("127.0.0.1/32",)), call, limits))
    assert repr(caught.value) == "Unsent('blocked')"
    assert len(server.posts) == 1


PLACES = [
    "https://169.254.169.254/x",
    "https://10.0.0.1/x",
    "https://localhost/x",
    "http://8.8.8.8/x",
    "https://[::1]/x",
]
CLIENT = Client(client_id="c", secret="", method="none", redirects=("https://mrtr.example/oauth/callback/",), until=0)


def metadata(place: str) -> OAuthMetadata:
    document = {
        "issuer": "https://as.example",
        "authorization_endpoint": "https://as.example/authorize",
        "token_endpoint": place,
        "registration_endpoint": place,
        "code_challenge_methods_supported": ["S256"],
    }
    return OAuthMetadata.model_validate(document)


def found(place: str) -> authserver.Found:
    about = {"resource": "https://mcp.example/mcp", "authorization_servers": ["https://as.example"]}
    protected = ProtectedResourceMetadata.model_validate(about)
    return authserver.Found("https://as.example", "https://mcp.example/mcp", metadata(place), protected)


def tokens(place: str) -> Tokens:
    return Tokens(
        access="a",
        refresh="r",
        lifetime=None,
        scope=None,
        issuer="https://as.example",
        resource="https://mcp.example/mcp",
        token_endpoint=place,
        revocation_endpoint=place,
        client=CLIENT,
    )


def leaving(place: str) -> Leaving:
    return Leaving(
        issuer="https://as.example",
        says_issuer=True,
        verifier="v",
        redirect=CLIENT.redirects[0],
        resource="https://mcp.example/mcp",
        scope=None,
        authorization_endpoint="https://as.example/authorize",
        token_endpoint=place,
        revocation_endpoint=place,
        client=CLIENT,
        url="https://mcp.example/mcp",
    )


ERRANDS: dict[str, Callable[[str, Iterable[str]], Any]] = {
    "metadata of the resource": lambda place, private: authserver.find(place, Challenge(metadata=place), list(private)),
    "registration": lambda place, private: authserver.register(found(place), CLIENT.redirects, list(private)),
    "exchange": lambda place, private: authserver.exchange(leaving(place), "code", list(private)),
    "renewal": lambda place, private: authserver.renew(tokens(place), list(private)),
}


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("errand", ERRANDS)
def test_no_errand_to_an_authorization_server_goes_there(errand: str, place: str, dialled: Dialled) -> None:
    with pytest.raises(authserver.Trouble) as caught:
        run(ERRANDS[errand](place, ()))
    assert caught.value.code == "insecure"
    assert dialled == []


@pytest.mark.parametrize("place", PLACES)
def test_no_token_is_revoked_there(place: str, dialled: Dialled) -> None:
    assert run(authserver.revoke(tokens(place), ())) is False
    assert dialled == []


@pytest.mark.parametrize("place", [place for place in PLACES if "localhost" not in place])
def test_what_a_server_names_as_its_authorization_server_is_not_asked_there(place: str) -> None:
    """Its own address is in a listed network, and theirs is not."""
    about: dict[str, Any] = {"authorization_servers": [place.removesuffix("/x")]}
    with scripted(lambda post: raw_json(json.dumps(about))) as (url, server):
        about["resource"] = url
        with pytest.raises(authserver.Trouble) as caught:
            run(authserver.find(url, Challenge(metadata=url), ["127.0.0.1/32"]))
    assert caught.value.code == "insecure"
    assert len(server.posts) == 1


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
def test_no_errand_follows_a_redirect(status: int) -> None:
    with scripted(lambda post: raw_json("{}")) as (elsewhere, inside):
        with scripted(lambda post: html(status, location=elsewhere)) as (url, _):
            for errand in ERRANDS.values():
                with pytest.raises(authserver.Trouble):
                    run(errand(url, ["127.0.0.0/8"]))
            assert run(authserver.revoke(tokens(url), ["127.0.0.0/8"])) is False
        assert inside.posts == []
