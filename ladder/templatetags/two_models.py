"""The two models in templates."""

from collections.abc import Mapping
from typing import Any

from django import template

from ladder.two_models import Layer, Step, layers_at

register = template.Library()


@register.filter
def at(known: Mapping[Any, Any], address: Any) -> Any:
    """What is known at an address; None where it is not there."""
    return known.get(address)


@register.filter
def layers(step: Step) -> list[Layer]:
    """The layers that the drawing of this step shows."""
    return layers_at(step)
