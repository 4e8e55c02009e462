"""What runs inside what, and what an error means."""

import re

from django.db.models import Prefetch, prefetch_related_objects
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_http_methods, require_safe
from django.views.decorators.vary import vary_on_headers

from evidence.comparison import LONGEST_SLUG
from evidence.models import SLUG
from evidence.pages import HtmxRequest, page_or_parts
from nesting.data import as_json, cell_as_data, error_as_data, errors_as_data, matrix_as_data
from nesting.filters import CellFilterSet
from nesting.lookup import MOST_IN_ADDRESS, look_up
from nesting.matrix import matrix
from nesting.models import Cell, Environment, ErrorText, Inner, answered_by
from primitives.models import Primitive


@require_safe
@vary_on_headers("HX-Request", "HX-Current-URL")
def nesting(request: HtmxRequest) -> HttpResponse:
    """The matrix of sandboxes by environments; a cell opens in place (eight queries where one is open)."""
    filterset = CellFilterSet(request.GET)
    columns, rows = matrix(filterset)
    if request.GET.get("format") == "json":
        return as_json(matrix_as_data(request, rows))

    opened = next((row.opened for row in rows if row.opened), None)
    cell = opened.cell if opened else None
    if cell:
        prefetch_related_objects([cell], *answered_by())
    squares = [square for row in rows for square in row.squares if square.is_found]
    query = filterset.query()
    context = {
        "filterset": filterset,
        "chosen": filterset.chosen,
        "chosen_outers": filterset.chosen.get("outer", []),
        "bare_query": query,
        "facets": filterset.facets(),
        "narrowest": None if rows else filterset.narrowest(),
        "columns": columns,
        "rows": rows,
        "opened": opened,
        "cell": cell,
        "errors": ErrorText.objects.recognised_in(cell.error_lines if cell else []),
        "found": sum(bool(square.cell) for square in squares),
        "unlooked": sum(not square.cell for square in squares),
        "inners": filterset.inners,
        "environments": filterset.environments,
    }
    return page_or_parts(request, context, query, template="nesting/matrix.html", partial="nesting/_found.html")


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
    if cell and request.GET.get("format") == "json":
        return as_json(cell_as_data(request, cell))
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


@require_http_methods(["GET", "HEAD", "POST"])
@vary_on_headers("HX-Request")
def errors(request: HtmxRequest) -> HttpResponse:
    """Known errors in what was pasted (POST, up to 64 KB) or asked for (`?q=`, one line); and all that are known.

    What was pasted is in no address and no log, is not stored, and comes back in no part but the lines that matched.
    """
    as_data = request.GET.get("format") == "json"
    asked = None
    if request.method == "POST":
        asked = look_up(request.POST.get("text", ""))
    elif question := request.GET.get("q", ""):
        asked = look_up(question[:MOST_IN_ADDRESS])
    if as_data:
        response: HttpResponse = errors_as_data(request, asked)
    elif request.htmx and not request.htmx.history_restore_request:
        response = render(request, "nesting/_errors_found.html", {"asked": asked})
    else:
        known = ErrorText.objects.only("slug", "name", "tool").order_by("tool", "name")
        response = render(request, "nesting/errors.html", {"asked": asked, "known": known})
    if asked:
        response["Cache-Control"] = "no-store"
    return response


@require_safe
def error_detail(request: HttpRequest, slug: str) -> HttpResponse:
    """What one error means (five queries)."""
    error = get_object_or_404(ErrorText.objects.for_answer(), slug=slug)
    cells = Cell.objects.that_print([error])[error.pk]
    if request.GET.get("format") == "json":
        return as_json(error_as_data(request, error, cells))
    return render(request, "nesting/error.html", {"error": error, "cells": cells})
