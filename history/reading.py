"""Histories: what was written about a subject, or anywhere, as changes that a reader can follow.

A change is all that one transaction, with one reason, did to one subject: a thing with a page of its own (a rung, a
primitive, an agent). Whatever belongs to it is told there, also when it is gone. How much there is does not matter to
the number of queries: one finds the changes of a page, one reads what they did, one the names in them.

What is a draft is left out, and so is what it was before it was published; curators get it with `public=False`.
"""

import datetime
from dataclasses import dataclass, field
from typing import Any

from django.apps import apps
from django.db.models import Case, F, Model, OuterRef, Q, QuerySet, Subquery, TextField, Value, When
from django.db.models.functions import Cast, JSONObject
from django.utils.dateformat import format as format_date
from pghistory.models import Context

from history.events import AnyModel, Arm, subject_of, table, union, visible
from history.tracking import FIRST, Tracking, event_model, owners, tracked_models, tracking_of
from history.words import Piece, pieces

PER_PAGE = 25
# Of one change so many things are told; the rest is counted.
MOST_THINGS = 40
# Of all changes of a page so many rows are read.
MOST_EVENTS = 2_000

# From so many tables on, those without events that matter are left out first.
MANY_ARMS = 8
# Nobody pages further back: each page costs all those before it.
MOST_PAGES = 400

# ---- what a reader gets ----


@dataclass(frozen=True)
class Named:
    """Something that a history names: also what is gone has its last name."""

    model: AnyModel
    pk: int
    name: str
    slug: str = ""
    address: str = ""

    @property
    def url(self) -> str:
        """Its page; "" where it has none."""
        has_page = hasattr(self.model, "get_absolute_url")
        if self.address:
            return str(self.model(address=self.address).get_absolute_url())  # type: ignore[attr-defined]
        if has_page and self.slug and not owners(self.model):
            return str(self.model(slug=self.slug).get_absolute_url())  # type: ignore[attr-defined]
        return ""

    @property
    def model_label(self) -> str:
        """The model's label, as in evidence.claim."""
        return self.model._meta.label_lower

    @property
    def kind(self) -> str:
        """What it is, in a word."""
        return str(self.model._meta.verbose_name)


@dataclass(frozen=True)
class FieldChange:
    """What became of one field: `before` and `after` as a reader reads them, and word by word in `pieces`."""

    name: str
    title: str
    before: str
    after: str

    @property
    def pieces(self) -> list[Piece]:
        """How the one became the other."""
        return pieces(self.before, self.after)


@dataclass
class Thing:
    """What became of one thing: `verb` is added, changed or removed. Of its `parts` the same is told."""

    named: Named
    verb: str
    says: str = ""
    label: str = ""
    within: str = ""
    fields: list[FieldChange] = field(default_factory=list)
    parts: list["Thing"] = field(default_factory=list)
    row: Model | None = None
    """The row as it was recorded: as it became, or where it is gone as it was."""
    event_id: int | None = None
    """The event that holds `row`; None where only parts changed."""

    @property
    def is_default(self) -> bool:
        """Whether it tells of a default that changed."""
        return tracking_of(self.named.model).kind == "default"


@dataclass
class Change:
    """All that one transaction did to one subject."""

    at: datetime.datetime
    why: str
    user: int | None
    is_first: bool
    subject: Named
    things: list[Thing]
    left_out: int = 0
    """How many more things it did than are told."""

    @property
    def defaults(self) -> list[Thing]:
        """The defaults that it changed."""
        return [thing for thing in self.things if thing.is_default]

    @property
    def others(self) -> list[Thing]:
        """Everything else."""
        return [thing for thing in self.things if not thing.is_default]

    @property
    def key(self) -> str:
        """Tells it from every other change, in any copy of the database."""
        of = self.subject
        return f"{of.model._meta.model_name}/{of.slug}/{self.at.astimezone(datetime.UTC):%Y-%m-%dT%H:%M:%S.%fZ}"


# ---- reading ----


@dataclass
class Page:
    """One page of a history, newest first."""

    changes: list[Change]
    number: int
    has_older: bool

    @property
    def newest(self) -> datetime.datetime | None:
        """When the newest change on it happened."""
        return self.changes[0].at if self.changes else None


def read(
    arms: list[Arm],
    page: int = 1,
    *,
    per_page: int = PER_PAGE,
    public: bool = True,
    with_first: bool = False,
    tell_first: bool = False,
) -> Page:
    """The changes that these events make up (four queries).

    `with_first` also those of the first content, of which no more is told than that, unless with `tell_first`.
    """
    first = first_contents()
    if first and not with_first:
        arms = _with_events(arms, pgh_created_at__gt=first[0][1])
    if not arms:
        return Page([], page, False)
    keys = [_keys(model, condition, first, public=public, with_first=with_first) for model, condition in arms]
    found = union(keys, distinct=True).order_by("-pgh_created_at", "subject", "pgh_context_id")
    start = (page - 1) * per_page
    rows = list(found[start : start + per_page + 1])
    shown, has_older = rows[:per_page], len(rows) > per_page
    told = [(at, context, subject) for at, context, subject, is_first in shown if tell_first or not is_first]
    arms = _with_events(arms, pgh_created_at__in={at for at, _, _ in told})
    events = list(union([_events(*arm, told, public=public) for arm in arms])[:MOST_EVENTS]) if told and arms else []
    by_key: dict[Any, list[_Event]] = {}
    for row in events:
        event = _Event(*row)
        by_key.setdefault((event.at, event.context, event.subject), []).append(event)
    names = _names(_referred(shown, [event for of_one in by_key.values() for event in of_one]))
    changes = []
    for at, context, subject, is_first in shown:
        named = _subject_named(subject, names)
        if named is None:
            continue
        change = _change(at, by_key.get((at, context, subject), []), named, names, is_first=is_first)
        # What was written and taken back in one go is no change.
        if change.things or is_first:
            changes.append(change)
    return Page(changes, page, has_older)


def newest(arms: list[Arm]) -> datetime.datetime | None:
    """When the newest of these events happened, the first content aside (two queries)."""
    first = first_contents()
    keys = [_keys(model, condition, first, public=True, with_first=False) for model, condition in arms]
    row = union(keys, distinct=True).order_by("-pgh_created_at").first()
    return row[0] if row else None


def _with_events(arms: list[Arm], **which: Any) -> list[Arm]:
    """The arms whose tables have such events, where there are many arms (one query).

    To say of an event whether it is public takes a long piece of SQL; to make it for each of two dozen tables takes
    longer than to ask first which of them have something to tell.
    """
    if len(arms) < MANY_ARMS:
        return arms
    queries = [table(model).filter(**which).order_by().values_list(Value(model._meta.label))[:1] for model, _ in arms]
    found = {label for (label,) in union(queries)}
    return [arm for arm in arms if arm[0]._meta.label in found]


def _selected(model: AnyModel, condition: Q, *, public: bool) -> QuerySet[Any]:
    found = table(model).filter(condition)
    if public and (to_readers := visible(model)):
        found = found.filter(to_readers)
    return found.annotate(subject=subject_of(model))


def first_contents() -> list[tuple[Any, datetime.datetime]]:
    """The contexts of what the database was seeded with, and when that was (one query)."""
    found = Context.objects.filter(metadata__has_key=FIRST).order_by("created_at")
    return list(found.values_list("pk", "created_at"))


def _keys(model: AnyModel, condition: Q, first: list[Any], *, public: bool, with_first: bool) -> QuerySet[Any]:
    is_first = Q(pgh_context_id__in=[pk for pk, _ in first])
    if first and not with_first:
        # The dates tell Postgres that there is not much, before it asks of each whether it is public.
        condition &= Q(pgh_created_at__gt=first[0][1])
    found = _selected(model, condition, public=public)
    if not with_first:
        found = found.exclude(is_first)
    return found.annotate(is_first=Case(When(is_first, then=True), default=False)).values_list(
        "pgh_created_at", "pgh_context_id", "subject", "is_first"
    )


@dataclass
class _Event:
    """A row of an event table. `before` is what was recorded of the same thing before it."""

    at: datetime.datetime
    context: Any
    metadata: dict[str, Any] | None
    subject: str
    model_label: str
    event_id: int
    pk: int
    label: str
    data: dict[str, Any]
    before: dict[str, Any] | None

    @property
    def model(self) -> AnyModel:
        return apps.get_model(self.model_label)


def _events(model: AnyModel, condition: Q, keys: list[Any], *, public: bool) -> QuerySet[Any]:
    subjects: dict[tuple[Any, Any], list[str]] = {}
    for at, context, subject in keys:
        subjects.setdefault((at, context), []).append(subject)
    wanted = Q(pk__in=[])
    for (at, context), of_one in subjects.items():
        wanted |= Q(pgh_created_at=at, pgh_context_id=context, subject__in=of_one)
    row = JSONObject(**{each.attname: each.attname for each in recorded_fields(model)})
    before = table(model).filter(pgh_obj_id=OuterRef("pgh_obj_id"), pgh_id__lt=OuterRef("pgh_id")).order_by("-pgh_id")
    return (
        _selected(model, condition, public=public)
        .filter(wanted)
        .annotate(
            model=Value(model._meta.label, output_field=TextField()),
            data=row,
            before=Subquery(before.annotate(data=row).values("data")[:1]),
        )
        .order_by("pgh_id")
        .values_list(
            *("pgh_created_at", "pgh_context_id", "pgh_context__metadata", "subject", "model"),
            *("pgh_id", "pgh_obj_id", "pgh_label", "data", "before"),
        )[:MOST_EVENTS]
    )


def recorded_fields(model: AnyModel) -> list[Any]:
    """The fields of a model that its events keep."""
    kept = {each.name for each in event_model(model)._meta.fields}
    return [each for each in model._meta.concrete_fields if each.name in kept]


# ---- telling ----

Names = dict[tuple[AnyModel, int], Named]


def _referred(keys: list[Any], events: list[_Event]) -> set[tuple[AnyModel, int]]:
    """All rows that these name."""
    found = {_subject_row(subject) for _, _, subject, _ in keys if subject}
    for event in events:
        if not owners(event.model) or not tracking_of(event.model).is_part:
            found.add((event.model, event.pk))
        for each in _relations(event.model):
            for data in (event.data, event.before or {}):
                if data.get(each.attname) is not None:
                    found.add((each.related_model, data[each.attname]))
    return found


def _relations(model: AnyModel) -> list[Any]:
    tracked = tracked_models()
    return [each for each in recorded_fields(model) if each.is_relation and each.related_model in tracked]


def _subject_row(subject: str) -> tuple[AnyModel, int]:
    name, _, pk = subject.partition(":")
    return next(model for model in tracked_models() if model._meta.model_name == name), int(pk)


def _subject_named(subject: str | None, names: Names) -> Named | None:
    return names.get(_subject_row(subject)) if subject else None


def _names(rows: set[tuple[AnyModel, int]]) -> Names:
    """The last recorded name of each of these (one query)."""
    by_model: dict[AnyModel, list[int]] = {}
    for model, pk in rows:
        by_model.setdefault(model, []).append(pk)

    def text(model: AnyModel, name: str) -> Any:
        has = any(each.name == name for each in recorded_fields(model))
        return Cast(F(name), TextField()) if has else Value("", output_field=TextField())

    parts = [
        table(model)
        .filter(pgh_obj_id__in=pks)
        .order_by("pgh_obj_id", "-pgh_id")
        .distinct("pgh_obj_id")
        .annotate(
            of=Value(model._meta.label, output_field=TextField()),
            named=text(model, tracking_of(model).named_by),
            at_slug=text(model, "slug"),
            at_address=text(model, "address"),
        )
        .values_list("of", "pgh_obj_id", "named", "at_slug", "at_address")
        for model, pks in by_model.items()
    ]
    if not parts:
        return {}
    found = {}
    for label, pk, name, slug, address in union(parts):
        model = apps.get_model(label)
        found[model, pk] = Named(model, pk, name, slug, address)
    return found


def thing_between(
    model: AnyModel,
    pk: int,
    before: dict[str, Any] | None,
    after: dict[str, Any],
    parts_before: list[tuple[AnyModel, Any, dict[str, Any]]],
    parts_after: list[tuple[AnyModel, Any, dict[str, Any]]],
) -> Thing:
    """What becomes of a row between two of its versions (one query). Of parts: model, what it says, data."""
    rows = {(model, pk)}
    for of, data in [*((model, data) for data in (before, after) if data)] + [
        (part, data) for part, _, data in (*parts_before, *parts_after)
    ]:
        rows |= {(each.related_model, data[each.attname]) for each in _relations(of) if data[each.attname] is not None}
    names = _names(rows)
    became = _as_json(after)
    thing = Thing(
        named=_named(model, pk, became, tracking_of(model), names),
        verb="changed" if before else "added",
        within=_within(model, became, names),
        label=became.get("label", ""),
        fields=[
            *_rung(model, _as_json(before) if before else None, became, names),
            *_fields_changed(model, _as_json(before or {}), became, names),
        ],
    )
    said_before, said_after = ({(part, said) for part, said, _ in of_one} for of_one in (parts_before, parts_after))
    for verb, of_one, other in (("removed", parts_before, said_after), ("added", parts_after, said_before)):
        for part, said, data in of_one:
            if (part, said) not in other:
                named = Named(part, data["id"], _part_name(part, _as_json(data), names))
                thing.parts.append(Thing(named, verb, row=part(**data)))
    return thing


def _as_json(data: dict[str, Any]) -> dict[str, Any]:
    """Data out of the database as an event's JSON has it."""
    return {name: value.isoformat() if isinstance(value, datetime.date) else value for name, value in data.items()}


def _change(at: datetime.datetime, events: list[_Event], subject: Named, names: Names, *, is_first: bool) -> Change:
    by_row: dict[tuple[AnyModel, int], list[_Event]] = {}
    for event in events:
        by_row.setdefault((event.model, event.pk), []).append(event)
    things: dict[tuple[AnyModel, int], Thing] = {}
    parts: list[tuple[tuple[AnyModel, int], Thing]] = []
    for (model, pk), of_row in by_row.items():
        of_row.sort(key=lambda event: event.event_id)
        thing = _thing(model, pk, of_row, names)
        if thing is None:
            continue
        if not tracking_of(model).is_part:
            things[model, pk] = thing
            continue
        data = of_row[-1].data
        owner = next((owner, data[f"{name}_id"]) for name, owner in owners(model) if data[f"{name}_id"] is not None)
        parts.append((owner, thing))
    for key, part in _without_the_same(parts):
        if key not in things:
            named = names.get(key) or Named(key[0], key[1], "")
            things[key] = Thing(named, "changed", within="" if not owners(key[0]) else subject.name)
        things[key].parts.append(part)
    order = tracked_models()
    told = sorted(
        (thing for thing in things.values() if thing.fields or thing.parts or thing.verb != "changed"),
        key=lambda thing: (not thing.is_default, order.index(thing.named.model), thing.named.name),
    )
    metadata = next((event.metadata for event in events if event.metadata), None) or {}
    return Change(
        at=at,
        why=str(metadata.get("why") or ""),
        user=metadata.get("user"),
        is_first=is_first,
        subject=subject,
        things=told[:MOST_THINGS],
        left_out=max(len(told) - MOST_THINGS, 0),
    )


def _thing(model: AnyModel, pk: int, events: list[_Event], names: Names) -> Thing | None:
    """What became of one row in a change; None where it came and went."""
    first, last = events[0], events[-1]
    is_new, is_gone = first.label == "insert", last.label == "delete"
    if is_new and is_gone:
        return None
    before = None if is_new else first.data if first.label == "delete" else first.before
    after = None if is_gone else last.data
    if before and after and after.get("is_published") and not before.get("is_published"):
        before, is_new = None, True  # a draft came out: what it was before is nobody's business
    tracking = tracking_of(model)
    data = last.data
    thing = Thing(
        named=_named(model, pk, data, tracking, names),
        verb="added" if is_new else "removed" if is_gone else "changed",
        row=model(**{each.attname: each.to_python(data.get(each.attname)) for each in recorded_fields(model)}),
        event_id=last.event_id,
        within=_within(model, data, names),
    )
    if is_new or is_gone:
        thing.says = _text(model, tracking.says, data, names)
        thing.label = data.get("label", "")
        thing.fields = _rung(model, before if is_gone else None, after, names)
    elif before is not None:
        thing.label = data.get("label", "")
        thing.fields = [*_rung(model, before, after, names), *_fields_changed(model, before, data, names)]
    return thing


def _named(model: AnyModel, pk: int, data: dict[str, Any], tracking: Tracking, names: Names) -> Named:
    if tracking.is_part:
        return Named(model, pk, _part_name(model, data, names))
    relation = next((each for each in _relations(model) if each.name == tracking.named_by), None)
    if relation is not None:
        named = names.get((relation.related_model, data[relation.attname]))
        return Named(model, pk, named.name if named else "")
    return names.get((model, pk)) or Named(model, pk, str(data.get(tracking.named_by, "")))


def _part_name(model: AnyModel, data: dict[str, Any], names: Names) -> str:
    """What a part is called: the row that it leads to, or else all that it says."""
    own = {name for name, _ in owners(model)}
    for each in _relations(model):
        if each.name not in own:
            named = names.get((each.related_model, data[each.attname]))
            return named.name if named else ""
    if name := data.get(tracking_of(model).named_by):
        return str(name)
    texts = [data[each.attname] for each in recorded_fields(model) if each.name not in own and not each.primary_key]
    return " ".join(str(text) for text in texts if text)


def _within(model: AnyModel, data: dict[str, Any], names: Names) -> str:
    """The name of what a thing belongs to, where that is no page of its own: the surface of a posture."""
    for name, owner in owners(model):
        pk = data.get(f"{name}_id")
        if pk is not None and owners(owner):
            named = names.get((owner, pk))
            return named.name if named else ""
    return ""


def _without_the_same(parts: list[Any]) -> list[Any]:
    """Without those that were taken away and put back as they were, as a load does with a claim's sources."""
    left: list[Any] = []
    for key, part in parts:
        same = next(
            (
                other
                for other in left
                if other[0] == key
                and {other[1].verb, part.verb} == {"added", "removed"}
                and (type(other[1].row), other[1].named.name) == (type(part.row), part.named.name)
            ),
            None,
        )
        if same is not None:
            left.remove(same)
        else:
            left.append((key, part))
    return left


def _rung(
    model: AnyModel, before: dict[str, Any] | None, after: dict[str, Any] | None, names: Names
) -> list[FieldChange]:
    """Of what has an isolation and a tier: both as one, the rung or what is in its place."""
    if not any(each.name == "isolation" for each in recorded_fields(model)):
        return []

    def verdict(data: dict[str, Any] | None) -> str:
        if data is None:
            return ""
        return _text(model, "tier", data, names) or _text(model, "isolation", data, names)

    was, became = verdict(before), verdict(after)
    return [FieldChange("rung", "rung", was, became)] if was != became else []


def _fields_changed(model: AnyModel, before: dict[str, Any], after: dict[str, Any], names: Names) -> list[FieldChange]:
    has_rung = any(each.name == "isolation" for each in recorded_fields(model))
    found = []
    for each in recorded_fields(model):
        if each.primary_key or each.name in tracking_of(model).quiet or (has_rung and each.name in RUNG):
            continue
        if before.get(each.attname) != after.get(each.attname):
            was, became = (_text(model, each.name, data, names) for data in (before, after))
            found.append(FieldChange(each.name, str(each.verbose_name), was, became))
    return found


RUNG = ("isolation", "tier")


def _text(model: AnyModel, name: str, data: dict[str, Any], names: Names) -> str:
    """A recorded value as a reader reads it; "" where there is none."""
    each: Any = next((each for each in recorded_fields(model) if each.name == name), None)
    value = data.get(each.attname) if each else None
    if value is None or value == "":
        return ""
    if each.is_relation:
        named = names.get((each.related_model, value))
        return named.name if named else ""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, list):
        return ", ".join(map(str, value))
    if each.get_internal_type() == "DateField":
        return format_date(datetime.date.fromisoformat(value), "j F Y")
    return str(dict(each.flatchoices).get(value, value))
