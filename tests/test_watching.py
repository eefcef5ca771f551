"""What docs/deploy/ gives Prometheus is sound, and every figure there is one that this app tells."""

import re
import shutil
import subprocess
from typing import Any

import pytest
import yaml
from prometheus_client import CollectorRegistry

from mrtr_web import measures, scrape
from tests.processes import BASE

DEPLOY = BASE / "docs" / "deploy"
ADDED = r"_(total|bucket|count|sum)$"


def read(name: str) -> Any:
    return yaml.safe_load((DEPLOY / name).read_text())


def told() -> set[str]:
    """The names of all figures of this app."""
    shared = CollectorRegistry()
    scrape._read(shared)
    families = [*measures.REGISTRY.collect(), *shared.collect()]
    return {family.name for family in families if family.name.startswith("mrtr_")} | {"mrtr_database_up"}


def test_rules_and_the_table_name_figures_that_there_are(db: None) -> None:
    rules = [rule for group in read("alerts.yml")["groups"] for rule in group["rules"]]
    named = {re.sub(ADDED, "", name) for rule in rules for name in re.findall(r"\bmrtr_\w+", rule["expr"])}
    assert named - {"mrtr_web"} <= told()
    page = (DEPLOY / "metrics.md").read_text()
    rows = " ".join(line.split("|")[1] for line in page.splitlines() if line.startswith("| `mrtr_"))
    assert {re.sub(ADDED, "", name) for name in re.findall(r"mrtr_\w+", rows)} == told()
    assert set(re.findall(r"`(Mrtr\w+)`", page)) == {rule["alert"] for rule in rules}


def test_prometheus_asks_the_processes_that_nginx_knows() -> None:
    (job,) = read("prometheus.yml")["scrape_configs"]
    (static,) = job["static_configs"]
    assert static["targets"] == re.findall(r"server (127\S+)", (DEPLOY / "nginx.conf").read_text())
    assert (job["authorization"]["type"], job.get("metrics_path", "/metrics")) == ("Bearer", scrape.PATH)


@pytest.mark.skipif(shutil.which("promtool") is None, reason="needs promtool (Debian: prometheus)")
def test_promtool_takes_both() -> None:
    for check, name in (("config", "prometheus.yml"), ("rules", "alerts.yml")):
        options = ["--syntax-only"] if check == "config" else []
        said = subprocess.run(["promtool", "check", check, *options, DEPLOY / name], capture_output=True, text=True)
        assert said.returncode == 0, said.stdout + said.stderr
