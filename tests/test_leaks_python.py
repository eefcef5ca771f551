"""What Python, asyncio and the libraries would write by themselves of an exception, or at DEBUG: never its text.

In a process of its own, with our logging at DEBUG and our hooks.
"""

import dataclasses
import importlib
import inspect
import json
import os
import pkgutil
import subprocess
import sys
from collections.abc import Iterator, Mapping
from typing import Any

import pydantic
import pytest

import mrtr_web

CANARY = "c4n4ry-5e3d"
SCRIPT = """
import asyncio, gc, logging, os, threading
import django
django.setup()
from django.conf import settings
from django.core.mail import get_connection
from mrtr_web.logs import guard_hooks, guard_server_logs
logging.getLogger("uvicorn").addHandler(logging.StreamHandler())
guard_server_logs(settings.CONFIG.log_format)
guard_hooks()
CANARY = os.environ["CANARY"]

def fails(*args):
    raise ValueError(CANARY)

async def task():
    fails()

class Finalized:
    def __del__(self):
        fails()

async def main():
    asyncio.get_running_loop().call_soon(fails, CANARY)
    asyncio.create_task(task(), name="t")
    future = asyncio.get_running_loop().create_future()
    future.set_exception(KeyError(CANARY))
    del future
    await asyncio.sleep(0.05)
    gc.collect()

asyncio.run(main())
thread = threading.Thread(target=fails, name="th")
thread.start()
thread.join()
Finalized()
gc.collect()

def logs(name, level, message, *args):
    try:
        raise ValueError(CANARY)
    except ValueError:
        logging.getLogger(name).log(level, message, *args, exc_info=True, stack_info=True)

for name in ("django.request", "django.security.X", "uvicorn.error", "uvicorn.asgi", "mrtr_web", "", "concurrent"):
    logs(name, logging.ERROR, "something failed in " + name)
for name in ("django.db.backends", "django.db.backends.schema", "django.template", "psycopg", "psycopg.pool", "redis",
             "channels", "asyncio", "httpx2", "httpcore2.http11", "mcp.client", "uvicorn.error"):
    logging.getLogger(name).debug("%s: %s", name, CANARY)
for name in ("httpx2", "httpcore2.http11", "mcp.client.streamable_http", "mcp"):
    import mrtr_web.wire
    logs(name, logging.CRITICAL, CANARY)
logging.getLogger("django.security.csrf").warning("Forbidden (%s): %s", f"Referer - https://a/?x={CANARY} no", "/x/")

from django.db import connection
from django.template import Context, Template
with connection.cursor() as cursor:
    cursor.execute("SELECT %s", [CANARY])
Template("{{ a.b.c }}").render(Context({"a": {CANARY: CANARY}}))
logging.getLogger("mrtr_web.x").debug("still of use")
loggers = map(logging.getLogger, ("", "django", "django.request"))
handlers = [type(each).__name__ for logger in loggers for each in logger.handlers]
print(settings.ADMINS, settings.MANAGERS, settings.DEBUG, handlers)
"""


def as_text(line: str) -> str:
    """A line of the log as JSON, as it reads otherwise."""
    return "{time} {level} {logger} {message}".format(**json.loads(line))


@pytest.mark.parametrize("form", ["text", "json"])
def test_no_exception_is_written_with_its_text_and_debug_is_of_use(form: str) -> None:
    environ = os.environ | {"MRTR_LOG_LEVEL": "DEBUG", "CANARY": CANARY, "DATABASE_URL": "sqlite:///:memory:"}
    environ |= {"DJANGO_SETTINGS_MODULE": "mrtr_web.settings", "MRTR_LOG_FORMAT": form}
    done = subprocess.run(
        [sys.executable, "-W", "always", "-c", SCRIPT], capture_output=True, text=True, env=environ, timeout=60
    )
    assert done.returncode == 0, done.stderr
    assert CANARY not in done.stderr + done.stdout, done.stderr
    said = done.stderr if form == "text" else "\n".join(map(as_text, done.stderr.splitlines()))
    for kept in (
        "asyncio Task exception was never retrieved: ValueError at <string>:",
        "asyncio Future exception was never retrieved: KeyError",
        "asyncio Exception in callback fails: ValueError at <string>:",
        "a thread ended: ValueError at <string>:",
        "an exception was ignored: ValueError at <string>:",
        "something failed in django.request: ValueError at <string>:",
        "something failed in uvicorn.error: ValueError at <string>:",
        "django.security.csrf Forbidden (Referer - https://a/): /x/",
        "DEBUG mrtr_web.x still of use",
    ):
        assert kept in said, (kept, said)
    assert "Traceback" not in done.stderr and "in fails" not in done.stderr
    assert done.stdout == "[] [] False ['StreamHandler']\n"  # nobody is mailed, whatever fails


# What is shown of objects that hold content, as in a log or a traceback with locals


ELSEWHERE = (".migrations", ".demo", ".management", ".settings", ".asgi", ".sso")
"""What holds no content, or cannot be imported here: single sign-on is off, and its only model is public metadata."""


def modules() -> Iterator[Any]:
    for found in pkgutil.walk_packages(mrtr_web.__path__, "mrtr_web."):
        if not any(part in found.name for part in ELSEWHERE):
            yield importlib.import_module(found.name)


def holders() -> dict[str, type]:
    """All classes of ours with fields: dataclasses and models of pydantic."""
    found: dict[str, type] = {}
    for module in modules():
        for name, kind in inspect.getmembers(module, inspect.isclass):
            ours = kind.__module__ == module.__name__
            if ours and (dataclasses.is_dataclass(kind) or issubclass(kind, pydantic.BaseModel)):
                found[f"{module.__name__.removeprefix('mrtr_web.')}.{name}"] = kind
    return found


SECRETS: Mapping[str, frozenset[str]] = {
    "vault.Keys": frozenset({"secret", "peppers"}),
    "sessions.Visitor": frozenset({"secret"}),
    "relay.Endpoint": frozenset({"headers"}),
    "wire.Route": frozenset({"headers"}),
    "mcpjson.Entry": frozenset({"text"}),
    "clientlines.Given": frozenset({"secret"}),
}
"""Fields that nothing may show, of classes that show the rest."""
SILENT = frozenset(
    {"vault.Record", "vault.PastAnswer", "vault.Message"}
    | {"access.Challenge", "access.Refusals", "access.Client", "access.Tokens", "access.Leaving"}
)
"""Classes that show nothing."""


def test_secrets_are_in_no_repr() -> None:
    known = holders()
    assert len(known) > 60
    for name in SILENT:
        kind = known[name]
        assert issubclass(kind, pydantic.BaseModel)
        filled = kind.model_construct(**dict.fromkeys(kind.model_fields, CANARY))  # type: ignore[arg-type]
        assert repr(filled) == str(filled) == f"{kind.__name__}()"
        with pytest.raises(pydantic.ValidationError) as refused:
            kind.model_validate(dict.fromkeys(kind.model_fields, [CANARY]))
        assert CANARY not in str(refused.value) + repr(refused.value)
    for name, fields in SECRETS.items():
        kind = known[name]
        filled = _filled(kind)
        shown = repr(filled) + str(filled)
        assert all(f"{CANARY}-{field}" not in shown for field in fields), name


def _filled(kind: Any) -> Any:
    filled = object.__new__(kind)
    for field in dataclasses.fields(kind):
        object.__setattr__(filled, field.name, f"{CANARY}-{field.name}")
    return filled


CONTENT = frozenset(
    [
        "access",
        "refresh",
        "verifier",
        "code",
        "secret",
        "password",
        "headers",
        "params",
        "arguments",
        "answer",
        "answers",
        "request_state",
        "responses",
        "requests",
        "result",
        "raw",
        "content",
        "text",
        "message",
        "body",
        "sent",
        "received",
        "messages",
        "data",
        "value",
        "typed",
        "initial",
        "posted",
        "token",
        "peppers",
        "structured",
        "url",
        "uri",
        "error",
        "earlier",
        "steps",
        "pages",
        "record",
        "call",
        "endpoint",
    ]
)
"""Names of fields in which there is content, or what leads to it."""


@pytest.mark.parametrize("name", sorted(holders()))
def test_content_is_in_no_repr(name: str) -> None:
    """Whatever a traceback with locals, a log line with %r or an assertion would write of it."""
    kind: Any = holders()[name]
    names = (
        kind.model_fields if issubclass(kind, pydantic.BaseModel) else [each.name for each in dataclasses.fields(kind)]
    )
    held = CONTENT & set(names) - PUBLIC.get(name, frozenset())
    if issubclass(kind, pydantic.BaseModel):
        filled = kind.model_construct(**{each: f"{CANARY}-{each}" for each in names})
    else:
        filled = _filled(kind)
    shown = repr(filled) + str(filled)
    assert not [each for each in sorted(held) if f"{CANARY}-{each}" in shown]


PUBLIC: Mapping[str, frozenset[str]] = {
    "entries.Entry": frozenset({"raw"}),  # of a listing, which is stored in clear
    "mcpjson.Entry": frozenset({"url"}),
    "queue.Queue": frozenset({"pages"}),
    "relay.Endpoint": frozenset({"url"}),
    "screen.Fault": frozenset({"code"}),
    "timeline.Call": frozenset({"sent"}),
    "wire.Route": frozenset({"url"}),
}
"""What may be shown for all that: an admin wrote it, or it is a code of ours."""
