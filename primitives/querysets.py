"""The questions that pages ask of the reference."""

from typing import TYPE_CHECKING, Any, Self

from django.apps import apps
from django.contrib.postgres.expressions import ArraySubquery
from django.db.models import Case, Count, Exists, Max, OuterRef, Prefetch, Q, Subquery, Value, When
from django.db.models.expressions import Combinable
from django.db.models.functions import Coalesce, Collate, JSONObject, Left, Lower

from evidence.models import Claim
from evidence.search import SEARCH_COLUMNS, SearchedQuerySet, spellings, words

# What is filtered, counted and searched by, and shown by no page.
COLUMNS_FOR_POSTGRES = [*SEARCH_COLUMNS, "facets"]


def begin_of(names: str | Combinable) -> Collate:
    """What of names an index has (primitive_names_begin), and a search for how they begin looks at: in the order of its
    bytes, so that the index has both how a name begins and that order.
    """
    return Collate(Left(names, 60), "C")


if TYPE_CHECKING:
    from primitives.models import Primitive

# Of very many entries that a search finds, so many that have it in their names are looked at before all others.
MOST_NAMED = 60


class PrimitiveQuerySet(SearchedQuerySet["Primitive"]):
    """Questions about primitives."""

    def published(self) -> Self:
        """All but drafts, which no page shows."""
        return self.filter(is_published=True)

    def for_list(self) -> Self:
        """With all that a list shows of each: two queries, whatever the number."""
        return self.select_related("tier", "category").prefetch_related("platforms").defer(*COLUMNS_FOR_POSTGRES)

    def for_entry(self) -> Self:
        """With all that an entry's own page shows of it, but for what it is built of: four queries."""
        return (
            self.select_related("tier", "category")
            .prefetch_related("platforms", Prefetch("claims", Claim.objects.no_drafts()), "claims__sources")
            .defer(*COLUMNS_FOR_POSTGRES)
        )

    def for_comparison(self) -> Self:
        """With all that a comparison shows of each, but for how its claims are labelled: three queries."""
        breaks = apps.get_model("primitives", "Break")._default_manager.filter(primitive=OuterRef("pk"))
        by_primitive = breaks.order_by().values("primitive")
        return (
            self.for_list()
            .prefetch_related(Prefetch("builds_on", self.model._default_manager.published()))
            .annotate(
                break_count=Coalesce(Subquery(by_primitive.annotate(n=Count("pk")).values("n")), 0),
                newest_break=Subquery(by_primitive.annotate(newest=Max("year")).values("newest")),
            )
        )

    def around(self, primitive: "Primitive") -> Self:
        """Those that it is built of, and those that are built of it. Each with `is_part`: whether it is one of the
        first.
        """
        links = apps.get_model("primitives", "BuildsOn")._default_manager.order_by()
        parts, wholes = links.filter(primitive=primitive), links.filter(part=primitive)
        # One set of ids, which Postgres looks up: for two conditions with "or" between them it would read all entries.
        return self.filter(pk__in=parts.values("part").union(wholes.values("primitive"))).annotate(
            is_part=Exists(parts.filter(part=OuterRef("pk")))
        )

    def with_inners(self) -> Self:
        """Each with `runs_inside`: slug and name of the sandboxes of nesting that it is, or that it is built on."""
        inners = apps.get_model("nesting", "Inner")._default_manager
        links = apps.get_model("primitives", "BuildsOn")._default_manager
        parts = links.filter(primitive=OuterRef(OuterRef("pk"))).order_by().values("part")
        own = Q(primitives=OuterRef("pk")) | Q(primitives__in=parts)
        found = inners.filter(own).order_by("position", "name").distinct()
        return self.annotate(
            runs_inside=ArraySubquery(found.values(inner=JSONObject(slug="slug", name="name", position="position")))
        )

    def strongest_first(self) -> Self:
        """By rung from the top, then by name; just what a link to each and a drawing need."""
        names = self.select_related("tier", "category").only("slug", "name", "tier", "category")
        return names.order_by("-tier__rank", Lower("name"))

    def with_label(self, label: str) -> Self:
        """Those with at least one published claim of that label."""
        return self.filter(Exists(Claim.objects.no_drafts().filter(primitive=OuterRef("pk"), label=label)))

    def search(self, text: str, *, literally: bool | None = None) -> Self:
        """As any search; and where several entries bear the number of one break, which of them the others build on."""
        borne_by_wholes = (
            self.model.built_on_it.through._default_manager.filter(
                part=OuterRef("pk"), primitive__is_published=True, primitive__search_keys__overlap=spellings(text)
            )
            .order_by()
            .values("part")
            .annotate(number=Count("pk"))
            .values("number")
        )
        built_on_by_hits = Case(When(hit=3, then=Coalesce(Subquery(borne_by_wholes), 0)), default=0)
        return super().search(text, literally=literally).annotate(built_on_by_hits=built_on_by_hits)

    def search_some(self, text: str, most: int) -> Self:
        """As `search`, where the words of `text` stand in the text; of more than `most`, those that have it in their
        names and others, whichever.
        """
        # By key: without an order Postgres reads the table from its start.
        some = self.with_words(text).order_by("pk").values("pk")[:most]
        meant: Any = self.model._default_manager.filter(pk__in=self.named(text, MOST_NAMED).union(some))
        found: Self = meant.search(text, literally=True)
        return found

    def named(self, text: str, most: int) -> Any:
        """The keys of those whose very name it is, and of those whose name begins with it, the first by name: at most
        so many of each. `search` puts them first.
        """
        # In no order, which the index of keys has none of: Postgres takes them for many, and to find the first in some
        # order would look through all. With no limit it would take those found for so many that it reads all of them.
        of_that_name = self.filter(search_keys__overlap=spellings(text)).order_by()
        begun = self.alias(begins=begin_of("search_names")).filter(begins__startswith=begin_of(words(Value(text))))
        return of_that_name.values("pk")[:most].union(begun.order_by("begins", "pk").values("pk")[:most])

    def best_first(self) -> Self:
        """Searched entries, the one that was meant first."""
        return self.order_by("-hit", "-built_on_by_hits", "-rank", "-closeness", Lower("name"))
