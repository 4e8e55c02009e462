"""Agents side by side: what each runs in by default on one platform, and what it can be raised to there."""

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from audits.models import LEVELS, Isolation, Posture
from audits.verdicts import Verdict
from evidence.comparison import Cell, Row, Section, breaks_cell, labels_cell, names_cell, text_cell
from primitives.models import Platform

Verdicts = Mapping[str, Verdict]

NOT_OFFERED = Cell("not offered", absent="not offered")
VERDICT = "audits/_compared_verdict.html"
LABEL = "audits/_compared_label.html"
SURFACE = "audits/_compared_surface.html"
RAISED = "audits/_compared_raised.html"
NAMES = "evidence/_compared_names.html"
LABELS = "evidence/_compared_labels.html"


def offered_on(found: Iterable[Verdicts]) -> list[tuple[Platform, int]]:
    """The platforms that any of the agents is offered on, each with how many are, in the order of platforms."""
    found = list(found)
    platforms = {slug: verdict.platform for verdicts in found for slug, verdict in verdicts.items()}
    in_order = sorted(platforms.values(), key=lambda platform: (platform.position, platform.name))
    return [(platform, sum(platform.slug in verdicts for verdicts in found)) for platform in in_order]


def strongest(verdict: Verdict) -> Posture | None:
    """The posture of this surface with the highest rung on this platform; the default where that stands as high.

    What is undisclosed has no rung, so it is never the strongest.
    """
    postures = [
        posture
        for posture in verdict.audit.postures.all()
        if posture.tier and verdict.platform in posture.platforms.all()
    ]
    return max(postures, key=lambda posture: (_rank(posture), posture.is_default), default=None)


def _rank(posture: Posture) -> int:
    return posture.tier.rank if posture.tier else 0


def compare(
    agents: list[Any], verdicts: list[Verdict | None], claims: Mapping[int, Mapping[str, int]]
) -> list[Section]:
    """The rows for agents made by for_comparison(); `verdicts` is what each runs in on the platform, None where it is
    not offered. `claims` holds each one's number of claims by label."""

    def row(title: str, cell: Callable[[Verdict], Cell], template: str = "") -> Row:
        cells = [cell(verdict) if verdict else NOT_OFFERED for verdict in verdicts]
        return Row(title, cells, template) if template else Row(title, cells)

    def reach(title: str, words: str, level: str) -> Row:
        return row(title, lambda verdict: _level(verdict.posture, level, getattr(verdict.posture, words)))

    return [
        Section(
            "What holds it",
            [
                Row("Runs commands in", [_holds(verdict) for verdict in verdicts], VERDICT),
                row("Known how well", _label, LABEL),
                row("Surface", lambda verdict: Cell(verdict.audit.kind, verdict.audit), SURFACE),
                row("Mode", lambda verdict: text_cell(verdict.posture.mode)),
                row("Stands on", _stands_on, NAMES),
            ],
        ),
        Section(
            "What it reaches",
            [
                reach("Reads", "filesystem_read", "read_level"),
                reach("Writes", "filesystem_write", "write_level"),
                reach("Network", "network", "network_level"),
                reach("Credentials", "credentials", "credentials_level"),
            ],
        ),
        Section(
            "When it asks, and when it fails",
            [
                reach("A person is asked", "approvals", "approvals_level"),
                row("Sandbox cannot start", _on_failure),
            ],
        ),
        Section("What can be turned on", [row("Strongest rung here", _raised, RAISED)]),
        Section(
            "The agent",
            [
                Row("Vendor", [text_cell(agent.vendor) for agent in agents]),
                Row("Source", [text_cell(agent.get_open_source_display()) for agent in agents]),
                Row("Licence", [text_cell(agent.license) for agent in agents]),
                Row(
                    "Claims by label",
                    [labels_cell(claims.get(agent.pk, {})) for agent in agents],
                    LABELS,
                ),
                Row("Known breaks", [breaks_cell(agent.break_count, agent.newest_break) for agent in agents]),
            ],
        ),
    ]


def _holds(verdict: Verdict | None) -> Cell:
    if verdict is None:
        return Cell("not offered")
    return Cell((verdict.posture.isolation, verdict.posture.tier_id), verdict.posture)


def _label(verdict: Verdict) -> Cell:
    posture: Any = verdict.posture  # made with_label()
    return Cell(posture.label, posture.label)


def _stands_on(verdict: Verdict) -> Cell:
    nothing = {Isolation.NONE: "nothing", Isolation.UNDISCLOSED: "undisclosed"}
    primitives = list(verdict.posture.primitives.all())
    return names_cell(primitives, nothing.get(Isolation(verdict.posture.isolation), "unknown"))


def _level(posture: Posture, name: str, words: str) -> Cell:
    """The level, with the words of the source beside it where they say more."""
    code = getattr(posture, name)
    label = "" if code == "unknown" else str(LEVELS[name](code).label)
    same = words.strip().lower() == label.lower()
    return Cell(code, label, "" if same else words.strip())


def _on_failure(verdict: Verdict) -> Cell:
    if verdict.posture.isolation == Isolation.NONE:
        return text_cell("there is none")
    return _level(verdict.posture, "on_failure", "")


def _raised(verdict: Verdict) -> Cell:
    """How high this surface can be raised, and by what; a default that stands there already needs nothing."""
    posture = strongest(verdict)
    value: dict[str, Any] = {"posture": posture, "undisclosed": verdict.posture.isolation == Isolation.UNDISCLOSED}
    if posture is None:
        return Cell(("none", value["undisclosed"]), value)
    how = "" if posture.is_default else posture.how
    return Cell((posture.tier_id, posture.is_default), value, how)
