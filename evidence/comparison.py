"""What every comparison shares: entries picked by an address, and a table of them in which differences are marked."""

import re
from collections.abc import Callable, Hashable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode

from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect, QueryDict
from django.shortcuts import render

from evidence.models import SLUG, Label

FEWEST = 2
MOST = 4
LONGEST_SLUG = 60
NUMBERS = ["no", "one", "two", "three", "four"]


class Picks:
    """The entries that an address picks with what it says under `key`: those that there are, each once, in its order;
    and what is unknown of it. `pickable` gives what can be picked.
    """

    def __init__(self, key: str, picked: list[str], pickable: Callable[[], QuerySet[Any]]) -> None:
        self.key = key
        asked = list(dict.fromkeys(filter(None, picked)))
        possible = [slug for slug in asked if len(slug) <= LONGEST_SLUG and re.fullmatch(SLUG, slug)]
        found = {entry.slug: entry for entry in pickable().filter(slug__in=possible)} if possible else {}
        self.entries = [found[slug] for slug in asked if slug in found]
        self.unknown = [slug for slug in asked if slug not in found]

    @property
    def slugs(self) -> list[str]:
        """Of the known ones."""
        return [entry.slug for entry in self.entries]

    @property
    def query(self) -> str:
        """The address's query that picks these and says nothing else."""
        return urlencode({self.key: self.slugs}, doseq=True)

    @property
    def notices(self) -> list[str]:
        """What is unknown, in a sentence if there is any."""
        named = ", ".join(f"“{slug[:40]}”" for slug in self.unknown[:3])
        more = f" and {len(self.unknown) - 3} more" if len(self.unknown) > 3 else ""
        return [f"Compare: there is no {named}{more}, so it was left out."] if named else []


@dataclass(frozen=True)
class Cell:
    """What one entry has in a row.

    `key` is compared; `detail` are words beside the value, which may differ on their own; `absent` is said instead of a
    value where there can be none.
    """

    key: Hashable
    value: Any = None
    detail: str = ""
    absent: str = ""


@dataclass(frozen=True)
class Row:
    """One property of all that are compared. `template` shows a cell's value; by default it is text or unknown."""

    title: str
    cells: list[Cell]
    template: str = "evidence/_compared_text.html"

    @property
    def difference(self) -> str:
        """In words how the cells differ, or "" where all are equal."""
        if len({cell.key for cell in self.cells}) > 1:
            return "differs"
        details = {" ".join(cell.detail.lower().split()) for cell in self.cells}
        return "differs in detail" if len(details) > 1 else ""


@dataclass(frozen=True)
class Section:
    """Rows that belong together."""

    title: str
    rows: list[Row]


def text_cell(text: str) -> Cell:
    """A cell of plain text; without any it says unknown."""
    return Cell(text.strip(), text.strip())


def names_cell(entries: list[Any], nothing: str) -> Cell:
    """A cell that names entries in whatever order; `nothing` is said where there is none."""
    return Cell(frozenset(entry.pk for entry in entries) or nothing, entries, absent="" if entries else nothing)


def labels_cell(numbers: Mapping[str, int]) -> Cell:
    """A cell with how many claims bear each label."""
    lines = [(label, numbers.get(label.value, 0)) for label in Label]
    return Cell(tuple(number for _, number in lines), lines)


def breaks_cell(number: int, newest: int | None) -> Cell:
    """A cell with how many breaks are published, and the year of the newest."""
    return text_cell(f"{number}, the newest of {newest}" if number else "none that we know of")


class Comparison:
    """A comparison as its address asks for it: at most four entries, and of the rows all or those that differ.

    `options` are what else the address may say. A subject's own views fill in the rows.
    """

    def __init__(self, request: HttpRequest, key: str, pickable: QuerySet[Any], *, options: Iterable[str] = ()) -> None:
        self.request = request
        self.picks = Picks(key, request.GET.getlist(key), pickable.all)
        self.notices = self.picks.notices
        if left_out := self.picks.entries[MOST:]:
            names = ", ".join(str(entry) for entry in left_out[:10])
            self.notices.append(f"At most {NUMBERS[MOST]} stand side by side. Left out: {names}.")
            self.picks.entries = self.picks.entries[:MOST]
        self.only_differences = request.GET.get("only") == "differences"
        self.known = [key, *options, "only"]
        self.chosen = {"only": "differences"} if self.only_differences else {}
        self.sections: list[Section] = []

    @property
    def can_be_made(self) -> bool:
        """Whether there is something to hold against something."""
        return len(self.picks.entries) >= FEWEST

    def elsewhere(self) -> HttpResponse | None:
        """A redirect where the address says more than a comparison takes: a list's form sends all its fields along."""
        given = self.request.GET
        if all(name in self.known and value for name, values in given.lists() for value in values):
            return None
        tidy = QueryDict(mutable=True)
        for name in self.known:
            tidy.setlist(name, [value for value in given.getlist(name) if value])
        query = tidy.urlencode()
        return HttpResponseRedirect(f"{self.request.path}?{query}" if query else self.request.path)

    def query(self, *, leaving_out: str = "", **changes: str) -> str:
        """The address's query for what is shown, but for one entry, or with these changes ("" takes one away)."""
        query = QueryDict(mutable=True)
        query.setlist(self.picks.key, [slug for slug in self.picks.slugs if slug != leaving_out])
        for name, value in {**self.chosen, **changes}.items():
            if value:
                query[name] = value
        return query.urlencode()

    @property
    def columns(self) -> list[tuple[Any, str]]:
        """Each entry, with the query that leaves it out; none where too few would be left."""
        many = len(self.picks.entries) > FEWEST
        return [(entry, self.query(leaving_out=entry.slug) if many else "") for entry in self.picks.entries]

    @property
    def shown(self) -> list[tuple[str, list[tuple[Row, list[tuple[Any, Cell]]]]]]:
        """The rows that are asked for, in their sections: each with its cells and whose they are."""
        sections = [
            (section.title, [row for row in section.rows if row.difference or not self.only_differences])
            for section in self.sections
        ]
        entries = self.picks.entries
        return [
            (title, [(row, list(zip(entries, row.cells, strict=True))) for row in rows])
            for title, rows in sections
            if rows
        ]

    @property
    def total(self) -> int:
        """How many rows there are."""
        return sum(len(section.rows) for section in self.sections)

    @property
    def differing(self) -> int:
        """In how many of them not all are equal."""
        return sum(bool(row.difference) for section in self.sections for row in section.rows)

    @property
    def other_view(self) -> str:
        """The query that shows what is hidden now, or hides what is equal."""
        return self.query(only="" if self.only_differences else "differences")

    def page(self, template: str, **context: Any) -> HttpResponse:
        """The page, with or without a table."""
        return render(self.request, template, {"comparison": self, **context})
