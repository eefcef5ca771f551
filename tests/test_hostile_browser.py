"""Texts that would run as script, in every place that shows one, in a real browser."""

from collections.abc import Iterator
from typing import Any

import pytest
from django.contrib.auth.models import User
from playwright.sync_api import Page

from mrtr_web.models import Flow, Server
from tests.desk import Desk, point_to
from tests.hostile import corpus
from tests.hostile.asked import scripts_in_a_result, scripts_in_a_step, scripts_in_an_error
from tests.hostile.listed import scripts_in_a_listing
from tests.reviewers import admitted, reviewer_of
from tests.servers import Recorder, Scripted, html, serve
from tests.window import Opener, Watched, in_browser

pytestmark = in_browser
INJECTED = f"""() => [
    ...document.querySelectorAll("{corpus.MARK}, #{corpus.MARK}, [onerror], [onload], [onfocus], [onmouseover]"),
    ...document.querySelectorAll("iframe, object, embed, base, svg script, math, marquee, template img, [srcdoc]"),
    ...["src", "href", "action", "formaction", "poster"].flatMap(name => [...document.querySelectorAll(`[${{name}}]`)]
        .filter(each => new URL(each.getAttribute(name), location).origin !== location.origin)),
].map(each => each.outerHTML.slice(0, 200))"""
"""What the payloads would make, and whatever leads away from this app."""


class Script(Desk):
    """Asks, finishes or fails with scripts, by the topic."""

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        post = scope.get("mrtr.post")
        if post and post.json and post.json["method"] == "tools/call":
            topic = post.params["arguments"].get("topic")
            answer = {"step": scripts_in_a_step(), "result": scripts_in_a_result(), "error": scripts_in_an_error()}
            step = answer[topic] if "inputResponses" not in post.params else scripts_in_a_result("after")
            return await Scripted(step)(scope, receive, send)
        await super().__call__(scope, receive, send)


@pytest.fixture
def hostile(server: Server) -> Iterator[Recorder]:
    script = Script(lambda post: html(500))
    script.listed = scripts_in_a_listing()
    recorder = Recorder(script)
    with serve(recorder, lifespan="on") as base:
        point_to(server, base)
        yield recorder


def looked_at(window: Watched, payload: str) -> Page:
    """This page shows the payload as text, and did nothing of what it says."""
    page = window.page
    page.wait_for_load_state()
    assert payload in page.content(), page.url
    assert page.evaluate(INJECTED) == []
    assert window.trouble == []
    return page


def begin(window: Watched, topic: str, state: str) -> None:
    window.page.goto(f"{window.base}/s/demo/tools/ask/")
    window.page.get_by_label("Topic").fill(topic)
    window.page.get_by_role("button", name="Start").click()
    window.state(state)


def test_no_text_of_a_server_becomes_anything_but_text(
    opened: Opener, server: Server, alice: User, hostile: Recorder
) -> None:
    Server.objects.filter(pk=server.pk).update(keep_messages=True)
    reviewer_of("rita", server)
    admitted(alice, server)
    window = opened()
    window.page.on("request", lambda request: window.trouble.append(request.url) if "evil" in request.url else None)
    window.sign_in()
    page = window.page
    for path in ("/s/demo/", "/", "/?q=alert", "/s/demo/tools/listed0/"):
        page.goto(window.base + path)
        looked_at(window, "alert('listed" if path != "/" else "Demo desk")
    begin(window, "step", "waiting")
    looked_at(window, "alert('step28')")
    page.locator("details").evaluate_all("all => all.forEach(each => each.open = true)")
    looked_at(window, "alert('step28')")
    page.get_by_role("button", name="Check your answers").click()
    looked_at(window, "alert('step0')")
    _reviewed(opened, "alert('step0')")
    page.get_by_role("button", name="Send").first.click()
    window.state("completed")
    looked_at(window, "alert('after0')")
    begin(window, "error", "failed")
    page.locator("details").evaluate_all("all => all.forEach(each => each.open = true)")
    looked_at(window, "alert('error0')")
    page.goto(f"{window.base}/flows/")
    looked_at(window, "Demo desk")


def _reviewed(opened: Opener, payload: str) -> None:
    """The reviewer reads what is asked."""
    rita = opened()
    rita.page.goto(f"{rita.base}/accounts/login/")
    rita.page.get_by_label("Username").fill("rita")
    rita.page.get_by_label("Password").fill("rita's password")
    rita.page.get_by_role("button", name="Sign in").click()
    for path in ("/review/", f"/review/{Flow.objects.get().pk}/", "/review/findings/", "/review/audit/"):
        rita.page.goto(rita.base + path)
        looked_at(rita, payload if path.count("/") == 3 and len(path) > 20 else "Demo desk")
