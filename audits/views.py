"""The matrix, and an agent's page."""

from typing import Any

from django.core.paginator import Page
from django.http import HttpResponse
from django.views.decorators.http import require_safe
from django.views.decorators.vary import vary_on_headers

from audits.filters import AuditFilterSet
from audits.matrix import matrix, summaries
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
