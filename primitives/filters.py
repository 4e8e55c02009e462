"""The reference's filters, and a count beside each of their options."""

from dataclasses import dataclass
from typing import Any

import django_filters
from django import forms
from django.core.exceptions import ValidationError
from django.db.models import CharField, Count, F, Func, QuerySet, Value
from django.db.models.functions import Cast, Lower
from django.http import QueryDict

from evidence.models import Label
from ladder.models import Tier
from primitives.models import Category, Isolates, Platform, Primitive, Status
from primitives.querysets import PrimitiveQuerySet

LONGEST_SEARCH = 100

# The orders that can be asked for: a title, and the fields of a list (PrimitiveQuerySet.for_list) to order by.
SORTS: dict[str, tuple[str, list[Any]]] = {
    "name": ("name", []),
    "tier": ("rung, strongest first", ["-tier__rank"]),
    "claims": ("number of claims", ["-claim_count"]),
    "checked": ("last checked", [F("last_checked").desc(nulls_last=True)]),
}


@dataclass(frozen=True)
class Option:
    """One option of a filter: how many entries it would show if it were on, with the other filters as they are."""

    value: str
    label: str
    count: int
    is_on: bool


@dataclass(frozen=True)
class Facet:
    """One filter with its options."""

    name: str
    title: str
    options: list[Option]

    @property
    def on(self) -> int:
        """How many of its options are on."""
        return sum(option.is_on for option in self.options)


class KnownValues(forms.MultipleChoiceField):
    """Several choices from an address. One that is not known is left out and named in `unknown`."""

    widget = forms.CheckboxSelectMultiple

    def clean(self, value: Any) -> list[str]:
        asked = list(dict.fromkeys(value or []))
        self.unknown = [item for item in asked if not self.valid_value(item)]
        return [item for item in asked if item not in self.unknown]


class KnownValuesFilter(django_filters.MultipleChoiceFilter):
    """A filter whose unknown values are ignored."""

    field_class = KnownValues


class SearchField(forms.CharField):
    """What is searched for: spaces tidied, and refused with a sentence where it is too long or holds NUL."""

    def clean(self, value: Any) -> str:
        text = " ".join(str(value or "").split())
        if len(text) > LONGEST_SEARCH:
            raise ValidationError(f"A search has at most {LONGEST_SEARCH} characters, so it was left out.")
        if "\x00" in text:
            raise ValidationError("A search cannot hold a NUL character, so it was left out.")
        return text


class SearchFilter(django_filters.CharFilter):
    field_class = SearchField


class PrimitiveFilterSet(django_filters.FilterSet):
    """The reference's filters.

    An entry has one tier, category and status: with several chosen, any of them will do. It has many platforms,
    labels and things that it isolates: with several chosen, it must have all.
    """

    q = SearchFilter(method="search", label="Search")
    tier = KnownValuesFilter(field_name="tier__slug", label="Rung")
    category = KnownValuesFilter(field_name="category__slug", label="Category")
    platform = KnownValuesFilter(method="on_all_platforms", label="Runs on")
    isolates = KnownValuesFilter(method="isolating_all", label="Isolates", choices=Isolates.choices)
    label = KnownValuesFilter(method="with_all_labels", label="Has a claim that is", choices=Label.choices)
    status = KnownValuesFilter(field_name="status", label="Status", choices=Status.choices)

    class Meta:
        model = Primitive
        fields: list[str] = []

    # In the order of the page.
    FACETS = ("tier", "platform", "isolates", "category", "label", "status")
    ANY_OF = ("tier", "category", "status")

    def __init__(self, data: QueryDict) -> None:
        super().__init__(data, queryset=Primitive.objects.all())
        for name, choices in _choices_from_the_database().items():
            self.filters[name].extra["choices"] = choices

    # ---- what each filter does ----

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

    # ---- what the address says ----

    @property
    def chosen(self) -> dict[str, Any]:
        """The filters in force: text for `q`, a list of values for each other; nothing that is empty or unknown."""
        self.form.is_valid()
        return {name: value for name, value in self.form.cleaned_data.items() if value}

    @property
    def notices(self) -> list[str]:
        """What of the address was not followed, in sentences."""
        self.form.is_valid()
        notices = [str(message) for messages in self.form.errors.values() for message in messages]
        for name in self.FACETS:
            if unknown := self.form.fields[name].unknown:
                shown = ", ".join(item[:40] for item in unknown[:3])
                notices.append(f"{self.filters[name].label}: there is no “{shown}”, so it was left out.")
        return notices

    @property
    def sort(self) -> str:
        """The order in force: one of SORTS, or "best" for a search, where nothing else was asked for."""
        asked = self.data.get("sort", "")
        return asked if asked in SORTS else "best" if "q" in self.chosen else "name"

    @property
    def sorts(self) -> list[tuple[str, str]]:
        """The orders that can be asked for, each with its name."""
        best = [("best", "best match")] if "q" in self.chosen else []
        return best + [(name, title) for name, (title, _) in SORTS.items()]

    def query(self, without: str = "", **changes: str) -> str:
        """The address's query for what is in force, in one form: only what differs from the bare page."""
        query = QueryDict(mutable=True)
        for name, value in self.chosen.items():
            if name != without:
                query.setlist(name, [value] if isinstance(value, str) else value)
        if self.sort not in ("best", "name") or (self.sort == "name" and "q" in query):
            query["sort"] = self.sort
        for name, value in changes.items():
            query[name] = value
        return query.urlencode()

    # ---- what is found ----

    def found(self) -> QuerySet[Primitive]:
        """The entries found, ready for a list, in the order asked for."""
        entries: PrimitiveQuerySet = self.qs.for_list()
        return entries.best_first() if self.sort == "best" else entries.order_by(*SORTS[self.sort][1], Lower("name"))

    def filtered(self, leaving_out: str = "") -> PrimitiveQuerySet:
        """The entries that all filters find but the one left out."""
        queryset: PrimitiveQuerySet = self.queryset.all()
        for name, value in self.chosen.items():
            if name != leaving_out:
                queryset = self.filters[name].filter(queryset, value)
        return queryset

    def facets(self) -> list[Facet]:
        """Every filter with its options and their counts, in one query."""
        counts = self._counts()
        return [
            Facet(
                name,
                self.filters[name].label,
                [
                    Option(value, label, counts.get((name, value), 0), value in self.chosen.get(name, []))
                    for value, label in self.form.fields[name].choices
                ],
            )
            for name in self.FACETS
        ]

    def _counts(self) -> dict[tuple[str, str], int]:
        def entries(name: str) -> QuerySet[Any]:
            found = self.filtered(leaving_out=name if name in self.ANY_OF else "")
            return Primitive.objects.filter(pk__in=found.values("pk")).order_by()

        value_of: dict[str, Any] = {
            "tier": F("tier__slug"),
            "category": F("category__slug"),
            "platform": F("platforms__slug"),
            "isolates": Func(F("isolates"), function="unnest", output_field=CharField()),
            "label": F("claims__label"),
            "status": F("status"),
        }
        queries = [
            entries(name)
            .annotate(value=Cast(value_of[name], CharField()))
            .values_list(Value(name), "value")
            .annotate(number=Count("pk", distinct=True))
            for name in self.FACETS
        ]
        return {(name, value): number for name, value, number in queries[0].union(*queries[1:], all=True)}

    def narrowest(self) -> tuple[str, int] | None:
        """Where nothing is found: the one filter without which most is found, and how much. None if that is nothing."""
        queries = [
            Primitive.objects.filter(pk__in=self.filtered(leaving_out=name).values("pk"))
            .order_by()
            .annotate(filter_name=Value(name))
            .values_list("filter_name")
            .annotate(number=Count("pk"))
            for name in self.chosen
        ]
        rows = queries[0].union(*queries[1:], all=True) if queries else []
        return max(rows, key=lambda row: row[1], default=None)


def _choices_from_the_database() -> dict[str, list[tuple[str, str]]]:
    """The options of the filters that curators can add to, in one query."""
    tiers = Tier.objects.order_by().values_list(Value("tier"), "slug", "name", "rank")
    categories = Category.objects.order_by().values_list(Value("category"), "slug", "name", Value(0))
    platforms = Platform.objects.order_by().values_list(Value("platform"), "slug", "name", "position")
    choices: dict[str, list[tuple[str, str]]] = {"tier": [], "category": [], "platform": []}
    rows = tiers.union(categories, platforms, all=True)
    for name, slug, title, _ in sorted(rows, key=lambda row: (row[0], -row[3] if row[0] == "tier" else row[3], row[2])):
        choices[name].append((slug, title))
    return choices
