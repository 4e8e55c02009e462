"""How the labels are spread over the site, as bars that a template draws."""

from collections.abc import Mapping
from dataclasses import dataclass

from evidence.models import Label

# What the bars of each kind of subject are called, in the order of the drawing.
KINDS = {
    "tier": "Rungs",
    "primitive": "Primitives",
    "audit": "Agents",
    "cell": "One inside another",
    "error_text": "Error texts",
}
ROW_HEIGHT = 62


@dataclass(frozen=True)
class Part:
    """The claims of one label in a bar: how many, and where they lie in it, in percent of its length."""

    label: Label
    number: int
    start: float
    share: float


@dataclass(frozen=True)
class Bar:
    """The claims about one kind of subject. `top` is where it is drawn."""

    name: str
    top: int
    parts: list[Part]

    @property
    def total(self) -> int:
        """How many claims the bar stands for."""
        return sum(part.number for part in self.parts)


def distribution(numbers: Mapping[str, Mapping[str, int]]) -> list[Bar]:
    """A bar for all claims, then one for each kind of subject; `numbers` by kind and label."""
    everything = {label.value: sum(of.get(label, 0) for of in numbers.values()) for label in Label}
    rows = {"All claims": everything, **{name: numbers.get(kind, {}) for kind, name in KINDS.items()}}
    return [_bar(name, place * ROW_HEIGHT, of) for place, (name, of) in enumerate(rows.items())]


def _bar(name: str, top: int, numbers: Mapping[str, int]) -> Bar:
    total = sum(numbers.values())
    parts: list[Part] = []
    before = 0
    for label in Label:
        number = numbers.get(label, 0)
        parts.append(Part(label, number, _percent(before, total), _percent(number, total)))
        before += number
    return Bar(name, top, parts)


def _percent(number: int, total: int) -> float:
    return round(100 * number / total, 2) if total else 0.0
