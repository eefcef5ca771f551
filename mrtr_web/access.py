"""PURE. What lets a person in at a server: its challenge, our client, and the tokens (AZ-1 to AZ-11).

Nothing of this is shown by repr() or str(), and no ValidationError repeats it.
"""

from pydantic import BaseModel, ConfigDict

PER_PERSON = frozenset({"each", "oauth"})
"""Kinds of credential that each person has their own of: a token that they paste, or one that they sign in for."""
MAX_SCOPE = 2_000
MAX_URL = 2_000
MOST_SIGN_INS = 3
"""After so many that did not help a leg, another one is not offered any more (AZ-11)."""


class _Secret(BaseModel):
    model_config = ConfigDict(strict=True, frozen=True, hide_input_in_errors=True)

    def __repr__(self) -> str:
        return f"{type(self).__name__}()"

    __str__ = __repr__


class Challenge(_Secret):
    """What a 401 or 403 asks for. `scope` None: it names none; `metadata`: where the server describes itself."""

    scope: str | None = None
    metadata: str | None = None
    wants_more: bool = False
    """insufficient_scope: there is a token, and it does not allow this."""


class Refusals(_Secret):
    """What a server asked for the last time that it let nobody in, and how often the person has signed in for this."""

    challenge: Challenge
    sign_ins: int = 0

    @property
    def may_sign_in(self) -> bool:
        return self.sign_ins < MOST_SIGN_INS


class Client(_Secret):
    """What we are to an authorization server. `method`: none, client_secret_basic or client_secret_post."""

    client_id: str
    secret: str = ""
    method: str = "none"
    redirects: tuple[str, ...] = ()
    """Where it may send people back to; of a registration of ours alone."""
    until: int = 0
    """When a registration ends, in seconds since the epoch; 0: never."""


class Tokens(_Secret):
    """A person's tokens, with all that it takes to renew and to revoke them."""

    access: str
    refresh: str = ""
    lifetime: int | None = None
    """Seconds of the access token, from when it was issued."""
    scope: str | None = None
    """What was asked for, or granted where the server says that."""
    issuer: str
    resource: str
    token_endpoint: str
    revocation_endpoint: str = ""
    client: Client


class Leaving(_Secret):
    """A sign-in under way: what has to be known again when the person comes back (AZ-8)."""

    issuer: str
    says_issuer: bool
    """Whether the authorization server names itself in its answer (RFC 9207)."""
    verifier: str
    redirect: str
    resource: str
    scope: str | None
    authorization_endpoint: str
    token_endpoint: str
    revocation_endpoint: str
    client: Client
    url: str
    """Of the MCP server when the person left."""
    flow: str = ""
    leg: str = ""
    """The leg to be sent again, if the person left in the middle of a flow."""
    page: str = ""
    """The path of the page of ours that they left from, if they are to come back to it: a tool's, without values."""
