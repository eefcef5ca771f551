"""Rules of the specification that no other file shows: what people must be able to see, refuse and rely on."""

import re

import pytest
from playwright.sync_api import expect
from pytest_django import Settings

from mrtr_web.models import Server
from tests.desk import LISTED, TOOL, asks, calls, desk, done, required
from tests.person import Page, Person
from tests.servers import Recorder, Scripted, Step, error, html, result, serve
from tests.test_kinds import FORM, LINK, begin, findings, send
from tests.window import Opener, in_browser

pytestmark = pytest.mark.django_db(transaction=True)


def test_every_page_of_a_flow_names_the_server_and_its_host(person: Person, server: Server) -> None:
    """EL-3, BA-4: the name that the admin gave it, not the one that it gives itself."""
    lies = {"io.modelcontextprotocol/serverInfo": {"name": "Your bank", "version": "1"}}
    step: Step = lambda post: result(  # noqa: E731
        post, {"resultType": "input_required", "inputRequests": {"who": FORM}, "_meta": lies}
    )
    with desk(server, step, done(_meta=lies)):
        host = Server.objects.get().url.split("/")[2]
        begin(person)
        person.fill("Name", "Ada")
        for page in (person.page, person.press("Check first"), send(person)):
            assert "Demo desk" in page.text and host in page.text and "Your bank" not in _above_raw(page)


def _above_raw(page: Page) -> str:
    return page.text.partition("Raw messages")[0]


@pytest.mark.parametrize("entry", [FORM, LINK])
def test_every_question_can_be_declined_left_undecided_and_stopped(
    person: Person, server: Server, entry: dict[str, object]
) -> None:
    """EL-4, EL-5, EL-6, UR-8"""
    with desk(server, required({"k": entry}, "s")):
        page = begin(person)
        assert ("I do not want to" in page.text) or ("No, I do not want to give this" in page.text)
        assert "Leave it undecided" in page.text
        assert page.button("Stop this request")
        assert "Who are you?" in page.text or "Pay" in page.text


@pytest.mark.parametrize(("action", "sent"), [("decline", {"action": "decline"}), ("cancel", {"action": "cancel"})])
def test_no_and_undecided_carry_no_content_whatever_was_typed(
    person: Person, server: Server, action: str, sent: dict[str, str]
) -> None:
    """EL-6, EL-7, H05, H06"""
    with desk(server, asks(), done()) as recorder:
        begin(person)
        person.fill("Name", "half typed")
        person.press("Send", {"r1s0-action": action})
        person.until("completed")
        assert calls(recorder)[1].params["inputResponses"] == {"who": sent}


def test_an_answer_can_be_looked_at_and_changed_before_it_is_sent(person: Person, server: Server) -> None:
    """FM-1, T-43"""
    with desk(server, asks(), done()) as recorder:
        begin(person)
        person.fill("Name", "Ada")
        assert "Nothing has been sent yet" in person.press("Check first").text
        person.press("Change")
        person.fill("Name", "Ida")
        person.press("Check your answers")
        send(person)
        assert calls(recorder)[1].params["inputResponses"]["who"]["content"] == {"name": "Ida"}


def test_arguments_are_shown_before_they_are_sent_and_nothing_starts_by_itself(person: Person, server: Server) -> None:
    """TO-1, SB-7: a link may fill the form in, a person presses the button."""
    with desk(server, done()) as recorder:
        person.get(TOOL)
        person.get(TOOL)
        assert calls(recorder) == []


def test_a_declined_question_that_ends_in_an_error_is_a_result_of_the_server(person: Person, server: Server) -> None:
    """T-18, EL-9"""
    with desk(server, asks(), done("You declined.", isError=True)):
        begin(person)
        person.press("Send", {"r1s0-action": "decline"})
        page = person.until("completed")
        assert "could not do it, and says why" in page.text and "You declined." in page.text


def test_the_same_request_is_asked_anew_each_time(person: Person, server: Server) -> None:
    """MR-19: no result is ever served from a cache."""
    with desk(server, done("one"), done("two")) as recorder:
        assert "one" in begin(person).text
        assert "two" in begin(person).text
        assert len(calls(recorder)) == 2
        assert "no-store" in person.page.response.headers["cache-control"]


def test_every_leg_carries_everything(person: Person, server: Server) -> None:
    """MR-1, MR-6, MR-8, MR-10, BA-2, BA-3, BA-7, HT-1, HT-2, HT-3, HT-4, HT-10, PR-1, LO-1"""
    with desk(server, asks("s1"), asks("s2"), required(None, "s3"), done()) as recorder:
        begin(person)
        send(person, Name="Ada")
        send(person, Name="Ida")
        person.until("completed")
        posts = calls(recorder)
        assert [post.params.get("requestState") for post in posts] == [None, "s1", "s2", "s3"]
        assert [post.params.get("inputResponses") for post in posts] == [
            None,
            {"who": {"action": "accept", "content": {"name": "Ada"}}},
            {"who": {"action": "accept", "content": {"name": "Ida"}}},
            None,
        ]
        assert len({post.id for post in posts}) == 4 and all(isinstance(post.id, str) for post in posts)
        for post in posts:
            assert (post.params["name"], post.params["arguments"]) == ("ask", {"topic": "cheese"})
            assert post.meta == {
                "io.modelcontextprotocol/protocolVersion": "2026-07-28",
                "io.modelcontextprotocol/clientInfo": {"name": "mrtr_web", "version": "0.1.0"},
                "io.modelcontextprotocol/clientCapabilities": {"elicitation": {"form": {}, "url": {}}},
                "progressToken": post.id,
            }
            told = {name: post.headers.get(name) for name in ("mcp-method", "mcp-name", "mcp-protocol-version")}
            assert told == {"mcp-method": "tools/call", "mcp-name": "ask", "mcp-protocol-version": "2026-07-28"}
            assert {"application/json", "text/event-stream"} <= set(post.headers["accept"].replace(" ", "").split(","))
            assert not {"mcp-session-id", "last-event-id", "cookie"} & post.headers.keys()


@pytest.mark.parametrize("status", [401, 403, 429])
def test_a_refusal_in_the_middle_keeps_answers_and_state(person: Person, server: Server, status: int) -> None:
    """T-33: the same leg goes out again under a new id."""
    with desk(server, asks("s1"), lambda post: html(status), done()) as recorder:
        begin(person)
        person.fill("Name", "Ada")
        person.press("Send")
        person.until("unsent")
        person.press("Send again")
        person.until("completed")
        first, second = calls(recorder)[1:]
        assert {**first.params, "_meta": 0} == {**second.params, "_meta": 0}
        assert first.id != second.id


@pytest.mark.parametrize(("code", "words"), [(-32002, "no such thing"), (-32015, "house rule"), (-32603, "on fire")])
def test_an_error_is_told_in_the_words_of_the_server_and_marked_as_such(
    person: Person, server: Server, code: int, words: str
) -> None:
    """ER-2, ER-3: no meaning is read into codes that have none."""
    with desk(server, lambda post: error(post, code, message=words)):
        page = begin(person)
        assert page.state == "failed"
        assert "Demo desk says" in page.text and words in page.text and str(code) in page.text


READABLE = ('{"exp": 0, "ttl": 600}', "eyJhbGciOiJub25lIn0.eyJleHAiOjB9.", "2001-01-01T00:00:00Z")


@pytest.mark.parametrize("state", READABLE)
def test_a_state_that_can_be_read_and_looks_expired_changes_nothing(person: Person, server: Server, state: str) -> None:
    """MR-4, T-1, T-2: the page is that of any other state, without a countdown, and the answer goes out."""
    with desk(server, asks("opaque"), asks(state), done()) as recorder:
        pages = [begin(person), begin(person)]
        opaque, readable = (_above_raw(page).replace(_reference(page), "") for page in pages)
        assert opaque == readable
        assert send(person, Name="Ada").state == "completed"
        assert calls(recorder)[2].params["requestState"] == state


def _reference(page: Page) -> str:
    return page.path.split("/")[2][:8].upper()


@pytest.mark.parametrize(
    ("url", "host", "warning"),
    [
        ("https://demo.example.login.evil.example/demo.example/?u=demo.example", "demo.example.login.evil.example", ""),
        ("https://xn--pple-43d.com/", "xn--pple-43d.com", "letters from other alphabets"),
        ("https://\u0430pple.com/", "xn--pple-43d.com", "letters from other alphabets"),
        ("https://192.0.2.7/", "192.0.2.7", "a bare number instead of a name"),
    ],
)
def test_the_host_of_a_page_to_open_stands_out_and_a_suspicious_one_is_warned_of(
    person: Person, server: Server, url: str, host: str, warning: str
) -> None:
    """UR-1, UR-4, UR-6: as it will be requested, and nothing else of the address is marked."""
    entry = {"method": "elicitation/create", "params": {"mode": "url", "message": "Pay", "url": url}}
    with desk(server, required({"p": entry}, "s")):
        page = begin(person)
        (address,) = re.findall(r'<p class="address__url" dir="ltr" lang="">(.*?)</p>', page.response.text)
        assert re.findall(r"<strong>(.*?)</strong>", address) == [host]
        assert re.sub(r"</?strong>", "", address) == url.replace("\u0430pple.com", "xn--pple-43d.com")
        assert warning in page.text
        assert ("Read it letter by letter" in page.text) is ("alphabets" in warning)


def test_a_web_address_among_the_resources_is_read_from_the_server_and_not_fetched(
    person: Person, server: Server
) -> None:
    """RE-1, SB-1: also where the server says that it could be."""
    site = Recorder(Scripted(lambda post: html(200)))
    with serve(site) as base:
        uri = f"{base}/report"
        listed = LISTED | {
            "server/discover": LISTED["server/discover"] | {"capabilities": {"resources": {}}},
            "resources/list": {"resultType": "complete", "resources": [{"uri": uri, "name": "Report"}]},
            "resources/templates/list": {"resultType": "complete", "resourceTemplates": []},
        }
        read: Step = lambda post: result(  # noqa: E731
            post, {"resultType": "complete", "contents": [{"uri": uri, "text": "From the server."}]}
        )
        with desk(server, read, listings=listed) as recorder:
            person.get("/s/demo/")
            person.get(person.page.link("Report"))
            person.press("Start")
            assert "From the server." in person.until("completed").text
            assert [post.params["uri"] for post in calls(recorder)] == [uri]
        assert site.posts == []


def test_a_server_that_asks_without_end_is_ended_by_a_bound_of_ours(
    person: Person, server: Server, settings: Settings
) -> None:
    """MR-17, T-12: the server may do so, so it is no finding; nothing more is sent."""
    settings.CONFIG = settings.CONFIG.model_copy(update={"max_rounds": 3})
    with desk(server, asks()) as recorder:
        begin(person)
        assert [send(person, Name="Ada").state for _ in range(3)] == ["waiting", "waiting", "failed"]
        assert "kept asking for more" in person.page.text
        assert len(calls(recorder)) == 4
    assert findings() == {}


class TestLinks:
    pytestmark = in_browser

    def test_nothing_is_fetched_before_the_person_opens_it_in_a_tab_of_its_own(
        self, opened: Opener, server: Server
    ) -> None:
        """UR-1, UR-2, UR-3, UR-4, UR-5, T-24"""
        site = Recorder(Scripted(lambda post: html(200)))
        window = opened()
        page = window.page
        with serve(site) as base:
            url = base.replace("127.0.0.1", "localhost") + "/pay?x=1"
            entry = {"method": "elicitation/create", "params": {"mode": "url", "message": "Pay", "url": url}}
            with desk(server, required({"p": entry}, "s"), done()) as recorder:
                window.sign_in()
                page.goto(f"{window.base}{TOOL}")
                page.get_by_label("Topic").fill("x")
                page.get_by_role("button", name="Start").click()
                window.state("waiting")
                expect(page.locator(".address__url")).to_have_text(url)
                link = page.get_by_role("link", name="Open localhost")
                assert link.get_attribute("rel") == "noopener noreferrer"
                assert (link.get_attribute("target"), link.get_attribute("href")) == ("_blank", url)
                assert page.locator("iframe, link[rel*=pre], link[rel*=dns]").count() == 0
                link.hover()
                assert site.posts == []
                assert len(calls(recorder)) == 1  # opening is not answering
                page.get_by_role("button", name="I have finished there").click()
                window.state("completed")
                assert calls(recorder)[1].params["inputResponses"] == {"p": {"action": "accept"}}
                assert site.posts == []
