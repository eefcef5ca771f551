"""Words for the codes of ours that records are made of: events, states, outcomes, kinds of steps, spans of time."""

from collections.abc import Iterable, Mapping, Sequence
from datetime import timedelta
from itertools import zip_longest
from typing import Any

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext, pgettext

from mrtr_web.flow import Act, Event, State
from mrtr_web.rounds import Action, Kind

Words = Mapping[Any, object]

EVENTS: Words = {
    Act.STARTED: gettext_lazy("Started"),
    Event.ASKED: gettext_lazy("The server asked"),
    Event.TOLD_TO_WAIT: gettext_lazy("The server said: not yet"),
    Event.CALLED_AGAIN: gettext_lazy("Called again"),
    Event.ANSWERED: gettext_lazy("The person answered"),
    Event.SENT_AGAIN: gettext_lazy("Sent again"),
    Event.NOT_SENT: gettext_lazy("Could not be sent"),
    Event.LOST: gettext_lazy("The answer was lost"),
    Event.FINISHED: gettext_lazy("Finished"),
    Event.FAILED: gettext_lazy("Failed"),
    Event.STOPPED: gettext_lazy("Stopped"),
    Event.WITHDRAWN: gettext_lazy("Withdrawn"),
    Event.SESSION_ENDED: gettext_lazy("The session ended"),
    Act.REMINDED: gettext_lazy("The person was reminded"),
    Act.TAKEN: gettext_lazy("A reviewer took it"),
    Act.RELEASED: gettext_lazy("A reviewer let it go"),
    Act.SESSIONS_ENDED: gettext_lazy("Sessions were ended"),
    Act.CONNECTED: gettext_lazy("Signed in at the server"),
    Act.TOKEN_GIVEN: gettext_lazy("Gave a token for the server"),
    Act.SIGN_IN_DENIED: gettext_lazy("Said no to signing in at the server"),
    Act.SIGN_IN_FAILED: gettext_lazy("Could not sign in at the server"),
    Act.DISCONNECTED: gettext_lazy("Disconnected from the server"),
    Act.CONNECTION_LOST: gettext_lazy("Token dropped: of no use any more"),
    Act.SERVER_ADDED: gettext_lazy("Server registered"),
    Act.SERVER_CHANGED: gettext_lazy("Server changed"),
    Act.SERVER_REMOVED: gettext_lazy("Server removed"),
    Act.SERVER_ON: gettext_lazy("Server switched on"),
    Act.SERVER_OFF: gettext_lazy("Server switched off"),
}
STATES: Words = {
    State.RUNNING: gettext_lazy("With the server"),
    State.WAITING: gettext_lazy("With the person"),
    State.NOT_YET: gettext_lazy("Server not ready yet"),
    State.UNSENT: gettext_lazy("Not sent"),
    State.UNKNOWN: gettext_lazy("Interrupted"),
    State.COMPLETED: gettext_lazy("Finished"),
    State.FAILED: gettext_lazy("Failed"),
    State.STOPPED: gettext_lazy("Stopped"),
    State.WITHDRAWN: gettext_lazy("Withdrawn"),
    State.EXPIRED: gettext_lazy("Expired"),
}
KINDS: Words = {
    Kind.FORM: gettext_lazy("Form"),
    Kind.URL: gettext_lazy("Page to open"),
    Kind.SAMPLING: gettext_lazy("Text to write"),
    Kind.ROOTS: gettext_lazy("Folders to name"),
}
ACTIONS: Words = {
    Action.ACCEPT: gettext_lazy("answered"),
    Action.DECLINE: gettext_lazy("declined"),
    Action.CANCEL: gettext_lazy("left undecided"),
}
WARNINGS: Words = {
    "secret": gettext_lazy("Asks for a secret by form"),
    "url": gettext_lazy("Suspicious address to open"),  # of a round that was asked before reasons were kept
    "url:foreign_letters": gettext_lazy("Suspicious address: letters from other alphabets"),
    "url:bare_address": gettext_lazy("Suspicious address: a bare number instead of a name"),
    "url:not_encrypted": gettext_lazy("Suspicious address: not encrypted"),
    "url:insecure": gettext_lazy("Address refused (UR-7): not encrypted"),
    "url:scheme": gettext_lazy("Address refused (UR-7): not of a web page"),
    "url:characters": gettext_lazy("Address refused (UR-7): hidden or forbidden characters"),
    "url:host": gettext_lazy("Address refused (UR-7): does not say plainly where it leads"),
    "url:malformed": gettext_lazy("Address refused (UR-7): not a proper one"),
    "url:too_long": gettext_lazy("Address refused (UR-7): too long"),
    "many_rounds": gettext_lazy("Many rounds"),
}
OUTCOMES: Words = {
    "done": gettext_lazy("Finished"),
    "tool_error": gettext_lazy("Finished with an error"),
    "odd_result": gettext_lazy("Finished, not as announced"),
    "asked": gettext_lazy("Asked for more"),
    "state_only": gettext_lazy("Not ready yet"),
    "step_expired": gettext_lazy("The step had expired"),
    "too_many_rounds": gettext_lazy("Too many rounds"),
    "legacy": gettext_lazy("Speaks only an older version"),
    "refused": gettext_lazy("Nothing listens at the address"),
    "dns": gettext_lazy("The name was not found"),
    "tls": gettext_lazy("No secure connection"),
    "blocked": gettext_lazy("The address is not allowed"),
    "connect_timeout": gettext_lazy("No connection in time"),
    "proxy": gettext_lazy("The way out, a proxy, is not there"),
    "proxy_login": gettext_lazy("The proxy does not accept this app"),
    "proxy_refused": gettext_lazy("The proxy did not lead there"),
    "credential": gettext_lazy("Credentials cannot be had"),
    "unauthorized": gettext_lazy("Credentials not accepted"),
    "forbidden": gettext_lazy("Not allowed by the server"),
    "too_many": gettext_lazy("Too many requests"),
    "killed": gettext_lazy("This app was restarted"),
    "database": gettext_lazy("The database was away"),
    "unsendable": gettext_lazy("Cannot be put into a message"),
    "switched_off": gettext_lazy("The server is switched off"),
    "moved": gettext_lazy("The address was changed"),
    "cut": gettext_lazy("The connection broke"),
    "timeout": gettext_lazy("The server took too long"),
    "too_big": gettext_lazy("The answer was too large"),
    "encoding": gettext_lazy("The answer could not be read"),
    "server_error": gettext_lazy("A fault of the server"),
    "lease": gettext_lazy("This app was interrupted"),
}


def word(words: Words, code: str) -> str:
    """The words for a code; the code itself where there are none."""
    return str(words.get(code, code))


def outcome(code: str) -> str:
    """How a leg ended; for a broken rule or an error with its id."""
    kind, _colon, detail = code.partition(":")
    if kind == "broken":
        return _("Broke the rule %(rule)s") % {"rule": detail}
    if kind == "refused" and detail:
        return _("The server refused (%(code)s)") % {"code": detail}
    return word(OUTCOMES, code)


def listed(words: Iterable[str]) -> str:
    """One after the other, with what the language puts between them."""
    return pgettext("between two of a list", ", ").join(words)


def counted(kinds: Mapping[str, int]) -> str:
    """What was asked, by how many of each kind."""
    return listed(_counted(kind, count) for kind, count in kinds.items())


def _counted(kind: str, count: int) -> str:
    match kind:
        case Kind.FORM:
            words = ngettext("one form", "%(count)d forms", count)
        case Kind.URL:
            words = ngettext("one page to open", "%(count)d pages to open", count)
        case Kind.SAMPLING:
            words = ngettext("one text to write", "%(count)d texts to write", count)
        case _:
            words = ngettext("folders to name", "folders to name, %(count)d times", count)
    return words % {"count": count}


def steps(kinds: Sequence[str], actions: Sequence[str]) -> str:
    """What was asked, and what the person did with each; nothing yet where there are no actions."""
    return listed(_step(kind, action) for kind, action in zip_longest(kinds, actions, fillvalue=""))


def _step(kind: str, action: str) -> str:
    if not action:
        return word(KINDS, kind)
    return _("%(kind)s: %(action)s") % {"kind": word(KINDS, kind), "action": word(ACTIONS, action)}


def span(time: timedelta) -> str:
    """A span of time in the two units that matter."""
    seconds = int(time.total_seconds())
    minutes, hours, days = seconds // 60, seconds // 3600, seconds // 86400
    if days:
        whole = ngettext("%(n)d day", "%(n)d days", days) % {"n": days}
        return _("%(days)s %(hours)d h") % {"days": whole, "hours": hours % 24}
    if hours:
        return _("%(hours)d h %(minutes)d min") % {"hours": hours, "minutes": minutes % 60}
    if minutes:
        return _("%(minutes)d min %(seconds)d s") % {"minutes": minutes, "seconds": seconds % 60}
    return _("%(seconds)d s") % {"seconds": seconds} if seconds else _("under 1 s")
