"""End the sessions that ran out, and delete old rows of the audit trail, and requests that ended as long ago."""

from argparse import ArgumentParser
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand

from mrtr_web import retention


class Command(BaseCommand):
    help = (
        "Ends the sessions that ran out, with all that they keep, and deletes rows of the audit trail and ended "
        "requests that are older than MRTR_AUDIT_DAYS."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--dry-run", action="store_true", help="only count them")

    def handle(self, *args: Any, dry_run: bool, **options: Any) -> None:
        days = settings.CONFIG.audit_days
        found = retention.purge(days, dry_run=dry_run)
        end, verb = ("Would end", "Would delete") if dry_run else ("Ended", "Deleted")
        self.stdout.write(f"{end} {found.sessions} sessions that ran out.")
        self.stdout.write(
            f"{verb} {found.entries} rows of the audit trail and {found.flows} ended requests, older than {days} days."
        )
