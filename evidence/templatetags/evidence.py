"""Claims in templates."""

import datetime
from collections.abc import Iterable, Mapping

from django import template
from django.template.defaultfilters import pluralize
from django.utils import timezone

from evidence.models import Aspect, Claim, Label
from evidence.models import by_aspect as group_by_aspect

register = template.Library()


@register.filter
def by_aspect(claims: Iterable[Claim]) -> list[tuple[Aspect, list[Claim]]]:
    """The claims in groups, one an aspect, in the order of aspects."""
    return group_by_aspect(claims)


@register.filter
def meaning(label: str) -> str:
    """What a label says about a claim, in one sentence."""
    return Label(label).meaning


@register.filter
def weakest(claims: Iterable[Mapping[str, str]]) -> str:
    """The weakest label of several claims, each with its `label`."""
    return str(max((Label(claim["label"]) for claim in claims), key=list(Label).index))


@register.filter
def age(day: datetime.date) -> str:
    """How long ago a day was, in words of the coarseness that a reader would use: 12 days ago, 8 months ago."""
    days = (timezone.localdate() - day).days
    if days < 2:
        return "yesterday" if days == 1 else "today"
    units = {14: (1, "day"), 60: (7, "week"), 730: (30.44, "month")}
    length, unit = next((unit for most, unit in units.items() if days < most), (365.25, "year"))
    number = round(days / length)
    return f"{number} {unit}{pluralize(number)} ago"
