"""Dates, and local times that become RFC 3339 with the offset of a named zone."""

import re
from datetime import UTC, date, datetime, time, timedelta
from functools import cache
from zoneinfo import ZoneInfo, available_timezones

from mrtr_web.schema.invalid import Invalid

_DATE = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")
_TIME = re.compile(r"([0-9]{2}:[0-9]{2}(?::[0-9]{2})?)(?:\.[0-9]+)?([Zz]|[+-]([01][0-9]|2[0-3]):[0-5][0-9])?")
_LOCAL = re.compile(r"([0-9]{4}-[0-9]{2}-[0-9]{2})[T ]([0-9]{2}:[0-9]{2})(:[0-9]{2})?(\.[0-9]+)?")
_WITH_OFFSET = re.compile(
    r"([0-9]{4}-[0-9]{2}-[0-9]{2})[Tt]([0-9]{2}:[0-9]{2}):([0-9]{2})(?:\.[0-9]+)?"
    r"(?:[Zz]|([+-])([01][0-9]|2[0-3]):([0-5][0-9]))"
)
_CONTINENTS = "Africa America Antarctica Arctic Asia Atlantic Australia Europe Indian Pacific"


@cache
def zones() -> tuple[str, ...]:
    """The zones to choose from: places, and UTC. Old names such as US/Eastern are known but not offered."""
    places = (name for name in available_timezones() if name.split("/")[0] in _CONTINENTS.split())
    return ("UTC", *sorted(places))


@cache
def _known() -> frozenset[str]:
    return frozenset(available_timezones())


def read_date(text: str) -> str:
    if not _DATE.fullmatch(text):
        raise Invalid("date")
    try:
        date.fromisoformat(text)
    except ValueError:
        raise Invalid("date") from None
    return text


def read_time(text: str) -> str:
    """A time of day as typed: with or without seconds, with or without an offset."""
    clock = _TIME.fullmatch(text)
    try:
        time.fromisoformat(clock[1] if clock else "")
    except ValueError:
        raise Invalid("time") from None
    return text


def read_date_time(text: str, zone: str, fold: str = "") -> str:
    """RFC 3339. Text with its own offset stays as typed; else the zone gives the offset.

    A time that the clocks skip is refused. One that comes twice needs `fold`, one of offsets().
    """
    if has_offset(text):
        return text
    local, clock = _local(text)
    place = _zone(zone)
    found = _offsets(local, place)
    if not found:
        raise Invalid("time_skipped", zone=zone)
    if len(found) > 1 and fold not in map(offset_text, found):
        raise Invalid("time_twice", zone=zone)
    chosen = next((offset for offset in found if offset_text(offset) == fold), found[0])
    if chosen.seconds % 60:  # before standard time; RFC 3339 has no seconds in an offset, but UTC is exact
        return f"{(local - chosen).isoformat(timespec='seconds')}{clock[8:]}Z"
    return f"{local.date().isoformat()}T{clock}{'Z' if zone == 'UTC' else offset_text(chosen)}"


def offsets(text: str, zone: str) -> tuple[str, ...]:
    """The two offsets of a time that comes twice in this zone, the earlier first; () for other text."""
    try:
        found = _offsets(_local(text)[0], _zone(zone))
    except Invalid:
        return ()
    return tuple(map(offset_text, found)) if len(found) > 1 else ()


def localised(text: str, zone: str) -> tuple[str, str]:
    """The local time and the zone, of `zone` and UTC, that give exactly this date-time; itself and `zone` for none."""
    for each in (zone, "UTC"):
        local = text.removesuffix("Z").removesuffix("z") if each == "UTC" else text[:-6]
        try:
            if has_offset(text) and read_date_time(local, each, text[-6:]) == text:
                return local, each
        except Invalid:
            continue
    return text, zone


def offset_text(offset: timedelta) -> str:
    seconds = int(offset.total_seconds())
    sign, seconds = ("-", -seconds) if seconds < 0 else ("+", seconds)
    text = f"{sign}{seconds // 3600:02}:{seconds // 60 % 60:02}"
    return f"{text}:{seconds % 60:02}" if seconds % 60 else text


def is_local(text: str) -> bool:
    """Whether a browser's own date and time control can hold this text."""
    return _LOCAL.fullmatch(text) is not None


def is_clock(text: str) -> bool:
    """Whether a browser's own time control can hold this text."""
    clock = _TIME.fullmatch(text)
    return clock is not None and not clock[2]


def has_offset(text: str) -> bool:
    """A real RFC 3339 date-time. A leap second is real at the end of a UTC day only."""
    match = _WITH_OFFSET.fullmatch(text)
    if match is None:
        return False
    day, minute, second, sign, hours, minutes = match.groups()
    try:
        moment = datetime.fromisoformat(f"{day}T{minute}:{'59' if second == '60' else second}")
        offset = timedelta(hours=int(hours or 0), minutes=int(minutes or 0))
        utc = moment + offset if sign == "-" else moment - offset
    except (ValueError, OverflowError):
        return False
    return second != "60" or (utc.hour, utc.minute) == (23, 59)


def _local(text: str) -> tuple[datetime, str]:
    """The moment without fraction, and the clock's text with seconds and fraction."""
    match = _LOCAL.fullmatch(text)
    if match is None or (match[4] and not match[3]):
        raise Invalid("date_time")
    clock = f"{match[2]}{match[3] or ':00'}"
    try:
        return datetime.fromisoformat(f"{match[1]}T{clock}"), f"{clock}{match[4] or ''}"
    except ValueError:
        raise Invalid("date_time") from None


def _zone(name: str) -> ZoneInfo:
    if name not in _known():
        raise Invalid("zone_unknown")
    return ZoneInfo(name)


def _offsets(local: datetime, zone: ZoneInfo) -> tuple[timedelta, ...]:
    """No offset for a skipped time, two for a doubled one."""
    found = []
    try:
        for fold in (0, 1):
            aware = local.replace(tzinfo=zone, fold=fold)
            offset = aware.utcoffset()
            back = aware.astimezone(UTC).astimezone(zone)
            if offset is not None and back.replace(tzinfo=None, fold=0) == local and offset not in found:
                found.append(offset)
    except OverflowError:
        raise Invalid("date_time") from None
    return tuple(found)
