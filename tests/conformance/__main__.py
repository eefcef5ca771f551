"""`make conformance`: the official suite against the wizard, the pages in a browser, and the demo server."""

import contextlib
import logging
import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import tests.env  # noqa: F401  settings, before Django reads them
from tests.conformance import suite
from tests.conformance.suite import Grade

CLIENT = {
    "tools_call": 2,
    "request-metadata": 6,
    "http-standard-headers": 10,
    "http-custom-headers": 18,
    "http-invalid-tool-headers": 12,
    "json-schema-ref-no-deref": 1,
    "json-schema-2020-12-preservation": 9,
    "sep-2322-client-request-state": 5,
}
"""Client scenarios, and how many checks each makes."""
AUTH = {
    **dict.fromkeys(("metadata-default", "metadata-var1", "metadata-var2", "metadata-var3"), 18),
    **dict.fromkeys(("token-endpoint-auth-basic", "token-endpoint-auth-post", "token-endpoint-auth-none"), 19),
    **dict.fromkeys(("basic-cimd", "pre-registration", "offline-access-scope"), 12),
    **dict.fromkeys(("iss-supported-missing", "iss-wrong-issuer", "iss-unexpected", "iss-normalized"), 8),
    "scope-step-up": 25,
    "scope-retry-limit": 27,
    "authorization-server-migration": 28,
    "metadata-issuer-mismatch": 3,
    "resource-mismatch": 2,
}
"""Checks of the scenarios in which a person signs in, where they are not 14."""
BROWSER = (
    "sep-2322-client-request-state",
    "tools_call",
    "http-standard-headers",
    "json-schema-ref-no-deref",
    "request-metadata",
)


def main() -> int:
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # so that what was started is ended
    with tempfile.TemporaryDirectory() as folder:
        return suite.report(_grades(Path(folder)))


def _grades(folder: Path) -> Iterator[Grade]:
    for scenario, checks in CLIENT.items():
        environ = {"DATABASE_URL": f"sqlite:///{folder}/{scenario}.sqlite3"}
        yield suite.client("client", f"{sys.executable} manage.py conformance", scenario, checks, environ)
    yield suite.own("pages", "tmcp", "tests/conformance/tmcp.py")
    with _app(folder) as environ:
        for scenario in BROWSER:
            yield suite.client(
                "browser", f"{sys.executable} -m tests.conformance.browser", scenario, CLIENT[scenario], environ
            )
        for scenario in suite.required_of_clients("auth/"):
            command = f"{sys.executable} -m tests.conformance.signing_in"
            yield suite.client("auth", command, scenario, AUTH.get(scenario.removeprefix("auth/"), 14), environ)
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
    logging.getLogger("httpx2").setLevel(logging.WARNING)
    from django.contrib.auth.models import User
    from django.core.management import call_command

    from tests.conformance.browser import NAME, PASSWORD
    from tests.processes import serving

    call_command("migrate", verbosity=0)
    call_command("collectstatic", interactive=False, verbosity=0)
    User.objects.create_user(NAME, password=PASSWORD)
    os.environ["MRTR_CREDENTIAL_DIR"] = str(folder)
    document = {"MRTR_CLIENT_METADATA_URL": "https://conformance-test.local/client-metadata.json"}
    with serving(folder, **document) as process:
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
