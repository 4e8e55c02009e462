"""The reference: primitives, what they are built of, and the published breaks of their boundary."""

from collections.abc import Iterable

from django.contrib.postgres.fields import ArrayField
from django.contrib.postgres.indexes import GinIndex
from django.core.validators import MaxValueValidator, MinValueValidator, RegexValidator
from django.db import models
from django.db.models import F, Q
from django.db.models.functions import Lower
from django.urls import reverse

from evidence.addresses import claims_follow, claims_outlive
from evidence.models import SLUG, PublishedBreak, https_constraints, https_field, published_field
from evidence.search import SEARCH_COLUMNS, SearchDocument
from history.tracking import Tracking, tracked
from ladder.core_sample import CoreSample, Named, of_primitive
from primitives import listing, rules, search
from primitives.querysets import PrimitiveQuerySet, begin_of


@tracked(Tracking(kind="frame"))
class Category(models.Model):
    """What kind of thing a primitive is: a sandbox tool, a VMM, a container runtime."""

    slug = models.SlugField(unique=True, help_text="The category's address. Never change it.")
    name = models.CharField(max_length=60, unique=True)
    summary = models.TextField(help_text="One plain sentence: what belongs here.")

    class Meta:
        ordering = ["name"]
        verbose_name_plural = "categories"
        triggers = listing.refresh_listings(
            "SELECT id FROM primitives_primitive WHERE category_id IN (SELECT id FROM {rows})"
        )

    def __str__(self) -> str:
        return self.name


@tracked(Tracking(kind="frame", quiet=("position",)))
class Platform(models.Model):
    """A host platform that a primitive runs on."""

    slug = models.SlugField(unique=True, help_text="The platform's address. Never change it.")
    name = models.CharField(max_length=60, unique=True)
    summary = models.TextField(help_text="One plain sentence: what this platform means here.")
    position = models.PositiveSmallIntegerField(default=100, help_text="Place in lists, low first.")

    class Meta:
        ordering = ["position", "name"]
        triggers = listing.refresh_listings(
            "SELECT primitive_id FROM primitives_supportedplatform WHERE platform_id IN (SELECT id FROM {rows})"
        )

    def __str__(self) -> str:
        return self.name


class Status(models.TextChoices):
    """Whether a primitive is alive."""

    ACTIVE = "active", "active"
    MAINTENANCE = "maintenance", "maintenance only"
    EXPERIMENTAL = "experimental", "experimental"
    DEPRECATED = "deprecated", "deprecated"
    ARCHIVED = "archived", "archived"


class Isolates(models.TextChoices):
    """What a primitive can keep apart. The order is the order of lists."""

    FILESYSTEM = "filesystem", "file system"
    NETWORK = "network", "network"
    PROCESSES = "processes", "processes"
    SYSCALLS = "syscalls", "system calls"
    RESOURCES = "resources", "resources"
    PRIVILEGES = "privileges", "privileges"
    DEVICES = "devices", "devices"
    KERNEL = "kernel", "kernel"


@tracked(Tracking(), leave_out=[*SEARCH_COLUMNS, *listing.LISTING_COLUMNS])
class Primitive(SearchDocument):
    """A technology that isolates, or that isolation is built of."""

    slug = models.CharField(
        max_length=60,
        unique=True,
        validators=[RegexValidator(SLUG, "Use lower-case letters, digits and single hyphens.")],
        help_text="The entry's address. Never change it.",
    )
    name = models.CharField(max_length=100, unique=True)
    aliases = ArrayField(
        models.CharField(max_length=100),
        default=list,
        blank=True,
        help_text="Other names that people search for, separated by commas: command names, abbreviations.",
    )
    summary = models.TextField(help_text="One plain sentence: what it is.")
    tier = models.ForeignKey(
        "ladder.Tier", models.PROTECT, related_name="primitives", help_text="Where its kernel boundary is."
    )
    category = models.ForeignKey(Category, models.PROTECT, related_name="primitives")
    platforms = models.ManyToManyField(Platform, through="SupportedPlatform", related_name="primitives")
    status = models.CharField(max_length=20, choices=Status.choices, default=Status.ACTIVE)
    license = models.CharField(
        max_length=100, blank=True, verbose_name="licence", help_text="SPDX, or proprietary, or part of the OS."
    )
    written_in = models.CharField(max_length=60, blank=True, help_text="Programming language; empty if unknown.")
    first_release = models.PositiveSmallIntegerField(
        null=True,
        blank=True,
        validators=[MinValueValidator(1960), MaxValueValidator(2100)],
        help_text="Year; empty if unknown.",
    )
    maintainer = models.CharField(max_length=100, blank=True)
    homepage = https_field("Its own page.")
    repo = https_field("Where its source code is.")
    docs = https_field("Where its documentation begins.")
    builds_on: "models.ManyToManyField[Primitive, BuildsOn]" = models.ManyToManyField(
        "self",
        through="BuildsOn",
        through_fields=("primitive", "part"),
        symmetrical=False,
        related_name="built_on_it",
        help_text="The primitives that it is made of.",
    )
    isolates = ArrayField(
        models.CharField(max_length=20, choices=Isolates.choices),
        default=list,
        blank=True,
        help_text="What it does keep apart. What is not named here it does not isolate.",
    )
    is_published = published_field("An entry that is not is a draft, which no page shows.")
    # Postgres writes these (primitives.listing).
    tier_rank = models.PositiveSmallIntegerField(default=0, editable=False)
    claim_count = models.PositiveIntegerField(default=0, editable=False)
    last_checked = models.DateField(null=True, editable=False)
    facets = ArrayField(models.TextField(), default=list, editable=False)

    objects = PrimitiveQuerySet.as_manager()

    class Meta:
        ordering = ["name"]
        constraints = [
            models.CheckConstraint(name="primitive_slug_is_an_address", condition=Q(slug__regex=SLUG)),
            models.CheckConstraint(name="primitive_status_is_known", condition=Q(status__in=Status.values)),
            models.CheckConstraint(
                name="primitive_isolates_known_things", condition=Q(isolates__contained_by=Isolates.values)
            ),
            *https_constraints("primitive", "homepage", "repo", "docs"),
        ]
        indexes = [
            *SearchDocument.Meta.indexes,
            GinIndex(fields=["facets"], name="primitive_facets"),
            # Counting what is published on a rung, and finding what is not, without reading any entry.
            models.Index(fields=["is_published", "tier"], name="primitive_published_on"),
            # How names begin (PrimitiveQuerySet.named).
            models.Index(begin_of("search_names"), "id", name="primitive_names_begin"),
            # The orders of the reference (primitives.filters).
            models.Index(Lower("name"), name="primitive_by_name"),
            models.Index(F("tier_rank").desc(), Lower("name"), name="primitive_by_rung"),
            models.Index(F("claim_count").desc(), Lower("name"), name="primitive_by_claims"),
            models.Index(F("last_checked").desc(nulls_last=True), Lower("name"), name="primitive_by_check"),
        ]
        triggers = [
            search.primitive_search_document,
            listing.primitive_listing,
            claims_follow("primitive_id = NEW.id", "slug"),
            claims_outlive("primitive"),
            rules.costs_on_its_claims_are_borne_out,
        ]

    def __str__(self) -> str:
        return self.name

    def get_absolute_url(self) -> str:
        return reverse("primitive", args=[self.slug])

    @property
    def isolation(self) -> list[tuple[Isolates, bool]]:
        """Each thing that a primitive can isolate, with whether this one does, in the order of lists."""
        return [(thing, thing.value in self.isolates) for thing in Isolates]

    @property
    def named(self) -> Named:
        """What a drawing asks of it."""
        return Named(self.name, self.category.slug)

    def core_sample(self, parts: "Iterable[Primitive]") -> CoreSample:
        """Its drawing; `parts` are what it builds on."""
        return of_primitive(
            self.tier.rank,
            self.named,
            [part.named for part in parts if part.tier.has_own_kernel],
            apart=[str(thing.label) for thing, does in self.isolation if does],
            not_apart=[str(thing.label) for thing, does in self.isolation if not does],
            # A container that keeps the host's kernel away can only do so in a machine, which its neighbours share.
            in_one_machine=self.tier.slug == "container" and Isolates.KERNEL in self.isolates,
        )


@tracked(Tracking(owners=("primitive",), is_part=True))
class SupportedPlatform(models.Model):
    """A primitive runs on a platform. Keeps a platform in use from being deleted."""

    primitive = models.ForeignKey(Primitive, models.CASCADE)
    platform = models.ForeignKey(Platform, models.PROTECT)

    class Meta:
        ordering = ["platform"]
        constraints = [models.UniqueConstraint(fields=["primitive", "platform"], name="supported_platform_once")]
        triggers = search.refresh_primitives()

    def __str__(self) -> str:
        return f"{self.primitive} on {self.platform}"


@tracked(Tracking(owners=("primitive",), is_part=True))
class BuildsOn(models.Model):
    """A primitive is built on another one, its part. There is no circle."""

    primitive = models.ForeignKey(Primitive, models.CASCADE, related_name="parts")
    part = models.ForeignKey(
        Primitive, models.CASCADE, related_name="wholes", help_text="A primitive that this one is made of."
    )

    class Meta:
        verbose_name = "part"
        constraints = [
            models.UniqueConstraint(fields=["primitive", "part"], name="builds_on_once"),
            models.CheckConstraint(
                name="builds_on_another",
                condition=~Q(primitive=F("part")),
                violation_error_message="A primitive cannot build on itself.",
            ),
        ]
        triggers = [rules.builds_on_has_no_circle]

    def __str__(self) -> str:
        return f"{self.primitive} builds on {self.part}"


@tracked(Tracking(owners=("primitive",), named_by="identifier", kind="break"))
class Break(PublishedBreak):
    """A published escape of a primitive's boundary: a CVE, an advisory or a write-up."""

    primitive = models.ForeignKey(Primitive, models.CASCADE, related_name="breaks")

    class Meta(PublishedBreak.Meta):
        constraints = [
            models.UniqueConstraint(
                fields=["primitive", "identifier"],
                name="break_once_in_primitive",
                violation_error_message="This primitive already has a break with this identifier.",
            ),
            *https_constraints("break", "url", blank=False),
        ]
        triggers = search.refresh_primitives()
