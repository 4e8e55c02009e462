"""The ledger: every published claim, filtered, searched and counted.

It is to answer as fast for a million claims as for a thousand. So nothing looks at more than `most` of those
found: up to there numbers are exact, above they are "at least"; and all options of all filters are counted in one
query, in one pass over what was found.
"""

from functools import cached_property
from typing import Any

from django.apps import apps
from django.db import connections
from django.db.models import Case, CharField, Exists, F, OuterRef, Q, QuerySet, Value, When
from django.db.models.functions import Coalesce
from django.http import QueryDict

from evidence.filters import Facet, FacetedFilterSet, KnownValuesFilter, SearchFilter
from evidence.models import Aspect, Claim, ClaimQuerySet, Freshness, Kind, Label, Source, SourceKind, freshness_is

# Of a filter with no end of options so many are shown, those with most claims; links on other pages lead to the rest.
MOST_OPTIONS = 30
# So many values of such a filter are read from an address; nobody ticks more.
MOST_ASKED = 50

# What each filter counts: of a claim found, its value and what that is called; of its sources, a column.
OF_CLAIMS: dict[str, tuple[Any, Any]] = {
    "label": (F("label"), None),
    "kind": (F("kind"), None),
    "tier": (Coalesce("tier__slug", "primitive__tier__slug"), None),
    "aspect": (F("aspect"), None),
    "agent": (F("audit__agent__slug"), F("audit__agent__name")),
    "primitive": (F("primitive__slug"), F("primitive__name")),
}
OF_SOURCES = {"source_kind": "kind", "source": "place"}


class LedgerFilterSet(FacetedFilterSet):
    """The ledger's filters. With several values of one chosen, any of them will do."""

    q = SearchFilter(method="search", label="Search")
    label = KnownValuesFilter(field_name="label", label="Label", choices=Label.choices, distinct=False)
    kind = KnownValuesFilter(field_name="kind", label="About", choices=Kind.choices, distinct=False)
    tier = KnownValuesFilter(method="on_rungs", label="Rung, or a primitive on it")
    freshness = KnownValuesFilter(method="so_fresh", label="Freshness", choices=Freshness.choices)
    aspect = KnownValuesFilter(field_name="aspect", label="Aspect", choices=Aspect.choices, distinct=False)
    source_kind = KnownValuesFilter(method="with_source", label="Source", choices=SourceKind.choices)
    source = KnownValuesFilter(method="with_source", label="Repository or host")
    agent = KnownValuesFilter(field_name="audit__agent__slug", label="Agent", distinct=False)
    primitive = KnownValuesFilter(field_name="primitive__slug", label="Primitive", distinct=False)

    FACETS = dict.fromkeys(
        ["label", "kind", "tier", "freshness", "aspect", "source_kind", "source", "agent", "primitive"]
    )
    ANY_OF = {*FACETS}
    # Those whose options are what there is, and no end of it.
    OPEN = ("source", "agent", "primitive")
    SORTS = {"newest": "date, newest first", "oldest": "date, oldest first"}

    class Meta:
        model = Claim
        fields: list[str] = []

    def __init__(self, data: QueryDict) -> None:
        super().__init__(data, queryset=Claim.objects.published())
        for name, choices in self._known().items():
            self.filters[name].extra["choices"] = choices

    def _known(self) -> dict[str, list[tuple[str, str]]]:
        """The rungs, and of what the address asks for what there is among published claims; in one query."""

        def asked(name: str) -> list[str]:
            return [value for value in self.data.getlist(name) if "\0" not in value][:MOST_ASKED]

        claims = Claim.objects.published().order_by()
        tiers: Any = apps.get_model("ladder", "Tier")
        rows = tiers.objects.order_by().values_list(Value("tier"), "slug", "name", "rank")
        for name, column in (("agent", "audit__agent"), ("primitive", "primitive")):
            found = claims.filter(**{f"{column}__slug__in": asked(name)})
            rows = rows.union(found.values_list(Value(name), f"{column}__slug", f"{column}__name", Value(0)))
        places = Source.objects.filter(place__in=asked("source"), claim__in=claims).order_by()
        rows = rows.union(places.values_list(Value("source"), "place", "place", Value(0)))
        known: dict[str, list[tuple[str, str]]] = {name: [] for name in ("tier", *self.OPEN)}
        for name, value, title, _ in sorted(rows, key=lambda row: (-row[3], row[2])):
            known[name].append((value, title))
        return known

    # ---- what each filter does ----

    def search(self, queryset: ClaimQuerySet, name: str, value: str) -> ClaimQuerySet:
        return queryset.search(value)

    def on_rungs(self, queryset: ClaimQuerySet, name: str, value: list[str]) -> ClaimQuerySet:
        return queryset.filter(Q(tier__slug__in=value) | Q(primitive__tier__slug__in=value))

    def so_fresh(self, queryset: ClaimQuerySet, name: str, value: list[str]) -> ClaimQuerySet:
        condition = Q()
        for each in value:
            condition |= freshness_is(Freshness(each))
        return queryset.filter(condition)

    def with_source(self, queryset: ClaimQuerySet, name: str, value: list[str]) -> ClaimQuerySet:
        of_it = Source.objects.filter(**{f"{OF_SOURCES[name]}__in": value, "claim": OuterRef("pk")})
        return queryset.filter(Exists(of_it))

    # ---- what is found ----

    def found(self) -> QuerySet[Claim]:
        """The claims found, ready for a list, in the order asked for."""
        claims: Any = self.filtered()
        if self.sort == "best":
            claims = claims.best_of(self.chosen["q"], self.most)
        else:
            claims = claims.order_by("as_of", "pk") if self.sort == "oldest" else claims.order_by("-as_of", "-pk")
        return claims.with_subjects().prefetch_related("sources")

    def for_rows(self) -> QuerySet[Claim]:
        claims: Any = self.queryset
        return claims.with_subjects().prefetch_related("sources")

    def number_of(self, found: Any) -> int:
        return self._counts[1][""]

    def facets(self) -> list[Facet]:
        counts, totals = self._counts
        return [
            self._facet(name, counts[name], is_at_least=totals[self._left_out(name)] > self.most)
            for name in self.FACETS
        ]

    def _facet(self, name: str, counts: dict[str, tuple[int, str]], is_at_least: bool) -> Facet:
        choices = dict(self.fields[name].choices)
        more = 0
        if name in self.OPEN:
            most_first = sorted(counts, key=lambda value: (-counts[value][0], value))
            more = max(0, len(most_first) - MOST_OPTIONS)
            choices = {value: counts[value][1] for value in most_first[:MOST_OPTIONS]} | choices
        numbers = {value: number for value, (number, _) in counts.items()}
        chosen = self.chosen.get(name, [])
        return Facet(name, self.filters[name].label, [*choices.items()], numbers, chosen, is_at_least, more)

    @cached_property
    def _counts(self) -> tuple[dict[str, dict[str, tuple[int, str]]], dict[str, int]]:
        """For each filter its values with their numbers and names; and for each pass how many claims it looked at."""
        passes = {name: self._left_out(name) for name in self.FACETS}
        each_once = list(dict.fromkeys(["", *passes.values()]))
        tables: list[str] = []
        parameters: list[Any] = []
        for left_out in each_once:
            table, its_parameters = self._pass(left_out)
            tables.append(f"{_table(left_out)} AS MATERIALIZED ({table})")
            parameters += its_parameters
        # Claim by claim through the index: a join would read the sources of all claims to count those of some.
        tables += [
            f"{_table(left_out)}_sources AS MATERIALIZED (SELECT of_claim, kind, place FROM {_table(left_out)},"  # noqa: S608
            " LATERAL (SELECT kind, place FROM evidence_source WHERE claim_id = of_claim OFFSET 0) AS source)"
            for left_out in dict.fromkeys(passes[name] for name in OF_SOURCES)
        ]
        counted = [
            f"SELECT '', '{left_out}', '', count(*) FROM {_table(left_out)}"  # noqa: S608
            for left_out in each_once
        ]
        for name, left_out in passes.items():
            if column := OF_SOURCES.get(name):
                counted.append(
                    f"SELECT '{name}', {column}, {column}, count(DISTINCT of_claim)"  # noqa: S608
                    f" FROM {_table(left_out)}_sources GROUP BY 2"
                )
            else:
                title = f"of_{name}_name" if OF_CLAIMS.get(name, (None, None))[1] else f"of_{name}"
                counted.append(
                    f"SELECT '{name}', of_{name}, {title}, count(*) FROM {_table(left_out)}"  # noqa: S608
                    f" WHERE of_{name} IS NOT NULL GROUP BY 2, 3"
                )
        with connections[Claim.objects.all().db].cursor() as cursor:
            cursor.execute(f"WITH {', '.join(tables)} {' UNION ALL '.join(counted)}", parameters)
            rows = cursor.fetchall()
        counts: dict[str, dict[str, tuple[int, str]]] = {name: {} for name in self.FACETS}
        totals = {value: number for name, value, _, number in rows if not name}
        for name, value, title, number in rows:
            if name:
                counts[name][value] = number, title
        return counts, totals

    def _pass(self, left_out: str) -> tuple[str, tuple[Any, ...]]:
        """SQL for what is counted of the claims that all filters find but the one left out."""
        fresh = Case(
            *(When(freshness_is(each), then=Value(each.value)) for each in Freshness), output_field=CharField()
        )
        columns: dict[str, Any] = {"of_claim": F("pk"), "of_freshness": fresh}
        for name, (value, title) in OF_CLAIMS.items():
            columns[f"of_{name}"] = value
            if title:
                columns[f"of_{name}_name"] = title
        found = self.filtered(leaving_out=left_out).order_by().annotate(**columns).values(*columns)
        sql: tuple[str, tuple[Any, ...]] = found[: self.most + 1].query.sql_with_params()
        return sql


def _table(left_out: str) -> str:
    return f"without_{left_out}" if left_out else "found"
