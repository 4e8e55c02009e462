"""The sitemap: every public page once, and when what it shows last changed.

That is when the history last recorded a change of the page's own entry or of a claim about it. A state of a page (a
filter, a search, a comparison) is no page, and a draft has none.
"""

import datetime
from typing import Any

from django.contrib.sitemaps import Sitemap
from django.db.models import Max, OuterRef, QuerySet, Subquery
from django.db.models.functions import Greatest
from django.urls import reverse

from audits.models import Agent
from evidence.models import Claim
from history.tracking import event_model
from ladder.models import Tier
from nesting.models import Cell, ErrorText, Inner
from primitives.models import Primitive

LISTS = [
    "home",
    "two_models",
    "ladder",
    "audits",
    "primitives",
    "nesting",
    "errors",
    "ledger",
    "changes",
    "method",
    "about",
]
# Of these lists the words change with the code alone.
TEACHING = {"two_models"}


def _newest(events: QuerySet[Any]) -> datetime.datetime | None:
    newest: datetime.datetime | None = events.aggregate(newest=Max("pgh_created_at"))["newest"]
    return newest


class Lists(Sitemap):
    """The pages that stand by themselves. What they show changes with the claims."""

    def items(self) -> list[str]:
        return LISTS

    def location(self, item: str) -> str:
        return reverse(item)

    def lastmod(self, item: str) -> datetime.datetime | None:
        return None if item in TEACHING else self.get_latest_lastmod()

    def get_latest_lastmod(self) -> datetime.datetime | None:
        return _newest(event_model(Claim).objects)


class Entries(Sitemap):
    """The pages of one kind of entry. `claims` is the way from a claim's event to the entry, where it has claims."""

    limit = 20_000

    def __init__(self, entries: QuerySet[Any], claims: str = "", *only: str) -> None:
        self.entries, self.claims, self.only = entries, claims, only

    def items(self) -> QuerySet[Any]:
        own = event_model(self.entries.model).objects.filter(pgh_obj=OuterRef("pk")).order_by().values("pgh_obj")
        changed: Any = Subquery(own.annotate(last=Max("pgh_created_at")).values("last"))
        if self.claims:
            about = event_model(Claim).objects.filter(**{self.claims: OuterRef("pk")}).order_by().values(self.claims)
            changed = Greatest(changed, Subquery(about.annotate(last=Max("pgh_created_at")).values("last")))
        return self.entries.annotate(changed=changed).only(*self.only).order_by("pk")

    def lastmod(self, item: Any) -> datetime.datetime | None:
        changed: datetime.datetime | None = item.changed
        return changed

    def get_latest_lastmod(self) -> datetime.datetime | None:
        models: list[Any] = [self.entries.model, Claim]
        newest = [_newest(event_model(model).objects) for model in models]
        return max(filter(None, newest), default=None)


class Histories(Entries):
    """The pages with what changed in these entries."""

    def location(self, item: Any) -> str:
        return reverse(f"{item._meta.model_name}_history", args=[item.slug])


def sections() -> dict[str, Sitemap]:
    """The parts of the sitemap, by the names in their addresses."""
    return {
        "lists": Lists(),
        "rungs": Entries(Tier.objects.all(), "tier", "slug"),
        "primitives": Entries(Primitive.objects.published(), "primitive", "slug"),
        "agents": Entries(Agent.objects.published(), "audit__agent", "slug"),
        "sandboxes": Entries(Inner.objects.all(), "cell__inner", "slug"),
        "cells": Entries(Cell.objects.select_related("inner", "outer"), "cell", "inner__slug", "outer__slug"),
        "errors": Entries(ErrorText.objects.all(), "error_text", "slug"),
        "rung-histories": Histories(Tier.objects.all(), "tier", "slug"),
        "primitive-histories": Histories(Primitive.objects.published(), "primitive", "slug"),
        "agent-histories": Histories(Agent.objects.published(), "audit__agent", "slug"),
        "claims": Entries(Claim.objects.published(), "", "address"),
    }
