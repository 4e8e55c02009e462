"""What changed, anywhere or in one entry, as pages and as Atom feeds."""

import re
from collections.abc import Callable
from datetime import datetime
from typing import Any

from django.contrib.syndication.views import Feed
from django.db.models import Model
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, render
from django.template.loader import render_to_string
from django.urls import reverse
from django.utils.feedgenerator import Atom1Feed
from django.utils.http import urlencode
from django.views.decorators.http import require_safe
from django.views.decorators.vary import vary_on_headers

from audits.models import Agent, DefaultCell
from history.events import Arm, everything, history_of, history_where
from history.pages import history_page, page_asked
from history.reading import Change, first_contents, read
from history.tracking import tracking_of
from ladder.models import Tier
from primitives.models import Primitive

KINDS = {
    "default": "Defaults",
    "claim": "Claims and their sources",
    "posture": "Postures",
    "break": "Breaks",
    "entry": "Entries",
    "rung": "Rungs",
}
LICENCE = "CC BY 4.0, https://creativecommons.org/licenses/by/4.0/"
IN_A_FEED = 50


@require_safe
def changes(request: HttpRequest) -> HttpResponse:
    """Everything that changed, by day, newest first; of one kind where `kind` names one (five queries)."""
    asked = "default" if request.GET.get("only") == "defaults" else request.GET.get("kind", "")
    kind = asked if asked in KINDS else ""
    history = read(everything([kind] if kind else []), page_asked(request))
    if history.number > 1 and not history.changes:
        return render(request, "404.html", {"reason": "The changes do not go back that far."}, status=404)
    return render(
        request,
        "history/changes.html",
        {
            "history": history,
            "kind": kind,
            "kinds": [(each, title, _query(each)) for each, title in KINDS.items()],
            "query": _query(kind) if kind else "",
            "notice": f"There is no kind of change called “{asked[:40]}”: shown are all." if asked != kind else "",
            "first": [] if history.has_older else first_contents(),
        },
    )


def _query(kind: str) -> str:
    return "only=defaults" if kind == "default" else urlencode({"kind": kind})


# ---- of one entry ----


@require_safe
@vary_on_headers("HX-Request")
def primitive_history(request: HttpRequest, slug: str) -> HttpResponse:
    """The history of a primitive, its claims and its breaks."""
    return _history(request, _primitive(slug), "primitive", "Primitives", "primitives")


@require_safe
@vary_on_headers("HX-Request")
def agent_history(request: HttpRequest, slug: str) -> HttpResponse:
    """The history of an agent and of what is published of its surfaces."""
    return _history(request, _agent(slug), "agent", "Audits", "audits")


@require_safe
@vary_on_headers("HX-Request")
def tier_history(request: HttpRequest, slug: str) -> HttpResponse:
    """The history of a rung."""
    return _history(request, _tier(slug), "tier", "Ladder", "ladder")


def _history(request: HttpRequest, row: Any, name: str, above: str, above_name: str) -> HttpResponse:
    context = {
        "name": row.name,
        "above": (above, reverse(above_name)),
        "address": reverse(f"{name}_history", args=[row.slug]),
        "feed": reverse(f"{name}_feed", args=[row.slug]),
    }
    return history_page(request, row, context)


def _primitive(slug: str) -> Primitive:
    return get_object_or_404(Primitive.objects.published().only("slug", "name"), slug=slug)


def _agent(slug: str) -> Agent:
    return get_object_or_404(Agent.objects.published().only("slug", "name"), slug=slug)


def _tier(slug: str) -> Tier:
    return get_object_or_404(Tier, slug=slug)


# ---- feeds ----

# What XML 1.0 has no way to hold.
_NOT_IN_XML = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]")


def _tag(path: str) -> str:
    """A name for ever, by RFC 4151: of this guide and not of the host that serves it."""
    return f"tag:sandboxicon,2026:{path}"


class ChangesAtom(Atom1Feed):
    """Atom, whose dates and names come from the content alone: two answers differ only where the changes do."""

    def latest_post_date(self) -> datetime:
        newest: datetime | None = self.feed["newest"]
        return newest or super().latest_post_date()

    def add_root_elements(self, handler: Any) -> None:
        super().add_root_elements(handler)
        handler.addQuickElement("icon", self.feed["icon"])


class ChangesFeed(Feed):
    """A feed of changes. Its conditional GET is that of every page (`sandboxicon.response_cache`)."""

    feed_type = ChangesAtom
    feed_copyright = LICENCE
    author_name = "sandboxicon"

    def __init__(self, name: str, title: str, arms: Callable[[Any], list[Arm]], find: Any = None) -> None:
        self.name, self.title_of, self.arms, self.find = name, title, arms, find

    def get_object(self, request: HttpRequest, slug: str = "") -> Any:
        self_of = self.find(slug) if self.find else None
        return _Asked(self_of, self.arms(self_of))

    def title(self, asked: "_Asked") -> str:
        return self.title_of.format(asked.row)

    def link(self, asked: "_Asked") -> str:
        if asked.row is not None:
            return str(asked.row.get_absolute_url())
        return reverse("changes") + ("?only=defaults" if self.name == "defaults" else "")

    def feed_guid(self, asked: "_Asked") -> str:
        return _tag(f"{self.name}/{asked.row.slug}" if asked.row is not None else self.name)

    def feed_extra_kwargs(self, asked: "_Asked") -> dict[str, Any]:
        first = first_contents()
        newest = asked.changes[0].at if asked.changes else first[-1][1] if first else datetime.fromtimestamp(0)
        return {"newest": newest, "icon": "/favicon.ico"}

    def items(self, asked: "_Asked") -> list[Change]:
        return asked.changes

    def item_title(self, change: Change) -> str:
        return _NOT_IN_XML.sub("", _headline(change))

    def item_description(self, change: Change) -> str:
        return _NOT_IN_XML.sub("", render_to_string("history/_change.html", {"change": change}))

    def item_link(self, change: Change) -> str:
        return change.subject.url or reverse("changes")

    def item_guid(self, change: Change) -> str:
        return _tag(f"{self.name if self.name == 'defaults' else 'change'}/{change.key}")

    def item_pubdate(self, change: Change) -> datetime:
        return change.at

    item_updateddate = item_pubdate


class _Asked:
    """What a feed is of, read once."""

    def __init__(self, row: Any, arms: list[Arm]) -> None:
        self.row = row
        self.changes = read(arms, per_page=IN_A_FEED).changes


def _headline(change: Change) -> str:
    """A change in a line: the default that changed if there is one, else what was done to how much."""
    for thing in change.defaults:
        for field in thing.fields:
            rung = f"{field.before or 'not listed'} → {field.after or 'not listed'}"
            return f"{change.subject.name}: by default {rung} ({thing.within} on {thing.named.name})"
    kinds: dict[tuple[str, str], int] = {}
    for thing in change.others:
        key = thing.named.kind, thing.verb
        kinds[key] = kinds.get(key, 0) + 1
    told = [
        f"{kind} {verb}" if number == 1 else f"{number} times {kind} {verb}" for (kind, verb), number in kinds.items()
    ]
    return f"{change.subject.name}: {', '.join(told)}" if told else f"{change.subject.name}: changed"


def _all(row: Model | None) -> list[Arm]:
    return everything()


def _defaults(row: Model | None) -> list[Arm]:
    return everything(["default"])


def _of_rung(tier: Tier) -> list[Arm]:
    """What changed in the rung's own entry, and what stands on it or has left it: primitives, defaults of agents."""
    own = [arm for arm in history_of(tier) if tracking_of(arm[0]).kind in ("rung", "claim")]
    return [*own, *history_where(tier, [Primitive, DefaultCell], "tier")]


all_feed = ChangesFeed("changes", "sandboxicon: changes", _all)
defaults_feed = ChangesFeed("defaults", "sandboxicon: defaults that changed", _defaults)
primitive_feed = ChangesFeed("primitive", "sandboxicon: {0.name}", history_of, _primitive)
agent_feed = ChangesFeed("agent", "sandboxicon: {0.name}", history_of, _agent)
tier_feed = ChangesFeed("rung", "sandboxicon: {0.name}", _of_rung, _tier)
