"""The matrix: agents or surfaces by platforms, and in each cell what runs there by default."""

from collections.abc import Collection, Iterable
from dataclasses import dataclass, field
from typing import Any

from django.db.models import Count

from audits.filters import AuditFilterSet
from audits.models import Agent, AgentAudit, Isolation, PosturePlatform
from audits.querysets import OfferQuerySet
from ladder.models import Kernel
from primitives.models import Platform

# The columns that stand wherever anything at all is offered there; another platform has one where a row shown is.
COLUMNS = ["linux", "macos", "windows", "vendor-cloud"]


@dataclass
class Cell:
    """What a row runs in on a platform. Not offered there: no offer. `others` are surfaces that differ from it."""

    platform: Platform
    offer: PosturePlatform | None = None
    others: list[PosturePlatform] = field(default_factory=list)

    @property
    def side(self) -> str:
        """Where it stands: "own" kernel, "shared" kernel, "none", "undisclosed" or "not-offered"."""
        if self.offer is None:
            return "not-offered"
        tier = self.offer.posture.tier
        return tier.kernel if tier else self.offer.posture.isolation


@dataclass
class Row:
    """An agent, or one surface of it, with a cell for each column once they are filled in."""

    agent: Agent
    audit: AgentAudit | None
    can_be_picked: bool  # an agent is picked once, in the first row that it has on the page
    cells: list[Cell] = field(default_factory=list)

    @property
    def key(self) -> tuple[int, int | None, bool]:
        """Tells it from every other row, whatever the columns and the kinds of surfaces."""
        return self.agent.pk, self.audit.pk if self.audit else None, self.can_be_picked


@dataclass(frozen=True)
class Summary:
    """How many of the rows in force run in what on a platform by default."""

    platform: Platform
    offered: int
    none: int
    shared: int
    own: int
    undisclosed: int


def columns_for(filterset: AuditFilterSet, found: Iterable[Any]) -> list[Platform]:
    """The columns of a page of these agents or surfaces, as the filter set found them."""
    shown = {slug for subject in found for slug in subject.platform_slugs}
    return [
        Platform(slug=slug, name=name)
        for slug, name in filterset.filters["platform"].extra["choices"]
        if slug in COLUMNS or slug in shown
    ]


def rows_of(found: Iterable[Agent | AgentAudit]) -> list[Row]:
    """A row for each of those found, without its cells."""
    rows: list[Row] = []
    seen: set[int] = set()
    for subject in found:
        agent = agent_of(subject)
        rows.append(Row(agent, subject if isinstance(subject, AgentAudit) else None, agent.pk not in seen))
        seen.add(agent.pk)
    return rows


def fill(filterset: AuditFilterSet, columns: list[Platform], rows: Collection[Row]) -> None:
    """Give each row its cells (one query)."""
    cells = PosturePlatform.objects.defaults().for_matrix().order_by("posture__audit__position", "posture__audit")
    if filterset.by_surface:
        cells = cells.filter(posture__audit__in=[row.audit for row in rows])
    else:
        cells = cells.filter(posture__audit__agent__in=[row.agent for row in rows])
        if kinds := filterset.chosen.get("kind"):
            cells = cells.filter(posture__audit__kind__in=kinds)
    offers: dict[tuple[int, str], list[PosturePlatform]] = {}
    for offer in cells:
        of = offer.posture.audit_id if filterset.by_surface else offer.posture.audit.agent_id
        offers.setdefault((of, offer.platform.slug), []).append(offer)
    for row in rows:
        of = (row.audit or row.agent).pk
        row.cells = [_cell(platform, offers.get((of, platform.slug), [])) for platform in columns]


def agent_of(subject: Agent | AgentAudit) -> Agent:
    """The agent that a row is about."""
    return subject.agent if isinstance(subject, AgentAudit) else subject


def _cell(platform: Platform, offers: list[PosturePlatform]) -> Cell:
    if not offers:
        return Cell(platform)
    first, *others = offers
    verdict = (first.posture.isolation, first.posture.tier_id)
    return Cell(
        platform, first, [offer for offer in others if (offer.posture.isolation, offer.posture.tier_id) != verdict]
    )


def summaries(filterset: AuditFilterSet) -> list[Summary]:
    """For each platform in question, how many of the rows in force run in what by default, counted (one query)."""
    cells = PosturePlatform.objects.defaults()
    row = filterset.counted
    kinds = filterset.chosen.get("kind", [])
    if kinds:
        cells = cells.filter(posture__audit__kind__in=kinds)
    if not filterset.by_surface:
        cells = cells.speaking_for_agents(kinds)
    if filterset.chosen:
        cells = cells.filter(**{f"{row}__in": filterset.filtered().values(row)})
    if platforms := filterset.chosen.get("platform"):
        cells = cells.filter(platform__slug__in=platforms)
    return summarise(cells, row)


def summarise(cells: OfferQuerySet, row: str = "posture__audit__agent") -> list[Summary]:
    """For each platform of these cells, how many run in what, counted by `row` (one query)."""
    counted = cells.order_by("platform__position", "platform__name").values(
        "platform__slug", "platform__name", "posture__isolation", "posture__tier__kernel"
    )
    numbers: dict[tuple[str, str], dict[str, int]] = {}
    for line in counted.annotate(number=Count(row, distinct=True)):
        kind = line["posture__tier__kernel"] or line["posture__isolation"]
        numbers.setdefault((line["platform__slug"], line["platform__name"]), {})[kind] = line["number"]
    return [
        Summary(
            platform=Platform(slug=slug, name=name),
            offered=sum(of.values()),
            none=of.get(Isolation.NONE, 0),
            shared=of.get(Kernel.SHARED, 0),
            own=of.get(Kernel.OWN, 0),
            undisclosed=of.get(Isolation.UNDISCLOSED, 0),
        )
        for (slug, name), of in numbers.items()
    ]
