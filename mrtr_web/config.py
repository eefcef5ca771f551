"""Every setting that an operator may give, with its type, unit and default. One table in the README mirrors it."""

import difflib
import os
import re
import ssl
import zoneinfo
from email.utils import parseaddr
from pathlib import Path
from typing import Annotated, Any, Literal, NamedTuple
from urllib.parse import SplitResult, parse_qsl, unquote

from pydantic import AliasChoices, Field, SecretStr, ValidationError, ValidationInfo, field_validator
from pydantic_settings import SettingsConfigDict

from mrtr_web import secretfiles, wayout
from mrtr_web.ssoconfig import SingleSignOn
from mrtr_web.values import LOOPBACK, Names, in_parts, one_line, split_names

YEAR = 365 * 24 * 3600
Seconds = Annotated[float, Field(gt=0, le=YEAR)]
Count = Annotated[int, Field(gt=0, le=1_000_000)]
Bytes = Annotated[int, Field(ge=1024, le=2**30)]

PICTURES = {".svg": "image/svg+xml", ".png": "image/png", ".webp": "image/webp"}
MAX_LOGO = 200_000
"""Bytes."""
SECRETS = Path("/run/secrets")
BARE = ("secret_key", "secret_key_fallbacks", "allowed_hosts", "database_url", "redis_url")
"""Fields whose variables have no prefix."""
PREFIX = "MRTR_"
OF_THE_DEMO = ("MRTR_DEMO_KEY", "MRTR_DEMO_PASSWORD")
"""Which `make run` and the demo server read by themselves."""
SHORTEST_TOKEN = 32
LEVELS = ("DEBUG", "INFO", "WARNING", "ERROR", "CRITICAL")
TLS = ("sslmode", "sslrootcert", "sslcert", "sslkey")
"""What may be said of TLS in DATABASE_URL, as PostgreSQL's own programs take it."""
DATABASES = "sqlite:///path or postgresql://user:password@host:port/name, special characters written as %40"
MAIL_SERVERS = "smtp://user:password@host:587 (STARTTLS, except on loopback) or smtps://user:password@host:465"
_ADDRESS = re.compile(r"[^@\s<>]+@[\w-]+(\.[\w-]+)*")
_TOKEN = re.compile(r"[\w-]+", re.ASCII)
_HOST = re.compile(r"\*|\[[0-9a-f:.]+\]|\.?[\w-]+(\.[\w-]+)*\.?", re.IGNORECASE)


class BadSetting(Exception):
    """A setting has a value that cannot be used; the message names the variable, never a secret's value."""


class Config(SingleSignOn):
    """Read from the environment: prefix MRTR_, save for the customary names without one; secrets also from files."""

    model_config = SettingsConfigDict(env_prefix=PREFIX, extra="ignore", populate_by_name=True)

    secret_key: SecretStr = Field(validation_alias=AliasChoices("SECRET_KEY"))
    credential_keys: Names = Field((), repr=False)
    credential_dir: Path = SECRETS
    secret_key_fallbacks: Names = Field((), repr=False, validation_alias=AliasChoices("SECRET_KEY_FALLBACKS"))
    allowed_hosts: Names = Field((), validation_alias=AliasChoices("ALLOWED_HOSTS"))
    database_url: SecretStr = Field(SecretStr(""), validation_alias=AliasChoices("DATABASE_URL"))
    redis_url: SecretStr = Field(SecretStr(""), validation_alias=AliasChoices("REDIS_URL"))
    email_url: SecretStr = SecretStr("")
    email_from: str = Field("", validate_default=True)
    client_metadata_url: str = ""
    ca_file: Path | None = None
    egress_proxy: SecretStr = SecretStr("")
    site_name: str = Field("mrtr_web", min_length=1, max_length=60)
    site_logo: Path | None = None
    time_zone: str = "UTC"
    log_level: str = "INFO"
    log_format: Literal["text", "json"] = "text"
    metrics_token: SecretStr = SecretStr("")

    heartbeat: Seconds = 5
    lease: Seconds = 20
    connect_timeout: Seconds = 10
    silence_timeout: Seconds = 120
    total_timeout: Seconds = 1800
    drain_timeout: float = Field(30, ge=0, le=YEAR)
    legs_per_server: Count = 64
    legs_per_minute: Count = 60
    running_legs: Count = 8
    open_flows: Count = 20
    session_idle: Seconds = 4 * 3600
    session_absolute: Seconds = 12 * 3600
    max_response_bytes: Bytes = 16 * 1024 * 1024
    max_state_bytes: Bytes = 256 * 1024
    max_request_bytes: Bytes = 4 * 1024 * 1024
    max_rounds: Count = 50
    max_state_only_legs: Count = 10
    state_only_timeout: Seconds = 600
    drafts: bool = True
    audit_days: int = Field(365, ge=1, le=36_500)

    @field_validator("secret_key_fallbacks", "allowed_hosts", "credential_keys", mode="before")
    @classmethod
    def split(cls, value: object) -> object:
        return split_names(value)

    @field_validator("secret_key")
    @classmethod
    def long_enough(cls, value: SecretStr) -> SecretStr:
        if len(value.get_secret_value()) < 50:
            raise ValueError("must have 50 random characters or more")
        return value

    @field_validator("credential_keys")
    @classmethod
    def random_enough(cls, value: tuple[str, ...]) -> tuple[str, ...]:
        if any(len(key) < 43 or len(set(key)) < 16 for key in value):
            raise ValueError("each key must have 43 random characters or more, as secrets.token_urlsafe(32) makes them")
        return value

    @field_validator("allowed_hosts")
    @classmethod
    def names_of_hosts(cls, value: tuple[str, ...]) -> tuple[str, ...]:
        if not all(map(_HOST.fullmatch, value)):
            raise ValueError("must be names of hosts, comma separated, without https://, port or path")
        return value

    @field_validator("credential_dir")
    @classmethod
    def directory(cls, value: Path) -> Path:
        if value != SECRETS and not (value.is_absolute() and value.is_dir()):
            raise ValueError("must be the full path of a directory")
        return value

    @field_validator("site_name")
    @classmethod
    def readable_name(cls, value: str) -> str:
        return one_line(value)

    @field_validator("log_level")
    @classmethod
    def known_level(cls, value: str) -> str:
        if value.upper() not in LEVELS:
            raise ValueError(f"must be one of {', '.join(LEVELS)}")
        return value.upper()

    @field_validator("metrics_token")
    @classmethod
    def hard_to_guess(cls, value: SecretStr) -> SecretStr:
        token = value.get_secret_value()
        if token and not (len(token) >= SHORTEST_TOKEN and _TOKEN.fullmatch(token)):
            raise ValueError(f"must have {SHORTEST_TOKEN} random letters, digits, - or _, or more")
        return value

    @field_validator("time_zone")
    @classmethod
    def known_zone(cls, value: str) -> str:
        if value not in zoneinfo.available_timezones():
            raise ValueError("must be the name of a time zone, such as Europe/Paris")
        return value

    @field_validator("client_metadata_url")
    @classmethod
    def address_of_document(cls, value: str) -> str:
        parts = in_parts(value)
        odd = parts.query or parts.fragment or "@" in parts.netloc or not value.isascii()
        if value and (odd or parts.scheme != "https" or not parts.hostname or parts.path in ("", "/")):
            raise ValueError("must be https://host/path, without query, fragment or user")
        return value

    @field_validator("site_logo")
    @classmethod
    def picture(cls, value: Path | None) -> Path | None:
        if value is not None and (value.suffix not in PICTURES or not 0 < _size(value) <= MAX_LOGO):
            raise ValueError(f"must be a file of {MAX_LOGO // 1000} kB at most that ends in {', '.join(PICTURES)}")
        return value

    @field_validator("ca_file")
    @classmethod
    def certificates(cls, value: Path | None) -> Path | None:
        if value is not None:
            wayout.authorities(value)
        return value

    @field_validator("egress_proxy")
    @classmethod
    def address_of_proxy(cls, value: SecretStr) -> SecretStr:
        wayout.proxy(value.get_secret_value())
        return value

    @field_validator("redis_url")
    @classmethod
    def address_of_redis(cls, value: SecretStr) -> SecretStr:
        parts = in_parts(value.get_secret_value())
        if value.get_secret_value() and not (parts.scheme in ("redis", "rediss") and parts.hostname):
            raise ValueError("must be redis://host:port or rediss://user:password@host:port")
        return value

    @field_validator("email_url")
    @classmethod
    def address_of_mail_server(cls, value: SecretStr) -> SecretStr:
        parts = in_parts(value.get_secret_value())
        plain = parts.scheme in ("smtp", "smtps") and parts.hostname and parts.path in ("", "/")
        if value.get_secret_value() and (not plain or parts.query or parts.fragment):
            raise ValueError(f"use {MAIL_SERVERS}")
        return value

    @field_validator("email_from")
    @classmethod
    def sender(cls, value: str, info: ValidationInfo) -> str:
        needed = value or info.data.get("email_url", SecretStr("")).get_secret_value()
        if needed and not (value.isprintable() and _ADDRESS.fullmatch(parseaddr(value)[1])):
            raise ValueError("must be an address, such as mrtr@example.org or Forms <mrtr@example.org>")
        return value

    @field_validator("lease")
    @classmethod
    def outlives_heartbeat(cls, value: float, info: ValidationInfo) -> float:
        if value < 2 * info.data.get("heartbeat", 0):
            raise ValueError("must be at least twice the heartbeat")
        return value

    @property
    def can_mail(self) -> bool:
        return bool(self.email_url.get_secret_value())

    @property
    def proxy(self) -> wayout.Proxy | None:
        """The forward proxy by which requests leave; None where they leave by themselves."""
        return wayout.proxy(self.egress_proxy.get_secret_value())

    @property
    def trust(self) -> ssl.SSLContext:
        """Whose certificates are believed, of servers and of this site as doctor sees it."""
        return wayout.trust(self.ca_file)


def _size(path: Path) -> int:
    """Bytes of a file; 0 where there is none that can be read."""
    try:
        return len(path.read_bytes())
    except OSError:
        return 0


def load() -> Config:
    """The settings of this process. Raises BadSetting with one line per wrong variable."""
    given, faults = secretfiles.read(os.environ)
    try:
        found = Config(**{name.removeprefix(PREFIX).lower(): value for name, value in given.items()})  # type: ignore[arg-type]
    except ValidationError as error:
        for entry in error.errors(include_input=False):
            name = variable(str(entry["loc"][0]).lower())
            said = f"{name}_FILE" if name in given else name
            faults.setdefault(name, f"{said}: {entry['msg'].removeprefix('Value error, ')}")
    faults |= _unknown()
    if faults:
        raise BadSetting("; ".join(faults.values()))
    return found


def _unknown() -> dict[str, str]:
    """Variables with our prefix that nothing reads, and what is said of them: else a slip of the pen goes unnoticed."""
    known = {*map(variable, Config.model_fields), *OF_THE_DEMO, *(f"{name}_FILE" for name in secretfiles.VARIABLES)}
    names = (name.upper() for name in os.environ if name.upper().startswith(PREFIX))
    return {name: f"{name}: there is no such setting{_near(name, known)}" for name in names if name not in known}


def _near(name: str, known: set[str]) -> str:
    bare = name.removeprefix(PREFIX)
    found = [bare] if bare in known else difflib.get_close_matches(name, sorted(known), 1, 0.75)
    return f"; is it {found[0]}?" if found else ""


def variable(field: str) -> str:
    """What a field of Config is called in the environment."""
    return field.upper() if field in BARE else f"{PREFIX}{field.upper()}"


def database(url: str, base: Path) -> dict[str, object]:
    """Django's database settings for DATABASE_URL; SQLite under var/ where it is empty. Raises BadSetting."""
    if not url:
        return _sqlite(str(base / "var" / "db.sqlite3"))
    parts = in_parts(url)
    path = parts.path[1:]
    if parts.scheme == "sqlite" and url.startswith("sqlite:///") and path:
        return _sqlite(path)
    if parts.scheme in ("postgres", "postgresql") and path and not parts.fragment:
        return _postgresql(parts)
    raise BadSetting(f"DATABASE_URL: use {DATABASES}")


def _sqlite(name: str) -> dict[str, object]:
    return {
        "ENGINE": "django.db.backends.sqlite3",
        "NAME": name,
        "CONN_MAX_AGE": 60,  # opening one costs more than three queries
        "TEST": {"NAME": f"{name}.test"},  # a file: the tests' server threads and processes share it
        "OPTIONS": {
            "transaction_mode": "IMMEDIATE",
            "timeout": 5,
            "init_command": "PRAGMA journal_mode=WAL; PRAGMA synchronous=NORMAL; PRAGMA secure_delete=ON;",
        },
    }


def _postgresql(parts: SplitResult) -> dict[str, object]:
    wanted = dict(parse_qsl(parts.query, keep_blank_values=True))
    if not wanted.keys() <= set(TLS):
        raise BadSetting(f"DATABASE_URL: after ? only these can be set: {', '.join(TLS)}")
    return {
        "ENGINE": "django.db.backends.postgresql",
        "NAME": unquote(parts.path[1:]),
        "USER": unquote(parts.username or ""),
        "PASSWORD": unquote(parts.password or ""),
        "HOST": unquote(parts.hostname or ""),
        "PORT": str(parts.port or ""),
        "CONN_HEALTH_CHECKS": True,  # a connection of before a restart of the database is not handed out
        "OPTIONS": {
            **wanted,
            "connect_timeout": 5,
            "options": "-c lock_timeout=5000",  # in ms: longer than any transaction of ours
            # Reconnecting is given up soon, for the next request starts anew: its pauses would grow to minutes.
            "pool": {"min_size": 1, "max_size": 8, "timeout": 5, "reconnect_timeout": 3},
        },
    }


class MailServer(NamedTuple):
    """Where mails are handed over; `tls_at_once` is not STARTTLS."""

    host: str
    port: int
    user: str
    password: str
    tls_at_once: bool
    starttls: bool

    def __repr__(self) -> str:
        return f"MailServer({self.host}:{self.port})"


def mail_server(url: str) -> MailServer:
    """What MRTR_EMAIL_URL says; no host where it is empty."""
    parts = in_parts(url)
    host, at_once = parts.hostname or "", parts.scheme == "smtps"
    port = parts.port or (465 if at_once else 587)
    starttls = not at_once and host not in LOOPBACK
    return MailServer(host, port, unquote(parts.username or ""), unquote(parts.password or ""), at_once, starttls)


def channel_layers(url: str) -> dict[str, Any]:
    """Channels' settings for REDIS_URL; none where it is empty: hints then stay within the process."""
    if not url:
        return {}
    # A dead connection is to be noticed within seconds.
    host = {"address": url, "socket_connect_timeout": 2, "socket_keepalive": True, "health_check_interval": 10}
    return {"default": {"BACKEND": "channels_redis.pubsub.RedisPubSubChannelLayer", "CONFIG": {"hosts": [host]}}}
