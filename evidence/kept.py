"""What a process keeps from one request to the next, for as long as the public content stays as it is."""

import threading
from collections.abc import Callable, Hashable
from contextlib import nullcontext
from typing import Any

from django.http import HttpRequest


class KeptByRevision:
    """Values by key, at most `most` of them, made from the content at one revision and on one day.

    What is made while a request is answered is at least as new as the revision that the request found, and goes as
    soon as the next one finds another. So nothing here is ever older than the page that it stands on.
    """

    def __init__(self, most: int) -> None:
        self.most = most
        self._made_at: Hashable = None
        self._values: dict[Hashable, Any] = {}
        self._lock = threading.Lock()
        self._making = threading.RLock()

    def at(self, request: HttpRequest | None) -> dict[Hashable, Any]:
        """What was made at the revision of this request, to read and to add to.

        At no known revision, as for a curator, it is empty and nobody else's.
        """
        made_at = getattr(request, "content_state", None)  # from sandboxicon.response_cache
        if made_at is None:
            return {}
        with self._lock:
            if made_at != self._made_at or len(self._values) > self.most:
                self._made_at, self._values = made_at, {}
            return self._values

    def get(self, request: HttpRequest | None, key: Hashable, make: Callable[[], Any]) -> Any:
        """What was made under this key at the revision of this request, or what `make` makes now.

        One request makes it, and the others wait. `make` may ask for other values.
        """
        values = self.at(request)
        if key not in values:
            # What is kept for nobody else is made without waiting for anybody else.
            with self._making if values is self._values else nullcontext():
                if key not in values:
                    values[key] = make()
        return values[key]
