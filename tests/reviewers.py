"""People of the review desk: reviewers through a group, with servers of it, and pages read as they."""

from collections.abc import Sequence
from datetime import timedelta
from typing import Any

from django.contrib.auth.models import Group, Permission, User
from django.test import Client
from django.utils import timezone

from mrtr_web.flow import State
from mrtr_web.models import Flow, Round, SealedRecord, Server, Session
from tests.visitors import cookies_of


def permission(name: str) -> Permission:
    return Permission.objects.get(codename=name, content_type__app_label="mrtr_web")


def reviewer_of(name: str, *servers: Server, may: Sequence[str] = ()) -> User:
    """A person who reviews these servers, through a group of theirs, with further permissions of their own."""
    group = Group.objects.create(name=f"reviewers of {name}")
    group.permissions.add(permission("review_flow"))
    for server in servers:
        server.groups.add(group)
    user = User.objects.create_user(name, password=f"{name}'s password")
    user.groups.add(group)
    user.user_permissions.set([permission(each) for each in may])
    return user


def admitted(user: User, server: Server) -> None:
    """Through a group that reviews nothing."""
    group, _ = Group.objects.get_or_create(name=f"people of {server.slug}")
    server.groups.add(group)
    user.groups.add(group)


def other_server(slug: str = "other") -> Server:
    return Server.objects.create(slug=slug, name=f"The {slug} desk", url=f"http://127.0.0.1:9/{slug}")


def looking(user: User) -> Client:
    """A browser in which this person is signed in."""
    client = Client()
    for name, value in cookies_of(user).items():
        client.cookies[name] = value
    return client


def page(user: User, path: str, **query: Any) -> tuple[int, str]:
    """Status and HTML of a page as this person sees it."""
    response = looking(user).get(path, query)
    return response.status_code, response.content.decode()


def flow_of(user: User, server: Server, state: State = State.WAITING, age: float = 60, **more: Any) -> Flow:
    """A request that has been in this state for `age` seconds, in its first round; kept if it is open, as all are."""
    then = timezone.now() - timedelta(seconds=age)
    facts = {"method": "tools/call", "name": "ask", "round": 1, "started_at": then, "changed_at": then} | more
    row = Flow.objects.create(user=user, server=server, state=state, **facts)
    if row.round:
        Round.objects.create(flow=row, number=row.round, kinds=["form", "url", "form"], hosts=["pay.example"])
    if row.is_open:
        SealedRecord.objects.create(flow=row, session=_session_of(user), sealed=b"nobody opens this")
    return row


def _session_of(user: User) -> Session:
    found = Session.objects.filter(user=user).order_by("pk").first()
    if found is None:
        cookies_of(user)
        found = Session.objects.get(user=user)
    return found


def fill(people: list[User], servers: list[Server], count: int) -> None:
    """So many requests, in all states."""
    rows = [
        Flow(user=people[n % len(people)], server=servers[n % len(servers)], method="tools/call", name="ask")
        for n in range(count)
    ]
    for n, row in enumerate(rows):
        row.state, row.round = sorted(State)[n % len(State)], 1 + n % 12
    Flow.objects.bulk_create(rows, batch_size=1000)
    Round.objects.bulk_create(
        [Round(flow=row, number=row.round, kinds=["form", "url"], hosts=["a.example"]) for row in rows], batch_size=1000
    )
