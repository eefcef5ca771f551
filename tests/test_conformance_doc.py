"""docs/conformance.md is complete, and what it points at is there."""

import ast
import re
from functools import cache
from pathlib import Path

import pytest

from mrtr_web.findings import ADVICE, HTTP_STATUS, MEANINGS, PAGES, meaning

ROOT = Path(__file__).resolve().parents[1]
TEXT = (ROOT / "docs" / "conformance.md").read_text()
COUNTS = {"MR": 20, "EL": 9, "FM": 6, "UR": 10, "SA": 8, "RO": 2, "BA": 7, "VE": 4, "ER": 3, "HT": 12, "CA": 2, "PR": 1}
COUNTS |= {"LO": 1, "CH": 4, "PG": 1, "CO": 1, "SU": 1, "TO": 7, "PM": 1, "RE": 1, "IC": 1, "AZ": 12, "T": 44}
IDS = [f"{area}-{number}" for area, count in COUNTS.items() for number in range(1, count + 1)]
STORED = re.compile(r"""(?:BrokenRule|Broken|Breach|Unusable)\("([A-Z0-9-]+)"\)|"([A-Z]+-(?:\d+|SIZE|ENTRY|TWICE))\"""")


@cache
def defined_in(name: str) -> frozenset[str]:
    """The tests of a file, those of a class with its name before them."""
    tree = ast.parse((ROOT / "tests" / name).read_text())
    found = {node.name for node in tree.body if isinstance(node, ast.FunctionDef)}
    for node in tree.body:
        if isinstance(node, ast.ClassDef):
            found |= {f"{node.name}::{each.name}" for each in node.body if isinstance(each, ast.FunctionDef)}
    return frozenset(found)


def table(heading: str) -> str:
    return TEXT.partition(f"## {heading}\n")[2].partition("\n## ")[0]


@pytest.mark.parametrize("rule", IDS)
def test_every_rule_has_its_row(rule: str) -> None:
    (row,) = re.findall(rf"^\| {rule} \|.*$", TEXT.partition("## Findings")[0], re.MULTILINE)
    cells = [cell.strip() for cell in row.strip("|").split("|")]
    assert cells[-1], f"{rule}: nothing shows it, and no reason is given"
    if not rule.startswith("T-"):
        assert re.fullmatch(r"[a-z_/-]+(, [a-z_/-]+)*", cells[2]), f"{rule}: no page of the specification is named"


@pytest.mark.parametrize("group", ["TX-", "SB-"])
def test_what_is_left_out_is_said(group: str) -> None:
    assert group in table("Left out on purpose")


def test_every_test_that_is_named_exists() -> None:
    named = re.findall(r"`(test_\w+\.py)::([\w:]+)`", TEXT)
    assert len(named) > 150
    assert [f"{file}::{name}" for file, name in named if name not in defined_in(file)] == []


def test_every_file_that_is_named_exists() -> None:
    for name in re.findall(r"`((?:schema/)?\w+\.py)`", TEXT):
        assert (ROOT / "mrtr_web" / name).exists(), name
    for name in re.findall(r"(templates/[\w/]+\.html|tests/\w+\.py)", TEXT):
        assert (ROOT / name).exists(), name


def test_every_rule_that_can_be_a_finding_is_explained() -> None:
    sources = "\n".join(path.read_text() for path in (ROOT / "mrtr_web").rglob("*.py") if "demo" not in path.parts)
    stored = {one or other for one, other in STORED.findall(sources)}
    assert {"MR-14", "HT-7", "FM-5", "ROUND-SIZE"} <= stored
    assert stored - {"CO-1"} == MEANINGS.keys() - {HTTP_STATUS}  # suggestions are a comfort: CO-1 is never stored


def test_every_finding_is_explained() -> None:
    assert meaning("HT-404") == MEANINGS[HTTP_STATUS]
    assert ADVICE.keys() == MEANINGS.keys()
    ours = {name for name, words in MEANINGS.items() if "limit of ours" in words}
    assert PAGES.keys() == MEANINGS.keys() - ours
