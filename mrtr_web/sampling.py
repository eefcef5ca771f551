"""A sampling step: what the server wants to be written, and a person's reply as a CreateMessageResult (SA-1 to SA-8).

The server wants text of a language model; here a person writes or pastes it, and the result says so.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from typing_extensions import TypeIs

HUMAN = "human"
"""The model that a reply names unless the person says that another one wrote it (T-16)."""
NO_LIMIT = 10**9
"""So many tokens or more are no limit to a person."""
_TOOL_BLOCKS = frozenset({"tool_use", "tool_result"})
Object = dict[str, Any]


class Unusable(Exception):
    """No reply can be given to this request. `rule` is the id of the rule that it breaks."""

    def __init__(self, rule: str) -> None:
        super().__init__(rule)
        self.rule = rule


@dataclass(frozen=True, slots=True)
class Wanted:
    """What a person needs to know to write the reply. All texts are the server's."""

    system: str
    max_tokens: int | None
    models: tuple[str, ...]
    """Names or parts of names of models, the most wanted first (SA-4)."""

    @property
    def about_words(self) -> int | None:
        """About so many words of English are as long as max_tokens, by a rule of thumb."""
        return None if self.max_tokens is None else max(1, self.max_tokens * 3 // 4)


def faults(params: object) -> list[str]:
    """The rules that a request breaks although it can be replied to. Raises Unusable.

    Tools are never declared (SA-6), and neither are the contexts of other servers, which are left out (SA-1).
    """
    if not isinstance(params, Mapping) or not isinstance(params.get("messages"), list):
        raise Unusable("SA-5")
    if params.get("tools") or params.get("toolChoice") or not _TOOL_BLOCKS.isdisjoint(_block_types(params["messages"])):
        raise Unusable("SA-6")
    found = []
    if params.get("includeContext") not in (None, "none"):
        found.append("SA-1")
    if not _is_count(params.get("maxTokens")):
        found.append("SA-3")
    if any(not _is_message(message) for message in params["messages"]):
        found.append("SA-5")
    return found


def wanted(params: Mapping[str, Any]) -> Wanted:
    """Read a request that faults() let pass."""
    system = params.get("systemPrompt")
    preferences = params.get("modelPreferences")
    hints = preferences.get("hints") if isinstance(preferences, Mapping) else None
    return Wanted(
        system if isinstance(system, str) else "",
        _max_tokens(params),
        tuple(_names(hints)),
    )


def is_too_long(text: str, max_tokens: int | None) -> bool:
    """Whether a text surely has more tokens than asked for: each word is at least one (SA-3)."""
    return max_tokens is not None and len(text.split()) > max_tokens


def reply(text: str, model: str) -> Object:
    """The CreateMessageResult."""
    return {
        "role": "assistant",
        "content": {"type": "text", "text": text},
        "model": model,
        "stopReason": "endTurn",
    }


def replied(answer: Mapping[str, Any]) -> Object:
    """The text and the model of an earlier reply, to be edited."""
    content = answer.get("content")
    text = content.get("text") if isinstance(content, Mapping) else None
    return {"text": text or "", "model": answer.get("model") or HUMAN}


def _max_tokens(params: Mapping[str, Any]) -> int | None:
    value = params.get("maxTokens")
    return value if _is_count(value) and value < NO_LIMIT else None


def _is_count(value: object) -> TypeIs[int]:
    return isinstance(value, int) and not isinstance(value, bool) and value > 0


def _is_message(message: object) -> bool:
    return (
        isinstance(message, Mapping)
        and message.get("role") in ("user", "assistant")
        and isinstance(message.get("content"), Mapping | list)
    )


def _block_types(messages: Iterable[object]) -> set[object]:
    contents = [message.get("content") for message in messages if isinstance(message, Mapping)]
    blocks = [block for content in contents for block in (content if isinstance(content, list) else [content])]
    return {str(block.get("type")) for block in blocks if isinstance(block, Mapping)}


def _names(hints: object) -> Iterable[str]:
    for hint in hints if isinstance(hints, list) else ():
        name = hint.get("name") if isinstance(hint, Mapping) else None
        if isinstance(name, str) and name:
            yield name
