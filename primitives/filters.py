"""The reference's filters."""

from typing import Any

from django.db.models import Case, CharField, F, Func, QuerySet, Value, When
from django.db.models.functions import Lower
from django.http import QueryDict

from evidence.filters import FacetedFilterSet, KnownValuesFilter, SearchFilter
from evidence.models import Label
from ladder.models import Tier
from primitives.models import Category, Isolates, Platform, Primitive, Status
from primitives.querysets import PrimitiveQuerySet

# What each order of the reference sorts by, before the name; fields of PrimitiveQuerySet.for_list.
ORDER_BY: dict[str, list[Any]] = {
    "name": [],
    "tier": ["-tier__rank"],
    "claims": ["-claim_count"],
    "checked": [F("last_checked").desc(nulls_last=True)],
}


class PrimitiveFilterSet(FacetedFilterSet):
    """The reference's filters.

    An entry has one tier, category and status: with several chosen, any of them will do. It has many platforms,
    labels and things that it isolates: with several chosen, it must have all.
    """

    q = SearchFilter(method="search", label="Search")
    tier = KnownValuesFilter(field_name="tier__slug", label="Rung")
    platform = KnownValuesFilter(method="on_all_platforms", label="Runs on")
    isolates = KnownValuesFilter(method="isolating_all", label="Isolates", choices=Isolates.choices)
    category = KnownValuesFilter(field_name="category__slug", label="Category")
    label = KnownValuesFilter(method="with_all_labels", label="Has a claim that is", choices=Label.choices)
    status = KnownValuesFilter(field_name="status", label="Status", choices=Status.choices)

    FACETS = {
        "tier": "tier__slug",
        "platform": "platforms__slug",
        "isolates": Func(F("isolates"), function="unnest", output_field=CharField()),
        "category": "category__slug",
        "label": Case(When(claims__is_published=True, then=F("claims__label"))),
        "status": "status",
    }
    ANY_OF = {"tier", "category", "status"}
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
        return queryset.search(value)

    def on_all_platforms(self, queryset: PrimitiveQuerySet, name: str, value: list[str]) -> PrimitiveQuerySet:
        for slug in value:
            queryset = queryset.filter(platforms__slug=slug)
        return queryset

    def isolating_all(self, queryset: PrimitiveQuerySet, name: str, value: list[str]) -> PrimitiveQuerySet:
        return queryset.filter(isolates__contains=value)

    def with_all_labels(self, queryset: PrimitiveQuerySet, name: str, value: list[str]) -> PrimitiveQuerySet:
        for label in value:
            queryset = queryset.with_label(label)
        return queryset


def _choices_from_the_database() -> dict[str, list[tuple[str, str]]]:
    """The options of the filters that curators can add to, in one query; of platforms those that an entry runs on."""
    tiers = Tier.objects.order_by().values_list(Value("tier"), "slug", "name", "rank")
    categories = Category.objects.order_by().values_list(Value("category"), "slug", "name", Value(0))
    platforms = (
        Platform.objects.filter(primitives__is_published=True)
        .order_by()
        .distinct()
        .values_list(Value("platform"), "slug", "name", "position")
    )
    choices: dict[str, list[tuple[str, str]]] = {"tier": [], "category": [], "platform": []}
    rows = tiers.union(categories, platforms, all=True)
    for name, slug, title, _ in sorted(rows, key=lambda row: (row[0], -row[3] if row[0] == "tier" else row[3], row[2])):
        choices[name].append((slug, title))
    return choices
