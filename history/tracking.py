"""Which tables have a history: Postgres itself writes it, so that no write goes unseen, whoever makes it.

A tracked model has an event table beside it (ClaimEvent for Claim), and triggers that put a copy of the row there when
it is written: label `insert` and `update` with the row as it became, `delete` with the row as it was. Rows there are
never changed or deleted, and name what they are about by id without a constraint, so that the history of what is gone
stays. `history.reading` reads them.

Who and why stand in pghistory's context: `with pghistory.context(user=..., why=...)`. Without one they stay empty.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeVar

import pghistory
from django.apps import apps
from django.db import models

# In the context of what seeded the database: content that is there from the start, which is no news.
FIRST = "first"

AnyModel = TypeVar("AnyModel", bound=type[models.Model])


@dataclass(frozen=True)
class Tracking:
    """How a history tells of a model's rows.

    `owners`   fields that lead to what a row belongs to, and in whose history it is; none: it has a page of its own
    `is_part`  told as a part of its owner (a source of its claim), not as a thing that has parts
    `named_by` the field that names a row
    `says`     the field that says most about it: shown where a row is new or gone
    `kind`     what a reader who filters changes calls it
    `quiet`    fields of which nothing is told
    """

    owners: tuple[str, ...] = ()
    is_part: bool = False
    named_by: str = "name"
    says: str = "summary"
    kind: str = "entry"
    quiet: tuple[str, ...] = ()


def tracked(tracking: Tracking, *, leave_out: tuple[str, ...] | list[str] = ()) -> Callable[[AnyModel], AnyModel]:
    """Keep the history of a model. A change of nothing but the fields in `leave_out` is none."""

    def track(model: AnyModel) -> AnyModel:
        model.history_tracking = tracking  # type: ignore[attr-defined]
        return pghistory.track(
            # One statement for all rows that a load inserts at once.
            pghistory.InsertEvent(trigger_name="history_insert", level=pghistory.Statement),
            pghistory.UpdateEvent(trigger_name="history_update"),
            pghistory.DeleteEvent(trigger_name="history_delete"),
            exclude=list(leave_out),
            append_only=True,
            obj_field=pghistory.ObjForeignKey(related_name="events"),
            meta={"indexes": [models.Index(fields=["pgh_created_at"])]},
        )(model)

    return track


def is_tracked(model: type[models.Model]) -> bool:
    """Whether a model has a history."""
    return hasattr(model, "history_tracking")


def tracked_models() -> list[type[models.Model]]:
    """Every model that has a history, owners before what belongs to them."""
    found = [model for model in apps.get_models() if is_tracked(model)]
    ordered: list[type[models.Model]] = []
    while left := [model for model in found if model not in ordered]:
        ordered += [model for model in left if all(owner in ordered for _, owner in owners(model))]
    return ordered


def tracking_of(model: type[models.Model]) -> Tracking:
    """How a history tells of this model."""
    tracking: Tracking = model.history_tracking  # type: ignore[attr-defined]
    return tracking


def owners(model: type[models.Model]) -> list[tuple[str, type[models.Model]]]:
    """The fields that lead to a row's owner, each with the owner's model."""
    fields: Any = model._meta
    return [(name, fields.get_field(name).related_model) for name in tracking_of(model).owners]


def event_model(model: type[models.Model]) -> Any:
    """The model of a tracked model's events."""
    return model.pgh_event_model  # type: ignore[attr-defined]
