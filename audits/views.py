"""The matrix, and an agent's page."""

from typing import Any

from django.core.paginator import Page
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, render
from django.views.decorators.http import require_safe
from django.views.decorators.vary import vary_on_headers

from audits.filters import AuditFilterSet
from audits.matrix import matrix, summaries
from audits.models import Agent
from audits.verdicts import guess_platform, surfaces, verdicts
from evidence.models import Aspect, Label
from evidence.pages import HtmxRequest, filtered_list


@require_safe
@vary_on_headers("HX-Request")
def audit_list(request: HtmxRequest) -> HttpResponse:
    """The matrix of agents, or of their surfaces, by platforms."""
    filterset = AuditFilterSet(request.GET)

    def more(page: Page[Any]) -> dict[str, Any]:
        columns, rows = matrix(filterset, page.object_list)
        return {"columns": columns, "rows": rows, "summaries": summaries(filterset)}

    return filtered_list(
        request,
        filterset,
        filterset.found(),
        template="audits/audit_list.html",
        partial="audits/_found.html",
        more=more,
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
