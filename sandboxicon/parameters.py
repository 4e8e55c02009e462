"""Which parameters each page reads from its address. It gets no others, so what else an address says changes nothing.

A link that somebody passed on with `utm_source` or `fbclid` is the page that it was without, and is kept once
(`sandboxicon.response_cache`). Caches in front and browsers are told so by No-Vary-Search, a draft of the IETF
(draft-ietf-httpbis-no-vary-search) that Chromium follows.
"""

from collections.abc import Callable
from functools import cache
from typing import Any

from django.http import HttpRequest
from django.http.response import HttpResponseBase

from audits.filters import AuditFilterSet
from evidence.ledger import LedgerFilterSet
from nesting.filters import CellFilterSet
from primitives.filters import PrimitiveFilterSet

_LIST = ("sort", "page")

# By the names of addresses (sandboxicon.urls). What is not here reads none.
READS: dict[str, tuple[str, ...]] = {
    "home": ("open",),
    "ladder": ("open",),
    "two_models": ("step",),
    "search": ("q",),
    "card": ("v",),
    "changes": ("kind", "only", "page"),
    **dict.fromkeys(["tier_history", "agent_history", "primitive_history"], ("page",)),
    "primitives": (*PrimitiveFilterSet.base_filters, PrimitiveFilterSet.PICK, *_LIST),
    "audits": (*AuditFilterSet.base_filters, AuditFilterSet.PICK, *_LIST, "rows"),
    "agent": ("platform",),
    "ledger": (*LedgerFilterSet.base_filters, *_LIST, "format"),
    "nesting": (*CellFilterSet.base_filters, "open", "format"),
    "answer": ("in", "want"),
    "cell": ("format",),
    "errors": ("q", "format"),
    "error": ("format",),
    "django.contrib.sitemaps.views.sitemap": ("p",),
}
# These lead from an address that says more than they read to one that does not.
READ_ALL = {"compare_primitives", "compare_agents"}


class KnownParameters:
    """Middleware, the innermost: takes out of a request what its page does not read, and says in the answer what that
    is. The admin is left alone.
    """

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        query = request.META.get("QUERY_STRING", "")
        response = self.get_response(request)
        # The others are outside of this, and the address is as it was for them.
        request.META["QUERY_STRING"] = query
        names = _read_by(request)
        if names is not None:
            response.headers.setdefault("No-Vary-Search", _said(names))
        return response

    def process_view(self, request: HttpRequest, view: Any, arguments: Any, named: Any) -> None:
        """Django calls it when it knows the view, and before the view."""
        names = _read_by(request)
        if names is not None and (unknown := request.GET.keys() - names):
            known: Any = request.GET.copy()
            for name in unknown:
                del known[name]
            known._mutable = False
            request.GET = known
            request.META["QUERY_STRING"] = known.urlencode()


def _read_by(request: HttpRequest) -> tuple[str, ...] | None:
    """Which parameters the page of this request reads; None for all, or where there is no page."""
    found = request.resolver_match
    if found is None or found.namespaces or found.view_name in READ_ALL:
        return None
    return READS.get(found.view_name, ())


@cache
def _said(names: tuple[str, ...]) -> str:
    """That these are read, and no others, in whatever order."""
    quoted = " ".join(f'"{name}"' for name in names)
    return f"key-order, params, except=({quoted})" if names else "key-order, params"
