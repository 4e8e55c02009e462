"""Nesting as documents: a sandbox with its cells, and an error text, each with fixes and claims."""

from collections.abc import Callable, Iterable
from typing import Any

from django.core.exceptions import ValidationError

from evidence.models import Claim, Source
from nesting.models import Cell, Environment, ErrorText, Fix, Inner, InnerPrimitive
from primitives.models import Primitive
from sandboxicon.content.documents import (
    ClaimWithSources,
    Reader,
    claim_document,
    fields_document,
    read_claims,
    read_slug,
    read_slugs,
    save_claims,
)
from sandboxicon.content.files import Document

ENVIRONMENT = ["slug", "name", "place", "summary", "position"]
INNER = ["slug", "name", "summary", "primitives", "position"]
INNER_FIELDS = [name for name in INNER if name != "primitives"]
CELL = ["result", "error_lines", "cause"]
ERROR = ["slug", "name", "pattern", "example", "tool", "source_path", "meaning", "causes", "checks"]
FIX = ["do", "cost"]
FIX_OPTIONAL = ["last_resort"]

Step = Callable[[], None]
CellWithAll = tuple[str, Cell, list[Fix], list[ClaimWithSources]]


# ---- model to document ----


def fix_documents(fixes: Iterable[Fix]) -> list[Document]:
    """Fixes in their order, the least dangerous first."""
    return [fields_document(fix, FIX, FIX_OPTIONAL) for fix in fixes]


def _mends_and_claims(subject: Cell | ErrorText) -> Document:
    claims: Iterable[Claim] = subject.claims.all()
    return {"fixes": fix_documents(subject.fixes.all()), "claims": [claim_document(claim) for claim in claims]}


def inner_document(inner: Inner) -> Document:
    """A sandbox with its cells, by environment."""
    document = fields_document(inner, INNER_FIELDS) | {
        "primitives": sorted(primitive.slug for primitive in inner.primitives.all())
    }
    cells = sorted(inner.cells.all(), key=lambda cell: cell.outer.slug)
    return {
        **{name: document[name] for name in INNER},
        "cells": [
            {"outer": cell.outer.slug, **fields_document(cell, CELL), **_mends_and_claims(cell)} for cell in cells
        ],
    }


def error_document(error: ErrorText) -> Document:
    """An error text."""
    return {**fields_document(error, ERROR), **_mends_and_claims(error)}


# ---- document to model ----


def _read_fixes(reader: Reader, document: Document, within: str = "") -> list[Fix]:
    fixes = []
    for number, (item, at) in enumerate(reader.items(document, "fixes", within), 1):
        if reader.keys(item, FIX, FIX_OPTIONAL, at):
            fix = Fix(position=number)
            reader.fill(fix, {"last_resort": False, **item}, [*FIX, *FIX_OPTIONAL], at)
            fixes.append(fix)
    return fixes


def _save_fixes(to: Any, fixes: list[Fix]) -> None:
    """Make these the fixes of a subject, whose related manager is `to`, unless they are so already."""
    if fix_documents(to.all()) == fix_documents(fixes):
        return
    to.all().delete()
    for fix in fixes:
        setattr(fix, to.field.name, to.instance)
    Fix.objects.bulk_create(fixes)


def read_inner(
    reader: Reader, document: Document, known: dict[str, set[str]], pk: int | None
) -> tuple[Step | None, None]:
    """A sandbox's document, as sandboxicon.content.entries.Kind.read has it."""
    if not reader.keys(document, [*INNER, "cells"], [], ""):
        return None, None
    inner = Inner(pk=pk)
    reader.fill(inner, document, INNER_FIELDS, "")
    primitives = read_slugs(reader, document, "primitives", known["primitives"])
    cells: list[CellWithAll] = []
    for item, at in reader.items(document, "cells"):
        if reader.keys(item, ["outer", *CELL, "fixes", "claims"], [], at):
            read_slug(reader, item, "outer", known["environments"], at)
            cell = Cell()
            reader.fill(cell, item, CELL, at)
            cells.append((str(item["outer"]), cell, _read_fixes(reader, item, at), read_claims(reader, item, at)))
    reader.unique([outer for outer, *_ in cells], "cells", "the environment")

    def save() -> None:
        inner.save()
        InnerPrimitive.objects.filter(inner=inner).exclude(primitive__slug__in=primitives).delete()
        InnerPrimitive.objects.bulk_create(
            [
                InnerPrimitive(inner=inner, primitive=primitive)
                for primitive in Primitive.objects.filter(slug__in=primitives).only("pk")
            ],
            ignore_conflicts=True,
        )
        existing = {cell.outer.slug: cell.pk for cell in inner.cells.select_related("outer")}
        inner.cells.exclude(outer__slug__in=[outer for outer, *_ in cells]).delete()
        environments = {environment.slug: environment for environment in Environment.objects.all()}
        for outer, cell, fixes, claims in cells:
            cell.inner, cell.outer, cell.pk = inner, environments[outer], existing.get(outer)
            if cell.pk:
                cell.save()
                _save_fixes(cell.fixes, fixes)
                save_claims(cell.claims, claims)
        _create_cells([entry for entry in cells if not entry[1].pk])

    return save, None


def _create_cells(cells: list[CellWithAll]) -> None:
    """All at once: a load into an empty database has nothing to compare with."""
    Cell.objects.bulk_create([cell for _, cell, _, _ in cells])
    fixes, claims, sources = [], [], []
    for _, cell, cell_fixes, cell_claims in cells:
        for fix in cell_fixes:
            fix.cell = cell
            fixes.append(fix)
        for claim, claim_sources in cell_claims:
            claim.cell = cell
            claims.append(claim)
            sources += claim_sources
    Fix.objects.bulk_create(fixes)
    Claim.objects.bulk_create(claims)
    Source.objects.bulk_create(sources)


def read_error(
    reader: Reader, document: Document, known: dict[str, set[str]], pk: int | None
) -> tuple[Step | None, None]:
    """An error text's document, as sandboxicon.content.entries.Kind.read has it."""
    if not reader.keys(document, [*ERROR, "fixes", "claims"], [], ""):
        return None, None
    error = ErrorText(pk=pk)
    before = len(reader.problems)
    reader.fill(error, document, ERROR, "")
    if len(reader.problems) == before:
        try:
            error.clean()
        except ValidationError as refusal:
            for field, messages in refusal.message_dict.items():
                reader.say(field, " ".join(messages))
    fixes = _read_fixes(reader, document)
    claims = read_claims(reader, document)

    def save() -> None:
        error.save()
        _save_fixes(error.fixes, fixes)
        save_claims(error.claims, claims)

    return save, None
