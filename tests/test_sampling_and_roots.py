"""Replies written by people, and folders that they name: the pure parts."""

from typing import Any

import pytest

from mrtr_web import roots, sampling


def wanted(**params: Any) -> sampling.Wanted:
    return sampling.wanted({"messages": [], "maxTokens": 60, **params})


def test_a_reply_names_who_wrote_it() -> None:
    """SA-8, T-16"""
    assert sampling.reply(" Good food. ", "human") == {
        "role": "assistant",
        "content": {"type": "text", "text": " Good food. "},
        "model": "human",
        "stopReason": "endTurn",
    }


def test_hints_keep_their_order_and_odd_ones_are_passed_over() -> None:
    """SA-4"""
    hints = [{"name": "claude"}, {"name": ""}, {"name": 5}, "x", {}, {"name": "gpt"}]
    assert wanted(modelPreferences={"hints": hints}).models == ("claude", "gpt")
    assert wanted(modelPreferences="x").models == ()


@pytest.mark.parametrize("value", [None, True, "60", 0, -1, 1.5])
def test_an_odd_limit_is_no_limit(value: object) -> None:
    assert wanted(maxTokens=value).max_tokens is None


def test_a_text_with_more_words_than_tokens_is_surely_too_long() -> None:
    """SA-3"""
    assert not sampling.is_too_long("one two three", 3)
    assert sampling.is_too_long("one two three four", 3)
    assert not sampling.is_too_long("one two three four", None)


@pytest.mark.parametrize(
    "uri", ["file:///home/ada/photos", "file:///C:/Users/Ada", "file:///", "file:///a%20b/%C3%A9", "FILE:///a"]
)
def test_plain_file_addresses_are_roots(uri: str) -> None:
    """RO-1"""
    assert roots.fault(uri) == ""


@pytest.mark.parametrize(
    ("uri", "code"),
    [
        ("https://example.org/", "root_scheme"),
        ("file://host/share", "root_scheme"),
        ("file:/home/ada", "root_scheme"),
        ("/home/ada", "root_scheme"),
        ("file:///a?x=1", "root_scheme"),
        ("file:///a#x", "root_scheme"),
        ("javascript:alert(1)//file:///", "root_scheme"),
        ("file:///a b", "root_characters"),
        ("file:///\u00e9", "root_characters"),
        ("file:///a\x00", "root_characters"),
        ("file:///a\u202eb", "root_characters"),
        ("file:///home/../etc", "root_steps"),
        ("file:///home/%2e%2e/etc", "root_steps"),
        ("file:///home/%252e%252e/etc", "root_steps"),
        ("file:///home%2f..%2fetc", "root_steps"),
        ("file:///home\\..\\etc", "root_characters"),
        ("C:\\Users\\me", "root_scheme"),
        ("file:///a%00b", "root_steps"),
        ("file:///" + "a" * 2000, "root_long"),
    ],
)
def test_other_addresses_and_ways_out_of_a_folder_are_not(uri: str, code: str) -> None:
    """RO-1: only file addresses, no path traversal."""
    assert roots.fault(uri) == code


@pytest.mark.parametrize(
    ("folder", "uri"),
    [
        ("/home/ada/photos", "file:///home/ada/photos"),
        ("/home/ada/my photos #1?", "file:///home/ada/my%20photos%20%231%3F"),
        ("/home/\u00e9t\u00e9 100%/a:b", "file:///home/%C3%A9t%C3%A9%20100%25/a:b"),
        ("/", "file:///"),
        ("C:\\Users\\Ada Lovelace", "file:///C:/Users/Ada%20Lovelace"),
        ("d:/data", "file:///d:/data"),
    ],
)
def test_a_folder_is_written_as_people_write_it_and_sent_as_an_address(folder: str, uri: str) -> None:
    """RO-1"""
    assert (roots.address(folder), roots.fault(uri)) == (uri, "")
    assert roots.folder(uri) == folder.replace("\\", "/")
    assert roots.address(uri) == uri


@pytest.mark.parametrize(
    ("typed", "code"),
    [
        ("~/photos", "root_scheme"),
        ("photos", "root_scheme"),
        ("//host/share", "root_scheme"),
        ("\\\\host\\share", "root_scheme"),
        ("/a\u202eb", "root_scheme"),
        ("/a\ud800", "root_scheme"),
        ("/home/../etc", "root_steps"),
        ("C:\\..\\etc", "root_steps"),
        ("/home/%2e%2e/etc", "root_steps"),
        ("/" + "a" * 2000, "root_long"),
    ],
)
def test_what_is_no_whole_way_to_a_folder_is_refused(typed: str, code: str) -> None:
    assert roots.fault(roots.address(typed)) == code


def test_an_address_that_people_would_write_otherwise_stays_one() -> None:
    for uri in ("file:///a%2Fb", "file:///%ff", "file:///a%00b", "file:///a%e2%80%aeb", "file:////host/share"):
        assert roots.folder(uri) == uri


def test_each_folder_is_named_once_with_the_name_that_the_admin_gave_it() -> None:
    offered = [{"uri": "file:///a", "name": "A"}]
    assert roots.answer(offered, ["file:///b", "file:///a", "file:///b"]) == {
        "roots": [{"uri": "file:///a", "name": "A"}, {"uri": "file:///b"}]
    }
    assert roots.answer([], []) == {"roots": []}


def test_an_earlier_answer_is_cut_into_chosen_and_typed() -> None:
    earlier = {"roots": [{"uri": "file:///a", "name": "A"}, {"uri": "file:///b"}]}
    assert roots.answered(earlier, [{"uri": "file:///a"}]) == {"chosen": ["file:///a"], "typed": "/b"}


def test_a_space_in_an_admins_address_is_a_fault_and_no_name() -> None:
    (read,) = roots.read_lines("file:///home/my photos Photos")
    assert roots.fault(read["uri"]) == "root_characters"
    assert roots.read_lines("My photos = file:///a") == [{"uri": "file:///a", "name": "My photos"}]


def test_roots_survive_the_way_through_the_admins_form() -> None:
    entries = [{"uri": "file:///a", "name": "My photos"}, {"uri": "file:///b"}]
    assert roots.read_lines(roots.write_lines(entries)) == entries
