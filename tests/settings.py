"""The site's settings for tests.

pytest-django reads the settings before any conftest.py, so what the environment must hold is set here.
"""

import os

# What a developer has set for their own site must not change what the tests see. DATABASE_URL stays.
for name in (
    "ADMIN_ALLOW",
    "ADMIN_PATH",
    "ALLOWED_HOSTS",
    "BEHIND_TLS",
    "CSRF_TRUSTED_ORIGINS",
    "DEBUG",
    "LOG_FORMAT",
    "PROXIES",
    "SECOND_FACTOR",
    "SECURITY_CONTACT",
):
    os.environ.pop(name, None)
os.environ["SECRET_KEY"] = "for tests alone"
# Playwright's synchronous API runs an event loop in the test's thread, and Django takes that for async code.
os.environ["DJANGO_ALLOW_ASYNC_UNSAFE"] = "1"

from sandboxicon.settings import *  # noqa: E402, F403

# No collectstatic before the tests, and no slow password hashing in them.
STORAGES = {
    "default": {"BACKEND": "django.core.files.storage.FileSystemStorage"},
    "staticfiles": {"BACKEND": "django.contrib.staticfiles.storage.StaticFilesStorage"},
}
PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]
# Nor the files of an earlier collectstatic: WhiteNoise looks at each of them whenever a test client starts, and warns
# where there is no folder.
STATIC_ROOT = BASE_DIR / ".data" / "no-static"  # noqa: F405
STATIC_ROOT.mkdir(parents=True, exist_ok=True)
# Tests in a transaction that never commits move no revision. Those of the cache make one of their own.
RESPONSE_CACHE_BYTES = 0
