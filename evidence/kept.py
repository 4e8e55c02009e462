"""What a process keeps from one request to the next, for as long as the public content stays as it is."""

import secrets
import threading
from collections.abc import Callable, Hashable
from typing import Any

from django.http import HttpRequest
from django.template import Template
from django.template.context import make_context
from django.template.loader import get_template

# How long one waits for what another makes. That one may itself be waiting for a connection that this one has, where
# there are fewer of them than threads.
PATIENCE_SECONDS = 1

# Where the live parts of a page are, in what is kept of it; and under what they are noted while it is made.
HOLE = f"<!--{secrets.token_hex(8)}-->"
HOLES = "holes"


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

        One request makes it, and the others wait, but not for ever. `make` may ask for other values. What a request
        makes that has lost its revision meanwhile (sandboxicon.context) is for that request alone.
        """
        values = self.at(request)
        if key not in values:
            # What is kept for nobody else is made without waiting for anybody else.
            is_my_turn = values is self._values and self._making.acquire(timeout=PATIENCE_SECONDS)
            try:
                if key not in values:
                    made = make()
                    if getattr(request, "content_state", None) is None:
                        return made
                    values[key] = made
            finally:
                if is_my_turn:
                    self._making.release()
        return values[key]


# Of about ten kilobytes each.
_PAGES = KeptByRevision(500)


def kept_page(request: HttpRequest, template_name: str, context: dict[str, Any], depends_on: Hashable) -> str:
    """A page as its template makes it of `context`: all but its `{% live %}` parts is kept, for as long as the content
    is the same, for those pages of the template that depend on the same beside the content.
    """

    def make() -> tuple[Template, list[str], list[Any]]:
        template: Template = get_template(template_name).template  # type: ignore[attr-defined]
        whole: Any = make_context(context, request)
        holes: list[Any] = []
        whole.render_context[HOLES] = holes
        return template, template.render(whole).split(HOLE), holes

    template, texts, holes = _PAGES.get(request, (template_name, depends_on), make)
    live: Any = make_context(context, request)
    pieces = [texts[0]]
    with live.render_context.push_state(template), live.bind_template(template):
        for hole, text in zip(holes, texts[1:], strict=True):
            pieces += hole.nodelist.render(live), text
    return "".join(pieces)
