"""Look at this deployment, and say what to do."""

from argparse import ArgumentParser, ArgumentTypeError
from collections import Counter
from typing import Any
from urllib.parse import urlsplit

from django.core.management.base import BaseCommand, CommandError

from mrtr_web import doctor


class Command(BaseCommand):
    help = "Looks at settings, database, Redis, credentials and servers, and says what to do. Ends with 1 if one fails."
    requires_system_checks = ()  # they are among what it tells

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--url", type=_site, help="https://host of the site: look through its proxy, too")

    def handle(self, *args: Any, **options: Any) -> None:
        levels = Counter[str]()
        for finding in doctor.examine(options["url"] or ""):
            levels[finding.level] += 1
            self.stdout.write(str(finding))
            self.stdout.flush()
        summary = f"{levels['ok']} ok, {levels['warning']} warnings, {levels['FAIL']} failed"
        if levels["FAIL"]:
            raise CommandError(summary)
        self.stdout.write(summary)


def _site(text: str) -> str:
    """Scheme and host."""
    try:
        parts = urlsplit(text)
        is_site = parts.scheme in ("http", "https") and parts.hostname and parts.port != 0 and "@" not in parts.netloc
    except ValueError:
        is_site = False
    if not is_site or parts.path not in ("", "/") or parts.query or parts.fragment:
        raise ArgumentTypeError("give https://host, without path or user")
    return f"{parts.scheme}://{parts.netloc}"
