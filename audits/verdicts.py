"""What an agent's page says first, and how it sets out a surface's postures."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from audits.models import LEVELS, Agent, AgentAudit, Isolation, Posture
from evidence.models import Claim
from primitives.models import Platform

# What browsers say of the platform that they run on (Sec-CH-UA-Platform, and names in User-Agent), and our slug.
PLATFORM_NAMES = {
    "windows": "windows",
    "macos": "macos",
    "mac os x": "macos",
    "macintosh": "macos",
    "linux": "linux",
    "x11": "linux",
    "chrome os": "linux",
}


def guess_platform(headers: Mapping[str, str]) -> str:
    """The slug of the reader's platform as the browser names it, or "" where it names none of ours.

    A phone names Android or iOS: no agent runs commands there, so nothing is guessed.
    """
    told = headers.get("Sec-CH-UA-Platform", "").strip('" ').lower()
    if told:
        return PLATFORM_NAMES.get(told, "")
    agent = headers.get("User-Agent", "").lower()
    if any(name in agent for name in ("android", "iphone", "ipad")):
        return ""
    return next((slug for name, slug in PLATFORM_NAMES.items() if name in agent), "")


@dataclass(frozen=True)
class Verdict:
    """What an agent runs in on one platform when nobody changes a setting: its first surface that is offered there."""

    platform: Platform
    audit: AgentAudit
    posture: Posture


def verdicts(agent: Agent, audits: Iterable[AgentAudit]) -> dict[str, Verdict]:
    """The verdict for each platform that the agent is offered on, by slug, in the order of platforms."""
    found: dict[str, Verdict] = {}
    for audit in audits:
        for posture in audit.postures.all():
            for platform in posture.platforms.all() if posture.is_default else []:
                found.setdefault(platform.slug, Verdict(platform, audit, posture))
    return dict(sorted(found.items(), key=lambda item: (item[1].platform.position, item[0])))


@dataclass(frozen=True)
class Change:
    """How a mode differs from the default on the same platform in one value."""

    title: str
    before: str
    after: str


@dataclass(frozen=True)
class Mode:
    """A posture as a surface's section shows it. `changes`: what it changes from the default; none for a default."""

    posture: Posture
    changes: list[Change]


@dataclass(frozen=True)
class Surface:
    """One surface's section: its defaults, and the modes that can be turned on, strongest rung first.

    `checks` are the claims by which a reader can tell whether a sandbox is on; `has_something_to_check` is false where
    no posture has one.
    """

    audit: AgentAudit
    defaults: list[Mode]
    modes: list[Mode]
    checks: list[Claim]
    has_something_to_check: bool


TITLES = {
    "read_level": "reads",
    "write_level": "writes",
    "network_level": "network",
    "credentials_level": "credentials",
    "approvals_level": "a person is asked",
    "on_failure": "when the sandbox cannot start",
}


def surfaces(audits: Iterable[AgentAudit]) -> list[Surface]:
    """A section for each audit."""
    return [_surface(audit) for audit in audits]


def _surface(audit: AgentAudit) -> Surface:
    postures = list(audit.postures.all())
    defaults = [posture for posture in postures if posture.is_default]
    by_platform = {platform.pk: posture for posture in defaults for platform in posture.platforms.all()}
    modes = []
    for posture in postures:
        if not posture.is_default:
            instead = (by_platform.get(platform.pk) for platform in posture.platforms.all())
            modes.append(Mode(posture, _changes(next(filter(None, instead), None), posture)))
    modes.sort(key=lambda mode: _strength(mode.posture), reverse=True)
    return Surface(
        audit,
        [Mode(posture, []) for posture in defaults],
        modes,
        [claim for claim in audit.claims.all() if claim.says_how_to_check],
        any(posture.isolation != Isolation.NONE for posture in postures),
    )


def _strength(posture: Posture) -> int:
    """For an order: a rung by its rank, then what holds nothing, then what nobody discloses, which has no place."""
    if posture.tier:
        return posture.tier.rank
    return 0 if posture.isolation == Isolation.NONE else -1


def _changes(default: Posture | None, posture: Posture) -> list[Change]:
    if default is None:
        return []
    return [
        Change(TITLES[name], LEVELS[name](getattr(default, name)).label, LEVELS[name](getattr(posture, name)).label)
        for name in LEVELS
        if getattr(default, name) != getattr(posture, name) != "unknown"
        # What holds nothing has no sandbox that could fail to start, so there is no such value to change.
        and not (name == "on_failure" and default.isolation == Isolation.NONE)
    ]
