"""Which tables have a history: Postgres itself writes it, so that no write goes unseen, whoever makes it.

A tracked model has an event table beside it (ClaimEvent for Claim), and triggers that put a copy of the row there when
it is written: label `insert` and `update` with the row as it became, `delete` with the row as it was. Rows there are
never changed or deleted, and name what they are about by id without a constraint, so that the history of what is gone
stays. `history.reading` reads them.

Who and why stand in pghistory's context: `with pghistory.context(user=..., why=...)`. Without one they stay empty.
"""

from collections.abc import Callable, Iterable
from typing import Any, TypeVar

import pghistory
from django.db import models

# In the context of what seeded the database: content that is there from the start, which is no news.
FIRST = "first"

AnyModel = TypeVar("AnyModel", bound=type[models.Model])


def tracked(*, leave_out: Iterable[str] = ()) -> Callable[[AnyModel], AnyModel]:
    """Keep the history of a model. A change of nothing but the fields in `leave_out` is none."""

    def track(model: AnyModel) -> AnyModel:
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


def event_model(model: type[models.Model]) -> Any:
    """The model of a tracked model's events."""
    return model.pgh_event_model  # type: ignore[attr-defined]


def is_tracked(model: type[models.Model]) -> bool:
    """Whether a model has a history."""
    return hasattr(model, "pgh_event_models")
