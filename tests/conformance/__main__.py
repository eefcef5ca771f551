"""`make conformance`: the official suite against the wizard, the pages in a browser, and the demo server."""

import contextlib
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import tests.env  # noqa: F401  settings, before Django reads them
from tests.conformance import suite
from tests.conformance.suite import Grade

CLIENT = (
    "tools_call",
    "request-metadata",
    "http-standard-headers",
    "http-custom-headers",
    "http-invalid-tool-headers",
    "json-schema-ref-no-deref",
    "json-schema-2020-12-preservation",
    "sep-2322-client-request-state",
)
BROWSER = (
    "sep-2322-client-request-state",
    "tools_call",
    "http-standard-headers",
    "json-schema-ref-no-deref",
    "request-metadata",
)


def main() -> int:
    with tempfile.TemporaryDirectory() as folder:
        return suite.report(_grades(Path(folder)))


def _grades(folder: Path) -> Iterator[Grade]:
    for number, scenario in enumerate(CLIENT):
        environ = {"DATABASE_URL": f"sqlite:///{folder}/{number}.sqlite3"}
        yield suite.client("client", f"{sys.executable} manage.py conformance", scenario, environ)
    with _app(folder) as environ:
        for scenario in BROWSER:
            yield suite.client("browser", f"{sys.executable} -m tests.conformance.browser", scenario, environ)
    with _demo() as url:
        for scenario in suite.required_of_servers():
            yield suite.server(url, scenario)


@contextlib.contextmanager
def _app(folder: Path) -> Iterator[dict[str, str]]:
    """The real app with one person in it; the environment that tells where it is."""
    os.environ["DATABASE_URL"] = f"sqlite:///{folder}/app.sqlite3"
    os.environ["DJANGO_SETTINGS_MODULE"] = "mrtr_web.settings"
    import django

    django.setup()
    from django.contrib.auth.models import User
    from django.core.management import call_command

    from tests.conformance.browser import NAME, PASSWORD
    from tests.processes import serving

    call_command("migrate", verbosity=0)
    call_command("collectstatic", interactive=False, verbosity=0)
    User.objects.create_user(NAME, password=PASSWORD)
    with serving(folder) as process:
        yield {"APP": process.base, "DATABASE_URL": os.environ["DATABASE_URL"]}


@contextlib.contextmanager
def _demo() -> Iterator[str]:
    """The demo server with the suite's fixtures; its address."""
    command = [sys.executable, "-m", "mrtr_web.demo", "--suite", "--port", "0"]
    with subprocess.Popen(command, cwd=suite.BASE, stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            yield process.stdout.readline().split()[-1]
        finally:
            process.terminate()


if __name__ == "__main__":
    sys.exit(1 if main() else 0)
