"""Results of all three methods as blocks; types are sniffed and nothing hostile is shown in place."""

import base64
import json
from typing import Any

import pytest

from mrtr_web.results import Block, content, show

PNG = base64.b64encode(b"\x89PNG\r\n\x1a\n rest").decode()
SVG = base64.b64encode(b"<svg onload=alert(1)>").decode()


def blocks(*entries: Any) -> list[Block]:
    return list(show({"content": list(entries)}).blocks)


def test_text_and_its_order() -> None:
    found = blocks({"type": "text", "text": "a"}, {"type": "text", "text": "b"})
    assert [(b.kind, b.number, b.text) for b in found] == [("text", 0, "a"), ("text", 1, "b")]


def test_an_image_is_shown_where_type_and_bytes_agree() -> None:
    """R01"""
    entry = {"type": "image", "data": PNG, "mimeType": "image/png"}
    assert blocks(entry)[0].kind == "image"
    assert content({"content": [entry]}, 0) == (b"\x89PNG\r\n\x1a\n rest", "image/png", True)


@pytest.mark.parametrize(("data", "mime"), [(SVG, "image/svg+xml"), (SVG, "image/png"), (PNG, "text/html"), (PNG, "")])
def test_other_bytes_are_a_download_of_no_type(data: str, mime: str) -> None:
    """R01, T-38"""
    entry = {"type": "image", "data": data, "mimeType": mime}
    assert blocks(entry)[0].kind == "download"
    assert content({"content": [entry]}, 0) == (base64.b64decode(data), "application/octet-stream", False)


@pytest.mark.parametrize(
    ("mime", "data", "kind"),
    [
        ("audio/mpeg", b"ID3\x04 rest", "audio"),
        ("audio/mpeg", b"\xff\xfb\x90 rest", "audio"),
        ("audio/wav", b"RIFF\n\x00\x00\x00WAVEfmt ", "audio"),
        ("audio/ogg", b"OggS rest", "audio"),
        ("audio/mp4", b"\x00\x00\n\x00ftypM4A ", "audio"),
        ("audio/mpeg", b"<script>", "download"),
        ("audio/wav", b"RIFF\x00\x00\x00\x00WEBP", "download"),
        ("audio/midi", b"MThd", "download"),
    ],
)
def test_sound_is_played_where_type_and_bytes_agree(mime: str, data: bytes, kind: str) -> None:
    """R01, T-38"""
    assert blocks({"type": "audio", "data": base64.b64encode(data).decode(), "mimeType": mime})[0].kind == kind


def test_a_resource_link_is_named_not_fetched() -> None:
    found = blocks({"type": "resource_link", "uri": "https://evil.example/x", "name": "n", "title": "T"})
    assert (found[0].kind, found[0].text, found[0].uri) == ("link", "T", "https://evil.example/x")


def test_embedded_resources() -> None:
    text = {"type": "resource", "resource": {"uri": "a:b", "text": "hello"}}
    blob = {"type": "resource", "resource": {"uri": "a:c", "blob": PNG, "mimeType": "image/png"}}
    assert [(b.kind, b.text, b.uri) for b in blocks(text, blob)] == [
        ("text", "hello", "a:b"),
        ("image", "", "a:c"),
    ]
    assert content({"content": [text]}, 0) == (b"hello", "text/plain; charset=utf-8", False)


def test_structured_content_alone_is_shown() -> None:
    """R03"""
    found = show({"content": [], "structuredContent": {"total": 3, "who": "Ada", "list": [1]}})
    assert json.loads(found.raw) == {"total": 3, "who": "Ada", "list": [1]}
    assert not found.empty


def test_structured_content_with_an_error_is_kept() -> None:
    found = show({"isError": True, "structuredContent": {"code": 7}, "content": []})
    assert (found.failed, json.loads(found.raw)) == (True, {"code": 7})


def test_an_empty_result_is_said_to_be_empty() -> None:
    assert show({"content": []}).empty and show({}).empty


def test_prompt_messages_and_resource_contents() -> None:
    prompt = show({"messages": [{"role": "user", "content": {"type": "text", "text": "hi"}}]})
    assert [(b.role, b.text) for b in prompt.blocks] == [("user", "hi")]
    resource = show({"contents": [{"uri": "trip://1", "text": "plan", "mimeType": "text/plain"}]})
    assert [(b.uri, b.text) for b in resource.blocks] == [("trip://1", "plan")]


@pytest.mark.parametrize("entry", [None, 5, "x", [], {"type": "image", "data": "!!"}, {"type": "image", "data": 5}, {}])
def test_malformed_content_hides_only_itself(entry: Any) -> None:
    found = blocks(entry, {"type": "text", "text": "kept"})
    assert found[-1].text == "kept" and all(b.kind in ("unknown", "text") for b in found)


@pytest.mark.parametrize("result", [{"content": "x"}, {"content": None}, {"messages": [None, {"content": None}]}])
def test_malformed_results_are_empty(result: dict[str, Any]) -> None:
    assert show(result).empty


def test_there_is_no_content_beyond_the_last() -> None:
    assert content({"content": []}, 0) is None and content({"content": [{}]}, -1) is None


def test_a_result_without_end_is_cut() -> None:
    many = show({"content": [{"type": "text", "text": "a"}] * 2_000})
    assert (len(many.blocks), many.more) == (500, 1_500)
    long = show({"content": [{"type": "text", "text": "a" * 600_000}] * 5})
    assert (len(long.blocks), long.more) == (2, 3)
    assert len(show({"content": [{"type": "text", "text": "a" * 3_000_000}]}).blocks) == 1
