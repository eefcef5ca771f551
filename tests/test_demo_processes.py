"""The demo server as processes: two with one key behind a round robin, one with another key, and what flows cost."""

import contextlib
import itertools
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from mrtr_web.models import Server
from tests import booking
from tests.desk import point_to
from tests.person import Person
from tests.servers import BOUND, Proxy, Recorder, serve
from tests.test_booking import book
from tests.test_demo_rules import CAKE, INVALID, Raw, refused

ROOT = Path(__file__).parents[1]
MEMORY = """
import asyncio, gc, json, sys, tracemalloc
import httpx2
from mrtr_web.demo.server import build

META = {"io.modelcontextprotocol/protocolVersion": "2026-07-28"}
META["io.modelcontextprotocol/clientCapabilities"] = {"elicitation": {"form": {}, "url": {}}}
HEADERS = {"accept": "application/json, text/event-stream", "mcp-protocol-version": "2026-07-28"}
TOOLS = {
    "redeem_voucher": {},
    "plan_walk": {},
    "book_trip": {"destination": "Lyon", "nights": 2, "departure": "2027-03-01"},
}

async def main():
    app = build("a key")
    inner = app.app
    async with inner.router.lifespan_context(inner):
        transport = httpx2.ASGITransport(app)
        async with httpx2.AsyncClient(transport=transport, base_url="http://127.0.0.1:8001") as client:
            async def abandon(count):
                for number in range(count):
                    name = list(TOOLS)[number % len(TOOLS)]
                    params = {"name": name, "arguments": TOOLS[name], "_meta": META}
                    message = {"jsonrpc": "2.0", "id": number, "method": "tools/call", "params": params}
                    headers = HEADERS | {"mcp-method": "tools/call", "mcp-name": name}
                    answer = await client.post("/mcp", json=message, headers=headers)
                    assert "input_required" in answer.text, answer.text
                gc.collect()
                return tracemalloc.get_traced_memory()[0]
            tracemalloc.start()
            await abandon(100)
            before = await abandon(100)
            print(await abandon(1000) - before)

asyncio.run(main())
"""


@contextlib.contextmanager
def demo(key: str, store: Path) -> Iterator[str]:
    """One process; its base URL."""
    command = [sys.executable, "-m", "mrtr_web.demo", "--port", "0", "--key", key, "--store", str(store)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=ROOT) as process:
        try:
            assert process.stdout is not None
            yield process.stdout.readline().split()[-1].removesuffix("/mcp")
        finally:
            process.terminate()
            process.wait(BOUND)


@pytest.mark.django_db(transaction=True)
def test_two_processes_with_one_key_finish_a_booking_between_them(
    person: Person, server: Server, tmp_path: Path
) -> None:
    """BA-7: nothing is kept from leg to leg but the state."""
    with demo("k", tmp_path / "store") as one, demo("k", tmp_path / "store") as two:
        proxy = Proxy(one, two)
        recorder = Recorder(proxy)
        with serve(recorder, lifespan="off") as base:
            point_to(server, base)
            book(person)
        used = [
            target for post, target in zip(recorder.posts, proxy.used, strict=True) if "call" in post.json["method"]
        ]
        assert len(used) == 4
        assert set(used[:2]) == set(used[2:]) == {one, two}
    assert "Booked: 3 nights in Lyon" in person.page.text


def test_a_process_with_another_key_refuses_the_state(tmp_path: Path) -> None:
    with demo("k", tmp_path / "store") as one, demo("another", tmp_path / "store") as other:
        state = Raw(one).tool("redeem_voucher")["requestState"]
        assert refused(Raw(other).tool("redeem_voucher", requestState=state, inputResponses=CAKE)) == INVALID
        assert Raw(one).tool("redeem_voucher", requestState=state, inputResponses=CAKE)["structuredContent"]["redeemed"]


@pytest.mark.django_db(transaction=True)
def test_a_payment_survives_the_process_that_asked_for_it(person: Person, server: Server, tmp_path: Path) -> None:
    with demo("k", tmp_path / "store") as one, demo("k", tmp_path / "store") as two:
        proxy = Proxy(one)
        with serve(Recorder(proxy), lifespan="off") as base:
            point_to(server, base)
            booking.start(person)
            booking.tell_details(person)
            person.press("Send")
            person.until("waiting")
            booking.pay(person)
            proxy.turns = itertools.cycle([two])
            person.press("I have finished")
            assert "Shall we book it?" in person.until("waiting").text


def test_a_thousand_flows_abandoned_after_their_first_leg_leave_the_memory_as_it_was() -> None:
    """MR-16"""
    done = subprocess.run([sys.executable, "-c", MEMORY], cwd=ROOT, capture_output=True, text=True, timeout=100)
    assert done.returncode == 0, done.stderr[-2000:]
    grown = int(done.stdout)
    assert grown < 100_000, f"{grown} bytes for 1,000 flows"
