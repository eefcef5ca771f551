"""Notices for the next page ("Saved."), kept in a cookie that no other host and no other path can set."""

from django.conf import settings
from django.contrib.messages.storage.cookie import CookieStorage
from django.contrib.messages.storage.fallback import FallbackStorage


class NoticeCookie(CookieStorage):
    cookie_name = settings.MESSAGE_COOKIE_NAME


class Notices(FallbackStorage):
    """In the session where they are too many for a cookie."""

    storage_classes = (NoticeCookie,) + FallbackStorage.storage_classes[1:]
