"""Listings that are stored already, so that no server need be asked."""

from datetime import timedelta
from typing import Any

from django.contrib.auth.models import User
from django.utils import timezone

from mrtr_web.listings import DISCOVERY
from mrtr_web.models import Listing, Server


def store(server: Server, owner: User | None = None, /, **offers: list[Any]) -> None:
    """What the server said an hour ago, for everybody or for one person; it serves for a day."""
    capabilities: dict[str, Any] = {"resources" if kind == "templates" else kind: {} for kind in offers}
    discovery = {"supportedVersions": ["2026-07-28"], "capabilities": capabilities}
    asked = timezone.now() - timedelta(hours=1)
    for kind, entries in {DISCOVERY: [discovery], **offers}.items():
        row = {"entries": entries, "listed_at": asked, "fresh_until": asked + timedelta(days=1)}
        Listing.objects.update_or_create(server=server, kind=kind, user=owner, defaults=row)


def tool(name: str, title: str = "", description: str = "", **hints: bool) -> dict[str, Any]:
    return {
        "name": name,
        "title": title or name,
        "description": description,
        "inputSchema": {"type": "object"},
        "annotations": hints,
    }
