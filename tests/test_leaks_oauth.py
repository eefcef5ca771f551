"""Sign-ins that fail at each place, in a real process at DEBUG: no token, code, verifier, state or secret stays."""

import itertools
from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth.models import User

from mrtr_web.catalog import forget_listings
from mrtr_web.models import Allowance, Connection, Server
from tests.processes import serving
from tests.signing_in import answered, begin, leave, protected
from tests.test_leaks import ENVIRON, MARK, assert_nowhere, of_the_database, of_the_system, signed_in
from tests.test_oauth_attacked import state_of

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.timeout(240)]
ODD: tuple[dict[str, Any], ...] = (
    {"prm_answered": "garbage"},
    {"prm": {"resource": f"http://127.0.0.1:9/{MARK}"}},
    {"metadata_answered": "garbage"},
    {"metadata": {"issuer": f"http://127.0.0.1:9/{MARK}"}},
    {"metadata": {"token_endpoint": f"https://{MARK}.invalid/token?{MARK}"}},
    {"registration": "refusing"},
    {"client": {"client_id": None, "client_name": MARK}},
    {"consent": "deny", "callback": {"error_description": MARK}},
    {"callback": {"code": MARK}},
    {"iss": "wrong"},
    {"token_answered": "garbage"},
    {"token_answered": "missing"},
    {"token": {"access_token": f"{MARK} with a space", "error_description": MARK}},
    {"token": {"token_type": MARK, "expires_in": MARK}},
    {"refresh_status": 500},
)
SECRETS = ("code", "code_verifier", "refresh_token", "client_secret", "token")


@pytest.fixture(autouse=True)
def cheap_passwords() -> None:
    """Not here: another process checks what this one hashes."""


def test_nothing_is_left_of_sign_ins_that_failed(server: Server, alice: User, tmp_path: Path) -> None:
    used: set[str] = set()
    with (
        protected(server) as world,
        serving(tmp_path, **ENVIRON) as process,
        signed_in(process, alice) as person,
    ):
        for odd in ODD:
            before = {name: getattr(world.knobs, name) for name in odd}
            for name, value in odd.items():
                setattr(world.knobs, name, value)
            Connection.objects.all().delete()
            Allowance.objects.all().delete()
            forget_listings(server)
            person.get("/s/demo/")
            page = leave(person)
            links = [href for href, text in page.reader.links if "Go on to" in text]
            for link in links:
                used.add(state_of(link))
                person.get(answered(link))
            if "refresh_status" in odd:
                world.end_access()
                begin(person)
            for name, value in before.items():
                setattr(world.knobs, name, value)
        seen = of_the_system(process)
        posted = [post.form for post in world.auth.posts if b"=" in post.raw]
        used |= {form[name] for form, name in itertools.product(posted, SECRETS) if name in form} | set(
            world.grants.issued
        )
        log = process.log.read_text()
    assert len(used) > 20
    for text in (log, seen, of_the_database()):
        assert_nowhere(text)
        assert [value for value in used if value in text] == []
    assert "Traceback" not in log
