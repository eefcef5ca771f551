"""The tables of what stays on record: the audit trail, and the rules that servers were seen to break. No content."""

from typing import ClassVar

from django.db import models
from django.db.models.functions import Now
from django.utils.translation import gettext_lazy as _

from mrtr_web import findings, references
from mrtr_web.fields import JSONText


class AuditEntry(models.Model):
    """A transition of a flow, or an intervention. Append-only: a trigger refuses changes, only the purge deletes.

    It stands for itself: what it names may be gone since.
    """

    at = models.DateTimeField(_("time"), db_default=Now(), db_index=True)
    by = models.CharField(_("done by"), max_length=150, blank=True)
    """Who did it; empty: the server, or this app."""
    event = models.CharField(_("event"), max_length=20)
    flow = models.UUIDField(_("request"), null=True, db_index=True)
    person = models.CharField(_("person"), max_length=150, blank=True)
    """Whose flow or session it is."""
    server_id = models.BigIntegerField(_("server number"), null=True)
    server = models.CharField(_("server"), max_length=50, blank=True)
    """Its slug."""
    method = models.CharField(_("method"), max_length=40, blank=True)
    name = models.TextField(_("name"), blank=True)
    before = models.CharField(_("before"), max_length=12, blank=True)
    after = models.CharField(_("after"), max_length=12, blank=True)
    round = models.PositiveIntegerField(_("round"), null=True)
    kinds = JSONText(_("kinds"), default=list)
    actions = JSONText(_("actions"), default=list)
    sent_bytes = models.PositiveBigIntegerField(_("sent bytes"), null=True)
    received_bytes = models.PositiveBigIntegerField(_("received bytes"), null=True)
    duration = models.DurationField(_("duration"), null=True)
    """Time spent in the state before."""
    outcome = models.CharField(_("outcome"), max_length=60, blank=True)
    note = models.CharField(_("note"), max_length=300, blank=True)

    class Meta:
        ordering: ClassVar = ["-id"]
        verbose_name = _("audit entry")
        verbose_name_plural = _("audit entries")
        indexes: ClassVar = [
            models.Index(fields=["server_id", "-id"]),
            models.Index(fields=["person", "-id"]),
            models.Index(fields=["by", "-id"]),
            models.Index(fields=["event", "-id"]),
            models.Index(fields=["outcome"], opclasses=["varchar_pattern_ops"], name="audit_by_outcome"),
        ]

    def __str__(self) -> str:
        return f"{self.event}: {self.before} -> {self.after}"

    @property
    def reference(self) -> str:
        """Of the flow; "" where it is about none."""
        return references.short(self.flow) if self.flow else ""


class Finding(models.Model):
    """A rule that a server was seen to break: the rule's id and how often, no content."""

    server = models.ForeignKey("mrtr_web.Server", models.CASCADE, related_name="findings", verbose_name=_("server"))
    rule = models.CharField(_("rule"), max_length=40)
    count = models.PositiveIntegerField(_("count"), default=0)
    first_at = models.DateTimeField(_("first seen"), db_default=Now())
    last_at = models.DateTimeField(_("last seen"), db_default=Now())

    class Meta:
        verbose_name, verbose_name_plural = _("finding"), _("findings")
        ordering: ClassVar = ["rule"]
        constraints: ClassVar = [models.UniqueConstraint(fields=["server", "rule"], name="one_row_per_rule")]

    def __str__(self) -> str:
        return self.rule

    @property
    def meaning(self) -> str:
        return findings.meaning(self.rule)

    @property
    def anchor(self) -> str:
        """Where the page of rules explains it."""
        return findings.key(self.rule)
