"""The simple schema behind the detours that generators write: local references, "or null", unions of one, allOf."""

from collections.abc import Iterator
from typing import NamedTuple

from mrtr_web.schema.merge import Clash, Part, merged
from mrtr_web.schema.pointer import resolve

MAX_DETOURS = 8
TYPE_TITLE = "$title"
MAX_WORK = 50_000
"""Keywords looked at for one form: some twenty times what a form of 200 fields needs."""


class Plain(NamedTuple):
    part: Part
    nullable: bool


class Document:
    """A whole schema, with what may still be spent on finding the way in it."""

    def __init__(self, root: object) -> None:
        self.root = root
        self.left = MAX_WORK

    def plain(self, part: object) -> Plain | None:
        """None where there is none: no object, parts that clash, a reference that leads nowhere or round."""
        try:
            return self._plain(part, False, MAX_DETOURS)
        except Clash:
            return None

    def _plain(self, part: object, nullable: bool, detours: int) -> Plain:
        if not isinstance(part, dict) or not detours:
            raise Clash
        self._spend(part)
        if "$ref" in part:
            found = self._over(self._target(part), {}, nullable, detours)
            beside = _without(part, "$ref")
            named = Plain(_titled_by_type(found.part), found.nullable)
            return self._over(named.part, beside, named.nullable, detours) if beside else named
        if isinstance(part.get("allOf"), list):
            return self._all_of(part, nullable, detours)
        for name in ("anyOf", "oneOf"):
            if not isinstance(branches := part.get(name), list):
                continue
            kept = [branch for branch in branches if not self._is_null(branch)]
            nullable = nullable or len(kept) < len(branches)
            if len(kept) == 1 and not (isinstance(kept[0], dict) and "const" in kept[0]):
                return self._over(kept[0], _without(part, name), nullable, detours)
            part = part | {name: kept} if len(kept) < len(branches) else part
        return _without_null(self._with_conditional(part, detours), nullable)

    def _spend(self, part: Part) -> None:
        named = part.get("properties")
        self.left -= 1 + len(part) + (len(named) if isinstance(named, dict) else 0)
        if self.left < 0:
            raise Clash

    def _target(self, part: Part) -> object:
        target = resolve(self.root, part["$ref"])
        if target is None:
            raise Clash
        return target

    def _over(self, below: object, beside: Part, nullable: bool, detours: int) -> Plain:
        """A schema with what stands beside the detour that led to it (a title, a default) on top."""
        if below is True or below == {}:
            return self._plain(beside, nullable, detours - 1)
        found = self._plain(below, False, detours - 1)
        null = nullable or found.nullable
        return self._plain(self._merged(found.part, beside), null, detours - 1) if beside else Plain(found.part, null)

    def _all_of(self, part: Part, nullable: bool, detours: int) -> Plain:
        whole: Part = {}
        nulls = []
        for branch in part["allOf"]:
            if branch is True or branch == {}:
                continue
            found = self._plain(branch, False, detours - 1)
            nulls.append(found.nullable)
            whole = self._merged(whole, found.part)
        null = nullable or (bool(nulls) and all(nulls))
        return self._plain(self._merged(whole, _without(part, "allOf")), null, detours - 1)

    def _merged(self, one: Part, other: Part) -> Part:
        self._spend(one)
        self._spend(other)
        return merged(one, other)

    def _is_null(self, branch: object) -> bool:
        self.left -= 1
        if isinstance(branch, dict) and "$ref" in branch:
            branch = resolve(self.root, branch["$ref"])
        if not isinstance(branch, dict):
            return False
        named = branch.get("type") in ("null", ["null"]) or branch.get("enum") == [None]
        return named or ("const" in branch and branch["const"] is None)

    def _with_conditional(self, part: Part, detours: int) -> Part:
        """Members that stand in conditions alone may be filled in, too; the check says when they must be."""
        further: Part = {}
        for condition in self._conditional(part, detours):
            named = condition.get("properties")
            further = (named if isinstance(named, dict) else {}) | further
        own = part.get("properties", {})
        if not further or not isinstance(own, dict):
            return part
        told = {key: value for key, value in own.items() if value not in ({}, True)}
        return part | {"properties": {key: told.get(key, further.get(key, True)) for key in own | further}}

    def _conditional(self, part: Part, detours: int) -> Iterator[Part]:
        """The schemas that hold on a condition, and those within them."""
        dependent = part.get("dependentSchemas")
        schemas = [part.get("then"), part.get("else"), *(dependent.values() if isinstance(dependent, dict) else ())]
        for schema in schemas:
            if isinstance(schema, dict):
                try:
                    yield self._plain(schema, False, detours - 1).part
                except Clash:
                    continue


def _titled_by_type(part: Part) -> Part:
    """What a reference leads to is titled as a type: the property's own name says more where there is one."""
    return _without(part, "title") | {TYPE_TITLE: part["title"]} if "title" in part else part


def _without(part: Part, name: str) -> Part:
    return {key: value for key, value in part.items() if key != name}


def _without_null(part: Part, nullable: bool) -> Plain:
    """type: ["string", "null"] and enum: ["a", null] are a string and an enum that may be null."""
    types, values = part.get("type"), part.get("enum")
    if isinstance(types, list):
        kept = [name for name in types if name != "null"]
        nullable = nullable or len(kept) < len(types)
        part = part | {"type": kept[0] if len(kept) == 1 else kept}
    if isinstance(values, list) and None in values:
        nullable = True
        part = part | {"enum": [value for value in values if value is not None]}
    return Plain(part, nullable)
