"""What an authorization server for tests grants, keeps and takes back; how it behaves is set in its Knobs."""

import secrets
import time
from dataclasses import dataclass, field
from typing import Any, Literal

import httpx2
from mcp.server.auth.provider import (
    AccessToken,
    AuthorizationCode,
    AuthorizationParams,
    AuthorizeError,
    OAuthAuthorizationServerProvider,
    RefreshToken,
    RegistrationError,
    TokenError,
    construct_redirect_uri,
)
from mcp.shared.auth import InvalidRedirectUriError, OAuthClientInformationFull, OAuthToken
from pydantic import AnyUrl

USE, ADMIN = "use", "admin"
Answered = Literal["plainly", "garbage", "list", "huge", "redirect", "missing"]


@dataclass
class Knobs:
    """How both servers behave; may be changed while they run. In a dict over a document, None takes the entry out."""

    consent: Literal["at once", "page", "deny"] = "at once"
    login: str = "ada"
    """Who signs in where no page asks for a name."""
    scopes: list[str] = field(default_factory=lambda: [USE, ADMIN])
    """What may be asked for; `offline_access` only where it is listed."""

    expires_in: int | None = 3600
    """How long an access token holds, in seconds; None: for ever, and nothing is said of it."""
    refresh_tokens: bool = True
    rotating: bool = True
    """A refresh token is good once; used again, it takes everything with it that came of the same sign-in."""
    refresh_delay: float = 0
    """Seconds before a refresh is looked at."""
    refresh_status: int | None = None
    """A refresh fails with this status, and its token stays good."""

    iss: Literal["right", "missing", "wrong"] = "right"
    iss_advertised: bool = True
    callback: dict[str, str | None] = field(default_factory=dict)
    """Over the parameters of the callback."""

    client_id: str = "registered-by-hand"
    secret: str | None = "secret+of/the:client %41"
    """The client known beforehand, at any redirect URI, by any method; without a secret it is a public one."""
    registration: Literal["open", "absent", "refusing"] = "open"
    client: dict[str, Any] = field(default_factory=dict)
    """Over the answer to a registration."""
    cimd: bool = False
    """A client may be the https URL of its metadata document, which is taken on trust..."""
    cimd_document: str | None = None
    """...or read, here in place of its own URL, and checked."""
    auth_methods: list[str] = field(default_factory=lambda: ["client_secret_basic", "client_secret_post", "none"])
    revocation: Literal["open", "absent", "refusing"] = "open"

    issuer_path: str = ""
    metadata_at: Literal["oauth", "openid", "openid appended"] = "oauth"
    metadata: dict[str, Any] = field(default_factory=dict)
    """Over the metadata of the authorization server: another issuer, endpoint or code_challenge_methods_supported."""
    metadata_answered: Answered = "plainly"
    token: dict[str, Any] = field(default_factory=dict)
    """Over the answer of the token endpoint: another token_type, an access_token that is none."""
    token_answered: Answered = "plainly"

    prm_at: Literal["path", "root", "own", "absent"] = "path"
    """Where the metadata of the resource is: a well-known place, or one that only the challenge can tell."""
    prm_named: bool = True
    """Whether the challenge tells where."""
    prm: dict[str, Any] = field(default_factory=dict)
    """Over the metadata of the resource: another resource, other authorization_servers."""
    prm_answered: Answered = "plainly"
    challenge: str | None = None
    """The whole WWW-Authenticate of a 401, in place of the right one."""
    challenged_scope: str | None = USE
    needs: dict[str, str] = field(default_factory=lambda: {"admin": ADMIN})
    """Tools that need a scope beside `use`, by name."""
    open_listings: bool = False
    """Whatever is not a call, a prompt or a read needs no token."""


def over(document: dict[str, Any], changes: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in (document | changes).items() if value is not None}


class Unbound(OAuthClientInformationFull):
    """A client at whatever redirect URI it names."""

    def validate_redirect_uri(self, redirect_uri: AnyUrl | None) -> AnyUrl:
        if redirect_uri is None:
            raise InvalidRedirectUriError("redirect_uri must be specified")
        return redirect_uri


@dataclass
class Family:
    """All that came of one sign-in."""

    client_id: str
    subject: str
    resource: str
    live: bool = True


@dataclass
class Access:
    token: AccessToken
    family: Family
    until: float


@dataclass
class Refresh:
    token: RefreshToken
    family: Family
    used: bool = False


class Grants(OAuthAuthorizationServerProvider[AuthorizationCode, RefreshToken, AccessToken]):
    def __init__(self, knobs: Knobs) -> None:
        self.knobs = knobs
        self.base = self.resource = ""
        self.faults: list[str] = []
        """What a client did wrong."""
        self.burnt = 0
        self.refreshes = 0
        self.revoked: list[str] = []
        self.clients: dict[str, OAuthClientInformationFull] = {}
        self.asking: dict[str, tuple[str, AuthorizationParams]] = {}
        self.codes: dict[str, AuthorizationCode] = {}
        self.accesses: dict[str, Access] = {}
        self.refresh: dict[str, Refresh] = {}
        self.issued: set[str] = set()

    @property
    def issuer(self) -> str:
        return self.base + self.knobs.issuer_path

    async def get_client(self, client_id: str) -> OAuthClientInformationFull | None:
        if client_id == self.knobs.client_id:
            method = None if self.knobs.secret else "none"
            return self._told(
                Unbound(client_id=client_id, client_secret=self.knobs.secret, token_endpoint_auth_method=method)
            )
        if self.knobs.cimd and client_id.startswith("https://"):
            return await self._from_document(client_id)
        return self._told(self.clients.get(client_id))

    def _told(self, client: OAuthClientInformationFull | None) -> OAuthClientInformationFull | None:
        """Any client may ask for any scope that there is."""
        return client and client.model_copy(update={"scope": " ".join(self.knobs.scopes)})

    async def _from_document(self, client_id: str) -> OAuthClientInformationFull | None:
        if self.knobs.cimd_document is None:
            return self._told(Unbound(client_id=client_id, token_endpoint_auth_method="none"))
        async with httpx2.AsyncClient(trust_env=False) as http:
            answer = await http.get(self.knobs.cimd_document)
        found = answer.json() if answer.status_code == 200 else {}
        if found.get("client_id") != client_id or not found.get("client_name") or not found.get("redirect_uris"):
            self.faults.append(f"client metadata document: {found or answer.status_code}")
            return None
        return self._told(OAuthClientInformationFull.model_validate({"token_endpoint_auth_method": "none"} | found))

    async def register_client(self, client_info: OAuthClientInformationFull) -> None:
        if not client_info.redirect_uris:
            raise RegistrationError("invalid_redirect_uri", "redirect_uris are missing")
        if client_info.application_type != "web":
            raise RegistrationError("invalid_client_metadata", "application_type is not web")
        if client_info.token_endpoint_auth_method not in self.knobs.auth_methods:
            raise RegistrationError("invalid_client_metadata", "token_endpoint_auth_method is not supported")
        self.clients[client_info.client_id] = client_info

    async def authorize(self, client: OAuthClientInformationFull, params: AuthorizationParams) -> str:
        if params.resource != self.resource:
            raise AuthorizeError("invalid_target", f"resource is {params.resource!r}")
        if not params.state:
            raise AuthorizeError("invalid_request", "state is missing")
        if self.knobs.consent == "deny":
            return self.denied(params)
        if self.knobs.consent == "at once":
            return self.allowed(client.client_id, params, self.knobs.login)
        ask = secrets.token_urlsafe()
        self.asking[ask] = client.client_id, params
        return f"{self.base}/consent?ask={ask}"

    def denied(self, params: AuthorizationParams) -> str:
        return self._callback(params, error="access_denied", error_description="The person said no")

    def allowed(self, client_id: str, params: AuthorizationParams, subject: str) -> str:
        code = secrets.token_urlsafe()
        self.codes[code] = AuthorizationCode(
            code=code,
            scopes=params.scopes or [USE],
            expires_at=time.time() + 60,
            client_id=client_id,
            subject=subject,
            **params.model_dump(exclude={"state", "scopes"}),
        )
        return self._callback(params, code=code)

    def _callback(self, params: AuthorizationParams, **told: str) -> str:
        iss = {"right": self.issuer, "missing": None, "wrong": "http://localhost:9/elsewhere"}[self.knobs.iss]
        found = over(told | {"state": params.state, "iss": iss}, self.knobs.callback)
        return construct_redirect_uri(str(params.redirect_uri), **found)

    async def load_authorization_code(
        self, client: OAuthClientInformationFull, authorization_code: str
    ) -> AuthorizationCode | None:
        """A code shown once is gone, whatever comes of it."""
        return self.codes.pop(authorization_code, None)

    async def exchange_authorization_code(
        self, client: OAuthClientInformationFull, authorization_code: AuthorizationCode
    ) -> OAuthToken:
        subject, resource = authorization_code.subject or "", authorization_code.resource or ""
        return self._issue(Family(client.client_id, subject, resource), authorization_code.scopes)

    def _issue(self, family: Family, scopes: list[str], anew: bool = True) -> OAuthToken:
        lasts = self.knobs.expires_in
        about: dict[str, Any] = {"client_id": family.client_id, "scopes": scopes, "subject": family.subject}
        about["resource"] = family.resource
        token = AccessToken(token=secrets.token_urlsafe(), claims={"iss": self.issuer}, **about)
        self.accesses[token.token] = Access(
            token, family, time.monotonic() + (float("inf") if lasts is None else lasts)
        )
        self.issued.add(token.token)
        answer = OAuthToken(access_token=token.token, expires_in=lasts, scope=" ".join(scopes))
        if anew and self.knobs.refresh_tokens:
            answer.refresh_token = secrets.token_urlsafe()
            self.refresh[answer.refresh_token] = Refresh(RefreshToken(token=answer.refresh_token, **about), family)
        return answer

    async def load_refresh_token(self, client: OAuthClientInformationFull, refresh_token: str) -> RefreshToken | None:
        kept = self.refresh.get(refresh_token)
        return kept.token if kept and kept.family.live else None

    async def exchange_refresh_token(
        self, client: OAuthClientInformationFull, refresh_token: RefreshToken, scopes: list[str]
    ) -> OAuthToken:
        kept = self.refresh[refresh_token.token]
        if kept.used:
            self.burnt += 1
            kept.family.live = False
            raise TokenError("invalid_grant", "this refresh token was used before")
        kept.used = self.knobs.rotating
        self.refreshes += 1
        return self._issue(kept.family, scopes, anew=self.knobs.rotating)

    async def load_access_token(self, token: str) -> AccessToken | None:
        kept = self.accesses.get(token)
        return kept.token if kept and kept.family.live and time.monotonic() < kept.until else None

    async def revoke_token(self, token: AccessToken | RefreshToken) -> None:
        kept = self.accesses.get(token.token) or self.refresh[token.token]
        kept.family.live = False
