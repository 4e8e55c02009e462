"""What `make bench` measures where it says "made anew": the site as it is, but that it keeps no whole response.

All else is as ever: what is kept of pages, the compression, and that the revision is asked for.
"""

from sandboxicon.settings import *  # noqa: F403

# Smaller than any response.
RESPONSE_CACHE_BYTES = 1
