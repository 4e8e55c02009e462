"""The reference and its entries."""

from urllib.parse import urlsplit

from django.core.paginator import EmptyPage, PageNotAnInteger, Paginator
from django.http import HttpRequest, HttpResponse, QueryDict
from django.shortcuts import get_object_or_404, render
from django.urls import reverse
from django.views.decorators.http import require_safe
from django.views.decorators.vary import vary_on_headers
from django_htmx.middleware import HtmxDetails

from primitives.filters import PrimitiveFilterSet
from primitives.models import Primitive

PER_PAGE = 60


class HtmxRequest(HttpRequest):
    """A request as django-htmx's middleware leaves it."""

    htmx: HtmxDetails


@require_safe
@vary_on_headers("HX-Request")
def primitive_list(request: HtmxRequest) -> HttpResponse:
    """The reference: a page, or, when htmx asks, the parts of it that a changed filter changes."""
    filterset = PrimitiveFilterSet(request.GET)
    paginator = Paginator(filterset.found(), PER_PAGE)
    try:
        page = paginator.page(request.GET.get("page", 1))
    except PageNotAnInteger:
        page = paginator.page(1)
    except EmptyPage:
        reason = f"The list of what was asked for ends with page {paginator.num_pages}."
        return render(request, "404.html", {"reason": reason}, status=404)
    number = {"page": str(page.number)} if page.number > 1 else {}
    query = filterset.query(**number)
    context = {
        "filterset": filterset,
        "chosen": filterset.chosen,
        "facets": filterset.facets(),
        "page": page,
        "query": query,
        "bare_query": filterset.query(),
        "narrowest": None if page.object_list else filterset.narrowest(),
    }
    if request.htmx and not request.htmx.history_restore_request:
        response = render(request, "primitives/_found.html", context)
        address = f"{reverse('primitives')}?{query}" if query else reverse("primitives")
        response["HX-Replace-Url" if _is_same_step(request, query) else "HX-Push-Url"] = address
        return response
    return render(request, "primitives/primitive_list.html", context)


def _is_same_step(request: HtmxRequest, query: str) -> bool:
    """Whether the reader would call the new address the same step as the present one: a search typed further."""
    before = QueryDict(str(urlsplit(request.htmx.current_url or "").query), mutable=True)
    after = QueryDict(query, mutable=True)
    searches = before.pop("q", None), after.pop("q", None)
    return before == after and (searches[0] == searches[1] or all(searches))


@require_safe
def primitive_detail(request: HttpRequest, slug: str) -> HttpResponse:
    """One entry, with everything known about it."""
    primitive = get_object_or_404(Primitive.objects.for_entry(), slug=slug)
    return render(
        request,
        "primitives/primitive_detail.html",
        {
            "primitive": primitive,
            "parts": primitive.builds_on.strongest_first(),
            "wholes": primitive.built_on_it.strongest_first(),
            "breaks": primitive.breaks.all(),
        },
    )
