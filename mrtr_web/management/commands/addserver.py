"""Register an MCP server, or change the one with the same slug."""

from argparse import ArgumentParser
from typing import Any

from django.contrib.auth.models import Group
from django.core.exceptions import ValidationError
from django.core.management.base import BaseCommand, CommandError

from mrtr_web.models import Server


class Command(BaseCommand):
    help = "Registers an MCP server, or changes the one with the same slug."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("slug")
        parser.add_argument("url")
        parser.add_argument("--name", default="")
        parser.add_argument("--bearer-env", default="", metavar="VAR")
        parser.add_argument("--capabilities", default="elicitation", help="what is declared: elicitation, or nothing")
        parser.add_argument("--groups", default="", help="comma separated; none: everybody")
        parser.add_argument("--allow-private", action="store_true", help="loopback and private networks")

    def handle(self, *args: Any, **options: Any) -> None:
        server = Server.objects.filter(slug=options["slug"]).first() or Server(slug=options["slug"])
        server.name = options["name"] or options["slug"]
        server.url = options["url"]
        server.bearer_env = options["bearer_env"]
        server.allow_private = options["allow_private"]
        server.capabilities = _capabilities(options["capabilities"])
        server.listed_at = None
        try:
            server.full_clean()
        except ValidationError as error:
            raise CommandError("; ".join(error.messages)) from None
        server.save()
        names = list(filter(None, map(str.strip, options["groups"].split(","))))
        server.groups.set([Group.objects.get_or_create(name=name)[0] for name in names])
        self.stdout.write(f"{server.slug}: {server.url}")


def _capabilities(text: str) -> list[str]:
    names = list(filter(None, map(str.strip, text.split(","))))
    if unknown := set(names) - {"elicitation"}:
        raise CommandError(f"this version cannot show {', '.join(sorted(unknown))}: declare elicitation, or nothing")
    return names
