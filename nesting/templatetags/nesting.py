"""What templates of nesting need, and what pages of other rooms show of it."""

from collections.abc import Iterable
from functools import cache
from typing import Any

from django import template
from django.http import QueryDict
from django.template.loader import render_to_string
from django.utils.safestring import SafeString

from nesting.models import Cell, Inner
from primitives.models import Primitive

register = template.Library()


@register.filter
def command(check: str) -> tuple[str, str]:
    """A check as the command to type and what to look for, which stands behind two spaces in brackets."""
    typed, _, note = check.partition("  (")
    return typed, note.removesuffix(")")


@register.simple_tag
@cache
def state(result: str | None) -> SafeString:
    """Whether a sandbox runs, as a mark and in words; without a result, that nobody looked. Each state is made once."""
    return render_to_string("nesting/_state.html", {"result": result})


@register.inclusion_tag("nesting/_runs_inside.html")
def runs_inside(primitive: Primitive, parts: Iterable[Primitive]) -> dict[str, Any]:
    """Where a primitive runs, environment by environment; of the parts that it is built of only how often (one query).

    Nothing where nobody looked at it or them.
    """
    sandboxes = _by_inner(Cell.objects.of_primitives([primitive.pk, *(part.pk for part in parts)], primitive))
    return {
        "own": [(inner, cells) for inner, cells in sandboxes.items() if cells[0].is_own],  # type: ignore[attr-defined]
        "of_parts": [(inner, _numbers(cells)) for inner, cells in sandboxes.items() if not cells[0].is_own],  # type: ignore[attr-defined]
    }


@register.inclusion_tag("nesting/_defaults_inside.html")
def defaults_inside(surfaces: Iterable[Any]) -> dict[str, Any]:
    """Which sandboxes of nesting hold an agent by default, or what that is built of (no query).

    `surfaces` as audits.verdicts gives them, with primitives that know what they `runs_inside`.
    """
    primitives = [
        primitive for surface in surfaces for mode in surface.defaults for primitive in mode.posture.primitives.all()
    ]
    inners = {inner["slug"]: inner for primitive in primitives for inner in primitive.runs_inside}
    query = QueryDict(mutable=True)
    found = sorted(inners.values(), key=lambda inner: (inner["position"], inner["name"]))
    query.setlist("inner", [inner["slug"] for inner in found])
    return {"inners": found, "query": query.urlencode()}


def _by_inner(cells: Iterable[Cell]) -> dict[Inner, list[Cell]]:
    sandboxes: dict[Inner, list[Cell]] = {}
    for cell in cells:
        sandboxes.setdefault(cell.inner, []).append(cell)
    return sandboxes


def _numbers(cells: list[Cell]) -> list[tuple[str, int]]:
    results = dict.fromkeys(cell.get_result_display() for cell in cells)
    return [(result, sum(cell.get_result_display() == result for cell in cells)) for result in results]
