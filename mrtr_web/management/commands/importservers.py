"""Register the servers of a file that another MCP host keeps."""

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from mrtr_web import importing, mcpjson
from mrtr_web.management.commands.addserver import names


class Command(BaseCommand):
    help = 'Registers the servers of an {"mcpServers": …} file, as other MCP hosts keep it. The same names update.'

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("file", type=Path, help="the JSON file")
        parser.add_argument("--groups", type=names, help="who may use them, comma separated; none: everybody")
        parser.add_argument(
            "--allow-private", action="store_true", help="let them lead to loopback and private addresses"
        )
        parser.add_argument("--dry-run", action="store_true", help="say what would be done, and do nothing")

    def handle(self, *args: Any, **options: Any) -> None:
        groups = None if options["groups"] is None else tuple(options["groups"])
        wanted = importing.Options(groups, options["allow_private"], options["dry_run"])
        try:
            rows = importing.run(options["file"].read_text(encoding="utf-8"), wanted)
        except OSError as error:
            raise CommandError(f"{options['file']}: {error.strerror}") from None
        except UnicodeDecodeError:
            raise CommandError(f"{options['file']} is not text in UTF-8") from None
        except mcpjson.Unreadable as error:
            raise CommandError(f"{options['file']}: {error}") from None
        for line in table(rows):
            self.stdout.write(line)
        if options["dry_run"]:
            self.stdout.write("nothing was written (--dry-run)")


def table(rows: list[importing.Row]) -> list[str]:
    """One line an entry, in columns, and a last one that counts."""
    cells = [("name", "address word", "outcome", "notes")]
    cells += [(row.name, row.slug or "-", row.word, " ".join(row.notes)) for row in rows]
    widths = [max(len(line[column]) for line in cells) for column in range(3)]
    lines = [
        "  ".join([*(cell.ljust(width) for cell, width in zip(line, widths, strict=False)), line[3]]).rstrip()
        for line in cells
    ]
    usable = sum(row.outcome in ("registered", "changed") for row in rows)
    return [*lines, f"{usable} of {len(rows)} can be used here"]
