"""Changes to the shape of a form that is being filled in: from what was posted to what is drawn next.

Nothing that was typed is judged here, and nothing is lost but what was taken away on purpose.
"""

import re
from dataclasses import replace

from mrtr_web.schema.drawing import Drawing
from mrtr_web.schema.invalid import Invalid
from mrtr_web.schema.jsontext import read_json, write_json
from mrtr_web.schema.places import ROOT, Place, Posted, as_posted, plainly, walk
from mrtr_web.schema.spec import Absent, FieldSpec, FormSpec, Json, Kind, Typed

_TYPED_IN = frozenset(
    {Kind.NUMBER, Kind.INTEGER, Kind.EMAIL, Kind.URI, Kind.UUID, Kind.DATE, Kind.TIME, Kind.DATE_TIME}
)
"""Fields in which a text can stand that is no answer; in others each text is one."""
_DO = re.compile(r"(add|remove|branch|json|form) (f[0-9]*(?:-b?[0-9]+)*)")


def edited(spec: FormSpec, posted: Posted, do: str) -> Posted:
    """What is posted for the form after `do`, a verb and a place's name; as it was where that makes no sense.

    Raises Invalid where a JSON text cannot become fields again, and SchemaTooLarge.
    """
    match = _DO.fullmatch(do)
    root = Drawing(json=True).posted(spec.root, posted)
    place = next((each for each in walk(root) if match and each.name == match[2]), None)
    if match is None or place is None:
        return posted
    above = next((each for each in walk(root) if each.repeats and place in each.parts), None)
    match match[1]:
        case "add" if place.may_go or place.repeats:
            return _added(place, posted)
        case "remove" if above is not None:
            return _without_entry(above, place, posted)
        case "remove" if place.may_go:
            return _replaced(posted, place.name, {})
        case "json" if not place.is_leaf:
            return _replaced(posted, place.name, _as_json(place))
        case "form" if place.instead_of is not None:
            return _replaced(posted, place.name, as_posted(_as_fields(place)))
    return posted


def _added(place: Place, posted: Posted) -> Posted:
    if place.may_go:
        return {**posted, f"{place.name}-in": ["new"]}
    return {**posted, f"{place.name}-items": [*posted.get(f"{place.name}-items", ()), place.next_id()]}


def _without_entry(above: Place, place: Place, posted: Posted) -> Posted:
    ids = [part.entry_id for part in above.parts if part is not place]
    return {**_replaced(posted, place.name, {}), f"{above.name}-items": ids}


def _replaced(posted: Posted, name: str, by: Posted) -> Posted:
    """Without everything that was posted for a place, and with something else for it."""
    start = name if name == ROOT else f"{name}-"
    return {each: given for each, given in posted.items() if each != name and not each.startswith(start)} | dict(by)


def _as_json(place: Place) -> Posted:
    value = plainly(place)
    text = "" if isinstance(value, Absent) else write_json(value)
    return {place.name: [text], f"{place.name}-as": ["json"]}


def _as_fields(place: Place) -> Place:
    spec = place.instead_of or place.spec
    if not place.typed.text:
        return Drawing(json=True).fresh(spec, place.name)
    value = read_json(place.typed.text)
    drawn = _softened(Drawing(json=True).value(spec, value, place.name))
    if drawn.spec.kind != spec.kind:
        raise Invalid("json_no_form", names=", ".join(_unknown(spec, value)) or "{}")
    return drawn


def _softened(place: Place) -> Place:
    """What is nearly a value, such as a text for a number, stands in its field as if it had been typed there."""
    if place.spec.kind is Kind.UNION:  # it was chosen because it gives the value back as it is
        return place
    place.parts = tuple(map(_softened, place.parts))
    meant = place.instead_of
    if meant is None or meant.kind not in _TYPED_IN:
        return place
    value = read_json(place.typed.text) if place.typed.text else None
    if isinstance(value, bool | list | dict) or (value is None and meant.nullable):
        return place
    text = value if isinstance(value, str) else "" if value is None else write_json(value)
    return replace(place, spec=meant, instead_of=None, typed=Typed(text))


def _unknown(spec: FieldSpec, value: Json) -> list[str]:
    known = {member.key for member in spec.parts()} if spec.kind is Kind.GROUP else set()
    return [key for key in value if key not in known] if isinstance(value, dict) else []
