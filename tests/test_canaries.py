"""What people type, and what a server makes of it, is nowhere where a reviewer or an admin can look.

The server echoes every answer in message, title, key, progress, error and result.
"""

import json
from collections.abc import Iterator
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.db import connection
from django.urls import get_resolver, reverse

from mrtr_web.models import KeptMessages, Server
from tests.desk import calls, desk, start
from tests.hints import listening
from tests.person import Person
from tests.reviewers import admitted, reviewer_of
from tests.servers import Answer, Post, Step, error, events, result

pytestmark = pytest.mark.django_db(transaction=True)
ARGUMENT, ANSWER, STATE = "canary-argument", "canary-answer", "canary-state"
CANARIES = (ARGUMENT, ANSWER, STATE)


def echo(post: Post) -> str:
    """All that the person has typed so far."""
    return json.dumps([post.params.get("arguments"), post.params.get("inputResponses")]).replace('"', "'")


def asks_again(post: Post) -> Answer:
    """A round that repeats what was typed, wherever a server can."""
    said = echo(post)
    schema = {"type": "object", "properties": {said: {"type": "string", "title": f"Name {said}", "default": said}}}
    entry = {"method": "elicitation/create", "params": {"message": said, "requestedSchema": schema}}
    page = {"mode": "url", "message": said, "url": "https://pay.example/x", "elicitationId": said}
    url = {"method": "elicitation/create", "params": page}
    asked = {"resultType": "input_required", "inputRequests": {said: entry, "pay": url}, "requestState": STATE + said}
    return result(post, asked)


def progresses(post: Post) -> Answer:
    token = post.meta["progressToken"]
    note = {"progressToken": token, "progress": 1, "total": 2, "message": echo(post)}
    told = {"jsonrpc": "2.0", "method": "notifications/progress", "params": note}
    return events(told, then="hang")


def refuses(post: Post) -> Answer:
    return error(post, -32000, data=echo(post), message=echo(post))


def completes(post: Post) -> Answer:
    said = echo(post)
    return result(post, {"resultType": "complete", "content": [{"type": "text", "text": said}], "isError": True})


@pytest.fixture
def lookers(app: str, server: Server, alice: User) -> Iterator[list[Person]]:
    """A reviewer and an admin."""
    reviewer_of("rita", server, may=("switch_server", "end_sessions"))
    User.objects.create_superuser("root", password="root's password")
    admitted(alice, server)
    with Person(app) as rita, Person(app) as root:
        rita.sign_in("rita")
        root.sign_in("root")
        yield [rita, root]


def everything(looker: Person, flow: str) -> str:
    """All pages and downloads that this person can reach of the desk and of the admin."""
    paths = [reverse(name) for name in ("review", "review_servers", "audit", "audit_csv", "findings_list", "numbers")]
    paths += ["/review/?state=all", "/rules/", "/s/demo/", "/", "/flows/"]
    paths += [reverse(name, args=[flow]) for name in ("review_flow", "end_sessions")]
    paths += [reverse(name, args=["demo"]) for name in ("findings", "findings_text")]
    texts = [looker.get(path).response.text for path in paths]
    if "Administration" in texts[0]:
        texts += admin_pages(looker)
    return "".join(texts)


def admin_pages(root: Person) -> Iterator[str]:
    """Every list and every entry of what there is of requests."""
    names = [
        f"admin:{name}" for name in get_resolver().namespace_dict["admin"][1].reverse_dict if isinstance(name, str)
    ]
    for name in sorted(each for each in names if each.endswith("_changelist")):
        page = root.get(reverse(name))
        assert page.status == 200
        yield page.response.text
        for href in {href for href, _ in page.reader.links if href.endswith("/change/")}:
            yield root.get(href).response.text


def tables() -> str:
    with connection.cursor() as cursor:
        found = []
        for table in connection.introspection.table_names(cursor):
            cursor.execute(f'SELECT * FROM "{table}"')
            found += [repr([bytes(v) if isinstance(v, memoryview) else v for v in row]) for row in cursor.fetchall()]
    return "".join(found)


def assert_nowhere(text: str) -> None:
    for canary in CANARIES:
        assert canary not in text, text[max(0, text.index(canary) - 200) :][:400]


def answer(person: Person) -> None:
    """Of a round that repeats itself: its one text field, and the page to open."""
    form = next(form for form in person.page.reader.forms if form.action.endswith("/answer/"))
    for control in form.controls:
        if control.kind in ("text", "textarea"):
            control.value = ANSWER
        if control.kind == "radio":
            control.on = control.value == "accept"
    person.press("Check")
    person.press("Send")


@pytest.mark.parametrize("ending", [refuses, completes, progresses])
def test_reviewers_and_admins_see_no_content(
    person: Person, lookers: list[Person], server: Server, ending: Step
) -> None:
    rita, root = lookers
    heard: list[str] = []
    with desk(server, asks_again, asks_again, ending) as recorder, listening(rita, path="/ws/review/") as ear:
        start(person, ARGUMENT)
        person.until("waiting")
        flow = person.page.path.split("/")[2]
        assert_nowhere(everything(rita, flow))
        answer(person)
        person.until("waiting")
        assert ANSWER in person.page.response.text, "the server does not echo"
        for looker in lookers:
            assert_nowhere(everything(looker, flow))
        answer(person)
        person.until("failed", "completed", "running")
        assert len(calls(recorder)) == 3
        assert_nowhere(everything(rita, flow))
        rita.get(f"/review/{flow}/")
        if ending is progresses:
            rita.fill("Reason", "It hangs")
            rita.press("Withdraw")
        while not ear.is_silent(0.7):
            pass
        heard += ear.texts
    assert heard and all(json.loads(text) == {"type": "moved"} for text in heard)
    assert_nowhere(tables())
    assert_nowhere(everything(root, flow))


def test_kept_messages_are_sealed_shown_to_reviewers_alone_and_gone_with_the_request(
    person: Person, lookers: list[Person], server: Server, settings: Any
) -> None:
    settings.CONFIG = settings.CONFIG.model_copy(update={"credential_keys": ("k" * 43,)})
    Server.objects.update(keep_messages=True)
    told = "can read what Demo desk asks you while this request is open"
    rita, root = lookers
    with desk(server, asks_again, asks_again, refuses):
        person.get("/s/demo/tools/ask/")
        assert told in person.page.text
        start(person, ARGUMENT)
        person.until("waiting")
        assert told in person.page.text
        flow = person.page.path.split("/")[2]
        for looker in lookers:
            assert ARGUMENT in looker.get(f"/review/{flow}/").text
        assert_nowhere(tables())
        answer(person)
        person.until("waiting")
        assert ANSWER in rita.get(f"/review/{flow}/").text
        assert_nowhere(tables() + rita.get("/review/?state=all").response.text + "".join(admin_pages(root)))
        answer(person)
        person.until("failed")
        assert KeptMessages.objects.count() == 0
        for looker in lookers:
            assert_nowhere(everything(looker, flow))


def test_answers_do_not_leave_by_codes_or_hosts(person: Person, lookers: list[Person], server: Server) -> None:
    """A server may put them into an error's code, or into the name of a page to open."""
    number = "471199823"

    def opens(post: Post) -> Answer:
        url = {"mode": "url", "message": "Go", "url": f"https://n{number}.example/", "elicitationId": "e"}
        asked = {"url": {"method": "elicitation/create", "params": url}}
        return result(post, {"resultType": "input_required", "inputRequests": asked, "requestState": "s"})

    with desk(server, opens, lambda post: error(post, int(number))):
        start(person, ARGUMENT)
        person.until("waiting")
        flow = person.page.path.split("/")[2]
        assert f"n{number}.example" in lookers[0].get("/review/").text
        person.press("I have finished there")
        person.until("failed")
    for text in (tables(), *(everything(looker, flow) for looker in lookers)):
        assert number not in text


def test_what_was_kept_goes_at_once_when_an_admin_says_so(
    person: Person, lookers: list[Person], server: Server, settings: Any
) -> None:
    settings.CONFIG = settings.CONFIG.model_copy(update={"credential_keys": ("k" * 43,)})
    Server.objects.update(keep_messages=True)
    with desk(server, asks_again, refuses):
        start(person, ARGUMENT)
        person.until("waiting")
        assert KeptMessages.objects.count() == 1
        root = lookers[1]
        page = root.get(f"/admin/mrtr_web/server/{server.pk}/change/")
        form = next(form for form in page.reader.forms if "slug" in form.data()).data()
        assert form.pop("keep_messages") == ["on"]
        root.post(page.path, form)
    assert not Server.objects.get().keep_messages
    assert KeptMessages.objects.count() == 0
    assert "can read what" not in person.get(person.page.path).text


def test_without_a_key_ring_nothing_is_kept(person: Person, server: Server, settings: Any) -> None:
    settings.CONFIG = settings.CONFIG.model_copy(update={"credential_keys": ()})
    Server.objects.update(keep_messages=True)
    with desk(server, asks_again, refuses):
        start(person, ARGUMENT)
        person.until("waiting")
    assert KeptMessages.objects.count() == 0
