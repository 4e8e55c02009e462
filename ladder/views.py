"""The ladder and its rungs, and the two models."""

from collections.abc import Callable
from typing import Any

from django.db.models.functions import Lower
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, render
from django.utils.http import urlencode
from django.views.decorators.http import require_safe
from django.views.decorators.vary import vary_on_headers
from django_htmx.middleware import HtmxDetails

from ladder.models import Tier, TierQuerySet
from ladder.two_models import PARTS, RECORDING, STEPS, look_up

# A rung's page names so many of its primitives; the reference has them all.
LISTED = 100


class HtmxRequest(HttpRequest):
    """A request as django-htmx's middleware leaves it."""

    htmx: HtmxDetails


def page_with_ladder(
    request: HttpRequest, template: str, tiers: TierQuerySet, more: Callable[[], dict[str, Any]] = dict
) -> HttpResponse:
    """A page with the ladder of these rungs, those open that the address names with `open`; or, when htmx asks, the
    ladder alone. `more` gives what else the page needs. The view must vary on HX-Request.
    """
    asked = request.GET.getlist("open")
    rungs: list[Any] = list(tiers.with_who_stands_on_it() if asked else tiers)
    opened = [rung.slug for rung in rungs if rung.slug in asked]
    for rung in rungs:
        rung.is_open = rung.slug in opened
        toggled = [other.slug for other in rungs if (other.slug in opened) != (other is rung)]
        rung.toggle = f"?{urlencode({'open': toggled}, doseq=True)}" if toggled else ""
    context = {
        "tiers": rungs,
        "can_open": True,
        "no_such_rung": next((slug[:40] for slug in asked if slug not in opened), ""),
    }
    htmx: HtmxDetails = request.htmx  # type: ignore[attr-defined]
    if htmx and not htmx.history_restore_request:
        response = render(request, "ladder/_ladder.html", context)
        query = urlencode({"open": opened}, doseq=True)
        response["HX-Push-Url"] = f"{request.path}?{query}" if query else request.path
        return response
    return render(request, template, context | more())


@require_safe
@vary_on_headers("HX-Request")
def ladder(request: HtmxRequest) -> HttpResponse:
    """The six rungs and the kernel line, and what a box and a break cost on each."""
    return page_with_ladder(request, "ladder/ladder.html", Tier.objects.strongest_first().with_counts().with_costs())


@require_safe
def tier(request: HttpRequest, slug: str) -> HttpResponse:
    """A rung: what it is, what it shares, what a break costs, and what stands on it."""
    tier = get_object_or_404(Tier.objects.with_costs(), slug=slug)
    postures = list(tier.postures.for_uses())
    return render(
        request,
        "ladder/tier.html",
        {
            "tier": tier,
            "claims": tier.claims.published().in_reading_order(),
            "by_default": [posture for posture in postures if posture.is_default],
            "raisable": [posture for posture in postures if not posture.is_default],
            "tiers": Tier.objects.strongest_first().with_counts(),
            "primitives": tier.primitives.published().for_list().order_by(Lower("name"))[:LISTED],
        },
    )


@require_safe
@vary_on_headers("HX-Request")
def two_models(request: HtmxRequest) -> HttpResponse:
    """The two models as one long read, or one step of it where `step` names one."""
    slug = request.GET.get("step", "")
    context: dict[str, Any] = {"parts": PARTS, "steps": STEPS, "recording": RECORDING}
    if slug:
        place = next((place for place, step in enumerate(STEPS) if step.slug == slug), None)
        if place is None:
            return render(request, "404.html", {"reason": "The two models have no step of this name."}, status=404)
        context |= {
            "step": STEPS[place],
            "part": next(part for part in PARTS if part.slug == STEPS[place].part),
            "place": place + 1,
            "before": STEPS[place - 1] if place else None,
            "after": STEPS[place + 1] if place + 1 < len(STEPS) else None,
        }
    context["known"] = look_up([context["step"]] if slug else STEPS)
    if request.htmx and not request.htmx.history_restore_request:
        response = render(request, "ladder/models/_swap.html", context)
        response["HX-Push-Url"] = f"{request.path}?step={slug}" if slug else request.path
        return response
    return render(request, "ladder/models/two_models.html", context)
