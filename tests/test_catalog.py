"""Who sees which server, and what a listing becomes; malformed entries hide only themselves."""

from typing import Any

import pytest
from django.contrib.auth.models import Group, User

from mrtr_web import catalog, entries, operations
from mrtr_web.models import Flow, Server
from tests.offers import store

pytestmark = pytest.mark.django_db


def offering(server: Server, **offers: list[Any]) -> dict[str, list[operations.Operation]]:
    """What comes of these listings, once they are stored and read again."""
    store(server, **offers)
    catalog.attach(0, server)
    return operations.offered(server)


def test_a_server_of_a_group_is_seen_by_that_group_alone(alice: User, bob: User, server: Server) -> None:
    assert list(catalog.visible(alice)) == [server]
    group = Group.objects.create(name="travel")
    server.groups.add(group)
    bob.groups.add(group)
    assert list(catalog.visible(alice)) == []
    assert list(catalog.visible(bob)) == [server]
    Server.objects.update(enabled=False)
    assert list(catalog.visible(bob)) == []


def test_malformed_entries_hide_only_themselves(server: Server) -> None:
    """S19"""
    found = offering(
        server,
        tools=[None, 5, {}, {"name": ""}, {"name": 7}, {"name": ".."}, {"name": "a/../b"}, {"name": "good"}],
        prompts=[{"name": "p", "arguments": [None, {"name": "x", "required": True}, {"name": "y"}]}],
        templates=[{"uriTemplate": "a://{"}, {"uriTemplate": "a://{x}"}],
    )
    assert [each.name for each in found["tools"]] == ["good"]
    assert found["prompts"][0].schema["required"] == ["x"]
    assert list(found["prompts"][0].schema["properties"]) == ["x", "y"]
    assert [each.name for each in found["templates"]] == ["a://{x}"]


def test_what_a_server_offers_is_all_there_after_a_flow_was_started(alice: User, server: Server) -> None:
    """A leg reads one listing for itself, and takes nothing from whoever began it."""
    found = offering(server, tools=[{"name": "t", "inputSchema": {"type": "object"}}], resources=[{"uri": "a://b"}])
    row = Flow(user=alice, server=found["tools"][0].server, method="tools/call", name="t")
    assert catalog.newest_schema(row) == {"type": "object"}
    assert [each.name for each in entries.offered(server, "resources")] == ["a://b"]


def test_fields_keep_the_order_of_the_listing(server: Server) -> None:
    """T-8"""
    schema = {"type": "object", "properties": {"street_and_number": {}, "zip": {}, "a": {}}}
    found = offering(server, tools=[{"name": "t", "inputSchema": schema}])
    assert list(found["tools"][0].schema["properties"]) == ["street_and_number", "zip", "a"]


def test_any_number_and_text_of_a_listing_can_be_stored(server: Server) -> None:
    found = offering(server, tools=[{"name": "t", "description": "a\x00b\ud800", "inputSchema": {"x": float("inf")}}])
    assert found["tools"][0].description == "a\x00b\ud800"


def test_a_title_is_taken_before_the_annotation_and_the_name(server: Server) -> None:
    """TO-5"""
    found = offering(
        server,
        tools=[
            {"name": "a", "title": "A", "annotations": {"title": "B"}},
            {"name": "b", "annotations": {"title": "B"}},
            {"name": "c", "annotations": [], "title": 5},
        ],
    )
    assert [each.title for each in found["tools"]] == ["A", "B", "c"]


@pytest.mark.parametrize(
    ("hints", "repeatable"),
    [
        ({}, False),
        ({"readOnlyHint": True}, True),
        ({"idempotentHint": True}, True),
        ({"idempotentHint": "false"}, False),
    ],
)
def test_only_a_true_claim_makes_a_tool_repeatable(server: Server, hints: dict[str, Any], repeatable: bool) -> None:
    """TO-2"""
    assert offering(server, tools=[{"name": "t", "annotations": hints}])["tools"][0].repeatable is repeatable


def test_params_and_values_of_each_kind_are_inverse(server: Server) -> None:
    found = offering(server, tools=[{"name": "t"}], templates=[{"uriTemplate": "trip://{ref}/x"}])
    assert found["tools"][0].params({"b": 1, "a": 2}) == {"name": "t", "arguments": {"b": 1, "a": 2}}
    assert found["templates"][0].params({"ref": "a b"}) == {"uri": "trip://a%20b/x"}
    assert found["templates"][0].values({"uri": "trip://a%20b/x"}) == {"ref": "a b"}
    plain = operations.resource(server, "file:///x")
    assert plain.params({"uri": "file:///x"}) == {"uri": "file:///x"}


def test_a_resource_is_found_by_exact_name_before_any_match(server: Server) -> None:
    offering(
        server,
        templates=[{"uriTemplate": "{+any}"}, {"uriTemplate": "docs://{x}"}],
        resources=[{"uri": "docs://listed"}],
    )
    found = server
    assert operations.resource(found, "docs://{x}").name == "docs://{x}"
    assert operations.resource(found, "docs://listed").name == ""
    assert operations.resource(found, "docs://other").name == "{+any}"


def test_what_no_database_can_store_is_hidden_with_a_reason(server: Server) -> None:
    name = "a\0b"
    found = offering(
        server,
        tools=[{"name": name}, {"name": "good"}],
        prompts=[{"name": name}],
        templates=[{"uriTemplate": "a://\0{x}"}],
    )
    assert [[each.name for each in kind] for kind in found.values()] == [["good"], [], []]
    assert [operations.find(server, kind, name) for kind in ("tools", "prompts")] == [None, None]
    assert [hidden for hidden, _ in entries.unusable(server)] == [name, name, "a://\0{x}"]
    assert entries.broken_rules(server, entries.KEYS) == []


def test_of_a_listing_without_end_the_first_thousand_are_offered(server: Server) -> None:
    tools = [{"name": f"t{i}"} for i in range(1001)]
    assert len(offering(server, tools=tools[:1000])["tools"]) == 1000
    assert not entries.is_cut(server)
    assert len(offering(server, tools=tools)["tools"]) == 1000
    assert entries.is_cut(server)
    assert operations.find(server, "tools", "t1000") is None


def test_one_operation_is_found_without_reading_the_others(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    offering(server, tools=[{"name": f"t{i}"} for i in range(1000)])
    read: list[str] = []
    monkeypatch.setattr(entries.Entry, "unmirrored", property(lambda entry: read.append(entry.name)))
    assert operations.find(server, "tools", "t999") is not None
    assert read == ["t999"]
