"""The questions that pages ask of the reference."""

from typing import TYPE_CHECKING, Self

from django.contrib.postgres.search import SearchQuery, SearchRank
from django.db import models
from django.db.models import (
    Case,
    Count,
    Exists,
    F,
    FloatField,
    Func,
    IntegerField,
    Max,
    OuterRef,
    Q,
    Subquery,
    Value,
    When,
)
from django.db.models.functions import Coalesce, Concat, Lower, Replace

from evidence.models import Claim

if TYPE_CHECKING:
    from primitives.models import Primitive  # noqa: F401

# Below this closeness (search_closeness, migration 0001) a name is not a misspelling of what was typed. Tried with the
# usual slips in the names of the content: a letter lost, doubled, swapped or mistaken still finds its entry.
CLOSE_ENOUGH = 0.5


class Question(SearchQuery):
    """What a reader typed, taken apart by the database's function search_query (migration 0001)."""

    SEARCH_TYPES = {"question": "search_query"}

    def __init__(self, text: str) -> None:
        super().__init__(text, search_type="question")


class PrimitiveQuerySet(models.QuerySet["Primitive"]):
    """Questions about primitives."""

    def for_list(self) -> Self:
        """With all that a list shows of each: two queries, whatever the number."""
        claims = Claim.objects.filter(primitive=OuterRef("pk")).order_by().values("primitive")
        return (
            self.select_related("tier", "category")
            .prefetch_related("platforms")
            .defer("search_vector", "search_keys", "search_names")
            .annotate(
                claim_count=Coalesce(Subquery(claims.annotate(n=Count("pk")).values("n")), 0),
                last_checked=Subquery(claims.annotate(day=Max("as_of")).values("day")),
            )
        )

    def for_entry(self) -> Self:
        """With all that an entry's own page shows of it, but for what it is built of: four queries."""
        return (
            self.select_related("tier", "category")
            .prefetch_related("platforms", "claims__sources")
            .defer("search_vector", "search_keys", "search_names")
        )

    def strongest_first(self) -> Self:
        """By rung from the top, then by name; just what a link to each needs."""
        return self.select_related("tier").only("slug", "name", "tier").order_by("-tier__rank", Lower("name"))

    def with_label(self, label: str) -> Self:
        """Those with at least one claim of that label."""
        return self.filter(Exists(Claim.objects.filter(primitive=OuterRef("pk"), label=label)))

    def search(self, text: str) -> Self:
        """Those that `text` finds, each with `hit` (3: its very name, 2: how a name begins, 1: somewhere) and `rank`.

        Where the words are found nowhere, entries whose names are spelt nearly so.
        """
        question = Question(text)
        words = Func(Value(text), function="search_words", output_field=models.TextField())
        key = Replace(words, Value(" "), Value(""), output_field=models.TextField())
        keys = [
            key,
            Concat(key, Value("s"), output_field=models.TextField()),
            Func(key, Value("s"), function="rtrim", output_field=models.TextField()),
        ]
        found_somewhere = Exists(self.model._default_manager.filter(search_vector=question))
        hit = Case(
            When(search_keys__overlap=keys, then=Value(3)),
            When(search_names__startswith=words, then=Value(2)),
            default=Value(1),
            output_field=IntegerField(),
        )
        closeness = Func(
            Value(text), F("search_keys"), F("search_names"), function="search_closeness", output_field=FloatField()
        )
        # Several entries can bear the number of one break; then the one is meant that the others build on.
        borne_by_wholes = (
            self.model.built_on_it.through._default_manager.filter(
                part=OuterRef("pk"), primitive__search_keys__overlap=keys
            )
            .order_by()
            .values("part")
            .annotate(number=Count("pk"))
            .values("number")
        )
        return self.annotate(
            hit=hit,
            built_on_by_hits=Case(When(hit=3, then=Coalesce(Subquery(borne_by_wholes), 0)), default=0),
            rank=SearchRank(F("search_vector"), question),
            closeness=closeness,
        ).filter(Q(search_vector=question) | (~found_somewhere & Q(closeness__gte=CLOSE_ENOUGH)))

    def best_first(self) -> Self:
        """Searched entries, the one that was meant first."""
        return self.order_by("-hit", "-built_on_by_hits", "-rank", "-closeness", Lower("name"))
