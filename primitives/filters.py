"""The reference's filters."""

from collections import defaultdict
from collections.abc import Hashable, Sequence
from copy import copy
from functools import cached_property
from typing import Any, cast

from django.db import connections
from django.db.models import Exists, F, Func, OuterRef, QuerySet, TextField, Value
from django.db.models.functions import Concat, Lower
from django.http import HttpRequest, QueryDict

from evidence.filters import FacetedFilterSet, KnownValuesFilter, SearchFilter
from evidence.kept import KeptByRevision
from evidence.models import Label
from ladder.models import Tier
from primitives.index import COMMA, FacetIndex, Found
from primitives.models import Category, Isolates, Platform, Primitive, Status
from primitives.querysets import PrimitiveQuerySet

# What each order of the reference sorts by, before the name; fields of PrimitiveQuerySet.for_list.
ORDER_BY: dict[str, list[Any]] = {
    "name": [],
    "tier": [F("tier_rank").desc()],
    "claims": [F("claim_count").desc()],
    "checked": [F("last_checked").desc(nulls_last=True)],
}


# Stands in the SQL of a search for what is searched for.
TEXT = "what is searched for"

# Of a few kilobytes each.
_SQL = KeptByRevision(200)

# Never read from, but by the querysets that are made of it.
_PUBLISHED = Primitive.objects.published()

# The form with the options of filters, and the facets of all entries in each of their orders.
_KEPT = KeptByRevision(1 + len(ORDER_BY))


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
    # Far more than there are today.
    MOST_COUNTED = 1_000
    MOST_RANKED = 200
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
        super().__init__(data, queryset=_PUBLISHED, request=request)

    def get_form_class(self) -> Any:
        return _KEPT.get(self.request, "form", self._form_class)

    def _form_class(self) -> Any:
        for name, choices in _choices_from_the_database().items():
            self.filters[name].extra["choices"] = choices
        return super().get_form_class()

    def found(self) -> QuerySet[Primitive]:
        """The entries found, in the order asked for."""
        if self.sort != "best":
            return self.filtered().order_by(*ORDER_BY[self.sort], Lower("name"))
        entries: Any = self._some() if self._is_literal else self.filtered()
        return entries.best_first()

    def _some(self) -> PrimitiveQuerySet:
        """The entries that have the words of the search; of more than can be looked at, those that have it in their
        names before all others.
        """
        others = cast("PrimitiveQuerySet", self.filtered(leaving_out="q"))
        return others.search_some(self.chosen["q"], self.most + 1)

    def keys(self) -> Sequence[int]:
        if "q" in self.chosen:
            return self._searched[""]
        return Found(self._index, self._bits(), self.most + 1)

    def number_of(self, found: Sequence[int]) -> int:
        return len(found)

    def for_rows(self) -> QuerySet[Primitive]:
        return self.queryset.for_list()

    def pickable(self) -> QuerySet[Primitive]:
        return self.queryset.only("slug", "name")

    def search(self, queryset: PrimitiveQuerySet, name: str, value: str) -> PrimitiveQuerySet:
        return queryset.search(value, literally=self._is_literal)

    @cached_property
    def _is_literal(self) -> bool:
        """Whether there are entries that have the words of the search; else those spelt nearly so are meant."""
        return self.queryset.has_words(self.chosen["q"])

    def with_any(self, queryset: PrimitiveQuerySet, name: str, value: list[str]) -> PrimitiveQuerySet:
        return queryset.filter(facets__overlap=_facets(name, value))

    def with_all(self, queryset: PrimitiveQuerySet, name: str, value: list[str]) -> PrimitiveQuerySet:
        return queryset.filter(facets__contains=_facets(name, value))

    def counts(self) -> dict[str, dict[str, int]]:
        """How many entries each option would show, without a question to the database that a search did not put."""
        names_of: dict[str, list[str]] = defaultdict(list)
        for name in self.FACETS:
            names_of[self._left_out(name)].append(name)
        counts: dict[str, dict[str, int]] = {}
        for left_out, names in names_of.items():
            if "q" in self.chosen:
                keys = self._searched[left_out]
                number, numbers = len(keys), self._index.numbers_of(keys)
            else:
                found = self._bits(left_out)
                number, some = found.bit_count(), self._index.beginning(found, self.most)
                numbers = {name: self._index.numbers(some, name) for name in names}
            counts |= {name: {"": number, **numbers.get(name, {})} for name in names}
        return counts

    @cached_property
    def _index(self) -> FacetIndex:
        """All entries in the order asked for, by their facets; a search's in that of their names."""
        sort = "name" if self.sort == "best" else self.sort

        def make() -> FacetIndex:
            facets = Func(F("facets"), Value(COMMA), function="array_to_string", output_field=TextField())
            return FacetIndex(self.queryset.order_by(*ORDER_BY[sort], Lower("name")).values_list("pk", facets))

        index: FacetIndex = _KEPT.get(self.request, sort, make)
        return index

    def _bits(self, leaving_out: str = "") -> int:
        """What all filters find but the one left out and a search, as the index has it."""
        found = self._index.all
        for name, values in self.chosen.items():
            if name != leaving_out:
                having = self._index.any_of if name in self.ANY_OF else self._index.all_of
                found &= having(name, values)
        return found

    @cached_property
    def _searched(self) -> dict[str, list[int]]:
        """The keys of what a search and the other filters find, in order, and without each filter that is left out for
        the counts of its own options (one query, where an entry has the words of the search).
        """
        # As if, since nearly always it is so, and to ask for that costs as much as to look.
        self._is_literal = True
        found = self._passes()
        if not any(found.values()):
            del self._is_literal
            if not self._is_literal:
                found = self._passes()
        return found

    def _passes(self) -> dict[str, list[int]]:
        passes, sql, parameters = _SQL.get(self.request, self._shape(), self._sql)
        text = self.chosen["q"]
        with connections[self.queryset.db].cursor() as cursor:
            cursor.execute(sql, [text if each == TEXT else each for each in parameters])
            return dict(zip(passes, cursor.fetchone(), strict=True))

    def _shape(self) -> Hashable:
        """All that the search's SQL depends on: anything but what is searched for."""
        others = tuple((name, *values) for name, values in self.chosen.items() if name != "q")
        return self.sort, self._is_literal, others

    def _sql(self) -> tuple[list[str], str, list[Any]]:
        """What a search asks for in which order, its SQL and the parameters, of which TEXT is what is searched for.

        Put together once, since that takes twice as long as Postgres takes to answer it.
        """
        of_any = copy(self)
        of_any._read = {**self.chosen, "q": TEXT}, []
        arrays: list[str] = []
        parameters: list[Any] = []
        passes = list(dict.fromkeys(["", *map(self._left_out, self.FACETS)]))
        for left_out in passes:
            found = of_any.filtered(leaving_out=left_out).order_by(Lower("name")) if left_out else of_any.found()
            sql, its_parameters = found.values("pk")[: self.most + 1].query.sql_with_params()
            arrays.append(f"ARRAY({sql})")
            parameters += its_parameters
        return passes, f"SELECT {', '.join(arrays)}", parameters


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
