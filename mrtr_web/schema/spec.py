"""What a form is made of: one FieldSpec per property, and what was typed into it."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum, StrEnum
from typing import Any, Final, TypeAlias

Json: TypeAlias = None | bool | int | float | str | list[Any] | dict[str, Any]
Schema: TypeAlias = Mapping[str, Any]

MAX_FIELDS = 200
MAX_OPTIONS = 5_000
MAX_BYTES = 256 * 1024
MAX_DEPTH = 32


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
    DATE = "date"
    DATE_TIME = "date_time"
    NUMBER = "number"
    INTEGER = "integer"
    BOOLEAN = "boolean"
    CHOICE = "choice"
    CHOICES = "choices"
    JSON = "json"


@dataclass(frozen=True, slots=True)
class Option:
    value: Json
    label: str


@dataclass(frozen=True, slots=True)
class FieldSpec:
    """One field. Its texts are the server's, raw: clean them (text.clean_text) before showing them."""

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

    @property
    def may_be_empty(self) -> bool:
        return self.nullable or not self.required

    @property
    def needs_answer(self) -> bool:
        """Whether it is refused when it is left empty: an empty text is an answer where no length is asked."""
        may_be_blank = self.kind in (Kind.TEXT, Kind.LONG_TEXT, Kind.CHOICES) and not (
            self.min_length or self.min_items
        )
        return not self.may_be_empty and not may_be_blank


@dataclass(frozen=True, slots=True)
class FormSpec:
    """A form. `whole`: its one field is the whole value. `skipped`: optional keys that got no field."""

    fields: tuple[FieldSpec, ...]
    whole: bool = False
    skipped: tuple[str, ...] = ()
    unanswerable: tuple[str, ...] = ()
    """Required keys for which there is no field: this form cannot be accepted, only declined or left."""

    @property
    def secrets(self) -> frozenset[str]:
        """Keys of the fields that look secret."""
        return frozenset(field.key for field in self.fields if field.secret)


@dataclass(frozen=True, slots=True)
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
    posted: bool = True
    """Whether the field was in the form at all: nothing is sent for one that was not."""


class SchemaFault(Exception):
    """A schema that cannot be used. `code` is a key of sentences.SENTENCES."""

    def __init__(self, code: str, **params: object) -> None:
        super().__init__(code)
        self.code = code
        self.params = params


class SchemaTooLarge(SchemaFault):
    """A schema past one of our limits."""
