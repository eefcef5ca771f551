"""Listings that are stored already, so that no server need be asked."""

from datetime import timedelta
from typing import Any

from django.contrib.auth.models import User
from django.db import transaction
from django.utils import timezone

from mrtr_web.lifetimes import Lifetime
from mrtr_web.listings import DISCOVERY, keep
from mrtr_web.models import Server
from mrtr_web.relay import Listed


def store(server: Server, owner: User | None = None, /, **offers: list[Any]) -> None:
    """What the server said an hour ago, for everybody or for one person with a session; it serves for a day."""
    capabilities: dict[str, Any] = {"resources" if kind == "templates" else kind: {} for kind in offers}
    discovery = {"supportedVersions": ["2026-07-28"], "capabilities": capabilities}
    asked, lifetime = timezone.now() - timedelta(hours=1), Lifetime(24 * 3600, private=owner is not None)
    for kind, entries in {DISCOVERY: [discovery], **offers}.items():
        with transaction.atomic():
            keep(server, owner.pk if owner else 0, kind, Listed(entries, lifetime), asked)


def tool(name: str, title: str = "", description: str = "", **hints: bool) -> dict[str, Any]:
    return {
        "name": name,
        "title": title or name,
        "description": description,
        "inputSchema": {"type": "object"},
        "annotations": hints,
    }


def make_library() -> Server:
    """A server with something of each kind."""
    server = Server.objects.create(
        slug="library",
        name="City library",
        url="https://library.example/mcp",
        description="All nine branches.",
        tags=["city", "books"],
    )
    store(
        server,
        tools=[
            tool("renew", "Renew my books", "Three more weeks."),
            tool("find_map", "Find a map", "Also in old books, and Émile's atlas."),
        ],
        prompts=[{"name": "letter", "title": "Invite an author", "description": "A friendly letter."}],
        templates=[{"uriTemplate": "shelf://{code}", "name": "A shelf", "description": "What stands on it."}],
        resources=[{"uri": "hours://today", "name": "Opening hours"}],
    )
    return server
