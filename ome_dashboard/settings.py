"""Django's settings. Everything that may differ comes from the environment: see docs/configuration.md.

Two modes. ``local`` is for one person on one machine: no sign-in, loopback only. ``server`` is for
everybody else: sign-in on every page, HTTPS only, hosts named. A wrong setting is reported by
``manage.py check`` (see :mod:`ome_dashboard.checks`) and keeps the server from starting.
"""

from __future__ import annotations

import os
from datetime import timedelta
from pathlib import Path
from typing import Any

from django.core.management.utils import get_random_secret_key

from ome_dashboard.databases import database
from ome_dashboard.environment import Environment
from ome_dashboard.logs import logging_settings
from ome_dashboard.secret import local_secret_key

BASE_DIR = Path(__file__).resolve().parent.parent
ENVIRONMENT = Environment(os.environ)

MODE = ENVIRONMENT.choice("OME_DASHBOARD_MODE", ["local", "server"], "local")
LOCAL = MODE == "local"
DATA = ENVIRONMENT.folder("OME_DASHBOARD_DATA", BASE_DIR / "data")
DEBUG = ENVIRONMENT.switch("OME_DASHBOARD_DEBUG", False)
if DEBUG and not LOCAL:
    ENVIRONMENT.report(
        "E003",
        "OME_DASHBOARD_DEBUG is on in server mode, where it would show settings to every visitor.",
        "Unset OME_DASHBOARD_DEBUG, or use OME_DASHBOARD_MODE=local on your own machine.",
    )
    DEBUG = False

# Where python -m ome_dashboard.serve listens.
LISTEN_HOST = ENVIRONMENT.text("OME_DASHBOARD_HOST", "127.0.0.1" if LOCAL else "0.0.0.0")  # noqa: S104
LISTEN_PORT = ENVIRONMENT.number("OME_DASHBOARD_PORT", 8000, least=1, most=65535)
LISTEN_THREADS = ENVIRONMENT.number("OME_DASHBOARD_THREADS", 8, least=1, most=256)
# The address of the proxy that ends TLS, or * when nothing but that proxy can reach us.
TRUSTED_PROXY = ENVIRONMENT.text("OME_DASHBOARD_TRUSTED_PROXY")

SECRET_KEY = ENVIRONMENT.text("OME_DASHBOARD_SECRET_KEY")
if not SECRET_KEY:
    # A key for this process alone stands in, so that the problem can be reported at all.
    SECRET_KEY = get_random_secret_key()
    if LOCAL:
        try:
            SECRET_KEY = local_secret_key(DATA / "secret-key")
        except (OSError, ValueError) as error:
            ENVIRONMENT.report(
                "E004",
                f"The secret key can't be kept in {DATA / 'secret-key'}: {error}.",
                "Make OME_DASHBOARD_DATA a folder that this user may write, or set OME_DASHBOARD_SECRET_KEY.",
            )
    else:
        ENVIRONMENT.report(
            "E001",
            "OME_DASHBOARD_SECRET_KEY is not set, and server mode needs it.",
            "Give all processes the same 50 random characters or more, from a Secret.",
        )
elif len(SECRET_KEY) < 32 and not LOCAL:
    ENVIRONMENT.report(
        "E001",
        "OME_DASHBOARD_SECRET_KEY is shorter than 32 characters.",
        "Give all processes the same 50 random characters or more, from a Secret.",
    )

# What Prometheus shows when it asks for /metrics. Without one only who has signed in may.
METRICS_TOKEN = ENVIRONMENT.text("OME_DASHBOARD_METRICS_TOKEN")
if METRICS_TOKEN and len(METRICS_TOKEN) < 16:
    ENVIRONMENT.report(
        "E009",
        "OME_DASHBOARD_METRICS_TOKEN is shorter than 16 characters.",
        "Give it random characters that nobody guesses, such as those of `openssl rand -hex 32`.",
    )

ALLOWED_HOSTS = ["localhost", "127.0.0.1", "[::1]"]
if not LOCAL:
    ALLOWED_HOSTS = ENVIRONMENT.names("OME_DASHBOARD_ALLOWED_HOSTS")
    if not ALLOWED_HOSTS or "*" in ALLOWED_HOSTS:
        ENVIRONMENT.report(
            "E005",
            "OME_DASHBOARD_ALLOWED_HOSTS names no host, or every host.",
            "Set it to the names that people type, such as ome-dashboard.example.com, separated by commas.",
        )
else:
    ENVIRONMENT.asked.add("OME_DASHBOARD_ALLOWED_HOSTS")

# Pages of other sites that may ask /api/: with a token, never with a session.
CORS_ALLOWED_ORIGINS = ENVIRONMENT.origins("OME_DASHBOARD_CORS_ORIGINS")
CORS_URLS_REGEX = r"^/api/"
CORS_ALLOW_CREDENTIALS = False
CORS_ALLOW_HEADERS = ["accept", "authorization", "content-type", "if-match", "if-none-match"]
CORS_EXPOSE_HEADERS = ["etag", "link", "location", "retry-after", "www-authenticate"]

INSTALLED_APPS = [
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.messages",
    "django.contrib.staticfiles",
    "django.contrib.humanize",
    "django_htmx",
    "django_filters",
    "rest_framework",
    "drf_spectacular",
    "axes",
    "corsheaders",
    "ome_dashboard",
    "selection.store",
    "selection.people",
    "selection.faces",
]

MIDDLEWARE = [
    "ome_dashboard.middleware.ContentSecurityPolicyMiddleware",
    "selection.faces.api.problems.ProblemMiddleware",
    "selection.faces.pages.health.ProbeMiddleware",
    "selection.faces.measuring.TimingMiddleware",
    "selection.faces.pages.metrics.MetricsMiddleware",
    "django.middleware.security.SecurityMiddleware",
    *(["corsheaders.middleware.CorsMiddleware"] if CORS_ALLOWED_ORIGINS else []),
    "ome_dashboard.middleware.CompressionMiddleware",
    "whitenoise.middleware.WhiteNoiseMiddleware",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "selection.people.bearer.BearerMiddleware",
    "selection.faces.sighting.SightMiddleware",
    "selection.faces.drafts.DraftMiddleware",
    *([] if LOCAL else ["django.contrib.auth.middleware.LoginRequiredMiddleware"]),
    "django.contrib.messages.middleware.MessageMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
    "django_htmx.middleware.HtmxMiddleware",
    "selection.faces.seen.SeenMiddleware",
    "axes.middleware.AxesMiddleware",
]

ROOT_URLCONF = "ome_dashboard.urls"
WSGI_APPLICATION = "ome_dashboard.wsgi.application"
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
                "selection.faces.person.person",
            ],
        },
    },
]

DATABASES: dict[str, dict[str, Any]]
try:
    DATABASE_URL = ENVIRONMENT.text("DATABASE_URL")
    DATABASES = {"default": database(DATABASE_URL, DATA / "ome-dashboard.sqlite3")}
    if not DATABASE_URL:
        DATA.mkdir(parents=True, exist_ok=True)
except OSError as error:
    if not any(each.id == "ome_dashboard.E004" for each in ENVIRONMENT.problems):
        ENVIRONMENT.report(
            "E004",
            f"The folder of the SQLite file, {DATA}, can't be made: {error.strerror}.",
            "Make OME_DASHBOARD_DATA a folder that this user may write, or set DATABASE_URL.",
        )
    DATABASES = {"default": database("sqlite://:memory:", DATA)}
except ValueError as error:
    ENVIRONMENT.report(
        "E006",
        f"{error}.",
        "Write postgres://user:password@host:5432/name or sqlite:////path/to/file, or unset it for the SQLite file.",
    )
    # Nothing real is touched under settings that are wrong.
    DATABASES = {"default": database("sqlite://:memory:", DATA)}
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"

# The clusters that `manage.py sync --watch` follows; selection/store/declarations.py reads both, and checks.py checks.
CLUSTERS = ENVIRONMENT.text("OME_DASHBOARD_CLUSTERS")
CLUSTERS_FILE = ENVIRONMENT.text("OME_DASHBOARD_CLUSTERS_FILE")
# For how long it is kept what changed.
KEEP_CHANGES_DAYS = ENVIRONMENT.number("OME_DASHBOARD_KEEP_CHANGES_DAYS", 90, least=1, most=3650)

LANGUAGE_CODE = "en"
USE_I18N = False
TIME_ZONE = "UTC"
USE_TZ = True

# WhiteNoise serves the files straight from where they are, htmx from django-htmx: nothing to collect.
STATIC_URL = "/static/"
STATICFILES_DIRS = [BASE_DIR / "static"]
WHITENOISE_USE_FINDERS = True
WHITENOISE_AUTOREFRESH = DEBUG

# Whose name local mode writes; otherwise the machine's user's (selection/people/persons.py).
LOCAL_NAME = ENVIRONMENT.text("OME_DASHBOARD_LOCAL_NAME")
if len(LOCAL_NAME) > 150 or not LOCAL_NAME.isprintable():
    ENVIRONMENT.report(
        "E010",
        "OME_DASHBOARD_LOCAL_NAME is longer than 150 characters, or has some that can't be shown.",
        "Write a name as it is to stand by comments and decisions.",
    )
    LOCAL_NAME = ""
# For how many days a token holds at most.
TOKEN_DAYS = ENVIRONMENT.number("OME_DASHBOARD_TOKEN_DAYS", 365, least=1, most=3650)

# How often /api/ may be asked in a minute, in server mode: ome_dashboard/throttling.py. 0 for as often as one likes.
API_LIMITS = {
    "person": ENVIRONMENT.number("OME_DASHBOARD_API_LIMIT", 600, least=0, most=1_000_000),
    "stranger": ENVIRONMENT.number("OME_DASHBOARD_API_LIMIT_STRANGER", 60, least=0, most=1_000_000),
    "what-if": ENVIRONMENT.number("OME_DASHBOARD_API_LIMIT_WHAT_IF", 30, least=0, most=1_000_000),
}
CACHES = {
    "default": {"BACKEND": "django.core.cache.backends.locmem.LocMemCache"},
    "limits": {
        "BACKEND": "django.core.cache.backends.locmem.LocMemCache",
        "LOCATION": "limits",
        "OPTIONS": {"MAX_ENTRIES": 20_000},
    },
}

# Sign-ins that fail are counted in the database, by user name and address together: a guesser is stopped, and can't
# lock the owner of the account out, who comes from another address.
AUTHENTICATION_BACKENDS = ["axes.backends.AxesStandaloneBackend", "django.contrib.auth.backends.ModelBackend"]
AXES_FAILURE_LIMIT = ENVIRONMENT.number("OME_DASHBOARD_SIGN_IN_TRIES", 5, least=1, most=1000)
AXES_COOLOFF_TIME = timedelta(minutes=ENVIRONMENT.number("OME_DASHBOARD_SIGN_IN_WAIT_MINUTES", 15, least=1, most=1440))
AXES_LOCKOUT_PARAMETERS = [["username", "ip_address"]]
AXES_CLIENT_IP_CALLABLE = "selection.people.addresses.client_address"
AXES_LOCKOUT_CALLABLE = "selection.faces.pages.sign_in.locked_out"
AXES_RESET_ON_SUCCESS = True
AXES_RESET_COOL_OFF_ON_FAILURE_DURING_LOCKOUT = False
AXES_DISABLE_ACCESS_LOG = True
AXES_ENABLE_ADMIN = False
AXES_VERBOSE = False
AXES_SENSITIVE_PARAMETERS = ["username", "csrfmiddlewaretoken"]  # some type the password where the name belongs

# A working day: then one signs in again. How long an administrator's link to set a password holds.
SESSION_COOKIE_AGE = ENVIRONMENT.number("OME_DASHBOARD_SESSION_HOURS", 12, least=1, most=720) * 3600
PASSWORD_RESET_TIMEOUT = 3 * 24 * 3600

LOGIN_URL = "login"
LOGIN_REDIRECT_URL = "/"
LOGOUT_REDIRECT_URL = "login"
AUTH_PASSWORD_VALIDATORS = [
    {"NAME": f"django.contrib.auth.password_validation.{name}"}
    for name in (
        "UserAttributeSimilarityValidator",
        "MinimumLengthValidator",
        "CommonPasswordValidator",
        "NumericPasswordValidator",
    )
]

SECURE_CONTENT_TYPE_NOSNIFF = True
SECURE_REFERRER_POLICY = "same-origin"
SECURE_CROSS_ORIGIN_OPENER_POLICY = "same-origin"
X_FRAME_OPTIONS = "DENY"
SECURE_SSL_REDIRECT = not LOCAL
SESSION_COOKIE_SECURE = not LOCAL
CSRF_COOKIE_SECURE = not LOCAL
SECURE_HSTS_SECONDS = 0 if LOCAL else ENVIRONMENT.number("OME_DASHBOARD_HSTS_SECONDS", 3600, least=0, most=63072000)
if LOCAL:
    ENVIRONMENT.asked.add("OME_DASHBOARD_HSTS_SECONDS")

# A pasted manifest may be large; what-if says its own limit before this one is met.
DATA_UPLOAD_MAX_MEMORY_SIZE = 16 * 1024 * 1024
WHAT_IF_BYTES = ENVIRONMENT.number("OME_DASHBOARD_WHAT_IF_BYTES", 10 * 1024 * 1024, least=1000, most=15 * 1024 * 1024)

REST_FRAMEWORK = {
    "DEFAULT_RENDERER_CLASSES": ["selection.faces.api.rendering.Renderer"],
    "DEFAULT_PARSER_CLASSES": ["selection.faces.api.rendering.BodyParser"],
    "DEFAULT_SCHEMA_CLASS": "selection.faces.api.schema.ViewSchema",
    "EXCEPTION_HANDLER": "selection.faces.api.problems.exception_handler",
    "URL_FORMAT_OVERRIDE": None,
    "DEFAULT_AUTHENTICATION_CLASSES": [
        "ome_dashboard.permissions.BearerAuthentication",
        "rest_framework.authentication.SessionAuthentication",
    ],
    "DEFAULT_PERMISSION_CLASSES": [
        "ome_dashboard.permissions.SignedInUnlessLocal",
        "ome_dashboard.permissions.ScopeOfToken",
    ],
    "DEFAULT_THROTTLE_CLASSES": [
        "ome_dashboard.throttling.PersonThrottle",
        "ome_dashboard.throttling.ScopeThrottle",
    ],
    "DEFAULT_FILTER_BACKENDS": [],
}

SPECTACULAR_SETTINGS = {
    "TITLE": "ome-dashboard",
    "DESCRIPTION": "Which runtime OME gives a service, and why: what the pages show, for programs. See docs/api.md.",
    "VERSION": "1",
    "OAS_VERSION": "3.1.0",
    "LICENSE": {"name": "Apache-2.0", "identifier": "Apache-2.0"},
    "SERVE_URLCONF": "selection.faces.api.served",
    "SCHEMA_PATH_PREFIX": "/api/v1",
    # Codes come to lists of codes within a version; an enum in an answer would break whoever took it for all.
    "POSTPROCESSING_HOOKS": [],
    "SORT_OPERATIONS": False,
    "SORT_OPERATION_PARAMETERS": False,
    "ENABLE_DJANGO_DEPLOY_CHECK": False,
}

LOGGING = logging_settings(
    level=ENVIRONMENT.choice("OME_DASHBOARD_LOG_LEVEL", ["DEBUG", "INFO", "WARNING", "ERROR"], "INFO"),
    form=ENVIRONMENT.choice("OME_DASHBOARD_LOG_FORMAT", ["text", "json"], "text" if LOCAL else "json"),
)
