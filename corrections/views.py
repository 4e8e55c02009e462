"""Readers say what is wrong, and see what became of it."""

from django.conf import settings
from django.db import transaction
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.cache import never_cache
from django.views.decorators.csrf import csrf_protect
from django.views.decorators.http import require_http_methods, require_safe

from corrections.forms import CorrectionForm
from corrections.limits import take_one
from corrections.models import Correction
from evidence.models import Claim
from evidence.requests import counted_address


@never_cache
@csrf_protect
@require_http_methods(["GET", "HEAD", "POST"])
def correct(request: HttpRequest, address: str) -> HttpResponse:
    """The form in which a reader says what is wrong with a claim."""
    claim = get_object_or_404(Claim.objects.published().with_subjects(), address=address)
    form = CorrectionForm(request.POST if request.method == "POST" else None)
    context = {"claim": claim, "form": form, "most": settings.CORRECTIONS_A_DAY}
    if not form.is_valid():
        return render(request, "corrections/form.html", context, status=422 if form.is_bound else 200)
    with transaction.atomic():
        new = form.correction(claim)
        # What is sent twice is stored once, also by two workers at once: the second waits here for the first.
        Correction.objects.bulk_create([new], ignore_conflicts=True)
        stored = Correction.objects.get(sending=new.sending)
        if stored.reference == new.reference and not take_one(counted_address(request) or ""):
            transaction.set_rollback(True)
            return render(request, "corrections/form.html", {**context, "too_many": True}, status=429)
    return redirect(stored)


@never_cache
@require_safe
def correction(request: HttpRequest, reference: str) -> HttpResponse:
    """What became of a correction, for whoever knows its reference; nothing of what was typed."""
    found = get_object_or_404(Correction.objects.select_related("claim"), reference=reference)
    claim = Claim.objects.published().with_subjects().filter(corrections=found).first()
    return render(request, "corrections/correction.html", {"correction": found, "claim": claim})
