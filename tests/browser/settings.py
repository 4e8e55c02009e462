"""The site's own settings for the gunicorn of the browser tests, but for the folder of its static files: the checkout's
may belong to a site that runs."""

import os

from sandboxicon.settings import *  # noqa: F403

STATIC_ROOT = os.environ["BROWSER_STATIC_ROOT"]
