"""What a form is made of: a tree of FieldSpecs, and what was typed into one of them."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import Enum, StrEnum
from typing import Any, Final, TypeAlias

Json: TypeAlias = None | bool | int | float | str | list[Any] | dict[str, Any]
Schema: TypeAlias = Mapping[str, Any]

MAX_FIELDS = 200
MAX_OPTIONS = 5_000
MAX_LISTED = 100
"""Options of a choice that are listed; more are searched."""
MAX_BYTES = 256 * 1024
MAX_DEPTH = 32
MAX_FILE_BYTES = 1024 * 1024
MAX_FILES_BYTES = 2 * MAX_FILE_BYTES
"""Of all files of one form: they come back with each post."""
FILE_LEFT_OUT = "#"
"""Stands for the bytes of a file that was too large."""


class Absent(Enum):
    """No value at all: neither null nor an empty text."""

    ABSENT = "absent"

    def __bool__(self) -> bool:
        return False


ABSENT: Final = Absent.ABSENT


class Kind(StrEnum):
    TEXT = "text"
    LONG_TEXT = "long_text"
    EMAIL = "email"
    URI = "uri"
    UUID = "uuid"
    DATE = "date"
    TIME = "time"
    DATE_TIME = "date_time"
    FILE = "file"
    NUMBER = "number"
    INTEGER = "integer"
    BOOLEAN = "boolean"
    CHOICE = "choice"
    CHOICES = "choices"
    FIXED = "fixed"
    """The one value that the schema allows, where nobody needs to be asked."""
    JSON = "json"
    GROUP = "group"
    LIST = "list"
    TUPLE = "tuple"
    MAP = "map"
    """An object whose keys the person names."""
    UNION = "union"


CAN_HOLD_SECRETS = frozenset({Kind.TEXT, Kind.LONG_TEXT, Kind.UUID, Kind.FILE, Kind.NUMBER, Kind.INTEGER})
NESTED = frozenset({Kind.GROUP, Kind.LIST, Kind.TUPLE, Kind.MAP, Kind.UNION})
"""Kinds that are made of other parts."""


@dataclass(frozen=True, slots=True, repr=False)
class Option:
    value: Json
    label: str


@dataclass(slots=True)
class Parts:
    """What a nested part is made of, read when it is first looked at: a schema may lead back to itself."""

    read: Callable[[], "tuple[FieldSpec, ...]"]
    found: "tuple[FieldSpec, ...] | None" = None

    def __call__(self) -> "tuple[FieldSpec, ...]":
        if self.found is None:
            self.found = self.read()
        return self.found


def no_parts() -> Parts:
    return Parts(tuple)


@dataclass(frozen=True, slots=True, repr=False)
class FieldSpec:
    """One part of a form. Its texts are the server's, raw: clean them (text.clean_text) before showing them."""

    key: str
    kind: Kind
    title: str
    description: str = ""
    required: bool = False
    default: Json | Absent = ABSENT
    min_length: int | None = None
    max_length: int | None = None
    minimum: int | float | None = None
    maximum: int | float | None = None
    min_items: int | None = None
    max_items: int | None = None
    options: tuple[Option, ...] = ()
    nullable: bool = False
    """null is an answer: what a required field that was left empty sends."""
    json_type: str = ""
    """JSON fields: "object" or "array" where the schema asks for one."""
    secret: bool = False
    deprecated: bool = False
    examples: tuple[str, ...] = ()
    above: int | float | None = None
    below: int | float | None = None
    step: int | float | None = None
    format: str = ""
    """Of a text, as the schema names it."""
    media: str = ""
    """The type of a file."""
    rest: bool = False
    """A map of a group's further keys: its entries stand in the group's own object."""
    parts: Parts = field(default_factory=no_parts, compare=False, repr=False)
    """A group's members, a tuple's positions, a union's branches, the one part that a list or map repeats."""

    def at_key(self, key: str) -> "FieldSpec | None":
        """What stands under this key of an object: a member, else what further keys hold. Raises SchemaTooLarge."""
        if self.kind is Kind.MAP:
            return self.parts()[0]
        members = self.parts() if self.kind is Kind.GROUP else ()
        named = next((member for member in members if member.key == key and not member.rest), None)
        return named or next((member.at_key(key) for member in members if member.rest), None)

    @property
    def is_searched(self) -> bool:
        """Whether there are too many options to read: the person types a part of one and picks it."""
        return self.kind is Kind.CHOICE and len(self.options) > MAX_LISTED

    @property
    def may_be_empty(self) -> bool:
        return self.nullable or not self.required

    @property
    def needs_answer(self) -> bool:
        """Whether it is refused when it is left empty: no option at all is an answer where no number is asked."""
        return not self.may_be_empty and not (self.kind is Kind.CHOICES and not self.min_items)

    @property
    def may_be_blank(self) -> bool:
        """Whether an empty text is an answer, if it is meant."""
        return self.kind in (Kind.TEXT, Kind.LONG_TEXT) and not self.min_length


@dataclass(frozen=True, slots=True, repr=False)
class FormSpec:
    """A form: one part that holds all others. `skipped`: optional keys that got no field."""

    root: FieldSpec
    skipped: tuple[str, ...] = ()
    may_be_json: bool = False
    """Whether parts of it may be written as JSON, and values that no field shows are."""
    unanswerable: tuple[str, ...] = ()
    """Required keys for which there is no field: this form cannot be accepted, only declined or left."""

    @property
    def fields(self) -> tuple[FieldSpec, ...]:
        """The members of the root, where it is an object with fixed keys."""
        return self.root.parts() if self.root.kind is Kind.GROUP else ()


def flat(fields: tuple[FieldSpec, ...]) -> FieldSpec:
    """The root of a form with just these fields."""
    return FieldSpec("", Kind.GROUP, "", required=True, parts=Parts(lambda: fields))


@dataclass(frozen=True, slots=True, repr=False)
class Typed:
    """What a person typed or chose in one field, exactly as posted. Each kind reads the parts it needs."""

    text: str = ""
    chosen: tuple[str, ...] = ()
    """Indexes of options (choices)."""
    zone: str = ""
    """IANA name of the zone of a local date and time."""
    fold: str = ""
    """Which of a doubled time's two offsets is meant, such as "+02:00"."""
    blank: bool = False
    """Left empty on purpose: send an empty text or list rather than nothing."""
    file: str = ""
    """Name of the file whose bytes the text holds."""


class SchemaFault(Exception):
    """A schema that cannot be used. `code` is a key of sentences.SENTENCES."""

    def __init__(self, code: str, **params: object) -> None:
        super().__init__(code)
        self.code = code
        self.params = params


class SchemaTooLarge(SchemaFault):
    """A schema past one of our limits."""
