"""The ladder: six tiers of isolation, and the kernel line between the fourth and the fifth."""

from typing import Any

from django.apps import apps
from django.contrib.postgres.expressions import ArraySubquery
from django.core.validators import MaxValueValidator, MinValueValidator
from django.db import models
from django.db.models import Count, Exists, OuterRef, Q
from django.db.models.functions import Coalesce, JSONObject, Lower
from django.urls import reverse

from history.tracking import Tracking, tracked
from ladder import rules

# The lowest rank whose boxes bring a kernel of their own: the kernel line runs just below it.
FIRST_RANK_WITH_OWN_KERNEL = 5


class Kernel(models.TextChoices):
    """Whose kernel answers the system calls of the code in the box."""

    SHARED = "shared", "shares the host's kernel"
    OWN = "own", "brings its own kernel"


class TierQuerySet(models.QuerySet["Tier"]):
    """Questions about rungs."""

    def strongest_first(self) -> "TierQuerySet":
        """From the full VM down to the kernel feature, as the ladder is drawn."""
        return self.order_by("-rank")

    def with_counts(self) -> "TierQuerySet":
        """Each with `primitive_count`, the number of published primitives that stand on it."""
        primitives: Any = apps.get_model("primitives", "Primitive")
        here = primitives.objects.published().filter(tier=OuterRef("pk")).order_by().values("tier")
        # Rung by rung from an index: a join would read all entries.
        return self.annotate(
            primitive_count=Coalesce(models.Subquery(here.annotate(number=Count("*")).values("number")), 0)
        )

    def with_costs(self) -> "TierQuerySet":
        """Each with its `costs` for reading (one query more)."""
        return self.prefetch_related(models.Prefetch("costs", CostRange.objects.for_reading()))

    def with_who_stands_on_it(self, most: int = 6) -> "TierQuerySet":
        """Each with `best_known`, its primitives that most others here build on or run in, and `by_default`, the agents
        that run on it when nobody changes a setting: as dicts of slug and name.
        """
        primitives: Any = apps.get_model("primitives", "Primitive")
        agents: Any = apps.get_model("audits", "Agent")
        postures: Any = apps.get_model("audits", "Posture")
        link = JSONObject(slug="slug", name="name")
        built_on: Any = apps.get_model("primitives", "BuildsOn")
        stood_on: Any = apps.get_model("audits", "PosturePrimitive")
        # Not all that are on the rung, but those that are used at all, and as many others as may be needed beside them,
        # which an index has in their order.
        first = primitives.objects.published().filter(tier_rank=OuterRef(OuterRef("rank"))).order_by(Lower("name"))
        some = (
            built_on.objects.order_by()
            .values("part")
            .union(stood_on.objects.order_by().values("primitive"), first.values("pk")[:most])
        )
        best_known = (
            primitives.objects.published()
            .filter(tier=OuterRef("pk"), pk__in=some)
            .annotate(uses=Count("postures__audit__agent", distinct=True) + Count("wholes", distinct=True))
            .order_by("-uses", Lower("name"))
        )
        here = postures.objects.published().filter(
            audit__agent=OuterRef("pk"), is_default=True, tier=OuterRef(OuterRef("pk"))
        )
        by_default = agents.objects.published().filter(Exists(here)).order_by(Lower("name"))
        return self.annotate(
            best_known=ArraySubquery(best_known.values(link=link)[:most]),
            by_default=ArraySubquery(by_default.values(link=link)),
        )


@tracked(Tracking(kind="rung", says="tagline"))
class Tier(models.Model):
    """A rung of the ladder.

    `rank` runs from 1 (weakest) to 6 and ranks one thing alone: where the kernel boundary is.
    """

    slug = models.SlugField(unique=True, help_text="The rung's address. Never change it.")
    name = models.CharField(max_length=40, unique=True)
    rank = models.PositiveSmallIntegerField(
        unique=True,
        validators=[MinValueValidator(1), MaxValueValidator(6)],
        help_text="1 is the weakest, 6 the strongest.",
    )
    kernel = models.CharField(
        max_length=6, choices=Kernel.choices, help_text="Ranks 1 to 4 share the host's kernel, 5 and 6 bring their own."
    )
    tagline = models.CharField(max_length=80, help_text="A few words for the ladder, no full stop.")
    summary = models.TextField(help_text="One plain sentence: what this rung is.")
    description = models.TextField(help_text="Markdown. What holds it up, when people choose it, the traps.")
    shares = models.TextField(help_text="What a box on this rung shares with the host and its neighbours.")
    break_cost = models.TextField(
        verbose_name="what a break costs", help_text="What an attacker must break to reach the host from a box."
    )

    objects = TierQuerySet.as_manager()

    class Meta:
        ordering = ["rank"]
        constraints = [
            models.CheckConstraint(
                name="tier_rank_is_a_rung",
                condition=Q(rank__range=(1, 6)),
                violation_error_message="A rung's rank is a number from 1 to 6.",
            ),
            models.CheckConstraint(
                name="tier_kernel_follows_rank",
                condition=Q(rank__lt=FIRST_RANK_WITH_OWN_KERNEL, kernel=Kernel.SHARED)
                | Q(rank__gte=FIRST_RANK_WITH_OWN_KERNEL, kernel=Kernel.OWN),
                violation_error_message="Ranks 1 to 4 share the host's kernel; ranks 5 and 6 bring their own.",
            ),
        ]

    def __str__(self) -> str:
        return self.name

    def get_absolute_url(self) -> str:
        return reverse("tier", args=[self.slug])

    @property
    def name_in_a_sentence(self) -> str:
        """The name as it stands after "a": "a process sandbox", "a microVM"."""
        return self.name[0].lower() + self.name[1:]

    @property
    def has_own_kernel(self) -> bool:
        """True above the kernel line."""
        return self.kernel == Kernel.OWN

    @property
    def start_up(self) -> "list[CostRange]":
        """What it costs once. The rung must come from with_costs()."""
        return [cost for cost in self.costs.all() if cost.kind == CostKind.START_UP]

    @property
    def overhead(self) -> "list[CostRange]":
        """What it costs all the time. The rung must come from with_costs()."""
        return [cost for cost in self.costs.all() if cost.kind != CostKind.START_UP]


class CostKind(models.TextChoices):
    """What a box on a rung costs. All but the start-up are overhead."""

    START_UP = "start-up", "start-up"
    MEMORY = "memory", "memory"
    SYSTEM_CALL = "system call", "a system call"
    PROCESSOR = "processor", "processor time"


class CostRangeQuerySet(models.QuerySet["CostRange"]):
    """Questions about costs."""

    def for_reading(self) -> "CostRangeQuerySet":
        """Those whose claims are all public, each with `rests_on`: of each claim its address, label and subject."""
        claims = CostClaim.objects.filter(cost=OuterRef("pk"))
        drafts = claims.filter(Q(claim__is_published=False) | Q(claim__primitive__is_published=False))
        about = Coalesce("claim__primitive__name", "claim__tier__name")
        shown = JSONObject(address="claim__address", label="claim__label", subject=about)
        return self.filter(~Exists(drafts)).annotate(rests_on=ArraySubquery(claims.order_by("pk").values(shown=shown)))


@tracked(Tracking(owners=("tier",), named_by="kind", says="measured_by", kind="rung", quiet=("position",)))
class CostRange(models.Model):
    """A cost of a rung, from the least to the most that a claim says. Nothing here is measured or reckoned by us."""

    tier = models.ForeignKey(Tier, models.CASCADE, related_name="costs")
    position = models.PositiveSmallIntegerField(default=1000, help_text="Place among the rung's costs, low first.")
    kind = models.CharField(max_length=12, choices=CostKind.choices)
    low = models.CharField(
        max_length=40, help_text="The least, letter by letter as the sentence of a claim has it: 125 ms."
    )
    high = models.CharField(
        max_length=40, blank=True, help_text="The most, likewise; empty where there is but one figure."
    )
    measured_by = models.TextField(help_text="Whose figures these are, and of what: one sentence.")
    claims = models.ManyToManyField(
        "evidence.Claim",
        through="CostClaim",
        related_name="costs",
        help_text="What it rests on: claims about this rung, or about primitives on it.",
    )

    objects = CostRangeQuerySet.as_manager()

    class Meta:
        ordering = ["position", "pk"]
        verbose_name = "cost"
        constraints = [
            models.CheckConstraint(name="cost_kind_is_known", condition=Q(kind__in=CostKind.values)),
            models.CheckConstraint(
                name="cost_has_a_figure",
                condition=Q(low__regex=r"[0-9]") & (Q(high="") | Q(high__regex=r"[0-9]")),
                violation_error_message="A cost is a figure.",
            ),
        ]
        triggers = [rules.cost_is_borne_out("NEW.id", name="cost_is_borne_out")]

    def __str__(self) -> str:
        return f"{self.kind}: {self.figures}"

    @property
    def figures(self) -> str:
        """The range, or the one figure."""
        return f"{self.low} to {self.high}" if self.high else self.low


@tracked(Tracking(owners=("cost",), is_part=True, kind="rung"))
class CostClaim(models.Model):
    """A range of costs rests on a claim."""

    cost = models.ForeignKey(CostRange, models.CASCADE, related_name="grounds")
    claim = models.ForeignKey("evidence.Claim", models.CASCADE, related_name="+")

    class Meta:
        ordering = ["pk"]
        verbose_name = "claim that it rests on"
        verbose_name_plural = "claims that it rests on"
        constraints = [models.UniqueConstraint(fields=["cost", "claim"], name="cost_claim_once")]
        triggers = [
            rules.cost_is_borne_out(
                "SELECT unnest(ARRAY[OLD.cost_id, NEW.cost_id])", name="cost_is_borne_out", on_delete=True
            )
        ]

    def __str__(self) -> str:
        return f"{self.cost} rests on {self.claim_id}"
