"""Behind nginx as documented, processes are replaced and nobody notices. `python -m tests.deployment` shows more."""

import functools
from pathlib import Path

import pytest
from django.contrib.auth.models import User
from pytest_django import Settings

from mrtr_web.models import Flow, Server
from tests.certificates import certificate as certificate
from tests.deployment.crowd import Crowd
from tests.deployment.fleet import Fleet
from tests.deployment.travel import travel
from tests.proxy import as_in_production, needs_nginx, nginx
from tests.servers import free_port, until
from tests.visitors import host_cookies_of

pytestmark = [pytest.mark.django_db(transaction=True), needs_nginx]


def test_a_rolling_restart_behind_nginx_fails_nobody_and_sends_nothing_twice(
    tmp_path: Path, certificate: Path, collected: None, server: Server, settings: Settings
) -> None:
    cookies = [host_cookies_of(User.objects.create(username=f"person-{number}")) for number in range(4)]
    ports = free_port(), free_port()
    with (
        travel(server) as demo,
        Fleet(tmp_path, list(ports), as_in_production(settings.STATIC_ROOT)) as fleet,
        nginx(tmp_path, certificate, *ports) as front,
    ):
        crowd = Crowd(front.base, front.trust(), cookies)
        with crowd.at_work():
            for number in range(2):
                until(functools.partial(_more_than, crowd, crowd.sent + 4))
                fleet.replace(number)
            until(functools.partial(_more_than, crowd, crowd.sent + 4))
        assert crowd.trouble == []
        assert demo.calls == crowd.sent
        assert Flow.objects.filter(state="completed").count() == Flow.objects.count() == crowd.finished


def _more_than(crowd: Crowd, sent: int) -> bool:
    return crowd.sent > sent
