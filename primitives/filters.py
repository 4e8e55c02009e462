"""The reference's filters."""

from collections import defaultdict
from functools import cached_property
from typing import Any

from django.db import connections
from django.db.models import Exists, F, OuterRef, QuerySet, Value
from django.db.models.functions import Concat, Lower
from django.http import HttpRequest, QueryDict

from evidence.filters import FacetedFilterSet, KnownValuesFilter, SearchFilter
from evidence.kept import KeptByRevision
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


# Of very many entries that a search finds, so many that have it in their names are looked at before all others.
MOST_NAMED = 200

_KEPT = KeptByRevision(1)


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
    MOST_RANKED = 500
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

    def __init__(self, data: QueryDict, request: HttpRequest | None = None) -> None:
        super().__init__(data, queryset=Primitive.objects.published(), request=request)
        for name, choices in _KEPT.get(request, "choices", _choices_from_the_database).items():
            self.filters[name].extra["choices"] = choices

    def found(self) -> QuerySet[Primitive]:
        """The entries found, in the order asked for."""
        entries: Any = self.filtered()
        if self.sort != "best":
            return entries.order_by(*ORDER_BY[self.sort], Lower("name"))
        if self._with_words > self.most:
            named = entries.named(self.chosen["q"]).order_by().values("pk")[:MOST_NAMED]
            # By key: without an order Postgres reads the table from its start.
            some = entries.order_by("pk").values("pk")[: self.most + 1]
            entries = self.search(self.queryset.filter(pk__in=named.union(some)), "q", self.chosen["q"])
        return entries.best_first()

    def keys(self) -> list[int]:
        return self._answer[0]

    def number_of(self, found: list[int]) -> int:
        return len(found)

    def for_rows(self) -> QuerySet[Primitive]:
        return Primitive.objects.published().for_list()

    def pickable(self) -> QuerySet[Primitive]:
        return Primitive.objects.published().only("slug", "name")

    def search(self, queryset: PrimitiveQuerySet, name: str, value: str) -> PrimitiveQuerySet:
        return queryset.search(value, literally=self._with_words > 0)

    @cached_property
    def _with_words(self) -> int:
        """How many entries have the words of the search; of more than `most` one more than that."""
        return Primitive.objects.published().number_with_words(self.chosen["q"], self.most + 1)

    def with_any(self, queryset: PrimitiveQuerySet, name: str, value: list[str]) -> PrimitiveQuerySet:
        return queryset.filter(facets__overlap=_facets(name, value))

    def with_all(self, queryset: PrimitiveQuerySet, name: str, value: list[str]) -> PrimitiveQuerySet:
        return queryset.filter(facets__contains=_facets(name, value))

    def counts(self) -> dict[tuple[str, str], int]:
        """How many entries each option would show."""
        _, numbers = self._answer
        counts = {}
        for name in self.FACETS:
            left_out = self._left_out(name)
            counts[name, ""] = numbers[left_out, "all"]
            for value, _ in self.form.fields[name].choices:
                counts[name, value] = numbers[left_out, f"{name}:{value}"]
        return counts

    @cached_property
    def _answer(self) -> tuple[list[int], dict[tuple[str, str], int]]:
        """All that a list has to know, in one query: the keys of the entries found, in order, and how many have each
        facet (and "all") of what is found, by the filter left out.

        One query, and little of it made by Django, since to make queries costs more here than to answer them.
        """
        tables: list[str] = []
        parameters: list[Any] = []
        passes = list(dict.fromkeys(["", *map(self._left_out, self.FACETS)]))
        for left_out in passes:
            found = self.filtered(leaving_out=left_out).order_by(Lower("name")) if left_out else self.found()
            sql, its_parameters = found.values("pk", "facets")[: self.most + 1].query.sql_with_params()
            tables.append(f"without_{left_out} AS MATERIALIZED ({sql})")
            parameters += its_parameters
        counted = [
            f"SELECT '{left_out}', facet, count(*), NULL FROM without_{left_out},"  # noqa: S608 (names of filters)
            " unnest(array_append(facets, 'all')) AS facet GROUP BY facet"
            for left_out in passes
        ]
        # In order: what WITH has made is read as it was made.
        keys = "SELECT '', '', 0, (SELECT array_agg(pk) FROM without_)"
        with connections[self.queryset.db].cursor() as cursor:
            cursor.execute(f"WITH {', '.join(tables)} {' UNION ALL '.join([keys, *counted])}", parameters)
            (_, _, _, found), *rows = cursor.fetchall()
        return found or [], defaultdict(int, {(left_out, facet): number for left_out, facet, number, _ in rows})


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
