"""Behaviours of a server that is only looked at: what it lists. `says` is on its page in the catalogue."""

from typing import Any

from tests.desk import LISTED, done
from tests.hostile import corpus
from tests.hostile.asked import REFERENCES, REGEX_BOMB, fields, nested
from tests.hostile.line import CANARY, Behaviour
from tests.hostile.transport import big_in_chunks
from tests.servers import Post, result

TOOL = LISTED["tools/list"]["tools"][0]


def looks(
    name: str, says: str, tools: Any, rules: tuple[str, ...] = (), *, outcome: str = "", **more: Any
) -> Behaviour:
    listing = LISTED["tools/list"] | {"tools": tools} if isinstance(tools, list) else tools
    return Behaviour(name, (done(),), "", outcome, says, rules, listed={"tools/list": listing}, **more)


def _next(post: Post, cursor: str) -> Any:
    return result(post, LISTED["tools/list"] | {"tools": [TOOL], "nextCursor": cursor})


def _titled(place: str) -> list[Any]:
    """A payload in every field of a tool."""
    return [
        {
            "name": each.replace("\0", ""),
            "title": each,
            "description": each,
            "annotations": {"title": each, "readOnlyHint": each},
            "icons": [{"src": "javascript:alert(1)", "mimeType": each}, {"src": "http://127.0.0.1:{canary}/i.svg"}],
            "inputSchema": fields(**{each: {"type": "string", "title": each, "description": each, "default": each}}),
        }
        for each in corpus.payloads(place)
    ]


def scripts_in_a_listing(place: str = "listed") -> dict[str, Any]:
    """Listings with scripts everywhere, and the tool that everybody has."""
    entries = _titled(place)
    plain = [{**each, "name": f"{place}{number}"} for number, each in enumerate(entries)]
    resources = [
        {"uri": f"javascript:alert(1)//{each['name']}", "name": each["name"], "title": each["title"]}
        for each in entries
    ]
    discovered = LISTED["server/discover"] | {
        "capabilities": {"tools": {}, "prompts": {}, "resources": {}},
        "serverInfo": {"name": entries[0]["name"], "title": entries[2]["name"]},
        "instructions": entries[0]["name"],
    }
    kept = {"resultType": "complete", "ttlMs": 60_000, "cacheScope": "public"}
    return {
        "server/discover": discovered,
        "tools/list": kept | {"tools": [TOOL, *plain, *entries]},
        "prompts/list": kept | {"prompts": entries},
        "resources/list": kept | {"resources": resources},
        "resources/templates/list": kept | {"resourceTemplates": [{"uriTemplate": "x:{a}", **entries[0]}]},
    }


ALL = [
    looks(
        "a_hundred_thousand_tools",
        "first 1,000",
        [{"name": f"t{n}"} for n in range(100_000)],
        ("LIST-SIZE",),
        seconds=30,
        mib=200,
    ),
    looks("cursor_in_circles", "breaks the rules", lambda post: _next(post, "again"), ("PG-1",), outcome="broken:PG-1"),
    looks(
        "cursors_without_end",
        "breaks the rules",
        lambda post: _next(post, post.id),
        ("PG-1",),
        outcome="broken:PG-1",
        seconds=30,
    ),
    looks(
        "tools_are_no_list", "breaks the rules", LISTED["tools/list"] | {"tools": {}}, ("PG-1",), outcome="broken:PG-1"
    ),
    looks(
        "a_round_for_a_listing",
        "breaks the rules",
        {"resultType": "input_required", "requestState": CANARY},
        ("MR-11",),
        outcome="broken:MR-11",
    ),
    looks("entries_of_no_kind", "Ask me", [None, 7, [], "x", {"name": 7}, {"name": ""}, TOOL], ("LIST-ENTRY",)),
    looks("half_a_letter_in_an_entry", "Ask me", [{"name": "\ud800"}, TOOL], ("LIST-ENTRY",)),
    looks("twins", "Ask me", [TOOL] * 3, ("LIST-TWICE",)),
    looks("tool_title_of_a_megabyte", "T" * 100, [TOOL | {"title": "T" * 2**20, "description": "D" * 2**20}]),
    looks(
        "names_that_are_paths",
        "Ask me",
        [TOOL | {"name": each} for each in ("../../admin", "a/../b", ".", "a\0b", "x" * 10_000, "ask")],
    ),
    looks(
        "costly_schemas",
        "Ask me",
        [
            TOOL | {"name": f"t{n}", "inputSchema": fields(**{REGEX_BOMB: nested(60)}), "outputSchema": REFERENCES}
            for n in range(50)
        ],
    ),
    looks("scripts_in_a_listing", "hostile-mark", _titled("listed")),
    looks("listing_of_60_mib", "too large", big_in_chunks, outcome="too_big", mib=200, seconds=30),
    looks(
        "headers_to_be_mirrored",
        "nothing at the moment",
        [TOOL | {"inputSchema": fields(a={"type": "string", "x-mcp-header": "Cookie: a\r\nb"})}],
        ("HT-7",),
    ),
]
