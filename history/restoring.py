"""An earlier version of a thing, set beside what is there now, and put back.

What is put back is written as anything else is: the database judges it, and records it as one more change.
"""

import datetime
from dataclasses import dataclass
from typing import Any

from django.db import transaction
from django.db.models import Model

from history.events import AnyModel
from history.reading import Thing, recorded_fields, thing_between
from history.tracking import event_model, owners, tracked_models, tracking_of

Data = dict[str, Any]


@dataclass(frozen=True)
class Version:
    """A row as one event recorded it, and its parts as they were then. `event_id` tells it from the others."""

    model: AnyModel
    pk: int
    event_id: int
    at: datetime.datetime
    data: Data
    parts: dict[AnyModel, list[Data]]


def version(model: AnyModel, event_id: int) -> Version | None:
    """The version that an event holds; None where there is no such event."""
    event = event_model(model).objects.filter(pgh_id=event_id).first()
    return _version(model, event, event.pgh_created_at) if event else None


def present(model: AnyModel, pk: int) -> Version | None:
    """The version in force; None where the row is gone."""
    event = event_model(model).objects.filter(pgh_obj=pk).order_by("-pgh_id").first()
    return _version(model, event, None) if event and event.pgh_label != "delete" else None


def _version(model: AnyModel, event: Any, until: datetime.datetime | None) -> Version:
    # What is deleted loses its parts with it: they are wanted as they were just before.
    was_deleted = event.pgh_label == "delete"
    parts = {part: _parts(part, name, event, until, with_deleted=was_deleted) for part, name in _part_models(model)}
    return Version(model, event.pgh_obj_id, event.pgh_id, event.pgh_created_at, _data(model, event), parts)


def _part_models(model: AnyModel) -> list[tuple[AnyModel, str]]:
    return [
        (part, name)
        for part in tracked_models()
        if tracking_of(part).is_part
        for name, owner in owners(part)
        if owner is model
    ]


def _parts(part: AnyModel, name: str, event: Any, until: datetime.datetime | None, *, with_deleted: bool) -> list[Data]:
    found = event_model(part).objects.filter(**{f"{name}_id": event.pgh_obj_id}).order_by("pgh_obj_id", "-pgh_id")
    if until is not None:
        found = found.filter(pgh_created_at__lte=until)
    rows = []
    for each in found.distinct("pgh_obj_id"):
        gone_with_it = with_deleted and each.pgh_created_at == event.pgh_created_at
        if each.pgh_label != "delete" or gone_with_it:
            rows.append(_data(part, each))
    return rows


def _data(model: AnyModel, event: Any) -> Data:
    return {each.attname: getattr(event, each.attname) for each in recorded_fields(model)}


def difference(then: Version) -> Thing:
    """What putting the version back would change."""
    now = present(then.model, then.pk)
    return thing_between(
        then.model,
        then.pk,
        now.data if now else None,
        then.data,
        [(part, _content(part, row), row) for part, rows in (now.parts if now else {}).items() for row in rows],
        [(part, _content(part, row), row) for part, rows in then.parts.items() for row in rows],
    )


def restore(then: Version) -> Model:
    """Put the version back, with its parts. The database checks it at commit, or when it is asked to.

    What its history leaves out stays as it is.
    """
    with transaction.atomic():
        row = then.model._base_manager.filter(pk=then.pk).first() or then.model(pk=then.pk)
        for name, value in then.data.items():
            setattr(row, name, value)
        row.save()
        now = present(then.model, then.pk)
        for part, wanted in then.parts.items():
            there = now.parts.get(part, []) if now else []
            kept = {_content(part, data): data["id"] for data in there}
            contents = {_content(part, data) for data in wanted}
            gone = [data["id"] for data in there if _content(part, data) not in contents]
            part._base_manager.filter(pk__in=gone).delete()
            for data in wanted:
                if _content(part, data) not in kept:
                    part._base_manager.create(**{name: value for name, value in data.items() if name != "id"})
    return row


def _content(part: AnyModel, data: Data) -> tuple[Any, ...]:
    """All that a part says, whichever row says it."""
    return tuple((name, str(value)) for name, value in sorted(data.items()) if name != part._meta.pk.attname)
