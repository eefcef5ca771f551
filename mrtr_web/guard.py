"""How often signing in may fail: what django-axes counts, and what it is let know.

From one address a name may fail AXES_FAILURE_LIMIT times, and all names together SPREAD times as often, until
AXES_COOLOFF_TIME has gone by. Nothing of a request is kept but its address, and the name where it is somebody's.
"""

import ipaddress
import math
import threading
from typing import Any

from axes.handlers.database import AxesDatabaseHandler
from axes.models import AccessAttempt
from django.conf import settings
from django.contrib.auth import get_user_model
from django.db import close_old_connections
from django.http import HttpRequest
from django.utils import timezone
from django.utils.crypto import salted_hmac

from mrtr_web import measures

SPREAD = 10
AT_ONCE = 2
PATIENCE = 10
"""Seconds that a sign-in waits for its turn."""
slots = threading.BoundedSemaphore(AT_ONCE)
"""Passwords that this process looks at at once; so many can pass one look at the failures, at most."""
NOBODY = "?"
"""Begins what stands for a name that nobody has: it may be a password, typed in the wrong place."""


def has_turn() -> bool:
    """Whether a password may be looked at now, after PATIENCE at most; whoever may gives the slot back.

    Who waits holds no connection to the database: a pool has only a few.
    """
    if slots.acquire(blocking=False):
        return True
    close_old_connections()
    return slots.acquire(timeout=PATIENCE)


def name(request: HttpRequest, credentials: dict[str, Any] | None = None) -> str:
    """What failures are counted under: the name of an account, or a digest of anything else."""
    typed = str((credentials or {}).get("username") or "")
    if get_user_model().objects.filter(username=typed).exists():
        return typed
    return NOBODY + salted_hmac("mrtr_web.guard", typed).hexdigest()[:32]


def address(request: HttpRequest) -> str:
    """Where a request comes from, as the ASGI server says; of IPv6 the network: one household has 2**64 addresses."""
    try:
        found = ipaddress.ip_address(request.META.get("REMOTE_ADDR", ""))
    except ValueError:  # a socket file
        return "127.0.0.1"
    if isinstance(found, ipaddress.IPv4Address):
        return str(found)
    if found.ipv4_mapped:
        return str(found.ipv4_mapped)
    return str(ipaddress.ip_network((int(found), 64), strict=False).network_address)


def logged(counted: str | None, ip: str, *_: object) -> str:
    """Who it was, for the log: nothing that was typed but the name of an account."""
    return f"{NOBODY if (counted or NOBODY).startswith(NOBODY) else counted} from {ip}"


class Handler(AxesDatabaseHandler):  # type: ignore[misc]  # it has no types
    def user_login_failed(self, sender: Any, credentials: dict[str, Any], request: Any = None, **kwargs: Any) -> None:
        seen = HttpRequest()
        vars(seen).update({key: value for key, value in vars(request).items() if key.startswith("axes_")})
        vars(seen).update(axes_user_agent="", axes_http_accept="", axes_path_info="")
        super().user_login_failed(sender, credentials, seen, **kwargs)
        measures.FAILED_SIGN_INS.inc()
        request.axes_locked_out, request.axes_credentials = seen.axes_locked_out, credentials  # type: ignore[attr-defined]

    def get_failures(self, request: Any, credentials: dict[str, Any] | None = None) -> int:
        of_name, of_all = (_failures(found) for found in self.get_user_attempts(request, credentials))
        return max(of_name, of_all // SPREAD)

    def reset_user_attempts(self, request: Any, credentials: dict[str, Any] | None = None) -> int:
        """Of this name alone: who has an account could else try others' for ever."""
        gone, _ = self.filter_user_attempts(request, credentials)[0].delete()
        return int(gone)


def _failures(attempts: Any) -> int:
    return sum(attempts.values_list("failures_since_start", flat=True))


def left(request: Any) -> int:
    """How many more wrong passwords will be looked at after one that failed: the same for names that nobody has."""
    attempts = Handler().get_user_attempts(request, request.axes_credentials)
    return min(limit - _failures(found) for found, limit in zip(attempts, _limits(), strict=True))


def wait(request: Any) -> int:
    """Seconds until the next attempt of somebody who is locked out will be looked at."""
    attempts = Handler().get_user_attempts(request, request.axes_credentials)
    waits = [_wait(found, limit) for found, limit in zip(attempts, _limits(), strict=True)]
    return max(1, math.ceil(max(waits)))


def _limits() -> tuple[int, int]:
    return settings.AXES_FAILURE_LIMIT, settings.AXES_FAILURE_LIMIT * SPREAD


def _wait(attempts: Any, limit: int) -> float:
    """Until so many of these are forgotten that fewer than `limit` are left."""
    left, now = _failures(attempts), timezone.now()
    wait = 0.0
    for at, count in attempts.order_by("attempt_time").values_list("attempt_time", "failures_since_start"):
        if left < limit:
            break
        left, wait = left - count, (at + settings.AXES_COOLOFF_TIME - now).total_seconds()
    return wait


def forget_old() -> None:
    """Attempts that no longer count."""
    AccessAttempt.objects.filter(attempt_time__lt=timezone.now() - settings.AXES_COOLOFF_TIME).delete()
