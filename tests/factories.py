"""Rows for tests, each valid as it comes: name only what a test is about."""

import datetime
import itertools
from typing import Any

from audits.models import Agent, AgentAudit, AgentBreak, Isolation, Posture
from evidence.models import Claim, Label, Source, SourceKind
from ladder.models import FIRST_RANK_WITH_OWN_KERNEL, Kernel, Tier
from nesting.models import Cell, Environment, ErrorText, Fix, Inner
from primitives.models import Break, BuildsOn, Category, Platform, Primitive

RUNGS = ["kernel-feature", "process-sandbox", "container", "userspace-kernel", "microvm", "full-vm"]
COMMIT = "0123456789abcdef0123456789abcdef01234567"
SOURCES: dict[str, dict[str, Any]] = {
    SourceKind.CODE: {
        "repo": "google/gvisor",
        "commit": COMMIT,
        "path": "pkg/sentry/kernel/kernel.go",
        "lines": "12-30",
    },
    SourceKind.DOC: {"url": "https://gvisor.dev/docs/", "title": "What is gVisor?"},
    SourceKind.PACKAGE: {"purl": "pkg:npm/%40openai/codex@0.171.0-linux-x64", "title": "codex --help"},
}
# What each label must carry: fields of the claim, and kinds of its sources.
BORNE_OUT_BY: dict[str, tuple[dict[str, Any], list[str]]] = {
    Label.VERIFIED_CODE: ({}, [SourceKind.CODE]),
    Label.DOCUMENTED: ({}, [SourceKind.DOC]),
    Label.INFERRED: ({"reasoning": "It follows from the two claims above."}, []),
    Label.UNDISCLOSED: ({"looked": "The documentation and the help text."}, [SourceKind.DOC]),
}
# The field of a claim that each kind of subject goes in.
SUBJECTS: dict[type, str] = {
    Tier: "tier",
    Primitive: "primitive",
    AgentAudit: "audit",
    Cell: "cell",
    ErrorText: "error_text",
}

_number = itertools.count(1)


def make_tier(slug: str = "container", **fields: Any) -> Tier:
    """The rung with this slug, which is made where it is missing: there are only six."""
    if not fields and (tier := Tier.objects.filter(slug=slug).first()):
        return tier
    rank = fields.pop("rank", RUNGS.index(slug) + 1 if slug in RUNGS else 1)
    kernel = Kernel.OWN if rank >= FIRST_RANK_WITH_OWN_KERNEL else Kernel.SHARED
    text = {name: f"The {name} of {slug}." for name in ("tagline", "summary", "description", "shares", "break_cost")}
    return Tier.objects.create(**{"slug": slug, "name": slug, "rank": rank, "kernel": kernel, **text, **fields})


def make_category(slug: str = "sandbox-tool", **fields: Any) -> Category:
    """The category with this slug, which is made where it is missing."""
    return Category.objects.get_or_create(
        slug=slug, defaults={"name": slug, "summary": "What belongs here.", **fields}
    )[0]


def make_platform(slug: str = "linux", **fields: Any) -> Platform:
    """The platform with this slug, which is made where it is missing."""
    return Platform.objects.get_or_create(slug=slug, defaults={"name": slug, "summary": "What it means.", **fields})[0]


def make_primitive(
    slug: str | None = None,
    *,
    platforms: tuple[str, ...] = ("linux",),
    builds_on: tuple[Primitive, ...] = (),
    **fields: Any,
) -> Primitive:
    """A primitive in a tier, with a category and platforms."""
    slug = f"primitive-{next(_number)}" if slug is None else slug
    defaults = {"slug": slug, "name": slug, "summary": f"What {slug} is.", "is_published": True}
    fields.setdefault("tier", fields.get("tier") or make_tier())
    fields.setdefault("category", fields.get("category") or make_category())
    primitive = Primitive.objects.create(**{**defaults, **fields})
    primitive.platforms.set([make_platform(platform) for platform in platforms])
    BuildsOn.objects.bulk_create([BuildsOn(primitive=primitive, part=part) for part in builds_on])
    return primitive


def make_claim(
    subject: Tier | Primitive | AgentAudit | Cell | ErrorText | None = None,
    label: str = Label.DOCUMENTED,
    *,
    sources: list[str] | None = None,
    **fields: Any,
) -> Claim:
    """A claim about `subject` with all that its label must carry, or with sources of the kinds given."""
    claim_fields, kinds = BORNE_OUT_BY[label]
    subject = subject or make_primitive()
    claim = Claim.objects.create(
        **{
            SUBJECTS[type(subject)]: subject,
            "slug": f"claim-{next(_number)}",
            "aspect": "boundary",
            "sentence": "The Sentry answers the system calls of the container.",
            "label": label,
            "as_of": datetime.date(2026, 8, 21),
            "is_published": True,
            **claim_fields,
            **fields,
        }
    )
    for kind in kinds if sources is None else sources:
        make_source(claim, kind)
    return claim


def make_source(claim: Claim, kind: str = SourceKind.DOC, **fields: Any) -> Source:
    """A source of that kind."""
    return Source.objects.create(claim=claim, kind=kind, **{**SOURCES[kind], **fields})


def make_break(primitive: Primitive, identifier: str = "CVE-2019-5736", **fields: Any) -> Break:
    """A published break of a primitive."""
    defaults = {"year": 2019, "summary": "A process in the box overwrote the binary.", "url": "https://nvd.nist.gov/"}
    return Break.objects.create(primitive=primitive, identifier=identifier, **{**defaults, **fields})


def make_agent(slug: str | None = None, **fields: Any) -> Agent:
    """An agent without a surface, which is a draft: see make_audit."""
    slug = f"agent-{next(_number)}" if slug is None else slug
    defaults = {"slug": slug, "name": slug, "vendor": "A vendor", "open_source": "no"}
    return Agent.objects.create(**{**defaults, **fields})


def make_audit(
    agent: Agent | str | None = None, slug: str = "cli", *, postures: list[dict[str, Any]] | None = None, **fields: Any
) -> AgentAudit:
    """A published audit with the postures that make_posture makes of `postures`: one default that isolates nothing."""
    agent = agent if isinstance(agent, Agent) else make_agent(agent)
    defaults = {"slug": slug, "name": f"{agent.name} {slug}", "kind": "cli", "is_published": True}
    audit = AgentAudit.objects.create(agent=agent, **{**defaults, **fields})
    for posture in [{}] if postures is None else postures:
        make_posture(audit, **posture)
    return audit


def make_posture(
    audit: AgentAudit | None = None,
    tier: str | None = None,
    *,
    platforms: tuple[str, ...] = ("linux",),
    primitives: tuple[Primitive, ...] = (),
    claims: list[Claim] | None = None,
    **fields: Any,
) -> Posture:
    """A posture that is the default on `platforms` and rests on `claims`, or on one made for it.

    With `tier` it is isolated by that rung, without it by nothing. Without `audit` it is the one posture of a new one.
    """
    audit = make_audit(postures=[]) if audit is None else audit
    isolation = Isolation.ISOLATED if tier else Isolation.NONE
    defaults = {"mode": "default", "isolation": isolation, "tier": make_tier(tier) if tier else None}
    posture = Posture.objects.create(audit=audit, **{**defaults, "is_default": True, **fields})
    posture.platforms.set([make_platform(platform) for platform in platforms])
    posture.primitives.set(primitives)
    posture.claims.set([make_claim(audit)] if claims is None else claims)
    return posture


def make_agent_break(agent: Agent, identifier: str = "CVE-2025-59536", **fields: Any) -> AgentBreak:
    """A published bypass of an agent's own guard rails."""
    defaults = {"year": 2025, "summary": "A file in the folder ran a command.", "url": "https://nvd.nist.gov/"}
    return AgentBreak.objects.create(agent=agent, identifier=identifier, **{**defaults, **fields})


def make_environment(slug: str = "docker-default", **fields: Any) -> Environment:
    """The environment with this slug, which is made where it is missing."""
    defaults = {"name": slug, "place": f"in {slug}", "summary": "What is meant.", **fields}
    return Environment.objects.get_or_create(slug=slug, defaults=defaults)[0]


def make_inner(slug: str = "bubblewrap", **fields: Any) -> Inner:
    """The inner sandbox with this slug, which is made where it is missing."""
    return Inner.objects.get_or_create(slug=slug, defaults={"name": slug, "summary": "What starts.", **fields})[0]


def make_cell(
    inner: Inner | None = None,
    outer: Environment | None = None,
    *,
    fixes: list[dict[str, Any]] | None = None,
    label: str = Label.DOCUMENTED,
    **fields: Any,
) -> Cell:
    """A sandbox that fails in an environment, with a fix and a claim about it."""
    defaults = {"result": "fails", "cause": "The filter refuses it.", "error_lines": ["bwrap: no"]}
    cell = Cell.objects.create(inner=inner or make_inner(), outer=outer or make_environment(), **{**defaults, **fields})
    make_fixes(fixes, cell=cell)
    make_claim(cell, label, aspect="nesting")
    return cell


def make_error(slug: str | None = None, *, fixes: list[dict[str, Any]] | None = None, **fields: Any) -> ErrorText:
    """An error text with a fix and a claim about it."""
    slug = f"error-{next(_number)}" if slug is None else slug
    defaults = {"name": f"bwrap: {slug}", "pattern": f"^bwrap: {slug}", "example": f"bwrap: {slug}", "tool": "bwrap"}
    error = ErrorText.objects.create(slug=slug, **{**defaults, "meaning": "It was refused.", **fields})
    make_fixes(fixes, error_text=error)
    make_claim(error, aspect="nesting")
    return error


def make_fixes(fixes: list[dict[str, Any]] | None, **subject: Any) -> None:
    """Fixes of a cell or an error in this order; one, where none are named."""
    for position, fix in enumerate([{}] if fixes is None else fixes, 1):
        Fix.objects.create(position=position, **{"do": "Allow the call.", "cost": "Its code.", **fix}, **subject)
