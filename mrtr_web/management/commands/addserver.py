"""Register an MCP server, or change the one with the same slug."""

from argparse import ArgumentParser, ArgumentTypeError
from typing import Any

from django.core.exceptions import ValidationError
from django.core.management.base import BaseCommand, CommandError

from mrtr_web import credentials, headerlines, registry
from mrtr_web.access import PER_PERSON
from mrtr_web.importing import doubts, join
from mrtr_web.models import CAPABILITIES, PRIVATE_NETWORKS, Server


class Command(BaseCommand):
    help = "Registers an MCP server, or changes the one with the same slug. What is not given stays as it is."

    def add_arguments(self, parser: ArgumentParser) -> None:
        add = parser.add_argument
        add("slug", help="the server's word in addresses: letters, digits, - and _")
        add("url", help="the address of its MCP endpoint")
        add("--name", help="what people read; the slug where it is not given")
        add("--description", help="a line or two for people")
        add("--tags", type=names, help="words to find it by, comma separated")
        add(
            "--capabilities",
            type=_capabilities,
            help=f"what it may ask for, comma separated: {', '.join(CAPABILITIES)}",
        )
        add("--groups", type=names, help="who may use it, comma separated; none: everybody. New ones are made")
        add("--bearer-env", metavar="VAR", help="the environment variable that holds its bearer token")
        add("--bearer-file", metavar="NAME", help="the file in MRTR_CREDENTIAL_DIR that holds its bearer token")
        add(
            "--credential",
            choices=sorted(PER_PERSON),
            help="each person's own: a bearer token that they paste, or one that they sign in for",
        )
        add(
            "--client-env",
            metavar="VAR",
            help="with oauth: the environment variable with client_id: … and client_secret: … lines",
        )
        add("--client-file", metavar="NAME", help="with oauth: the file in MRTR_CREDENTIAL_DIR with such lines")
        add("--allow-private", action="store_true", help="let its name lead to any loopback or private address")
        add("--private-networks", type=names, metavar="CIDR,…", help="let it lead to these networks alone")

    def handle(self, *args: Any, **options: Any) -> None:
        server = Server.objects.filter(slug=options["slug"]).first()
        server = server or Server(slug=options["slug"], name=options["slug"], capabilities=["elicitation"])
        try:
            stored = registry.store(server, _values(options), _credential(options))
        except ValidationError as error:
            raise CommandError("; ".join(error.messages)) from None
        except headerlines.Malformed as error:
            raise CommandError(str(error)) from None
        self.stdout.write(f"{server.slug}: {'registered' if stored.is_new else 'changed'}, at {server.url}")
        if stored.dropped:
            self._warn("its credential was given for another address and has been dropped")
        if why := credentials.trouble(server):
            self._warn(f"its credential cannot be had yet, and nothing is sent without it. {why}")
        for doubt in (*doubts(server), *join(server, options["groups"])):
            self._warn(doubt)

    def _warn(self, text: str) -> None:
        self.stderr.write(self.style.WARNING(f"note: {text}"))


def _values(options: dict[str, Any]) -> dict[str, Any]:
    given = ("url", "name", "description", "tags", "capabilities", "private_networks")
    values = {name: options[name] for name in given if options[name] is not None}
    return values | ({"private_networks": list(PRIVATE_NETWORKS)} if options["allow_private"] else {})


def _credential(options: dict[str, Any]) -> registry.Credential | None:
    """The one that is named; a variable or file of a client goes with --credential oauth."""
    named = [
        (kind, source, options[f"{option}_{source}"])
        for kind, option in (("bearer", "bearer"), ("oauth", "client"))
        for source in ("env", "file")
        if options[f"{option}_{source}"] is not None
    ]
    kind = options["credential"]
    if len(named) > 1 or (named and kind not in (None, named[0][0])):
        raise CommandError(
            "give one credential: --credential, --bearer-env, --bearer-file, --client-env or --client-file"
        )
    if named:
        return registry.Credential(*named[0])
    return registry.Credential(kind, "form") if kind in PER_PERSON else None


def names(text: str) -> list[str]:
    return list(filter(None, map(str.strip, text.split(","))))


def _capabilities(text: str) -> list[str]:
    found = names(text)
    if unknown := set(found) - set(CAPABILITIES):
        raise ArgumentTypeError(f"unknown: {', '.join(sorted(unknown))}; known: {', '.join(CAPABILITIES)}")
    return found
