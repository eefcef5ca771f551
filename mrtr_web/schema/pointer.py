"""References within one schema. What lies outside it is never looked for."""

from typing import Any
from urllib.parse import unquote


def resolve(root: Any, ref: object) -> Any:
    """The part that "#/$defs/name" means, or None: a dangling, remote or named reference has none here."""
    if not isinstance(ref, str) or not (ref == "#" or ref.startswith("#/")):
        return None
    part = root
    for step in ref.split("/")[1:]:
        name = unquote(step).replace("~1", "/").replace("~0", "~")
        part = _step(part, name)
    return part


def _step(part: Any, name: str) -> Any:
    if isinstance(part, dict):
        return part.get(name)
    if isinstance(part, list) and name.isascii() and name.isdigit() and int(name[:6]) < len(part):
        return part[int(name[:6])]
    return None
