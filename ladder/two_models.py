"""The two models: what the page /models/ teaches, step by step.

The words are in two_models.yaml and the outputs of the commands in two_models_outputs.yaml, which tools/take_apart.py
writes. Both are teaching material of this code, not curated content, and are read once, at import. Claims, breaks and
entries are named there by their addresses, and looked up in the database for each page.
"""

import datetime
import re
from dataclasses import dataclass, field
from functools import cached_property, reduce
from itertools import chain
from operator import or_
from pathlib import Path
from typing import Any, NamedTuple

import yaml
from django.db.models import Q, QuerySet, Value

from ladder.models import Kernel, Tier

FOLDER = Path(__file__).resolve().parent
LINK = re.compile(r"\[([^\]]+)\]\(/(primitives|ladder)/([a-z0-9-]+)/#([a-z0-9-]+)\)")
STRONG = re.compile(r"^\*\*([^*]+)\*\* ")


class ClaimAddress(NamedTuple):
    """Where a claim is: `room` is primitives or ladder, `subject` the entry's or rung's slug."""

    room: str
    subject: str
    slug: str

    def __str__(self) -> str:
        return f"/{self.room}/{self.subject}/#{self.slug}"


class BreakAddress(NamedTuple):
    """Which break: the entry's slug, and the identifier that it has there."""

    primitive: str
    identifier: str


class Piece(NamedTuple):
    """A part of a paragraph: plain, or the words that a claim stands behind."""

    text: str
    claim: ClaimAddress | None


@dataclass(frozen=True)
class Paragraph:
    """Text with links to claims. `warning` is what it says first and in bold, if it does."""

    source: str

    @cached_property
    def warning(self) -> str:
        found = STRONG.match(self.source)
        return found[1] if found else ""

    @cached_property
    def pieces(self) -> list[Piece]:
        pieces = []
        rest = STRONG.sub("", self.source)
        end = 0
        for link in LINK.finditer(rest):
            pieces += [Piece(rest[end : link.start()], None), Piece(link[1], ClaimAddress(*link.groups()[1:]))]
            end = link.end()
        return [piece for piece in (*pieces, Piece(rest[end:], None)) if piece.text]

    @property
    def claims(self) -> list[ClaimAddress]:
        return [piece.claim for piece in self.pieces if piece.claim]


@dataclass(frozen=True)
class Run:
    """A command, as it was run, and what it wrote. `where` it looks from: outside, inside, host, guest or jail."""

    key: str
    user: str
    where: str
    command: str
    output: str
    exit_code: int

    @property
    def prompt(self) -> str:
        return "#" if self.user == "root" else "$"

    @property
    def where_in_words(self) -> str:
        return {
            "outside": "outside",
            "inside": "inside",
            "host": "on the host",
            "guest": "from the host, into the guest",
            "jail": "inside the second wall",
        }[self.where]


@dataclass(frozen=True)
class Recording:
    """All outputs, and what they were recorded with."""

    made_on: datetime.date
    kernel: str
    tools: dict[str, str]
    runs: dict[str, Run]


@dataclass(frozen=True)
class Way:
    """What an attacker needs on the way to the host, one thing after the other."""

    title: str
    kernel: Kernel
    needs: list[Paragraph]


@dataclass(frozen=True)
class Step:
    """One thing to learn. Only `slug`, `title` and `part` are never empty."""

    slug: str
    title: str
    part: str
    number: int  # within its part, from 1
    entries: list[str] = field(default_factory=list)  # slugs of primitives
    layer: str = ""  # what it adds to the drawing
    takes: str = ""  # what the layer takes away, in a word or three
    text: list[Paragraph] = field(default_factory=list)  # before the outputs
    runs: list[Run] = field(default_factory=list)
    after: list[Paragraph] = field(default_factory=list)  # after the outputs
    breaks_title: str = ""
    breaks: list[BreakAddress] = field(default_factory=list)
    other_breaks_title: str = ""
    other_breaks: list[BreakAddress] = field(default_factory=list)
    ways: list[Way] = field(default_factory=list)

    @property
    def claims(self) -> list[ClaimAddress]:
        paragraphs = chain(self.text, self.after, *(way.needs for way in self.ways))
        return [claim for paragraph in paragraphs for claim in paragraph.claims]


@dataclass(frozen=True)
class Part:
    """One of the four parts of the page."""

    slug: str
    title: str
    lede: str
    steps: list[Step]


def read_recording(document: dict[str, Any]) -> Recording:
    """The outputs in a document of the form that tools/take_apart.py writes."""
    runs = {key: Run(key=key, **run) for key, run in document["runs"].items()}
    return Recording(**{**document, "runs": runs})


def read_parts(document: dict[str, Any], recording: Recording) -> list[Part]:
    """The parts in a document like two_models.yaml. A command without an output is a KeyError."""
    return [
        Part(
            **{
                **part,
                "steps": [
                    _read_step(step, part["slug"], number, recording) for number, step in enumerate(part["steps"], 1)
                ],
            }
        )
        for part in document["parts"]
    ]


def _read_step(step: dict[str, Any], part: str, number: int, recording: Recording) -> Step:
    read: dict[str, Any] = {**step, "part": part, "number": number}
    read["runs"] = [recording.runs[key] for key in step.get("runs", [])]
    for name in ("text", "after"):
        read[name] = [Paragraph(text) for text in step.get(name, [])]
    for name in ("breaks", "other_breaks"):
        read[name] = [BreakAddress(*address.split("/")) for address in step.get(name, [])]
    read["ways"] = [
        Way(way["title"], Kernel(way["kernel"]), [Paragraph(text) for text in way["needs"]])
        for way in step.get("ways", [])
    ]
    return Step(**read)


def _load(name: str) -> dict[str, Any]:
    document: dict[str, Any] = yaml.safe_load((FOLDER / name).read_text(encoding="utf-8"))
    return document


RECORDING = read_recording(_load("two_models_outputs.yaml"))
PARTS = read_parts(_load("two_models.yaml"), RECORDING)
STEPS = [step for part in PARTS for step in part.steps]


FIRST_LAYER = 62  # where in the drawing of the container the first layer begins
LAYER = 22
THIN = 11


class Layer(NamedTuple):
    """One layer in the drawing of the container, at height `y`; `is_new` in the drawing of the step that adds it."""

    title: str
    takes: str
    y: int
    thin_y: int  # in the drawing of several boxes, whose layers are thin
    is_new: bool


def layers_at(step: Step) -> list[Layer]:
    """The layers that `step` and the steps before it have put round the process; all of them after its part."""
    steps = [other for other in STEPS[: STEPS.index(step) + 1] if other.takes]
    return [
        Layer(other.layer, other.takes, FIRST_LAYER + LAYER * place, FIRST_LAYER + THIN * place, other is step)
        for place, other in enumerate(steps)
    ]


class KnownClaim(NamedTuple):
    """A claim that is there."""

    label: str
    sentence: str


class KnownBreak(NamedTuple):
    """A published break that is there, and what was broken."""

    identifier: str
    nickname: str
    year: int
    summary: str
    url: str
    primitive: str
    title: str


class Entry(NamedTuple):
    """A primitive that is there. `kernel` is that of its rung."""

    slug: str
    title: str
    kernel: str


class Known(NamedTuple):
    """What the database knows of what steps name. What is not there is left out."""

    claims: dict[ClaimAddress, KnownClaim]
    breaks: dict[BreakAddress, KnownBreak]
    entries: dict[str, Entry]


# Drafts are not there for the public.
PUBLISHED = Q(primitives__is_published=True)


def look_up(steps: list[Step]) -> Known:
    """The claims, breaks and entries that `steps` name, in three queries.

    The ladder knows nobody above it, so it asks through the relations that others have to its rungs.
    """
    return Known(
        claims=_claims({claim for step in steps for claim in step.claims}),
        breaks=_breaks({address for step in steps for address in (*step.breaks, *step.other_breaks)}),
        entries=_entries({slug for step in steps for slug in step.entries}),
    )


def _claims(addresses: set[ClaimAddress]) -> dict[ClaimAddress, KnownClaim]:
    def found(room: str, to_subject: str) -> QuerySet[Tier, Any]:
        subject_is_public = {f"{to_subject}is_published": True} if to_subject else {}
        wanted = [
            Q(
                **{f"{to_subject}slug": address.subject, f"{to_subject}claims__slug": address.slug},
                **{f"{to_subject}claims__is_published": True, **subject_is_public},
            )
            for address in sorted(addresses)
            if address.room == room
        ]
        fields = ("slug", "claims__slug", "claims__label", "claims__sentence")
        return _any_of(wanted).values_list(Value(room), *(f"{to_subject}{name}" for name in fields))

    rows = found("primitives", "primitives__").union(found("ladder", ""), all=True)
    return {ClaimAddress(*address): KnownClaim(label, sentence) for *address, label, sentence in rows}


def _breaks(addresses: set[BreakAddress]) -> dict[BreakAddress, KnownBreak]:
    wanted = [
        PUBLISHED & Q(primitives__slug=address.primitive, primitives__breaks__identifier=address.identifier)
        for address in sorted(addresses)
    ]
    fields = ("identifier", "nickname", "year", "summary", "url")
    rows = _any_of(wanted).values_list(
        *(f"primitives__breaks__{name}" for name in fields), "primitives__slug", "primitives__name"
    )
    found = [KnownBreak(*row) for row in rows]
    return {BreakAddress(known.primitive, known.identifier): known for known in found}


def _entries(slugs: set[str]) -> dict[str, Entry]:
    rows = _any_of([PUBLISHED & Q(primitives__slug__in=sorted(slugs))])
    return {row[0]: Entry(*row) for row in rows.values_list("primitives__slug", "primitives__name", "kernel")}


def _any_of(conditions: list[Q]) -> QuerySet[Tier]:
    return Tier.objects.order_by().filter(reduce(or_, conditions, Q(pk__in=[])))
