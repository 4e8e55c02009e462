"""Settings, all from the environment (README.md lists the variables), safe by default.

A value that is missing or half right stops the start with a sentence that says what to set;
nothing is guessed in production.
"""

import sys
from datetime import timedelta
from pathlib import Path

from csp.constants import NONE, SELF
from django.core.exceptions import ImproperlyConfigured
from environs import Env, EnvError
from environs import validate as allowed

from sandboxicon import database, door_settings, headers, replica

BASE_DIR = Path(__file__).resolve().parent.parent
env = Env()

try:
    DEBUG = env.bool("DEBUG", False)
    SECRET_KEY = env.str("SECRET_KEY", "")
    ALLOWED_HOSTS = env.list("ALLOWED_HOSTS", ["localhost", "127.0.0.1", "[::1]"])
    CSRF_TRUSTED_ORIGINS: list[str] = env.list("CSRF_TRUSTED_ORIGINS", [])
    # True where a proxy in front speaks HTTPS to the reader and sets X-Forwarded-Proto itself.
    BEHIND_TLS = env.bool("BEHIND_TLS", False)
    # How many proxies in front append to X-Forwarded-For.
    PROXIES = env.int("PROXIES", int(BEHIND_TLS))
    ADMIN_PATH = door_settings.path(env.str("ADMIN_PATH", "admin"))
    ADMIN_ALLOW = door_settings.networks(env.list("ADMIN_ALLOW", []))
    # Whether a second curator approves each change of a default posture; where there is one curator alone, nobody does.
    SECOND_PAIR_OF_EYES = env.bool("SECOND_PAIR_OF_EYES", not DEBUG)
    # Production speaks TLS, and a curator's password alone opens nothing there.
    # Whom to tell of a weakness: mailto:... or https://...
    SECURITY_CONTACT = door_settings.contact(env.str("SECURITY_CONTACT", ""))
    # json: a line for each event and each request, for a machine to read; plain: only what went wrong.
    LOG_FORMAT = env.str("LOG_FORMAT", "plain", validate=allowed.OneOf(["plain", "json"]))
    SECOND_FACTOR = env.bool("SECOND_FACTOR", BEHIND_TLS and not DEBUG)
    DATABASES = {
        "default": database.configuration(env.str("DATABASE_URL", ""), pool_size=env.int("DATABASE_POOL_SIZE", 8))
    }
    # A streaming replica of it, which answers readers as long as it is not behind (sandboxicon.replica).
    if replica_url := env.str("DATABASE_REPLICA_URL", ""):
        DATABASES[replica.ALIAS] = database.configuration(replica_url, pool_size=env.int("DATABASE_POOL_SIZE", 8))
        DATABASE_ROUTERS = ["sandboxicon.replica.Router"]
    # Whole responses that each process keeps; they stay true however long they are kept. 0 turns it off.
    RESPONSE_CACHE_BYTES = 1_000_000 * env.int("RESPONSE_CACHE_MB", 0 if DEBUG else 64)
    # How long a shared cache in front may hold a page without asking: readers behind it see a change that much later.
    EDGE_SECONDS = env.int("EDGE_SECONDS", 10)
except (EnvError, ValueError) as error:
    raise ImproperlyConfigured(f"Environment: {error}") from None

if not SECRET_KEY:
    if not DEBUG:
        raise ImproperlyConfigured(
            "SECRET_KEY is not set. Set it in the environment to a long random string, for instance the output of "
            "`python -c 'import secrets; print(secrets.token_urlsafe(50))'`, or set DEBUG=1 on your own machine."
        )
    SECRET_KEY = "not-a-secret: only for DEBUG on a developer's own machine"  # noqa: S105

INSTALLED_APPS = [
    "sandboxicon",
    "audits",
    "nesting",
    "primitives",
    "corrections",
    "evidence",
    "ladder",
    "history",
    "nested_admin",
    "csp",
    "django_filters",
    "django_htmx",
    "pghistory",
    "pgtrigger",
    "sandboxicon.apps.CurationConfig",  # django.contrib.admin, with our door
    "axes",
    "django_otp",
    "django_otp.plugins.otp_static",
    "django_otp.plugins.otp_totp",
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.messages",
    "django.contrib.postgres",
    "django.contrib.sessions",
    "django.contrib.sitemaps",
    "whitenoise.runserver_nostatic",
    "django.contrib.staticfiles",
]

LOG_REQUESTS = LOG_FORMAT == "json"

MIDDLEWARE = [
    "sandboxicon.logs.Numbered",
    # Before all others: what it keeps has their headers already.
    "sandboxicon.response_cache.ResponseCache",
    "django.middleware.security.SecurityMiddleware",
    "sandboxicon.headers.ContentSecurityPolicy",
    "django_permissions_policy.PermissionsPolicyMiddleware",
    "sandboxicon.headers.cross_origin",
    "whitenoise.middleware.WhiteNoiseMiddleware",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "sandboxicon.door.AllowedNetworks",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "django_otp.middleware.OTPMiddleware",
    "history.reasons.curators_are_named",
    "django.contrib.messages.middleware.MessageMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
    "django_htmx.middleware.HtmxMiddleware",
    "axes.middleware.AxesMiddleware",
    "sandboxicon.parameters.KnownParameters",
]

ROOT_URLCONF = "sandboxicon.urls"
# The site stands at the root of its host, whatever a request says: else a stranger could have links made, and kept for
# others, that lead elsewhere.
FORCE_SCRIPT_NAME = ""
WSGI_APPLICATION = "sandboxicon.wsgi.application"
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"

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
                "sandboxicon.context.colophon",
            ],
        },
    },
]

AUTHENTICATION_BACKENDS = ["axes.backends.AxesStandaloneBackend", "django.contrib.auth.backends.ModelBackend"]
LOGIN_REDIRECT_URL = "admin:index"
PASSWORD_HASHERS = [
    "django.contrib.auth.hashers.Argon2PasswordHasher",
    "django.contrib.auth.hashers.PBKDF2PasswordHasher",  # of users from before; the next login brings them to Argon2
]
# Wrong passwords are counted in the database, so over all workers, and by address alone: counted by name, anybody could
# lock a curator out. Guesses from many addresses are what the second factor is for.
AXES_LOCKOUT_PARAMETERS = ["ip_address"]
AXES_CLIENT_IP_CALLABLE = "evidence.requests.counted_address"
AXES_LOCKOUT_CALLABLE = "sandboxicon.door.locked_out"
AXES_FAILURE_LIMIT = 5
AXES_COOLOFF_TIME = timedelta(minutes=15)
AXES_RESET_COOL_OFF_ON_FAILURE_DURING_LOCKOUT = False
AXES_RESET_ON_SUCCESS = True
# Each login and each failure stays in the database for superusers to read; `manage.py axes_reset_logs` thins them out.
AXES_ENABLE_ACCESS_FAILURE_LOG = True
AXES_VERBOSE = False
OTP_TOTP_ISSUER = "sandboxicon"
OTP_ADMIN_HIDE_SENSITIVE_DATA = True

AUTH_PASSWORD_VALIDATORS = [
    {"NAME": f"django.contrib.auth.password_validation.{name}"}
    for name in (
        "UserAttributeSimilarityValidator",
        "MinimumLengthValidator",
        "CommonPasswordValidator",
        "NumericPasswordValidator",
    )
]

LANGUAGE_CODE = "en-gb"
TIME_ZONE = "UTC"
USE_I18N = False
USE_TZ = True

STATIC_URL = "static/"
STATIC_ROOT = BASE_DIR / ".static"
STATICFILES_DIRS = [BASE_DIR / "static"]
WHITENOISE_ALLOW_ALL_ORIGINS = False
STORAGES = {
    "default": {"BACKEND": "django.core.files.storage.FileSystemStorage"},
    "staticfiles": {
        "BACKEND": (
            "django.contrib.staticfiles.storage.StaticFilesStorage"
            if DEBUG
            else "sandboxicon.static_files.BundledStaticFilesStorage"
        )
    },
}

CONTENT_SECURITY_POLICY = {
    "DIRECTIVES": {
        "default-src": [NONE],
        "script-src": [SELF],
        "style-src": [SELF],
        "img-src": [SELF],
        "connect-src": [SELF],
        "form-action": [SELF],
        "frame-ancestors": [NONE],
        "base-uri": [NONE],
        # What our pages put into themselves passes the one policy of static/js/trusted.js, which refuses scripts.
        "require-trusted-types-for": ["'script'"],
        "trusted-types": ["default"],
    }
}
# Nothing of a browser's powers is needed here. Named are those that Chromium knows: it complains of any other.
PERMISSIONS_POLICY: dict[str, list[str]] = {name: [] for name in headers.POWERS}
X_FRAME_OPTIONS = "DENY"
SECURE_REFERRER_POLICY = "strict-origin-when-cross-origin"
SECURE_CONTENT_TYPE_NOSNIFF = True
# Public pages set no cookie at all; these are the admin's. A session is a working day's, and ends with the browser.
SESSION_COOKIE_AGE = 8 * 3600
SESSION_EXPIRE_AT_BROWSER_CLOSE = True
SESSION_COOKIE_SAMESITE = CSRF_COOKIE_SAMESITE = "Strict"
SESSION_COOKIE_HTTPONLY = CSRF_COOKIE_HTTPONLY = True
# An entry with its claims and their sources is one form in the admin, and the longest have over a thousand fields.
DATA_UPLOAD_MAX_NUMBER_FIELDS = 5_000
if BEHIND_TLS:
    SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https")
    SECURE_SSL_REDIRECT = True
    SECURE_REDIRECT_EXEMPT = [r"^healthz$", r"^readyz$"]
    SECURE_HSTS_SECONDS = 31_536_000
    SECURE_HSTS_INCLUDE_SUBDOMAINS = True
    SECURE_HSTS_PRELOAD = True
    SESSION_COOKIE_SECURE = CSRF_COOKIE_SECURE = True
    # A browser takes these names only over TLS, for this very host, so that no neighbour can plant a cookie.
    SESSION_COOKIE_NAME, CSRF_COOKIE_NAME = "__Host-sessionid", "__Host-csrftoken"

FIXTURES_DIR = BASE_DIR / "fixtures"

# A claim is fresh until it is older than the first of these numbers of days, then due for a check, and older than the
# second stale. They differ by what it is about, since not all of it moves at one pace.
CLAIM_AGES = {
    # An agent releases every week or two, and its defaults change between minor versions without a word.
    "audit": (90, 180),
    # Kernels, runtimes and VMMs release about twice a year: a year-old claim has outlived the version it was read at.
    "primitive": (180, 365),
    # So do the engines, distributions and services that they run inside.
    "cell": (180, 365),
    "error_text": (180, 365),
    # What a rung is follows from how machines are built, and changes over years.
    "tier": (365, 730),
}

# A reader who goes through a page finds a few mistakes, not dozens; and an office shares one address.
CORRECTIONS_A_DAY = 10

LOGGING = {
    "version": 1,
    "disable_existing_loggers": False,
    "formatters": {
        "plain": {"format": "{levelname} {name}: {message}", "style": "{"},
        "json": {"()": "sandboxicon.logs.JsonFormatter"},
    },
    "handlers": {"console": {"class": "logging.StreamHandler", "formatter": LOG_FORMAT, "stream": sys.stderr}},
    "root": {"handlers": ["console"], "level": "INFO"},
}
