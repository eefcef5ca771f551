"""What says that it is not UTF-8 is refused in words on every address, and nothing of it is in any log."""

import logging

import pytest

from mrtr_web.models import Server
from tests.desk import TOOL, asks, desk
from tests.person import Page, Person

pytestmark = pytest.mark.django_db(transaction=True)

CODECS = ["utf-16", "utf-7", "idna", "rot13", "base64", "punycode", "unicode_escape", "undefined", "cp037", "bogus"]
STATED = [f"charset={codec}" for codec in [*CODECS, "utf8", '"utf-8 "', "latin-1", ""]]
STATED += ["charset*=bogus''x", "charset*=idna''x%ff", "charset*0=ut; charset*1=f-16", "a*=punycode''%ff"]
TYPED = "Tr\u00e9sSecret"
FORMS = {
    "application/x-www-form-urlencoded": f"username=alice&password={TYPED}&s0-f0={TYPED}".encode(),
    "multipart/form-data; boundary=X": "".join(
        f'--X\r\nContent-Disposition: form-data; name="{name}"\r\n\r\n{TYPED}\r\n' for name in ("password", "s0-f0")
    ).encode()
    + b"--X--\r\n",
}


def post(person: Person, path: str, stated: str, body: bytes) -> Page:
    headers = {"Content-Type": stated, "Origin": person.base}
    return Page.read(person.client.post(path, content=body, headers=headers))


def assert_refused(page: Page, caplog: pytest.LogCaptureFixture) -> None:
    assert (page.status, "could not be read" in page.text) == (400, True), (page.path, page.status)
    assert page.response.headers["Cache-Control"] == "no-store"
    kept = caplog.text + str([vars(record) for record in caplog.records])
    assert "Traceback" not in kept
    assert "Secret" not in kept


@pytest.mark.parametrize("stated", STATED)
@pytest.mark.parametrize("form", FORMS)
def test_another_charset_is_refused_before_anything_reads_it(
    app: str, person: Person, server: Server, caplog: pytest.LogCaptureFixture, form: str, stated: str
) -> None:
    with desk(server, asks()) as recorder, Person(app) as stranger:
        stranger.get("/accounts/login/")
        for someone in (person, stranger):
            caplog.set_level(logging.DEBUG)
            for path in ("/accounts/login/", "/accounts/profile/", "/admin/", TOOL, "/flows/", "/nowhere/", "/readyz"):
                assert_refused(post(someone, path, f"{form}; {stated}", FORMS[form]), caplog)
        assert recorder.posts == []


def test_another_charset_is_refused_in_addresses_too(person: Person, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    for stated in ("charset=idna", "charset*=idna''x%ff"):
        headers = {"Content-Type": f"text/plain; {stated}"}
        assert_refused(Page.read(person.client.get("/accounts/login/?next=%ff", headers=headers)), caplog)


def test_a_second_content_type_cannot_bring_a_charset(person: Person, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    stated = [("Content-Type", "multipart/form-data; boundary=X"), ("Content-Type", "a; charset=punycode")]
    body = FORMS["multipart/form-data; boundary=X"]
    assert_refused(Page.read(person.client.post("/accounts/login/", content=body, headers=stated)), caplog)


@pytest.mark.parametrize("stated", ["", "; charset=UTF-8", '; charset="utf-8"', "; charset=utf-8"])
def test_utf8_is_read(person: Person, stated: str) -> None:
    person.get("/accounts/profile/")
    data = person.page.button("Save")[0].data()
    body = f"csrfmiddlewaretoken={data['csrfmiddlewaretoken'][0]}&time_zone=Europe/Rome".encode()
    page = post(person, "/accounts/profile/", f"application/x-www-form-urlencoded{stated}", body)
    assert (page.status, "Saved." in page.text) == (200, True)
