"""The cookies of a session: of people who are signed in already, and as a browser sends them."""

import secrets
from base64 import urlsafe_b64encode
from collections.abc import Mapping

from django.conf import settings
from django.contrib.auth import BACKEND_SESSION_KEY, HASH_SESSION_KEY, SESSION_KEY
from django.contrib.auth.models import User

from mrtr_web.sessions import SessionStore


def cookies_of(user: User) -> dict[str, str]:
    """A new session of this person's, as a browser holds it: without the slow hash of a password."""
    secret = secrets.token_bytes(32)
    store = SessionStore()
    store[SESSION_KEY] = str(user.pk)
    store[BACKEND_SESSION_KEY] = settings.AUTHENTICATION_BACKENDS[-1]
    store[HASH_SESSION_KEY] = user.get_session_auth_hash()
    store.bind(secret)
    store.save()
    assert store.session_key is not None
    key = urlsafe_b64encode(secret).decode()
    return {settings.SESSION_COOKIE_NAME: store.session_key, settings.KEY_COOKIE_NAME: key}


def host_cookies_of(user: User) -> dict[str, str]:
    """The same where the site is behind TLS, and this process has settings for plain http."""
    return {f"__Host-{name}": value for name, value in cookies_of(user).items()}


def cookie_header(cookies: Mapping[str, str]) -> str:
    """The value of the header that a browser sends them in."""
    return "; ".join(f"{name}={value}" for name, value in cookies.items())
