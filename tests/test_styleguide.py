"""The style guide has every component, and only where the site is tried out; no rule of a sheet is without a use."""

import ast
import html.parser
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

from django.test import Client

from tests.texts import ROOT, python_files, template_files

GUIDE = "/styleguide/"
SHEETS = sorted((ROOT / "static" / "css").glob("*.css"))
MOST_BYTES = 30_000
ELSEWHERE = {"brand__logo", "page--wide"}
"""Classes of the frame around a page that the guide, which is one page, does not have."""
OF_THE_GUIDE = {"wide"}
"""Classes that no other page has."""


class Classes(html.parser.HTMLParser):
    """The classes of a page."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.found = set[str]()
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found |= set((dict(attrs).get("class") or "").split())


def styled() -> set[str]:
    """Every class that a sheet has a rule for."""
    return {name for sheet in SHEETS for name in classes_in(sheet.read_text())}


def classes_in(sheet: str) -> list[str]:
    bare = re.sub(r"/\*.*?\*/|\"[^\"]*\"|url\([^)]*\)", "", sheet, flags=re.DOTALL)
    selectors = re.findall(r"([^{};]+)\{", bare)
    return [name for selector in selectors for name in re.findall(r"\.([a-zA-Z_][\w-]*)", selector)]


def written() -> Iterator[str]:
    """Every class that the product's own sources name; what a template puts in is left open: tag--*."""
    for path in template_files():
        if "styleguide" not in path.parts:
            named = re.findall(r'class="((?:\{[{%].*?[%}]\}|[^"])*)"', path.read_text())
            named += re.findall(r"\{% block \w+_class %\}([^{]*)", path.read_text())
            yield from re.sub(r"\{%.*?%\}", " ", re.sub(r"\{\{.*?\}\}", "*", " ".join(named))).split()
    for path in (ROOT / "static" / "js").glob("*.js"):
        yield from re.findall(r"[\w-]+", path.read_text())
    for path in python_files():
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Constant) and isinstance(node.value, str):
                yield from node.value.split()


def drawn() -> set[str]:
    """Every class that is on the guide."""
    return Classes(Client().get(GUIDE).content.decode()).found


def known() -> set[str]:
    """Every class that the product's own sources name, or make on the guide: tag--waiting is one of tag--*."""
    names = set(written())
    made = tuple(name.removesuffix("*") for name in names if re.fullmatch(r"[\w-]+--\*", name))
    return names | {name for name in drawn() if name.startswith(made)}


def test_every_class_of_the_sheets_is_used_somewhere() -> None:
    assert sorted(styled() - known() - OF_THE_GUIDE) == []


def test_the_guide_has_no_class_that_the_product_has_not() -> None:
    assert drawn() - known() == OF_THE_GUIDE


def test_a_class_without_a_use_is_found() -> None:
    sheet = '/* .no */ @media (width < 2.5rem) { .a > b:not(.c--d)::after { content: ".e"; inset: 0.5rem } } .f {}'
    assert classes_in(sheet) == ["a", "c--d", "f"]
    assert "page" in set(written()) and "no-such-class" not in set(written())


def test_every_class_of_the_sheets_is_on_the_guide() -> None:
    assert sorted(styled() - drawn() - ELSEWHERE) == []


def test_the_sheets_are_small() -> None:
    assert sum(sheet.stat().st_size for sheet in SHEETS) < MOST_BYTES


IN_PRODUCTION = """
import django; django.setup()
from django.test import Client
answer = Client().get("/styleguide/", secure=True)
print(answer.status_code, b"There is nothing here" in answer.content)
"""


def test_there_is_no_guide_in_production(tmp_path: Path) -> None:
    environ = {
        "ALLOWED_HOSTS": "testserver",
        "MRTR_LOOPBACK_HTTP": "false",
        "DJANGO_SETTINGS_MODULE": "mrtr_web.settings",
        "DATABASE_URL": f"sqlite:///{tmp_path}/none.sqlite3",
    }
    answer = subprocess.run(
        [sys.executable, "-c", IN_PRODUCTION],
        cwd=ROOT,
        env=os.environ | environ,
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert answer.stdout == "404 True\n", answer.stderr
