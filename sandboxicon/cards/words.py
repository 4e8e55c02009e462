"""What stands on the card of each kind of page, asked of the database: never more than the page itself says."""

import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from html import unescape

from django.template.defaultfilters import pluralize
from django.template.loader import render_to_string
from django.utils.html import strip_tags
from django.utils.text import capfirst

from audits.comparison import offered_on
from audits.matrix import Summary, summarise
from audits.models import Agent, Posture, PosturePlatform
from audits.verdicts import verdicts
from evidence import addresses
from evidence.comparison import FEWEST, MOST, NUMBERS
from evidence.models import SLUG, Claim, Label
from ladder.models import Kernel, Tier
from primitives.models import Primitive


@dataclass(frozen=True)
class Card:
    """The words of a card, and what its ladder marks.

    `side` is whose kernel the verdict is about ("shared", "own"), "none", "undisclosed", or "" for neither. `marks`
    are ranks of rungs. `rungs` are all rungs' names, weakest first.
    """

    kind: str
    title: str
    verdict: str
    side: str = ""
    note: str = ""
    marks: tuple[int, ...] = ()
    rungs: tuple[str, ...] = ()


def find(kind: str, slug: str) -> Card | None:
    """The card of a page, or None where there is no such page. `slug` is "" for a page that is the one of its kind."""
    make = CARDS.get(kind)
    is_possible = re.fullmatch(addresses.PATTERN, slug) or all(re.fullmatch(SLUG, it) for it in slug.split("+") if slug)
    if make is None or not is_possible:
        return None
    card = make(slug)
    return card and replace(card, rungs=tuple(Tier.objects.order_by("rank").values_list("name", flat=True)))


def _alone(make: Callable[[], Card]) -> Callable[[str], Card | None]:
    """For a page that is the one of its kind."""
    return lambda slug: None if slug else make()


def _home() -> Card:
    summary = _first_summary()
    verdict = "Every layer of isolation, and what agents run in by default, with the source of each sentence."
    if summary:
        verdict = (
            f"{summary.none} of {summary.offered} agents on {summary.platform.name} run commands with your own rights "
            "when you change nothing."
        )
    title = "Does your agent share your kernel, or bring its own?"
    return Card("A field guide to isolation", title, verdict, "none" if summary else "")


def _ladder() -> Card:
    return Card(
        "The ladder of isolation",
        "Six rungs, one line",
        "Stronger as you climb. Only one step changes the rules.",
        note="Below the kernel line every box shares the host’s kernel. Above it each box brings its own.",
    )


def _tier(slug: str) -> Card | None:
    tier = Tier.objects.filter(slug=slug).first()
    if tier is None:
        return None
    return Card(
        f"Rung {tier.rank} of 6", tier.name, _box(tier, "each box"), tier.kernel, capfirst(tier.tagline), (tier.rank,)
    )


def _box(tier: Tier, box: str) -> str:
    if tier.has_own_kernel:
        return f"Above the kernel line: {box} brings its own kernel."
    return f"Below the kernel line: {box} shares the host’s kernel."


def _primitives() -> Card:
    own = Primitive.objects.published().filter(tier__kernel=Kernel.OWN).count()
    total = Primitive.objects.published().count()
    return Card(
        "The reference",
        "What isolation is made of",
        f"{total} technologies that isolate: {total - own} share the host’s kernel, {own} bring their own.",
        note="Each with what it keeps apart and what not, its claims and their sources.",
    )


def _primitive(slug: str) -> Card | None:
    primitive = Primitive.objects.published().select_related("tier", "category").filter(slug=slug).first()
    if primitive is None:
        return None
    tier = primitive.tier
    verdict = f"{tier.name}, rung {tier.rank} of 6. {_box(tier, 'it')}"
    return Card(primitive.category.name, primitive.name, verdict, tier.kernel, primitive.summary, (tier.rank,))


def _audits() -> Card:
    summary = _first_summary()
    verdict = "The default, before you change a setting."
    if summary:
        verdict = (
            f"On {summary.platform.name}, of {summary.offered} agents {summary.none} run with your own rights, "
            f"{summary.shared} in a box that shares the kernel, {summary.own} in one with its own; "
            f"{summary.undisclosed} {pluralize(summary.undisclosed, 'does,do')} not say."
        )
    return Card("Audits", "What agents run in, out of the box", verdict)


def _first_summary() -> Summary | None:
    return next(iter(summarise(PosturePlatform.objects.defaults().speaking_for_agents())), None)


def _agent(slug: str) -> Card | None:
    agent = Agent.objects.published().for_comparison().filter(slug=slug).first()
    if agent is None:
        return None
    first, *others = verdicts(agent, agent.audits.all()).values()
    sentence = render_to_string("audits/_sentence.html", {"agent": agent, "verdict": first})
    posture = first.posture
    return Card(
        f"{agent.vendor}, as audited",
        agent.name,
        " ".join(unescape(strip_tags(sentence)).split()),
        _side(posture),
        ". ".join(f"{other.platform.name}: {_held_by(other.posture)}" for other in others),
        (posture.tier.rank,) if posture.tier else (),
    )


def _side(posture: Posture) -> str:
    return posture.tier.kernel if posture.tier else posture.isolation


def _held_by(posture: Posture) -> str:
    return posture.tier.name_in_a_sentence if posture.tier else posture.get_isolation_display()


def _agents(slug: str) -> Card | None:
    """Agents compared, on the platform that most of them are offered on."""
    slugs = _to_compare(slug)
    found = Agent.objects.published().for_comparison().in_bulk(slugs, field_name="slug")
    if len(found) < len(slugs) or not slugs:
        return None
    agents = [found[slug] for slug in slugs]
    verdicts_of = [verdicts(agent, agent.audits.all()) for agent in agents]
    platform = max(offered_on(verdicts_of), key=lambda offered: offered[1])[0]
    there = [verdicts.get(platform.slug) for verdicts in verdicts_of]
    lines = [
        f"{agent.name}: {_held_by(it.posture) if it else 'not offered'}"
        for agent, it in zip(agents, there, strict=True)
    ]
    sides = {_side(it.posture) if it else "" for it in there}
    return Card(
        f"Out of the box, {platform.name}",
        f"{NUMBERS[len(agents)].capitalize()} agents side by side",
        "\n".join(lines),
        sides.pop() if len(sides) == 1 else "",
        marks=tuple(sorted({it.posture.tier.rank for it in there if it and it.posture.tier})),
    )


def _primitives_compared(slug: str) -> Card | None:
    slugs = _to_compare(slug)
    found = Primitive.objects.published().select_related("tier").in_bulk(slugs, field_name="slug")
    if len(found) < len(slugs) or not slugs:
        return None
    primitives = [found[slug] for slug in slugs]
    return Card(
        "The reference",
        f"{NUMBERS[len(slugs)].capitalize()} primitives side by side",
        "\n".join(f"{it.name}: {it.tier.name_in_a_sentence}" for it in primitives),
        marks=tuple(sorted({it.tier.rank for it in primitives})),
    )


def _to_compare(slug: str) -> list[str]:
    slugs = list(dict.fromkeys(slug.split("+")))
    return slugs if FEWEST <= len(slugs) <= MOST else []


def _claim(address: str) -> Card | None:
    claim = Claim.objects.published().at(address).with_subjects().first()
    if claim is None:
        return None
    read = f"As of {claim.as_of:%-d %B %Y}{claim.version and ', '}{claim.version}"
    return Card(f"A claim, {claim.label}", str(claim.subject), claim.sentence.replace("`", ""), note=read)


def _models() -> Card:
    return Card(
        "The two models",
        "A container taken apart, a microVM built up",
        "What is a container made of, and what does a microVM add?",
        note="Step by step, with commands to run and what they printed.",
    )


def _method() -> Card:
    numbers = dict(Claim.objects.numbers_by_label())
    return Card(
        "How we know",
        f"{sum(numbers.values()):,} claims, each with its source",
        f"{numbers[Label.VERIFIED_CODE]:,} read in code, {numbers[Label.DOCUMENTED]:,} documented, "
        f"{numbers[Label.INFERRED]} inferred, {numbers[Label.UNDISCLOSED]} undisclosed.",
        note="The database refuses a label that its sources do not bear.",
    )


def _about() -> Card:
    return Card(
        "About this guide",
        "Why there is a field guide to isolation",
        "It ranks one thing: where the kernel boundary is. Not vendors, not safety.",
    )


CARDS: dict[str, Callable[[str], Card | None]] = {
    "home": _alone(_home),
    "ladder": _alone(_ladder),
    "tier": _tier,
    "primitives": _alone(_primitives),
    "primitive": _primitive,
    "primitives-compared": _primitives_compared,
    "audits": _alone(_audits),
    "agent": _agent,
    "agents-compared": _agents,
    "claim": _claim,
    "models": _alone(_models),
    "method": _alone(_method),
    "about": _alone(_about),
}
