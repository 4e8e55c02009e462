"""The kinds of entries that have a file each, in the order in which they need one another."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from django.db import models

from audits.models import Agent
from evidence.models import Claim, Withdrawn
from ladder.models import CostClaim, CostRange, Tier
from nesting.models import Environment, ErrorText, Inner
from primitives.models import Break, BuildsOn, Category, Isolates, Platform, Primitive, SupportedPlatform
from sandboxicon.content import agents, nesting
from sandboxicon.content.documents import (
    DRAFT,
    Reader,
    break_documents,
    claim_document,
    draft_mark,
    fields_document,
    read_breaks,
    read_claims,
    read_draft_mark,
    read_slug,
    read_slugs,
    read_withdrawn,
    save_breaks,
    save_claims,
    withdrawn_document,
)
from sandboxicon.content.files import Document

Known = dict[str, set[str]]
"""The slugs that there are, or will be, by folder."""

Step = Callable[[], None]

TIER = ["slug", "name", "rank", "kernel", "tagline", "summary", "description", "shares", "break_cost"]
COST = ["kind", "low", "high", "measured_by"]
CATEGORY = ["slug", "name", "summary"]
PLATFORM = ["slug", "name", "summary", "position"]
PRIMITIVE = [
    *("slug", "name", "aliases", "summary", "tier", "category", "platforms", "status", "license", "written_in"),
    *("first_release", "maintainer", "homepage", "repo", "docs", "builds_on", "isolates"),
]
PRIMITIVE_FIELDS = [name for name in PRIMITIVE if name not in ("tier", "category", "platforms", "builds_on")]


@dataclass(frozen=True)
class Kind:
    """A kind of entry: where it is, what it looks like as a document, and how a document becomes one.

    `read` takes a reader, a document, the known slugs and the row that it is to become (None for a new one); it notes
    problems with the reader, and returns what saves the entry and what then relates it to others of its kind.
    """

    model: type[models.Model]
    document: Callable[[Any], Document]
    read: Callable[[Reader, Document, Known, int | None], tuple[Step | None, Step | None]]
    related: tuple[str, ...] = ()
    key: str = "slug"
    """The field that names an entry's file."""

    def queryset(self) -> models.QuerySet[Any]:
        """All entries, ready to become documents."""
        return self.model._default_manager.prefetch_related(*self.related)

    def slugs(self) -> set[str]:
        """The keys of all entries."""
        return set(self.model._default_manager.values_list(self.key, flat=True))


def _plain(model: type[models.Model], names: list[str]) -> Kind:
    """A kind of entry that is fields and nothing else."""

    def read(reader: Reader, document: Document, known: Known, pk: int | None) -> tuple[Step | None, None]:
        if not reader.keys(document, names, [], ""):
            return None, None
        instance = model(pk=pk)
        reader.fill(instance, document, names, "")
        return instance.save, None

    return Kind(model, lambda instance: fields_document(instance, names), read)


def tier_document(tier: Tier) -> Document:
    """A rung with its costs and claims. Costs, like all that few have, are left out where there are none."""
    costs = [
        {**fields_document(cost, COST), "claims": [_name_of_claim(ground.claim) for ground in cost.grounds.all()]}
        for cost in tier.costs.all()
    ]
    return {
        **fields_document(tier, TIER),
        **({"costs": costs} if costs else {}),
        "claims": [claim_document(claim) for claim in tier.claims.all()],
    }


def _name_of_claim(claim: Claim) -> str:
    """How a cost names a claim: primitive/claim, or the claim alone where it is about the rung itself."""
    return f"{claim.primitive.slug}/{claim.slug}" if claim.primitive else claim.slug


def _read_tier(reader: Reader, document: Document, known: Known, pk: int | None) -> tuple[Step | None, Step | None]:
    if not reader.keys(document, [*TIER, "claims"], ["costs"], ""):
        return None, None
    tier = Tier(pk=pk)
    reader.fill(tier, document, TIER, "")
    claims = read_claims(reader, document)
    before = tier_document(Tier.objects.get(pk=pk)).get("costs") if pk else None
    costs_stay = before == document.get("costs")
    costs = [] if costs_stay or "costs" not in document else _read_costs(reader, document)

    def save() -> None:
        tier.save()
        if not costs_stay:
            # Written anew below, when all claims are there; till then they must not stand in a claim's way.
            tier.costs.all().delete()
        save_claims(tier.claims, claims)

    def relate() -> None:
        for cost, names in costs:
            cost.tier = tier
            cost.save()
            for name, at in names:
                primitive, _, slug = name.rpartition("/")
                subject = {"primitive__slug": primitive} if primitive else {"tier": tier}
                claim = Claim.objects.filter(slug=slug, **subject).first()
                if claim is None:
                    reader.say(at, f"no such claim: {name}")
                else:
                    CostClaim.objects.create(cost=cost, claim=claim)

    return save, relate


def _read_costs(reader: Reader, document: Document) -> list[tuple[CostRange, list[tuple[str, str]]]]:
    """The costs of a rung, each with the names of the claims that it rests on and their places in the document."""
    costs = []
    for number, (item, at) in enumerate(reader.items(document, "costs"), 1):
        if not reader.keys(item, [*COST, "claims"], [], at):
            continue
        cost = CostRange(position=number)
        reader.fill(cost, item, COST, at)
        names = list(reader.items(item, "claims", at))
        for name, place in names:
            if not isinstance(name, str):
                reader.say(place, "not text")
        named = [(name, place) for name, place in names if isinstance(name, str)]
        reader.unique([name for name, _ in named], f"{at}.claims", "the claim")
        costs.append((cost, named))
    return costs


def primitive_document(primitive: Primitive) -> Document:
    """A primitive with its claims, their sources, and its breaks."""
    document = fields_document(primitive, PRIMITIVE_FIELDS) | {
        "tier": primitive.tier.slug,
        "category": primitive.category.slug,
        "platforms": sorted(platform.slug for platform in primitive.platforms.all()),
        "builds_on": sorted(part.slug for part in primitive.builds_on.all()),
        "isolates": [thing.value for thing in Isolates if thing in primitive.isolates],
    }
    return {
        **{name: document[name] for name in PRIMITIVE},
        **draft_mark(primitive),
        "claims": [claim_document(claim) for claim in primitive.claims.all()],
        "breaks": break_documents(primitive.breaks.all()),
    }


def _read_primitive(
    reader: Reader, document: Document, known: Known, pk: int | None
) -> tuple[Step | None, Step | None]:
    if not reader.keys(document, [*PRIMITIVE, "claims", "breaks"], [DRAFT], ""):
        return None, None
    primitive = Primitive(pk=pk)
    reader.fill(primitive, document, PRIMITIVE_FIELDS, "")
    read_draft_mark(reader, primitive, document, "")
    read_slug(reader, document, "tier", known["tiers"])
    read_slug(reader, document, "category", known["categories"])
    platforms = read_slugs(reader, document, "platforms", known["platforms"])
    parts = read_slugs(reader, document, "builds_on", known["primitives"])
    claims = read_claims(reader, document)
    breaks = read_breaks(reader, document, Break)

    def save() -> None:
        primitive.tier = Tier.objects.get(slug=document["tier"])
        primitive.category = Category.objects.get(slug=document["category"])
        primitive.save()
        save_claims(primitive.claims, claims)
        save_breaks(primitive.breaks, breaks)
        SupportedPlatform.objects.filter(primitive=primitive).exclude(platform__slug__in=platforms).delete()
        SupportedPlatform.objects.bulk_create(
            [
                SupportedPlatform(primitive=primitive, platform=platform)
                for platform in Platform.objects.filter(slug__in=platforms)
            ],
            ignore_conflicts=True,
        )

    def relate() -> None:
        BuildsOn.objects.filter(primitive=primitive).exclude(part__slug__in=parts).delete()
        BuildsOn.objects.bulk_create(
            [BuildsOn(primitive=primitive, part=part) for part in Primitive.objects.filter(slug__in=parts).only("pk")],
            ignore_conflicts=True,
        )

    return save, relate


KINDS: dict[str, Kind] = {
    "tiers": Kind(
        Tier,
        tier_document,
        _read_tier,
        (
            "claims__sources",
            "claims__former_addresses",
            "costs__grounds__claim__primitive",
        ),
    ),
    "categories": _plain(Category, CATEGORY),
    "platforms": _plain(Platform, PLATFORM),
    "primitives": Kind(
        Primitive,
        primitive_document,
        _read_primitive,
        ("tier", "category", "platforms", "builds_on", "breaks", "claims__sources", "claims__former_addresses"),
    ),
    "agents": Kind(
        Agent,
        agents.agent_document,
        agents.read_agent,
        (
            *(
                "breaks",
                "audits__claims__sources",
                "audits__claims__former_addresses",
                "audits__postures__tier",
                "audits__postures__platforms",
            ),
            *("audits__postures__primitives", "audits__postures__claims"),
        ),
    ),
    "environments": _plain(Environment, nesting.ENVIRONMENT),
    "nesting": Kind(
        Inner,
        nesting.inner_document,
        nesting.read_inner,
        ("primitives", "cells__outer", "cells__fixes", "cells__claims__sources", "cells__claims__former_addresses"),
    ),
    "errors": Kind(
        ErrorText, nesting.error_document, nesting.read_error, ("fixes", "claims__sources", "claims__former_addresses")
    ),
    # After those that have claims: what goes in the same load is said to be withdrawn here.
    "withdrawn": Kind(Withdrawn, withdrawn_document, read_withdrawn, key="address"),
}
