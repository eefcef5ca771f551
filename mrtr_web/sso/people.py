"""Accounts of people who come from the provider: made at their first sign-in, brought up to date at each.

An account belongs to an issuer and a subject, and to nothing else: never is one found by its name or its e-mail
address, which somebody else may have given themselves at the provider.
"""

import itertools
import logging
import re
from collections.abc import Collection
from typing import Any

from allauth.socialaccount.models import SocialAccount
from django.conf import settings
from django.contrib.auth.models import Group, User
from django.core.exceptions import ValidationError
from django.core.validators import validate_email
from django.db import IntegrityError, transaction

log = logging.getLogger(__name__)
ROOM = 140
"""Characters of a name, so that a number still fits behind it."""
TRIES = 5


def account(claims: dict[str, Any]) -> User:
    """The account of this subject, a new one at the first sign-in: without a password, by a name that is free."""
    known = {"provider": settings.CONFIG.oidc_issuer, "uid": claims["sub"]}
    for attempt in itertools.count(1):
        found = SocialAccount.objects.filter(**known).select_related("user").first()
        if found is not None:
            person: User = found.user
            return person
        try:
            with transaction.atomic():
                made = User.objects.create_user(_free(_name(claims)))
                SocialAccount.objects.create(user=made, extra_data={}, **known)
                return made
        except IntegrityError:  # somebody else just took that name, or this subject came in by two tabs
            if attempt == TRIES:
                raise
    raise AssertionError  # the loop above has no other end


def bring_up_to_date(person: User, claims: dict[str, Any]) -> None:
    """Names, address, groups and powers, as the provider says."""
    values = _values(claims.get(settings.CONFIG.oidc_groups_claim))
    new = _names(claims) | _email(claims) | _powers(values)
    changed = [name for name, value in new.items() if getattr(person, name) != value]
    with transaction.atomic():
        for name in changed:
            setattr(person, name, new[name])
        if changed:
            person.save(update_fields=changed)
        _set_groups(person, values)
    for name in {"is_staff", "is_superuser"} & set(changed):
        log.info("sign-in set %s of %s to %s", name, person.get_username(), new[name])


def _free(name: str) -> str:
    """With a number where somebody has that name; small and capital letters make no other name."""
    taken = {
        each.lower() for each in User.objects.filter(username__istartswith=name).values_list("username", flat=True)
    }
    names = itertools.chain([name], (f"{name}-{number}" for number in itertools.count(2)))
    return next(each for each in names if each.lower() not in taken)


def _name(claims: dict[str, Any]) -> str:
    """What Django takes as a name: letters, digits and @ . + - _."""
    for said in (_line(claims.get("preferred_username")), _line(claims.get("email")).partition("@")[0]):
        if name := re.sub(r"[^\w.@+-]+", "-", User.normalize_username(said)).strip("-."):
            return name[:ROOM]
    return "person"


def _names(claims: dict[str, Any]) -> dict[str, str]:
    """First and last name; all of it as the first where the provider does not tell the two apart."""
    first, last = _line(claims.get("given_name")), _line(claims.get("family_name"))
    whole = _line(claims.get("name"))
    if first or last:
        return {"first_name": first, "last_name": last}
    return {"first_name": whole, "last_name": ""} if whole else {}


def _line(said: object) -> str:
    """On one line, without what cannot be seen; "" for what is no text."""
    text = said if isinstance(said, str) else ""
    return " ".join("".join(each for each in text if each.isprintable() or each.isspace()).split())[:150]


def _email(claims: dict[str, Any]) -> dict[str, str]:
    """An address, unless the provider says that it has not been checked."""
    said = claims.get("email")
    is_unchecked = str(claims.get("email_verified", True)).lower() == "false"
    if is_unchecked or not isinstance(said, str) or not said.isprintable() or len(said) > 254:
        return {}
    try:
        validate_email(said)
    except ValidationError:
        return {}
    return {"email": said}


def _values(said: object) -> frozenset[str]:
    """The values of the claim of groups: a list, or one alone; empty where it says nothing."""
    listed = said if isinstance(said, list) else [said]
    return frozenset(each for each in listed if isinstance(each, str))


def _powers(values: Collection[str]) -> dict[str, bool]:
    """Only what is mapped is given, and taken away."""
    roots, staff = ({*values} & {*names} for names in (settings.CONFIG.oidc_superusers, settings.CONFIG.oidc_staff))
    found = {"is_superuser": bool(roots)} if settings.CONFIG.oidc_superusers else {}
    if settings.CONFIG.oidc_superusers or settings.CONFIG.oidc_staff:
        found["is_staff"] = bool(roots or staff)
    return found


def _set_groups(person: User, values: Collection[str]) -> None:
    mapped = settings.CONFIG.groups_by_value
    names = {group for _, group in mapped}
    wanted = {group for value, group in mapped if value in values}
    there = {group.name: group for group in Group.objects.filter(name__in=names)}
    has = set(person.groups.filter(name__in=names).values_list("name", flat=True))
    new, gone = (wanted - has) & there.keys(), has - wanted
    person.groups.add(*(there[name] for name in new))
    person.groups.remove(*(there[name] for name in gone))
    if wanted - there.keys():
        log.warning("MRTR_OIDC_GROUPS names groups that nobody has made: %s", ", ".join(sorted(wanted - there.keys())))
    if new or gone:
        log.info("sign-in gave %s the groups %s and took %s", person.get_username(), sorted(new), sorted(gone))
