"""The matrix, and an agent's page."""

from typing import Any

from django.core.paginator import Page
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, render
from django.views.decorators.http import require_safe
from django.views.decorators.vary import vary_on_headers

from audits.comparison import compare, offered_on
from audits.filters import AuditFilterSet
from audits.matrix import Row, agent_of, columns_for, fill, rows_of, summaries
from audits.models import Agent
from audits.verdicts import guess_platform, surfaces, verdicts
from evidence.comparison import Comparison
from evidence.models import Aspect, Claim, Label
from evidence.pages import HtmxRequest, filtered_list, rows_as_html


@require_safe
@vary_on_headers("HX-Request", "HX-Current-URL", "HX-Trigger")
def audit_list(request: HtmxRequest) -> HttpResponse:
    """The matrix of agents, or of their surfaces, by platforms."""
    filterset = AuditFilterSet(request.GET)

    def more(page: Page[Any]) -> dict[str, Any]:
        rows = rows_of(page.object_list)
        columns = columns_for(filterset, page.object_list)
        columns_and_kinds = tuple(platform.slug for platform in columns), tuple(filterset.chosen.get("kind", []))
        picked = {agent.pk for agent in filterset.picks.entries}
        by_key = {(*columns_and_kinds, *row.key, row.agent.pk in picked): row for row in rows}

        def filled(keys: list[Any]) -> dict[Any, Row]:
            missing = {key: by_key[key] for key in keys}
            fill(filterset, columns, missing.values())
            return missing

        html = rows_as_html(request, filterset, "audits/_row.html", list(by_key), filled)
        return {"columns": columns, "rows": html, "summaries": summaries(filterset)}

    return filtered_list(
        request,
        filterset,
        template="audits/audit_list.html",
        partial="audits/_found.html",
        more=more,
        pick=lambda row: agent_of(row).pk,
    )


@require_safe
def compare_agents(request: HttpRequest) -> HttpResponse:
    """Two to four agents side by side, on one platform: the one asked for, else that which most are offered on."""
    comparison = Comparison(request, "a", Agent.objects.published().only("slug", "name"), options=["platform"])
    if elsewhere := comparison.elsewhere():
        return elsewhere
    if not comparison.can_be_made:
        return comparison.page("audits/compare.html")
    found = Agent.objects.published().for_comparison().in_bulk(comparison.picks.slugs, field_name="slug")
    agents = [found[slug] for slug in comparison.picks.slugs]
    verdicts_of = [verdicts(agent, agent.audits.all()) for agent in agents]
    platforms = offered_on(verdicts_of)
    platform = max(platforms, key=lambda offered: offered[1])[0]
    if asked := request.GET.get("platform"):
        if known := next((each for each, _ in platforms if each.slug == asked), None):
            platform = known
            comparison.chosen["platform"] = known.slug
        else:
            comparison.notices.append(f"None of these is offered on “{asked[:40]}”: shown is {platform.name}.")
    claims = Claim.objects.published().filter(audit__agent__in=agents)
    comparison.sections = compare(
        agents,
        [verdicts.get(platform.slug) for verdicts in verdicts_of],
        claims.numbers_by_label_of("audit__agent"),
    )
    return comparison.page(
        "audits/compare.html",
        platform=platform,
        platforms=[(each, number, comparison.query(platform=each.slug)) for each, number in platforms],
    )


@require_safe
@vary_on_headers("Sec-CH-UA-Platform", "User-Agent")
def agent_detail(request: HttpRequest, slug: str) -> HttpResponse:
    """An agent: the verdict for the reader's platform, then each surface with its postures, claims and breaks."""
    agent = get_object_or_404(Agent.objects.published().for_page(), slug=slug)
    audits = list(agent.audits.all())
    claims = [claim for audit in audits for claim in audit.claims.all()]
    platforms = verdicts(agent, audits)
    asked = request.GET.get("platform", "")
    chosen = asked if asked in platforms else guess_platform(request.headers)
    verdict = platforms.get(chosen) or next(iter(platforms.values()))
    return render(
        request,
        "audits/agent_detail.html",
        {
            "agent": agent,
            "verdict": verdict,
            "verdicts": platforms.values(),
            "surfaces": surfaces(audits),
            "ways_out": [claim for claim in claims if claim.aspect == Aspect.ESCAPE_HATCH],
            "undisclosed": [claim for claim in claims if claim.label == Label.UNDISCLOSED],
            "breaks": agent.breaks.all(),
        },
    )
