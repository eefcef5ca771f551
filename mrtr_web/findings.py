"""What each finding means, for the people who run this app and the server. docs/conformance.md says the same."""

import re
from collections.abc import Mapping

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
        "A listing had an entry that is no object, has no name, or has a template that is none; it is hidden."
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


def meaning(rule: str) -> str:
    """The sentence for a rule's id."""
    return _(MEANINGS[HTTP_STATUS if re.fullmatch(r"HT-[34]\d\d", rule) else rule])
