"""Migrations run while the version before serves (docs/decisions/0018): what they may do without saying why."""

import importlib
from collections.abc import Iterator
from typing import Any

import pytest
from django.apps import apps
from django.db import connection, migrations, models
from django.db.migrations.loader import MigrationLoader
from django.db.migrations.operations.base import Operation
from django.db.migrations.state import ProjectState

FROZEN = ("0001_initial", "0002_append_only")
"""Which make the tables: nothing serves before them."""
OF_NO_MATTER = (migrations.AlterModelOptions, migrations.AlterModelManagers, migrations.CreateModel)
NEW_NULL = models.TextField(null=True)
NEW_DEFAULT = models.TextField(db_default="")
NEW_BARE = models.TextField(default="")


def needs_reason(operation: Operation, state: ProjectState) -> bool:
    """Whether the version before could fail, or stand still, while this is done. `state` is the one before it."""
    if isinstance(operation, OF_NO_MATTER):
        return False
    if isinstance(operation, migrations.AddField):
        field = operation.field
        return not (field.many_to_many or field.null or field.has_db_default())
    if isinstance(operation, migrations.AlterField):
        old = state.models["mrtr_web", operation.model_name_lower].get_field(operation.name)
        return _in_database(old) != _in_database(operation.field)
    return True


def _in_database(field: Any) -> tuple[Any, ...]:
    """What of a field makes its column."""
    _, kind, args, options = field.deconstruct()
    return kind, args, {name: value for name, value in options.items() if name not in field.non_db_attrs}


def unexplained(migration: migrations.Migration, state: ProjectState, reason: str) -> list[str]:
    found = []
    for operation in migration.operations:
        if needs_reason(operation, state) and not reason.strip():
            found.append(f"{migration.name}: {operation.describe()}")
        operation.state_forwards("mrtr_web", state)
    return found


def ours() -> Iterator[tuple[migrations.Migration, ProjectState, str]]:
    loader = MigrationLoader(None)
    for (app, name), migration in sorted(loader.disk_migrations.items()):
        if app == "mrtr_web" and name not in FROZEN:
            module = importlib.import_module(f"mrtr_web.migrations.{name}")
            state = loader.project_state((app, name), at_end=False)
            yield migration, state, getattr(module, "SAFE_BECAUSE", "")


def test_each_migration_suits_the_version_before_or_says_why_it_may_run() -> None:
    assert [fault for each in ours() for fault in unexplained(*each)] == []


@pytest.mark.parametrize(
    ("operation", "wanted"),
    [
        (migrations.CreateModel("New", [("id", models.BigAutoField(primary_key=True))]), False),
        (migrations.AddField("flow", "new", NEW_NULL), False),
        (migrations.AddField("flow", "new", NEW_DEFAULT), False),
        (migrations.AddField("flow", "new", NEW_BARE), True),
        (migrations.AlterField("flow", "note", models.CharField("a word", max_length=300, blank=True)), False),
        (migrations.AlterField("flow", "note", models.CharField(max_length=400, blank=True)), True),
        (migrations.RemoveField("flow", "note"), True),
        (migrations.RenameField("flow", "note", "remark"), True),
        (migrations.AddIndex("flow", models.Index(fields=["note"], name="by_note")), True),
        (migrations.RunSQL("UPDATE mrtr_web_flow SET note = ''"), True),
    ],
)
def test_what_the_version_before_cannot_live_with_needs_a_reason(operation: Operation, wanted: bool) -> None:
    kind = type("Migration", (migrations.Migration,), {"operations": [operation]})
    migration = kind("0003_new", "mrtr_web")
    assert bool(unexplained(migration, ProjectState.from_apps(apps), "")) is wanted
    assert unexplained(migration, ProjectState.from_apps(apps), "Nothing reads it since 1.1.") == []


def test_a_migration_waits_for_no_lock_for_long(db: None) -> None:
    if connection.vendor == "sqlite":
        pytest.skip("SQLite has one process, which is stopped")
    with connection.cursor() as cursor:
        cursor.execute("SHOW lock_timeout")
        assert cursor.fetchone() == ("5s",)
