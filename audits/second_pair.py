"""A second pair of eyes: what a published surface runs in by default changes when a second curator has approved it.

A default posture's isolation, rung and platforms, which posture is the default, and whether the surface is public at
all, are held back where a curator saves them in the admin, and become a Proposal. All else is saved at once. Files that
are imported and earlier versions that are put back are refused where they change a default. Who has a shell or runs
load_content answers for both pairs of eyes.
"""

from collections.abc import Callable
from typing import Any

from django.conf import settings
from django.contrib.auth import get_user_model
from django.db import IntegrityError

from audits.models import AgentAudit, Isolation, Posture, PosturePlatform, Proposal
from ladder.models import Tier
from primitives.models import Platform

# The fields of the form of a posture that are held back.
HELD = {"is_default", "isolation", "tier", "on_platforms"}
DEFAULTS_STAY = "A default posture is not deleted at once: untick “is default” first, which a second curator approves."


def in_force() -> bool:
    """Whether a change waits for a second curator: where the setting says so, and there are two who could approve."""
    if not settings.SECOND_PAIR_OF_EYES:
        return False
    curators = get_user_model()._default_manager.with_perm(
        "audits.change_proposal", is_active=True, backend="django.contrib.auth.backends.ModelBackend"
    )
    return len(curators.filter(is_staff=True)[:2]) > 1


def hold_back(form: Any) -> dict[str, Any] | None:
    """Take what changes a default out of the form of a posture, as it is about to be saved: what is taken, or None.

    A posture that is new is saved as one that can be turned on; to be the default waits.
    """
    typed = form.cleaned_data
    was_default, is_default = bool(form.initial.get("is_default")), bool(typed.get("is_default"))
    if not (was_default or is_default) or not HELD & set(form.changed_data):
        return None
    posture = form.instance
    after = {
        "is_default": is_default,
        "isolation": typed["isolation"],
        "tier": typed["tier"].slug if typed["tier"] else None,
        "platforms": sorted(Platform.objects.filter(pk__in=typed["on_platforms"]).values_list("slug", flat=True)),
    }
    if posture._state.adding:
        posture.is_default = False
        return {"before": {**after, "is_default": False}, "after": after}
    before = state_of(Posture.objects.get(pk=posture.pk))
    posture.is_default, posture.isolation = before["is_default"], before["isolation"]
    posture.tier = Tier.objects.filter(slug=before["tier"]).first()
    form.changed_data[:] = [name for name in form.changed_data if name not in HELD]
    return {"before": before, "after": after} if before != after else None


def state_of(posture: Posture) -> dict[str, Any]:
    """What of a posture is held back, as a proposal has it."""
    return {
        "is_default": posture.is_default,
        "isolation": posture.isolation,
        "tier": posture.tier.slug if posture.tier else None,
        "platforms": sorted(platform.slug for platform in posture.platforms.all()),
    }


def in_words(state: dict[str, Any]) -> str:
    """What is held back of a posture, in words."""
    where = " and ".join(state["platforms"]) or "no platform"
    what = state["tier"] or Isolation(state["isolation"]).label
    return f"{'default' if state['is_default'] else 'can be turned on'}: {what}, on {where}"


def carry_out(proposal: Proposal) -> None:
    """Do what a proposal says. Raises IntegrityError where what it was made of has changed since."""
    audit = AgentAudit.objects.select_for_update().get(pk=proposal.audit_id)
    for change in proposal.changes["postures"]:
        posture = Posture.objects.filter(audit=audit, pk=change["posture"]).first()
        if posture is None or state_of(posture) != change["before"]:
            raise IntegrityError(f"Posture {change['mode']} has changed since this was proposed: decline it.")
        after = change["after"]
        posture.is_default, posture.isolation = after["is_default"], after["isolation"]
        posture.tier = Tier.objects.get(slug=after["tier"]) if after["tier"] else None
        posture.save()
        posture.platforms.set(Platform.objects.filter(slug__in=after["platforms"]))
    if published := proposal.changes.get("is_published"):
        if audit.is_published != published["before"]:
            raise IntegrityError(f"{audit} has changed since this was proposed: decline it.")
        audit.is_published = published["after"]
        audit.save()


def objections_to_new_defaults() -> Callable[[], list[str]]:
    """What to ask once something is written: which defaults it changes that a second curator would have to approve."""
    if not in_force():
        return list
    before = _defaults()

    def objections() -> list[str]:
        changed = sorted({(agent, audit, platform) for agent, audit, platform, *_ in before ^ _defaults()})
        return [
            f"{audit} ({agent}): this changes what it runs in by default on {platform}, which a second curator has to "
            "approve. Make that change on the surface's page."
            for agent, audit, platform in changed
        ]

    return objections


def _defaults() -> set[tuple[Any, ...]]:
    platform = ("posture__audit__agent__slug", "posture__audit__name", "platform__name")
    return set(PosturePlatform.objects.defaults().values_list(*platform, "posture__isolation", "posture__tier__slug"))
