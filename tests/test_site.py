"""The name and the logo of the team that hosts the site."""

from pathlib import Path

import pytest
from django.contrib.auth.models import User
from django.test import Client
from pytest_django import Settings

from mrtr_web import config
from tests.reviewers import looking

pytestmark = pytest.mark.django_db
DRAWING = b'<svg xmlns="http://www.w3.org/2000/svg"/>'


@pytest.fixture
def branded(settings: Settings, tmp_path: Path) -> Path:
    logo = tmp_path / "logo.svg"
    logo.write_bytes(DRAWING)
    settings.CONFIG = settings.CONFIG.model_copy(update={"site_name": "Town <hall>", "site_logo": logo})
    return logo


def test_pages_carry_the_name_and_the_logo(branded: Path, alice: User) -> None:
    page = looking(alice).get("/flows/").content.decode()
    assert "<title>My requests – Town &lt;hall&gt;</title>" in page
    assert '<img class="brand__logo" src="/site/logo" alt=""><span class="brand__name">Town &lt;hall&gt;</span>' in page


def test_the_logo_is_for_everybody_and_follows_its_file(branded: Path) -> None:
    response = Client().get("/site/logo")
    assert (response.status_code, response["Content-Type"], response.content) == (200, "image/svg+xml", DRAWING)
    assert response["Content-Security-Policy"].startswith("default-src 'none'")
    branded.unlink()
    assert Client().get("/site/logo").status_code == 404


def test_without_a_logo_none_is_shown(alice: User) -> None:
    assert Client().get("/site/logo").status_code == 404
    assert b"brand__logo" not in looking(alice).get("/flows/").content


@pytest.mark.parametrize("content", [None, b"", b"x" * (config.MAX_LOGO + 1)])
def test_a_logo_that_cannot_be_used_stops_the_start(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, content: bytes | None
) -> None:
    logo = tmp_path / "logo.png"
    if content is not None:
        logo.write_bytes(content)
    monkeypatch.setenv("MRTR_SITE_LOGO", str(logo))
    with pytest.raises(config.BadSetting, match="^MRTR_SITE_LOGO: must be a file of 200 kB at most"):
        config.load()


def test_a_logo_of_another_kind_stops_the_start(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "logo.html").write_bytes(b"<p>")
    monkeypatch.setenv("MRTR_SITE_LOGO", str(tmp_path / "logo.html"))
    with pytest.raises(config.BadSetting, match="ends in .svg, .png, .webp"):
        config.load()
