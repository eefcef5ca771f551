"""The audit trail is append-only in the database itself: no row of it can be changed."""

from django.db import migrations

SQLITE = """
CREATE TRIGGER mrtr_web_audit_append_only BEFORE UPDATE ON mrtr_web_auditentry
BEGIN SELECT RAISE(ABORT, 'the audit trail is append-only'); END
"""
POSTGRESQL = """
CREATE FUNCTION mrtr_web_append_only() RETURNS trigger LANGUAGE plpgsql AS
$$ BEGIN RAISE EXCEPTION 'the audit trail is append-only'; END $$;
CREATE TRIGGER mrtr_web_audit_append_only BEFORE UPDATE ON mrtr_web_auditentry
FOR EACH ROW EXECUTE FUNCTION mrtr_web_append_only();
"""
UNDO = {
    "sqlite": "DROP TRIGGER mrtr_web_audit_append_only",
    "postgresql": (
        "DROP TRIGGER mrtr_web_audit_append_only ON mrtr_web_auditentry; DROP FUNCTION mrtr_web_append_only()"
    ),
}


def make(apps, schema_editor):
    schema_editor.execute({"sqlite": SQLITE, "postgresql": POSTGRESQL}[schema_editor.connection.vendor])


def unmake(apps, schema_editor):
    schema_editor.execute(UNDO[schema_editor.connection.vendor])


class Migration(migrations.Migration):
    dependencies = [("mrtr_web", "0001_initial")]
    operations = [migrations.RunPython(make, unmake)]
