"""What the docs name is there: commands with their options, targets of make, settings, files, and where links lead."""

import re
from argparse import ArgumentParser
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from urllib.parse import unquote

import pytest
from django.apps import apps
from django.core.management import get_commands, load_command_class
from django.db.models import Model

from mrtr_web import config, secretfiles
from mrtr_web.models import KeptMessages, Session
from tests.processes import BASE

PAGES = [*(BASE / name for name in ("README.md", "SECURITY.md")), *sorted((BASE / "docs").rglob("*.md"))]
COMMAND = re.compile(r"(?:manage\.py|^ +mrtr-web|`mrtr-web) ([a-z_]+)([^`\n]*)", re.MULTILINE)
OPTION = re.compile(r"(?<=\s)--[a-z][a-z-]*")
TARGET = re.compile(r"^ {4,}make ([a-z-]+)|`make ([a-z-]+)", re.MULTILINE)
SETTING = re.compile(r"\bMRTR_[A-Z_]*[A-Z]\b")
PLACE = re.compile(r"`((?:docs|tests|mrtr_web|templates|static|requirements)/[\w./@-]+)`")
LINK = re.compile(r"\]\(([^)\s]+)\)")
WORDS_OF_SENTENCES = {"of"}
"""What follows `manage.py` where it is no command."""

each_page = pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(BASE)))


def text(page: Path) -> str:
    """With what a backslash continues on one line."""
    return re.sub(r"\\\n\s*", "", page.read_text())


def options_of(command: str) -> set[str]:
    parser: ArgumentParser = load_command_class(get_commands()[command], command).create_parser("manage.py", command)
    return set(parser._option_string_actions)


def named_commands(page: Path) -> Iterator[tuple[str, set[str]]]:
    for command, rest in COMMAND.findall(text(page)):
        if command not in WORDS_OF_SENTENCES:
            yield command, set(OPTION.findall(rest.partition("&&")[0]))


@each_page
def test_each_command_is_one_and_takes_these_options(page: Path) -> None:
    for command, options in named_commands(page):
        assert command in get_commands(), command
        assert options <= options_of(command), (command, options)


@each_page
def test_no_command_has_a_secret_in_its_arguments(page: Path) -> None:
    """Where all users of a machine can read it, for as long as the command runs."""
    secrets = "|".join(secretfiles.VARIABLES)
    assert not re.findall(rf"^ {{4,}}.*\$\{{?(?:{secrets})\b", text(page), re.MULTILINE)


@each_page
def test_each_target_of_make_is_one(page: Path) -> None:
    targets = re.findall(r"^([a-z-]+):", (BASE / "Makefile").read_text(), re.MULTILINE)
    assert {one or other for one, other in TARGET.findall(text(page))} <= set(targets)


@each_page
def test_each_setting_is_one(page: Path) -> None:
    known = {*map(config.variable, config.Config.model_fields), *config.OF_THE_DEMO}
    known |= {f"{name}_FILE" for name in secretfiles.VARIABLES}
    assert set(SETTING.findall(text(page))) <= known


@each_page
def test_each_file_is_there(page: Path) -> None:
    missing = [place for place in PLACE.findall(text(page)) if not (BASE / place).exists()]
    assert missing == []


@each_page
def test_each_link_leads_somewhere(page: Path) -> None:
    for link in LINK.findall(page.read_text()):
        if "://" in link:
            continue
        path, _, anchor = link.partition("#")
        target = (page.parent / unquote(path)).resolve() if path else page
        assert target.exists(), link
        assert not anchor or anchor in headings(target), link


@cache
def headings(page: Path) -> set[str]:
    """The anchors of a page's headings."""
    lines = re.findall(r"^#+ (.+)$", page.read_text(), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", line.lower()).replace(" ", "-") for line in lines}


def test_readme_leads_to_each_page() -> None:
    linked = {link.partition("#")[0] for link in LINK.findall((BASE / "README.md").read_text())}
    assert {f"docs/{page.name}" for page in (BASE / "docs").glob("*.md")} <= linked


def _refers(model: type[Model], to: type[Model]) -> bool:
    return any(field.related_model is to for field in model._meta.local_fields)


def test_the_backup_leaves_out_sessions_and_all_that_hangs_below_them() -> None:
    below = {model._meta.db_table for model in apps.get_models() if _refers(model, Session)}
    wanted = {Session._meta.db_table, KeptMessages._meta.db_table, *below}
    operate = (BASE / "docs" / "operate.md").read_text()
    assert set(re.findall(r"--exclude-table-data=(\w+)", operate)) == wanted
    (emptied,) = re.findall(r"TRUNCATE ([\w, ]+)", operate)
    assert set(emptied.split(", ")) == wanted
