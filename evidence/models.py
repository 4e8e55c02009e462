"""Claims and the sources behind them.

A claim is one sentence that can be true or false about one subject. Its label says how well it is known, and
Postgres itself refuses a label that its sources do not bear (`evidence.rules`).
"""

import datetime
from collections import Counter
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any
from urllib.parse import quote, urlencode, urlsplit

from django.apps import apps
from django.conf import settings
from django.contrib.postgres.indexes import GinIndex
from django.core.validators import (
    MaxLengthValidator,
    MaxValueValidator,
    MinValueValidator,
    RegexValidator,
    URLValidator,
)
from django.db import models
from django.db.models import Case, F, Func, Q, Value, When
from django.db.models.functions import Coalesce, Concat, Length, Lower
from django.db.models.lookups import Exact
from django.urls import reverse
from django.utils import timezone

from evidence import addresses, rules
from evidence.search import SEARCH_COLUMNS, best_ranked, sentence_vector
from history.tracking import Tracking, tracked

if TYPE_CHECKING:
    from audits.models import AgentAudit
    from ladder.models import Tier
    from nesting.models import Cell, ErrorText
    from primitives.models import Primitive

SLUG = r"^[a-z0-9]+(-[a-z0-9]+)*$"
COMMIT = r"^[0-9a-f]{40}$"
REPO = r"^[A-Za-z0-9_.-]+/[A-Za-z0-9_.-]+$"
LINES = r"^[0-9]+(-[0-9]+)?$"
HTTPS = r"^https://[^\s/]+"
PURL = r"^pkg:[a-z]+/\S+$"

# So many sources are looked at for claims that share one.
MOST_ON_A_SOURCE = 1000

# Of a document's address, what says where it is: a repository on GitHub, else the host.
PLACES = [r"^https://(github\.com/[A-Za-z0-9_.-]+/[A-Za-z0-9_.-]+)", r"^https://([^/?#]+)"]

# Markup that GitHub shows rendered, where a line anchor works only in the plain view.
RENDERED_SUFFIXES = (".md", ".markdown", ".rst", ".adoc", ".asciidoc", ".org", ".textile", ".ipynb")


class Label(models.TextChoices):
    """How well a claim is known, best first."""

    VERIFIED_CODE = "verified-code", "verified-code"
    DOCUMENTED = "documented", "documented"
    INFERRED = "inferred", "inferred"
    UNDISCLOSED = "undisclosed", "undisclosed"

    @property
    def meaning(self) -> str:
        """One sentence for a reader who meets the stamp for the first time."""
        return {
            Label.VERIFIED_CODE: "Read in the source code itself, at the commit and lines given.",
            Label.DOCUMENTED: "The project or vendor says so in its own documents, or a published package does.",
            Label.INFERRED: "Follows from known facts by the reasoning shown, but nobody states it.",
            Label.UNDISCLOSED: "The vendor does not say; shown is where we looked.",
        }[self]

    @property
    def requirement(self) -> str:
        """What a claim must carry to bear the label (`evidence.rules` keeps it)."""
        return {
            Label.VERIFIED_CODE: "A code source: the repository, the whole commit, the path and the lines.",
            Label.DOCUMENTED: "A document with title and https address, or a published package with its package URL.",
            Label.INFERRED: "The reasoning, written out.",
            Label.UNDISCLOSED: "Where we looked, in words, and at least one source that was read.",
        }[self]


class Aspect(models.TextChoices):
    """What a claim is about. The order is the order of an entry's page."""

    BOUNDARY = "boundary", "Boundary"
    DEFAULT = "default", "Defaults"
    FILESYSTEM = "filesystem", "File system"
    NETWORK = "network", "Network"
    SYSCALLS = "syscalls", "System calls"
    PRIVILEGES = "privileges", "Privileges"
    CREDENTIALS = "credentials", "Credentials"
    DEVICES = "devices", "Devices"
    RESOURCES = "resources", "Resources"
    APPROVALS = "approvals", "Approvals"
    PERSISTENCE = "persistence", "Persistence"
    TELEMETRY = "telemetry", "Telemetry"
    LIMITATION = "limitation", "Limits"
    ESCAPE_HATCH = "escape-hatch", "Escape hatches"
    NESTING = "nesting", "One inside another"
    REQUIREMENT = "requirement", "Requirements"
    PERFORMANCE = "performance", "Performance"
    USAGE = "usage", "Use"
    STATUS = "status", "Status"


class Kind(models.TextChoices):
    """The kinds of subjects, by the field of a claim that holds one."""

    TIER = "tier", "a rung"
    PRIMITIVE = "primitive", "a primitive"
    AUDIT = "audit", "an agent"
    CELL = "cell", "a sandbox in an environment"
    ERROR_TEXT = "error_text", "an error text"


class Freshness(models.TextChoices):
    """How long ago a claim was last known to hold, measured by its kind of subject (CLAIM_AGES in the settings)."""

    FRESH = "fresh", "fresh"
    DUE = "due", "due for a check"
    STALE = "stale", "stale"


def limits(kind: str, today: datetime.date) -> tuple[datetime.date, datetime.date]:
    """Claims about that kind of subject are due if they are as of an earlier day than the first, stale if than the
    second."""
    due, stale = (datetime.timedelta(days=days) for days in settings.CLAIM_AGES[kind])
    return today - due, today - stale


def freshness_of(kind: str, as_of: datetime.date) -> Freshness:
    """How fresh today a claim about that kind of subject is, if it is as of that day."""
    due, stale = limits(kind, timezone.localdate())
    if as_of < stale:
        return Freshness.STALE
    return Freshness.DUE if as_of < due else Freshness.FRESH


def freshness_is(freshness: Freshness) -> Q:
    """The condition on claims that are so today, by what they are about."""
    today = timezone.localdate()
    condition = Q()
    for kind in settings.CLAIM_AGES:
        due, stale = limits(kind, today)
        condition |= (
            Q(kind=kind)
            & {
                Freshness.FRESH: Q(as_of__gte=due),
                Freshness.DUE: Q(as_of__lt=due, as_of__gte=stale),
                Freshness.STALE: Q(as_of__lt=stale),
            }[freshness]
        )
    return condition


def published_field(help_text: str) -> "models.BooleanField[bool, bool]":
    """Whether the public may see it. What is new is a draft until somebody says otherwise."""
    return models.BooleanField(default=False, db_default=False, verbose_name="published", help_text=help_text)


def numbers_without(
    everything: "models.QuerySet[Any]", *parts: "models.QuerySet[Any]", by: Iterable[str]
) -> list[tuple[Any, ...]]:
    """How many rows are in `everything` and in none of its `parts`, for each combination of what is in the columns
    `by`: that, and the number (one query). The parts have no row in common.

    For much with little to leave out: to ask each row whether it is in a part would read them all, where this counts
    by an index.
    """
    numbers: Counter[tuple[Any, ...]] = Counter()
    # Not Count("pk"), which not every index has.
    counted = everything.order_by().values_list(*by).annotate(number=models.Count("*"))
    left_out = [part.order_by().values_list(*by).annotate(number=-models.Count("*")) for part in parts]
    for *values, number in counted.union(*left_out, all=True):
        numbers[tuple(values)] += number
    return [(*values, number) for values, number in numbers.items() if number]


class ClaimQuerySet(models.QuerySet["Claim"]):
    """Questions about claims."""

    def published(self) -> "ClaimQuerySet":
        """What the public may see: neither the claim nor its subject is a draft."""
        return self.no_drafts().filter(
            Q(audit=None) | Q(audit__is_published=True), Q(primitive=None) | Q(primitive__is_published=True)
        )

    def no_drafts(self) -> "ClaimQuerySet":
        """Those that are not drafts themselves: for claims about a subject that is known to be public."""
        return self.filter(is_published=True)

    def at(self, address: str) -> "ClaimQuerySet":
        """The one at that address (`evidence.addresses`), if there is one."""
        return self.filter(address=address)

    def with_subjects(self) -> "ClaimQuerySet":
        """Each with its subject, to be named and linked to."""
        owners = ("primitive", "audit__agent", "error_text")
        searched = (f"{owner}__{column}" for owner in owners for column in SEARCH_COLUMNS)
        return self.select_related("tier", "cell__inner", "cell__outer", *owners).defer(*searched)

    def on_the_sources_of(self, claim: "Claim") -> "ClaimQuerySet":
        """The others that rest on a source of this one: the same file, page or package. Newest first, of so many that
        it can be told at once.
        """
        same = Q(pk__in=[])
        for source in claim.sources.all():
            # The place is in an index, what is compared within it is not.
            same |= Q(place=source.place, repo=source.repo, path=source.path, url=source.url, purl=source.purl)
        # A limit makes Postgres begin with the sources, which are few, and not with the claims by date.
        some = Source.objects.filter(same).order_by().values("claim")[:MOST_ON_A_SOURCE]
        return self.filter(pk__in=some).exclude(pk=claim.pk).order_by("-as_of", "-pk")

    def in_reading_order(self) -> "ClaimQuerySet":
        """As their authors ordered them, each with its sources ready (one query more)."""
        return self.order_by("position", "pk").prefetch_related("sources")

    def published_numbers(self, *columns: str) -> list[tuple[Any, ...]]:
        """How many of these claims are published, for each combination of what is in the columns (one query)."""
        public = self.no_drafts()
        return numbers_without(
            public, public.filter(primitive__is_published=False), public.filter(audit__is_published=False), by=columns
        )

    def numbers_by_label(self) -> list[tuple[Label, int]]:
        """How many published claims bear each label, best first (one query)."""
        numbers = dict(self.published_numbers("label"))
        return [(label, numbers.get(label.value, 0)) for label in Label]

    def numbers_by_label_of(self, subject: str) -> dict[int, dict[str, int]]:
        """How many of these claims bear each label, for each of several subjects, to whose ids the field `subject`
        leads (one query).
        """
        numbers: dict[int, dict[str, int]] = {}
        for pk, label, number in self.order_by().values_list(subject, "label").annotate(number=models.Count("pk")):
            numbers.setdefault(pk, {})[label] = number
        return numbers

    def numbers_by_kind_and_label(self) -> dict[str, dict[str, int]]:
        """How many published claims bear each label, for each kind of subject (one query)."""
        numbers: dict[str, dict[str, int]] = {}
        for of, label, number in self.published_numbers("kind", "label"):
            numbers.setdefault(of, {})[label] = number
        return numbers

    def numbers_by_freshness(self) -> dict[str, int]:
        """How many published claims are fresh, due and stale today (one query)."""
        numbers = dict.fromkeys(Freshness.values, 0)
        for kind, as_of, number in self.published_numbers("kind", "as_of"):
            numbers[freshness_of(kind, as_of).value] += number
        return numbers

    def newest_date(self) -> datetime.date | None:
        """The newest date as of which a claim holds; None where there is no claim (one query)."""
        return self.order_by("-as_of").values_list("as_of", flat=True).first()

    def one_of_each_label(self) -> list["Claim"]:
        """An example of each label, best first: the shortest that says enough to be one (two queries)."""
        # Label by label, so that each is the first of an index (claim_examples).
        shortest = (
            self.filter(primitive__isnull=False)
            .annotate(length=Length("sentence"))
            .filter(length__gte=70)
            .order_by("length", "pk")
        )
        firsts: list[Any] = [models.Subquery(shortest.filter(label=label).values("pk")[:1]) for label in Label]
        found = Claim.objects.filter(pk__in=firsts).select_related("primitive").prefetch_related("sources")
        examples = {claim.label: claim for claim in found.defer(*(f"primitive__{name}" for name in SEARCH_COLUMNS))}
        return [examples[label] for label in Label if label in examples]

    def search(self, text: str) -> "ClaimQuerySet":
        """Those whose sentence has the words of `text`, the one that was meant first, each with its `rank`."""
        return best_ranked(self, sentence_vector("sentence"), text)

    def best_of(self, text: str, most: int) -> "ClaimQuerySet":
        """As `search`, of at most so many of these, whichever: to tell which are best each has to be looked at."""
        some: ClaimQuerySet = self.model._default_manager.filter(pk__in=self.order_by().values("pk")[:most])
        return some.search(text)

    def worst_first(self) -> "ClaimQuerySet":
        """The due and the stale ones, those first whose being wrong would be worst.

        First what a default posture rests on, for a reader takes a default as it stands; then what is stale; then by
        `built_on_it`, how many published postures rest on it or stand on the primitive that it is about; oldest first.
        """
        postures: Any = apps.get_model("audits", "Posture")._default_manager.published().order_by()
        resting = postures.filter(claims=models.OuterRef("pk"))
        standing = postures.filter(primitives=models.OuterRef("primitive"))
        numbers = [
            Coalesce(
                models.Subquery(which.values(ours).annotate(n=models.Count("pk", distinct=True)).values("n")),
                0,
                output_field=models.IntegerField(),
            )
            for which, ours in ((resting, "claims"), (standing, "primitives"))
        ]
        return (
            self.filter(freshness_is(Freshness.DUE) | freshness_is(Freshness.STALE))
            .annotate(
                holds_a_default=models.Exists(resting.filter(is_default=True)),
                is_stale=models.ExpressionWrapper(freshness_is(Freshness.STALE), output_field=models.BooleanField()),
                built_on_it=numbers[0] + numbers[1],
            )
            .order_by("-holds_a_default", "-is_stale", "-built_on_it", "as_of", "pk")
        )

    def with_freshness(self, freshness: str) -> "ClaimQuerySet":
        """Those that are `fresh`, `due` or `stale` today."""
        return self.filter(freshness_is(Freshness(freshness)))


@tracked(
    Tracking(
        owners=("tier", "primitive", "audit", "cell", "error_text"),
        named_by="slug",
        says="sentence",
        kind="claim",
        quiet=("address", "kind"),
    ),
    leave_out=["position"],
)
class Claim(models.Model):
    """One sentence that can be true or false, about one subject."""

    tier = models.ForeignKey(
        "ladder.Tier",
        models.CASCADE,
        null=True,
        blank=True,
        related_name="claims",
        help_text="The subject, if it is a rung.",
    )
    primitive = models.ForeignKey(
        "primitives.Primitive",
        models.CASCADE,
        null=True,
        blank=True,
        related_name="claims",
        help_text="The subject, if it is a primitive.",
    )
    audit = models.ForeignKey(
        "audits.AgentAudit",
        models.CASCADE,
        null=True,
        blank=True,
        related_name="claims",
        help_text="The subject, if it is one surface of an agent.",
    )
    cell = models.ForeignKey(
        "nesting.Cell",
        models.CASCADE,
        null=True,
        blank=True,
        related_name="claims",
        help_text="The subject, if it is a sandbox in an environment.",
    )
    error_text = models.ForeignKey(
        "nesting.ErrorText",
        models.CASCADE,
        null=True,
        blank=True,
        related_name="claims",
        help_text="The subject, if it is an error text.",
    )
    slug = models.CharField(
        max_length=60,
        validators=[RegexValidator(SLUG, "Use lower-case letters, digits and single hyphens, as in own-kernel.")],
        help_text="The claim's public address within its subject, as in own-kernel. Never change it.",
    )
    aspect = models.CharField(max_length=20, choices=Aspect.choices, help_text="What the claim is about.")
    sentence = models.TextField(help_text="One sentence that can be true or false, with names, numbers, versions.")
    label = models.CharField(
        max_length=20,
        choices=Label.choices,
        help_text="verified-code needs a code source, documented a document or package, inferred a reasoning, "
        "undisclosed a source and where it was looked for.",
    )
    version = models.CharField(
        max_length=200, blank=True, help_text="The version or commit that it was read at; empty if none applies."
    )
    as_of = models.DateField(
        verbose_name="as of", help_text="The date of that version, commit or page: the claim is known to hold then."
    )
    reasoning = models.TextField(blank=True, help_text="For inferred claims: how it follows from what is known.")
    looked = models.TextField(
        blank=True, verbose_name="looked in", help_text="For undisclosed claims: where it was looked for."
    )
    says_how_to_check = models.BooleanField(
        default=False,
        help_text="For claims about a surface of an agent: a reader can tell by it whether a sandbox is on, as by a "
        "warning, a program's output or a variable that it names.",
    )
    position = models.PositiveSmallIntegerField(default=1000, help_text="Place among the subject's claims, low first.")
    is_published = published_field("A claim that is not is a draft, which nobody but curators sees.")
    # Postgres writes these two (evidence.addresses), and gives them back to whoever inserts a claim.
    address = models.CharField(max_length=260, unique=True, db_default="", editable=False)
    kind = models.CharField(max_length=20, db_default="", editable=False)

    objects = ClaimQuerySet.as_manager()

    class Meta:
        ordering = ["position", "pk"]
        constraints = [
            models.CheckConstraint(
                name="claim_has_one_subject",
                condition=Exact(Func(*map(F, Kind.values), function="num_nonnulls"), 1),
                violation_error_message="A claim is about exactly one subject: a tier, a primitive, an audit, "
                "a sandbox in an environment, or an error text.",
            ),
            models.UniqueConstraint(
                fields=["primitive", "slug"],
                name="claim_slug_unique_in_primitive",
                violation_error_message="This primitive already has a claim with this slug.",
            ),
            models.UniqueConstraint(
                fields=["tier", "slug"],
                name="claim_slug_unique_in_tier",
                violation_error_message="This tier already has a claim with this slug.",
            ),
            models.UniqueConstraint(
                fields=["audit", "slug"],
                name="claim_slug_unique_in_audit",
                violation_error_message="This audit already has a claim with this slug.",
            ),
            models.UniqueConstraint(
                fields=["cell", "slug"],
                name="claim_slug_unique_in_cell",
                violation_error_message="This sandbox in this environment already has a claim with this slug.",
            ),
            models.UniqueConstraint(
                fields=["error_text", "slug"],
                name="claim_slug_unique_in_error_text",
                violation_error_message="This error text already has a claim with this slug.",
            ),
            models.CheckConstraint(name="claim_slug_is_an_address", condition=Q(slug__regex=SLUG)),
            models.CheckConstraint(name="claim_label_is_known", condition=Q(label__in=Label.values)),
            models.CheckConstraint(name="claim_aspect_is_known", condition=Q(aspect__in=Aspect.values)),
            models.CheckConstraint(
                name="claim_has_a_sentence",
                condition=Q(sentence__regex=r"\S"),
                violation_error_message="A claim needs a sentence.",
            ),
            models.CheckConstraint(
                name="claim_of_an_audit_says_how_to_check",
                condition=Q(says_how_to_check=False) | Q(audit__isnull=False),
                violation_error_message="Only a claim about an agent's surface says how to check that a sandbox is on.",
            ),
        ]
        indexes = [
            models.Index(fields=["label"]),
            models.Index(fields=["as_of", "id"], name="claim_as_of"),
            models.Index(fields=["kind", "as_of"], name="claim_kind_as_of"),
            # Counting all (ClaimQuerySet.published_numbers), and finding drafts.
            models.Index(fields=["is_published", "kind", "label", "as_of"], name="claim_published_numbers"),
            # Examples (ClaimQuerySet.one_of_each_label).
            models.Index(
                "label",
                Length("sentence"),
                "id",
                condition=Q(is_published=True, primitive__isnull=False),
                name="claim_examples",
            ),
            GinIndex(sentence_vector("sentence"), name="claim_sentence"),
        ]
        triggers = [
            rules.claim_label_is_borne_out("NEW.id", name="claim_label_is_borne_out", on_delete=False),
            addresses.claim_has_its_address,
            addresses.claim_keeps_its_addresses,
            addresses.claim_is_withdrawn,
        ]

    def __str__(self) -> str:
        return f"{self.slug}: {self.sentence[:80]}"

    def get_absolute_url(self) -> str:
        """Its own page."""
        return reverse("claim", args=[self.address])

    def get_place_url(self) -> str:
        """Its place among the other claims on its subject's page."""
        page = self.audit.agent if self.audit else self.subject
        return f"{page.get_absolute_url()}#{self.slug}"

    @property
    def is_public(self) -> bool:
        """Whether the site shows it: neither it nor its subject is a draft."""
        return self.is_published and getattr(self.subject, "is_published", True)

    @property
    def subject(self) -> "Tier | Primitive | AgentAudit | Cell | ErrorText":
        """The one thing that the claim is about; the database sees to it that there is one."""
        return next(filter(None, (getattr(self, name) for name in Kind.values)))

    def get_kind_name(self) -> str:
        """What its subject is, in words: a rung, a primitive, an agent."""
        return str(Kind(self.kind).label)

    @property
    def freshness(self) -> Freshness:
        """Fresh, due or stale today."""
        return freshness_of(self.kind, self.as_of)


class FormerAddress(models.Model):
    """An address that a claim had before it moved: it leads to where the claim is now."""

    address = models.CharField(max_length=260, unique=True, validators=[RegexValidator(f"^{addresses.PATTERN}$")])
    # When the claim goes, a trigger makes of this what there is to say then.
    claim = models.ForeignKey(Claim, models.DO_NOTHING, related_name="former_addresses")
    since = models.DateField(default=timezone.localdate, help_text="The day on which the claim moved away.")

    class Meta:
        ordering = ["address"]
        verbose_name_plural = "former addresses"
        triggers = [
            addresses.address_is_not_in_use("former_address_is_not_in_use"),
            addresses.former_address_is_not_withdrawn,
        ]

    def __str__(self) -> str:
        return self.address


class Withdrawn(models.Model):
    """What a claim leaves behind that is withdrawn: its address, its last words, and when and why."""

    address = models.CharField(max_length=260, unique=True, validators=[RegexValidator(f"^{addresses.PATTERN}$")])
    sentence = models.TextField(help_text="As it was last worded.")
    label = models.CharField(max_length=20, choices=Label.choices)
    since = models.DateField(default=timezone.localdate, help_text="The day on which it was withdrawn.")
    reason = models.TextField(blank=True, help_text="A sentence: why. Readers see it.")

    class Meta:
        ordering = ["-since", "address"]
        verbose_name = "withdrawn claim"
        triggers = [addresses.address_is_not_in_use("withdrawn_address_is_not_in_use")]
        constraints = [models.CheckConstraint(name="withdrawn_label_is_known", condition=Q(label__in=Label.values))]

    def __str__(self) -> str:
        return self.address

    def get_absolute_url(self) -> str:
        return reverse("claim", args=[self.address])

    @property
    def ledger_query(self) -> str:
        """The ledger's query for claims about the same thing."""
        kind, subject = self.address.split(".")[:2]
        filters = {"tier": {"tier": subject}, "primitive": {"primitive": subject}, "audit": {"agent": subject}}
        names = {name: field for field, (name, *_) in addresses.SUBJECTS.items()}
        return urlencode(filters.get(kind, {"kind": names.get(kind, "")}))


def by_aspect(claims: Iterable[Claim]) -> list[tuple[Aspect, list[Claim]]]:
    """The claims in groups, one an aspect, in the order of aspects; no empty group."""
    groups: dict[str, list[Claim]] = {aspect: [] for aspect in Aspect.values}
    for claim in claims:
        groups[claim.aspect].append(claim)
    return [(Aspect(aspect), group) for aspect, group in groups.items() if group]


def _text(field: str, *arguments: str | int, function: str) -> Func:
    """A function of Postgres on a field, which gives text."""
    return Func(field, *map(Value, arguments), function=function, output_field=models.TextField())


class SourceKind(models.TextChoices):
    """What can stand behind a claim."""

    CODE = "code", "code"
    DOC = "doc", "document"
    PACKAGE = "package", "published package"


class SourceQuerySet(models.QuerySet["Source"]):
    """Questions about sources."""

    def numbers_by_kind(self) -> dict[str, int]:
        """How many sources of each kind stand behind published claims (one query)."""
        of_public = self.filter(claim__is_published=True)
        return dict(
            numbers_without(
                self,
                self.filter(claim__is_published=False),
                of_public.filter(claim__primitive__is_published=False),
                of_public.filter(claim__audit__is_published=False),
                by=["kind"],
            )
        )


@tracked(Tracking(owners=("claim",), is_part=True, kind="claim"), leave_out=["position", "place"])
class Source(models.Model):
    """What stands behind a claim: exact lines of code, a document, or a published package that was read or run.

    Which fields are filled follows from `kind`, and Postgres refuses any other shape.
    """

    claim = models.ForeignKey(Claim, models.CASCADE, related_name="sources")
    position = models.PositiveSmallIntegerField(default=1000, help_text="Place among the claim's sources, low first.")
    kind = models.CharField(max_length=10, choices=SourceKind.choices)
    repo = models.CharField(
        max_length=140,
        blank=True,
        validators=[RegexValidator(REPO, "owner/name")],
        help_text="Code: owner/name on GitHub.",
    )
    commit = models.CharField(
        max_length=40,
        blank=True,
        validators=[RegexValidator(COMMIT, "A commit is 40 hexadecimal digits.")],
        help_text="Code: the whole 40-digit hash.",
    )
    path = models.CharField(max_length=400, blank=True, help_text="Code: the file's path in the repository.")
    lines = models.CharField(
        max_length=20, blank=True, validators=[RegexValidator(LINES, "12 or 12-30")], help_text="Code: 12 or 12-30."
    )
    url = models.TextField(
        blank=True,
        verbose_name="URL",
        validators=[URLValidator(schemes=["https"]), MaxLengthValidator(1000)],
        help_text="Document: its https address.",
    )
    title = models.CharField(max_length=300, blank=True, help_text="Document or package: what was read or run.")
    purl = models.CharField(
        max_length=300,
        blank=True,
        verbose_name="package URL",
        validators=[RegexValidator(PURL, "A package URL, as in pkg:npm/name@1.2.3")],
        help_text="Package: as in pkg:npm/name@1.2.3 (the purl standard).",
    )

    place = models.GeneratedField(
        expression=Case(
            When(kind="code", then=Lower(Concat(Value("github.com/"), "repo"))),
            When(kind="package", then=_text("purl", "/", 1, function="split_part")),
            default=Lower(Coalesce(*(_text("url", place, function="substring") for place in PLACES))),
            output_field=models.TextField(),
        ),
        output_field=models.TextField(),
        db_persist=True,
        help_text="Where it is: the repository on GitHub, the host of a document, or the kind of package (pkg:npm).",
    )

    objects = SourceQuerySet.as_manager()

    class Meta:
        ordering = ["position", "pk"]
        indexes = [models.Index(fields=["place"]), models.Index(fields=["kind"])]
        constraints = [
            models.CheckConstraint(
                name="source_has_the_shape_of_its_kind",
                condition=(
                    Q(
                        kind=SourceKind.CODE,
                        repo__regex=REPO,
                        commit__regex=COMMIT,
                        path__regex=r"\S",
                        lines__regex=LINES,
                        url="",
                        purl="",
                        title="",
                    )
                    | Q(
                        kind=SourceKind.DOC,
                        url__regex=HTTPS,
                        title__regex=r"\S",
                        repo="",
                        commit="",
                        path="",
                        lines="",
                        purl="",
                    )
                    | Q(
                        kind=SourceKind.PACKAGE,
                        purl__regex=PURL,
                        title__regex=r"\S",
                        repo="",
                        commit="",
                        path="",
                        lines="",
                        url="",
                    )
                ),
                violation_error_message=(
                    "A code source has repo, 40-digit commit, path and lines; a document a title and an https URL; "
                    "a package a title and a package URL; and none has fields of another kind."
                ),
            ),
        ]
        triggers = [rules.claim_label_is_borne_out("OLD.claim_id, NEW.claim_id", name="source_bears_its_claim")]

    def __str__(self) -> str:
        if self.kind == SourceKind.CODE:
            return f"{self.repo}@{self.commit[:7]} {self.path}:{self.lines}"
        return self.title or self.url or self.purl

    @property
    def host(self) -> str:
        """The host that a document is on, so that a reader sees where a link leads."""
        try:
            return urlsplit(self.url).hostname or ""
        except ValueError:  # an unclosed bracket, as in https://[
            return ""

    @property
    def href(self) -> str:
        """Where a reader can check it: the exact lines at the exact commit, or the page. Empty for a package."""
        if self.kind != SourceKind.CODE:
            return self.url
        anchor = "-".join(f"L{line}" for line in self.lines.split("-"))
        plain = "?plain=1" if self.path.lower().endswith(RENDERED_SUFFIXES) else ""
        return f"https://github.com/{self.repo}/blob/{self.commit}/{quote(self.path)}{plain}#{anchor}"


def https_field(help_text: str, *, blank: bool = True, **options: Any) -> "models.URLField[str, str]":
    """An https address; https_constraints makes Postgres insist on it."""
    https = URLValidator(schemes=["https"])
    return models.URLField(max_length=500, blank=blank, validators=[https], help_text=help_text, **options)


def https_constraints(model: str, *fields: str, blank: bool = True) -> list[models.CheckConstraint]:
    """That these fields are https addresses, or empty where `blank` allows it."""
    return [
        models.CheckConstraint(
            name=f"{model}_{field}_is_https",
            condition=Q((field, "")) | Q((f"{field}__regex", HTTPS)) if blank else Q((f"{field}__regex", HTTPS)),
            violation_error_message="The address must begin with https://.",
        )
        for field in fields
    ]


class PublishedBreak(models.Model):
    """A published break of some boundary: a CVE, an advisory or a write-up."""

    identifier = models.CharField(max_length=100, help_text="CVE or advisory number, or a short name of its own.")
    nickname = models.CharField(max_length=100, blank=True, help_text="What people call it, as in Leaky Vessels.")
    year = models.PositiveSmallIntegerField(validators=[MinValueValidator(1980), MaxValueValidator(2100)])
    summary = models.TextField(help_text="One sentence: what could be done, and where.")
    fixed_in = models.CharField(max_length=200, blank=True, help_text="The version that mends it; empty if unknown.")
    url = https_field("Where it is described.", blank=False, verbose_name="URL")

    class Meta:
        abstract = True
        ordering = ["-year", "-identifier"]

    def __str__(self) -> str:
        return f"{self.identifier} ({self.nickname})" if self.nickname else self.identifier
