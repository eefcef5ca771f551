"""Register an MCP server, or change the one with the same slug."""

from argparse import ArgumentParser, ArgumentTypeError
from typing import Any

from django.contrib.auth.models import Group
from django.core.exceptions import ValidationError
from django.core.management.base import BaseCommand, CommandError

from mrtr_web import catalog
from mrtr_web.models import CAPABILITIES, PRIVATE_NETWORKS, Server


class Command(BaseCommand):
    help = "Registers an MCP server, or changes the one with the same slug."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("slug")
        parser.add_argument("url")
        parser.add_argument("--name")
        parser.add_argument("--bearer-env", metavar="VAR")
        parser.add_argument("--capabilities", type=_capabilities, help=f"comma separated: {', '.join(CAPABILITIES)}")
        parser.add_argument("--groups", type=_names, help="comma separated; none: everybody")
        parser.add_argument("--allow-private", action="store_true", default=None, help="loopback, private networks")

    def handle(self, *args: Any, **options: Any) -> None:
        """What is not given stays as it is, or as a new server has it."""
        known = Server.objects.filter(slug=options["slug"]).first()
        server = known or Server(slug=options["slug"], name=options["slug"], capabilities=["elicitation"])
        if server.url != options["url"]:
            catalog.forget_listings(server)
        server.url, server.checked_at = options["url"], None
        for name in ("name", "capabilities"):
            if options[name] is not None:
                setattr(server, name, options[name])
        if options["bearer_env"] is not None:
            server.credential_kind, server.credential_source = "bearer", "env"
            server.credential_ref = options["bearer_env"]
        if options["allow_private"]:
            server.private_networks = list(PRIVATE_NETWORKS)
        try:
            server.full_clean()
        except ValidationError as error:
            raise CommandError("; ".join(error.messages)) from None
        server.save()
        if options["groups"] is not None:
            server.groups.set([Group.objects.get_or_create(name=name)[0] for name in options["groups"]])
        self.stdout.write(f"{server.slug}: {server.url}")


def _names(text: str) -> list[str]:
    return list(filter(None, map(str.strip, text.split(","))))


def _capabilities(text: str) -> list[str]:
    names = _names(text)
    if unknown := set(names) - set(CAPABILITIES):
        raise ArgumentTypeError(f"unknown: {', '.join(sorted(unknown))}; known: {', '.join(CAPABILITIES)}")
    return names
