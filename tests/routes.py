"""Every route there is, with a path for it: a new one is in every table that asks here."""

import uuid
from collections.abc import Iterator

from django.urls import URLPattern, URLResolver, get_resolver
from django.utils.regex_helper import normalize

Entry = URLPattern | URLResolver


def paths(flow: uuid.UUID, slug: str, pk: int) -> Iterator[str]:
    """One path per route; `pk` of whatever the admin shows. A KeyError: say here what stands for a new parameter."""
    known = {"flow_id": flow, "slug": slug, "number": 1, "copy": 1, "name": "ask", "pk": pk, "object_id": pk, "id": pk}
    known |= {
        "app_label": "mrtr_web",
        "url": "nothing",
        "content_type_id": 1,
        "ident": flow,
        "uidb64": "MQ",
        "token": "x-y",
    }
    return _below("/", get_resolver().url_patterns, {name: str(value) for name, value in known.items()})


def _below(prefix: str, entries: list[Entry], known: dict[str, str]) -> Iterator[str]:
    for entry in entries:
        ((text, names),) = normalize(entry.pattern.regex.pattern)
        path = prefix + text % {name: known[name] for name in names}
        if isinstance(entry, URLResolver):
            yield from _below(path, entry.url_patterns, known)
        else:
            yield path
