"""Django's settings, made from config.Config."""

import os
import sys
from datetime import timedelta
from pathlib import Path

from mrtr_web import config, logs
from mrtr_web.policies import EVERYWHERE

BASE_DIR = Path(__file__).resolve().parent.parent
DEV_ENV = BASE_DIR / "var" / "dev.env"


def _read_dev_env() -> None:
    """A checkout prepared by `make run` keeps its keys in var/dev.env: used only where no SECRET_KEY is set."""
    if {"SECRET_KEY", "SECRET_KEY_FILE"} & os.environ.keys() or not DEV_ENV.exists():
        return
    for line in DEV_ENV.read_text().splitlines():
        name, _, value = line.partition("=")
        os.environ.setdefault(name, value)


_read_dev_env()
try:
    CONFIG = config.load()
    DATABASES = {"default": config.database(CONFIG.database_url.get_secret_value(), BASE_DIR)}
except config.BadSetting as error:
    logs.tell(f"mrtr_web cannot start: {error}", os.environ.get("MRTR_LOG_FORMAT", "text"))
    sys.exit(1)

SECRET_KEY = CONFIG.secret_key.get_secret_value()
SECRET_KEY_FALLBACKS = list(CONFIG.secret_key_fallbacks)
DEBUG = False  # debug pages would show content
ALLOWED_HOSTS = list(CONFIG.allowed_hosts)
ROOT_URLCONF = "mrtr_web.urls"
ASGI_APPLICATION = "mrtr_web.asgi.application"
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"

INSTALLED_APPS = [
    "axes",
    "django.contrib.admin",
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.messages",
    "django.contrib.staticfiles",
    "django.forms",
    "mrtr_web.apps.MrtrWebConfig",
]

MIDDLEWARE = [
    "mrtr_web.middleware.PagePolicy",
    "mrtr_web.middleware.PagesCompressed",
    "django.middleware.locale.LocaleMiddleware",  # before all that may fail: those pages are read, too
    "django.middleware.security.SecurityMiddleware",
    "mrtr_web.sessions.SessionGate",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "django.contrib.messages.middleware.MessageMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
]

if CONFIG.oidc_issuer:  # else nothing of it is loaded
    INSTALLED_APPS[:0] = ["allauth.account", "allauth.socialaccount"]  # not "allauth", which has its pages and mails
    MIDDLEWARE.append("allauth.account.middleware.AccountMiddleware")
    SOCIALACCOUNT_ADAPTER = "mrtr_web.sso.adapter.Adapter"
    SOCIALACCOUNT_STORE_TOKENS = False

TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "DIRS": [BASE_DIR / "templates"],
        "APP_DIRS": True,
        "OPTIONS": {
            "context_processors": [
                "django.template.context_processors.request",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
            ],
        },
    },
]
FORM_RENDERER = "django.forms.renderers.TemplatesSetting"

PASSWORD_HASHERS = ["django.contrib.auth.hashers.Argon2PasswordHasher"]
AUTHENTICATION_BACKENDS = ["axes.backends.AxesStandaloneBackend", "mrtr_web.sessions.Backend"]
AXES_HANDLER = "mrtr_web.guard.Handler"
AXES_LOCKOUT_PARAMETERS = [["username", "ip_address"], "ip_address"]
AXES_FAILURE_LIMIT = 5
AXES_COOLOFF_TIME = timedelta(minutes=15)
AXES_RESET_ON_SUCCESS = True
AXES_RESET_COOL_OFF_ON_FAILURE_DURING_LOCKOUT = False  # what is said of the time to wait stays true
AXES_USERNAME_CALLABLE = "mrtr_web.guard.name"
AXES_CLIENT_IP_CALLABLE = "mrtr_web.guard.address"
AXES_CLIENT_STR_CALLABLE = "mrtr_web.guard.logged"
AXES_DISABLE_ACCESS_LOG = True
AXES_ENABLE_ADMIN = False
AXES_VERBOSE = False
SILENCED_SYSTEM_CHECKS = ["axes.W002"]  # its middleware would replace our sign-in page
AUTH_PASSWORD_VALIDATORS = [
    {"NAME": f"django.contrib.auth.password_validation.{name}"}
    for name in ("UserAttributeSimilarityValidator", "MinimumLengthValidator", "CommonPasswordValidator")
]
LOGIN_URL = "login"
LOGIN_REDIRECT_URL = "home"
LOGOUT_REDIRECT_URL = "/accounts/login/?bye"

SECURE_COOKIES = not CONFIG.loopback_http
COOKIE_PREFIX = "__Host-" if SECURE_COOKIES else ""
SESSION_ENGINE = "mrtr_web.sessions"
SESSION_COOKIE_NAME = f"{COOKIE_PREFIX}mrtr_session"
SESSION_COOKIE_SECURE = SECURE_COOKIES
SESSION_EXPIRE_AT_BROWSER_CLOSE = True
CSRF_COOKIE_NAME = f"{COOKIE_PREFIX}mrtr_csrf"
CSRF_COOKIE_SECURE = SECURE_COOKIES
CSRF_COOKIE_HTTPONLY = True
CSRF_COOKIE_AGE = None
CSRF_FAILURE_VIEW = "mrtr_web.views.account.stale_form"
KEY_COOKIE_NAME = f"{COOKIE_PREFIX}mrtr_key"
LANGUAGE_COOKIE_NAME = f"{COOKIE_PREFIX}mrtr_language"
LANGUAGE_COOKIE_AGE = 365 * 24 * 3600
LANGUAGE_COOKIE_SECURE = SECURE_COOKIES
LANGUAGE_COOKIE_HTTPONLY = True
LANGUAGE_COOKIE_SAMESITE = "Lax"
MESSAGE_STORAGE = "mrtr_web.notices.Notices"
MESSAGE_COOKIE_NAME = f"{COOKIE_PREFIX}mrtr_notices"

SECURE_HSTS_SECONDS = 0 if CONFIG.loopback_http else 365 * 24 * 3600
SECURE_HSTS_INCLUDE_SUBDOMAINS = not CONFIG.loopback_http
SECURE_HSTS_PRELOAD = not CONFIG.loopback_http
SECURE_SSL_REDIRECT = not CONFIG.loopback_http
SECURE_REFERRER_POLICY = EVERYWHERE["Referrer-Policy"]
SECURE_CROSS_ORIGIN_OPENER_POLICY = EVERYWHERE["Cross-Origin-Opener-Policy"]
X_FRAME_OPTIONS = EVERYWHERE["X-Frame-Options"]

DATA_UPLOAD_MAX_MEMORY_SIZE = CONFIG.max_request_bytes
FILE_UPLOAD_HANDLERS = ["django.core.files.uploadhandler.MemoryFileUploadHandler"]
FILE_UPLOAD_MAX_MEMORY_SIZE = CONFIG.max_request_bytes  # above it Django would spool bodies to disk
DATA_UPLOAD_MAX_NUMBER_FIELDS = 20_000  # more than a round can hold

LANGUAGE_CODE = "en"
FORMAT_MODULE_PATH = "mrtr_web.formats"
LANGUAGES = [("en", "English"), ("zh-hant", "繁體中文")]  # each by its own name, which is what the switch shows
LOCALE_PATHS = [BASE_DIR / "mrtr_web" / "locale"]
TIME_ZONE = CONFIG.time_zone
USE_TZ = True
USE_I18N = True

STATIC_URL = "/static/"
STATICFILES_DIRS = [BASE_DIR / "static"]
STATIC_ROOT = BASE_DIR / "var" / "static"
STORAGES = {
    "default": {"BACKEND": "django.core.files.storage.FileSystemStorage"},
    "staticfiles": {"BACKEND": "servestatic.storage.CompressedStaticFilesStorage"},
}

_MAIL = config.mail_server(CONFIG.email_url.get_secret_value())
EMAIL_HOST, EMAIL_PORT, EMAIL_HOST_USER, EMAIL_HOST_PASSWORD, EMAIL_USE_SSL, EMAIL_USE_TLS = _MAIL
EMAIL_TIMEOUT = 10
PASSWORD_RESET_TIMEOUT = 3600

CHANNEL_LAYERS = config.channel_layers(CONFIG.redis_url.get_secret_value())

LOGGING = {
    "version": 1,
    "disable_existing_loggers": False,
    "filters": {
        "without_text": {"()": "mrtr_web.logs.WithoutText"},
        "without_query": {"()": "mrtr_web.logs.WithoutQuery"},
        "without_servers": {"()": "mrtr_web.logs.WithoutServers"},
    },
    "formatters": {
        "text": {"format": "%(asctime)s %(levelname)s %(name)s %(message)s"},
        "json": {"()": "mrtr_web.logs.AsJson"},
    },
    "handlers": {
        "stderr": {"class": "logging.StreamHandler", "formatter": CONFIG.log_format, "filters": ["without_text"]},
    },
    "loggers": {
        # Of its own Django mails failed requests, with all that was posted; at DEBUG it writes SQL and what is drawn.
        "django": {"handlers": [], "level": "INFO"},
        # A refused form is no news for an operator.
        "django.request": {"level": "ERROR", "filters": ["without_servers"]},
        "django.security.csrf": {"filters": ["without_query"]},  # it quotes where a post says that it comes from
        "django.server": {"handlers": [], "level": "ERROR"},
        **dict.fromkeys(("asyncio", "channels", "channels_redis", "psycopg", "redis"), {"level": "INFO"}),
        "psycopg.pool": {"level": "WARNING"},  # else each command tells of its connections
        "axes": {"level": "WARNING"},
    },
    "root": {"handlers": ["stderr"], "level": CONFIG.log_level},
}
