"""An agent as a document: its surfaces, the postures of each with what they rest on, its claims and breaks."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from audits.models import (
    Agent,
    AgentAudit,
    AgentBreak,
    Isolation,
    Posture,
    PostureClaim,
    PosturePlatform,
    PosturePrimitive,
)
from ladder.models import Tier
from primitives.models import Platform, Primitive
from sandboxicon.content.documents import (
    ClaimWithSources,
    Reader,
    break_documents,
    claim_document,
    fields_document,
    read_breaks,
    read_claims,
    read_slug,
    read_slugs,
    save_breaks,
    save_claims,
)
from sandboxicon.content.files import Document

AGENT = ["slug", "name", "vendor", "open_source", "license", "homepage", "repo", "docs"]
AUDIT = ["slug", "name", "kind", "is_published"]
MODE = ["mode", "note", "is_default", "how", "isolation"]
REACH = ["filesystem_read", "filesystem_write", "network", "credentials", "approvals", "on_failure"]
LEVELS = ["read", "write", "network", "credentials", "approvals"]
POSTURE = [*MODE, *REACH, "platforms", "tier", "primitives", "levels", "rests_on"]


# ---- model to document ----


def posture_document(posture: Posture) -> Document:
    """A posture, as its audit's document holds it."""
    return {
        **fields_document(posture, MODE[:2]),
        "platforms": sorted(platform.slug for platform in posture.platforms.all()),
        **fields_document(posture, MODE[2:]),
        "tier": posture.tier.slug if posture.tier else None,
        "primitives": sorted(primitive.slug for primitive in posture.primitives.all()),
        **fields_document(posture, REACH),
        "levels": {name: getattr(posture, f"{name}_level") for name in LEVELS},
        "rests_on": sorted(claim.slug for claim in posture.claims.all()),
    }


def agent_document(agent: Agent) -> Document:
    """An agent with all of its surfaces, published or not."""
    return {
        **fields_document(agent, AGENT),
        "audits": [
            {
                **fields_document(audit, AUDIT),
                "postures": [posture_document(posture) for posture in audit.postures.all()],
                "claims": [claim_document(claim) for claim in audit.claims.all()],
            }
            for audit in agent.audits.all()
        ],
        "breaks": break_documents(agent.breaks.all()),
    }


# ---- document to model ----


@dataclass
class _Surface:
    """One surface as it was read: its postures each with the item of the document, for what relates it."""

    audit: AgentAudit
    postures: list[tuple[Posture, Document]]
    claims: list[ClaimWithSources]


def read_agent(
    reader: Reader, document: Document, known: dict[str, set[str]], pk: int | None
) -> tuple[Callable[[], None] | None, None]:
    """An agent's document, as sandboxicon.content.entries.Kind.read has it."""
    if not reader.keys(document, [*AGENT, "audits", "breaks"], [], ""):
        return None, None
    agent = Agent(pk=pk)
    reader.fill(agent, document, AGENT, "")
    breaks = read_breaks(reader, document, AgentBreak)
    surfaces = [
        _read_surface(reader, item, AgentAudit(position=number), known, at)
        for number, (item, at) in enumerate(reader.items(document, "audits"), 1)
        if reader.keys(item, [*AUDIT, "postures", "claims"], [], at)
    ]
    reader.unique([surface.audit.slug for surface in surfaces], "audits", "the slug")

    def save() -> None:
        agent.save()
        save_breaks(agent.breaks, breaks)
        existing = {audit.slug: audit.pk for audit in agent.audits.all()}
        agent.audits.exclude(slug__in=[surface.audit.slug for surface in surfaces]).delete()
        for surface in surfaces:
            surface.audit.agent = agent
            surface.audit.pk = existing.get(surface.audit.slug)
            surface.audit.save()
            save_claims(surface.audit.claims, surface.claims)
            _save_postures(surface.audit, surface.postures)

    return save, None


def _read_surface(reader: Reader, item: Document, audit: AgentAudit, known: dict[str, set[str]], at: str) -> _Surface:
    reader.fill(audit, item, AUDIT, at)
    claims = read_claims(reader, item, at)
    slugs = {claim.slug for claim, _ in claims}
    postures = []
    for place, (posture_item, posture_at) in enumerate(reader.items(item, "postures", at), 1):
        if reader.keys(posture_item, POSTURE, [], posture_at):
            posture = Posture(position=place)
            _read_posture(reader, posture, posture_item, {**known, "claims": slugs}, posture_at)
            postures.append((posture, posture_item))
    return _Surface(audit, postures, claims)


def _read_posture(reader: Reader, posture: Posture, item: Document, known: dict[str, set[str]], at: str) -> None:
    reader.fill(posture, item, [*MODE, *REACH], at)
    if reader.keys(item["levels"], LEVELS, [], f"{at}.levels"):
        for name in LEVELS:
            reader.fill_one(posture, f"{name}_level", item["levels"][name], f"{at}.levels.{name}")
    read_slugs(reader, item, "platforms", known["platforms"], at)
    read_slugs(reader, item, "primitives", known["primitives"], at)
    read_slugs(reader, item, "rests_on", known["claims"], at)
    if item["tier"] is not None:
        read_slug(reader, item, "tier", known["tiers"], at)
    if (item["tier"] is not None) != (posture.isolation == Isolation.ISOLATED):
        reader.say(f"{at}.tier", "a posture has a tier if it is isolated, and only then")


def _save_postures(audit: AgentAudit, postures: list[tuple[Posture, Document]]) -> None:
    """Make these the audit's postures. One of the same mode and platforms keeps its row."""
    existing: dict[Any, list[Posture]] = {}
    for old in audit.postures.select_related("tier").prefetch_related("platforms", "primitives", "claims"):
        existing.setdefault((old.mode, *sorted(platform.slug for platform in old.platforms.all())), []).append(old)
    tiers = {tier.slug: tier for tier in Tier.objects.all()}
    kept = []
    for posture, item in postures:
        same = existing.get((posture.mode, *sorted(item["platforms"])))
        before = same.pop(0) if same else None
        posture.audit = audit
        posture.tier = tiers.get(item["tier"])
        if before is not None:
            kept.append(before.pk)
            posture.pk = before.pk
            if before.position == posture.position and posture_document(before) == _in_one_form(item):
                continue
        posture.save()
        kept.append(posture.pk)
        for model in (PosturePlatform, PosturePrimitive, PostureClaim):
            model._default_manager.filter(posture=posture).delete()
        PosturePlatform.objects.bulk_create(
            PosturePlatform(posture=posture, platform=platform)
            for platform in Platform.objects.filter(slug__in=item["platforms"])
        )
        PosturePrimitive.objects.bulk_create(
            PosturePrimitive(posture=posture, primitive=primitive)
            for primitive in Primitive.objects.filter(slug__in=item["primitives"]).only("pk")
        )
        PostureClaim.objects.bulk_create(
            PostureClaim(posture=posture, claim=claim) for claim in audit.claims.filter(slug__in=item["rests_on"])
        )
    audit.postures.exclude(pk__in=kept).delete()


def _in_one_form(item: Document) -> Document:
    return item | {name: sorted(item[name]) for name in ("platforms", "primitives", "rests_on")}
