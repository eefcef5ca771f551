"""What people read for the options of a choice."""

from mrtr_web.schema.spec import FieldSpec
from mrtr_web.schema.text import clean_text, one_line

EMPTY = '""'
MAX_LABEL = 300
"""Characters of a label or an option."""


def labels(spec: FieldSpec) -> dict[str, str]:
    """The index of each option, as posted, by its label. What reads alike is numbered; what is blank is quoted."""
    read = [one_line(clean_text(option.label, MAX_LABEL)) or EMPTY for option in spec.options]
    taken, found = set(read), dict[str, str]()
    for index, label in enumerate(read):
        number, name = index + 1, label
        while name in found or (name != label and name in taken):
            name, number = f"{label} ({number})", number + 1
        found[name] = str(index)
    return found
