"""docs/deploy/nginx.conf, run by a real nginx in front of real processes, with names and ports of the tests."""

import contextlib
import os
import re
import shutil
import socket
import ssl
import subprocess
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from django.contrib.auth.models import User
from pytest_django import Settings

from tests.processes import Process, serving
from tests.servers import BOUND, free_port

NGINX = shutil.which("nginx", path=f"{os.environ['PATH']}:/usr/sbin")
CONF = Path(__file__).resolve().parent.parent / "docs" / "deploy" / "nginx.conf"
needs_nginx = pytest.mark.skipif(
    NGINX is None and os.environ.get("CI") != "true",
    reason="nginx is not installed: apt-get install nginx-light",
)
NAME = "localhost"
MAIN = """
daemon off;
{user}
pid {folder}/nginx.pid;
error_log {folder}/error.log crit;
events {{ worker_connections 4096; }}
http {{
    client_body_temp_path {folder}/temp;
    proxy_temp_path {folder}/temp;
    fastcgi_temp_path {folder}/temp;
    uwsgi_temp_path {folder}/temp;
    scgi_temp_path {folder}/temp;
    access_log {folder}/access.log;
    include {folder}/mrtr.conf;
}}
"""


@dataclass(frozen=True)
class Front:
    """A running nginx: its folder, with its logs, the certificate to trust, and its two ports."""

    folder: Path
    certificate: Path
    port: int
    plain: int

    @property
    def base(self) -> str:
        return f"https://{NAME}:{self.port}"

    def trust(self) -> ssl.SSLContext:
        return ssl.create_default_context(cafile=str(self.certificate))

    def logged(self) -> str:
        return "".join(file.read_text() for file in self.folder.glob("*.log"))

    def ever_spooled(self) -> bool:
        """Whether a file was made where nginx puts bodies aside: the directory's time would tell, too."""
        temp = self.folder / "temp"
        return any(temp.iterdir()) or temp.stat().st_mtime_ns > (self.folder / "nginx.conf").stat().st_mtime_ns


@contextlib.contextmanager
def nginx(folder: Path, certificate: Path, *ports: int) -> Iterator[Front]:
    """Run it before the two processes at these ports, or before those that share the socket at one."""
    front = Front(folder / "nginx", certificate, free_port(), free_port())
    (front.folder / "temp").mkdir(parents=True)
    (front.folder / "mrtr.conf").write_text(_fitted(front, *ports))
    user = "user root;" if os.geteuid() == 0 else ""
    (front.folder / "nginx.conf").write_text(MAIN.format(folder=front.folder, user=user))
    assert NGINX is not None, "nginx is not installed"
    handle = subprocess.Popen([NGINX, "-e", str(front.folder / "error.log"), "-c", str(front.folder / "nginx.conf")])
    try:
        _await(front, handle)
        yield front
    finally:
        handle.terminate()
        handle.wait(BOUND)


def _fitted(front: Front, first: int, second: int | None = None) -> str:
    """The file as it is, but for what is each site's own. A machine of tests may have no IPv6."""
    text = CONF.read_text()
    if second is None:
        text = re.sub(r"\n +server 127\.0\.0\.1:8002.*", "\n    # 127.0.0.1:8002", text)
    for was, becomes in (
        (r"\n +listen \[::\].*", ""),
        (r"listen 443\b", f"listen 127.0.0.1:{front.port}"),
        (r"listen 80\b", f"listen 127.0.0.1:{front.plain}"),
        (r"127\.0\.0\.1:8001", f"127.0.0.1:{first}"),
        (r"127\.0\.0\.1:8002", f"127.0.0.1:{second}"),
        (r"/etc/ssl/mrtr\.example/\w+\.pem", str(front.certificate)),
        (r"/var/log/nginx", str(front.folder)),
        (r"mrtr\.example", NAME),
    ):
        text, count = re.subn(was, becomes, text)
        assert count, was
    return text


def _await(front: Front, handle: "subprocess.Popen[bytes]") -> None:
    end = time.monotonic() + BOUND
    while time.monotonic() < end and handle.poll() is None:
        with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", front.port), 1):
            return
        time.sleep(0.05)
    raise AssertionError(f"nginx did not start: {front.logged()[-2000:]}")


def as_in_production(static: Path) -> dict[str, str]:
    """Settings of a process behind this nginx."""
    return {
        "DJANGO_SETTINGS_MODULE": "tests.elsewhere",
        "STATIC_ROOT": str(static),
        "MRTR_LOOPBACK_HTTP": "false",
        "ALLOWED_HOSTS": NAME,
    }


@pytest.fixture
def processes(
    tmp_path: Path, transactional_db: None, collected: None, alice: User, settings: Settings
) -> Iterator[list[Process]]:
    """Two, with settings as in production; alice can sign in."""
    settings.PASSWORD_HASHERS = ["django.contrib.auth.hashers.Argon2PasswordHasher"]
    alice.set_password("alice's password")
    alice.save()
    environ = as_in_production(settings.STATIC_ROOT)
    with serving(tmp_path, **environ) as one, serving(tmp_path, **environ) as two:
        yield [one, two]


@pytest.fixture
def front(tmp_path: Path, certificate: Path, processes: list[Process]) -> Iterator[Front]:
    with nginx(tmp_path, certificate, *(process.port for process in processes)) as running:
        yield running
