"""Hostile servers, each through the pages of a person: what is shown, noted and spent, and what others notice of it."""

from collections.abc import Iterator

import pytest

from mrtr_web.models import Finding, Flow, Server
from tests.hostile import asked, listed, transport
from tests.hostile.attack import PROMPT, Another, Attack, Cost, attacking
from tests.hostile.line import CANARY, Behaviour
from tests.person import Page

pytestmark = pytest.mark.django_db(transaction=True)
CALLED = {each.name: each for each in [*transport.ALL, transport.LATE, *asked.ALL]}
LOOKED_AT = {each.name: each for each in listed.ALL}
TABLE = CALLED | LOOKED_AT


@pytest.fixture(scope="module")
def attack(django_db_setup: None, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Attack]:
    """One process for all behaviours, on the database of the tests."""
    with attacking(tmp_path_factory.mktemp("attack"), TABLE) as running:
        yield running


def test_every_behaviour_has_a_name_of_its_own() -> None:
    assert len(TABLE) == len([*transport.ALL, transport.LATE, *asked.ALL, *listed.ALL]) >= 60


@pytest.mark.parametrize("name", CALLED)
def test_a_hostile_server_harms_nobody(attack: Attack, name: str) -> None:
    behaviour = TABLE[name]
    server = attack.register("hostile", attack.hostile.url(name), **behaviour.patience)
    with attack.person("alice") as alice, attack.another() as another:
        alice.get("/s/hostile/tools/ask/")
        alice.fill("Topic", CANARY)
        if behaviour.door != "http":
            Server.objects.filter(pk=server.pk).update(url=attack.hostile.url(name, behaviour.door))
        with Cost(attack.process) as cost:
            alice.press("Start")
            if behaviour.then is not None:
                behaviour.then(alice)
            alice.until(behaviour.state)
    assert Flow.objects.get(server=server).outcome == behaviour.outcome
    _assert_held(attack, behaviour, alice.page, another, cost)


@pytest.mark.parametrize("name", LOOKED_AT)
def test_a_hostile_listing_harms_nobody(attack: Attack, name: str) -> None:
    behaviour = TABLE[name]
    attack.register("hostile", attack.hostile.url(name), **behaviour.patience)
    with attack.person("alice") as alice, attack.another() as another, Cost(attack.process) as cost:
        alice.get("/s/hostile/")
        alice.get("/")
        alice.get("/?q=ask")
        alice.get("/s/hostile/")
    assert Server.objects.get(slug="hostile").trouble == behaviour.outcome
    _assert_held(attack, behaviour, alice.page, another, cost)


def _assert_held(attack: Attack, behaviour: Behaviour, page: Page, another: Another, cost: Cost) -> None:
    assert behaviour.says in page.text
    assert not [text for text in behaviour.never if text in page.response.text]
    found = Finding.objects.filter(server__slug="hostile").values_list("rule", flat=True)
    assert set(found) == set(behaviour.rules)
    assert another.legs and max(another.legs) < PROMPT
    assert cost.seconds < behaviour.seconds and cost.cpu < behaviour.cpu and cost.mib < behaviour.mib
    print(f"COST {behaviour.name} {cost.seconds:.2f} {cost.cpu:.2f} {cost.mib:.0f} {max(another.legs):.2f}")
    _assert_nothing_leaked(attack)


def _assert_nothing_leaked(attack: Attack) -> None:
    """Nobody was asked who should not be, no cookie came back, and the log has neither content nor a fault of ours."""
    assert attack.hostile.knocks["canary"] == 0
    assert {post.method for post in attack.hostile.posts} == {"POST"}
    assert not any("cookie" in post.headers for post in attack.hostile.posts)
    told = attack.logged()
    faults = [words for words in (CANARY, "Traceback", "a page failed", "a leg ended with") if words in told]
    assert faults == [], told[-2000:]
