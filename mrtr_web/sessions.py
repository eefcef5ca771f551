"""Browser sessions: the store, the key cookie that counts only together with it, and the one way out.

A session cookie names a row; the key cookie holds 32 random bytes that the server never stores. Only both
together are a visitor. What the key seals hangs below the session row and dies with it in end_session().
"""

import contextvars
import hashlib
import secrets
from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, cast

from asgiref.sync import sync_to_async
from django.conf import settings
from django.contrib.auth import HASH_SESSION_KEY, SESSION_KEY, get_user_model
from django.contrib.auth.backends import ModelBackend
from django.contrib.auth.models import AbstractBaseUser, User
from django.contrib.auth.signals import user_logged_in
from django.contrib.sessions.backends.base import CreateError, SessionBase, UpdateError
from django.contrib.sessions.middleware import SessionMiddleware
from django.db import IntegrityError, transaction
from django.db.models import Count, Q
from django.db.models.signals import post_save
from django.http import HttpRequest, HttpResponse
from django.utils import timezone
from django.utils.crypto import constant_time_compare

from mrtr_web import ledger
from mrtr_web.flow import OPEN, Event
from mrtr_web.models import Listing, SealedRecord, Session

TOUCH_EVERY = timedelta(minutes=1)
POLL_HEADER = "X-Mrtr-Poll"
_current: contextvars.ContextVar[Session | None] = contextvars.ContextVar("current_session", default=None)


@dataclass(frozen=True, slots=True)
class Visitor:
    """A signed-in person in one browser: who, which session, until when, and the key of their records."""

    user: int
    session: int
    ends_at: datetime
    secret: bytes

    def __repr__(self) -> str:
        return f"Visitor(user={self.user}, session={self.session})"


class SessionStore(SessionBase):
    """Sessions in the database. A save writes the data only; key, owner and lifetimes have their own columns."""

    row: Session | None = None
    new_secret: bytes | None = None

    def _validate_session_key(self, key: str | None) -> bool:
        """A key of ours: other characters would reach the database, and PostgreSQL refuses some."""
        return key is not None and key.isascii() and key.isalnum() and len(key) >= 8

    def load(self) -> dict[str, Any]:
        found = Session.objects.select_related("user__person").filter(session_key=self.session_key)
        self.row = found.filter(expire_date__gt=timezone.now()).first()
        if self.row is None:
            self._session_key = None
            return {}
        return self.decode(self.row.session_data)

    def exists(self, session_key: str | None = None) -> bool:
        return Session.objects.filter(session_key=session_key).exists()

    def create(self) -> None:
        self._session_key = self._get_new_session_key()  # type: ignore[attr-defined]
        self.save(must_create=True)
        self.modified = True

    def save(self, must_create: bool = False) -> None:
        if self.session_key is None:
            return self.create()
        data = self._get_session(no_load=must_create)  # type: ignore[attr-defined]
        changes: dict[str, Any] = {"session_data": self.encode(data), "user_id": data.get(SESSION_KEY)}
        if must_create or self.new_secret:
            changes |= self._lifetime()
        if self.new_secret:
            changes["key_digest"] = digest(self.new_secret)
        if must_create:
            self._insert(changes)
        elif not Session.objects.filter(session_key=self.session_key).update(**changes):
            raise UpdateError

    def _insert(self, changes: dict[str, Any]) -> None:
        try:
            with transaction.atomic():
                self.row = Session.objects.create(session_key=self.session_key or "", **changes)
        except IntegrityError:
            raise CreateError from None

    @staticmethod
    def _lifetime() -> dict[str, datetime]:
        now = timezone.now()
        ends = (now + timedelta(seconds=settings.CONFIG.session_absolute)).replace(microsecond=0)
        return {"seen_at": now, "ends_at": ends, "expire_date": _idle_until(now, ends)}

    def delete(self, session_key: str | None = None) -> None:
        key = session_key or self.session_key
        for pk in Session.objects.filter(session_key=key).values_list("pk", flat=True):
            end_session(pk)

    def cycle_key(self) -> None:
        """A new name for the same row, so that its records stay where they are."""
        old, self._session_cache = self.session_key, self._session  # type: ignore[attr-defined]
        new = self._get_new_session_key()  # type: ignore[attr-defined]
        if old and Session.objects.filter(session_key=old).update(session_key=new):
            self._session_key = new
            self.modified = True
        else:
            self.create()

    async def acycle_key(self) -> None:
        await sync_to_async(self.cycle_key)()

    @classmethod
    def clear_expired(cls) -> None:
        for pk in Session.objects.filter(expire_date__lte=timezone.now()).values_list("pk", flat=True):
            end_session(pk)

    def bind(self, secret: bytes) -> None:
        """Give the session the digest of a browser's new key, and a new lifetime, at its next save."""
        self.new_secret = secret
        self.modified = True


def digest(secret: bytes) -> str:
    """What the session row stores of the key cookie: enough to recognise it, nothing to open with."""
    return hashlib.sha256(secret).hexdigest()


def _idle_until(now: datetime, ends: datetime) -> datetime:
    return min(now + timedelta(seconds=settings.CONFIG.session_idle), ends)


def end_session(pk: int, *, by: int | None = None) -> bool:
    """End a session: its open flows expire, then its row goes with every record under it. False if it was gone.

    With a person's last session goes what servers list for them alone.
    """
    with transaction.atomic():
        row = Session.objects.select_for_update().filter(pk=pk).first()
        if row is None:
            return False
        open_flows = SealedRecord.objects.filter(session=pk, flow__state__in=OPEN)
        for flow_id in list(open_flows.values_list("flow_id", flat=True)):
            ledger.move(flow_id, Event.SESSION_ENDED, by=by, lease_until=None)
        Session.objects.filter(pk=pk).delete()
        if row.user_id and not Session.objects.filter(user=row.user_id).exists():
            Listing.objects.filter(user=row.user_id).delete()
        return True


def end_sessions_of(user: int, *, but: int | None = None, by: int | None = None) -> int:
    """End a person's sessions, save one. Returns how many ended."""
    found = Session.objects.filter(user=user).exclude(pk=but or 0).values_list("pk", flat=True)
    return sum(end_session(pk, by=by) for pk in list(found))


def end_elsewhere(user: int) -> None:
    """End a person's sessions, save the one that this is done in."""
    current = _current.get()
    end_sessions_of(user, but=current.pk if current is not None else None)


@dataclass(frozen=True, slots=True)
class Living:
    """A session that counts: since when, when it was last used, how many requests are open in it."""

    pk: int
    since: datetime
    seen_at: datetime
    open_flows: int


def living_of(user: int) -> list[Living]:
    """A person's sessions that count, the one used last first."""
    found = Session.objects.filter(user=user, expire_date__gt=timezone.now()).exclude(key_digest="")
    rows = found.annotate(count=Count("records", filter=Q(records__flow__state__in=OPEN))).order_by("-seen_at")
    return [Living(row.pk, row.since, row.seen_at, row.count) for row in rows.defer("session_data")]


def secret_in(cookies: Mapping[str, str]) -> bytes | None:
    """The browser's key, if the cookie holds one."""
    try:
        secret = urlsafe_b64decode(cookies[settings.KEY_COOKIE_NAME])
    except (KeyError, ValueError):
        return None
    return secret if len(secret) == 32 else None


def _visitor(row: Session | None, cookies: Mapping[str, str]) -> Visitor | None:
    secret = secret_in(cookies)
    if row is None or row.user_id is None or secret is None or not row.key_digest:
        return None
    if not constant_time_compare(digest(secret), row.key_digest):
        return None
    return Visitor(row.user_id, row.pk, row.ends_at, secret)


def peek(cookies: Mapping[str, str]) -> Visitor | None:
    """Who these cookies are, without changing anything: for sockets, where no cookie could be set.

    A session signed with a fallback SECRET_KEY counts and stays as it is; the next page renews it.
    """
    store = SessionStore(cookies.get(settings.SESSION_COOKIE_NAME))
    signed_hash = store.get(HASH_SESSION_KEY, "")
    visitor = _visitor(store.row, cookies)
    if visitor is None:
        return None
    user = get_user_model().objects.filter(pk=visitor.user, is_active=True).first()
    if user is None:
        return None
    hashes = [user.get_session_auth_hash(), *user.get_session_auth_fallback_hash()]
    return visitor if any(constant_time_compare(signed_hash, each) for each in hashes) else None


def alive(visitors: Collection[Visitor]) -> set[int]:
    """Which of these sessions still count, without changing anything: for sockets that stay open after peek()."""
    found = Session.objects.filter(pk__in={visitor.session for visitor in visitors}, expire_date__gt=timezone.now())
    rows = found.filter(user__is_active=True).values_list("pk", "user_id", "key_digest")
    known = {(pk, user): key_digest for pk, user, key_digest in rows}
    return {
        visitor.session
        for visitor in visitors
        if constant_time_compare(digest(visitor.secret), known.get((visitor.session, visitor.user), ""))
    }


class GatedRequest(HttpRequest):
    """A request behind the gate."""

    session: SessionStore
    visitor: Visitor | None
    key_lost: bool
    taken: bool
    """A page of a signed-in person takes this request: it was not refused, and did not lead nowhere."""


class Backend(ModelBackend):
    """Django's own; whose session this is was read together with it."""

    def get_user(self, user_id: int) -> User | None:
        row = _current.get()
        if row is None or row.user is None or row.user.pk != user_id:
            return super().get_user(user_id)
        return row.user if self.user_can_authenticate(row.user) else None


class SessionGate(SessionMiddleware):
    """Sessions for pages: a signed-in session without its key ends; activity and the key cookie are kept up."""

    def process_request(self, request: HttpRequest) -> None:
        super().process_request(request)
        gated = cast(GatedRequest, request)
        store = gated.session
        signed_in = SESSION_KEY in store
        gated.visitor = _visitor(store.row, request.COOKIES) if signed_in else None
        gated.key_lost = signed_in and gated.visitor is None
        gated.taken = False
        if gated.visitor is not None and settings.SECRET_KEY_FALLBACKS:
            _sign_anew(store, gated.visitor)
        if gated.key_lost:
            store.flush()
        _current.set(store.row if gated.visitor else None)

    def process_response(self, request: HttpRequest, response: HttpResponse) -> HttpResponse:
        gated = cast(GatedRequest, request)
        store = gated.session
        if gated.visitor is not None and _is_activity(request):
            _touch(store.row)
        response = super().process_response(request, response)
        if store.new_secret:
            _set_key_cookie(response, store.new_secret)
        elif settings.KEY_COOKIE_NAME in request.COOKIES and SESSION_KEY not in store:
            for name in (settings.KEY_COOKIE_NAME, settings.MESSAGE_COOKIE_NAME):
                response.delete_cookie(name, samesite="Lax")
            response["Clear-Site-Data"] = '"cache", "storage"'
        return response


def _sign_anew(store: SessionStore, visitor: Visitor) -> None:
    """A session of before a rotation of SECRET_KEY goes on under the new key, and under its name.

    Django would rename it: another request of the browser, on its way meanwhile, would then find no session, and its
    answer would take the browser's key away.
    """
    user = get_user_model().objects.filter(pk=visitor.user).first()
    signed = store.get(HASH_SESSION_KEY, "")
    if user is None or constant_time_compare(signed, user.get_session_auth_hash()):
        return
    if any(constant_time_compare(signed, each) for each in user.get_session_auth_fallback_hash()):
        store[HASH_SESSION_KEY] = user.get_session_auth_hash()


@dataclass(frozen=True, slots=True)
class Left:
    """Seconds until the session ends if nobody does anything, and until it ends in any case."""

    idle: float
    absolute: float


def left(request: GatedRequest) -> Left | None:
    """What is left of a visitor's session once this request is answered. None where nobody is signed in."""
    row = request.session.row if getattr(request, "visitor", None) else None
    if row is None:
        return None
    now = timezone.now()
    until = _idle_until(now, row.ends_at) if _is_activity(request) and _may_touch(row, now) else row.expire_date
    return Left((until - now).total_seconds(), (row.ends_at - now).total_seconds())


def extend(request: GatedRequest) -> bool:
    """The person stays signed in: idle time starts anew, whenever that was done last. False if it is over already."""
    return request.session.row is not None and _set_seen(request.session.row, timezone.now())


def keep_briefly(request: HttpRequest, lasts: timedelta) -> None:
    """The session of somebody who is not signed in ends soon; with a sign-in it gets the lifetime of all."""
    gated = cast(GatedRequest, request)
    if gated.visitor is None:
        ends = timezone.now() + lasts
        Session.objects.filter(session_key=gated.session.session_key, user=None).update(expire_date=ends)


def _is_activity(request: HttpRequest) -> bool:
    if not (getattr(request, "taken", False) or _is_taken_by_admin(request)):
        return False
    return request.method == "POST" or not (request.headers.get(POLL_HEADER) or "poll" in request.GET)


def _is_taken_by_admin(request: HttpRequest) -> bool:
    """Django's own pages set no mark, but its look at where a post comes from does."""
    match = request.resolver_match
    return match is not None and match.app_name == "admin" and getattr(request, "csrf_processing_done", False)


def _touch(row: Session | None) -> None:
    now = timezone.now()
    if row is not None and _may_touch(row, now):
        _set_seen(row, now)


def _may_touch(row: Session, now: datetime) -> bool:
    return now - row.seen_at > TOUCH_EVERY


def _set_seen(row: Session, now: datetime) -> bool:
    row.seen_at, row.expire_date = now, _idle_until(now, row.ends_at)
    still = Session.objects.filter(pk=row.pk, expire_date__gt=now)
    return still.update(seen_at=row.seen_at, expire_date=row.expire_date) == 1


def _set_key_cookie(response: HttpResponse, secret: bytes) -> None:
    response.set_cookie(
        settings.KEY_COOKIE_NAME,
        urlsafe_b64encode(secret).decode(),
        secure=settings.SECURE_COOKIES,
        httponly=True,
        samesite="Lax",
    )


def _give_key(request: HttpRequest, user: AbstractBaseUser, **_: Any) -> None:
    """At sign-in: a new key, unless this browser signs the same person in again and still has theirs."""
    visitor: Visitor | None = getattr(request, "visitor", None)
    if visitor is None or visitor.user != user.pk:
        cast(GatedRequest, request).session.bind(secrets.token_bytes(32))


def _end_others(instance: Any, **_: Any) -> None:
    """A new password, and being switched off, end a person's other sessions at once, with all that they keep."""
    if instance.pk and (instance._password is not None or not instance.is_active):
        end_elsewhere(instance.pk)


user_logged_in.connect(_give_key, dispatch_uid="mrtr_web.give_key")
post_save.connect(_end_others, sender=settings.AUTH_USER_MODEL, dispatch_uid="mrtr_web.end_others")
