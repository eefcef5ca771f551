"""Answers as they are read back before they are sent: in words, and exactly where the words leave something open."""

from dataclasses import dataclass
from datetime import date, datetime

from django.utils import dateformat
from django.utils.translation import gettext as _

from mrtr_web.schema import dates
from mrtr_web.schema.jsontext import write_json
from mrtr_web.schema.labels import EMPTY, labels
from mrtr_web.schema.parse import shown
from mrtr_web.schema.spec import FieldSpec, Json, Kind, Typed
from mrtr_web.schema.text import clean_text


@dataclass(frozen=True, slots=True, repr=False)
class Row:
    """One line of a page that reads the answers back."""

    name: str
    id: str
    """Of the first control: where a Change link leads."""
    label: str
    words: tuple[str, ...]
    """The answer as people read it: one entry, or one for each choice. Control characters are made visible."""
    exact: str
    """What is sent, where the words leave it open: a text as it is, anything else as JSON."""
    sent: bool
    secret: bool


def labelled(spec: FieldSpec) -> list[tuple[str, str]]:
    """The options of a choice: what a browser posts for each, and what people read."""
    return [(index, _("(empty text)") if label == EMPTY else label) for label, index in labels(spec).items()]


def _written(value: Json) -> str:
    return clean_text(value if isinstance(value, str) else write_json(value, indent=isinstance(value, dict)))


def told(spec: FieldSpec, value: Json, typed: Typed) -> tuple[tuple[str, ...], str]:
    """A value in words, and exactly where the words leave it open: “Yes” does not, the name of a zone does."""
    exact = _written(value) or '""'
    words = _words(spec, value, typed) or (exact,)
    plain = tuple(_written(entry) for entry in value) if isinstance(value, list) else (exact,)
    says_it_all = spec.kind in (Kind.BOOLEAN, Kind.DATE) or _is_nothing(spec, value)
    return words, "" if says_it_all or words in ((exact,), plain) else exact


def _is_nothing(spec: FieldSpec, value: Json) -> bool:
    """An empty value, which has words of ours; as an option it has those of the server."""
    return value in (None, "", []) and spec.kind is not Kind.CHOICE


def _words(spec: FieldSpec, value: Json, typed: Typed) -> tuple[str, ...]:
    """The words for a value; () where it reads as well as it stands."""
    if value is None or value == []:
        return (_("No value") if value is None else _("None of them, as an empty list"),)
    match spec.kind:
        case Kind.CHOICE | Kind.CHOICES:
            if spec.is_searched:
                return (shown(spec, value).text,)
            read, again = dict(labelled(spec)), shown(spec, value)
            return tuple(read[index] for index in again.chosen or (again.text,))
        case Kind.BOOLEAN:
            return (_("Yes") if value else _("No"),)
        case Kind.DATE:
            return (dateformat.format(date.fromisoformat(str(value)), _("j F Y")),)
        case Kind.DATE_TIME:
            return _moment(str(value), typed)
    return (_("An empty text"),) if value == "" else ()


def _moment(value: str, typed: Typed) -> tuple[str, ...]:
    """A date and time in the words of the zone that it was typed in."""
    try:
        moment = datetime.fromisoformat(value)
    except ValueError:  # a leap second
        return ()
    by_offset = value.endswith("Z") or dates.has_offset(typed.text)
    zone = moment.tzname() if by_offset else typed.zone.replace("_", " ")
    words = dateformat.format(moment, _("j F Y, H:i:s") if moment.second else _("j F Y, H:i"))
    return (f"{words} ({zone})",)
