"""The matrix and the errors as plain data, for programs: what `?format=json` answers."""

from collections.abc import Iterable
from typing import Any

from django.http import HttpRequest, JsonResponse

from evidence.models import Claim
from nesting.lookup import LookUp
from nesting.matrix import Row
from nesting.models import Cell, ErrorText, Fix


def as_json(data: dict[str, Any]) -> JsonResponse:
    """Data as an answer, its letters as they are."""
    return JsonResponse(data, json_dumps_params={"ensure_ascii": False})


def matrix_as_data(request: HttpRequest, rows: list[Row]) -> dict[str, Any]:
    """The cells that the filters find, by environment, then by sandbox (four queries), and what nobody looked at."""
    squares = [square for row in rows for square in row.squares if square.is_found]
    pks = [square.cell.pk for square in squares if square.cell]
    cells = Cell.objects.for_answer().in_bulk(pks)
    return {
        "cells": [cell_as_data(request, cells[pk]) for pk in pks],
        "not_looked_at": [
            {"inner": square.inner.slug, "outer": square.outer.slug} for square in squares if not square.cell
        ],
    }


def cell_as_data(request: HttpRequest, cell: Cell) -> dict[str, Any]:
    """A cell, whole."""
    return {
        "url": request.build_absolute_uri(cell.get_absolute_url()),
        "inner": cell.inner.slug,
        "outer": cell.outer.slug,
        **{name: getattr(cell, name) for name in ("result", "error_lines", "cause")},
        "fixes": fixes_as_data(cell.fixes.all()),
        "claims": claims_as_data(request, cell.claims.all()),
    }


def errors_as_data(request: HttpRequest, asked: LookUp | None) -> JsonResponse:
    """What came of a paste; or, where nothing was asked, every known error (five queries)."""
    if asked is None:
        errors = list(ErrorText.objects.for_answer())
        cells = Cell.objects.that_print(errors)
        return as_json({"errors": [error_as_data(request, error, cells[error.pk]) for error in errors]})
    if asked.notice:
        response = as_json({"detail": asked.notice})
        response.status_code = 400
        return response
    found = [
        {
            "line": finding.line,
            "line_number": finding.number,
            "more_lines": finding.more,
            "error": error_as_data(request, finding.error, finding.cells),
        }
        for finding in asked.findings
    ]
    nearest = [
        {"url": request.build_absolute_uri(error.get_absolute_url()), "name": error.name} for error in asked.nearest
    ]
    return as_json({"found": found, "nearest": nearest})


def error_as_data(request: HttpRequest, error: ErrorText, cells: Iterable[Cell] = ()) -> dict[str, Any]:
    """An error text, whole, with the addresses of the cells in which it is printed."""
    names = ("slug", "name", "pattern", "example", "tool", "source_path", "meaning", "causes", "checks")
    return {
        "url": request.build_absolute_uri(error.get_absolute_url()),
        **{name: getattr(error, name) for name in names},
        "fixes": fixes_as_data(error.fixes.all()),
        "cells": [request.build_absolute_uri(cell.get_absolute_url()) for cell in cells],
        "claims": claims_as_data(request, error.claims.all()),
    }


def fixes_as_data(fixes: Iterable[Fix]) -> list[dict[str, Any]]:
    """Fixes, the least dangerous first."""
    return [{name: getattr(fix, name) for name in ("do", "cost", "last_resort")} for fix in fixes]


def claims_as_data(request: HttpRequest, claims: Iterable[Claim]) -> list[dict[str, Any]]:
    """Claims with their sources: of a source what its kind has."""
    names = ("sentence", "label", "version", "as_of", "reasoning", "looked")
    parts = ("kind", "repo", "commit", "path", "lines", "url", "title", "purl")
    return [
        {
            "url": request.build_absolute_uri(claim.get_absolute_url()),
            **{name: getattr(claim, name) for name in names},
            "sources": [
                {part: getattr(source, part) for part in parts if getattr(source, part)}
                for source in claim.sources.all()
            ],
        }
        for claim in claims
    ]
