"""The site's own settings for a process of its own, but for its content: that of the folder CONTENT, which is loaded in
no time."""

import os
from pathlib import Path

from sandboxicon.settings import *  # noqa: F403

FIXTURES_DIR = Path(os.environ["CONTENT"])
