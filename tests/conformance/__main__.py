"""`make conformance`: the official suite against the wizard, the pages in a browser, and the demo server."""

import contextlib
import logging
import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

from playwright.sync_api import BrowserContext

import tests.env  # noqa: F401  settings, before Django reads them
from tests.conformance import browser, signing_in, suite
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
    "auth/metadata-default": 18,
    "auth/metadata-var1": 18,
    "auth/metadata-var2": 18,
    "auth/metadata-var3": 18,
    "auth/basic-cimd": 12,
    "auth/scope-from-www-authenticate": 14,
    "auth/scope-from-scopes-supported": 14,
    "auth/scope-omitted-when-undefined": 14,
    "auth/scope-step-up": 25,
    "auth/scope-retry-limit": 27,
    "auth/token-endpoint-auth-basic": 19,
    "auth/token-endpoint-auth-post": 19,
    "auth/token-endpoint-auth-none": 19,
    "auth/pre-registration": 12,
    "auth/resource-mismatch": 2,
    "auth/offline-access-scope": 12,
    "auth/offline-access-not-supported": 14,
    "auth/authorization-server-migration": 28,
    "auth/iss-supported": 14,
    "auth/iss-not-advertised": 14,
    "auth/iss-supported-missing": 8,
    "auth/iss-wrong-issuer": 8,
    "auth/iss-unexpected": 8,
    "auth/iss-normalized": 8,
    "auth/metadata-issuer-mismatch": 3,
}
"""Client scenarios of signing in: all that the suite requires."""
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
    suite.check_required_of_clients("auth/", AUTH)
    with _app(folder) as base, browser.person(base) as person:
        for scenario in BROWSER:
            yield suite.driven("browser", scenario, CLIENT[scenario], partial(_use, person, scenario))
        for scenario, checks in AUTH.items():
            yield suite.driven("auth", scenario, checks, partial(_sign_in, person, scenario))
    with _demo() as url:
        for scenario in suite.required_of_servers():
            yield suite.server(url, scenario)


def _use(person: BrowserContext, scenario: str, url: str, _: dict[str, Any]) -> None:
    browser.use(person, scenario, url)


def _sign_in(person: BrowserContext, scenario: str, url: str, told: dict[str, Any]) -> None:
    signing_in.use(person, scenario.replace("/", "-"), url, told)


@contextlib.contextmanager
def _app(folder: Path) -> Iterator[str]:
    """The real app with one person in it; its address."""
    os.environ["DATABASE_URL"] = f"sqlite:///{folder}/app.sqlite3"
    os.environ["DJANGO_SETTINGS_MODULE"] = "mrtr_web.settings"
    os.environ["MRTR_CREDENTIAL_DIR"] = str(folder)
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
    document = {"MRTR_CLIENT_METADATA_URL": "https://conformance-test.local/client-metadata.json"}
    with serving(folder, **document) as process:
        yield process.base


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
