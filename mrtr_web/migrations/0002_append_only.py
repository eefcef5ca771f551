"""The audit trail is append-only in the database itself: no row of it can be changed."""

from django.db import migrations

REFUSE = "BEGIN SELECT RAISE(ABORT, 'the audit trail is append-only'); END"
MAKE = {
    "sqlite": [
        f"CREATE TRIGGER mrtr_web_audit_append_only BEFORE UPDATE ON mrtr_web_auditentry {REFUSE}",
        # INSERT OR REPLACE is no UPDATE
        "CREATE TRIGGER mrtr_web_audit_no_replacing BEFORE INSERT ON mrtr_web_auditentry "
        f"WHEN EXISTS (SELECT 1 FROM mrtr_web_auditentry WHERE id = NEW.id) {REFUSE}",  # a constant above  # nosec B608
    ],
    "postgresql": [
        "CREATE FUNCTION mrtr_web_append_only() RETURNS trigger LANGUAGE plpgsql AS "
        "$$ BEGIN RAISE EXCEPTION 'the audit trail is append-only'; END $$",
        "CREATE TRIGGER mrtr_web_audit_append_only BEFORE UPDATE ON mrtr_web_auditentry "
        "FOR EACH ROW EXECUTE FUNCTION mrtr_web_append_only()",
    ],
}
UNMAKE = {
    "sqlite": ["DROP TRIGGER mrtr_web_audit_append_only", "DROP TRIGGER mrtr_web_audit_no_replacing"],
    "postgresql": [
        "DROP TRIGGER mrtr_web_audit_append_only ON mrtr_web_auditentry",
        "DROP FUNCTION mrtr_web_append_only()",
    ],
}


def make(apps, schema_editor):
    for statement in MAKE[schema_editor.connection.vendor]:
        schema_editor.execute(statement)


def unmake(apps, schema_editor):
    for statement in UNMAKE[schema_editor.connection.vendor]:
        schema_editor.execute(statement)


class Migration(migrations.Migration):
    dependencies = [("mrtr_web", "0001_initial")]
    operations = [migrations.RunPython(make, unmake)]
