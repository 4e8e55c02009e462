"""Claims in templates."""

import datetime
from collections.abc import Iterable, Mapping
from functools import cache, lru_cache

from django import template
from django.template.defaultfilters import pluralize
from django.template.loader import render_to_string
from django.utils import timezone
from django.utils.dateformat import format as format_date
from django.utils.html import escape, format_html
from django.utils.safestring import SafeString, mark_safe

from evidence.filters import Facet
from evidence.models import Aspect, Claim, Freshness, Label, Source, SourceKind
from evidence.models import by_aspect as group_by_aspect

register = template.Library()

# A filter with more options than these scrolls.
FEW_OPTIONS = 16


@register.filter
def by_aspect(claims: Iterable[Claim]) -> list[tuple[Aspect, list[Claim]]]:
    """The claims in groups, one an aspect, in the order of aspects."""
    return group_by_aspect(claims)


@register.filter
def meaning(label: str) -> str:
    """What a label says about a claim, in one sentence."""
    return Label(label).meaning


@register.simple_tag
@cache
def stamp(label: str) -> SafeString:
    """A label as a stamp. There are four of them, so each is made once."""
    return render_to_string("evidence/_stamp.html", {"label": label})


@register.filter
def weakest(claims: Iterable[Mapping[str, str]]) -> str:
    """The weakest label of several claims, each with its `label`."""
    return str(max((Label(claim["label"]) for claim in claims), key=list(Label).index))


def age(day: datetime.date, today: datetime.date) -> str:
    """How long ago a day was, in words of the coarseness that a reader would use: 12 days ago, 8 months ago."""
    days = (today - day).days
    if days < 2:
        return "yesterday" if days == 1 else "today"
    units = {14: (1, "day"), 60: (7, "week"), 730: (30.44, "month")}
    length, unit = next((unit for most, unit in units.items() if days < most), (365.25, "year"))
    number = round(days / length)
    return f"{number} {unit}{pluralize(number)} ago"


# The two tags below are on a page as often as there are claims and sources on it, where a template each would be a
# third of what it costs to make the page.


@register.simple_tag
def read(claim: Claim) -> SafeString:
    """When a claim is known to hold, how long ago that is, and at which version."""
    return _read(claim.as_of, claim.version, claim.freshness, timezone.localdate())


@lru_cache(5_000)
def _read(day: datetime.date, version: str, fresh: Freshness, today: datetime.date) -> SafeString:
    """The same for all claims of that day, version and freshness."""
    return format_html(
        '<p class="read">As of <time datetime="{}">{}</time>, {}{}{}</p>',
        *(day.isoformat(), format_date(day, "j F Y"), age(day, today)),
        f"; {version}" if version else "",
        ""
        if fresh == Freshness.FRESH
        else format_html(' <span class="freshness {}">{}</span>', fresh.value, fresh.label),
    )


@register.simple_tag
def source(source: Source) -> SafeString:
    """What stands behind a claim, with the way to it."""
    if source.kind == SourceKind.CODE:
        return format_html(
            '<a href="{}" rel="external noopener"><code>{}@{}</code> <code class="path">{}:{}</code></a>',
            *(source.href, source.repo, source.commit[:7], source.path, source.lines),
        )
    if source.kind == SourceKind.PACKAGE:
        return format_html("<code>{}</code> {}", source.purl, source.title)
    return format_html(
        '<a href="{}" rel="external noopener">{}</a> <span class="host">{}</span>',
        *(source.href, source.title, source.host),
    )


@register.simple_tag
def boxes(facets: Iterable[Facet]) -> SafeString:
    """The filters of a list that have options: of each its boxes, with their labels and counts.

    Not a template: a list has about sixty boxes, which would be most of what it costs to make one.
    """
    html = []
    for facet in facets:
        if not facet.options:
            continue
        is_long = " long" if len(facet.options) > FEW_OPTIONS else ""
        html.append(f'<fieldset class="facet{is_long}">\n<legend>{escape(facet.title)}</legend>\n')
        name, numbers, chosen, more = facet.name, facet.numbers, facet.chosen, "+" if facet.is_at_least else ""
        for value, label in facet.options:
            head, tail = _option(name, value, label)
            number, checked = numbers.get(value, 0), " checked" if value in chosen else ""
            none = "" if number or checked or more else " none"
            html.append(f'<label class="option{none}"{head}{checked}{tail}{number}{more}</span></label>\n')
        if facet.more:
            html.append(f'<p class="more">and {facet.more} more; the other filters bring them up</p>\n')
        html.append("</fieldset>\n")
    return mark_safe("".join(html))  # noqa: S308 (what curators and readers write is escaped)


@lru_cache(1_000)
def _option(name: str, value: str, label: str) -> tuple[str, str]:
    """What is the same in each page of an option: before and after the mark that it is ticked."""
    # Plain strings: the f-string that they come into takes much longer over a SafeString.
    spot, name, value = (escape(it) for it in (f"{name}-{value.replace(' ', '')}", name, value))
    head = f' for="{spot}"><input type="checkbox" id="{spot}" name="{name}" value="{value}"'
    return head, f'><span class="text">{escape(label)}</span> <span class="count">'
