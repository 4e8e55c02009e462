"""The filters of the matrix of sandboxes by environments."""

from django.db.models import Case, Exists, OuterRef, QuerySet, When
from django.http import QueryDict

from evidence.filters import FacetedFilterSet, KnownValuesFilter
from evidence.models import Claim, Label
from nesting.models import Cell, Environment, Inner, Result


class CellFilterSet(FacetedFilterSet):
    """Filters over cells, and which cell is open: `open` in the address, sandbox and environment with a dot between."""

    outer = KnownValuesFilter(field_name="outer__slug", label="Where")
    inner = KnownValuesFilter(field_name="inner__slug", label="What")
    result = KnownValuesFilter(field_name="result", label="Does it run", choices=Result.choices)
    label = KnownValuesFilter(method="with_label", label="How well it is known", choices=Label.choices)

    FACETS = {
        "outer": "outer__slug",
        "inner": "inner__slug",
        "result": "result",
        "label": Case(When(claims__is_published=True, then="claims__label")),
    }
    ANY_OF = {*FACETS}
    SORTS = {"place": "place"}

    class Meta:
        model = Cell
        fields: list[str] = []

    def __init__(self, data: QueryDict) -> None:
        super().__init__(data, queryset=Cell.objects.all())
        self.inners = list(Inner.objects.all())
        self.environments = list(Environment.objects.all())
        self.opened: tuple[str, str] | None = None
        self.filters["inner"].extra["choices"] = [(each.slug, each.name) for each in self.inners]
        self.filters["outer"].extra["choices"] = [(each.slug, each.name) for each in self.environments]

    def with_label(self, queryset: QuerySet[Cell], name: str, value: list[str]) -> QuerySet[Cell]:
        """Those with a published claim that wears one of the labels."""
        return queryset.filter(Exists(Claim.objects.no_drafts().filter(cell=OuterRef("pk"), label__in=value)))

    @property
    def asks_of_cells(self) -> bool:
        """Whether it asks for something that only a cell can have, and not a combination that nobody looked at."""
        return bool({"result", "label"} & set(self.chosen))

    @property
    def asked_open(self) -> tuple[str, str]:
        """Which sandbox in which environment the address asks to see open; nothing of it need exist."""
        inner, _, outer = self.data.get("open", "").partition(".")
        return inner, outer

    def query(self, without: str = "", *, picked: list[str] | None = None, **changes: str) -> str:
        opened = {"open": ".".join(self.opened)} if self.opened and "open" not in changes else {}
        return super().query(without, picked=picked, **opened | {k: v for k, v in changes.items() if v})
