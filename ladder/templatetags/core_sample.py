"""Core samples in templates."""

from functools import cache

from django import template
from django.template.loader import render_to_string
from django.utils.safestring import SafeString

from ladder.core_sample import CoreSample, in_lists, of_rung
from ladder.models import Tier

register = template.Library()


@register.filter
def core_sample(tier: Tier) -> CoreSample:
    """A rung's drawing."""
    return of_rung(tier.rank, tier.name)


@register.simple_tag
@cache
def core_samples() -> SafeString:
    """The drawings that lists and cells of this page refer to, once, unseen. They depend on nothing, so are kept."""
    return render_to_string("ladder/_core_samples.html", {"samples": in_lists()})
