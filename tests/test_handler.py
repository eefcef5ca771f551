"""Pages on threads that live on: what one request leaves behind is not there for the next."""

import socket
from concurrent.futures import ThreadPoolExecutor

import httpx2
import pytest
from django.conf import settings
from django.contrib.auth.models import User

from mrtr_web import handler
from mrtr_web.handler import PROBES, PageHandler
from mrtr_web.models import Person
from tests.desk import on_this_machine
from tests.servers import BOUND, serve
from tests.visitors import cookies_of

pytestmark = pytest.mark.django_db(transaction=True)
ZONES = ("Europe/Berlin", "Asia/Taipei", "America/New_York")
LANGUAGES = ("en", "zh-hant")


def _people() -> list[tuple[str, str, str, dict[str, str]]]:
    """Name, language, zone, cookies of six."""
    found = []
    for number in range(6):
        user = User.objects.create(username=f"person-{number}")
        zone, language = ZONES[number % 3], LANGUAGES[number % 2]
        Person.objects.create(user=user, time_zone=zone)
        found.append((user.username, language, zone, {**cookies_of(user), settings.LANGUAGE_COOKIE_NAME: language}))
    return found


def test_people_who_share_two_threads_see_nothing_of_each_other(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(handler, "THREADS", 2)
    people = _people()

    def visit(number: int) -> None:
        name, language, zone, cookies = people[number % len(people)]
        page = httpx2.get(f"{base}/accounts/profile/", cookies=cookies, trust_env=False, timeout=BOUND).text
        assert f'<html lang="{language}"' in page
        assert f"</span> {name}</span>" in page
        assert f'value="{zone}" selected' in page

    with serve(PageHandler()) as base, ThreadPoolExecutor(6) as pool:
        list(pool.map(visit, range(60)))


def test_nobody_is_signed_in_by_who_used_the_connection_before() -> None:
    name, _, _, cookies = _people()[0]
    with serve(PageHandler()) as base, httpx2.Client(base_url=base, trust_env=False, timeout=BOUND) as client:
        signed_in = client.get("/", headers={"Cookie": "; ".join(f"{key}={value}" for key, value in cookies.items())})
        stranger = client.get("/")
    assert name in signed_in.text
    assert stranger.status_code == 302
    assert stranger.headers["location"] == "/accounts/login/?next=/"


def test_a_process_whose_pages_all_wait_for_a_server_is_alive(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(handler, "THREADS", 1)
    cookies = _people()[0][3]
    with socket.create_server(("127.0.0.1", 0)) as silent, serve(PageHandler()) as base, ThreadPoolExecutor(1) as pool:
        on_this_machine("silent", "Silent desk", f"http://127.0.0.1:{silent.getsockname()[1]}/mcp")
        page = pool.submit(httpx2.get, f"{base}/s/silent/", cookies=cookies, trust_env=False, timeout=BOUND)
        waits = silent.accept()[0]
        assert [httpx2.get(f"{base}{path}", trust_env=False, timeout=BOUND).text for path in PROBES] == ["ok", "ok"]
        assert not page.done()
        waits.close()
        assert page.result().status_code in (200, 502)
