"""The table of how much of what people may do they have used up."""

from typing import ClassVar

from django.conf import settings
from django.db import models


class Allowance(models.Model):
    """Of one action of a person: at one server, or over all of them. Without a row all of it is free."""

    user = models.ForeignKey(settings.AUTH_USER_MODEL, models.CASCADE, related_name="+")
    server = models.ForeignKey("mrtr_web.Server", models.CASCADE, null=True, related_name="+")
    action = models.CharField(max_length=10)
    due = models.DateTimeField(db_index=True)
    """When all that was taken is free again."""

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(
                fields=["user", "action"], condition=models.Q(server=None), name="one_allowance_over_all"
            ),
            models.UniqueConstraint(fields=["user", "action", "server"], name="one_allowance_per_server"),
        ]

    def __str__(self) -> str:
        return f"{self.action} of {self.user_id}"
