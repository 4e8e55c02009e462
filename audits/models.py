"""What agents run in: an agent has an audit for each surface, an audit a posture for each platform and mode."""

from django.conf import settings
from django.core.validators import RegexValidator
from django.db import models
from django.db.models import F, Q
from django.urls import reverse

from audits import rules, search
from audits.querysets import AgentQuerySet, OfferQuerySet, PostureQuerySet
from evidence.addresses import claims_follow, claims_outlive
from evidence.models import SLUG, PublishedBreak, https_constraints, https_field
from evidence.search import SEARCH_COLUMNS, SearchDocument
from history.tracking import Tracking, tracked
from ladder.core_sample import CoreSample, of_posture


class OpenSource(models.TextChoices):
    """Whether the agent's source code is open."""

    YES = "yes", "open source"
    PARTLY = "partly", "partly open"
    NO = "no", "closed source"


class SurfaceKind(models.TextChoices):
    """The ways in which agents are run."""

    CLI = "cli", "command line"
    IDE = "ide", "editor"
    DESKTOP = "desktop", "desktop"
    CLOUD = "cloud", "cloud"
    CI = "ci", "CI"
    LIBRARY = "library", "library"


class Isolation(models.TextChoices):
    """Whether anything holds what a posture runs. Undisclosed is not a guess in waiting: it never has a tier."""

    ISOLATED = "isolated", "isolated"
    NONE = "none", "none"
    UNDISCLOSED = "undisclosed", "undisclosed"


class OnFailure(models.TextChoices):
    """What a posture does when its sandbox cannot start."""

    FAILS_CLOSED = "fails-closed", "refuses to run"
    WARNS = "warns", "runs without it and says so"
    FAILS_OPEN = "fails-open", "runs without it, silently"
    UNKNOWN = "unknown", "unknown"


class Read(models.TextChoices):
    """What code in a posture can read."""

    EVERYTHING = "everything", "everything the user can"
    REDUCED = "reduced", "all but named secrets"
    WORKSPACE = "workspace", "workspace and system"
    BOX = "box", "only what is in the box"
    UNKNOWN = "unknown", "unknown"


class Write(models.TextChoices):
    """What code in a posture can write."""

    EVERYTHING = "everything", "everything the user can"
    WORKSPACE = "workspace", "workspace and temporary files"
    BOX = "box", "only what is in the box"
    NOTHING = "nothing", "nothing"
    UNKNOWN = "unknown", "unknown"


class Network(models.TextChoices):
    """Where code in a posture can connect to."""

    OPEN = "open", "open"
    FILTERED = "filtered", "allow list or proxy"
    OFF = "off", "off"
    UNKNOWN = "unknown", "unknown"


class Credentials(models.TextChoices):
    """Which of the user's secrets code in a posture can reach."""

    REACHABLE = "reachable", "the user's own are in reach"
    REDUCED = "reduced", "some are kept away"
    NONE = "none", "none of the user's"
    UNKNOWN = "unknown", "unknown"


class Approvals(models.TextChoices):
    """When a person is asked."""

    EACH = "each", "each command not known to be safe"
    OUTSIDE = "outside", "only to leave the box, or for risky ones"
    MODEL = "model", "a model decides"
    NEVER = "never", "never"
    UNKNOWN = "unknown", "unknown"


# A posture's values in codes.
LEVELS: dict[str, type[models.TextChoices]] = {
    "read_level": Read,
    "write_level": Write,
    "network_level": Network,
    "credentials_level": Credentials,
    "approvals_level": Approvals,
    "on_failure": OnFailure,
}


@tracked(Tracking(says="vendor"), leave_out=SEARCH_COLUMNS)
class Agent(SearchDocument):
    """A coding agent, whoever makes it and however it is run."""

    slug = models.CharField(
        max_length=60,
        unique=True,
        validators=[RegexValidator(SLUG, "Use lower-case letters, digits and single hyphens.")],
        help_text="The agent's address. Never change it.",
    )
    name = models.CharField(max_length=100, unique=True)
    vendor = models.CharField(max_length=100, help_text="Who makes it.")
    open_source = models.CharField(max_length=10, choices=OpenSource.choices)
    license = models.CharField(max_length=100, blank=True, verbose_name="licence", help_text="SPDX, or proprietary.")
    homepage = https_field("Its own page.")
    repo = https_field("Where its source code is.")
    docs = https_field("Where its documentation begins.")

    objects = AgentQuerySet.as_manager()

    class Meta:
        ordering = ["name"]
        triggers = [
            search.agent_search_document,
            claims_follow("audit_id IN (SELECT id FROM audits_agentaudit WHERE agent_id = NEW.id)", "slug"),
        ]
        constraints = [
            models.CheckConstraint(name="agent_slug_is_an_address", condition=Q(slug__regex=SLUG)),
            models.CheckConstraint(name="agent_open_source_is_known", condition=Q(open_source__in=OpenSource.values)),
            *https_constraints("agent", "homepage", "repo", "docs"),
        ]

    def __str__(self) -> str:
        return self.name

    def get_absolute_url(self) -> str:
        return reverse("agent", args=[self.slug])


@tracked(Tracking(owners=("agent",), says="name", quiet=("position",)))
class AgentAudit(models.Model):
    """One surface of an agent, audited: what it runs in on each platform and in each mode."""

    agent = models.ForeignKey(Agent, models.CASCADE, related_name="audits")
    slug = models.CharField(
        max_length=60,
        validators=[RegexValidator(SLUG, "Use lower-case letters, digits and single hyphens.")],
        help_text="The surface's address on the agent's page. Never change it.",
    )
    name = models.CharField(max_length=100, help_text="What the vendor calls this surface.")
    kind = models.CharField(max_length=10, choices=SurfaceKind.choices)
    position = models.PositiveSmallIntegerField(
        default=1000, help_text="Place among the agent's surfaces, low first. The first one speaks for the agent."
    )
    is_published = models.BooleanField(
        default=False, help_text="Published audits are public, and must name what each posture rests on."
    )

    class Meta:
        ordering = ["position", "pk"]
        verbose_name = "audit"
        constraints = [
            models.UniqueConstraint(
                fields=["agent", "slug"],
                name="audit_once_in_agent",
                violation_error_message="This agent already has a surface with this slug.",
            ),
            models.CheckConstraint(name="audit_slug_is_an_address", condition=Q(slug__regex=SLUG)),
            models.CheckConstraint(name="audit_kind_is_known", condition=Q(kind__in=SurfaceKind.values)),
        ]
        triggers = [
            rules.audit_holds_together("SELECT NEW.id", name="audit_holds_together", on_delete=False),
            rules.defaults_are_kept("NEW.id", name="audit_moves_defaults", on_update_of="is_published"),
            *search.refresh_agents("SELECT agent_id FROM {rows}"),
            claims_follow("audit_id = NEW.id", "slug", "agent_id"),
            claims_outlive("audit"),
        ]

    def __str__(self) -> str:
        return f"{self.agent}: {self.name}"

    def get_absolute_url(self) -> str:
        return f"{self.agent.get_absolute_url()}#{self.slug}"


def level(choices: type[models.TextChoices], help_text: str) -> "models.CharField[str, str]":
    """A value in codes, for filters and tables; the words of the source stand in the text beside it."""
    return models.CharField(max_length=12, choices=choices.choices, default="unknown", help_text=help_text)


@tracked(Tracking(owners=("audit",), named_by="mode", says="note", kind="posture"), leave_out=["position"])
class Posture(models.Model):
    """What one surface runs in, on some platforms and in one mode."""

    audit = models.ForeignKey(AgentAudit, models.CASCADE, related_name="postures")
    position = models.PositiveSmallIntegerField(default=1000, help_text="Place among the audit's postures, low first.")
    mode = models.CharField(max_length=40, help_text="Its short name, as the agent calls it.")
    note = models.TextField(blank=True, help_text="One sentence where the name does not say it all.")
    platforms = models.ManyToManyField("primitives.Platform", through="PosturePlatform", related_name="postures")
    is_default = models.BooleanField(default=False, help_text="What runs when nobody changes a setting.")
    how = models.TextField(blank=True, help_text="The flag, setting or command that turns it on; empty for a default.")
    isolation = models.CharField(
        max_length=12,
        choices=Isolation.choices,
        help_text="Undisclosed where the vendor does not say: then no tier, ever.",
    )
    tier = models.ForeignKey("ladder.Tier", models.PROTECT, null=True, blank=True, related_name="postures")
    primitives = models.ManyToManyField(
        "primitives.Primitive", through="PosturePrimitive", related_name="postures", help_text="What it stands on."
    )
    filesystem_read = models.TextField(
        blank=True, help_text="What code in it can read, in words. Empty if nobody says."
    )
    filesystem_write = models.TextField(blank=True, help_text="What code in it can write, in words.")
    network = models.TextField(blank=True, help_text="Where code in it can connect to, in words.")
    credentials = models.TextField(blank=True, help_text="Which secrets code in it can reach, in words.")
    approvals = models.TextField(blank=True, help_text="When a person is asked, in words.")
    read_level = level(Read, "What code in it can read.")
    write_level = level(Write, "What code in it can write.")
    network_level = level(Network, "Where code in it can connect to.")
    credentials_level = level(Credentials, "Which of the user's secrets code in it can reach.")
    approvals_level = level(Approvals, "When a person is asked.")
    on_failure = level(OnFailure, "What it does when its sandbox cannot start.")
    claims = models.ManyToManyField(
        "evidence.Claim", through="PostureClaim", related_name="postures", help_text="What it rests on."
    )

    objects = PostureQuerySet.as_manager()

    class Meta:
        ordering = ["position", "pk"]
        constraints = [
            models.CheckConstraint(
                name="posture_has_a_tier_only_if_isolated",
                condition=Q(isolation=Isolation.ISOLATED, tier__isnull=False)
                | Q(isolation__in=[Isolation.NONE, Isolation.UNDISCLOSED], tier__isnull=True),
                violation_error_message="A posture has a tier if it is isolated, and only then.",
            ),
            models.CheckConstraint(name="posture_isolation_is_known", condition=Q(isolation__in=Isolation.values)),
            *(
                models.CheckConstraint(name=f"posture_{name}_is_known", condition=Q((f"{name}__in", choices.values)))
                for name, choices in LEVELS.items()
            ),
        ]
        triggers = [
            rules.audit_holds_together(
                "SELECT unnest(ARRAY[OLD.audit_id, NEW.audit_id])", name="posture_fits_its_audit"
            ),
            rules.defaults_are_kept("OLD.audit_id, NEW.audit_id", name="posture_moves_defaults"),
        ]

    def __str__(self) -> str:
        return f"{self.audit}: {self.mode}"

    @property
    def core_sample(self) -> CoreSample:
        """Its drawing: the agent on top of what it stands on. An undisclosed one shows no rung."""
        return of_posture(
            f"{self.audit.name}, {self.mode}",
            self.audit.agent.name,
            self.isolation,
            self.tier.rank if self.tier else None,
            [primitive.named for primitive in self.primitives.all()],
        )


@tracked(Tracking(owners=("posture",), is_part=True, kind="posture"))
class PosturePlatform(models.Model):
    """A posture is offered on a platform. For a default posture this is a cell of the matrix."""

    posture = models.ForeignKey(Posture, models.CASCADE, related_name="offers")
    platform = models.ForeignKey("primitives.Platform", models.PROTECT, related_name="offers")

    objects = OfferQuerySet.as_manager()

    class Meta:
        ordering = ["platform__position"]
        verbose_name = "platform"
        constraints = [models.UniqueConstraint(fields=["posture", "platform"], name="posture_platform_once")]
        triggers = [
            rules.audit_of_the_posture_holds_together(name="platform_fits_its_audit"),
            rules.defaults_are_kept(
                "(SELECT audit_id FROM audits_posture WHERE id = OLD.posture_id),"
                " (SELECT audit_id FROM audits_posture WHERE id = NEW.posture_id)",
                name="platform_moves_defaults",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.posture} on {self.platform}"


@tracked(Tracking(owners=("posture",), is_part=True, kind="posture"))
class PosturePrimitive(models.Model):
    """A posture stands on a primitive. Keeps a primitive in use from being deleted."""

    posture = models.ForeignKey(Posture, models.CASCADE)
    primitive = models.ForeignKey("primitives.Primitive", models.PROTECT)

    class Meta:
        ordering = ["pk"]
        verbose_name = "primitive"
        constraints = [models.UniqueConstraint(fields=["posture", "primitive"], name="posture_primitive_once")]
        triggers = [rules.primitive_fits_its_audit]

    def __str__(self) -> str:
        return f"{self.posture} stands on {self.primitive}"


@tracked(Tracking(owners=("posture",), is_part=True, kind="posture"))
class PostureClaim(models.Model):
    """A posture rests on a claim of its own audit."""

    posture = models.ForeignKey(Posture, models.CASCADE)
    claim = models.ForeignKey("evidence.Claim", models.CASCADE)

    class Meta:
        ordering = ["pk"]
        verbose_name = "claim that it rests on"
        verbose_name_plural = "claims that it rests on"
        constraints = [models.UniqueConstraint(fields=["posture", "claim"], name="posture_claim_once")]
        triggers = [rules.audit_of_the_posture_holds_together(name="claim_fits_its_audit")]

    def __str__(self) -> str:
        return f"{self.posture} rests on {self.claim.slug}"


@tracked(Tracking(owners=("audit",), named_by="platform", says="isolation", kind="default"))
class DefaultCell(models.Model):
    """What a published surface runs in on a platform when nobody changes a setting: a cell of the matrix.

    Postgres writes it at commit, out of the default postures and their platforms (`rules.defaults_are_kept`), so that
    its history tells of every default that changed, whatever was written on the way, and of nothing else.
    """

    audit = models.ForeignKey(AgentAudit, models.CASCADE, related_name="+", editable=False)
    platform = models.ForeignKey("primitives.Platform", models.CASCADE, related_name="+", editable=False)
    isolation = models.CharField(max_length=12, choices=Isolation.choices, editable=False)
    tier = models.ForeignKey("ladder.Tier", models.CASCADE, null=True, related_name="+", editable=False)

    class Meta:
        verbose_name = "default"
        constraints = [models.UniqueConstraint(fields=["audit", "platform"], name="default_once")]

    def __str__(self) -> str:
        return f"{self.audit} on {self.platform}: {self.tier or self.isolation}"


@tracked(Tracking(owners=("agent",), named_by="identifier", kind="break"))
class AgentBreak(PublishedBreak):
    """A published bypass of an agent's own guard rails: a CVE, an advisory or a write-up."""

    agent = models.ForeignKey(Agent, models.CASCADE, related_name="breaks")

    class Meta(PublishedBreak.Meta):
        verbose_name = "break"
        constraints = [
            models.UniqueConstraint(
                fields=["agent", "identifier"],
                name="break_once_in_agent",
                violation_error_message="This agent already has a break with this identifier.",
            ),
            *https_constraints("agent_break", "url", blank=False),
        ]
        triggers = search.refresh_agents("SELECT agent_id FROM {rows}")


class Decision(models.TextChoices):
    """What became of a proposal."""

    WAITING = "waiting", "waiting"
    APPROVED = "approved", "approved"
    DECLINED = "declined", "declined"


class Proposal(models.Model):
    """A change of what a surface runs in by default, which one curator proposes and another approves.

    `changes` has for each posture what of it is as before and what it is to be, and the same for whether the surface
    is published (`audits.second_pair`).
    """

    audit = models.ForeignKey(AgentAudit, models.CASCADE, related_name="proposals", verbose_name="surface")
    changes = models.JSONField()
    reason = models.TextField()
    proposed_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, related_name="+")
    proposed_at = models.DateTimeField(auto_now_add=True)
    decision = models.CharField(max_length=10, choices=Decision.choices, default=Decision.WAITING)
    decided_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, null=True, blank=True, related_name="+")
    decided_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["-proposed_at", "-pk"]
        constraints = [
            models.CheckConstraint(
                name="proposal_is_decided_by_somebody",
                condition=Q(decision=Decision.WAITING, decided_by=None)
                | Q(decision__in=[Decision.APPROVED, Decision.DECLINED], decided_by__isnull=False),
            ),
            models.CheckConstraint(
                name="proposal_is_approved_by_another",
                condition=~Q(decision=Decision.APPROVED) | ~Q(decided_by=F("proposed_by")),
                violation_error_message="Whoever proposes a change cannot approve it: another curator must.",
            ),
            models.UniqueConstraint(
                fields=["audit"],
                condition=Q(decision=Decision.WAITING),
                name="proposal_waits_alone",
                violation_error_message="Another change of what this surface runs in by default waits already: "
                "that one has to be decided first. Nothing was saved.",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.audit}, {self.get_decision_display()}"
