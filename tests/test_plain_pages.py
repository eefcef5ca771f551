"""Pages shown when little can be relied on: they have the site's name, the way home, and the switch of languages."""

import pytest
from django.contrib.auth.models import User
from django.core.exceptions import SuspiciousOperation, TooManyFieldsSent
from django.db import OperationalError
from django.http import HttpRequest, HttpResponse
from django.test import Client, RequestFactory
from django.urls import clear_url_caches, path

from mrtr_web import plain, urls
from mrtr_web.views import trouble
from tests.person import Page, Person
from tests.reviewers import looking

HOME = '<span class="brand__name">mrtr_web</span>'
TOKEN = "a" * 32
pytestmark = pytest.mark.django_db


def _failing(error: Exception) -> str:
    """The page of a failure, in a browser that has been here before."""

    def fails(request: HttpRequest) -> HttpResponse:
        raise error

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(urls, "urlpatterns", [*urls.urlpatterns, path("fails/", fails)])
        clear_url_caches()
        client = Client(raise_request_exception=False)
        client.cookies["mrtr_csrf"] = TOKEN
        shown = client.get("/fails/").content.decode()
    clear_url_caches()
    return shown


@pytest.mark.parametrize(
    ("error", "title"),
    [
        (SuspiciousOperation(), "What your browser sent could not be read"),
        (TooManyFieldsSent(), "This has too many parts"),
        (OperationalError(), "Not available at the moment"),
        (ValueError(), "Something broke here"),
    ],
)
def test_pages_of_trouble_have_the_way_home_and_the_switch_of_languages(error: Exception, title: str) -> None:
    shown = _failing(error)
    assert f"<h1>{title}</h1>" in shown
    assert HOME in shown and 'href="/"' in shown
    assert 'name="language" value="zh-hant"' in shown and 'name="next" value="/fails/"' in shown


def test_an_address_that_takes_posts_alone_has_them_too(alice: User) -> None:
    client = looking(alice)
    client.cookies["mrtr_csrf"] = TOKEN
    shown = client.get("/accounts/logout/").content.decode()
    assert HOME in shown and 'name="language" value="zh-hant"' in shown


@pytest.mark.parametrize(
    "template", ["400.html", "405.html", "413.html", "500.html", "503.html", "too_many_fields.html"]
)
def test_without_a_known_token_there_is_no_switch_that_would_be_refused(template: str) -> None:
    shown = plain.page(RequestFactory().get("/"), template)
    assert HOME in shown and "set_language" not in shown and 'name="language"' not in shown


def test_a_failure_ends_no_token_of_open_pages() -> None:
    request = RequestFactory().post("/flows/", {"a": "b"})
    try:
        raise OperationalError
    except OperationalError:
        trouble.broken(request)
    assert "CSRF_COOKIE" not in request.META


@pytest.mark.django_db(transaction=True)
def test_what_is_too_large_is_said_in_the_readers_language_and_leads_back(person: Person) -> None:
    person.get("/flows/")
    large, flow = {"x": "y" * 4_500_000}, "/flows/7d4f3c1e-0000-4000-8000-000000000000/"
    for language, words in (("en", "This is too large"), ("zh-Hant", "內容太大")):
        answer = person.client.post(f"{flow}answer/", data=large, headers={"Accept-Language": language})
        assert (answer.status_code, words in answer.text, HOME in answer.text) == (413, True, True)
    page = Page.read(answer)
    assert f'name="next" value="{flow}"' in page.response.text
    page.button("English")
