"""Django's settings, made from config.Config."""

import os
import sys
from pathlib import Path

from mrtr_web import config

BASE_DIR = Path(__file__).resolve().parent.parent
DEV_ENV = BASE_DIR / "var" / "dev.env"


def _read_dev_env() -> None:
    """A checkout prepared by `make run` keeps its keys in var/dev.env: used only where no SECRET_KEY is set."""
    if "SECRET_KEY" in os.environ or not DEV_ENV.exists():
        return
    for line in DEV_ENV.read_text().splitlines():
        name, _, value = line.partition("=")
        os.environ.setdefault(name, value)


_read_dev_env()
try:
    CONFIG = config.load()
    DATABASES = {"default": config.database(CONFIG.database_url.get_secret_value(), BASE_DIR)}
except config.BadSetting as error:
    sys.exit(f"mrtr_web cannot start: {error}")

SECRET_KEY = CONFIG.secret_key.get_secret_value()
SECRET_KEY_FALLBACKS = list(CONFIG.secret_key_fallbacks)
DEBUG = False  # debug pages would show content
ALLOWED_HOSTS = list(CONFIG.allowed_hosts)
ROOT_URLCONF = "mrtr_web.urls"
ASGI_APPLICATION = "mrtr_web.asgi.application"
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"

INSTALLED_APPS = [
    "django.contrib.admin",
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.messages",
    "django.contrib.staticfiles",
    "django.forms",
    "mrtr_web.apps.MrtrWebConfig",
]

MIDDLEWARE = [
    "django.middleware.security.SecurityMiddleware",
    "mrtr_web.middleware.PagePolicy",
    "django.middleware.locale.LocaleMiddleware",  # before the first look at the database: that page is read, too
    "mrtr_web.sessions.SessionGate",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "django.contrib.messages.middleware.MessageMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
    "mrtr_web.middleware.OneSyncChain",
]

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

SECURE_HSTS_SECONDS = 0 if CONFIG.loopback_http else 365 * 24 * 3600
SECURE_HSTS_INCLUDE_SUBDOMAINS = not CONFIG.loopback_http
SECURE_HSTS_PRELOAD = not CONFIG.loopback_http
SECURE_SSL_REDIRECT = not CONFIG.loopback_http
SECURE_REFERRER_POLICY = "same-origin"  # no-referrer would make browsers send "Origin: null", which CSRF refuses
SECURE_CROSS_ORIGIN_OPENER_POLICY = "same-origin"
X_FRAME_OPTIONS = "DENY"

DATA_UPLOAD_MAX_MEMORY_SIZE = CONFIG.max_request_bytes
FILE_UPLOAD_HANDLERS = ["django.core.files.uploadhandler.MemoryFileUploadHandler"]
FILE_UPLOAD_MAX_MEMORY_SIZE = CONFIG.max_request_bytes  # above it Django would spool bodies to disk
DATA_UPLOAD_MAX_NUMBER_FIELDS = 20_000  # more than a round can hold

LANGUAGE_CODE = "en"
LANGUAGES = [("en", "English"), ("zh-hant", "繁體中文")]  # each by its own name, which is what the switch shows
LOCALE_PATHS = [BASE_DIR / "mrtr_web" / "locale"]
TIME_ZONE = CONFIG.time_zone
USE_TZ = True
USE_I18N = True

STATIC_URL = "/static/"
STATICFILES_DIRS = [BASE_DIR / "static"]
STATIC_ROOT = BASE_DIR / "var" / "static"

CHANNEL_LAYERS = config.channel_layers(CONFIG.redis_url.get_secret_value())

LOGGING = {
    "version": 1,
    "disable_existing_loggers": False,
    "formatters": {"line": {"format": "%(asctime)s %(levelname)s %(name)s %(message)s"}},
    "handlers": {"stderr": {"class": "logging.StreamHandler", "formatter": "line"}},
    "loggers": {"django.request": {"level": "ERROR"}},  # a refused form is no news for an operator
    "root": {"handlers": ["stderr"], "level": CONFIG.log_level},
}
