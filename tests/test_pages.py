"""What a person sees of every failure: a page in plain words, nothing lost, nothing sent twice."""

import json
from collections.abc import Callable

import pytest
from django.conf import settings
from django.contrib.auth.models import AbstractUser, User

from mrtr_web import wizard
from mrtr_web.models import Finding, Flow, SealedRecord, Server, Session
from mrtr_web.sessions import end_session
from tests.desk import LISTED, TOOL, always, asks, calls, desk, done, required, start, tools
from tests.person import BOUND, Page, Person
from tests.servers import Answer, Step, error, free_port, html, raw_json, result

pytestmark = pytest.mark.django_db(transaction=True)


def begin(person: Person, topic: str = "cheese") -> Page:
    start(person, topic)
    return person.until("waiting", "completed", "failed", "unsent", "unknown", "not_yet")


def send_name(person: Person, name: str = "Ada") -> Page:
    person.fill("Name", name)
    person.press("Send")
    return person.until("waiting", "completed", "failed", "unsent", "unknown", "not_yet")


REFUSED_BEFORE_ACTING = [
    (lambda post: error(post, -1, status=401), "credentials"),
    (lambda post: html(403), "does not allow"),
    (lambda post: html(429, retry_after="7"), "too many requests"),
]


@pytest.mark.parametrize(("refusal", "words"), REFUSED_BEFORE_ACTING)
def test_a_refusal_before_acting_keeps_everything(person: Person, server: Server, refusal: Step, words: str) -> None:
    with desk(server, asks(), refusal, done()) as recorder:
        begin(person)
        send_name(person, "  Ada ")
        assert person.page.state == "unsent"
        assert words in person.page.text
        person.press("Send again")
        person.until("completed")
        first, second, third = calls(recorder)
        assert second.params["inputResponses"] == third.params["inputResponses"]
        assert third.params["inputResponses"]["who"]["content"] == {"name": "  Ada "}
        assert second.params["requestState"] == third.params["requestState"] == "s1"
        assert len({first.id, second.id, third.id}) == 3


@pytest.mark.parametrize(
    ("moved", "words"),
    [
        (lambda url: f"http://127.0.0.1:{free_port()}/mcp", "did not answer"),
        (lambda url: "http://nowhere.invalid/mcp", "could not be found"),
        (lambda url: url.replace("http://", "https://"), "secure connection"),
    ],
)
def test_a_server_that_cannot_be_reached_keeps_everything(
    person: Person, server: Server, moved: Callable[[str], str], words: str
) -> None:
    with desk(server, done()) as recorder:
        person.get(TOOL)
        Server.objects.update(url=moved(Server.objects.get().url))
        person.fill("Topic", "cheese")
        person.press("Start")
        person.until("unsent")
        assert words in person.page.text
        assert calls(recorder) == []
        assert "everything you typed is kept" in person.page.text


def test_a_server_that_never_listened_is_said_so_in_the_catalogue(person: Person, server: Server) -> None:
    Server.objects.update(url=f"http://127.0.0.1:{free_port()}/mcp")
    page = person.get("/s/demo/")
    assert page.status == 502
    assert "did not answer" in page.text
    assert person.get(TOOL).status == 502


def test_a_server_that_goes_down_is_one_warning_and_its_pages_are_no_errors(
    person: Person, server: Server, caplog: pytest.LogCaptureFixture
) -> None:
    Server.objects.update(url=f"http://127.0.0.1:{free_port()}/mcp")
    for _ in range(3):
        assert person.get("/s/demo/").status == person.press("Try again").status == person.get(TOOL).status == 502
    told = [(record.levelname, record.getMessage()) for record in caplog.records if record.levelname != "INFO"]
    assert told == [("WARNING", "server demo has trouble: refused")]


def test_a_legacy_server_is_said_so(person: Person, server: Server) -> None:
    """VE-4"""
    with desk(server, lambda post: error(post, -32000, status=400), listings={}):
        assert "older version" in person.get("/s/demo/").text


@pytest.mark.parametrize(
    ("step", "words"),
    [
        (always(html(404)), "breaks the rules"),
        (always(html(200)), "breaks the rules"),
        (always(raw_json('{"jsonrpc":"2.0","id":"foreign","result":{"content":[]}}')), "breaks the rules"),
        (lambda post: result(post, {"resultType": "weird", "content": []}), "breaks the rules"),
        (lambda post: result(post, {"resultType": "input_required"}), "breaks the rules"),
        (lambda post: error(post, -32603, message="database is down"), "database is down"),
    ],
)
def test_a_broken_or_refused_answer_fails_with_a_way_on(person: Person, server: Server, step: Step, words: str) -> None:
    with desk(server, asks(), step):
        begin(person)
        send_name(person)
        assert person.page.state == "failed"
        assert words in person.page.text
        person.get(person.page.link("Do it again"))
        assert "cheese" in json.dumps([c.value for form in person.page.reader.forms for c in form.controls])


def test_a_broken_rule_is_a_finding(person: Person, server: Server) -> None:
    with desk(server, lambda post: result(post, {"resultType": "weird"})):
        begin(person)
    assert list(Finding.objects.values_list("rule", "count")) == [("MR-12", 1)]


@pytest.mark.parametrize(
    "answer",
    [
        html(500),
        html(503),
        Answer(b"", 200, {"content-type": "text/event-stream"}, "cut"),
        Answer(b'{"jsonrpc"', then="cut"),
    ],
)
def test_a_leg_that_broke_is_unknown_and_goes_out_again_only_when_told(
    person: Person, server: Server, answer: Answer
) -> None:
    """HT-11, T-30, T-31, M12, H13"""
    with desk(server, asks(), always(answer), done()) as recorder:
        begin(person)
        send_name(person)
        assert person.page.state == "unknown"
        assert "do not know" in person.page.text
        assert len(calls(recorder)) == 2
        person.press("Send again")
        person.until("completed")
        assert calls(recorder)[2].params["inputResponses"] == calls(recorder)[1].params["inputResponses"]
        assert calls(recorder)[2].id != calls(recorder)[1].id


def test_an_expired_step_says_start_again(person: Person, server: Server) -> None:
    """T-3, M13"""
    refusal: Callable[..., Answer] = lambda post: error(post, -32602, {"reason": "invalid_request_state"})  # noqa: E731
    with desk(server, asks(), refusal):
        begin(person)
        send_name(person)
        assert (person.page.state, Flow.objects.get().outcome) == ("failed", "step_expired")
        assert "expired" in person.page.text
        assert person.page.link("Do it again")


def test_a_missing_capability_is_named(person: Person, server: Server) -> None:
    """ER-1, T-40"""
    with desk(server, lambda post: error(post, -32021, {"requiredCapabilities": {"sampling": {}}})):
        begin(person)
        assert person.page.state == "failed"
        assert "sampling" in person.page.text


def test_unknown_and_foreign_flows_look_alike(person: Person, app: str, server: Server, bob: User) -> None:
    """T-27"""
    with desk(server, asks()):
        begin(person)
        path = person.page.path
        with Person(app) as other:
            other.sign_in("bob")
            pages = [other.get(path), other.get("/flows/00000000-0000-4000-8000-000000000000/")]
            assert [page.status for page in pages] == [404, 404]
            for action in ("check", "answer", "stop", "again"):
                token = other.get("/accounts/profile/").reader.forms[0].data()["csrfmiddlewaretoken"]
                assert other.post(f"{path}{action}/", {"csrfmiddlewaretoken": token}).status == 404
            assert other.get(f"{path}content/0/").status == 404
        assert Flow.objects.get().state == "waiting"


def test_the_same_answers_again_land_on_the_current_page_and_send_nothing(person: Person, server: Server) -> None:
    """T-29, M10: a double click."""
    with desk(server, asks("s1"), asks("s2", "And again?"), done()) as recorder:
        begin(person)
        stale = person.page
        send_name(person)
        assert person.page.state == "waiting"
        person.page = stale
        send_name(person)
        assert person.page.state == "waiting"
        assert "And again?" in person.page.text
        assert "already answered" in person.page.text
        assert len(calls(recorder)) == 2


@pytest.mark.parametrize("button", ["Send", "Check first"])
@pytest.mark.parametrize("first", ["answer", "stop", "stop elsewhere"])
def test_what_another_tab_was_faster_than_is_given_back(
    person: Person, app: str, server: Server, button: str, first: str
) -> None:
    """T-29, M10"""
    with desk(server, asks("s1"), asks("s2", "And again?"), done()) as recorder:
        begin(person)
        stale = person.page
        if first == "answer":
            send_name(person)
        elif first == "stop":
            person.press("Stop this request")
        else:
            with Person(app) as other:
                other.sign_in("alice")
                other.get(stale.path)
                other.press("Stop this request")
        sent = len(calls(recorder))
        person.page = stale
        person.fill("Name", " Eve, typed with care ")
        page = person.press(button)
        assert page.status == 409
        assert "What you sent now was not used" in page.text
        assert ("answered already" if first == "answer" else "had ended") in page.text
        assert " Eve, typed with care " in [c.value for form in page.reader.forms for c in form.controls]
        assert ("Waiting for you" if first == "answer" else "Stopped") in page.text
        assert person.get(page.link("Show where it stands now")).path == stale.path
        assert len(calls(recorder)) == sent


def test_a_lost_key_cookie_is_said_and_the_typed_answers_are_shown(person: Person, server: Server) -> None:
    with desk(server, asks()) as recorder:
        begin(person)
        person.client.cookies.delete("mrtr_key")
        person.fill("Name", " typed with care ")
        person.press("Send")
        assert person.page.status == 403
        assert " typed with care " in [c.value for form in person.page.reader.forms for c in form.controls]
        assert len(calls(recorder)) == 1
        assert "key" in person.get("/accounts/login/").text or Flow.objects.get().state == "expired"


def test_a_post_after_the_session_ended_shows_what_was_typed(person: Person, server: Server) -> None:
    with desk(server, asks()):
        begin(person)
        end_session(Session.objects.get().pk)
        person.fill("Name", " typed with care ")
        person.press("Send")
        assert person.page.status == 403
        assert "signed out" in person.page.text.lower()
        assert " typed with care " in [c.value for form in person.page.reader.forms for c in form.controls]


def test_a_start_form_posted_after_the_session_ended_can_be_sent_after_signing_in(
    person: Person, app: str, server: Server
) -> None:
    with desk(server, asks()):
        person.get(TOOL)
        person.fill("Topic", "cheese")
        Session.objects.all().delete()
        person.press("Start")
        lost = person.page
        assert lost.status == 403
        person.sign_in("alice")
        person.page = lost
        person.press("Send again")
        if person.page.status == 403:
            person.press("Send again")
        person.until("waiting")


def test_a_stale_token_of_another_sign_in_loses_nothing(person: Person, server: Server) -> None:
    with desk(server, asks(), done()) as recorder:
        begin(person)
        round_page = person.page
        person.sign_in("alice")  # another tab
        person.page = round_page
        person.fill("Name", " typed with care ")
        person.press("Send")
        assert person.page.status == 403
        assert " typed with care " in [c.value for form in person.page.reader.forms for c in form.controls]
        person.press("Send again")
        person.until("completed")
        assert calls(recorder)[1].params["inputResponses"]["who"]["content"] == {"name": " typed with care "}


def test_a_post_from_another_site_gets_nothing_back(person: Person, server: Server) -> None:
    with desk(server, asks()) as recorder:
        begin(person)
        answer = person.client.post(
            f"{person.page.path}answer/",
            data={"r1s0-f0": "planted"},
            headers={"Origin": "https://evil.example"},
        )
        assert answer.status_code == 403
        assert "planted" not in answer.text
        assert len(calls(recorder)) == 1


def test_a_flow_of_my_other_browser_shows_metadata_and_stop(person: Person, app: str, server: Server) -> None:
    with desk(server, asks(message="a secret question")) as recorder:
        begin(person)
        with Person(app) as second:
            second.sign_in("alice")
            page = second.get(person.page.path)
            assert page.status == 200
            assert "continue where you started" in page.text.lower()
            assert "a secret question" not in page.text
            assert page.link("Do it again")
            second.press("Stop")
            assert second.page.state == "stopped"
        assert not SealedRecord.objects.exists()
        assert person.get(person.page.path).state == "stopped"
        assert len(calls(recorder)) == 1


def test_bad_answers_keep_what_was_typed_and_send_nothing(person: Person, server: Server) -> None:
    """FM-2"""
    with desk(server, asks(None, "How many?", n={"type": "integer", "title": "How many", "maximum": 5})) as recorder:
        begin(person)
        person.fill("How many", "42xyz")
        person.press("Send")
        assert person.page.status == 422
        assert person.page.text.count("whole number") >= 2  # in the summary and at the field
        assert [c.value for f in person.page.reader.forms for c in f.controls if c.label == "How many"] == ["42xyz"]
        assert len(calls(recorder)) == 1


@pytest.mark.parametrize(
    "state",
    [
        "",
        " ",
        "é😀\u2028\u2029\ufeff",
        "a\x00b",
        "\r\n",
        '{"a": 1}',
        "</script>",
        "x" * 200_000,
        "+/=",
        "null",
    ],
)
def test_the_state_is_echoed_exactly(person: Person, server: Server, state: str) -> None:
    """MR-3, MR-4, T-6, M03"""
    with desk(server, asks(state), done()) as recorder:
        begin(person)
        send_name(person)
        assert person.page.state == "completed"
        sent = calls(recorder)[1]
        assert sent.params["requestState"] == state
        assert b'"requestState":' in sent.raw


def test_an_absent_state_stays_absent_even_after_one_was_seen(person: Person, server: Server) -> None:
    """MR-5"""
    with desk(server, asks("s1"), asks(None), done()) as recorder:
        begin(person)
        send_name(person)
        send_name(person)
        assert [post.params.get("requestState") for post in calls(recorder)] == [None, "s1", None]
        assert "requestState" not in calls(recorder)[2].params


def test_answers_of_the_last_round_alone_are_sent(person: Person, server: Server) -> None:
    """T-17, T-9"""
    entry = {
        "method": "elicitation/create",
        "params": {"message": "m", "requestedSchema": {"type": "object", "properties": {}}},
    }
    with desk(server, asks("s1"), required({"sure": entry}, "s2"), done()) as recorder:
        begin(person)
        send_name(person)
        person.press("Send", {"r2s0-action": "accept"})
        person.until("completed")
        assert calls(recorder)[2].params["inputResponses"] == {"sure": {"action": "accept", "content": {}}}


def test_state_only_rounds_go_on_by_themselves(person: Person, server: Server) -> None:
    """T-11, MR-2, M05, T-12"""
    with desk(server, required(None, "wait 1"), required({}, "wait 2"), done()) as recorder:
        begin(person)
        person.until("completed")
        assert [post.params.get("requestState") for post in calls(recorder)] == [None, "wait 1", "wait 2"]
        assert all("inputResponses" not in post.params for post in calls(recorder))


HANGING = Answer(b": still working\n\n", 200, {"content-type": "text/event-stream"}, "hang")


def hanging(person: Person) -> Page:
    """A flow whose leg hangs: its page says that it runs."""
    person.get(TOOL)
    person.fill("Topic", "cheese")
    page = person.press("Start")
    assert page.state == "running"
    return page


def test_stopping_closes_the_stream_and_drops_what_comes_late(person: Person, server: Server) -> None:
    """HT-12, CA-2, H07, T-32"""
    with desk(server, always(HANGING)) as recorder:
        hanging(person)
        person.press("Stop this request")
        assert person.page.state == "stopped"
        assert recorder.gone.wait(BOUND)


def test_the_end_of_the_session_closes_the_stream(person: Person, server: Server) -> None:
    with desk(server, always(HANGING)) as recorder:
        hanging(person)
        end_session(Session.objects.get().pk)
        assert recorder.gone.wait(BOUND)
        assert Flow.objects.get().state == "expired"


def test_a_missing_record_expires_an_open_flow(person: Person, server: Server) -> None:
    with desk(server, asks()):
        begin(person)
        SealedRecord.objects.all().delete()
        assert person.get(person.page.path).state == "expired"


def test_a_record_moved_to_another_person_does_not_open(person: Person, app: str, server: Server, bob: User) -> None:
    with desk(server, asks(message="a secret question")), Person(app) as other:
        begin(person)
        other.sign_in("bob")
        Flow.objects.update(user=bob)
        SealedRecord.objects.update(session=Session.objects.get(user=bob))
        page = other.get(person.page.path)
        assert "a secret question" not in page.response.text
        assert page.state in ("waiting", "expired")


def test_a_session_that_ends_during_a_post_loses_nothing(
    person: Person, server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The gate let it in, then the session ended: both posts get their text back."""
    with desk(server, asks()) as recorder:
        begin(person)
        round_page = person.page
        person.get(TOOL)
        person.fill("Topic", "also typed with care")
        real = wizard.zone_of

        def ending(user: AbstractUser) -> str:
            Session.objects.all().delete()
            return real(user)

        monkeypatch.setattr(wizard, "zone_of", ending)
        cookies = dict(person.client.cookies)
        person.press("Start")
        assert person.page.status == 403
        assert "also typed with care" in person.page.response.text
        assert len(calls(recorder)) == 1
        monkeypatch.undo()
        person.client.cookies.update(cookies)
        person.page = round_page
        person.fill("Name", "typed with care")
        person.press("Send")
        assert (person.page.status, len(calls(recorder))) == (403, 1)
        assert "typed with care" in person.page.response.text


def test_a_server_that_was_switched_off_gets_no_answers(person: Person, server: Server) -> None:
    with desk(server, asks()) as recorder:
        begin(person)
        Server.objects.update(enabled=False)
        person.fill("Name", "Ada")
        person.press("Send")
        assert "switched off" in person.page.text
        assert "Ada" in person.page.response.text
        assert len(calls(recorder)) == 1


@pytest.mark.parametrize("action", ["check", "answer", "stop", "again"])
def test_a_reload_of_a_posted_page_leads_to_the_current_one(person: Person, server: Server, action: str) -> None:
    with desk(server, asks()):
        path = begin(person).path
        page = person.get(f"{path}{action}/")
        assert (page.path, page.state) == (path, "waiting")


def test_hostile_bytes_of_a_result_are_not_an_error(person: Person, server: Server) -> None:
    entry = {"type": "image", "data": "é", "mimeType": "image/png"}
    with desk(server, lambda post: result(post, {"resultType": "complete", "content": [entry]})):
        begin(person)
        assert (person.page.state, person.page.status) == ("completed", 200)
        assert person.get(f"{person.page.path}content/0/").status == 404


def test_a_hostile_discovery_is_not_an_error(person: Person, server: Server) -> None:
    """VE-2"""
    for bad in (5, True, [1], None):
        discovery = {**LISTED["server/discover"], "capabilities": bad}
        with desk(server, listings=LISTED | {"server/discover": discovery}):
            assert person.get("/s/demo/").status == 200


def test_an_absurd_error_code_still_fails_the_flow(person: Person, server: Server) -> None:
    with desk(server, lambda post: error(post, 10**70)):
        begin(person)
        assert (person.page.state, Flow.objects.get().outcome) == ("failed", "refused")


def test_a_question_without_fields_has_no_answer_chosen_for_the_person(person: Person, server: Server) -> None:
    nested = {"type": "object", "properties": {"a": {"type": "string"}}}
    schema = {"type": "object", "properties": {"deep": nested}}
    entry = {"method": "elicitation/create", "params": {"message": "Delete everything?", "requestedSchema": schema}}
    with desk(server, required({"sure": entry}, "s"), done()) as recorder:
        begin(person)
        person.press("Send")
        assert (person.page.status, len(calls(recorder))) == (422, 1)


def test_a_round_with_too_many_steps_fails_in_words(person: Person, server: Server) -> None:
    entry = {"method": "elicitation/create", "params": {"message": "m"}}
    with desk(server, required({str(n): entry for n in range(21)}, "s")):
        begin(person)
        assert (person.page.state, Flow.objects.get().outcome) == ("failed", "broken:ROUND-SIZE")


def test_a_round_that_no_post_can_hold_is_refused(person: Person, server: Server) -> None:
    choices = [f"c{i}" for i in range(5000)]
    many = {"type": "array", "items": {"type": "string", "enum": choices}, "default": choices}
    long = {"type": "string", "default": "\u00e4" * 80_000}
    for field, steps, state in [(many, 5, "failed"), (many, 1, "waiting"), (long, 9, "failed"), (long, 1, "waiting")]:
        schema = {"type": "object", "properties": {"f": field}}
        entry = {"method": "elicitation/create", "params": {"message": "m", "requestedSchema": schema}}
        with desk(server, required({str(n): entry for n in range(steps)}, "s"), done()) as recorder:
            begin(person)
            assert person.page.state == state
            if state == "waiting":
                person.press("Send")
                person.until("completed")
                assert len(calls(recorder)) == 2
    assert Flow.objects.filter(outcome="broken:ROUND-SIZE").count() == 2


PANIC = {"$defs": {"a": {"$id": "a", "$anchor": "q"}, "b": {"$id": "a"}}, "$ref": "a#q"}


def test_a_schema_that_the_engine_panics_at_is_left_to_the_server(person: Person, server: Server) -> None:
    schema = {"type": "object", "properties": {"n": {"type": "string", "title": "Name"}}, "propertyNames": PANIC}
    entry = {"method": "elicitation/create", "params": {"message": "m", "requestedSchema": schema}}
    topic = {"type": "object", "properties": {"topic": {"type": "string", "title": "Topic"}}}
    listed = {"name": "ask", "inputSchema": topic, "outputSchema": {"type": "object", "propertyNames": PANIC}}
    with desk(server, required({"k": entry}, "s"), done(structuredContent={"a": 1}), listings=tools(listed)):
        begin(person)
        person.fill("Name", "Ada")
        person.press("Send")
        assert person.until("completed").status == 200
        assert Flow.objects.get().outcome == "done"


def test_a_result_says_what_the_server_said(person: Person, server: Server) -> None:
    with desk(server, done("<b>bold</b>", structuredContent={"total": 7}, isError=True)):
        begin(person)
        assert person.page.state == "completed"
        assert "<b>bold</b>" in person.page.text and "total" in person.page.text
        assert "&lt;b&gt;bold" in person.page.response.text


def test_a_request_that_is_too_large_is_refused_in_words(person: Person, server: Server) -> None:
    with desk(server, asks()):
        person.get(TOOL)
        person.fill("Topic", "x" * settings.CONFIG.max_request_bytes)
        person.press("Start")
        assert person.page.response.status_code == 413
        assert "shorten what you typed" in person.page.response.text


def test_every_page_has_the_policy_and_is_never_cached(person: Person, server: Server) -> None:
    with desk(server, asks()):
        begin(person)
        for path in (person.page.path, "/", "/flows/", "/s/demo/", TOOL, "/accounts/profile/", "/nowhere/"):
            headers = person.get(path).response.headers
            assert headers["cache-control"] == "no-store"
            assert "script-src 'self'" in headers["content-security-policy"]
            assert "unsafe" not in headers["content-security-policy"]
            assert headers["referrer-policy"] == "same-origin"
            assert headers["x-frame-options"] == "DENY"
            assert headers["x-content-type-options"] == "nosniff"
