"""Pages that belong to no app, and the two that machines ask."""

from django.db import DatabaseError, connection
from django.db.migrations.executor import MigrationExecutor
from django.db.models import Count
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from audits.matrix import summarise
from audits.models import AgentBreak, PosturePlatform
from evidence.models import Claim
from ladder.models import Tier
from primitives.models import Primitive


@require_safe
def home(request: HttpRequest) -> HttpResponse:
    """The question, what most agents answer, the two models, the ladder, and how we know."""
    labels = Claim.objects.numbers_by_label()
    counts = Primitive.objects.aggregate(primitives=Count("pk", distinct=True), breaks=Count("breaks", distinct=True))
    return render(
        request,
        "home.html",
        {
            "tiers": Tier.objects.strongest_first().with_counts(),
            "summaries": summarise(PosturePlatform.objects.defaults().speaking_for_agents()),
            "primitive_count": counts["primitives"],
            "labels": labels,
            "claim_count": sum(number for _, number in labels),
            "break_count": counts["breaks"] + AgentBreak.objects.count(),
            "examples": Claim.objects.one_of_each_label(),
        },
    )


@never_cache
@require_safe
def healthz(request: HttpRequest) -> HttpResponse:
    """Liveness: this process answers."""
    return HttpResponse("ok\n", content_type="text/plain")


@never_cache
@require_safe
def readyz(request: HttpRequest) -> HttpResponse:
    """Readiness: the database answers and every migration is applied. 503 and the reason otherwise."""
    try:
        executor = MigrationExecutor(connection)
        missing = executor.migration_plan(executor.loader.graph.leaf_nodes())
    except DatabaseError:
        return HttpResponse("the database does not answer\n", content_type="text/plain", status=503)
    if missing:
        return HttpResponse(f"{len(missing)} migrations are not applied\n", content_type="text/plain", status=503)
    return HttpResponse("ok\n", content_type="text/plain")
