"""The last look at a whole answer, with jsonschema-rs: linear patterns, nothing fetched, work bounded.

Formats are as soft as parse.py treats them; others are not checked. A keyword that is not legal JSON Schema,
or a pattern that a linear engine cannot run, is left out: the server checks for itself, and a person must not
be stuck for its fault.
"""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from copy import deepcopy
from dataclasses import dataclass, field
from itertools import islice
from typing import Any, NoReturn

import jsonschema_rs

from mrtr_web.schema.bounds import measure, require_few_patterns
from mrtr_web.schema.cost import Cost, cost
from mrtr_web.schema.parse import FORMATS
from mrtr_web.schema.spec import MAX_DEPTH, Json, SchemaFault

MAX_PROBLEMS = 20
MAX_REPAIRS = 50
CHEAP = Cost(work=10_000_000, errors=1_000_000)
"""Up to here every error is collected: a tenth of a second, 64 MB."""
_DIALECTS: Mapping[str, type[jsonschema_rs.Validator]] = {
    "json-schema.org/draft/2020-12/schema": jsonschema_rs.Draft202012Validator,
    "json-schema.org/draft/2019-09/schema": jsonschema_rs.Draft201909Validator,
    "json-schema.org/draft-07/schema": jsonschema_rs.Draft7Validator,
    "json-schema.org/draft-06/schema": jsonschema_rs.Draft6Validator,
    "json-schema.org/draft-04/schema": jsonschema_rs.Draft4Validator,
}
_UNCHECKED_FORMATS = (
    "time duration idn-email hostname idn-hostname ipv4 ipv6 uri-reference iri iri-reference uuid "
    "uri-template json-pointer relative-json-pointer regex"
)
_PATTERNS = jsonschema_rs.RegexOptions(size_limit=1 << 18, dfa_size_limit=1 << 20)


@dataclass(frozen=True, slots=True, repr=False)
class Problem:
    """One thing that the schema forbids. `code` is a key of sentences.SENTENCES."""

    path: tuple[str | int, ...]
    code: str
    params: Mapping[str, object] = field(default_factory=dict)


def check(schema: Mapping[str, Any], value: Json) -> list[Problem]:
    """What the schema forbids in this value: at most MAX_PROBLEMS. Raises SchemaFault if it cannot tell.

    Where telling everything would take too much, it is one problem without details.
    """
    measure(schema)
    require_few_patterns(schema)
    with _guarded():
        validator = _compiled(schema)
        needed = cost(schema, value)
        try:
            return _problems(validator, value, needed)
        except UnicodeEncodeError:
            return [Problem((), "text_broken")]
        except ValueError:  # nested past the engine's own limit
            return [Problem((), "too_much")]


def _problems(validator: jsonschema_rs.Validator, value: Json, needed: Cost) -> list[Problem]:
    if validator.is_valid(value):
        return []
    if needed.work > CHEAP.work or needed.errors > CHEAP.errors:
        return [Problem((), "mismatch")]
    told = (problem for error in validator.iter_errors(value) for problem in _told(error))
    return list(islice(told, MAX_PROBLEMS))


@contextmanager
def _guarded() -> Iterator[None]:
    """A panic of the engine is a BaseException of its own kind: it must not end a request or a leg."""
    try:
        yield
    except Exception:
        raise
    except BaseException as error:
        if type(error).__name__ != "PanicException":
            raise
        raise SchemaFault("schema_broken") from None


def _compiled(schema: Mapping[str, Any]) -> jsonschema_rs.Validator:
    engine, root = _engine(schema), deepcopy(dict(schema))
    for _ in range(MAX_REPAIRS):
        try:
            return engine(
                root,
                formats=_FORMATS,
                validate_formats=True,
                pattern_options=_PATTERNS,
                retriever=_deny,
            )
        except jsonschema_rs.ValidationError as error:
            _leave_out(root, error.instance_path)
        except (ValueError, TypeError):
            break
    raise SchemaFault("schema_broken")


def _engine(schema: Mapping[str, Any]) -> Callable[..., jsonschema_rs.Validator]:
    dialect = schema.get("$schema")
    if not isinstance(dialect, str):
        return jsonschema_rs.Draft202012Validator
    found = _DIALECTS.get(dialect.removesuffix("#").partition("://")[2])
    if found is None:
        raise SchemaFault("schema_dialect")
    return found


def _leave_out(root: dict[str, Any], path: list[str | int]) -> None:
    """Drop the keyword that the engine refused. A reference that leads nowhere has no path."""
    if not path:
        raise SchemaFault("schema_broken")
    part: Any = root
    try:
        for step in path[:-1]:
            part = part[step]
        del part[path[-1]]
    except (LookupError, TypeError):  # the engine leaves empty names out of its paths
        raise SchemaFault("schema_broken") from None


def _deny(uri: str) -> NoReturn:
    raise ValueError("references are never fetched")


def _anything(text: str) -> bool:
    return True


_FORMATS = dict.fromkeys(_UNCHECKED_FORMATS.split(), _anything) | dict(FORMATS)


def _told(error: jsonschema_rs.ValidationError, depth: int = MAX_DEPTH) -> Iterator[Problem]:
    """Of a union, what is wrong with the one branch that was meant: that is what a person can mend."""
    branches = error.kind.as_dict().get("context") or []
    meant = [branch for branch in branches if branch and not any(_is_another(each, error) for each in branch)]
    if len(meant) != 1 or depth <= 0:
        yield _problem(error)
        return
    for each in meant[0]:
        yield from _told(each, depth - 1)


def _is_another(inner: jsonschema_rs.ValidationError, union: jsonschema_rs.ValidationError) -> bool:
    """Whether the value is not meant to be of this branch: of another type, or with another constant in it."""
    below = len(inner.instance_path) - len(union.instance_path)
    return (
        below == 0 and inner.kind.name == "type" or below <= 1 and inner.kind.name in ("const", "enum", "falseSchema")
    )


def _problem(error: jsonschema_rs.ValidationError) -> Problem:
    keyword, found = error.kind.name, error.kind.as_dict()
    path = tuple(error.instance_path)
    make = _PROBLEMS.get(keyword)
    code, params = make(found, error.instance) if make else ("mismatch", {})
    return Problem(path, code, params)


Made = tuple[str, dict[str, object]]


def _limit(code: str, name: str) -> Callable[[dict[str, Any], Any], Made]:
    return lambda found, value: (code, {name: found["limit"]})


def _sized(code: str, name: str, size: str) -> Callable[[dict[str, Any], Any], Made]:
    return lambda found, value: (code, {name: found["limit"], size: len(value)})


_PROBLEMS: Mapping[str, Callable[[dict[str, Any], Any], Made]] = {
    "required": lambda found, value: ("missing", {"name": found["property"]}),
    "unevaluatedProperties": lambda found, value: ("unexpected", {"names": ", ".join(found["unexpected"])}),
    "additionalProperties": lambda found, value: ("unexpected", {"names": ", ".join(found["unexpected"])}),
    "falseSchema": lambda found, value: ("mismatch", {}),
    "type": lambda found, value: ("wrong_type", {"types": ", ".join(found["types"])}),
    "pattern": lambda found, value: ("pattern", {"pattern": found["pattern"]}),
    "format": lambda found, value: ("format", {"format": found["format"]}),
    "minLength": _sized("too_short", "minimum", "length"),
    "maxLength": _sized("too_long", "maximum", "length"),
    "minItems": _sized("too_few", "minimum", "count"),
    "maxItems": _sized("too_many", "maximum", "count"),
    "minProperties": _sized("too_few_entries", "minimum", "count"),
    "maxProperties": _sized("too_many_entries", "maximum", "count"),
    "contains": lambda found, value: ("no_such_entry", {}),
    "propertyNames": lambda found, value: ("name_refused", {"name": found["error"].instance}),
    "not": lambda found, value: ("refused_together", {}),
    "minimum": _limit("too_low", "minimum"),
    "maximum": _limit("too_high", "maximum"),
    "exclusiveMinimum": _limit("above", "minimum"),
    "exclusiveMaximum": _limit("below", "maximum"),
    "multipleOf": lambda found, value: ("multiple", {"step": found["multiple_of"]}),
    "enum": lambda found, value: ("not_listed", {}),
    "const": lambda found, value: ("not_listed", {}),
    "uniqueItems": lambda found, value: ("not_unique", {}),
    "anyOf": lambda found, value: ("no_variant", {}),
    "oneOf": lambda found, value: ("no_variant", {}),
}
