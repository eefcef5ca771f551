"""Where the lines of a timeline go in its picture: numbers alone. The order counts, not the scale of the times."""

from dataclasses import dataclass

from mrtr_web.timeline import Row, Side, Timeline

WIDTH = 400
LINES = {Side.PERSON: 82, Side.APP: 222, Side.SERVER: 362}
"""Where each lifeline is, from the left."""
TOP = 32
"""Where the lifelines begin, under their names."""
FIRST = 72
STEP = 52
"""From one row to the next: room for its words and for the time that follows."""
LABEL = 7
"""How far words are above their arrow."""
HEAD = 8
BAR = 8
"""Width of the bar of who has the turn."""
SPENT = 28
"""How far the words for the time are below the arrow."""


@dataclass(frozen=True, slots=True)
class Arrow:
    start: int
    end: int
    head: str
    """Corners of its head."""


@dataclass(frozen=True, slots=True)
class Bar:
    """Who has the turn until the next row, and where the words for the time go."""

    x: int
    y: int
    height: int
    text_x: int
    text_y: int
    anchor: str


@dataclass(frozen=True, slots=True)
class Line:
    row: Row
    y: int
    label_x: int
    label_y: int
    arrow: Arrow | None
    bar: Bar | None


@dataclass(frozen=True, slots=True)
class Drawing:
    timeline: Timeline
    lines: tuple[Line, ...]
    height: int
    width: int = WIDTH
    top: int = TOP
    person: int = LINES[Side.PERSON]
    app: int = LINES[Side.APP]
    server: int = LINES[Side.SERVER]


def drawn(timeline: Timeline) -> Drawing:
    """The picture of a timeline."""
    lines = tuple(_line(row, FIRST + number * STEP) for number, row in enumerate(timeline.rows))
    return Drawing(timeline, lines, FIRST + len(lines) * STEP)


def _line(row: Row, y: int) -> Line:
    ends = row.arrow or (Side.APP, Side.APP)
    start, end = (LINES[side] for side in ends)
    label_x = (start + end) // 2 if abs(end - start) < LINES[Side.SERVER] - LINES[Side.PERSON] else _beside(start, end)
    return Line(row, y, label_x, y - LABEL, _arrow(start, end, y) if row.arrow else None, _bar(row, y))


def _beside(start: int, end: int) -> int:
    """The middle of the half that an arrow over all three begins in: its words keep off the app's line."""
    return (start + (start + end) // 2) // 2


def _arrow(start: int, end: int, y: int) -> Arrow:
    back = end - HEAD if end > start else end + HEAD
    return Arrow(start, end, f"{end},{y} {back},{y - HEAD // 2} {back},{y + HEAD // 2}")


def _bar(row: Row, y: int) -> Bar | None:
    if row.turn is None:
        return None
    x, is_last = LINES[row.turn], row.turn is Side.SERVER  # beyond the last line there is no room for words
    return Bar(x - BAR // 2, y, STEP, x - BAR if is_last else x + BAR, y + SPENT, "end" if is_last else "start")
