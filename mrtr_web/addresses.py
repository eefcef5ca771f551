"""URI templates of resources (RFC 6570) as forms: the values that they need, the address that follows, and back.

A value is a text; a part that explodes into several is typed one a line.
"""

from collections.abc import Mapping
from typing import Any

from django.utils.translation import gettext as _
from mcp.shared.uri_template import InvalidUriTemplate, UriTemplate, Variable

OPTIONAL = frozenset(";?&#")
"""Operators whose variables may be left out: the address stays whole without them."""
MAX_VALUE = 4_000
Object = dict[str, Any]


def fault(template: str) -> str | None:
    """Why no form can be made of this template; None where one can."""
    try:
        UriTemplate.parse(template)
    except InvalidUriTemplate as error:
        return str(error)
    return None


def schema(template: str) -> Object:
    """An object schema for the values of a template."""
    variables = UriTemplate.parse(template).variables
    return {
        "type": "object",
        "properties": {each.name: _field(each.name, each.explode) for each in variables},
        "required": _needed(variables),
    }


def expand(template: str, values: Mapping[str, str]) -> str:
    """The address; what is absent or empty stays undefined. Raises ValueError, as where something needed is missing."""
    parsed = UriTemplate.parse(template)
    exploding = {each.name for each in parsed.variables if each.explode}
    parts = {name: _lines(text) if name in exploding else text for name, text in values.items()}
    filled = {name: part for name, part in parts.items() if part}
    if not filled.keys() >= set(_needed(parsed.variables)):
        raise ValueError("incomplete")
    return parsed.expand(filled)


def matches(template: str, uri: str) -> bool:
    """Whether the template's form leads to exactly this address: matching alone passes over what does not fit."""
    try:
        return expand(template, values(template, uri)) == uri
    except ValueError:
        return False


def values(template: str, uri: str) -> Object:
    """The values that lead to this address, as far as they can be told."""
    found = UriTemplate.parse(template).match(uri) or {}
    return {name: value if isinstance(value, str) else "\n".join(value) for name, value in found.items()}


def _needed(variables: list[Variable]) -> list[str]:
    return [each.name for each in variables if each.operator not in OPTIONAL]


def _field(name: str, explodes: bool) -> Object:
    field: Object = {"type": "string", "minLength": 1, "title": name}
    return field | {"maxLength": MAX_VALUE, "description": _("One part a line.")} if explodes else field


def _lines(text: str) -> list[str]:
    return [line for line in text.split("\n") if line]
