"""What each finding means, where it is said, and what to do: for the people who run this app and the server.

The one place of these sentences; the page /rules/ shows them.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass

from django.utils.translation import gettext as _
from django.utils.translation import gettext_noop

HTTP_STATUS = "HT-status"
"""Stands for HT-300 to HT-499."""
MEANINGS: Mapping[str, str] = {
    "BA-1": gettext_noop("An answer had the id of another request."),
    "EL-5": gettext_noop("A question had no message that says what it is for."),
    "FM-5": gettext_noop("A form asked for what looks like a secret."),
    "FM-6": gettext_noop("A form had no schema, or one of which no form can be made that answers it."),
    "HT-2": gettext_noop("An answer was neither JSON nor an event stream, or was no JSON-RPC message."),
    "HT-7": gettext_noop("A tool asks for headers that it may not ask for; it is hidden."),
    "HT-9": gettext_noop("The server sent a request on the stream of an answer."),
    HTTP_STATUS: gettext_noop(
        "The answer was this HTTP status (300 to 499) without a JSON-RPC message, such as HT-404."
    ),
    "LIST-ENTRY": gettext_noop(
        "A listing had an entry that cannot be read, is no object, has no name, or has a template that is none; "
        "it is hidden."
    ),
    "LIST-SIZE": gettext_noop(
        "A listing had more than 1,000 entries of one kind; the others are not shown. A limit of ours."
    ),
    "LIST-TWICE": gettext_noop("A listing had several entries of one name; each can be used."),
    "MR-11": gettext_noop("Something other than a call was answered with a round."),
    "MR-12": gettext_noop("`resultType` was unknown."),
    "MR-13": gettext_noop("A round had neither requests nor a state, or one of a wrong type."),
    "MR-14": gettext_noop("Something was asked that the client had not declared, or that MCP does not know."),
    "PG-1": gettext_noop("A listing was no list, or its pages went round in circles."),
    "ROUND-SIZE": gettext_noop("A round had more than 20 questions, or more than one post can hold. A limit of ours."),
    "SA-1": gettext_noop("Sampling asked for the context of other servers, which is not declared."),
    "SA-3": gettext_noop("Sampling had no `maxTokens`."),
    "SA-5": gettext_noop("Sampling had no conversation, or messages that are none."),
    "SA-6": gettext_noop("Sampling wanted tools, which are not declared."),
    "STATE-SIZE": gettext_noop("A state was larger than MRTR_MAX_STATE_BYTES. A limit of ours."),
    "TO-4": gettext_noop("A result was not as the tool's `outputSchema` announces."),
    "UR-4": gettext_noop("A question to open a page had no address."),
    "UR-7": gettext_noop(
        "A question to open a page had an address that must not be opened: of another kind, unencrypted, or not plain."
    ),
    "VE-2": gettext_noop("`server/discover` named no revisions."),
}


SPECIFICATION = "https://modelcontextprotocol.io/specification/2026-07-28/"
PAGES: Mapping[str, str] = {
    "BA-1": "basic",
    "EL-5": "client/elicitation",
    "FM-5": "client/elicitation",
    "FM-6": "client/elicitation",
    "HT-2": "basic/transports/streamable-http",
    "HT-7": "basic/transports/streamable-http",
    "HT-9": "basic/transports/streamable-http",
    HTTP_STATUS: "basic/transports/streamable-http",
    "LIST-ENTRY": "basic",
    "LIST-TWICE": "server/tools",
    "MR-11": "basic/patterns/mrtr",
    "MR-12": "basic",
    "MR-13": "basic/patterns/mrtr",
    "MR-14": "basic/patterns/mrtr",
    "PG-1": "server/utilities/pagination",
    "SA-1": "client/sampling",
    "SA-3": "client/sampling",
    "SA-5": "client/sampling",
    "SA-6": "client/sampling",
    "TO-4": "server/tools",
    "UR-4": "client/elicitation",
    "UR-7": "client/elicitation",
    "VE-2": "server/discover",
}
"""The page of the specification that a rule stands on; none for a limit of ours."""
ADVICE: Mapping[str, str] = {
    "BA-1": gettext_noop("Answer each request with the id that it came with."),
    "EL-5": gettext_noop("Give every question a `message` that says what you need, and why."),
    "FM-5": gettext_noop("Never ask for passwords, keys or card numbers by form. Ask people to open a page of yours."),
    "FM-6": gettext_noop("Send a `requestedSchema` of type object, with fields that a person can fill in."),
    "HT-2": gettext_noop("Send `application/json` or `text/event-stream`, with one JSON-RPC answer to the request."),
    "HT-7": gettext_noop("Name the header once, with allowed characters, on a field of a plain type."),
    "HT-9": gettext_noop("Ask by a round (`resultType: input_required`), not by a request on the stream."),
    HTTP_STATUS: gettext_noop("Send a JSON-RPC error in the body, also where the HTTP status is not 200."),
    "LIST-ENTRY": gettext_noop("List each entry as an object with a name, and with a template that is one."),
    "LIST-TWICE": gettext_noop("Give each entry of a listing a name of its own."),
    "LIST-SIZE": gettext_noop("List fewer entries, or offer resources by templates."),
    "MR-11": gettext_noop("Ask for more only on `tools/call`, `prompts/get` and `resources/read`."),
    "MR-12": gettext_noop("Use `complete` or `input_required`."),
    "MR-13": gettext_noop("Send `inputRequests` as an object, `requestState` as a text, or both."),
    "MR-14": gettext_noop("Ask only for what the capabilities of that very request declare."),
    "PG-1": gettext_noop("Send each listing as a list, and a `nextCursor` only where there is more to come."),
    "ROUND-SIZE": gettext_noop("Spread the questions over several rounds."),
    "SA-1": gettext_noop("Leave `includeContext` out, or set it to `none`."),
    "SA-3": gettext_noop("Send `maxTokens`, a whole number above zero."),
    "SA-5": gettext_noop("Send `messages` as a list of messages, each with a role and its content."),
    "SA-6": gettext_noop("Leave `tools` out where the client has not declared them."),
    "STATE-SIZE": gettext_noop("Keep what is large on the server, and send a short token for it."),
    "TO-4": gettext_noop("Send `structuredContent` that fits the `outputSchema`, or change the schema."),
    "UR-4": gettext_noop("Send the address as `url`."),
    "UR-7": gettext_noop("Use a plain https address, without a name or password in it."),
    "VE-2": gettext_noop("List at least one revision in `supportedVersions`."),
}


@dataclass(frozen=True, slots=True)
class Rule:
    """One rule in the reader's language. `link` is where the specification says it; "" for a limit of ours."""

    id: str
    meaning: str
    advice: str
    link: str


def key(rule: str) -> str:
    """The id that a rule is explained under: HT-status for HT-404."""
    return HTTP_STATUS if re.fullmatch(r"HT-[34]\d\d", rule) else rule


def rule(name: str) -> Rule:
    """The rule with this id, as it is explained."""
    known = key(name)
    advice, page = ADVICE.get(known), PAGES.get(known)
    return Rule(name, _(MEANINGS[known]), _(advice) if advice else "", SPECIFICATION + page if page else "")


def rules() -> list[Rule]:
    """All of them, by id."""
    return [rule(name) for name in sorted(MEANINGS)]


def meaning(rule: str) -> str:
    """The sentence for a rule's id."""
    return _(MEANINGS[key(rule)])
