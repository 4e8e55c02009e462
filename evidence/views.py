"""The ledger of all claims, and a claim's own page."""

from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import get_object_or_404, redirect, render
from django.utils.http import urlencode
from django.views.decorators.http import require_safe
from django.views.decorators.vary import vary_on_headers

from evidence.citation import Citation
from evidence.data import FORMATS, answer
from evidence.ledger import LedgerFilterSet
from evidence.models import Claim, Withdrawn
from evidence.pages import HtmxRequest, filtered_list
from history.events import history_of
from history.reading import read

# A claim's page names so many of the others on its sources; the ledger has them all.
LISTED = 12


@require_safe
@vary_on_headers("HX-Request", "HX-Current-URL", "HX-Trigger")
def ledger(request: HtmxRequest) -> HttpResponseBase:
    """Every published claim of the site; with `format` what is found of them, for programs."""
    filterset = LedgerFilterSet(request.GET)
    if (wanted := request.GET.get("format")) in FORMATS:
        return answer(request, filterset, wanted)
    return filtered_list(
        request,
        filterset,
        template="evidence/ledger.html",
        partial="evidence/_found.html",
        row="evidence/_row.html",
    )


@require_safe
def claim_detail(request: HttpRequest, address: str) -> HttpResponse:
    """A claim: what it says of what, how well it is known and since when, its sources, and what rests on it.

    From an address that a claim had once, to where it is now; or what there is to say where it was withdrawn.
    """
    claims = Claim.objects.published()
    claim = claims.at(address).with_subjects().prefetch_related("sources").first()
    if claim is None:
        if moved := claims.filter(former_addresses__address=address).first():
            return redirect(moved, permanent=True)
        withdrawn = get_object_or_404(Withdrawn, address=address)
        return render(request, "evidence/withdrawn.html", {"withdrawn": withdrawn}, status=410)
    # Without their subjects: with all those joins Postgres would begin with every claim there is.
    others = list(claims.on_the_sources_of(claim)[: LISTED + 1])
    return render(
        request,
        "evidence/claim_detail.html",
        {
            "claim": claim,
            "postures": claim.postures.for_uses(),
            "history": read(history_of(claim), with_first=True, tell_first=True),
            "others": others[:LISTED],
            "has_more": len(others) > LISTED,
            "places": urlencode({"source": sorted({source.place for source in claim.sources.all()})}, doseq=True),
            "citation": Citation(claim, request.build_absolute_uri(claim.get_absolute_url())),
        },
    )
