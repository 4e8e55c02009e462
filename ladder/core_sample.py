"""Core samples: a rung, a primitive or a posture as a stack of layers, from what runs at the top to the hardware.

`core_sample()` makes the layers and the words; `CoreSample.small` and `.large` place them. One template draws both:
small without a word, for lists and cells, and large with labels.
"""

import textwrap
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property
from typing import NamedTuple

from ladder.models import FIRST_RANK_WITH_OWN_KERNEL


class Kind(StrEnum):
    """What a layer is. The value is its class in the drawing."""

    APP = "app"
    FILES = "files"
    WALL = "wall"
    FEATURE = "feature"
    USER_KERNEL = "user-kernel"
    OWN_KERNEL = "own-kernel"
    MONITOR = "monitor"
    HYPERVISOR = "hypervisor"
    KERNEL = "kernel"
    HARDWARE = "hardware"
    UNKNOWN = "unknown"


class Side(StrEnum):
    """Which side of the kernel line a layer is on."""

    ABOVE = "above"
    BELOW = "below"
    UNKNOWN = "unknown"


class Layer(NamedTuple):
    """One layer. `shared`: whether the neighbours stand on it too. `note`: small print of the drawing."""

    kind: Kind
    label: str
    shared: bool
    side: Side
    note: str = ""


class Named(NamedTuple):
    """Something that has a name and a category, whose slug says on which layer it is."""

    name: str
    category: str


class Shape(NamedTuple):
    """A rectangle of a drawing."""

    kind: str
    x: float
    y: float
    width: float
    height: float


class Word(NamedTuple):
    """A line of text of a drawing."""

    kind: str
    x: float
    y: float
    text: str


@dataclass(frozen=True)
class Drawing:
    """Where everything is. `line` is the height of the kernel line, None where nobody knows its place."""

    width: int
    height: float
    shapes: list[Shape]
    words: list[Word]
    line: float | None
    hatch: str = ""


# How a layer joins the sentence after the one that stands on it.
_JOINT = {Kind.FILES: " with ", Kind.WALL: ", in ", Kind.FEATURE: ", behind ", Kind.UNKNOWN: " in "}

# The layer that a name is on above the kernel line, by category; all others set up or watch the machine.
_ABOVE_THE_LINE = {
    "hypervisor": Kind.HYPERVISOR,
    "hardware-feature": Kind.HARDWARE,
    "confidential-computing": Kind.HARDWARE,
    "unikernel": Kind.OWN_KERNEL,
}
# And on the four rungs below it.
_BELOW_THE_LINE = [Kind.FEATURE, Kind.WALL, Kind.WALL, Kind.USER_KERNEL]

_RUNS = "agent and tools"
_HARDWARE = "the hardware"
_HOST = "the host’s kernel"
_UNNAMED = {
    1: "one feature of the kernel",
    2: "a sandbox around the process",
    3: "a container",
    4: "a kernel in user space",
    5: "a monitor with few devices",
    6: "a monitor that emulates a whole computer",
}


@dataclass(frozen=True)
class CoreSample:
    """What is drawn. `key` names the drawing without words: the rank of a rung, or "none" or "undisclosed"."""

    key: str
    title: str
    layers: Sequence[Layer]
    neighbour: str
    verdict: str

    @property
    def has_own_kernel(self) -> bool:
        return any(layer.kind == Kind.OWN_KERNEL for layer in self.layers)

    @property
    def alternative(self) -> str:
        """The drawing in a sentence or two, for those who do not see it."""
        words = ""
        for before, layer in zip([None, *self.layers], self.layers, strict=False):
            if before is None:
                words = layer.label
            elif before.side == Side.ABOVE and layer.side == Side.BELOW:
                words += f"; below the kernel line {layer.label}"
            elif (before.kind, layer.kind) == (Kind.APP, Kind.KERNEL):
                words += f", directly on {layer.label}"
            else:
                words += _JOINT.get(layer.kind, " on " if before.kind == Kind.APP else ", on ") + layer.label
        notes = "".join(f" {layer.note[0].upper()}{layer.note[1:]}." for layer in self.layers if layer.note)
        return f"{self.title}: {words}. {self.verdict}{notes}"

    @cached_property
    def small(self) -> Drawing:
        """64 wide, without words."""
        return _draw(self, _SMALL)

    @cached_property
    def large(self) -> Drawing:
        """With labels, for 280 to 480 pixels."""
        return _draw(self, _LARGE)


def of_rung(rank: int, name: str) -> CoreSample:
    """The drawing of the rung of that rank."""
    return _isolated(rank, name, _RUNS, {})


def of_primitive(
    rank: int,
    itself: Named,
    parts: Iterable[Named] = (),
    *,
    apart: Sequence[str] = (),
    not_apart: Sequence[str] = (),
    in_one_machine: bool = False,
) -> CoreSample:
    """The drawing of a primitive on the rung of that rank, its name on its own layer.

    `parts` are those that it builds on above the kernel line. `apart` is what it isolates, in words, `not_apart` what
    it does not. `in_one_machine`: whether its boxes, below the line, share the kernel of one virtual machine.
    """
    names: dict[Kind, list[str]] = {}
    parts = list(parts)
    if rank >= FIRST_RANK_WITH_OWN_KERNEL:
        for part in parts:
            names.setdefault(_layer_of(rank, part.category), []).append(_short(part.name))
    place = _layer_of(rank, itself.category)
    if place == Kind.HARDWARE and Kind.MONITOR in names:
        place = Kind.MONITOR  # a product that uses such hardware
    others = names.pop(place, [])
    names[place] = [_short(itself.name) + (f", with {_listed(others)}" if others else "")]
    note = f"keeps apart {_listed(apart, most=8)}" if apart else "keeps nothing apart by itself"
    if apart and not_apart:
        note += f"; not {_listed(not_apart, most=8)}"
    return _isolated(rank, itself.name, _RUNS, names, note=(place, note), in_one_machine=in_one_machine)


def of_posture(
    title: str, agent: str, isolation: str, rank: int | None = None, stands_on: Iterable[Named] = ()
) -> CoreSample:
    """The drawing of a posture: the agent on top, what it stands on around it; without a rung what isolation says."""
    runs = f"what {agent} runs"
    if rank:
        names: dict[Kind, list[str]] = {}
        for each in stands_on:
            names.setdefault(_layer_of(rank, each.category), []).append(_short(each.name))
        return _isolated(rank, title, runs, {kind: [_listed(of, most=3)] for kind, of in names.items()})
    if isolation == "none":
        layers = [Layer(Kind.APP, runs, False, Side.BELOW), *_host_below()]
        return CoreSample("none", title, layers, "all else", "Nothing holds it: it has the user’s own rights.")
    layers = [
        Layer(Kind.APP, runs, False, Side.UNKNOWN),
        Layer(Kind.UNKNOWN, "something that the vendor does not disclose", False, Side.UNKNOWN),
    ]
    return CoreSample("undisclosed", title, layers, "", "Where the kernel boundary is, nobody outside can tell.")


def in_lists() -> list[CoreSample]:
    """The drawings that lists and cells use."""
    rungs = [of_rung(rank, "") for rank in range(1, 7)]
    return [*rungs, *(of_posture("", "it", isolation) for isolation in ("none", "undisclosed"))]


def _layer_of(rank: int, category: str) -> Kind:
    if rank >= FIRST_RANK_WITH_OWN_KERNEL:
        return _ABOVE_THE_LINE.get(category, Kind.MONITOR)
    return Kind.HARDWARE if category == "hardware-feature" else _BELOW_THE_LINE[rank - 1]


def _isolated(
    rank: int,
    title: str,
    runs: str,
    names: dict[Kind, list[str]],
    *,
    note: tuple[Kind, str] = (Kind.APP, ""),
    in_one_machine: bool = False,
) -> CoreSample:
    """The stack of a rung, with `names` on their layers and `note` on one of them."""

    def named(kind: Kind, unnamed: str) -> str:
        return _listed(names[kind]) if kind in names else unnamed

    def layer(kind: Kind, label: str, *, shared: bool, side: Side) -> Layer:
        return Layer(kind, label, shared, side, note[1] if kind == note[0] else "")

    hardware = f"hardware with {_listed(names[Kind.HARDWARE])}" if Kind.HARDWARE in names else _HARDWARE
    if rank < FIRST_RANK_WITH_OWN_KERNEL:
        inside = [layer(Kind.APP, runs, shared=False, side=Side.BELOW)]
        place = _BELOW_THE_LINE[rank - 1]
        if rank == 3:
            inside.append(layer(Kind.FILES, "a separate file system", shared=False, side=Side.BELOW))
        label = named(place, _UNNAMED[rank])
        if rank == 4 and place in names:
            label += ", a kernel in user space"
        if not (rank == 1 and Kind.HARDWARE in names):
            inside.append(layer(place, label, shared=False, side=Side.BELOW))
        kernel = "the kernel of one virtual machine" if in_one_machine else _HOST
        below = [
            layer(Kind.KERNEL, kernel, shared=True, side=Side.BELOW),
            layer(Kind.HARDWARE, hardware, shared=True, side=Side.BELOW),
        ]
        whose = "that machine’s" if in_one_machine else "the host’s"
        verdict = f"All of it is below the kernel line: {whose} kernel is shared."
        return CoreSample(str(rank), title, [*inside, *below], "all else" if rank < 3 else "neighbour", verdict)

    inside = [layer(Kind.APP, runs, shared=False, side=Side.ABOVE)]
    if rank == 6:
        inside.append(layer(Kind.FILES, "a whole operating system", shared=False, side=Side.ABOVE))
    kernel = f"{_listed(names[Kind.OWN_KERNEL])}, its own kernel" if Kind.OWN_KERNEL in names else "a kernel of its own"
    inside.append(layer(Kind.OWN_KERNEL, kernel, shared=False, side=Side.ABOVE))
    hypervisors = names.get(Kind.HYPERVISOR, [])
    behind = " in the host’s kernel" if hypervisors == ["KVM"] else ", then the host’s kernel"
    below = [
        layer(Kind.MONITOR, named(Kind.MONITOR, _UNNAMED[rank]), shared=False, side=Side.BELOW),
        layer(Kind.HYPERVISOR, f"{named(Kind.HYPERVISOR, 'a hypervisor')}{behind}", shared=True, side=Side.BELOW),
        layer(Kind.HARDWARE, hardware, shared=True, side=Side.BELOW),
    ]
    return CoreSample(str(rank), title, [*inside, *below], "neighbour", "The box brings its own kernel.")


def _host_below() -> list[Layer]:
    return [Layer(Kind.KERNEL, _HOST, True, Side.BELOW), Layer(Kind.HARDWARE, _HARDWARE, True, Side.BELOW)]


def _short(name: str) -> str:
    """A name without what is in brackets after it."""
    return name.split(" (")[0]


def _listed(names: Sequence[str], *, most: int = 2) -> str:
    """Names in a sentence; of many the first and how many more."""
    names = list(names)
    if len(names) > most + 1:
        names = [*names[:most], f"{len(names) - most} more"]
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"


# ---- where it goes ----


class _Measures(NamedTuple):
    """The sizes of a drawing. `heights` are those of layers without words."""

    width: int
    box: int  # width of the box that it is about; the rest is its neighbour's
    gap: int
    inset: int  # between a box and what is in it
    line: int  # room for the kernel line
    total: int  # height of every drawing, 0 for as high as it comes
    heights: dict[Kind, int]
    label: int  # height of a line of text; 0 for a drawing without words
    note: int


_SMALL = _Measures(
    width=64,
    box=34,
    gap=5,
    inset=2,
    line=8,
    total=48,
    heights={
        Kind.APP: 8,
        Kind.FILES: 4,
        Kind.WALL: 3,
        Kind.FEATURE: 4,
        Kind.USER_KERNEL: 7,
        Kind.OWN_KERNEL: 7,
        Kind.MONITOR: 3,
        Kind.HYPERVISOR: 6,
        Kind.KERNEL: 9,
        Kind.HARDWARE: 5,
        Kind.UNKNOWN: 32,
    },
    label=0,
    note=0,
)
_LARGE = _Measures(
    width=320,
    box=222,
    gap=12,
    inset=8,
    line=34,
    total=0,
    heights=dict.fromkeys(Kind, 18) | {Kind.UNKNOWN: 70},
    label=18,
    note=15,
)
_LETTER = 7.4  # about the width of one, in a label
_SMALL_LETTER = 6.2  # and in a note


class _Column(NamedTuple):
    """Where things stand side by side: the box that it is about, its neighbour, or what both stand on."""

    x: float
    width: float

    def within(self, inset: int) -> "_Column":
        return _Column(self.x + inset, self.width - 2 * inset)


def _draw(sample: CoreSample, by: _Measures) -> Drawing:
    """From the top down: the kernel line or what is above it, then the rest."""
    unknown, own = sample.key == "undisclosed", sample.has_own_kernel
    whole = _Column(1, by.width - 2)
    box = whole if unknown else _Column(1, by.box)
    beside = _Column(1 + by.box + by.gap, by.width - 2 - by.box - by.gap)
    inside = [layer for layer in sample.layers if not layer.shared and layer.kind != Kind.MONITOR]
    below = [layer for layer in sample.layers if layer not in inside]
    has_box = any(layer.kind in (Kind.FILES, Kind.WALL, Kind.USER_KERNEL, Kind.OWN_KERNEL) for layer in inside)
    inset = by.inset if has_box else 0

    def column(layer: Layer) -> _Column:
        return whole if layer.shared else box if layer in below else box.within(inset)

    heights = {layer: _height(layer, column(layer).width, by) for layer in sample.layers}
    room_for_line = 0 if unknown else by.line
    used = sum(heights.values()) + room_for_line + 2 * inset + 2
    height = by.total or used
    top = y = height - used + 1 + (0 if own else room_for_line)
    shapes: list[Shape] = []
    words: list[Word] = []

    y += inset
    for layer in inside:
        shapes.append(_shape(layer.kind, column(layer), y, heights[layer]))
        words += _words(layer, column(layer), y, by)
        if sample.neighbour == "neighbour":
            shapes.append(_shape(layer.kind, beside.within(inset), y, heights[layer]))
        y += heights[layer]
    if unknown:
        return Drawing(by.width, height, shapes, words, None, _hatch(shapes[-1], 10 if by.label else 6))
    y += inset

    # What is set into the kernel has the kernel beside it, and everything else stands on that.
    set_in = sum(heights[layer] for layer in inside if layer.kind == Kind.FEATURE)
    high = heights[inside[0]]
    at = top + inset if sample.neighbour == "neighbour" else y - set_in - high
    if sample.neighbour != "neighbour":
        shapes.append(_shape("other", beside, at, high))
    elif has_box:
        shapes.insert(0, _shape("box", beside, top, y - top))
    if has_box:
        shapes.insert(0, _shape("box", box, top, y - top))
    if by.label:
        words.append(Word("note middle", beside.x + beside.width / 2, at + high / 2 + 4, sample.neighbour))

    line = y + by.line / 2 if own else by.line / 2
    y += by.line if own else 0
    for layer in below:
        if layer.kind == Kind.KERNEL:
            shapes.insert(0, _shape(layer.kind, whole, y - set_in, heights[layer] + set_in))
        else:
            shapes.append(_shape(layer.kind, column(layer), y, heights[layer]))
        if layer.kind == Kind.MONITOR:
            shapes.append(_shape(layer.kind, beside, y, heights[layer]))
        words += _words(layer, column(layer), y, by)
        y += heights[layer]
    return Drawing(by.width, height, shapes, words, line)


def _shape(kind: str, column: _Column, y: float, height: float) -> Shape:
    return Shape(kind, column.x, y, column.width, height)


def _lines(layer: Layer, room: float, by: _Measures) -> tuple[list[str], list[str]]:
    label = textwrap.wrap(layer.label, int((room - 20) / _LETTER))
    return label, textwrap.wrap(layer.note, int((room - 20) / _SMALL_LETTER))


def _height(layer: Layer, room: float, by: _Measures) -> int:
    if not by.label:
        return by.heights[layer.kind]
    label, note = _lines(layer, room, by)
    return by.heights[layer.kind] + by.label * len(label) + by.note * len(note)


def _hatch(shape: Shape, step: int) -> str:
    """A path of slanting lines all over a shape."""
    path = ""
    for start in range(-int(shape.height) + step, int(shape.width), step):
        left, right = max(0, start), min(shape.width, start + shape.height)
        path += f"M{shape.x + left:g} {shape.y + shape.height - (left - start):g}l{right - left:g} {left - right:g}"
    return path


def _words(layer: Layer, column: _Column, y: float, by: _Measures) -> list[Word]:
    middle = column.x + column.width / 2
    if layer.kind == Kind.UNKNOWN:
        question = Word("layer-question", middle, y + (46 if by.label else 24), "?")
        label = _lines(layer, column.width, by)[0] if by.label else []
        return [question, *(Word("over-hatch", middle, y + 54 + by.label * n, text) for n, text in enumerate(label, 1))]
    if not by.label:
        return []
    label, note = _lines(layer, column.width, by)
    hues = {Kind.KERNEL: "shared-kernel", Kind.USER_KERNEL: "shared-kernel", Kind.OWN_KERNEL: "own-kernel"}
    at = y + by.heights[layer.kind] / 2 - 4
    end = at + by.label * len(label)
    return [
        *(Word(hues.get(layer.kind, ""), column.x + 10, at + by.label * n, text) for n, text in enumerate(label, 1)),
        *(Word("note", column.x + 10, end + by.note * n, text) for n, text in enumerate(note, 1)),
    ]
