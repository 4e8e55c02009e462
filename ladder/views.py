"""The ladder and its rungs."""

from django.db.models.functions import Lower
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, render
from django.views.decorators.http import require_safe

from ladder.models import Tier

# A rung's page names so many of its primitives; the reference has them all.
LISTED = 100


@require_safe
def ladder(request: HttpRequest) -> HttpResponse:
    """The six rungs and the kernel line."""
    return render(request, "ladder/ladder.html", {"tiers": Tier.objects.strongest_first().with_counts()})


@require_safe
def tier(request: HttpRequest, slug: str) -> HttpResponse:
    """A rung: what it is, what it shares, what a break costs, and what stands on it."""
    tier = get_object_or_404(Tier.objects.prefetch_related("claims__sources"), slug=slug)
    postures = list(tier.postures.for_uses())
    return render(
        request,
        "ladder/tier.html",
        {
            "tier": tier,
            "by_default": [posture for posture in postures if posture.is_default],
            "raisable": [posture for posture in postures if not posture.is_default],
            "tiers": Tier.objects.strongest_first().with_counts(),
            "primitives": tier.primitives.for_list().order_by(Lower("name"))[:LISTED],
        },
    )
