"""Accounts and the demo server's registration for `make run`. What is there already stays."""

import io
import os
from typing import Any

from django.contrib.auth.models import Permission, User
from django.core.management import call_command
from django.core.management.base import BaseCommand, CommandError, CommandParser

from mrtr_web.models import CAPABILITIES, Server

ROOTS = [
    {"uri": "file:///home/demo/photos", "name": "Photos"},
    {"uri": "file:///home/demo/travel", "name": "Travel papers"},
]

FIRST: dict[str, Any] = {
    "name": "Demo travel desk",
    "description": "Books trips that nobody takes, and shows every way in which a server can ask for more.",
    "tags": ["travel", "demo"],
    "capabilities": list(CAPABILITIES),
    "private_networks": ["127.0.0.0/8"],
}


class Command(BaseCommand):
    help = "Creates the accounts user, reviewer and admin, and registers the demo server."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("url")

    def handle(self, *args: Any, **options: Any) -> None:
        password = os.environ.get("MRTR_DEMO_PASSWORD")
        if not password:
            raise CommandError("MRTR_DEMO_PASSWORD is not set: `make run` makes one")
        for name in ("user", "reviewer", "admin"):
            _account(name, password)
        known = Server.objects.filter(slug="demo").exists()
        first = {} if known else FIRST
        call_command("addserver", "demo", options["url"], **first, stdout=io.StringIO())
        if not known:
            Server.objects.filter(slug="demo").update(roots=ROOTS, letter="✈")


def _account(name: str, password: str) -> None:
    account, _ = User.objects.get_or_create(username=name)
    account.is_superuser = account.is_staff = name == "admin"
    if not account.check_password(password):
        account.set_password(password)
    account.save()
    if name == "reviewer":
        account.user_permissions.set(
            Permission.objects.filter(codename__in=("review_flow", "view_finding", "switch_server"))
        )
