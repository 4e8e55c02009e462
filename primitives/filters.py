"""The reference's filters."""

from functools import cached_property
from typing import Any

from django.db.models import Count, Exists, F, Func, OuterRef, QuerySet, TextField, Value
from django.db.models.functions import Concat, Lower
from django.http import QueryDict

from evidence.filters import FacetedFilterSet, KnownValuesFilter, SearchFilter
from evidence.models import Label
from ladder.models import Tier
from primitives.models import Category, Isolates, Platform, Primitive, Status
from primitives.querysets import PrimitiveQuerySet

# What each order of the reference sorts by, before the name; fields of PrimitiveQuerySet.for_list.
ORDER_BY: dict[str, list[Any]] = {
    "name": [],
    "tier": [F("tier_rank").desc()],
    "claims": [F("claim_count").desc()],
    "checked": [F("last_checked").desc(nulls_last=True)],
}


class PrimitiveFilterSet(FacetedFilterSet):
    """The reference's filters.

    An entry has one tier, category and status: with several chosen, any of them will do. It has many platforms,
    labels and things that it isolates: with several chosen, it must have all.
    """

    q = SearchFilter(method="search", label="Search")
    tier = KnownValuesFilter(method="with_any", label="Rung")
    platform = KnownValuesFilter(method="with_all", label="Runs on")
    isolates = KnownValuesFilter(method="with_all", label="Isolates", choices=Isolates.choices)
    category = KnownValuesFilter(method="with_any", label="Category")
    label = KnownValuesFilter(method="with_all", label="Has a claim that is", choices=Label.choices)
    status = KnownValuesFilter(method="with_any", label="Status", choices=Status.choices)

    # All are values in the one column `facets` (primitives.listing).
    FACETS = dict.fromkeys(["tier", "platform", "isolates", "category", "label", "status"])
    ANY_OF = {"tier", "category", "status"}
    # Far more than there are today; and the counts of a page over 100,000 cost little more than over these.
    MOST_COUNTED = 1_000
    PICK = "p"
    COMPARE = "compare_primitives"
    SORTS = {
        "name": "name",
        "tier": "rung, strongest first",
        "claims": "number of claims",
        "checked": "last checked",
    }

    class Meta:
        model = Primitive
        fields: list[str] = []

    def __init__(self, data: QueryDict) -> None:
        super().__init__(data, queryset=Primitive.objects.published())
        for name, choices in _choices_from_the_database().items():
            self.filters[name].extra["choices"] = choices

    def found(self) -> QuerySet[Primitive]:
        """The entries found, ready for a list, in the order asked for."""
        entries: PrimitiveQuerySet = self.qs.for_list()
        return entries.best_first() if self.sort == "best" else entries.order_by(*ORDER_BY[self.sort], Lower("name"))

    def pickable(self) -> QuerySet[Primitive]:
        return Primitive.objects.published().only("slug", "name")

    def search(self, queryset: PrimitiveQuerySet, name: str, value: str) -> PrimitiveQuerySet:
        return queryset.search(value, literally=self._is_literal)

    @cached_property
    def _is_literal(self) -> bool:
        return Primitive.objects.published().has_words(self.chosen["q"])

    def with_any(self, queryset: PrimitiveQuerySet, name: str, value: list[str]) -> PrimitiveQuerySet:
        return queryset.filter(facets__overlap=_facets(name, value))

    def with_all(self, queryset: PrimitiveQuerySet, name: str, value: list[str]) -> PrimitiveQuerySet:
        return queryset.filter(facets__contains=_facets(name, value))

    def counts(self) -> dict[tuple[str, str], int]:
        """How many entries each option would show (one query)."""
        # The options of a filter that widens are counted over what the others find; all else over what all find.
        passes = {name: name if name in self.ANY_OF and name in self.chosen else "" for name in self.FACETS}
        first, *others = [self._facet_counts(left_out) for left_out in dict.fromkeys(passes.values())]
        counts: dict[tuple[str, str], int] = {}
        for left_out, facet, number in first.union(*others, all=True):
            of, _, value = facet.partition(":")
            counts |= {(name, value): number for name in passes if passes[name] == left_out and of in (name, "all")}
        return counts

    def _facet_counts(self, left_out: str) -> QuerySet[Any]:
        """Rows of (filter left out, facet, number): for each facet, and in all, of what the other filters find."""
        found = self.filtered(leaving_out=left_out).order_by(Lower("name")).values("pk")[: self.MOST_COUNTED + 1]
        facets = Func(
            Func(F("facets"), Value("all"), function="array_append"), function="unnest", output_field=TextField()
        )
        return (
            Primitive.objects.filter(pk__in=found)
            .order_by()
            .annotate(facet=facets)
            .values_list(Value(left_out, TextField()), "facet")
            .annotate(number=Count("pk"))
        )


def _facets(name: str, values: list[str]) -> list[str]:
    return [f"{name}:{value}" for value in values]


def _choices_from_the_database() -> dict[str, list[tuple[str, str]]]:
    """The options of the filters that curators can add to, in one query; of platforms those that an entry runs on."""
    tiers = Tier.objects.order_by().values_list(Value("tier"), "slug", "name", "rank")
    categories = Category.objects.order_by().values_list(Value("category"), "slug", "name", Value(0))
    runs_on_it = Primitive.objects.published().filter(facets__contains=[Concat(Value("platform:"), OuterRef("slug"))])
    platforms = Platform.objects.filter(Exists(runs_on_it)).order_by()
    platforms = platforms.values_list(Value("platform"), "slug", "name", "position")
    choices: dict[str, list[tuple[str, str]]] = {"tier": [], "category": [], "platform": []}
    rows = tiers.union(categories, platforms, all=True)
    for name, slug, title, _ in sorted(rows, key=lambda row: (row[0], -row[3] if row[0] == "tier" else row[3], row[2])):
        choices[name].append((slug, title))
    return choices
