"""End every session that ran out, with all that hangs on it."""

from typing import Any

from django.core.management.base import BaseCommand

from mrtr_web.sessions import SessionStore


class Command(BaseCommand):
    help = "Ends the sessions that ran out: their open flows expire and their sealed records go."

    def handle(self, *args: Any, **options: Any) -> None:
        SessionStore.clear_expired()
