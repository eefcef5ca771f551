"""The provider as allauth talks to it, and what we ask on top: its exact name, a nonce, a signature, one subject.

allauth leaves out the signature of an ID token that came from the token endpoint (OpenID Connect Core 3.1.3.7 allows
that), has no nonce, and takes any issuer that the provider's own document names.
"""

import time
from typing import Any
from urllib.parse import urlsplit

import jwt
from allauth.socialaccount.models import SocialApp, SocialLogin, SocialToken
from allauth.socialaccount.providers.oauth2.client import OAuth2Client, OAuth2Error
from allauth.socialaccount.providers.openid_connect.provider import OpenIDConnectProvider
from allauth.socialaccount.providers.openid_connect.views import OpenIDConnectOAuth2Adapter
from django.conf import settings
from django.http import HttpRequest
from django.urls import reverse
from django.utils.crypto import constant_time_compare, salted_hmac
from pydantic import BaseModel, ConfigDict, ValidationError, field_validator

from mrtr_web.sso import outward

ALGORITHMS = tuple(f"{family}{bits}" for family in ("RS", "PS", "ES") for bits in (256, 384, 512)) + ("EdDSA",)
"""Of signatures that only the provider can make; never `none`, never one made with a shared secret."""
SKEW = 60
"""Seconds by which clocks may differ."""
KNOWN_FOR = 300
"""Seconds for which the provider's description of itself is believed."""
LONGEST = 191
"""Characters of a subject: what allauth's column holds. OpenID Connect Core 8 allows 255."""


class Odd(OAuth2Error):  # type: ignore[misc]  # it has no types
    """The provider said something that is not to be believed; the message is a word of ours."""


class Metadata(BaseModel):
    """What the provider says of itself (OpenID Connect Discovery 3)."""

    model_config = ConfigDict(frozen=True, hide_input_in_errors=True)

    issuer: str
    authorization_endpoint: str
    token_endpoint: str
    jwks_uri: str
    userinfo_endpoint: str = ""
    token_endpoint_auth_methods_supported: tuple[str, ...] = ("client_secret_basic",)
    scopes_supported: tuple[str, ...] = ()

    @field_validator("authorization_endpoint")
    @classmethod
    def reachable_safely(cls, value: str) -> str:
        """Where browsers are led; where we go ourselves is looked at on the way."""
        parts = urlsplit(value)
        if parts.scheme not in ("https", urlsplit(settings.CONFIG.oidc_issuer).scheme) or not parts.hostname:
            raise ValueError
        return value


_known: tuple[float, Metadata] | None = None


def metadata() -> Metadata:
    """Asked for once in a while; what failed is asked for again. Raises Odd, requests.RequestException."""
    global _known
    now = time.monotonic()
    if _known is None or _known[0] < now:
        document = _fetched(f"{settings.CONFIG.oidc_issuer.rstrip('/')}/.well-known/openid-configuration")
        try:
            found = Metadata.model_validate(document)
        except ValidationError:
            raise Odd("metadata") from None
        if found.issuer != settings.CONFIG.oidc_issuer:
            raise Odd("the issuer of the metadata")
        _known = now + KNOWN_FOR, found
    return _known[1]


def _fetched(url: str, **headers: str) -> dict[str, Any]:
    with outward.session() as http:
        answer = http.get(url, headers=headers)
        answer.raise_for_status()
    try:
        document = answer.json()
    except RecursionError:
        raise Odd("a document") from None
    if not isinstance(document, dict):
        raise Odd("a document")
    return document


def nonce_for(state: str) -> str:
    """Ties an ID token to one sign-in in one browser, whose session alone knows the state."""
    return salted_hmac("mrtr_web.sso", state, algorithm="sha256").hexdigest()


def claims_of(token: str, nonce: str) -> dict[str, Any]:
    """What an ID token says, once all of it is checked (OpenID Connect Core 3.1.3.7). Raises Odd."""
    client = settings.CONFIG.oidc_client_id
    try:
        claims: dict[str, Any] = jwt.decode(
            token,
            _key_of(token),
            algorithms=list(ALGORITHMS),
            audience=client,
            issuer=settings.CONFIG.oidc_issuer,
            leeway=SKEW,
            options={"require": ["iss", "sub", "aud", "exp", "iat"]},
        )
    except (jwt.PyJWTError, ValueError, TypeError, RecursionError) as error:
        raise Odd(f"an ID token: {type(error).__name__}") from None
    others = isinstance(claims["aud"], list) and len(claims["aud"]) > 1
    if claims.get("azp", None if others else client) != client:
        raise Odd("who an ID token is for")
    if not constant_time_compare(str(claims.get("nonce", "")), nonce):
        raise Odd("the nonce of an ID token")
    if not (0 < len(claims["sub"]) <= LONGEST and claims["sub"].isprintable()):
        raise Odd("the subject of an ID token")
    return claims


def _key_of(token: str) -> jwt.PyJWK:
    """The one key of the provider that the token names. Raises PyJWTError, Odd."""
    header = jwt.get_unverified_header(token)
    if header.get("alg") not in ALGORITHMS:
        raise Odd("the algorithm of an ID token")
    keys = _fetched(metadata().jwks_uri).get("keys")
    signing = (
        [key for key in keys if isinstance(key, dict) and key.get("use") != "enc"] if isinstance(keys, list) else []
    )
    named = [key for key in signing if "kid" not in header or key.get("kid") == header["kid"]]
    if len(named) != 1:
        raise Odd("the key of an ID token")
    return jwt.PyJWK(named[0], algorithm=header["alg"])


class Client(OAuth2Client):  # type: ignore[misc]  # it has no types
    def get_redirect_url(self, authorization_url: str, scope: list[str], extra_params: dict[str, Any]) -> str:
        """Some have a query in the address of their page already."""
        query = super().get_redirect_url("", scope, extra_params)
        return authorization_url + (f"&{query[1:]}" if "?" in authorization_url else query)

    def get_access_token(self, *args: Any, **kwargs: Any) -> dict[str, Any]:
        try:
            found = super().get_access_token(*args, **kwargs)
        except (TypeError, RecursionError):  # JSON, but no object, or one that is too deep
            raise Odd("an answer") from None
        if not isinstance(found, dict):
            raise Odd("an answer")
        return found


class Talk(OpenIDConnectOAuth2Adapter):  # type: ignore[misc]  # it has no types
    """One exchange with the provider."""

    client_class = Client

    @property
    def openid_config(self) -> dict[str, Any]:
        return metadata().model_dump()

    @property
    def basic_auth(self) -> bool:
        """In the form where the provider says that it takes that: id and secret need no escaping there."""
        return "client_secret_post" not in metadata().token_endpoint_auth_methods_supported

    def get_callback_url(self, request: HttpRequest, app: SocialApp) -> str:
        return request.build_absolute_uri(reverse("sso_callback"))

    def parse_token(self, data: dict[str, Any]) -> SocialToken:
        return SocialToken(token=str(data["access_token"]))

    def complete_login(self, request: HttpRequest, app: SocialApp, token: SocialToken, **kwargs: Any) -> SocialLogin:
        """Who it is. What the provider has signed counts more than what it says when it is asked (userinfo)."""
        signed = claims_of(str(kwargs["response"].get("id_token", "")), nonce_for(request.GET["state"]))
        asked = self._asked(token.token)
        if asked and asked.get("sub") != signed["sub"]:
            raise Odd("whom userinfo is about")
        login = self.get_provider().sociallogin_from_response(request, {"id_token": signed})
        login.claims = asked | signed
        return login

    def _asked(self, token: str) -> dict[str, Any]:
        address = metadata().userinfo_endpoint
        return _fetched(address, Authorization=f"Bearer {token}") if address else {}


class Provider(OpenIDConnectProvider):  # type: ignore[misc]  # it has no types
    """Of what a provider says, allauth keeps issuer and subject."""

    oauth2_adapter_class = Talk

    def get_default_scope(self) -> list[str]:
        """Some give groups only to who asks for them; others refuse what they do not know."""
        extra = settings.CONFIG.oidc_groups_claim
        offered = metadata().scopes_supported
        return ["openid", *(name for name in ("profile", "email") if name in offered or not offered)] + (
            [extra] if extra in offered else []
        )

    def extract_extra_data(self, data: dict[str, Any]) -> dict[str, Any]:
        return {}

    def extract_common_fields(self, data: dict[str, Any]) -> dict[str, Any]:
        return {}

    def extract_email_addresses(self, data: dict[str, Any]) -> list[Any]:
        return []
