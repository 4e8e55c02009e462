"""Which events were recorded of what: of a row and what belongs to it, of a kind, of everything; whose they are, and
which of them a reader may see.
"""

from collections.abc import Iterable
from functools import cache
from typing import Any

from django.db.models import Case, Exists, F, Max, Model, OuterRef, Q, QuerySet, Subquery, TextField, Value, When
from django.db.models.expressions import Combinable
from django.db.models.functions import Cast, Concat

from history.tracking import event_model, is_tracked, owners, tracked_models, tracking_of

AnyModel = type[Model]
Arm = tuple[AnyModel, Q]
"""Some of the events of one model."""


def table(model: AnyModel) -> QuerySet[Any]:
    """All events of a model."""
    return QuerySet(event_model(model))


def _last(model: AnyModel, reference: str) -> QuerySet[Any]:
    """The last that was recorded of the row whose id an outer query has at `reference`."""
    return table(model).filter(pgh_obj=OuterRef(reference)).order_by("-pgh_id")


def _page(model: AnyModel, reference: str) -> Combinable:
    return Concat(Value(f"{model._meta.model_name}:"), Cast(F(reference), TextField()), output_field=TextField())


@cache
def subject_of(model: AnyModel) -> Combinable:
    """For events of a model: the subject that they are told of, as text, as in `primitive:12`."""
    if not owners(model):
        return _page(model, "pgh_obj_id")
    ways = []
    for name, owner in owners(model):
        above: Any = _page(owner, f"{name}_id")
        if owners(owner):
            above = Subquery(_last(owner, f"{name}_id").annotate(above=subject_of(owner)).values("above")[:1])
        ways.append(When(Q((f"{name}__isnull", False)), then=above))
    return Case(*ways, output_field=TextField())


@cache
def visible(model: AnyModel) -> Q:
    """For events of a model: that what they are about is public now, and was so when they happened.

    Of what is above it, asked of sets of ids, which Postgres makes once, and not of each event anew.
    """
    condition = _is_public(model)
    if _has_drafts(model):
        condition &= Q(is_published=True)
    for name, owner in owners(model):
        above = visible(owner)
        if not above:
            continue
        public = Q((f"{name}_id__in", table(owner).filter(above).values("pgh_obj_id")))
        if _has_drafts(owner):
            were_drafts = table(owner).filter(is_published=False).values("pgh_obj_id")
            then = _last(owner, f"{name}_id").filter(pgh_created_at__lte=OuterRef("pgh_created_at"))
            public &= ~Q((f"{name}_id__in", were_drafts)) | Q(Subquery(then.values("is_published")[:1]))
        condition &= Q((f"{name}__isnull", True)) | public
    for column in model._meta.fields:
        # What it names beside its owner, as a part names the primitive that it is.
        named: Any = column.related_model
        if named and column.name not in dict(owners(model)) and is_tracked(named) and _has_drafts(named):
            drafts = named._default_manager.filter(is_published=False).values("pk")
            gone = table(named).filter(pgh_label="delete", is_published=False).values("pgh_obj_id")
            condition &= ~Q((f"{column.name}_id__in", drafts)) & ~Q((f"{column.name}_id__in", gone))
    return condition


def _is_public(model: AnyModel) -> Q:
    """For events of a model: that the row is public now. What is gone is judged as it last was."""
    rows: Any = model._default_manager.filter(pk=OuterRef("pgh_obj_id"))
    if hasattr(rows, "published"):
        rows = rows.published()
    elif _has_drafts(model):
        rows = rows.filter(is_published=True)
    else:
        return Q()
    # Of rows there may be far more than events: Postgres looks up each, or makes the set, whichever is less.
    condition = Q(Exists(rows.order_by()))
    if not owners(model):
        return condition  # a page that is gone is not found either
    gone = table(model).filter(pgh_label="delete", **({"is_published": True} if _has_drafts(model) else {}))
    return condition | Q(pgh_obj_id__in=gone.values("pgh_obj_id"))


def _has_drafts(model: AnyModel) -> bool:
    return any(each.name == "is_published" for each in model._meta.fields)


def everything(kinds: Iterable[str] = ()) -> list[Arm]:
    """All events, or those of some kinds of models (`Tracking.kind`)."""
    wanted = set(kinds)
    return [(model, Q()) for model in tracked_models() if not wanted or tracking_of(model).kind in wanted]


def history_of(row: Model) -> list[Arm]:
    """All events of a row, and of what belongs to it or once did."""
    return history_by_id(type(row), row.pk)


def history_by_id(model: AnyModel, pk: int) -> list[Arm]:
    """The same of a row that may be gone."""
    found: dict[AnyModel, Q] = {model: Q(pgh_obj_id=pk)}
    for each in tracked_models():
        ways = Q()
        for name, owner in owners(each):
            if owner is model:
                ways |= Q((f"{name}_id", pk))
            elif owner in found:
                ways |= Q((f"{name}_id__in", table(owner).filter(found[owner]).values("pgh_obj_id")))
        if each is not model and ways:
            found[each] = ways
    return list(found.items())


def last_change(model: AnyModel, pk: int) -> str:
    """Which events of a row, and of what belongs to it, are the newest: another text after each change of any."""
    newest = [
        table(each).filter(where).order_by().values(of=Value(each._meta.label)).annotate(newest=Max("pgh_id"))
        for each, where in history_by_id(model, pk)
    ]
    return " ".join(sorted(f"{row['of']}:{row['newest']}" for row in union(newest)))


def history_where(row: Model, models: Iterable[AnyModel], name: str) -> list[Arm]:
    """All events of rows of these models whose field `name` leads to `row`, or once did."""
    return [
        (model, Q(pgh_obj_id__in=table(model).filter(**{f"{name}_id": row.pk}).values("pgh_obj_id")))
        for model in models
    ]


def union(querysets: list[QuerySet[Any]], *, distinct: bool = False) -> QuerySet[Any]:
    """What all of them find."""
    first, *others = querysets
    if not others:
        return first.distinct() if distinct else first
    return first.union(*others, all=not distinct)
