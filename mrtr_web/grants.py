"""The tables of what lets people in at servers: connections, clients that were registered, sign-ins under way."""

from typing import ClassVar

from django.conf import settings
from django.db import models
from django.db.models.functions import Now
from django.utils.translation import gettext_lazy as _


class Connection(models.Model):
    """A person's token for a server, sealed under the key ring. Goes when they disconnect, and with either of them."""

    user = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.CASCADE, related_name="connections", verbose_name=_("user")
    )
    server = models.ForeignKey("mrtr_web.Server", models.CASCADE, related_name="connections", verbose_name=_("server"))
    kind = models.CharField(max_length=10)
    """The server's kind of credential that it was made for."""
    url = models.CharField(max_length=500)
    """Of the server: the only address that the token may be sent to, for others may live on the same host."""
    sealed = models.BinaryField()
    connected_at = models.DateTimeField(_("connected at"), db_default=Now())
    renew_at = models.DateTimeField(null=True)
    """When the token is to be renewed: somewhat before it ends. None: it cannot be, or does not end."""
    ends_at = models.DateTimeField(_("ends at"), null=True)
    """When the token ends, as far as is known."""
    sign_ins = models.PositiveIntegerField(default=0)
    """In a row, that did not make the server list what it offers."""
    forced = models.PositiveIntegerField(default=0)
    """Renewals in a row that a refusal has brought about, and that did not help."""
    claimed_until = models.DateTimeField(null=True)
    """Until then somebody is renewing it, and nobody else may."""
    claimed_by = models.UUIDField(null=True)
    """Tells one claim from the next."""

    class Meta:
        ordering: ClassVar = ["server__name"]
        verbose_name = _("connection")
        verbose_name_plural = _("connections")
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["user", "server"], name="one_connection_per_person_and_server")
        ]

    def __str__(self) -> str:
        return str(_("%(person)s at %(server)s")) % {"person": self.user, "server": self.server}


class Registration(models.Model):
    """A client of ours that an authorization server has registered, for one server of ours, sealed."""

    server = models.ForeignKey("mrtr_web.Server", models.CASCADE, related_name="+")
    issuer_digest = models.CharField(max_length=64)
    sealed = models.BinaryField()

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["server", "issuer_digest"], name="one_registration_per_issuer")
        ]

    def __str__(self) -> str:
        return f"registration {self.pk}"


class SignIn(models.Model):
    """A person on their way to an authorization server and back. Used once; ends with the session at the latest."""

    state_digest = models.CharField(max_length=64, primary_key=True)
    session = models.ForeignKey("mrtr_web.Session", models.CASCADE, related_name="+")
    user = models.ForeignKey(settings.AUTH_USER_MODEL, models.CASCADE, related_name="+")
    server = models.ForeignKey("mrtr_web.Server", models.CASCADE, related_name="+")
    sealed = models.BinaryField()
    expires_at = models.DateTimeField()

    def __str__(self) -> str:
        return "sign-in"
