"""What people read for the options of a choice."""

from mrtr_web.schema.spec import FieldSpec
from mrtr_web.schema.text import clean_text, one_line

EMPTY = '""'
MAX_LABEL = 300
"""Characters of a label or an option."""


def labels(spec: FieldSpec) -> dict[str, str]:
    """The index of each option, as posted, by its label. What reads alike is numbered; what is blank is quoted."""
    found: dict[str, str] = {}
    for index, option in enumerate(spec.options):
        label = one_line(clean_text(option.label, MAX_LABEL)) or EMPTY
        found[label if label not in found else f"{label} ({index + 1})"] = str(index)
    return found
