"""Full-text search over a kind of entry with its claims and breaks, kept current by Postgres itself.

A trigger writes three columns of an entry whenever it, one of its claims or one of its breaks changes:

`search_vector`  what full-text search looks in, names weighted above summaries, breaks and claims
`search_keys`    names, aliases and break numbers with case and punctuation taken away: an exact hit comes first
`search_names`   the same names as plain words, to compare misspelt ones with

The functions `search_words`, `search_joined`, `search_query` and `search_closeness` (primitives' migrations 0001, and
0020 for the third) see to it that the document and the question are taken apart in the same way; `search_near` (0012)
finds what is worth being compared, by an index; `search_hit` (0014) says how well a name fits.
"""

from collections import Counter
from collections.abc import Mapping
from typing import Any, Self, TypeVar

import pgtrigger
from django.contrib.postgres.fields import ArrayField
from django.contrib.postgres.indexes import GinIndex
from django.contrib.postgres.search import SearchQuery, SearchRank, SearchVector, SearchVectorField
from django.db import models
from django.db.models import F, FloatField, Func, IntegerField, Value
from django.db.models.expressions import Combinable, RawSQL
from django.db.models.functions import Lower

# Below this closeness (search_closeness) a name is not a misspelling of what was typed. Tried with the usual slips in
# the names of the content: a letter lost, doubled, swapped or mistaken still finds its entry.
CLOSE_ENOUGH = 0.5
# Of rows with the words of a search no more are looked at to tell how many there are.
ENOUGH = 501

Rows = TypeVar("Rows", bound="models.QuerySet[Any]")
Entry = TypeVar("Entry", bound=models.Model, covariant=True)

# The columns of a SearchDocument, which follow from the rest.
SEARCH_COLUMNS = ["search_vector", "search_keys", "search_names"]


class SearchDocument(models.Model):
    """What an entry is searched by; written by its trigger (`search_document`) alone."""

    search_vector = SearchVectorField(null=True, editable=False)
    search_keys = ArrayField(models.TextField(), default=list, editable=False)
    search_names = models.TextField(default="", editable=False)

    class Meta:
        abstract = True
        indexes = [
            GinIndex(fields=["search_vector"], name="%(class)s_search_vector"),
            GinIndex(fields=["search_keys"], name="%(class)s_search_keys"),
            GinIndex(fields=["search_names"], opclasses=["gin_trgm_ops"], name="%(class)s_search_names"),
        ]


def words(text: str | Combinable) -> Func:
    """A text field, by its name, or another text, as the database's function search_words takes it apart."""
    expression = F(text) if isinstance(text, str) else text
    return Func(expression, function="search_words", output_field=models.TextField())


def sentence_vector(field: str) -> SearchVector:
    """What full-text search looks in where there is no SearchDocument: the words of a field, by their stems."""
    return SearchVector(words(field), config="english")


class Question(SearchQuery):
    """What a reader typed, taken apart by the database's function search_query."""

    SEARCH_TYPES = {"question": "search_query"}

    def __init__(self, text: str) -> None:
        super().__init__(text, search_type="question")


def spellings(text: str) -> Func:
    """What was typed as the database's function search_spellings gives it: the keys (`search_keys`) that it may be."""
    return Func(Value(text), function="search_spellings", output_field=ArrayField(models.TextField()))


class SearchedQuerySet(models.QuerySet[Entry]):
    """Questions about a SearchDocument."""

    def has_words(self, text: str) -> bool:
        """Whether full-text search finds here what has `text` as it is spelt (one query)."""
        return where_words_are(text, {"here": self})["here"] > 0

    def with_words(self, text: str) -> Self:
        """Those that have `text` as it is spelt."""
        return self.filter(search_vector=Question(text))

    def search(self, text: str, *, literally: bool | None = None) -> Self:
        """Those that `text` finds, each with `hit` (3: its very name, 2: how a name begins, 1: somewhere) and `rank`.

        Where the words are found nowhere in this queryset, entries whose names are spelt nearly so, by `closeness`.
        Which of the two it is, is asked at once (has_words), since each reads an index of its own and "or"
        would read none; a caller who knows says so.
        """
        question = Question(text)
        closeness = Func(
            Value(text), F("search_keys"), F("search_names"), function="search_closeness", output_field=FloatField()
        )
        is_literal = self.has_words(text) if literally is None else literally
        found = self.annotate(
            hit=Func(
                F("search_keys"), F("search_names"), Value(text), function="search_hit", output_field=IntegerField()
            ),
            rank=SearchRank(F("search_vector"), question),
            # Costly, and where the words stand in the text it says nothing more.
            closeness=Value(0.0, FloatField()) if is_literal else closeness,
        )
        if is_literal:
            return found.with_words(text)
        near = RawSQL("SELECT search_near(%s::regclass, %s)", [self.model._meta.db_table, text])
        return found.filter(pk__in=near, closeness__gte=CLOSE_ENOUGH)

    def best_first(self) -> Self:
        """Searched entries, the one that was meant first."""
        return self.order_by("-hit", "-rank", "-closeness", Lower("name"))


def best_ranked(rows: Rows, vector: Combinable, text: str) -> Rows:
    """Of rows without search columns those in whose `vector` the words of `text` are, with `rank`, the best first."""
    question = Question(text)
    return (
        rows.alias(vector=vector)
        .filter(vector=question)
        .annotate(rank=SearchRank(vector, question))
        .order_by("-rank", "pk")
    )


def where_words_are(text: str, places: Mapping[str, SearchedQuerySet[Any]]) -> Counter[str]:
    """In which of the places full-text search finds `text` as it is spelt, by their names; and in how many rows,
    of which it looks at ENOUGH (one query).
    """
    # More than one, since to find a first one Postgres would rather read row by row, and where there is none, all.
    first, *others = (
        place.with_words(text).order_by().values_list(Value(name))[:ENOUGH] for name, place in places.items()
    )
    return Counter(name for (name,) in first.union(*others, all=True))


_DOCUMENT = """
        SELECT coalesce(array_agg(identifier) || array_agg(nickname) FILTER (WHERE nickname <> ''), '{{}}'),
               coalesce(string_agg(concat_ws(' ', identifier, nickname, summary), ' '), '')
        INTO numbers, breaks FROM {breaks};
        SELECT coalesce(string_agg(sentence, ' '), '')
        INTO claims FROM {claims};
        names := ARRAY[NEW.name::text, NEW.slug::text] || {aliases}::text[];
        NEW.search_keys := ARRAY(
            SELECT DISTINCT replace(search_words(key), ' ', '') FROM unnest(names || numbers) AS key
            WHERE search_words(key) <> ''
        );
        NEW.search_names := search_words(array_to_string(names || numbers, ' '));
        NEW.search_vector :=
            setweight(to_tsvector('simple', search_words(concat_ws(' ', NEW.name, NEW.slug))), 'A')
            || setweight(to_tsvector('english', search_words(concat_ws(' ', NEW.name, NEW.slug))), 'A')
            || setweight(to_tsvector('simple', search_words(array_to_string({aliases}, ' '))), 'B')
            || setweight(to_tsvector('english', search_words(array_to_string({aliases}, ' '))), 'B')
            || setweight(to_tsvector('simple', array_to_string(
                ARRAY(SELECT search_joined(key) FROM unnest(names || numbers) AS key), ' ')), 'B')
            || setweight(to_tsvector('simple', search_joined({summary} || ' ' || breaks)), 'D')
            || setweight(to_tsvector('english', search_words({summary})), 'B')
            || setweight(to_tsvector('english', search_words(breaks)), 'C')
            || setweight(to_tsvector('english', search_words(claims)), 'D');
        RETURN NEW;
    """


def search_document(name: str, *, aliases: str, summary: str, breaks: str, claims: str) -> pgtrigger.Trigger:
    """The trigger that writes the search columns of a table with `name` and `slug`.

    `aliases` (an array) and `summary` are SQL expressions on NEW; `breaks` and `claims` are tables with a condition,
    as in "evidence_claim WHERE primitive_id = NEW.id".
    """
    return pgtrigger.Trigger(
        name=name,
        level=pgtrigger.Row,
        when=pgtrigger.Before,
        operation=pgtrigger.Insert | pgtrigger.Update,
        declare=[("names", "text[]"), ("numbers", "text[]"), ("breaks", "text"), ("claims", "text")],
        func=_DOCUMENT.format(aliases=aliases, summary=summary, breaks=breaks, claims=claims),
    )


# Who writes a claim holds its entry FOR KEY SHARE (evidence.addresses), and may have to touch many entries. So these
# are locked in one order; and what is set is in no key, since with one Postgres locks the row FOR UPDATE, and two who
# each write a claim of one entry would wait for each other.
_TOUCH = """
    PERFORM FROM {table} WHERE id IN ({ids}) ORDER BY id FOR NO KEY UPDATE;
    UPDATE {table} SET search_names = search_names WHERE id IN ({ids});
    RETURN NULL;
"""

_TOUCH_ALL = """
    UPDATE {table} SET search_names = search_names;
    RETURN NULL;
"""


def refresh(table: str, ids: str, *, name: str) -> list[pgtrigger.Trigger]:
    """Triggers for a table whose text is searched as part of the entries in `table`.

    `ids` is SQL for the entries that its changed {rows} belong to. They touch the entry, whose own trigger then writes
    its search columns anew. One statement, one refresh, since a bulk write of many claims would else write the same
    entry as many times.
    """
    rows = {
        pgtrigger.Insert: (pgtrigger.Referencing(new="new_rows"), ["new_rows"]),
        pgtrigger.Update: (pgtrigger.Referencing(old="old_rows", new="new_rows"), ["old_rows", "new_rows"]),
        pgtrigger.Delete: (pgtrigger.Referencing(old="old_rows"), ["old_rows"]),
    }
    after_each = [
        pgtrigger.Trigger(
            name=f"{name}_after_{str(operation).lower()}",
            level=pgtrigger.Statement,
            when=pgtrigger.After,
            operation=operation,
            referencing=referencing,
            func=_TOUCH.format(table=table, ids=" UNION ".join(ids.format(rows=changed) for changed in names)),
        )
        for operation, (referencing, names) in rows.items()
    ]
    # Postgres does not tell which rows were there.
    after_truncate = pgtrigger.Trigger(
        name=f"{name}_after_truncate",
        level=pgtrigger.Statement,
        when=pgtrigger.After,
        operation=pgtrigger.Truncate,
        func=_TOUCH_ALL.format(table=table),
    )
    return [*after_each, after_truncate]
