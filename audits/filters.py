"""The matrix's filters: over default postures on platforms, which are its cells."""

from collections.abc import Iterable
from typing import Any

from django.contrib.postgres.expressions import ArraySubquery
from django.db.models import (
    BooleanField,
    Case,
    CharField,
    ExpressionWrapper,
    F,
    IntegerField,
    Max,
    OuterRef,
    Q,
    QuerySet,
    Subquery,
    Value,
    When,
)
from django.db.models.functions import Lower
from django.http import QueryDict
from django.utils.functional import cached_property

from audits.models import (
    Agent,
    AgentAudit,
    Approvals,
    Isolation,
    Network,
    OnFailure,
    OpenSource,
    PosturePlatform,
    Read,
    SurfaceKind,
    Write,
)
from audits.querysets import OfferQuerySet
from evidence.filters import FacetedFilterSet, KnownValuesFilter, SearchFilter
from ladder.models import Kernel, Tier
from primitives.models import Platform

# Where nothing is held, nothing can fail to start; there "unknown" would be a claim about a sandbox.
_FAILURE = Case(
    When(posture__isolation=Isolation.NONE, then=Value(None)),
    default=F("posture__on_failure"),
    output_field=CharField(),
)


class AuditFilterSet(FacetedFilterSet):
    """The matrix's filters.

    All of them speak of the same default posture: "macOS" and "network off" finds what has its network off on macOS.
    A row is an agent, spoken for on each platform by its first surface there, or with `rows=surfaces` a surface.
    """

    q = SearchFilter(method="search", label="Search")
    platform = KnownValuesFilter(field_name="platform__slug", label="Platform")
    isolation = KnownValuesFilter(field_name="posture__isolation", label="By default", choices=Isolation.choices)
    tier = KnownValuesFilter(field_name="posture__tier__slug", label="Rung by default")
    side = KnownValuesFilter(
        field_name="posture__tier__kernel", label="Side of the kernel line", choices=Kernel.choices
    )
    read = KnownValuesFilter(field_name="posture__read_level", label="Can read", choices=Read.choices)
    write = KnownValuesFilter(field_name="posture__write_level", label="Can write", choices=Write.choices)
    network = KnownValuesFilter(field_name="posture__network_level", label="Network", choices=Network.choices)
    approvals = KnownValuesFilter(
        field_name="posture__approvals_level", label="A person is asked", choices=Approvals.choices
    )
    failure = KnownValuesFilter(method="on_failure", label="When the sandbox cannot start", choices=OnFailure.choices)
    at_least = KnownValuesFilter(method="can_be_raised", label="Can be raised to at least")
    kind = KnownValuesFilter(field_name="posture__audit__kind", label="Surface", choices=SurfaceKind.choices)
    open_source = KnownValuesFilter(
        field_name="posture__audit__agent__open_source", label="Source", choices=OpenSource.choices
    )
    vendor = KnownValuesFilter(field_name="posture__audit__agent__vendor", label="Vendor")

    FACETS = {
        "platform": "platform__slug",
        "isolation": "posture__isolation",
        "side": "posture__tier__kernel",
        "tier": "posture__tier__slug",
        "at_least": None,  # see counts: a surface is raised by another posture than its default
        "read": "posture__read_level",
        "write": "posture__write_level",
        "network": "posture__network_level",
        "approvals": "posture__approvals_level",
        "failure": _FAILURE,
        "kind": "posture__audit__kind",
        "open_source": "posture__audit__agent__open_source",
        "vendor": "posture__audit__agent__vendor",
    }
    ANY_OF = {*FACETS}
    PICK = "a"
    COMPARE = "compare_agents"
    SORTS = {"name": "name", "tier": "rung, strongest first"}

    class Meta:
        model = PosturePlatform
        fields: list[str] = []

    def __init__(self, data: QueryDict) -> None:
        super().__init__(data, queryset=PosturePlatform.objects.defaults())
        self.by_surface = data.get("rows") == "surfaces"
        self.counted = "posture__audit" if self.by_surface else "posture__audit__agent"
        self.ranks: dict[str, int] = {}
        for name, choices in self._choices_from_the_database().items():
            self.filters[name].extra["choices"] = choices

    def _choices_from_the_database(self) -> dict[str, list[tuple[str, str]]]:
        """The options of the filters that curators can add to, in one query."""
        tiers = Tier.objects.order_by().values_list(Value("tier"), "slug", "name", "rank")
        platforms = (
            Platform.objects.filter(offers__posture__audit__is_published=True)
            .order_by()
            .distinct()
            .values_list(Value("platform"), "slug", "name", "position")
        )
        vendors = (
            Agent.objects.published().order_by().distinct().values_list(Value("vendor"), "vendor", "vendor", Value(0))
        )
        choices: dict[str, list[tuple[str, str]]] = {"tier": [], "platform": [], "vendor": []}
        for name, value, title, place in sorted(
            tiers.union(platforms, vendors, all=True), key=lambda row: (row[3], row[2])
        ):
            choices[name].append((value, title))
            if name == "tier":
                self.ranks[value] = place
        choices["tier"].reverse()
        return {**choices, "at_least": choices["tier"]}

    # ---- what the address says ----

    def query(self, without: str = "", *, picked: list[str] | None = None, **changes: str) -> str:
        rows = {"rows": "surfaces"} if self.by_surface else {}
        return super().query(without, picked=picked, **rows | changes)

    def pickable(self) -> QuerySet[Agent]:
        return Agent.objects.published().only("slug", "name")

    # ---- what each filter does ----

    @cached_property
    def meant(self) -> list[int]:
        """The agents that the search finds, the one meant first.

        Asked for once: inside the queries for cells Postgres would search anew for each of them.
        """
        return list(Agent.objects.published().search(self.chosen["q"]).best_first().values_list("pk", flat=True))

    def search(self, queryset: OfferQuerySet, name: str, value: str) -> OfferQuerySet:
        return queryset.filter(posture__audit__agent__in=self.meant)

    def on_failure(self, queryset: OfferQuerySet, name: str, value: list[str]) -> OfferQuerySet:
        return queryset.alias(failure=_FAILURE).filter(failure__in=value)

    def can_be_raised(self, queryset: OfferQuerySet, name: str, value: list[str]) -> OfferQuerySet:
        return queryset.raisable(min(self.ranks[slug] for slug in value))

    # ---- what is found ----

    def filtered(self, leaving_out: str = "") -> OfferQuerySet:
        """The cells that all filters find but the one left out; of an agent the cells that speak for it."""
        cells: Any = super().filtered(leaving_out)
        if self.by_surface:
            return cells
        if leaving_out == "kind":
            return cells.speaking_for_agents(within_kind=True)
        return cells.speaking_for_agents(self.chosen.get("kind", []))

    def counts(self) -> dict[str, dict[str, int]]:
        """How many rows each option would show, counted here from all that is offered (one query).

        In SQL each facet would find out anew which cells speak for their agents and which the filters leave, and to
        plan that takes Postgres longer than all else that the matrix asks for.
        """
        offers = list(self._offers())
        ranks: dict[tuple[int, int], int] = {}
        for offer in offers:
            place = (offer["audit"], offer["platform_id"])
            ranks[place] = max(ranks.get(place, 0), offer["rank"] or 0)
        rows: dict[str, dict[str, set[int]]] = {name: {} for name in self.FACETS}
        chosen = self.chosen
        kinds = chosen.get("kind")
        spoken_for, spoken_for_in_kind = set(), set()
        for cell in offers:
            if not cell["is_default"]:
                continue
            where = (cell["agent"], cell["platform_id"])
            speaks = where not in spoken_for and (not kinds or cell["kind"] in kinds)
            speaks_in_kind = (*where, cell["kind"]) not in spoken_for_in_kind
            if speaks:
                spoken_for.add(where)
            spoken_for_in_kind.add((*where, cell["kind"]))
            missed = {name for name in chosen if not cell[f"fits_{name}"]}
            highest = ranks[cell["audit"], cell["platform_id"]]
            raisable = [slug for slug, rank in self.ranks.items() if rank <= highest]
            for name, expression in self.FACETS.items():
                if missed <= {name} and (self.by_surface or (speaks_in_kind if name == "kind" else speaks)):
                    for value in [cell[f"value_of_{name}"]] if expression else raisable:
                        rows[name].setdefault(value, set()).add(cell["audit" if self.by_surface else "agent"])
        return {name: {value: len(found) for value, found in of.items()} for name, of in rows.items()}

    def _offers(self) -> Iterable[Any]:
        """All that is offered, an agent's first surface first: what it counts for, and which filters it fits."""
        fits = {
            f"fits_{name}": ExpressionWrapper(
                Q(pk__in=self.filters[name].filter(self.queryset.all(), value).values("pk")), BooleanField()
            )
            for name, value in self.chosen.items()
        }
        values = {
            f"value_of_{name}": F(value) if isinstance(value, str) else value
            for name, value in self.FACETS.items()
            if value
        }
        return (
            PosturePlatform.objects.published()
            .order_by("posture__audit__position", "posture__audit")
            .values(
                "platform_id",
                is_default=F("posture__is_default"),
                rank=F("posture__tier__rank"),
                audit=F("posture__audit"),
                kind=F("posture__audit__kind"),
                agent=F("posture__audit__agent"),
                **fits,
                **values,
            )
        )

    def found(self) -> QuerySet[Any]:
        """The rows: agents or surfaces with a cell that all filters find, in the order asked for, each with
        `platform_slugs`, where it has cells.

        By rung, a row stands where the strongest of its cells found does. What holds nothing stands below every rung,
        and what is undisclosed has no rung to stand on: it comes last.
        """
        cells = self.filtered()
        rung = Max(
            Case(
                When(posture__isolation=Isolation.NONE, then=Value(0)),
                default=F("posture__tier__rank"),
                output_field=IntegerField(),
            )
        )
        row = self.counted
        offered = PosturePlatform.objects.defaults().filter(**{row: OuterRef("pk")})
        if kinds := self.chosen.get("kind"):
            offered = offered.filter(posture__audit__kind__in=kinds)
        strongest = cells.filter(**{row: OuterRef("pk")}).order_by().values(row).annotate(rung=rung).values("rung")
        by_name: list[Any] = [Lower("agent__name"), "position", "pk"] if self.by_surface else [Lower("name")]
        rows: QuerySet[Any] = (
            AgentAudit.objects.select_related("agent").only(
                "slug", "name", "kind", "agent__slug", "agent__name", "agent__vendor"
            )
            if self.by_surface
            else Agent.objects.only("slug", "name", "vendor")
        )
        rows = rows.filter(pk__in=cells.values(row)).annotate(
            platform_slugs=ArraySubquery(offered.order_by().values("platform__slug"))
        )
        match self.sort:
            case "best":
                agent = "agent" if self.by_surface else "pk"
                place = Case(*(When(**{agent: pk}, then=Value(place)) for place, pk in enumerate(self.meant)))
                return rows.order_by(place, *by_name)
            case "tier":
                return rows.order_by(Subquery(strongest).desc(nulls_last=True), *by_name)
        return rows.order_by(*by_name)
