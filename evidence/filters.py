"""What all filtered lists share: options with counts, values from hostile addresses, one address for one state."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar
from urllib.parse import urlencode

import django_filters
from django import forms
from django.core.exceptions import ValidationError
from django.db.models import CharField, Count, F, QuerySet, Value
from django.db.models.functions import Cast

from evidence.comparison import Picks

LONGEST_SEARCH = 100


@dataclass(frozen=True)
class Facet:
    """One filter with its options."""

    name: str
    title: str
    options: list[tuple[str, str]]
    """Values, each with its label."""
    numbers: dict[str, int]
    """How many rows each value would show if it were on, with the other filters as they are; it is left out where none.
    """
    chosen: list[str]
    is_at_least: bool
    """Whether the rows were too many to count them all."""
    more: int = 0
    """How many options were left out because they are many."""


class KnownValues(forms.MultipleChoiceField):
    """Several choices from an address, each once. One that is not known is left out."""

    widget = forms.CheckboxSelectMultiple

    def clean(self, value: Any) -> list[str]:
        return [item for item in dict.fromkeys(value or []) if self.valid_value(item)]


class Filters(dict[str, Any]):
    """The filters of a filter set. Each gets copies of its own, which share what nobody changes."""

    def __deepcopy__(self, memo: Any) -> dict[str, Any]:
        copies: dict[str, Any] = {}
        for name, each in self.items():
            copied = copies[name] = each.__class__.__new__(each.__class__)
            copied.__dict__ |= each.__dict__
            copied.extra = {**each.extra}
            copied.method = each.method  # which django-filter binds to the filter it is set on
        return copies


class KnownValuesFilter(django_filters.MultipleChoiceFilter):
    """A filter whose unknown values are ignored. With several values, any of them will do."""

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
    """The search, as one filter among the others."""

    field_class = SearchField


class FacetedFilterSet(django_filters.FilterSet):
    """Filters from an address, with a count beside each option, and the address that says what is in force.

    A subclass names its facets in the order of the page and, for each, the expression whose values are counted; what
    of them widens with several values (any of) and what narrows (all of); and its orders. `counted` is what makes one
    row of the page. PICK is where the address holds what was picked to compare, COMPARE the comparison's URL name; a
    list from which nothing is compared has neither.
    """

    FACETS: ClassVar[dict[str, Any]]
    ANY_OF: ClassVar[set[str]]
    SORTS: ClassVar[dict[str, str]]
    PICK: ClassVar[str] = ""
    COMPARE: ClassVar[str] = ""
    # Where a list could be of any length, nothing looks at more than this many of the rows found (`most`): up to there
    # numbers are exact, above they are "at least", and the pages end there.
    MOST_COUNTED: ClassVar[int] = 10_000
    # And of those that a search finds: to say which of them is best, each has to be looked at.
    MOST_RANKED: ClassVar[int] = 2_000
    counted: str = "pk"

    @classmethod
    def get_filters(cls) -> Filters:
        return Filters(super().get_filters())

    # ---- what the address says ----

    @cached_property
    def fields(self) -> dict[str, Any]:
        """What reads each filter from an address. Other addresses may share them, so nothing is left in them."""
        fields: dict[str, Any] = self.get_form_class().base_fields
        return fields

    @property
    def chosen(self) -> dict[str, Any]:
        """The filters in force: text for `q`, a list of values for each other; nothing that is empty or unknown."""
        return self._read[0]

    @cached_property
    def _read(self) -> tuple[dict[str, Any], list[str]]:
        """The filters in force, and in sentences what of them was left out.

        Field by field: a form would copy all of them for the few that an address names.
        """
        chosen: dict[str, Any] = {}
        left_out: list[str] = []
        for name, field in self.fields.items():
            if name not in self.data:
                continue
            asked = field.widget.value_from_datadict(self.data, {}, name)
            try:
                value = field.clean(asked)
            except ValidationError as error:
                left_out += error.messages
                continue
            if value:
                chosen[name] = value
            if isinstance(value, list) and (unknown := [it for it in dict.fromkeys(asked) if it not in value]):
                shown = ", ".join(item[:40] for item in unknown[:3])
                left_out.append(f"{self.filters[name].label}: there is no “{shown}”, so it was left out.")
        return chosen, left_out

    def pickable(self) -> QuerySet[Any]:
        """What can be picked to compare; each has a slug."""
        return self.queryset.none()

    @cached_property
    def picks(self) -> Picks:
        """What is picked to compare, whatever the filters find (a query if there is any).

        In one order: a form sends them in the order in which they stand on the page, which each filter changes.
        """
        picks = Picks(self.PICK, self.data.getlist(self.PICK) if self.PICK else [], self.pickable)
        picks.entries.sort(key=lambda entry: entry.slug)
        return picks

    @property
    def notices(self) -> list[str]:
        """What of the address was not followed, in sentences."""
        return self._read[1] + self.picks.notices

    @property
    def sort(self) -> str:
        """The order in force: one of SORTS, or "best" for a search, where nothing else was asked for."""
        asked = self.data.get("sort", "")
        return asked if asked in self.SORTS else "best" if "q" in self.chosen else next(iter(self.SORTS))

    @property
    def sorts(self) -> list[tuple[str, str, bool]]:
        """The orders that can be asked for: value, title, and whether it is in force. The order of the bare page, and
        that of a search, has no value: else a search would take along the order that stood there before.
        """
        orders = [("best", "best match"), *self.SORTS.items()] if "q" in self.chosen else [*self.SORTS.items()]
        return [(name if number else "", title, name == self.sort) for number, (name, title) in enumerate(orders)]

    def query(self, without: str = "", *, picked: list[str] | None = None, **changes: str) -> str:
        """The address's query for what is in force, in one form: only what differs from the bare page.

        With `picked` these are picked, whatever is picked now.
        """
        query = {name: value for name, value in self.chosen.items() if name != without}
        query[self.PICK] = self.picks.slugs if picked is None else picked
        if self.sort != "best" and (self.sort != next(iter(self.SORTS)) or "q" in query):
            query["sort"] = self.sort
        return urlencode(query | changes, doseq=True)

    # ---- what is found ----

    @property
    def most(self) -> int:
        """Of more rows than this nothing looks at the rest."""
        return min(self.MOST_COUNTED, self.MOST_RANKED) if "q" in self.chosen else self.MOST_COUNTED

    def found(self) -> QuerySet[Any]:
        """The rows found, ready for a list, in the order asked for."""
        return self.filtered()

    def keys(self) -> Any:
        """The keys of the rows found, in order, for a list that asks for the rows by them: a queryset, or a list."""
        return self.found().prefetch_related(None).values_list("pk", flat=True)

    def for_rows(self) -> QuerySet[Any]:
        """All rows that there are, with what the list shows of each."""
        return self.queryset.all()

    def number_of(self, found: Any) -> int:
        """How many rows, or keys of them, are `found`; of more than `most` one more than that.

        In the order of the list, which an index gives; but for the order of a search, for which each had to be looked
        at.
        """
        return int((found.order_by() if self.sort == "best" else found)[: self.most + 1].count())

    def _left_out(self, name: str) -> str:
        """What the options of a filter are counted without: itself, where it is in force and widens; else nothing."""
        return name if name in self.ANY_OF and name in self.chosen else ""

    def filtered(self, leaving_out: str = "") -> QuerySet[Any]:
        """What all filters find but the one left out."""
        queryset: QuerySet[Any] = self.queryset.all()
        for name, value in self.chosen.items():
            if name != leaving_out:
                queryset = self.filters[name].filter(queryset, value)
        return queryset

    def facets(self) -> list[Facet]:
        """Every filter with its options and their counts, in one query."""
        counts, most, facets = self.counts(), self.most, []
        for name in self.FACETS:
            of, chosen = counts.get(name, {}), self.chosen.get(name, [])
            is_at_least = of.get("", 0) > most
            if is_at_least:
                of = {value: min(number, most) for value, number in of.items()}
            title, options = self.filters[name].label, self.fields[name].choices
            facets.append(Facet(name, title, options, of, chosen, is_at_least))
        return facets

    def counts(self) -> dict[str, dict[str, int]]:
        """How many rows each option of each facet would show, by facet and option (one query).

        Where counting ends at `most` rows and one more, the option "" says of how many a facet was counted.
        """
        queries = []
        for name, value in self.FACETS.items():
            found = self.filtered(leaving_out=self._left_out(name))
            value = Cast(F(value) if isinstance(value, str) else value, CharField())
            queries.append(self._count(name, value, found))
        counts: dict[str, dict[str, int]] = {name: {} for name in self.FACETS}
        for name, value, number in queries[0].union(*queries[1:], all=True):
            counts[name][value] = number
        return counts

    def _count(self, name: str, value: Any, found: QuerySet[Any]) -> QuerySet[Any]:
        """How many rows of `found` have each `value`."""
        some = found.order_by().values("pk")[: self.most + 1]
        return (
            self.queryset.model._default_manager.filter(pk__in=some)
            .order_by()
            .annotate(counted_value=value)
            .values_list(Value(name), "counted_value")
            .annotate(number=Count(self.counted, distinct=True))
        )

    def narrowest(self) -> dict[str, Any] | None:
        """Where nothing is found: the filter without which most is found. None if each alone finds nothing.

        Its title, the query of the address without it, and the number that is found there, or that there are more.
        """
        queries = [self._count("", Value(name), self.filtered(leaving_out=name)) for name in self.chosen]
        rows = [row[1:] for row in queries[0].union(*queries[1:], all=True)] if queries else []
        name, number = max(rows, key=lambda row: row[1], default=("", 0))
        if not number:
            return None
        return {
            "title": self.filters[name].label,
            "query": self.query(without=name),
            "number": min(number, self.most),
            "has_more": number > self.most,
        }
