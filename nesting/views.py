"""What runs inside what, and what an error means."""

import re

from django.db.models import Prefetch
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_safe
from django.views.decorators.vary import vary_on_headers

from evidence.comparison import LONGEST_SLUG
from evidence.models import SLUG
from evidence.pages import HtmxRequest
from nesting.models import Cell, Environment, ErrorText, Inner, Result
from primitives.models import Primitive


@require_safe
def matrix(request: HttpRequest) -> HttpResponse:
    """Every sandbox, with how often it runs."""
    return render(
        request,
        "nesting/matrix.html",
        {"inners": Inner.objects.all(), "environments": Environment.objects.all(), "results": Result},
    )


@require_safe
def answer(request: HttpRequest) -> HttpResponse:
    """From two choices to the answer's own address; to the matrix where one is missing or unknown."""
    outer, inner = request.GET.get("in", ""), request.GET.get("want", "")
    if all(len(slug) <= LONGEST_SLUG and re.fullmatch(SLUG, slug) for slug in (inner, outer)):
        return redirect("cell", inner, outer)
    return redirect("nesting")


@require_safe
def inner_detail(request: HttpRequest, inner: str) -> HttpResponse:
    """One sandbox in every environment, also in those where nobody looked (four queries)."""
    sandbox = get_object_or_404(
        Inner.objects.prefetch_related(Prefetch("primitives", Primitive.objects.published().only("slug", "name"))),
        slug=inner,
    )
    cells = {cell.outer_id: cell for cell in sandbox.cells.labelled().select_related("inner", "outer")}
    rows = [(environment, cells.get(environment.pk)) for environment in Environment.objects.all()]
    return render(request, "nesting/inner.html", {"inner": sandbox, "rows": rows, "looked_at": len(cells)})


@require_safe
@vary_on_headers("HX-Request")
def cell_detail(request: HtmxRequest, inner: str, outer: str) -> HttpResponse:
    """Does it run there: the answer first. Also where nobody looked (eight queries)."""
    inners, environments = list(Inner.objects.all()), list(Environment.objects.all())
    sandbox = next((each for each in inners if each.slug == inner), None)
    environment = next((each for each in environments if each.slug == outer), None)
    if sandbox is None or environment is None:
        raise Http404
    cell = Cell.objects.for_answer().filter(inner=sandbox, outer=environment).first()
    context = {
        "inners": inners,
        "environments": environments,
        "inner": sandbox,
        "outer": environment,
        "cell": cell,
        "errors": ErrorText.objects.recognised_in(cell.error_lines if cell else []),
        "primitives": Primitive.objects.published().filter(inners=sandbox).only("slug", "name"),
    }
    if not request.htmx or request.htmx.history_restore_request:
        return render(request, "nesting/cell.html", context)
    response = render(request, "nesting/_answer_swap.html", context)
    response["HX-Push-Url"] = request.path
    return response


@require_safe
def errors(request: HttpRequest) -> HttpResponse:
    """Every error that is known."""
    return render(request, "nesting/errors.html", {"known": ErrorText.objects.only("slug", "name", "tool")})


@require_safe
def error_detail(request: HttpRequest, slug: str) -> HttpResponse:
    """What one error means (five queries)."""
    error = get_object_or_404(ErrorText.objects.for_answer(), slug=slug)
    cells = Cell.objects.that_print([error])[error.pk]
    return render(request, "nesting/error.html", {"error": error, "cells": cells})
