"""What happens to a site that is set up as documented, one part after the other; each says what it counted."""

import time
from pathlib import Path

from django.contrib.auth.models import User
from playwright.sync_api import Browser, expect, sync_playwright

from mrtr_web.models import Flow
from tests import certificates
from tests.deployment.crowd import Crowd
from tests.deployment.fleet import Fleet, Place
from tests.deployment.travel import Travel, travel
from tests.desk import on_this_machine
from tests.own_redis import running_redis
from tests.processes import listening
from tests.proxy import Front, as_in_production, nginx
from tests.servers import free_port, until
from tests.test_browser import book, pay, tell_details
from tests.visitors import cookies_of
from tests.window import CHROMIUM, FLAGS, Watched

PEOPLE = 20
ROUNDS = 4
"""How often all processes are replaced, one after the other."""


def show(folder: Path) -> None:
    """Raises AssertionError where anything falls."""
    User.objects.create_user("alice", password="alice's password")
    server = on_this_machine("demo", "Demo desk")
    certificate = certificates.made_in(folder)
    with running_redis() as redis, travel(server) as demo, listening() as held:
        environ = as_in_production(folder / "static") | {"REDIS_URL": redis.url}
        ports: list[Place] = [free_port(), free_port()]
        with Fleet(folder, ports, environ) as fleet, nginx(folder / "two", certificate, *map(_port, ports)) as front:
            _in_a_browser(fleet, front, demo)
            _replaced("Two ports behind nginx", fleet, front, demo)
        with Fleet(folder, [held, held], environ) as fleet, nginx(folder / "one", certificate, _port(held)) as front:
            _replaced("One inherited socket behind nginx", fleet, front, demo)


def _port(place: Place) -> int:
    return place if isinstance(place, int) else int(place.getsockname()[1])


def _in_a_browser(fleet: Fleet, front: Front, demo: Travel) -> None:
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        _books(_window(browser, front), demo)
        _books_while_one_is_killed(_window(browser, front), fleet, demo)
        _is_told_that_nobody_knows(_window(browser, front), fleet, demo)
        browser.close()


def _window(browser: Browser, front: Front) -> Watched:
    """Nobody vouches for the certificate."""
    return Watched(browser.new_context(ignore_https_errors=True), front.base, True)


def _books(window: Watched, demo: Travel) -> None:
    sockets = list[str]()
    window.page.on("websocket", lambda socket: sockets.append(socket.url))
    before = demo.calls
    book(window, "127.0.0.1")
    cookies = window.page.context.cookies(window.base)
    assert cookies and all(each["name"].startswith("__Host-") and each["secure"] for each in cookies)
    assert sockets and all(url.startswith("wss://") for url in sockets)
    assert demo.calls - before == 4
    print(f"The booking over TLS: {demo.calls - before} calls, {len(sockets)} sockets, cookies all __Host-")


def _books_while_one_is_killed(window: Watched, fleet: Fleet, demo: Travel) -> None:
    before, page = demo.calls, window.page
    _ask(window, "book_trip", Destination="Lyon", Nights="3")
    window.state("waiting")
    window.page.wait_for_load_state()  # what a process sends just then is lost: a script, maybe
    fleet.kill(0)
    tell_details(window)
    fleet.start(0)
    expect(page.get_by_role("link", name="Open 127.0.0.1")).to_be_visible()
    page.wait_for_load_state()
    fleet.kill(1)
    pay(window, "127.0.0.1")
    page.get_by_label("Yes").check()
    page.get_by_role("button", name="Send to Demo desk").click()
    window.state("completed")
    fleet.start(1)
    assert demo.calls - before == 4
    print(f"Each process killed once, at a question: booked with {demo.calls - before} calls")


def _is_told_that_nobody_knows(window: Watched, fleet: Fleet, demo: Travel) -> None:
    """The process that has the leg dies after the server acted; the other one tells it once the lease ran out."""
    before = demo.calls
    window.sign_in()
    fleet.kill(1)
    with demo.silent():
        _ask(window, "book_trip", signed_in=True, Destination="Lyon", Nights="3")
        until(lambda: demo.calls > before)
        fleet.start(1)
        fleet.kill(0)
        died = time.monotonic()
        expect(window.page.locator('main[data-flow-state="unknown"]')).to_be_visible(timeout=90_000)
    assert demo.calls - before == 1
    print(f"Killed during a leg: told as unknown {time.monotonic() - died:.0f} s later, with 1 call and no other")
    fleet.start(0)


def _ask(window: Watched, tool: str, signed_in: bool = False, **filled: str) -> None:
    if not signed_in:
        window.sign_in()
    window.page.goto(f"{window.base}/s/demo/tools/{tool}/")
    for label, value in filled.items():
        window.page.get_by_label(label).fill(value)
    window.page.get_by_label("Day of departure").fill("2027-05-04")
    window.page.get_by_label("Business").check()
    window.page.get_by_role("button", name="Start").click()


def _replaced(what: str, fleet: Fleet, front: Front, demo: Travel) -> None:
    """While people use it."""
    Flow.objects.all().delete()
    names = [f"{front.port}-{number}" for number in range(PEOPLE)]
    crowd = Crowd(front.base, front.trust(), [cookies_of(User.objects.create(username=name)) for name in names])
    before, began = demo.calls, time.monotonic()
    with crowd.at_work():
        for _ in range(ROUNDS):
            fleet.replace_all()
    took, calls = time.monotonic() - began, demo.calls - before
    print(f"{what}: {ROUNDS} rolling restarts of 2 processes in {took:.0f} s under {PEOPLE} people,")
    print(f"  {crowd.requests} requests, {len(crowd.trouble)} failed; sent {crowd.sent}, calls that came {calls},")
    print(f"  requests begun {Flow.objects.count()}, ended well {crowd.finished}")
    assert crowd.trouble == [], crowd.trouble
    assert calls == crowd.sent
    assert Flow.objects.filter(state="completed").count() == Flow.objects.count() == crowd.finished
