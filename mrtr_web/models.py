"""The tables: ids, names, times, counts, outcomes. No content but the sealed record, which dies with its session.

Times are written on the database's clock (Now()), so that several processes agree on leases.
"""

import uuid
from typing import Any, ClassVar

from django.conf import settings
from django.core.exceptions import ValidationError
from django.db import models
from django.db.models.functions import Now
from django.utils.translation import gettext_lazy as _

from mrtr_web import findings, roots
from mrtr_web.fields import JSONText
from mrtr_web.flow import OPEN, State

CAPABILITIES = ("elicitation", "sampling", "roots")
"""What may be declared to a server."""


class Session(models.Model):
    """A browser session. Its rows die through sessions.end_session() only."""

    session_key = models.CharField(max_length=40, unique=True)
    session_data = models.TextField()
    user = models.ForeignKey(settings.AUTH_USER_MODEL, models.CASCADE, null=True, blank=True)
    key_digest = models.CharField(max_length=64, blank=True)
    seen_at = models.DateTimeField()
    expire_date = models.DateTimeField(db_index=True)
    ends_at = models.DateTimeField()

    def __str__(self) -> str:
        return f"session {self.pk}"


class Server(models.Model):
    """An upstream MCP server, registered by an admin."""

    slug = models.SlugField(unique=True)
    name = models.CharField(max_length=100)
    url = models.URLField(max_length=500)
    bearer_env = models.CharField(
        max_length=100, blank=True, help_text=_("Name of the environment variable that holds a bearer token.")
    )
    allow_private = models.BooleanField(default=False)
    capabilities = JSONText(default=list)
    roots = JSONText(default=list, blank=True)
    """Folders that people may name to this server: objects with uri and, if wanted, name."""
    enabled = models.BooleanField(default=True)
    groups: "models.ManyToManyField[Any, Any]" = models.ManyToManyField("auth.Group", blank=True)
    discovered = JSONText(null=True, blank=True, editable=False)
    offers = JSONText(default=dict, editable=False)
    listed_at = models.DateTimeField(null=True, blank=True, editable=False)

    class Meta:
        ordering: ClassVar = ["name"]

    def __str__(self) -> str:
        return self.name

    def forget_listing(self) -> None:
        """For a change after which the server may offer something else."""
        self.discovered, self.offers, self.listed_at = None, {}, None

    def clean(self) -> None:
        if unknown := set(self.capabilities) - set(CAPABILITIES):
            raise ValidationError({"capabilities": _("Unknown: %s") % ", ".join(sorted(unknown))})
        wrong = [root["uri"] for root in self.roots if roots.fault(root["uri"])]
        if wrong:
            message = _("Not a plain file address, such as file:///home/ada/photos: %s")
            raise ValidationError({"roots": message % ", ".join(wrong)})


class Flow(models.Model):
    """One original request of one person and everything that follows from it."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    user = models.ForeignKey(settings.AUTH_USER_MODEL, models.CASCADE, related_name="flows")
    server = models.ForeignKey(Server, models.CASCADE, related_name="flows")
    method = models.CharField(max_length=40)
    name = models.TextField(blank=True)
    """The tool's or prompt's name, or the URI template. A resource's URI is content and lives in the record."""
    state = models.CharField(max_length=12, choices=[(s.value, s.value) for s in State], default=State.RUNNING)
    round = models.PositiveIntegerField(default=0)
    state_only = models.PositiveIntegerField(default=0)
    """State-only results in a row."""
    told_to_wait_at = models.DateTimeField(null=True)
    """When the first of them came."""
    leg = models.UUIDField(null=True)
    """The leg that may land."""
    lease_until = models.DateTimeField(null=True)
    outcome = models.CharField(max_length=60, blank=True)
    """A code of ours for how the last leg ended: never text of the server."""
    started_at = models.DateTimeField(db_default=Now())
    changed_at = models.DateTimeField(db_default=Now())

    class Meta:
        ordering: ClassVar = ["-started_at"]
        indexes: ClassVar = [
            models.Index(fields=["user", "state"]),
            models.Index(fields=["state", "lease_until"]),
        ]

    def __str__(self) -> str:
        return self.reference

    @property
    def reference(self) -> str:
        """A short word to quote to a reviewer."""
        return self.id.hex[:8].upper()

    @property
    def is_open(self) -> bool:
        return self.state in OPEN


class SealedRecord(models.Model):
    """The vault's row of a flow. Child of the session: what the browser's key opens goes with the session."""

    flow = models.OneToOneField(Flow, models.CASCADE, primary_key=True, related_name="record")
    session = models.ForeignKey(Session, models.CASCADE, related_name="records")
    sealed = models.BinaryField()

    def __str__(self) -> str:
        return f"record of {self.flow_id}"


class Round(models.Model):
    """An InputRequiredResult with steps: what kinds were asked, and what was done, without content."""

    flow = models.ForeignKey(Flow, models.CASCADE, related_name="rounds")
    number = models.PositiveIntegerField()
    kinds = JSONText()
    actions = JSONText(null=True)
    asked_at = models.DateTimeField(db_default=Now())
    answered_at = models.DateTimeField(null=True)

    class Meta:
        ordering: ClassVar = ["number"]
        constraints: ClassVar = [models.UniqueConstraint(fields=["flow", "number"], name="one_round_per_number")]

    def __str__(self) -> str:
        return f"round {self.number}"


class Leg(models.Model):
    """One HTTP exchange with the server."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    flow = models.ForeignKey(Flow, models.CASCADE, related_name="legs")
    round = models.PositiveIntegerField()
    started_at = models.DateTimeField(db_default=Now())
    sent_at = models.DateTimeField(null=True)
    """Set before the first byte may leave; null means surely not sent."""
    ended_at = models.DateTimeField(null=True)
    outcome = models.CharField(max_length=60, blank=True)

    class Meta:
        ordering: ClassVar = ["started_at"]

    def __str__(self) -> str:
        return f"leg {self.pk}"


class AuditEntry(models.Model):
    """One transition of a flow: append-only."""

    flow = models.ForeignKey(Flow, models.CASCADE, related_name="audit")
    at = models.DateTimeField(db_default=Now())
    by = models.ForeignKey(settings.AUTH_USER_MODEL, models.SET_NULL, null=True)
    event = models.CharField(max_length=20)
    before = models.CharField(max_length=12, blank=True)
    after = models.CharField(max_length=12)
    round = models.PositiveIntegerField()

    class Meta:
        ordering: ClassVar = ["id"]

    def __str__(self) -> str:
        return f"{self.event}: {self.before} -> {self.after}"


class Finding(models.Model):
    """A rule that a server was seen to break: the rule's id and how often, no content."""

    server = models.ForeignKey(Server, models.CASCADE, related_name="findings")
    rule = models.CharField(max_length=40)
    count = models.PositiveIntegerField(default=0)
    first_at = models.DateTimeField(db_default=Now())
    last_at = models.DateTimeField(db_default=Now())

    class Meta:
        ordering: ClassVar = ["rule"]
        constraints: ClassVar = [models.UniqueConstraint(fields=["server", "rule"], name="one_row_per_rule")]

    def __str__(self) -> str:
        return self.rule

    @property
    def meaning(self) -> str:
        return findings.meaning(self.rule)


class Person(models.Model):
    """What a person told us of themselves beside their account."""

    user = models.OneToOneField(settings.AUTH_USER_MODEL, models.CASCADE, primary_key=True, related_name="person")
    time_zone = models.CharField(max_length=64, blank=True)

    def __str__(self) -> str:
        return f"person {self.pk}"
