"""The matrix worked out a second time, in plain Python over plain values: what the page's SQL is held against."""

from collections.abc import Iterable
from dataclasses import dataclass

from audits.models import PosturePlatform

State = dict[str, list[str]]


@dataclass(frozen=True)
class Offer:
    """A published posture on a platform."""

    agent: str
    surface: str
    audit: int
    place: tuple[int, int]
    platform: str
    is_default: bool
    rank: int | None
    values: tuple[tuple[str, str | None], ...]

    def has(self, name: str, values: Iterable[str]) -> bool:
        return dict(self.values)[name] in values


def offers() -> list[Offer]:
    """All of them."""
    found = []
    for offer in PosturePlatform.objects.filter(posture__audit__is_published=True).select_related(
        "platform", "posture__tier", "posture__audit__agent"
    ):
        posture, audit, agent = offer.posture, offer.posture.audit, offer.posture.audit.agent
        values = {
            "platform": offer.platform.slug,
            "isolation": posture.isolation,
            "side": posture.tier.kernel if posture.tier else None,
            "tier": posture.tier.slug if posture.tier else None,
            "read": posture.read_level,
            "write": posture.write_level,
            "network": posture.network_level,
            "approvals": posture.approvals_level,
            "failure": None if posture.isolation == "none" else posture.on_failure,
            "kind": audit.kind,
            "open_source": agent.open_source,
            "vendor": agent.vendor,
        }
        rank = posture.tier.rank if posture.tier else None
        place = (audit.position, audit.pk)
        found.append(
            Offer(
                *(agent.name, audit.name, audit.pk, place, offer.platform.slug, posture.is_default, rank),
                tuple(values.items()),
            )
        )
    return found


class Expected:
    """What the matrix must show in a state: filters by name, `by_surface` for a row a surface."""

    def __init__(self, offers: list[Offer], ranks: dict[str, int], state: State, *, by_surface: bool) -> None:
        self.offers, self.ranks, self.by_surface = offers, ranks, by_surface
        self.state = state
        self.defaults = [offer for offer in offers if offer.is_default]

    def cells(self, **changes: list[str]) -> list[Offer]:
        """The default postures that all filters find; of an agent, on each platform, that of its first surface."""
        state = {**self.state, **changes}
        kinds = state.get("kind") or []
        found = [offer for offer in self.defaults if all(self._fits(offer, *item, state) for item in state.items())]
        return found if self.by_surface else [offer for offer in found if self._speaks(offer, kinds)]

    def rows(self, **changes: list[str]) -> set[str]:
        """The names of the rows."""
        return {self.name(offer) for offer in self.cells(**changes)}

    def name(self, offer: Offer) -> str:
        return f"{offer.surface} ({offer.agent})" if self.by_surface else offer.agent

    def strengths(self) -> dict[str, int]:
        """Of each row the rank of its strongest cell found: 0 where it holds nothing, -1 where nothing is disclosed."""
        found: dict[str, int] = {}
        for cell in self.cells():
            rank = 0 if cell.has("isolation", ["none"]) else -1 if cell.rank is None else cell.rank
            found[self.name(cell)] = max(rank, found.get(self.name(cell), -1))
        return found

    def _fits(self, offer: Offer, name: str, values: list[str], state: State) -> bool:
        if name != "at_least":
            return offer.has(name, values)
        lowest = min(self.ranks[value] for value in values)
        return any(
            (other.audit, other.platform) == (offer.audit, offer.platform) and (other.rank or 0) >= lowest
            for other in self.offers
        )

    def _speaks(self, offer: Offer, kinds: list[str]) -> bool:
        return not any(
            (other.agent, other.platform) == (offer.agent, offer.platform)
            and other.place < offer.place
            and (not kinds or other.has("kind", kinds))
            for other in self.defaults
        )
