"""Claims in templates."""

from collections.abc import Iterable

from django import template

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
