"""The site's own settings for the gunicorn of the browser tests, but for its static files: they go to a folder of their
own (the checkout's may belong to a site that runs), and are not compressed, which would take the longest of all."""

import os

from sandboxicon.settings import *  # noqa: F403

STATIC_ROOT = os.environ["BROWSER_STATIC_ROOT"]
WHITENOISE_SKIP_COMPRESS_EXTENSIONS = ["css", "html", "js", "json", "md", "svg", "txt", "woff2"]
