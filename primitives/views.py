"""The reference and its entries."""

from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, render
from django.views.decorators.http import require_safe
from django.views.decorators.vary import vary_on_headers

from evidence.comparison import Comparison
from evidence.models import Claim
from evidence.pages import HtmxRequest, filtered_list
from primitives.comparison import compare
from primitives.filters import PrimitiveFilterSet
from primitives.models import Primitive


@require_safe
@vary_on_headers("HX-Request", "HX-Current-URL", "HX-Trigger")
def primitive_list(request: HtmxRequest) -> HttpResponse:
    """The reference."""
    filterset = PrimitiveFilterSet(request.GET, request)
    return filtered_list(
        request,
        filterset,
        template="primitives/primitive_list.html",
        partial="primitives/_found.html",
        row="primitives/_row.html",
    )


@require_safe
def compare_primitives(request: HttpRequest) -> HttpResponse:
    """Two to four primitives side by side."""
    comparison = Comparison(request, "p", Primitive.objects.published().only("slug", "name"))
    if elsewhere := comparison.elsewhere():
        return elsewhere
    if comparison.can_be_made:
        found = Primitive.objects.published().for_comparison().in_bulk(comparison.picks.slugs, field_name="slug")
        primitives = [found[slug] for slug in comparison.picks.slugs]
        claims = Claim.objects.published().filter(primitive__in=primitives).numbers_by_label_of("primitive")
        comparison.sections = compare(primitives, claims)
    return comparison.page("primitives/compare.html")


@require_safe
def primitive_detail(request: HttpRequest, slug: str) -> HttpResponse:
    """One entry, with everything known about it."""
    primitive = get_object_or_404(Primitive.objects.published().for_entry(), slug=slug)
    around = list(Primitive.objects.published().around(primitive).strongest_first())
    parts = [each for each in around if each.is_part]  # type: ignore[attr-defined]
    return render(
        request,
        "primitives/primitive_detail.html",
        {
            "primitive": primitive,
            "sample": primitive.core_sample(parts),
            "parts": parts,
            "wholes": [each for each in around if each not in parts],
            "breaks": primitive.breaks.all(),
            "postures": primitive.postures.for_uses(),
        },
    )
