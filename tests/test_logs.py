"""Lines of the log as JSON, and the ids in them: each request has one of our own, and a leg the one that started it."""

import asyncio
import json
import re
import time
from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth.models import User

from mrtr_web import about, catalog, ledger, relay
from mrtr_web.models import Flow, Server, Session
from mrtr_web.runner import Job, Runner
from tests.desk import asks, desk, done, start
from tests.hints import listening
from tests.person import Person
from tests.processes import Process, serving
from tests.servers import BOUND, run
from tests.visitors import cookies_of

pytestmark = pytest.mark.django_db(transaction=True)
CANARY = "canary-in-json"


def lines(process: Process) -> list[dict[str, Any]]:
    """All of the log; a line that is no object fails."""
    found = [json.loads(line) for line in process.log.read_text().splitlines()]
    assert all({"time", "level", "logger", "message"} <= each.keys() for each in found)
    return found


def of(process: Process, request: str) -> list[dict[str, Any]]:
    """The lines about this request, once its last was written."""
    end = time.monotonic() + BOUND
    while time.monotonic() < end:
        found = [each for each in lines(process) if each.get("request") == request]
        if any(each["logger"] == "uvicorn.access" for each in found):
            return found
        time.sleep(0.05)
    raise AssertionError(f"nothing of {request}")


def test_each_line_is_an_object_with_the_id_of_its_request(tmp_path: Path, alice: User, server: Server) -> None:
    with (
        desk(server, asks(message=CANARY), done(CANARY)),
        serving(tmp_path, MRTR_LOG_FORMAT="json", MRTR_LOG_LEVEL="DEBUG") as process,
        Person(process.base) as person,
    ):
        person.client.headers["X-Request-ID"] = CANARY
        person.client.cookies.update(cookies_of(alice))
        begun = start(person, CANARY).response.history[0].headers["x-request-id"]
        person.until("waiting")
        with listening(person):
            pass
        person.fill("Name", CANARY)
        person.press("Send")
        person.until("completed")
        missing = person.get(f"/nowhere/?x={CANARY}").response.headers["x-request-id"]
        assert re.fullmatch(r"[0-9a-f]{32}", missing) and missing != begun
        assert {each["message"].split('"')[1] for each in of(process, missing)} == {"GET /nowhere/ HTTP/1.1"}
        assert "POST /s/demo/tools/ask/ " in of(process, begun)[0]["message"]
    written = lines(process)
    assert all(each["time"].endswith("+00:00") for each in written)
    assert CANARY not in json.dumps(written)
    assert {"uvicorn.error", "uvicorn.access"} <= {each["logger"] for each in written}


def test_a_leg_and_its_threads_know_who_started_it(alice: User, server: Server) -> None:
    cookies_of(alice)
    row = Flow(user=alice, server=server, method="tools/call", name="ask")
    leg = ledger.begin(row, session=Session.objects.get().pk, sealed=b"0", lease=20)
    assert leg is not None
    seen: list[about.Ids] = []

    async def scene(server: Server) -> None:
        runner, call = Runner(), relay.Call("tools/call", {"name": "ask"}, {})
        runner.start()
        job = Job(
            row.pk,
            leg,
            server,
            False,
            alice.pk,
            server.url,
            call,
            catalog.limits(),
            lambda outcome: seen.append(about.ids()),
            str.encode,
        )
        request = about.begin()
        await asyncio.wrap_future(runner.launch(job))
        assert seen == [{"request": request, "flow": str(row.pk), "leg": str(leg)}]
        await runner.drain(0)

    with desk(server, done()):
        run(scene(Server.objects.get()))
