"""CSV that is safe to open in a spreadsheet: no cell is a formula, no cell breaks the line, numbers stay numbers.

UTF-8 with a byte order mark, without which Excel takes it for another encoding.
"""

import csv
import io
import re
from collections.abc import Iterable

from mrtr_web.schema.text import clean_text, one_line

Cell = str | int | float | None

_FORMULA = re.compile(r"""(^|[,;|])([\s"'`\u2018-\u201f]*)(?=[=+\-@\uff1d\uff0b\uff0d\uff20\u2212])""")
"""What could begin a formula, at the start or where a reader that splits at other characters sees a start."""


def start(columns: Iterable[str]) -> bytes:
    """The byte order mark and the line of headings."""
    return b"\xef\xbb\xbf" + line(columns)


def line(cells: Iterable[Cell]) -> bytes:
    """One line: texts in quotes, numbers without."""
    written = io.StringIO()
    csv.writer(written, quoting=csv.QUOTE_NONNUMERIC).writerow(
        ["" if cell is None else safe(cell) if isinstance(cell, str) else cell for cell in cells]
    )
    return written.getvalue().encode()


def safe(text: str) -> str:
    """The text on one line, with hidden characters shown, and with an apostrophe before what could be a formula."""
    return _FORMULA.sub(r"\1'\2", one_line(clean_text(text)))
