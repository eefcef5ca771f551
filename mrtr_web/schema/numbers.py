"""Numbers from text, exactly as typed or not at all."""

import re
from decimal import Decimal
from typing import NoReturn

from mrtr_web.schema.invalid import Invalid

MAX_DIGITS = 4_300  # Python's own limit for turning integers into text, which the wire needs
_NUMBER = re.compile(r"[+-]?([0-9]+(\.[0-9]*)?|\.[0-9]+)([eE][+-]?[0-9]{1,6})?")
_INTEGER = re.compile(r"[+-]?[0-9]+")
_NUMBER_LIKE = re.compile(r"[0-9.,eE+\-\s]+")


def read_integer(text: str) -> int:
    """A whole number of any size: "10.0" and "1e3" are whole, "1.5" is not."""
    decimal = _decimal(text, "integer")
    if decimal.adjusted() >= MAX_DIGITS:
        raise Invalid("number_long", maximum=MAX_DIGITS)
    whole = int(decimal)
    if whole != decimal:
        raise Invalid("integer")
    return whole


def read_number(text: str) -> int | float:
    """An integer where the text is one, else the float that has exactly the value typed."""
    decimal = _decimal(text, "number")
    if _INTEGER.fullmatch(text):
        return read_integer(text)
    number = float(text)
    if number in (float("inf"), float("-inf")) or (number == 0 and decimal != 0):
        raise Invalid("number_huge")
    if Decimal(repr(number)) != decimal:
        raise Invalid("number_inexact", nearest=repr(number))
    return number


def _decimal(text: str, code: str) -> Decimal:
    if not _NUMBER.fullmatch(text):
        _refuse(text, code)
    if len(text) > MAX_DIGITS + 10:
        raise Invalid("number_long", maximum=MAX_DIGITS)
    return Decimal(text)


def _refuse(text: str, code: str) -> NoReturn:
    """Say what is wrong with a number that is nearly one."""
    if any("0" <= c <= "9" for c in text) and _NUMBER_LIKE.fullmatch(text):
        if "," in text:
            raise Invalid("number_comma")
        if any(c.isspace() for c in text):
            raise Invalid("number_spaces")
    raise Invalid(code)
