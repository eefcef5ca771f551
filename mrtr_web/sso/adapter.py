"""Where allauth hands over to us: which provider there is, what fails, and who has arrived. And the two halves.

None of allauth's own pages has a route, none of its mails is sent, and of its tables only the one that ties accounts to
issuer and subject is used.
"""

import logging
import secrets
from datetime import timedelta
from typing import Any, NoReturn

import requests
from allauth.core.exceptions import ImmediateHttpResponse
from allauth.socialaccount.adapter import DefaultSocialAccountAdapter
from allauth.socialaccount.models import SocialApp, SocialLogin
from allauth.socialaccount.providers.base import AuthError
from allauth.socialaccount.providers.oauth2.client import OAuth2Error
from allauth.socialaccount.providers.oauth2.views import OAuth2CallbackView
from django.conf import settings
from django.contrib.auth import login
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import resolve_url

from mrtr_web import sessions
from mrtr_web.sso import outward, people, provider

log = logging.getLogger(__name__)
LASTS = timedelta(minutes=10)
"""As long as allauth knows a state."""
BACKEND = "mrtr_web.sessions.Backend"


class Refused(Exception):
    """A sign-in that comes to nothing. `code`: one of ours; `page`: where the person wanted to go, if that is known.

    unknown: nobody in this browser waits for this answer (any more). cancelled, denied: by the person, by the provider.
    away: it cannot be reached. odd: it said what is not to be believed. inactive: the account is switched off here.
    """

    def __init__(self, code: str, page: str = "") -> None:
        super().__init__(code)
        self.code, self.page = code, page


class Adapter(DefaultSocialAccountAdapter):  # type: ignore[misc]  # it has no types
    """SOCIALACCOUNT_ADAPTER: one provider, that of the settings; what the database says of others is not read."""

    def get_provider(self, request: HttpRequest, provider_id: str = "", **_: Any) -> provider.Provider:
        config = settings.CONFIG
        app = SocialApp(
            provider=provider.Provider.id,
            provider_id=config.oidc_issuer,
            name=config.sso_name,
            client_id=config.oidc_client_id,
            secret=config.oidc_client_secret.get_secret_value(),
            settings={"oauth_pkce_enabled": True},
        )
        return provider.Provider(request, app=app)

    def get_requests_session(self) -> requests.Session:
        return outward.session()

    def authenticate_by_email(self, sociallogin: SocialLogin) -> None:
        """Never."""

    def on_authentication_error(
        self,
        request: HttpRequest,
        provider: provider.Provider,
        error: str | None = None,
        exception: Exception | None = None,
        extra_context: dict[str, Any] | None = None,
    ) -> NoReturn:
        state = (extra_context or {}).get("state")
        if state is None:
            raise Refused("unknown")
        said = "cancelled" if error == AuthError.CANCELLED else "denied"
        raise Refused(said if exception is None else _code(exception), state.get("next", ""))

    def pre_social_login(self, request: HttpRequest, sociallogin: SocialLogin) -> NoReturn:
        """The person is in, by the same way as with a password."""
        page = sociallogin.state.get("next", "")
        person = people.account(sociallogin.claims)
        if not person.is_active:
            raise Refused("inactive", page)
        people.bring_up_to_date(person, sociallogin.claims)
        login(request, person, backend=BACKEND)
        raise ImmediateHttpResponse(HttpResponseRedirect(page or resolve_url(settings.LOGIN_REDIRECT_URL)))


def depart(request: HttpRequest, page: str) -> str:
    """The first half: the provider's address for this person, who wants to go to `page` of ours. Raises Refused."""
    state = secrets.token_urlsafe(24)
    found = Adapter().get_provider(request)
    try:
        response = found.redirect(
            request, "login", next_url=page, state_id=state, auth_params={"nonce": provider.nonce_for(state)}
        )
    except (OAuth2Error, requests.RequestException) as error:
        raise Refused(_code(error), page) from None
    sessions.keep_briefly(request, LASTS)  # anybody can begin as many as they like
    return str(response.url)


def arrive(request: HttpRequest) -> HttpResponse:
    """The second half: the person is back, and signed in. Raises Refused."""
    given = request.GET
    if any(len(texts) != 1 for _, texts in given.lists()):
        raise Refused("unknown")
    if given.get("iss", settings.CONFIG.oidc_issuer) != settings.CONFIG.oidc_issuer:
        raise Refused("odd")
    talk = provider.Talk(request, settings.CONFIG.oidc_issuer)
    response: HttpResponse = OAuth2CallbackView.adapter_view(talk)(request)
    return response


def _code(error: Exception) -> str:
    """Only our own words of what is wrong are logged: others repeat what they were sent."""
    if isinstance(error, requests.RequestException):
        return "away"
    log.warning("a sign-in was refused: %s", error if isinstance(error, provider.Odd) else type(error).__name__)
    return "odd"
