"""Delete a person, with all rows about them."""

from argparse import ArgumentParser
from typing import Any

from django.contrib.auth.models import User
from django.core.management.base import BaseCommand, CommandError

from mrtr_web import retention


class Command(BaseCommand):
    help = (
        "Deletes a person: account, sessions, requests, tokens, and the rows of the audit trail about their requests."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("name", help="the name that they sign in with")
        parser.add_argument("--yes", action="store_true", help="do it; else it is only said what would go")

    def handle(self, *args: Any, name: str, yes: bool, **options: Any) -> None:
        person = User.objects.filter(username=name).first()
        if person is None:
            raise CommandError("There is nobody of that name.")
        found = retention.traces(person)
        if yes:
            retention.delete_person(person)
        verb = "Deleted" if yes else "Would delete (say --yes)"
        what = f"{found.sessions} sessions, {found.flows} requests, {found.entries} rows of the audit trail"
        self.stdout.write(f"{verb}: {name}, {what}.")
        if found.acts:
            stays = "of the audit trail on what they did to others stay, with their name, until the purge."
            self.stdout.write(f"{found.acts} rows {stays}")
