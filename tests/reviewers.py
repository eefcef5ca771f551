"""People of the review desk: reviewers through a group, with servers of it, and pages read as they."""

from typing import Any

from django.contrib.auth.models import Group, Permission, User
from django.test import Client

from mrtr_web.models import Server
from tests.visitors import cookies_of


def reviewer_of(name: str, *servers: Server) -> User:
    """A person who reviews these servers, through a group of theirs."""
    group = Group.objects.create(name=f"reviewers of {name}")
    group.permissions.add(Permission.objects.get(codename="review_flow"))
    for server in servers:
        server.groups.add(group)
    user = User.objects.create_user(name, password=f"{name}'s password")
    user.groups.add(group)
    return user


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
