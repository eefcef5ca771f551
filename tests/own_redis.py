"""A Redis that a test may stop and start again."""

import contextlib
import subprocess
import time
from collections.abc import Iterator

import redis

from tests.servers import BOUND, free_port


class Redis:
    """A Redis of its own on a free port, without persistence."""

    def __init__(self) -> None:
        self.port = free_port()
        self.url = f"redis://127.0.0.1:{self.port}"

    def start(self) -> None:
        command = ["redis-server", "--port", str(self.port), "--save", "", "--bind", "127.0.0.1"]
        self.process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
        end = time.monotonic() + BOUND
        with redis.Redis(port=self.port) as client:
            while time.monotonic() < end:
                with contextlib.suppress(redis.ConnectionError):
                    if client.ping():
                        return
                time.sleep(0.02)
        raise AssertionError("Redis did not start")

    def stop(self) -> None:
        self.process.terminate()
        self.process.wait(BOUND)


@contextlib.contextmanager
def running_redis() -> Iterator[Redis]:
    server = Redis()
    server.start()
    try:
        yield server
    finally:
        server.stop()
