"""MCP Inspector's proxy, between a client of the older revisions and the server: a peer that relays, and no more.

It needs Node, which the rest of the project does not; where it cannot be had, the measurements go on without it.
"""

import contextlib
import os
import secrets
import shutil
import subprocess
import time
import urllib.parse
from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass
from pathlib import Path

import httpx2
from mcp import Client
from mcp.client.streamable_http import streamable_http_client

from tests.servers import BOUND, free_port

PACKAGES = ("@modelcontextprotocol/inspector-server@1.0.3", "node-fetch@3.3.2")
"""The second is what the first one uses and does not name."""
FOLDER = Path(__file__).resolve().parents[2] / "var" / "bench" / PACKAGES[0].rpartition("/")[2]
SCRIPT = FOLDER / "node_modules" / PACKAGES[0].rpartition("@")[0] / "build" / "index.js"
INSTALL = ("--ignore-scripts", "--no-save", "--no-package-lock", "--no-audit", "--no-fund", "--loglevel=error")
PATIENCE = 180.0
"""Seconds for its installation."""


class Missing(Exception):
    """It is not there, and cannot be had: why."""


@dataclass(frozen=True)
class Proxy:
    """Where it listens, its process, and what it wants to be told by whoever uses it."""

    base: str
    pid: int
    token: str

    @contextlib.asynccontextmanager
    async def client(self, url: str) -> AsyncIterator[Client]:
        """A session with the server at this address, through the proxy."""
        through = f"{self.base}/mcp?{urllib.parse.urlencode({'url': url, 'transportType': 'streamable-http'})}"
        headers = {"X-MCP-Proxy-Auth": f"Bearer {self.token}"}
        async with (
            httpx2.AsyncClient(headers=headers, timeout=BOUND, trust_env=False) as http,
            Client(streamable_http_client(through, http_client=http), mode="legacy") as client,
        ):
            yield client


@contextlib.contextmanager
def inspector() -> Iterator[Proxy | None]:
    """The proxy while the block runs; None, and a line that says why, where there is none."""
    with contextlib.ExitStack() as stack:
        try:
            proxy = stack.enter_context(_running(_installed()))
        except Missing as reason:
            print(f"without MCP Inspector's proxy: {reason}", flush=True)
            proxy = None
        yield proxy


def _installed() -> str:
    """Node's path; the proxy's packages are there. Raises Missing."""
    node, npm = shutil.which("node"), shutil.which("npm")
    if node is None or npm is None:
        raise Missing("it needs node and npm")
    if not SCRIPT.exists():
        FOLDER.mkdir(parents=True, exist_ok=True)
        with (FOLDER / "install.log").open("wb") as log:
            command = [npm, "install", "--prefix", str(FOLDER), *INSTALL, *PACKAGES]
            try:
                ended = subprocess.run(command, stdout=log, stderr=log, timeout=PATIENCE).returncode
            except subprocess.TimeoutExpired:
                ended = -1
        if ended:
            shutil.rmtree(FOLDER / "node_modules", ignore_errors=True)
            raise Missing("npm could not install it (var/bench has its log)")
    return node


@contextlib.contextmanager
def _running(node: str) -> Iterator[Proxy]:
    port, token = free_port(), secrets.token_hex()
    environ = {"PATH": os.environ["PATH"], "HOST": "127.0.0.1", "SERVER_PORT": str(port), "MCP_PROXY_AUTH_TOKEN": token}
    with (FOLDER / "proxy.log").open("wb") as log:
        process = subprocess.Popen([node, str(SCRIPT)], env=environ, stdout=log, stderr=log)
    try:
        base = f"http://127.0.0.1:{port}"
        _until_it_listens(base, process)
        yield Proxy(base, process.pid, token)
    finally:
        process.kill()
        process.wait()


def _until_it_listens(base: str, process: "subprocess.Popen[bytes]") -> None:
    end = time.monotonic() + BOUND
    while time.monotonic() < end and process.poll() is None:
        with contextlib.suppress(httpx2.TransportError):
            httpx2.get(f"{base}/health", trust_env=False)
            return
        time.sleep(0.1)
    raise Missing("it does not start (var/bench has its log)")
