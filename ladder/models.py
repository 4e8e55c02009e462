"""The ladder: six tiers of isolation, and the kernel line between the fourth and the fifth."""

from django.core.validators import MaxValueValidator, MinValueValidator
from django.db import models
from django.db.models import Q
from django.urls import reverse

from history.tracking import Tracking, tracked

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
        published = Q(primitives__is_published=True)
        return self.annotate(primitive_count=models.Count("primitives", filter=published))


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
