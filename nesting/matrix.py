"""The matrix: environments by sandboxes, and in each square a cell, or that nobody looked."""

from dataclasses import dataclass, field

from django.db.models import BooleanField, ExpressionWrapper, Q, Value

from nesting.filters import CellFilterSet
from nesting.models import Cell, Environment, Inner


@dataclass(frozen=True)
class Square:
    """A sandbox in an environment. No cell: nobody looked. `is_found`: the filters find it."""

    inner: Inner
    outer: Environment
    cell: Cell | None
    is_found: bool
    is_open: bool
    query: str
    """The address's query that opens it, or closes it where it is open."""


@dataclass
class Row:
    """An environment with a square for each sandbox shown."""

    outer: Environment
    query: str
    """The address's query for this environment alone."""
    squares: list[Square] = field(default_factory=list)

    @property
    def opened(self) -> Square | None:
        """The square that is open, if it is in this row."""
        return next((square for square in self.squares if square.is_open), None)

    @property
    def numbers(self) -> list[tuple[str, int]]:
        """How many of its cells found have each result, those that none has left out."""
        found = [square.cell for square in self.squares if square.cell and square.is_found]
        results = dict.fromkeys(cell.get_result_display() for cell in found)
        return [(result, sum(cell.get_result_display() == result for cell in found)) for result in results]


def matrix(filterset: CellFilterSet) -> tuple[list[Inner], list[Row]]:
    """The columns and rows that the filters leave, and which square is open (one query).

    What a filter for places or sandboxes names is shown, looked at or not; a filter for what only a cell can have
    leaves out the rows and columns in which it finds none.
    """
    found = Value(True)
    if filterset.chosen:
        found = ExpressionWrapper(Q(pk__in=filterset.filtered().values("pk")), BooleanField())  # type: ignore[assignment]
    cells = {(cell.outer_id, cell.inner_id): cell for cell in Cell.objects.labelled().annotate(is_found=found)}
    named = [cell for cell in cells.values() if cell.is_found]

    def shown(each: Inner | Environment, name: str) -> bool:
        chosen = filterset.chosen.get(name)
        has_found = any(getattr(cell, f"{name}_id") == each.pk for cell in named)
        return (not chosen or each.slug in chosen) and (has_found or not filterset.asks_of_cells)

    columns = [inner for inner in filterset.inners if shown(inner, "inner")]
    rows = [Row(outer, "") for outer in filterset.environments if shown(outer, "outer")]
    asked = filterset.asked_open
    if any(inner.slug == asked[0] for inner in columns) and any(row.outer.slug == asked[1] for row in rows):
        filterset.opened = asked
    for row in rows:
        row.query = filterset.query(without="outer", outer=row.outer.slug, open="")
        for inner in columns:
            cell = cells.get((row.outer.pk, inner.pk))
            is_open = (inner.slug, row.outer.slug) == filterset.opened
            if cell:
                cell.inner, cell.outer = inner, row.outer
            row.squares.append(
                Square(
                    inner,
                    row.outer,
                    cell,
                    is_found=cell.is_found if cell else not filterset.asks_of_cells,
                    is_open=is_open,
                    query=filterset.query(open="" if is_open else f"{inner.slug}.{row.outer.slug}"),
                )
            )
    return columns, rows
