"""How a filtered list answers: as a page, or, when htmx asks, as the parts of it that a changed filter changes."""

from collections.abc import Callable
from typing import Any
from urllib.parse import urlsplit

from django.core.paginator import EmptyPage, Page, PageNotAnInteger, Paginator
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse, QueryDict
from django.shortcuts import render
from django_htmx.middleware import HtmxDetails

from evidence.filters import FacetedFilterSet

PER_PAGE = 60


class HtmxRequest(HttpRequest):
    """A request as django-htmx's middleware leaves it."""

    htmx: HtmxDetails


def filtered_list(
    request: HtmxRequest,
    filterset: FacetedFilterSet,
    rows: QuerySet[Any],
    *,
    template: str,
    partial: str,
    more: Callable[[Page[Any]], dict[str, Any]] = lambda page: {},
) -> HttpResponse:
    """The list of `rows` that `filterset` finds. `more` gives what else the templates need for the page shown.

    The view must vary on HX-Request. With htmx the answer carries the one address of what is in force.
    """
    paginator = Paginator(rows, PER_PAGE)
    try:
        page = paginator.page(request.GET.get("page", 1))
    except PageNotAnInteger:
        page = paginator.page(1)
    except EmptyPage:
        reason = f"The list of what was asked for ends with page {paginator.num_pages}."
        return render(request, "404.html", {"reason": reason}, status=404)
    query = filterset.query(**({"page": str(page.number)} if page.number > 1 else {}))
    context = {
        "filterset": filterset,
        "chosen": filterset.chosen,
        "facets": filterset.facets(),
        "page": page,
        "bare_query": filterset.query(),
        "narrowest": None if page.object_list else filterset.narrowest(),
        **more(page),
    }
    if request.htmx and not request.htmx.history_restore_request:
        response = render(request, partial, context)
        address = f"{request.path}?{query}" if query else request.path
        response["HX-Replace-Url" if _is_same_step(request, query) else "HX-Push-Url"] = address
        return response
    return render(request, template, context)


def _is_same_step(request: HtmxRequest, query: str) -> bool:
    """Whether the reader would call the new address the same step as the present one: a search typed further."""
    before = QueryDict(str(urlsplit(request.htmx.current_url or "").query), mutable=True)
    after = QueryDict(query, mutable=True)
    searches = before.pop("q", None), after.pop("q", None)
    return before == after and (searches[0] == searches[1] or all(searches))
