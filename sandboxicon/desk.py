"""The curator's desk: what needs hands first, on the start page of the admin."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from django.contrib import admin
from django.db.models import Model, QuerySet
from django.http import HttpRequest
from django.template.defaultfilters import truncatechars
from django.urls import reverse
from django.utils.http import urlencode

from audits.admin import audits_with_faults
from audits.models import AgentAudit, Decision, Proposal
from corrections.models import Correction
from evidence.models import Claim
from primitives.models import Primitive

# So many of each kind are named; the lists have them all.
NAMED = 8


@dataclass(frozen=True)
class Row:
    """One thing to be done: where, what it is called, and why it is here."""

    href: str
    name: str
    why: str


@dataclass(frozen=True)
class Pile:
    """Things of one kind: the first of them, how many there are, and the list of all."""

    title: str
    nothing: str
    rows: list[Row]
    total: int
    href: str


def piles(request: HttpRequest) -> list[Pile]:
    """What this curator may see of what needs hands, the most urgent first (two queries a pile)."""
    claims = Claim.objects.with_subjects()
    found = [
        _pile(
            request,
            "Corrections sent in",
            "No reader waits for an answer.",
            Correction.objects.open(),
            lambda row: (
                row.address,
                f"{row.get_state_display()}, {row.sent_at:%d %B}: {truncatechars(row.wrong, 80)}",
            ),
            "",
        ),
        _pile(
            request,
            "Changes of a default that wait for a second curator",
            "No change of a default waits.",
            Proposal.objects.filter(decision=Decision.WAITING).select_related("audit__agent", "proposed_by"),
            lambda row: (str(row.audit), f"{row.proposed_by}, {row.proposed_at:%d %B}: {_short(row.reason)}"),
            urlencode({"decision__exact": Decision.WAITING}),
        ),
        _pile(
            request,
            "Surfaces that cannot be published yet, or wait for it",
            "Every surface is published.",
            audits_with_faults(AgentAudit.objects.filter(is_published=False).select_related("agent")).order_by("pk"),
            lambda row: (str(row), what_is_missing(row)),
            urlencode({"is_published__exact": 0}),
        ),
        _pile(
            request,
            "Claims that are stale or due for a check",
            "Every claim is fresh.",
            claims.worst_first(),
            lambda row: (row.address, f"{row.freshness.label}, as of {row.as_of:%d %B %Y}: {_short(row.sentence)}"),
            "",
        ),
        _pile(
            request,
            "Primitives in draft",
            "No primitive is a draft.",
            Primitive.objects.filter(is_published=False).only("name", "summary").order_by("name"),
            lambda row: (row.name, _short(row.summary)),
            urlencode({"is_published__exact": 0}),
        ),
        _pile(
            request,
            "Claims in draft",
            "No claim is a draft.",
            claims.filter(is_published=False).order_by("pk"),
            lambda row: (row.address, _short(row.sentence)),
            urlencode({"is_published__exact": 0}),
        ),
    ]
    return [pile for pile in found if pile]


def what_is_missing(audit: Any) -> str:
    """Why the database would refuse to publish this audit, made by audits_with_faults; or that it would not."""
    faults = {
        "it has no default posture": audit.no_default,
        f"{audit.groundless} of its postures rest on no claim": audit.groundless,
        f"{audit.nowhere} name no platform": audit.nowhere,
        f"{audit.on_drafts} rest or stand on a draft": audit.on_drafts,
    }
    return "; ".join(fault for fault, is_so in faults.items() if is_so) or "all is there: it can be published"


def _short(text: str) -> str:
    return truncatechars(text, 90)


def _pile(
    request: HttpRequest,
    title: str,
    nothing: str,
    rows: QuerySet[Any],
    words: Callable[[Any], tuple[str, str]],
    query: str,
) -> Pile | None:
    """A pile of `rows`, each called and explained by `words`; None where this curator may not see them."""
    model: type[Model] = rows.model
    if not admin.site._registry[model].has_view_permission(request):
        return None
    to = f"admin:{model._meta.app_label}_{model._meta.model_name}"
    named = [Row(reverse(f"{to}_change", args=[row.pk]), *words(row)) for row in rows[:NAMED]]
    total = len(named) if len(named) < NAMED else rows.order_by().count()
    address = reverse(f"{to}_changelist")
    return Pile(title, nothing, named, total, f"{address}?{query}" if query else address)
