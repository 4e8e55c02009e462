"""One search over everything: primitives, agents, rungs, errors, cells of nesting and claims, best first.

Every kind is asked through the database's own functions (`evidence.search`), so that words are taken apart in one way.
A misspelling is forgiven only where its letters are found nowhere on the site.
"""

from dataclasses import dataclass
from typing import Any

from django.contrib.postgres.fields import ArrayField
from django.contrib.postgres.search import SearchRank
from django.core.exceptions import ValidationError
from django.db.models import (
    Case,
    Count,
    Exists,
    F,
    FloatField,
    Func,
    IntegerField,
    Q,
    QuerySet,
    TextField,
    Value,
    When,
    Window,
)
from django.db.models.functions import Concat, Replace

from audits.models import Agent, PosturePlatform
from evidence.filters import SearchField
from evidence.ledger import LedgerFilterSet
from evidence.models import Claim
from evidence.search import (
    CLOSE_ENOUGH,
    SEARCH_COLUMNS,
    Question,
    SearchedQuerySet,
    sentence_vector,
    spellings,
    where_words_are,
    words,
)
from ladder.models import Tier
from nesting.models import Cell, ErrorText
from primitives.filters import PrimitiveFilterSet
from primitives.models import Primitive

# How many of each kind are shown: on the page, and in the panel below the search box of the masthead.
ON_THE_PAGE = {"primitives": 12, "agents": 12, "rungs": 6, "errors": 12, "cells": 12, "claims": 20}
IN_THE_PANEL = {"primitives": 4, "agents": 3, "rungs": 2, "errors": 2, "cells": 2, "claims": 3}
# Of what there could be very many of, how many are looked at to tell which are best: as many as in the lists of each.
MOST_RANKED = {"primitives": PrimitiveFilterSet.MOST_RANKED, "claims": LedgerFilterSet.MOST_RANKED}


@dataclass(frozen=True)
class Group:
    """What was found of one kind: so many in all, or more, and the first of them, the one that was meant first."""

    kind: str
    total: int
    found: list[Any]
    has_more: bool

    @property
    def is_near(self) -> bool:
        """Whether these are only spelt nearly so. Claims and cells are found by their words alone."""
        return getattr(self.found[0], "closeness", 0) > 0

    def meant(self, text: str) -> tuple[bool, int, float]:
        """How surely the first one is what was meant by `text`: its very name, how sure the search is of it, how much
        of its name was typed, or how nearly. Greater is surer.
        """
        first = self.found[0]
        name, typed = _letters(getattr(first, "name", "")), _letters(text)
        typed_of_it = len(typed) / len(name) if name.startswith(typed) and name else 0
        return name == typed, getattr(first, "hit", 0), first.closeness if self.is_near else typed_of_it


def asked(value: str) -> tuple[str, str]:
    """What to search for, and a notice where what was typed cannot be."""
    try:
        return SearchField(required=False).clean(value), ""
    except ValidationError as error:
        return "", " ".join(error.messages)


def find(text: str, most: dict[str, int]) -> list[Group]:
    """What `text` finds, at most so many of each kind, in groups: eight queries.

    The group comes first whose first one was most surely meant; on a par they keep their order.
    """
    primitives = Primitive.objects.published()
    documents: dict[str, SearchedQuerySet[Any]] = {
        "primitives": primitives,
        "agents": Agent.objects.published(),
        "errors": ErrorText.objects.all(),
    }
    literally = where_words_are(text, documents)
    found = {kind: each.search(text, literally=kind in literally) for kind, each in documents.items()}
    if "primitives" in literally:
        found["primitives"] = primitives.search_some(text, MOST_RANKED["primitives"] + 1)
    claims = Claim.objects.published().search(text).best_of(text, MOST_RANKED["claims"] + 1)
    searches: dict[str, QuerySet[Any]] = {
        "primitives": found["primitives"].best_first().select_related("tier"),
        "agents": found["agents"].best_first(),
        "rungs": rungs(text),
        "errors": found["errors"].best_first(),
        "cells": Cell.objects.search(text).named(),
        "claims": claims.with_subjects(),
    }
    groups = [
        _group(kind, shown)
        for kind, search in searches.items()
        if (shown := list(_ready(search).annotate(total=Window(Count("*")))[: most[kind]]))
    ]
    if not all(group.is_near for group in groups):
        groups = [group for group in groups if not group.is_near]
    for group in groups:
        if group.kind == "agents":
            _say_what_they_run_in(group.found)
    return sorted(groups, key=lambda group: group.meant(text), reverse=True)


def _group(kind: str, shown: list[Any]) -> Group:
    total = shown[0].total
    most = MOST_RANKED.get(kind, total)
    return Group(kind, min(total, most), shown, has_more=total > most)


def rungs(text: str) -> QuerySet[Tier]:
    """The rungs that `text` finds, as SearchedQuerySet would find them. There are six: they need no columns for it."""
    key = _joined("name")
    parts = [F("name"), F("tagline"), F("summary"), F("description"), F("shares"), F("break_cost")]
    question = Question(text)
    rungs = Tier.objects.alias(
        everything=Concat(*(each for part in parts for each in (part, Value(" "))), output_field=TextField()),
        key=key,
        keys=Func(key, template="ARRAY[%(expressions)s]", output_field=ArrayField(TextField())),
    ).alias(vector=sentence_vector("everything"))
    found_somewhere = Exists(rungs.filter(vector=question))
    return (
        rungs.annotate(
            hit=Case(
                When(keys__overlap=spellings(text), then=Value(3)),
                When(key__startswith=_joined(Value(text)), then=Value(2)),
                default=Value(1),
                output_field=IntegerField(),
            ),
            relevance=SearchRank(F("vector"), question),
            # As in SearchedQuerySet: where the words stand in the text it says nothing more.
            closeness=Case(
                When(vector=question, then=Value(0.0)),
                default=Func(Value(text), F("keys"), words("name"), function="search_closeness"),
                output_field=FloatField(),
            ),
        )
        .filter(Q(vector=question) | (~found_somewhere & Q(closeness__gte=CLOSE_ENOUGH)))
        .order_by(F("hit").desc(), F("relevance").desc(), F("closeness").desc(), "-pk")
    )


def _ready(search: QuerySet[Any]) -> QuerySet[Any]:
    """With `relevance`, and without the columns that are searched in, which nobody reads."""
    if search.model is Tier:
        return search
    if search.model is Cell:
        return search.annotate(relevance=F("rank"))
    if search.model is Claim:
        return search.annotate(relevance=F("rank"))  # with_subjects leaves theirs out
    return search.annotate(relevance=F("rank")).defer(*SEARCH_COLUMNS)


def _say_what_they_run_in(agents: list[Agent]) -> None:
    """Give each agent its `defaults`: what holds it on each platform when nobody changes a setting (one query)."""
    offers = (
        PosturePlatform.objects.defaults()
        .speaking_for_agents()
        .filter(posture__audit__agent__in=agents)
        .select_related("platform", "posture__tier", "posture__audit")
        .order_by("platform__position", "platform__name")
    )
    defaults: dict[int, list[PosturePlatform]] = {}
    for offer in offers:
        defaults.setdefault(offer.posture.audit.agent_id, []).append(offer)
    for agent in agents:
        agent.defaults = defaults.get(agent.pk, [])  # type: ignore[attr-defined]


def _joined(text: str | Value) -> Replace:
    return Replace(words(text), Value(" "), Value(""), output_field=TextField())


def _letters(name: str) -> str:
    return "".join(filter(str.isalnum, name.lower()))
