"""The style guide: every component of the pages in every state, made with the templates and forms of the pages."""

import json
from typing import Any

from django.contrib.messages import SUCCESS, WARNING
from django.contrib.messages.storage.base import Message
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.http import require_safe

from mrtr_web import findings, queue, wording
from mrtr_web.flow import State
from mrtr_web.views import samples
from mrtr_web.views.connections import TokenForm
from mrtr_web.views.review import NoteForm, ReasonForm

Context = dict[str, Any]


@require_safe
def show(request: HttpRequest) -> HttpResponse:
    """For whoever asks, where the site is tried out: there is nothing of anybody's on it."""
    parts = [(name, f"styleguide/{name}.html", title) for name, title in _sections()]
    context = {"parts": parts} | _frame() | _wizard() | _catalogue() | _desk()
    return render(request, "styleguide/guide.html", context)


def _frame() -> Context:
    """The page around it is one of a reviewer who is staff, with something said at its top."""
    done = _("Removed. That the request was made stays on record, without its content.")
    late = _("This was already answered, perhaps in another tab. What you sent now was not used.")
    return {
        "user": samples.ADA,
        "perms": {"mrtr_web": {"review_flow": True}},
        "messages": [Message(SUCCESS, done), Message(WARNING, late)],
        "soon": {"near": True, "final": True, "at": samples.NOON},
    }


def _wizard() -> Context:
    asked, refused = samples.asked(), samples.refused()
    return {
        "server": samples.server(keep_messages=True),
        "off": samples.server(2, enabled=False),
        "flow": samples.flow(round=2, reminded_at=timezone.now()),
        "ended": samples.flow(State.COMPLETED, 2),
        "asked": [(samples.server(10 + page.number), page) for page in asked.pages],
        "asked_form": asked,
        "link": samples.link(),
        "refused": [(samples.server(20 + page.number), page) for page in refused.pages],
        "refused_form": refused,
        "checked": samples.checked(),
        "order": samples.order(),
        "typed": [{"name": "typed", "value": "2027-05-04", "shown": True}],
        "progress": {"progress": 2, "total": 5},
        "result": samples.result(),
        "announced": {},
        "raw_messages": [(True, json.dumps({"method": "tools/call"}, indent=2)), (False, json.dumps(samples.ANSWER))],
        "states": samples.states(),
        "listed": samples.listed(),
        "at": samples.NOON,
    }


def _catalogue() -> Context:
    tagged = samples.server(1, tags=["A", "B"], description=_("Books trips, and asks for what it needs to know."))
    return {
        "tagged": tagged,
        "servers": [tagged, *(samples.server(number) for number in (2, 3, 4, 6, 10))],  # an icon of each colour
        "tags": tagged.tags,
        "offered": samples.offered(),
        "recents": samples.used(),
        "lets_sign_in": samples.server(7, credential_kind="oauth"),
        "wants_token": (wants_token := samples.server(8, credential_kind="each")),
        "token": TokenForm(wants_token),
    }


def _desk() -> Context:
    pending, wish = samples.pending(), queue.Wish({"state": "waiting"}, [])
    trail = samples.wish()
    words = {"kind": "form", "key": "details", "message": "We need some details.", "titles": ["Full name", "Nights"]}
    return {
        "queue": pending,
        "row": pending.rows[0],
        "counts": [(state, words, 2 if state == State.WAITING else 0) for state, words in wording.STATES.items()],
        "wish": wish,
        "fields": [wish[name] for name in wish.SHOWN],
        "trail_fields": [trail[name] for name in trail.SHOWN],
        "audit": {"path": reverse("audit")},
        "reason": ReasonForm({}, auto_id="withdraw-%s"),
        "note": NoteForm(auto_id="take-%s"),
        "waits_for_person": True,
        "may_end_sessions": True,
        "rounds": samples.asked_so_far(),
        "kept": [(2, [words])],
        "drawing": samples.story(),
        "trail": samples.trail(),
        "rules": list(findings.rules())[:1],
    }


def _sections() -> list[tuple[str, object]]:
    """The parts of the guide, each a template of this name."""
    return [
        ("errors", _("Errors")),
        ("notices", _("Notices")),
        ("text", _("Headings and text")),
        ("buttons", _("Buttons and links")),
        ("steps", _("Steps")),
        ("fields", _("Fields with errors")),
        ("parts", _("Fields within fields")),
        ("check", _("Check your answers")),
        ("states", _("States")),
        ("waiting", _("Progress")),
        ("said", _("What a server says")),
        ("catalogue", _("Catalogue")),
        ("session", _("Your session")),
        ("desk", _("Review desk")),
        ("tables", _("Tables")),
    ]
