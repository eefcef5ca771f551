"""python -m tests.deployment: the site as docs/deploy says, on this machine, and what happens to it. Prints figures.

nginx with TLS, two processes with the settings that an operator has who sets nothing, PostgreSQL, Redis, and the demo
server; a booking in chromium, processes killed in the middle of others, and rolling restarts under load. Ends with 1
where anything falls. It needs nginx, PostgreSQL, Redis and chromium, takes a few minutes, and leaves nothing behind.
"""

import os
import secrets
import subprocess
import sys
import tempfile
from pathlib import Path

from tests.postgres import own_postgres


def main() -> None:
    with own_postgres() as database, tempfile.TemporaryDirectory(prefix="mrtr-site-") as folder:
        os.environ |= _settings(Path(folder)) | {"DATABASE_URL": database.url}
        for words in (["migrate", "-v0"], ["collectstatic", "--noinput", "-v0"]):
            subprocess.run([sys.executable, "manage.py", *words], check=True)
        import django

        django.setup()
        from tests.deployment import site

        site.show(Path(folder))


def _settings(folder: Path) -> dict[str, str]:
    """What /etc/mrtr-web has, and no more; and static files of its own, as the checkout may be in use."""
    return {
        "SECRET_KEY": secrets.token_urlsafe(64),
        "MRTR_CREDENTIAL_KEYS": secrets.token_urlsafe(32),
        "MRTR_METRICS_TOKEN": secrets.token_urlsafe(32),
        "ALLOWED_HOSTS": "localhost",
        "DJANGO_SETTINGS_MODULE": "tests.elsewhere",
        "STATIC_ROOT": str(folder / "static"),
    }


if __name__ == "__main__":
    main()
