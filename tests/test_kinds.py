"""Every kind of step and every shape of a round, through the pages and on the wire."""

import json
from typing import Any

import pytest
from django.contrib.auth.models import Permission, User
from pytest_django import Settings

from mrtr_web.models import Finding, Flow, Round, SealedRecord, Server
from tests.desk import LISTED, TOOL, asks, calls, desk, done, lists_now, required, tools
from tests.person import Form, Page, Person
from tests.servers import Post, Step, error, result

pytestmark = pytest.mark.django_db(transaction=True)

FORM = {
    "method": "elicitation/create",
    "params": {
        "message": "Who are you?",
        "requestedSchema": {
            "type": "object",
            "properties": {"name": {"type": "string", "title": "Name"}},
            "required": ["name"],
        },
    },
}
LINK = {"method": "elicitation/create", "params": {"mode": "url", "message": "Pay", "url": "https://pay.example/x"}}
REPLY = {
    "method": "sampling/createMessage",
    "params": {
        "messages": [{"role": "user", "content": {"type": "text", "text": "One line on Lyon"}}],
        "systemPrompt": "Be short.",
        "modelPreferences": {"hints": [{"name": "claude"}]},
        "maxTokens": 8,
    },
}
FOLDERS = {"method": "roots/list"}
ROOTS = [{"uri": "file:///home/demo/photos", "name": "Photos"}]


@pytest.fixture
def all_kinds(server: Server) -> Server:
    Server.objects.filter(pk=server.pk).update(capabilities=["elicitation", "sampling", "roots"], roots=ROOTS)
    return server


def begin(person: Person, path: str = TOOL) -> Page:
    person.get(path)
    person.fill("Topic", "cheese")
    person.press("Start")
    return person.until("waiting", "completed", "failed", "not_yet")


def send(person: Person, **filled: str) -> Page:
    for label, value in filled.items():
        person.fill(label.replace("_", " "), value)
    person.press("Send")
    return person.until("waiting", "completed", "failed", "not_yet")


def main_form(page: Page) -> Form:
    """The form of the round, or the one that starts a flow."""
    return next(form for form in page.reader.forms if {"round", "flow"} & form.data().keys())


def answers(post: Post) -> dict[str, Any]:
    found: dict[str, Any] = post.params["inputResponses"]
    return found


def findings() -> dict[str, int]:
    return {each.rule: each.count for each in Finding.objects.all()}


def test_only_what_the_admin_declares_is_declared(person: Person, server: Server) -> None:
    """D7, SA-1, RO-1, EL-1"""
    name = "io.modelcontextprotocol/clientCapabilities"
    with desk(server, done()) as recorder:
        begin(person)
        Server.objects.update(capabilities=["elicitation", "sampling", "roots"])
        begin(person)
        declared = [post.meta[name] for post in calls(recorder)]
        forms: dict[str, Any] = {"elicitation": {"form": {}, "url": {}}}
        assert declared == [forms, forms | {"sampling": {}, "roots": {}}]


def test_declared_capabilities_are_frozen_for_the_flow(person: Person, server: Server) -> None:
    """T-34: an admin's change in the middle of a flow does not reach it."""
    with desk(server, asks(), done()) as recorder:
        begin(person)
        Server.objects.update(capabilities=["elicitation", "sampling"])
        send(person, Name="Ada")
        first, second = (post.meta["io.modelcontextprotocol/clientCapabilities"] for post in calls(recorder))
        assert first == second == {"elicitation": {"form": {}, "url": {}}}


def test_a_person_writes_the_reply_and_it_says_so(person: Person, all_kinds: Server) -> None:
    """SA-2, SA-3, SA-4, SA-8, T-16"""
    with desk(all_kinds, required({"blurb": REPLY}, "s1"), done()) as recorder:
        page = begin(person)
        for words in ("One line on Lyon", "Be short.", "8 tokens", "claude", "No model is asked", "Stop this request"):
            assert words in page.text
        person.fill("Your reply", " Good food.\nGood wine. ")
        person.press("Check first")
        assert "Good wine." in person.page.text
        person.press("Send")
        person.until("completed")
        assert answers(calls(recorder)[1]) == {
            "blurb": {
                "role": "assistant",
                "content": {"type": "text", "text": " Good food.\nGood wine. "},
                "model": "human",
                "stopReason": "endTurn",
            }
        }
    assert Round.objects.get().actions == ["accept"]


def test_a_pasted_reply_names_its_model_and_one_that_is_too_long_is_not_sent(person: Person, all_kinds: Server) -> None:
    """SA-3"""
    with desk(all_kinds, required({"blurb": REPLY}, "s1"), done()) as recorder:
        begin(person)
        page = send(person, Your_reply="one two three four five six seven eight nine", Who_wrote="opus-9")
        assert page.status == 422
        assert "8 tokens" in page.text
        assert len(calls(recorder)) == 1
        send(person, Your_reply="one two three")
        assert answers(calls(recorder)[1])["blurb"]["model"] == "opus-9"


def test_an_empty_reply_is_not_sent(person: Person, all_kinds: Server) -> None:
    with desk(all_kinds, required({"blurb": REPLY}, "s1"), done()) as recorder:
        begin(person)
        assert send(person).status == 422
        assert len(calls(recorder)) == 1


def test_refusing_a_reply_means_stopping_and_sends_nothing(person: Person, all_kinds: Server) -> None:
    """MR-20, T-16"""
    with desk(all_kinds, required({"blurb": REPLY}, "s1"), done()) as recorder:
        begin(person)
        person.press("Stop this request")
        person.until("stopped")
        assert len(calls(recorder)) == 1


def test_pictures_of_a_conversation_are_shown_to_their_owner(person: Person, all_kinds: Server) -> None:
    png = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
    image = {"role": "user", "content": {"type": "image", "data": png, "mimeType": "image/png"}}
    script = {"role": "user", "content": {"type": "image", "data": "PHN2Zz4=", "mimeType": "image/svg+xml"}}
    entry = {"method": "sampling/createMessage", "params": {"messages": [image, script], "maxTokens": 8}}
    with desk(all_kinds, required({"a": REPLY, "b": entry}, "s1")):
        begin(person)
        path = person.page.path
        shown, inert = person.get(f"{path}content/1/"), person.get(f"{path}content/2/")
        assert (shown.response.headers["content-type"], shown.response.content[:4]) == ("image/png", b"\x89PNG")
        assert inert.response.headers["content-disposition"].startswith("attachment")


def test_a_conversation_without_end_is_cut_and_says_so(person: Person, all_kinds: Server) -> None:
    messages = [{"role": "user", "content": {"type": "text", "text": "again"}}] * 5_000
    entry = {"method": "sampling/createMessage", "params": {"messages": messages, "maxTokens": 10**400}}
    with desk(all_kinds, required({"a": entry}, "s1"), done()):
        page = begin(person)
        assert "4500 more pieces are not shown here" in page.text.replace(",", "")
        assert "tokens, about" not in page.text
        assert send(person, Your_reply="x").state == "completed"


def test_an_address_that_must_not_be_opened_is_left_undecided_with_a_finding(person: Person, server: Server) -> None:
    """UR-7, H12"""
    entry = {"method": "elicitation/create", "params": {"mode": "url", "message": "m", "url": "javascript:alert(1)"}}
    with desk(server, required({"p": entry}, "s"), done()) as recorder:
        begin(person)
        person.press("Go on without an answer")
        person.until("completed")
        assert answers(calls(recorder)[1]) == {"p": {"action": "cancel"}}
    assert findings() == {"UR-7": 1}
    assert Round.objects.get().warnings == ["url:scheme"]


def test_folders_are_chosen_or_typed(person: Person, all_kinds: Server) -> None:
    """RO-1, RO-2"""
    with desk(all_kinds, required({"dirs": FOLDERS}, "s1"), done()) as recorder:
        page = begin(person)
        assert "which folders" in page.text
        person.fill("Folders that you want to name", ["Photos (/home/demo/photos)"])
        send(person, Other_folders="/home/ada/../root")
        assert person.page.status == 422
        assert "leads out of a folder" in person.page.text
        person.fill("Other folders", "\n file:///home/ada \n /home/ada/my photos")
        told = person.press("Check first").text
        assert "Photos file:///home/demo/photos" in told and "file:///home/ada/my%20photos" in told
        send(person)
        typed = [{"uri": "file:///home/ada"}, {"uri": "file:///home/ada/my%20photos"}]
        assert answers(calls(recorder)[1]) == {"dirs": {"roots": [*ROOTS, *typed]}}


def test_of_many_wrong_folders_the_first_are_told(person: Person, all_kinds: Server) -> None:
    with desk(all_kinds, required({"dirs": FOLDERS}, "s1"), done()):
        begin(person)
        send(person, Other_folders="\n".join(f"c:{i}" for i in range(240_000)))
        assert (person.page.status, person.page.text.count("c:")) == (422, 2 * 20)  # at the top and at the field


def test_folders_that_the_admin_changes_meanwhile_are_not_mistaken_for_others(
    person: Person, all_kinds: Server
) -> None:
    """D7: what is offered is frozen for the flow."""
    with desk(all_kinds, required({"dirs": FOLDERS}, "s1"), done()) as recorder:
        begin(person)
        person.fill("Folders that you want to name", ["Photos (/home/demo/photos)"])
        Server.objects.update(roots=[{"uri": "file:///home/demo/secret"}, *ROOTS])
        send(person)
        assert answers(calls(recorder)[1]) == {"dirs": {"roots": ROOTS}}


def test_no_folder_at_all_is_an_answer(person: Person, all_kinds: Server) -> None:
    with desk(all_kinds, required({"dirs": FOLDERS}, "s1"), done()) as recorder:
        begin(person)
        assert "None: the server is told that there are no folders" in person.press("Check first").text
        send(person)
        assert answers(calls(recorder)[1]) == {"dirs": {"roots": []}}


def test_a_mixed_round_is_one_form_and_one_retry_with_every_key(person: Person, all_kinds: Server) -> None:
    """MR-9, T-14, T-22, M09: all kinds under arbitrary keys, in the order received."""
    entries = {"a.b": REPLY, "1": FORM, "": LINK, "__proto__": FOLDERS, "späte Frage": FORM}
    with desk(all_kinds, required(entries, "s1"), done()) as recorder:
        page = begin(person)
        assert page.response.text.count('class="host">') == 1
        person.fill("Your reply", "Food.")
        form = main_form(person.page).data()
        wrong = person.press("Check").text
        assert "A page to open – Choose one of the answers." in wrong
        form |= {"r1s1-f0": ["Ada"], "r1s2-action": ["accept"], "r1s4-action": ["decline"]}
        person.post(f"{page.path}check/", form)
        assert "Check your answers" in person.page.text
        send(person)
        retry = calls(recorder)[1]
        assert list(answers(retry)) == list(entries)
        assert answers(retry) == {
            "a.b": {
                "role": "assistant",
                "content": {"type": "text", "text": "Food."},
                "model": "human",
                "stopReason": "endTurn",
            },
            "1": {"action": "accept", "content": {"name": "Ada"}},
            "": {"action": "accept"},
            "__proto__": {"roots": []},
            "späte Frage": {"action": "decline"},
        }
    assert Round.objects.get().kinds == ["sampling", "form", "url", "roots", "form"]


def test_what_cannot_be_shown_is_left_undecided_and_the_person_is_told(person: Person, server: Server) -> None:
    """T-15, MR-14"""
    odd = {"method": "elicitation/create", "params": {"mode": "video", "message": "Look at this"}}
    nested = {"type": "object", "properties": {"a": {"type": "object"}}, "required": ["a"]}
    broken = {"method": "elicitation/create", "params": {"message": "Deep", "requestedSchema": nested}}
    with desk(server, required({"odd": odd, "who": FORM, "deep": broken}, "s1"), done()) as recorder:
        page = begin(person)
        assert page.text.count("This app cannot show what the server asks for here") == 2
        assert "Look at this" in page.text
        person.fill("Name", "Ada")
        person.press("Check your answers")
        send(person)
        assert answers(calls(recorder)[1]) == {
            "odd": {"action": "cancel"},
            "who": {"action": "accept", "content": {"name": "Ada"}},
            "deep": {"action": "cancel"},
        }
    assert findings() == {"MR-14": 1, "FM-6": 1}


@pytest.mark.parametrize(
    ("entry", "rule"), [(REPLY, "MR-14"), (FOLDERS, "MR-14"), ({"method": "tools/call"}, "MR-14"), ("x", "MR-14")]
)
def test_a_kind_that_was_not_declared_fails_the_flow_with_a_finding(
    person: Person, server: Server, entry: Any, rule: str
) -> None:
    """MR-14, T-15"""
    with desk(server, required({"who": FORM, "bad": entry}, "s1"), done()) as recorder:
        page = begin(person)
        assert page.state == "failed"
        assert "breaks the rules" in page.text
        assert len(calls(recorder)) == 1
    assert findings() == {rule: 1}


MISSION = (
    '{"resultType": "input_required", "inputRequests": {"github_login": {"method": "elicitation/create", '
    '"params": {"mode": "form", "message": "Please provide your GitHub username"}}}, '
    '"requestState": "AEAD-protected blob"}'
)


def test_the_example_without_a_schema_is_a_yes_or_no(person: Person, server: Server) -> None:
    """FM-6, M08: the message is shown with Yes and No, no field is invented, accept sends empty content."""
    with desk(server, lambda post: result(post, json.loads(MISSION)), done()) as recorder:
        page = begin(person)
        assert "Please provide your GitHub username" in page.text
        assert {control.kind for control in main_form(page).controls} == {"hidden", "radio"}
        person.press("Send", {"r1s0-action": "accept"})
        person.until("completed")
        retry = calls(recorder)[1].params
        assert retry["inputResponses"] == {"github_login": {"action": "accept", "content": {}}}
        assert retry["requestState"] == "AEAD-protected blob"
    assert findings() == {"FM-6": 1}


def test_an_earlier_answer_of_any_round_is_filled_in_and_not_sent_by_itself(person: Person, server: Server) -> None:
    """T-10, T-43, WCAG 3.3.7"""
    other = asks("s2", "And your town?", town={"type": "string", "title": "Town"})
    again = asks("s3", "Once more, please: who are you?")
    with desk(server, asks("s1"), other, again, done()) as recorder:
        begin(person)
        send(person, Name="Ada")
        send(person, Town="Lyon")
        assert "Your earlier answer is filled in" in person.page.text
        assert len(calls(recorder)) == 3
        send(person)
        assert answers(calls(recorder)[3]) == {"who": {"action": "accept", "content": {"name": "Ada"}}}


def test_the_same_key_with_another_question_is_not_filled_in(person: Person, server: Server) -> None:
    """T-10"""
    other = asks("s2", "Who are you?", name={"type": "string", "title": "Name", "maxLength": 5})
    with desk(server, asks("s1"), other):
        begin(person)
        page = send(person, Name="Ada")
        assert "filled in" not in page.text
        assert main_form(page).data()["r2s0-f0"] == [""]


def test_the_same_question_after_a_no_is_pointed_out(person: Person, server: Server) -> None:
    """T-13, H09"""
    with desk(server, asks("s1"), asks("s2")):
        begin(person)
        person.press("Send", {"r1s0-action": "decline"})
        assert "You said no to this before" in person.until("waiting").text


def test_a_link_that_now_leads_elsewhere_is_pointed_out(person: Person, server: Server) -> None:
    """T-26, T-25, H09"""
    moved = LINK | {"params": {**LINK["params"], "url": "https://other.example/x"}}  # type: ignore[dict-item]
    with desk(server, required({"p": LINK}, "1"), required({"p": LINK}, "2"), required({"p": moved}, "3")):
        begin(person)
        person.press("I have finished there")
        assert "Not finished yet" in person.until("waiting").text
        assert 'class="button" name="r2s0-action" value="accept"' in person.page.response.text
        person.press("I have finished there")
        assert 'class="button button--quiet" name="r3s0-action" value="accept"' in person.until("waiting").response.text
        assert "Before, it led to pay.example" in person.until("waiting").text


def test_from_the_tenth_round_on_stopping_is_offered_and_answers_are_kept(person: Person, server: Server) -> None:
    """MR-17, T-12, M07"""
    with desk(server, asks()) as recorder:
        begin(person)
        for _ in range(8):
            page = send(person, Name="Ada")
        assert "times by now" not in page.text
        page = send(person)
        assert "has asked you 10 times by now" in page.text
        assert main_form(page).data()["r10s0-f0"] == ["Ada"]
        assert len(calls(recorder)) == 10


def test_a_start_after_a_failure_fills_in_the_answers_where_the_same_is_asked(person: Person, server: Server) -> None:
    """T-3, M13"""
    refused: Step = lambda post: error(post, -32602, {"reason": "invalid_request_state"})  # noqa: E731
    with desk(server, asks("old"), refused, asks("new"), done()) as recorder:
        begin(person)
        send(person, Name="Ada")
        person.get(person.page.link("Do it again"))
        person.press("Start")
        page = person.until("waiting")
        assert "Your earlier answer is filled in" in page.text
        send(person)
        first, retry = calls(recorder)[2:]
        assert "inputResponses" not in first.params and "requestState" not in first.params
        assert (answers(retry), retry.params["requestState"]) == (
            {"who": {"action": "accept", "content": {"name": "Ada"}}},
            "new",
        )


def test_answers_are_not_offered_to_another_server(person: Person, server: Server) -> None:
    refused: Step = lambda post: error(post, -32602)  # noqa: E731
    with desk(server, asks("old"), refused, asks("new")):
        begin(person)
        send(person, Name="Ada")
        first = Flow.objects.get()
        row = Server.objects.get(pk=server.pk)
        row.pk, row.slug = None, "other"
        row.save()
        begin(person, f"/s/other/tools/ask/?again={first.pk}")
        assert main_form(person.page).data()["r1s0-f0"] == [""]


def test_flows_of_one_person_do_not_touch_each_other(person: Person, server: Server) -> None:
    """MR-7, T-36: two tabs, each with its own state and answers."""
    states = iter(["one", "two"])
    first: Step = lambda post: asks(next(states))(post)  # noqa: E731
    with desk(server, first, first, done("A"), done("B")) as recorder:
        begin(person)
        tab = person.page
        begin(person)
        send(person, Name="Second")
        person.get(tab.path)
        send(person, Name="First")
        retries = [(post.params["requestState"], answers(post)) for post in calls(recorder)[2:]]
        assert retries == [
            ("two", {"who": {"action": "accept", "content": {"name": "Second"}}}),
            ("one", {"who": {"action": "accept", "content": {"name": "First"}}}),
        ]


def secret_form(message: str = "Sign in", key: str = "password") -> Step:
    return asks("s1", message, **{key: {"type": "string", "title": "Word"}})


@pytest.mark.parametrize(
    ("message", "key"), [("Sign in", "password"), ("Sign in", "api_key"), ("Give us your card number", "number")]
)
def test_a_form_that_asks_for_a_secret_is_warned_of_and_masked(
    person: Person, server: Server, message: str, key: str
) -> None:
    """FM-5, T-39, F21, F22"""
    with desk(server, secret_form(message, key), secret_form(message, key), done()) as recorder:
        page = begin(person)
        by_message = key == "number"
        assert ("This looks like a secret" in page.text) is not by_message
        assert ("Demo desk must not ask for one here" in page.text) is by_message
        person.fill("Word", "hunter2 1234")
        assert "Looks secret: show it" in person.press("Check first").text
        send(person)
        assert answers(calls(recorder)[1]) == {"who": {"action": "accept", "content": {key: "hunter2 1234"}}}
        page = person.page
        assert main_form(page).data()["r2s0-f0"] == [""]
        assert "hunter2" not in page.text
    assert findings() == {"FM-5": 2}


def test_a_secret_argument_is_not_filled_in_again_and_masked_in_the_raw_messages(
    person: Person, server: Server
) -> None:
    """T-39"""
    schema = {
        "type": "object",
        "properties": {"topic": {"type": "string", "title": "Topic"}, "token": {"type": "string", "title": "Token"}},
    }
    with desk(server, done(), listings=tools({"name": "ask", "inputSchema": schema})) as recorder:
        person.get(TOOL)
        person.fill("Token", "hunter2")
        begin_path = person.page.path
        person.fill("Topic", "cheese")
        person.press("Start")
        page = person.until("completed")
        assert calls(recorder)[0].params["arguments"] == {"topic": "cheese", "token": "hunter2"}
        assert "hunter2" not in page.text and "cheese" in page.text
        person.get(page.link("Do it again"))
        assert person.page.path == begin_path
        assert main_form(person.page).data()["s0-f1"] == [""]
        assert main_form(person.page).data()["s0-f0"] == ["cheese"]


def test_a_result_that_is_not_as_announced_is_shown_with_a_warning(person: Person, server: Server) -> None:
    """TO-4"""
    schema = {"type": "object", "properties": {"topic": {"type": "string", "title": "Topic"}}}
    output = {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}
    tool = {"name": "ask", "inputSchema": schema, "outputSchema": output}
    with desk(server, done(structuredContent={"n": "x"}), done(structuredContent={"n": 3}), listings=tools(tool)):
        assert "not built as the server had announced it" in begin(person).text
        assert "not built" not in begin(person).text
    assert findings() == {"TO-4": 1}
    assert list(Flow.objects.order_by("started_at").values_list("outcome", flat=True)) == ["odd_result", "done"]


def test_tools_with_invalid_header_annotations_are_hidden_with_a_reason_for_reviewers(
    person: Person, server: Server, alice: User
) -> None:
    """HT-7"""

    def tool(name: str, part: dict[str, Any]) -> dict[str, Any]:
        return {"name": name, "title": name, "inputSchema": {"type": "object", "properties": {"p": part}}}

    entries = (
        tool("good", {"type": "string", "x-mcp-header": "P"}),
        tool("empty", {"type": "string", "x-mcp-header": ""}),
        tool("object", {"type": "object", "x-mcp-header": "P"}),
    )
    with desk(server, done(), listings=tools(*entries)):
        page = person.get("/s/demo/")
        assert "good" in page.text and "empty" not in page.text
        assert person.get("/s/demo/tools/empty/").status == 404
        alice.user_permissions.add(Permission.objects.get(codename="view_finding"))
        page = person.get("/s/demo/")
        assert "RFC 9110 token" in page.text and "HT-7: A tool asks for headers" in page.text
    assert findings() == {"HT-7": 1}


def test_a_number_that_no_header_can_hold_is_not_sent(person: Person, server: Server) -> None:
    """HT-6, HT-7: whole numbers within 2^53 - 1."""
    part = {"type": "integer", "title": "Topic", "x-mcp-header": "P"}
    schema = {"type": "object", "properties": {"p": part}}
    with desk(server, done(), listings=tools({"name": "ask", "inputSchema": schema})) as recorder:
        person.get(TOOL)
        person.fill("Topic", "9007199254740992")
        assert person.press("Start").status == 422
        assert calls(recorder) == []
        person.fill("Topic", "-9007199254740991")
        person.press("Start")
        person.until("completed")
        assert calls(recorder)[0].headers["mcp-param-p"] == "-9007199254740991"


def test_a_tool_that_changes_between_rounds_gets_the_old_params_and_the_new_headers(
    person: Person, server: Server
) -> None:
    """T-37, HT-6"""
    with desk(server, asks(), done()) as recorder:
        begin(person)
        topic = {"type": "string", "title": "Topic", "x-mcp-header": "Topic"}
        lists_now({"name": "ask", "inputSchema": {"type": "object", "properties": {"topic": topic}}})
        send(person, Name="Ada")
        first, retry = calls(recorder)
        assert (first.headers.get("mcp-param-topic"), retry.headers.get("mcp-param-topic")) == (None, "cheese")
        assert retry.params["arguments"] == {"topic": "cheese"}


def test_a_tool_that_vanishes_between_rounds_still_gets_its_answers(person: Person, server: Server) -> None:
    """T-37"""
    with desk(server, asks(), done()) as recorder:
        begin(person)
        lists_now()
        assert send(person, Name="Ada").state == "completed"
        assert calls(recorder)[1].params["name"] == "ask"


def test_nothing_of_an_ended_flow_but_params_and_outcome_stays(person: Person, server: Server) -> None:
    with desk(server, asks("s1"), done()):
        begin(person)
        before = len(bytes(SealedRecord.objects.get().sealed))
        send(person, Name="Ada" * 1000)
        person.until("completed")
    assert len(bytes(SealedRecord.objects.get().sealed)) < before + 9_000


@pytest.mark.parametrize(
    ("bound", "legs"),
    [({"max_state_only_legs": 3}, {3}), ({"max_state_only_legs": 99, "state_only_timeout": 0.2}, {2, 3})],
)
def test_a_server_that_is_never_ready_is_called_by_hand_after_a_bound(
    person: Person, server: Server, settings: Settings, bound: dict[str, float], legs: set[int]
) -> None:
    """MR-2, T-12, M05: bounded in count and in time, then "Check again" and "Stop"."""
    settings.CONFIG = settings.CONFIG.model_copy(update=bound)
    with desk(server, required(None, "later")) as recorder:
        begin(person)
        page = person.until_told("We have stopped asking by ourselves")
        sent = len(calls(recorder))
        assert sent in legs
        assert page.button("Stop this request")
        person.press("Check again")
        person.until_told("We have stopped asking by ourselves")
        assert [post.params.get("requestState") for post in calls(recorder)] == [None, *["later"] * sent]


@pytest.mark.parametrize(
    ("listed", "rule"),
    [
        ({"resultType": "input_required", "requestState": "s"}, "MR-11"),
        ({"resultType": "complete", "tools": "x"}, "PG-1"),
    ],
)
def test_a_listing_that_breaks_a_rule_is_a_finding(
    person: Person, server: Server, listed: dict[str, Any], rule: str
) -> None:
    """MR-11: only calls may ask for more."""
    with desk(server, listings=LISTED | {"tools/list": listed}):
        assert person.get("/s/demo/").status == 502
        assert "breaks the rules" in person.page.text
    assert [(each.rule, each.count) for each in Finding.objects.all()] == [(rule, 1)]
