"""The settings of single sign-on. config.Config has them all."""

import importlib.util
import re
from typing import Any

from pydantic import Field, SecretStr, ValidationInfo, field_validator
from pydantic_settings import BaseSettings

from mrtr_web.values import LOOPBACK, Names, in_parts, one_line, split_names

PACKAGES = ("allauth", "jwt", "requests")
"""What single sign-on needs, and nothing else does."""
_LISTS = ("oidc_groups", "oidc_staff", "oidc_superusers")
_PAIR = re.compile(r"\s*[^,\s][^,]*=\s*[^=,\s][^=,]*")


class SingleSignOn(BaseSettings):
    """All of it is set, or nothing; MRTR_OIDC_ISSUER turns it on."""

    loopback_http: bool = False
    oidc_issuer: str = Field("", max_length=200)
    oidc_client_id: str = Field("", max_length=191, validate_default=True)
    oidc_client_secret: SecretStr = Field(SecretStr(""), max_length=191, validate_default=True)
    oidc_name: str = Field("", max_length=60)
    oidc_groups_claim: str = Field("groups", max_length=200)
    oidc_groups: Names = ()
    oidc_staff: Names = ()
    oidc_superusers: Names = ()

    @field_validator(*_LISTS, mode="before")
    @classmethod
    def several(cls, value: object) -> object:
        return split_names(value)

    @field_validator("oidc_issuer")
    @classmethod
    def address_of_issuer(cls, value: str, info: ValidationInfo) -> str:
        if not value:
            return value
        found = in_parts(value)
        odd = found.query or found.fragment or "@" in found.netloc or not found.hostname or not value.isascii()
        is_tried_out = found.scheme == "http" and found.hostname in LOOPBACK and info.data.get("loopback_http")
        if odd or not (found.scheme == "https" or is_tried_out):
            raise ValueError("must be https://host or https://host/path, exactly as the provider names itself")
        if not all(map(importlib.util.find_spec, PACKAGES)):
            raise ValueError("needs packages that are not installed: install requirements/sso.txt")
        return value

    @field_validator("oidc_client_id", "oidc_client_secret", "oidc_name", *_LISTS)
    @classmethod
    def not_alone(cls, value: Any, info: ValidationInfo) -> Any:
        """Where the issuer itself is wrong, that alone is told."""
        given = bool(value.get_secret_value() if isinstance(value, SecretStr) else value)
        issuer = info.data.get("oidc_issuer")
        if given and issuer == "":
            raise ValueError("means nothing without MRTR_OIDC_ISSUER")
        if issuer and not given and info.field_name in ("oidc_client_id", "oidc_client_secret"):
            raise ValueError("is needed with MRTR_OIDC_ISSUER")
        return value

    @field_validator("oidc_name", "oidc_groups_claim")
    @classmethod
    def readable(cls, value: str, info: ValidationInfo) -> str:
        return one_line(value) if value or info.field_name == "oidc_groups_claim" else value

    @field_validator("oidc_groups")
    @classmethod
    def pairs(cls, value: tuple[str, ...]) -> tuple[str, ...]:
        if not all(map(_PAIR.fullmatch, value)):
            raise ValueError("must be value=group, comma separated, such as /mrtr/desk=Reviewers")
        return value

    @property
    def sso_name(self) -> str:
        """What people know the provider as; "" where there is none."""
        return self.oidc_name or in_parts(self.oidc_issuer).hostname or ""

    @property
    def groups_by_value(self) -> list[tuple[str, str]]:
        """Values of the claim, each with the group that it stands for."""
        pairs = [pair.rpartition("=") for pair in self.oidc_groups]
        return [(value.strip(), group.strip()) for value, _, group in pairs]
