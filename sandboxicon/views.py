"""Pages that belong to no app, and the two that machines ask."""

import datetime
import sys
from typing import Any

from django.conf import settings
from django.db import DatabaseError, InterfaceError, OperationalError, connection
from django.db.migrations.executor import MigrationExecutor
from django.db.models import Count
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.template.loader import get_template
from django.templatetags.static import static
from django.urls import reverse
from django.utils import timezone
from django.utils.http import urlencode
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe
from django.views.decorators.vary import vary_on_headers
from django.views.defaults import server_error

from audits.matrix import summarise
from audits.models import Agent, AgentBreak, Isolation, Posture, PosturePlatform
from evidence.kept import KeptByRevision
from evidence.models import Claim, Kind, Source, SourceKind
from evidence.pages import HtmxRequest, page_or_parts
from ladder.models import Tier
from ladder.views import page_with_ladder
from primitives.models import Break, Primitive
from sandboxicon.cards import drawing, version, words
from sandboxicon.distribution import distribution
from sandboxicon.search import IN_THE_PANEL, ON_THE_PAGE, asked, find

# What the front page shows beside the ladder, whichever of its rungs are open.
_KEPT = KeptByRevision(1)


@require_safe
@vary_on_headers("HX-Request")
def home(request: HtmxRequest) -> HttpResponse:
    """The question, what most agents answer, the two models, the ladder, and how we know."""
    tiers = Tier.objects.strongest_first().with_counts()
    return page_with_ladder(
        request,
        "home.html",
        tiers.with_costs() if "open" in request.GET else tiers,
        lambda: _KEPT.get(request, "home", _on_home),
    )


def _on_home() -> dict[str, Any]:
    """What the front page shows beside the ladder (six queries)."""
    labels = Claim.objects.numbers_by_label()
    breaks = Break.objects.filter(primitive__is_published=True).order_by().values("pk")
    agent_breaks = AgentBreak.objects.filter(agent__in=Agent.objects.published()).order_by().values("pk")
    return {
        "summaries": summarise(PosturePlatform.objects.defaults().speaking_for_agents()),
        "primitive_count": Primitive.objects.published().count(),
        "labels": labels,
        "claim_count": sum(number for _, number in labels),
        "break_count": breaks.union(agent_breaks, all=True).count(),
        "examples": Claim.objects.published().one_of_each_label(),
    }


@require_safe
def method(request: HttpRequest) -> HttpResponse:
    """How we know what we know: labels, dates, silence, checks, corrections; counted now (five queries)."""
    bars = distribution(Claim.objects.numbers_by_kind_and_label())
    undisclosed = Posture.objects.published().filter(isolation=Isolation.UNDISCLOSED)
    return render(
        request,
        "method.html",
        {
            "bars": bars,
            "everything": bars[0],
            "examples": Claim.objects.published().one_of_each_label(),
            "freshness": Claim.objects.numbers_by_freshness(),
            "ages": [(Kind(kind).label, *days) for kind, days in settings.CLAIM_AGES.items()],
            "undisclosed": undisclosed.aggregate(postures=Count("pk"), agents=Count("audit__agent", distinct=True)),
        },
    )


@require_safe
def about(request: HttpRequest) -> HttpResponse:
    """Why this exists, for whom, what it is not, and what stands behind it (four queries)."""
    sources = Source.objects.numbers_by_kind()
    return render(
        request,
        "about.html",
        {
            "claim_count": sum(number for _, number in Claim.objects.numbers_by_label()),
            "primitive_count": Primitive.objects.published().count(),
            "agent_count": Agent.objects.published().count(),
            "code_count": sources.get(SourceKind.CODE, 0),
            "document_count": sources.get(SourceKind.DOC, 0),
            "package_count": sources.get(SourceKind.PACKAGE, 0),
        },
    )


@require_safe
def robots(request: HttpRequest) -> HttpResponse:
    """What crawlers may read, which is all that is public but for what readers send in; and where they find it all."""
    lines = [
        "User-agent: *",
        "Disallow: /claims/*/correction/",
        "Disallow: /corrections/",
        f"Sitemap: {request.build_absolute_uri(reverse('sitemaps'))}",
    ]
    return HttpResponse("\n".join(lines) + "\n", content_type="text/plain")


@require_safe
def favicon(request: HttpRequest) -> HttpResponse:
    """To the icon, for browsers that ask where a page names none."""
    return redirect(static("icons/icon.svg"))


@require_safe
@vary_on_headers("HX-Request", "HX-Target", "HX-Current-URL")
def search(request: HtmxRequest) -> HttpResponse:
    """One search over everything: a page of its own, or the panel below a page's search box (eight queries)."""
    text, notice = asked(request.GET.get("q", ""))
    in_the_panel = bool(request.htmx) and request.htmx.target == "site-results"
    groups = find(text, IN_THE_PANEL if in_the_panel else ON_THE_PAGE) if text else []
    query = urlencode({"q": text}) if text else ""
    context = {
        "text": text,
        "notice": notice,
        "groups": groups,
        "query": query,
        "total": sum(group.total for group in groups),
        "has_more": any(group.has_more for group in groups),
        "is_near": bool(groups) and groups[0].is_near,
    }
    if in_the_panel:
        return render(request, "search/_panel.html", context)
    return page_or_parts(request, context, query, template="search/search.html", partial="search/_found.html")


@require_safe
def card(request: HttpRequest, kind: str, slug: str = "") -> HttpResponse:
    """The picture that stands for a page where its address is passed on.

    Kept for a year under the version that is in force, which pages name; under any other address for some minutes.
    """
    found = words.find(kind, slug)
    if found is None:
        raise Http404
    response = HttpResponse(drawing.png(found), content_type="image/png")
    is_current = request.GET.get("v", "") == version(request) != ""
    response["Cache-Control"] = "public, max-age=31536000, immutable" if is_current else "public, max-age=300"
    response["Cross-Origin-Resource-Policy"] = "cross-origin"
    return response


def broke(request: HttpRequest) -> HttpResponse:
    """The answer to whatever no view foresaw: 503 while the database does not answer, and 500 otherwise."""
    if not isinstance(sys.exc_info()[1], OperationalError | InterfaceError):
        return server_error(request)
    response = HttpResponse(get_template("503.html").render(), status=503)
    response["Retry-After"] = "5"
    response["Cache-Control"] = "no-store"
    return response


@require_safe
def security_txt(request: HttpRequest) -> HttpResponse:
    """Whom to tell of a weakness (RFC 9116). None where the settings name nobody: a made-up address would lose it."""
    if not settings.SECURITY_CONTACT:
        raise Http404
    midnight = timezone.localtime().replace(hour=0, minute=0, second=0, microsecond=0)
    fields = {
        "Contact": settings.SECURITY_CONTACT,
        "Expires": (midnight + datetime.timedelta(days=180)).isoformat(),
        "Preferred-Languages": "en",
        "Canonical": request.build_absolute_uri(),
    }
    text = "".join(f"{name}: {value}\n" for name, value in fields.items())
    return HttpResponse(text, content_type="text/plain; charset=utf-8")


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
