"""The tables: ids, names, times, counts, outcomes. No content but the sealed record, which dies with its session.

Times are written on the database's clock (Now()), so that several processes agree on leases.
"""

import uuid
from datetime import datetime, timedelta
from typing import Any, ClassVar
from urllib.parse import urlsplit

from django.conf import settings
from django.core.exceptions import ValidationError
from django.core.validators import MinValueValidator
from django.db import models
from django.db.models.functions import Now
from django.utils.translation import gettext_lazy as _

from mrtr_web import networks, references, roots, wording
from mrtr_web.access import PER_PERSON
from mrtr_web.fields import JSONText
from mrtr_web.flow import OPEN, State
from mrtr_web.grants import Connection as Connection
from mrtr_web.grants import Registration as Registration
from mrtr_web.grants import SignIn as SignIn
from mrtr_web.meters import Allowance as Allowance
from mrtr_web.trail import AuditEntry as AuditEntry
from mrtr_web.trail import Finding as Finding

CAPABILITIES = ("elicitation", "sampling", "roots")
"""What may be declared to a server."""
MOST_LABEL = 200
"""Characters of a resource's title that records hold."""


def asks_by_form() -> list[str]:
    """What a server may ask unless an admin says otherwise."""
    return ["elicitation"]


PRIVATE_NETWORKS = networks.PRIVATE
CREDENTIAL_KINDS = [
    ("none", _("None")),
    ("bearer", _("Bearer token")),
    ("headers", _("Headers")),
    ("each", _("A bearer token of each person's own")),
    ("oauth", _("Each person signs in (OAuth)")),
]
CREDENTIAL_SOURCES = [("form", _("Typed in here")), ("env", _("Environment variable")), ("file", _("File"))]


class Session(models.Model):
    """A browser session. Its rows die through sessions.end_session() only."""

    session_key = models.CharField(max_length=40, unique=True)
    session_data = models.TextField()
    user = models.ForeignKey(settings.AUTH_USER_MODEL, models.CASCADE, null=True, blank=True, verbose_name=_("user"))
    key_digest = models.CharField(max_length=64, blank=True)
    seen_at = models.DateTimeField(_("last used"))
    expire_date = models.DateTimeField(_("ends unless used"), db_index=True)
    ends_at = models.DateTimeField(_("ends at"))

    class Meta:
        verbose_name, verbose_name_plural = _("session"), _("sessions")
        permissions: ClassVar = [("end_sessions", "Can end a person's sessions at the review desk")]

    def __str__(self) -> str:
        return f"session {self.pk}"

    @property
    def since(self) -> datetime:
        """When it began: it was to last so long."""
        return self.ends_at - timedelta(seconds=settings.CONFIG.session_absolute)


class Server(models.Model):
    """An upstream MCP server, registered by an admin."""

    slug = models.SlugField(_("slug"), unique=True)
    name = models.CharField(_("name"), max_length=100)
    letter = models.CharField(_("letter"), max_length=2, blank=True)
    """Shown in the server's icon; the first one of the name where it is empty."""
    description = models.TextField(_("description"), blank=True)
    tags = JSONText(_("tags"), default=list, blank=True)
    """Words to find the server by."""
    url = models.URLField(_("address"), max_length=500)
    private_networks = JSONText(_("private networks"), default=list, blank=True)
    """CIDR blocks of private addresses that its name may lead to."""
    capabilities = JSONText(_("capabilities"), default=asks_by_form, blank=True)
    roots = JSONText(_("roots"), default=list, blank=True)
    """Folders that people may name to this server: objects with uri and, if wanted, name."""
    silence_timeout = models.PositiveIntegerField(
        _("silence timeout"), null=True, blank=True, validators=[MinValueValidator(1)]
    )
    """Seconds; None stands for the setting."""
    total_timeout = models.PositiveIntegerField(
        _("total timeout"), null=True, blank=True, validators=[MinValueValidator(1)]
    )
    """Seconds; None stands for the setting."""
    enabled = models.BooleanField(_("enabled"), default=True)
    groups: "models.ManyToManyField[Any, Any]" = models.ManyToManyField(
        "auth.Group", blank=True, verbose_name=_("groups")
    )
    hidden_tools = JSONText(_("hidden tools"), default=list, blank=True)
    """Names of tools that people are not offered."""
    keep_messages = models.BooleanField(_("keep messages"), default=False)
    """Whether reviewers may read what the server asks, until the flow ends."""
    credential_kind = models.CharField(_("credential kind"), max_length=10, choices=CREDENTIAL_KINDS, default="none")
    credential_source = models.CharField(
        _("credential source"), max_length=10, choices=CREDENTIAL_SOURCES, default="form"
    )
    credential_ref = models.CharField(_("credential ref"), max_length=200, blank=True)
    """Name of the environment variable or of the file."""
    credential_sealed = models.BinaryField(null=True, editable=False)
    credential_origin = models.CharField(max_length=500, blank=True, editable=False)
    """The only origin that the credential may be sent to."""
    client_issuer = models.CharField(max_length=64, blank=True, editable=False)
    """Digest of the authorization server that the client given by an admin belongs to, once that is known."""
    checked_at = models.DateTimeField(null=True, blank=True, editable=False)
    """When it was last asked what it is and what it offers."""
    trouble = models.CharField(max_length=60, blank=True, editable=False)
    """A code of ours for why that failed."""

    listed: "dict[str, Listing]"
    """What is known of it for one person, by kind. catalog.attach() sets it and the next three; none is a column."""
    listed_at: Any
    """When the oldest of that was asked for; None where nothing is known."""
    offers: dict[str, list[Any]]
    """What it lists for them, by kind."""
    discovered: Any = None
    """What it says of itself: its revisions and capabilities."""

    class Meta:
        verbose_name, verbose_name_plural = _("server"), _("servers")
        ordering: ClassVar = ["name"]
        permissions: ClassVar = [("switch_server", "Can switch servers off and on at the review desk")]

    def __str__(self) -> str:
        return self.name

    @property
    def asks_each(self) -> bool:
        """Whether each person needs a credential of their own."""
        return self.credential_kind in PER_PERSON

    @property
    def icon(self) -> str:
        return self.letter or self.name[:1].upper()

    def clean(self) -> None:
        if unknown := set(self.capabilities) - set(CAPABILITIES):
            raise ValidationError({"capabilities": _("Unknown: %s") % ", ".join(sorted(unknown))})
        if not self.url.lower().startswith(("http:", "https:")):
            raise ValidationError({"url": _("An address of an MCP server begins with https:// or http://.")})
        if _holds_userinfo(self.url):
            raise ValidationError(
                {"url": _("A name or password in an address is shown to all who see it: use headers.")}
            )
        wrong = [root["uri"] for root in self.roots if roots.fault(root["uri"])]
        if wrong:
            message = _("Not a plain file address, such as file:///home/ada/photos: %s")
            raise ValidationError({"roots": message % ", ".join(wrong)})
        self.private_networks = [_network(text) for text in self.private_networks]


def _holds_userinfo(url: str) -> bool:
    try:
        return "@" in urlsplit(url).netloc
    except ValueError:
        return False


def _network(text: str) -> str:
    try:
        return networks.normalised(text)
    except ValueError:
        message = _(
            "Not a private network, such as 10.1.2.0/24 or 127.0.0.1: %(text)s. It must be a part of one of %(all)s."
        )
        values = {"text": text, "all": ", ".join(PRIVATE_NETWORKS)}
        raise ValidationError({"private_networks": message % values}) from None


class Listing(models.Model):
    """What a server lists of one kind: for everybody, or for one person where it says that it is private.

    What it says of itself is the one entry of a kind of its own.
    """

    server = models.ForeignKey(Server, models.CASCADE, related_name="+")
    kind = models.CharField(max_length=12)
    user = models.ForeignKey(settings.AUTH_USER_MODEL, models.CASCADE, null=True, related_name="+")
    entries = JSONText(default=list)
    briefs = JSONText(default=list)
    """What a search and its results need of those that can be offered. Of discovery: the kinds that are listed."""
    listed_at = models.DateTimeField()
    fresh_until = models.DateTimeField()

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(
                fields=["server", "kind"], condition=models.Q(user=None), name="one_listing_for_everybody"
            ),
            models.UniqueConstraint(fields=["server", "kind", "user"], name="one_listing_per_person"),
        ]

    def __str__(self) -> str:
        return f"{self.kind} of {self.server_id}"


class Flow(models.Model):
    """One original request of one person and everything that follows from it."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    user = models.ForeignKey(settings.AUTH_USER_MODEL, models.CASCADE, related_name="flows", verbose_name=_("user"))
    server = models.ForeignKey(Server, models.CASCADE, related_name="flows", verbose_name=_("server"))
    method = models.CharField(_("method"), max_length=40)
    name = models.TextField(_("name"), blank=True)
    """The tool's or prompt's name, or the URI template. A resource's URI is content and lives in the record."""
    label = models.CharField(_("label"), max_length=MOST_LABEL, blank=True)
    """The title of a listed resource, in place of a name."""
    state = models.CharField(
        _("state"), max_length=12, choices=[(s.value, wording.STATES[s]) for s in State], default=State.RUNNING
    )
    round = models.PositiveIntegerField(_("round"), default=0)
    state_only = models.PositiveIntegerField(_("times told to wait"), default=0)
    """State-only results in a row."""
    told_to_wait_at = models.DateTimeField(null=True)
    """When the first of them came."""
    leg = models.UUIDField(null=True)
    """The leg that may land."""
    lease_until = models.DateTimeField(_("lease until"), null=True)
    outcome = models.CharField(_("outcome"), max_length=60, blank=True)
    """A code of ours for how the last leg ended: never text of the server."""
    started_at = models.DateTimeField(_("started at"), db_default=Now())
    changed_at = models.DateTimeField(_("changed at"), db_default=Now())
    reason = models.CharField(_("reason"), max_length=300, blank=True)
    """Why a reviewer withdrew it: for the person to read."""
    reminded_at = models.DateTimeField(_("reminded at"), null=True)
    """When a reviewer last asked the person to go on."""
    taken_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.SET_NULL, null=True, related_name="+", verbose_name=_("taken by")
    )
    """The reviewer who looks after it."""
    note = models.CharField(_("note"), max_length=300, blank=True)
    """Of that reviewer, for the others."""

    class Meta:
        verbose_name, verbose_name_plural = _("request"), _("requests")
        ordering: ClassVar = ["-started_at"]
        permissions: ClassVar = [("review_flow", "Can use the review desk")]
        indexes: ClassVar = [
            models.Index(fields=["user", "state"]),
            models.Index(fields=["state", "lease_until"]),
            models.Index(fields=["state", "changed_at"]),
            models.Index(fields=["server", "state", "changed_at"]),
            models.Index(fields=["server", "started_at"]),
        ]

    def __str__(self) -> str:
        return self.reference

    @property
    def called(self) -> str:
        """What records call its operation; "" for a resource that was not listed."""
        return self.name or self.label

    @property
    def reference(self) -> str:
        """A short word to quote to a reviewer."""
        return references.short(self.id)

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

    flow = models.ForeignKey(Flow, models.CASCADE, related_name="rounds", verbose_name=_("request"))
    number = models.PositiveIntegerField(_("number"))
    kinds = JSONText(_("kinds"))
    hosts = JSONText(_("hosts"), default=list)
    """Of the pages that people were asked to open."""
    warnings = JSONText(_("warnings"), default=list)
    """Codes of ours for what a reviewer should look at."""
    actions = JSONText(_("actions"), null=True)
    asked_at = models.DateTimeField(_("asked at"), db_default=Now())
    answered_at = models.DateTimeField(_("answered at"), null=True)

    class Meta:
        verbose_name, verbose_name_plural = _("round"), _("rounds")
        ordering: ClassVar = ["number"]
        constraints: ClassVar = [models.UniqueConstraint(fields=["flow", "number"], name="one_round_per_number")]

    def __str__(self) -> str:
        return f"round {self.number}"


class Leg(models.Model):
    """One HTTP exchange with the server."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    flow = models.ForeignKey(Flow, models.CASCADE, related_name="legs", verbose_name=_("request"))
    round = models.PositiveIntegerField(_("round"))
    started_at = models.DateTimeField(_("started at"), db_default=Now())
    sent_at = models.DateTimeField(_("sent at"), null=True)
    """Set before the first byte may leave; null means surely not sent."""
    ended_at = models.DateTimeField(_("ended at"), null=True)
    outcome = models.CharField(_("outcome"), max_length=60, blank=True)

    class Meta:
        verbose_name, verbose_name_plural = _("call"), _("calls")
        ordering: ClassVar = ["started_at"]

    def __str__(self) -> str:
        return f"leg {self.pk}"


class KeptMessages(models.Model):
    """What a server asked in a round, sealed under the key ring for its reviewers. Goes when the flow ends."""

    flow = models.ForeignKey(Flow, models.CASCADE, related_name="kept")
    round = models.PositiveIntegerField()
    sealed = models.BinaryField()

    class Meta:
        ordering: ClassVar = ["round"]

    def __str__(self) -> str:
        return f"messages of round {self.round}"


class Person(models.Model):
    """What a person told us of themselves beside their account."""

    user = models.OneToOneField(settings.AUTH_USER_MODEL, models.CASCADE, primary_key=True, related_name="person")
    time_zone = models.CharField(max_length=64, blank=True)

    def __str__(self) -> str:
        return f"person {self.pk}"
