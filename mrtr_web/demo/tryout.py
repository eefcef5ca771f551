"""Run mrtr_web with its demo server for trying it out: accounts, data and keys stay in var/ between runs."""

import argparse
import os
import secrets
import signal
import socket
import subprocess  # starts this app's own programs, without a shell  # nosec B404
import sys
import time
import urllib.error
import urllib.request
from pathlib import Path

from mrtr_web.demo.people import PEOPLE

BASE = Path(__file__).resolve().parents[2]
DEV_ENV = BASE / "var" / "dev.env"
PYTHON = sys.executable
TOKENS = " or ".join(PEOPLE)


def main() -> int:
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--port", type=int, default=8000)
    port = arguments.parse_args().port
    demo_port = port + 1
    for taken in filter(_is_taken, (port, demo_port)):
        print(f"error: port {taken} is taken; choose others with: make run PORT=9000", file=sys.stderr)
        return 1
    environ = _environ()
    _manage(environ, "migrate", "--verbosity=0")
    _manage(environ, "collectstatic", "--noinput", "--verbosity=0")
    _manage(environ, "preparedemo", f"http://127.0.0.1:{demo_port}/mcp")
    return _serve(environ, port, demo_port)


def _is_taken(port: int) -> bool:
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("127.0.0.1", port))
        except OSError:
            return True
    return False


def _environ() -> dict[str, str]:
    """The settings of var/dev.env, made once, readable by the owner only; the environment goes before them."""
    kept = dict(line.split("=", 1) for line in DEV_ENV.read_text().splitlines()) if DEV_ENV.exists() else {}
    made = {
        "SECRET_KEY": secrets.token_urlsafe(64),
        "ALLOWED_HOSTS": "127.0.0.1",
        "MRTR_LOOPBACK_HTTP": "true",
        "MRTR_DEMO_PASSWORD": secrets.token_urlsafe(9),
        "MRTR_DRAIN_TIMEOUT": "5",
        "MRTR_DEMO_KEY": secrets.token_urlsafe(32),
        "MRTR_CREDENTIAL_KEYS": secrets.token_urlsafe(32),
    }
    values = made | kept
    if chosen := os.environ.get("MRTR_DEMO_PASSWORD"):
        values["MRTR_DEMO_PASSWORD"] = chosen
    DEV_ENV.parent.mkdir(exist_ok=True)
    DEV_ENV.touch(mode=0o600)
    DEV_ENV.write_text("".join(f"{name}={value}\n" for name, value in values.items()))
    return values | os.environ | {"MRTR_DEMO_PASSWORD": values["MRTR_DEMO_PASSWORD"]}


def _manage(environ: dict[str, str], *words: str) -> None:
    if subprocess.run([PYTHON, "manage.py", *words], cwd=BASE, env=environ).returncode:  # nosec B603
        sys.exit(1)


def _serve(environ: dict[str, str], port: int, demo_port: int) -> int:
    demo = [PYTHON, "-m", "mrtr_web.demo", "--port", str(demo_port), "--store", str(DEV_ENV.with_name("demo.sqlite3"))]
    app = [PYTHON, "-m", "uvicorn", "mrtr_web.asgi:application", "--port", str(port), "--lifespan", "on"]
    app += ["--http", "mrtr_web.connections:Connection", "--ws-max-size", "1024"]
    app += ["--no-access-log", "--log-level", "warning", "--timeout-graceful-shutdown", "5"]
    running = [subprocess.Popen(command, cwd=BASE, env=environ) for command in (demo, app)]  # nosec B603
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    signal.signal(signal.SIGINT, signal.default_int_handler)  # also where a shell has it ignored
    try:
        address = f"http://127.0.0.1:{port}"
        if _answers(f"{address}/healthz", running):
            print(f"\n  mrtr_web is running at {address}/")
            print(f"  sign in as user, reviewer or admin; password: {environ['MRTR_DEMO_PASSWORD']}")
            print(f"  tokens of one's own that the demo server takes: {TOKENS} (README: Each person's own)")
            print("  Ctrl-C stops it\n", flush=True)
        while all(process.poll() is None for process in running):
            time.sleep(0.3)
        print("error: one of the two servers stopped by itself; the other is stopped, too", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("\n  stopping: running requests get a few seconds; Ctrl-C again stops at once", flush=True)
        return 0
    finally:
        _stop(running)


def _answers(url: str, running: list[subprocess.Popen[bytes]], seconds: float = 30) -> bool:
    end = time.monotonic() + seconds
    while time.monotonic() < end and all(process.poll() is None for process in running):
        try:
            with urllib.request.urlopen(url, timeout=2):  # our own http address  # nosec B310
                return True
        except (urllib.error.URLError, OSError):
            time.sleep(0.2)
    return False


def _stop(running: list[subprocess.Popen[bytes]]) -> None:
    for process in running:
        process.terminate()
    try:
        for process in running:
            process.wait(timeout=20)
    except (subprocess.TimeoutExpired, KeyboardInterrupt):
        for process in running:
            process.kill()


if __name__ == "__main__":
    sys.exit(main())
