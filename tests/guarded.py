"""For tests of the guarded client: its requests, and a name server of the test's own."""

import asyncio
import socket
from typing import Any

import httpx2
import pytest

from mrtr_web import egress, networks
from mrtr_web.egress import EgressError, Policy
from tests.servers import run

LISTED = networks.read(networks.PRIVATE)
PRIVATE = Policy(networks.PRIVATE, max_bytes=1000, connect_timeout=2)
PUBLIC = Policy(max_bytes=1000, connect_timeout=2)


async def get(policy: Policy, url: str, **headers: str) -> httpx2.Response:
    async with egress.client(policy, headers, read_timeout=5) as client:
        return await client.get(url)


def fetch(policy: Policy, url: str, **headers: str) -> httpx2.Response:
    return run(get(policy, url, **headers))


def fault(policy: Policy, url: str) -> EgressError:
    with pytest.raises(EgressError) as caught:
        fetch(policy, url)
    return caught.value


@pytest.fixture
def names(monkeypatch: pytest.MonkeyPatch) -> dict[str, list[str]]:
    """A name server: put in names and their addresses. Others do not exist."""
    table: dict[str, list[str]] = {}

    async def getaddrinfo(_: object, asked: str | bytes, port: int, **__: object) -> list[Any]:
        host = asked.decode() if isinstance(asked, bytes) else asked
        if host not in table:
            raise socket.gaierror(socket.EAI_NONAME, f"canary {host}")
        return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (ip, port)) for ip in table[host]]

    monkeypatch.setattr(asyncio.BaseEventLoop, "getaddrinfo", getaddrinfo)
    return table
