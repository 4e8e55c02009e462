"""What claims, sources and breaks look like in documents, and how any document is read.

A document's keys are the model's fields. A field that is empty is null, but for `reasoning`, `looked` and
`nickname`, which are left out when empty, and `says_how_to_check` when false, since few have them. Of a primitive or a
claim that is a draft, the document says `is_published: false`; of any other it says nothing.
"""

from __future__ import annotations

import datetime
from collections.abc import Callable, Iterable, Iterator
from typing import Any, TypeVar, cast

from django.core.exceptions import ValidationError
from django.db import models

from evidence.models import Claim, FormerAddress, Kind, PublishedBreak, Source, SourceKind, Withdrawn
from sandboxicon.content.files import Document

CLAIM = ["slug", "aspect", "sentence", "label", "version", "as_of"]
CLAIM_OPTIONAL = ["reasoning", "looked", "says_how_to_check"]
DRAFT = "is_published"
FORMER = "former_addresses"
WITHDRAWN = ["address", "sentence", "label", "since", "reason"]
SOURCE = {
    SourceKind.CODE: ["kind", "repo", "commit", "path", "lines"],
    SourceKind.DOC: ["kind", "url", "title"],
    SourceKind.PACKAGE: ["kind", "purl", "title"],
}
BREAK = ["identifier", "year", "summary", "fixed_in", "url"]
BREAK_OPTIONAL = ["nickname"]

AnyBreak = TypeVar("AnyBreak", bound=PublishedBreak)
ClaimWithSources = tuple[Claim, list[Source]]

# ---- model to document ----


def fields_document(instance: models.Model, required: list[str], optional: list[str] | None = None) -> Document:
    """The named fields of a model as a document: an empty required one is null, an empty optional one left out."""
    document = {name: getattr(instance, name) if getattr(instance, name) != "" else None for name in required}
    document |= {name: getattr(instance, name) for name in optional or [] if getattr(instance, name)}
    return document


def source_document(source: Source) -> Document:
    """A source, as its claim's document holds it: the fields of its kind."""
    return fields_document(source, SOURCE[SourceKind(source.kind)])


def claim_document(claim: Claim) -> Document:
    """A claim with its sources, as its subject's document holds it."""
    former = sorted(former.address for former in claim.former_addresses.all())
    return {
        **fields_document(claim, CLAIM, CLAIM_OPTIONAL),
        **draft_mark(claim),
        **({FORMER: former} if former else {}),
        "sources": [source_document(source) for source in claim.sources.all()],
    }


def break_documents(breaks: Iterable[PublishedBreak]) -> list[Document]:
    """Breaks in their one order, newest first."""
    return [
        fields_document(item, BREAK, BREAK_OPTIONAL)
        for item in sorted(breaks, key=lambda item: (-item.year, item.identifier))
    ]


def draft_mark(instance: models.Model) -> Document:
    """What says in a document that this is a draft. What is published says nothing, as nearly everything is."""
    return {} if instance.is_published else {DRAFT: False}  # type: ignore[attr-defined]


# ---- document to model ----


class Reader:
    """Reads one document and collects what is wrong with it, each problem with the field's place in the file."""

    def __init__(self, path: str) -> None:
        self.path = path
        self.problems: list[str] = []

    def say(self, at: str, problem: str) -> None:
        """Note a problem at a place such as claims[2].label."""
        self.problems.append(f"{self.path}: {at}: {problem}" if at else f"{self.path}: {problem}")

    def keys(self, document: object, required: list[str], optional: list[str], at: str) -> bool:
        """Whether `document` is a mapping with all of the required keys and no unknown one."""
        if not isinstance(document, dict):
            self.say(at, "not a mapping of fields")
            return False
        missing = [key for key in required if key not in document]
        unknown = [key for key in document if key not in required and key not in optional]
        for key in missing:
            self.say(f"{at}.{key}" if at else key, "missing")
        for key in unknown:
            self.say(f"{at}.{key}" if at else key, "unknown field")
        return not missing and not unknown

    def items(self, document: Document, key: str, at: str = "") -> Iterator[tuple[Any, str]]:
        """The items of the list at `key`, each with its place; none, and a problem, where it is no list."""
        value = document[key]
        place = f"{at}.{key}" if at else key
        if not isinstance(value, list):
            self.say(place, "not a list")
            return
        for number, item in enumerate(value, 1):
            yield item, f"{place}[{number}]"

    def fill(self, instance: models.Model, document: Document, names: list[str], at: str) -> None:
        """Set the fields `names` of `instance` from the document, and note those that the model refuses.

        A field that the document leaves out, as it may an optional one, stays as it is.
        """
        for name in names:
            if name in document:
                self.fill_one(instance, name, document[name], f"{at}.{name}" if at else name)

    def fill_one(self, instance: models.Model, name: str, value: object, at: str) -> None:
        """Set one field of `instance`, and note it if the model refuses the value."""
        field = cast("models.Field[Any, Any]", instance._meta.get_field(name))
        if value is None and not field.null:
            value = ""
        if wrong := _wrong_type(field, value) or _cannot_be_stored(value):
            self.say(at, wrong)
            return
        setattr(instance, name, value)
        try:
            setattr(instance, name, field.clean(value, instance))
        except ValidationError as error:
            self.say(at, " ".join(dict.fromkeys(error.messages)))

    def unique(self, values: list[str], at: str, what: str) -> None:
        """Note each value that stands more than once."""
        for value in sorted({value for value in values if values.count(value) > 1}):
            self.say(at, f"{what} {value} stands twice")


def _wrong_type(field: models.Field[Any, Any], value: object) -> str | None:
    """Why YAML's type is not the field's. Django would turn 1.10 into text, or true into 1, and lose what was meant."""
    if value is None:
        return None
    expected: tuple[type, str]
    match field:
        case models.DateField():
            expected = (datetime.date, "a date")
        case models.BooleanField():
            expected = (bool, "true or false")
        case models.IntegerField():
            expected = (int, "a whole number")
        case models.CharField() | models.TextField():
            expected = (str, "text (put it in quotes)")
        case _:
            expected = (list, "a list")
            if isinstance(value, list) and not all(isinstance(item, str) for item in value):
                return "a list of something else than text"
    kind, name = expected
    return None if type(value) is kind or (value == "" and kind is not list) else f"not {name}"


def _cannot_be_stored(value: object) -> str | None:
    """Why Postgres does not take a text, or one in a list."""
    texts = value if isinstance(value, list) else [value]
    return "holds a NUL character" if any(isinstance(text, str) and "\0" in text for text in texts) else None


def read_draft_mark(reader: Reader, instance: models.Model, document: Document, at: str) -> None:
    """Whether it is published, which is what no mark means."""
    reader.fill_one(instance, DRAFT, document.get(DRAFT, True), f"{at}.{DRAFT}" if at else DRAFT)


def read_claims(reader: Reader, document: Document, within: str = "") -> list[ClaimWithSources]:
    """The claims of a document with their sources, not yet tied to a subject. `within` is the document's own place."""
    claims = []
    for number, (item, at) in enumerate(reader.items(document, "claims", within), 1):
        if not reader.keys(item, [*CLAIM, "sources"], [*CLAIM_OPTIONAL, DRAFT, FORMER], at):
            continue
        claim = Claim(position=number)
        reader.fill(claim, item, [*CLAIM, *CLAIM_OPTIONAL], at)
        read_draft_mark(reader, claim, item, at)
        claim.came_from = _read_former_addresses(reader, item, at)  # type: ignore[attr-defined]
        sources = []
        for place, (source_item, source_at) in enumerate(reader.items(item, "sources", at), 1):
            kind = source_item.get("kind") if isinstance(source_item, dict) else None
            if kind not in SourceKind.values:
                reader.say(f"{source_at}.kind", f"not one of {', '.join(SourceKind.values)}")
                continue
            names = SOURCE[SourceKind(kind)]
            if reader.keys(source_item, names, [], source_at):
                source = Source(position=place, claim=claim)
                reader.fill(source, source_item, names, source_at)
                sources.append(source)
        claims.append((claim, sources))
    reader.unique([claim.slug for claim, _ in claims], f"{within}.claims" if within else "claims", "the slug")
    return claims


def _read_former_addresses(reader: Reader, item: Document, at: str) -> list[str]:
    if FORMER not in item:
        return []
    former = [(FormerAddress(), address, place) for address, place in reader.items(item, FORMER, at)]
    for instance, address, place in former:
        reader.fill_one(instance, "address", address, place)
    return [instance.address for instance, _, _ in former]


def save_claims(to: Any, claims: list[ClaimWithSources]) -> None:
    """Make these the claims of a subject, whose related manager is `to`.

    One that is there already keeps its row, and is written only if it differs; so does one that names the address at
    which it was before. An address that a claim once had stays its own, whether a document names it or not.
    """
    for claim, _ in claims:
        _move(to, claim)
    existing = {claim.slug: claim for claim in to.in_reading_order()}
    to.exclude(slug__in=[claim.slug for claim, _ in claims]).delete()
    fresh: list[Claim] = []
    sources: list[Source] = []
    for claim, claim_sources in claims:
        setattr(claim, to.field.name, to.instance)
        old = existing.get(claim.slug)
        if old is None:
            fresh.append(claim)
            sources += claim_sources
            continue
        names = ["position", *CLAIM, *CLAIM_OPTIONAL, DRAFT]
        if fields_document(old, names) != fields_document(claim, names):
            claim.pk = old.pk
            claim.save()
        now = [source_document(source) for source in claim_sources]
        if [source_document(source) for source in old.sources.all()] != now:
            old.sources.all().delete()
            for source in claim_sources:
                source.claim = old
            sources += claim_sources
    Claim.objects.bulk_create(fresh)
    Source.objects.bulk_create(sources)
    came_from = {claim.slug: claim.came_from for claim, _ in claims if claim.came_from}  # type: ignore[attr-defined]
    for claim in to.filter(slug__in=came_from).prefetch_related("former_addresses"):
        known = {former.address for former in claim.former_addresses.all()}
        FormerAddress.objects.bulk_create(
            FormerAddress(address=address, claim=claim) for address in came_from[claim.slug] if address not in known
        )


def _move(to: Any, claim: Claim) -> None:
    """Bring the claim that is at one of its former addresses, of whatever subject, to where it is to be."""
    came_from = claim.came_from  # type: ignore[attr-defined]
    if came_from and not to.filter(slug=claim.slug).exists():
        subject = {**dict.fromkeys(Kind.values), to.field.name: to.instance}
        there = Claim.objects.filter(address__in=came_from).order_by("address")[:1]
        Claim.objects.filter(pk__in=there.values("pk")).update(slug=claim.slug, **subject)


def withdrawn_document(withdrawn: Withdrawn) -> Document:
    """What is left of a claim that was withdrawn."""
    return fields_document(withdrawn, WITHDRAWN)


def read_withdrawn(reader: Reader, document: Document, *_: object) -> tuple[Callable[[], None] | None, None]:
    """A withdrawn claim's document, as sandboxicon.content.entries.Kind.read has it."""
    if not reader.keys(document, WITHDRAWN, [], ""):
        return None, None
    withdrawn = Withdrawn()
    reader.fill(withdrawn, document, WITHDRAWN, "")

    def save() -> None:
        # By address: the claim may have gone, and left a record of its own, in this very load.
        fields = {name: getattr(withdrawn, name) for name in WITHDRAWN[1:]}
        Withdrawn.objects.update_or_create(address=withdrawn.address, defaults=fields)

    return save, None


def read_breaks(reader: Reader, document: Document, model: type[AnyBreak]) -> list[AnyBreak]:
    """The breaks of a document, not yet tied to what they break."""
    breaks = []
    for item, at in reader.items(document, "breaks"):
        if reader.keys(item, BREAK, BREAK_OPTIONAL, at):
            instance = model()
            reader.fill(instance, item, [*BREAK, *BREAK_OPTIONAL], at)
            breaks.append(instance)
    reader.unique([item.identifier for item in breaks], "breaks", "the identifier")
    return breaks


def save_breaks(to: Any, breaks: Iterable[PublishedBreak]) -> None:
    """Make these the breaks of a subject, whose related manager is `to`. One that is there keeps its row."""
    existing = {item.identifier: item.pk for item in to.all()}
    to.exclude(identifier__in=[item.identifier for item in breaks]).delete()
    for item in breaks:
        item.pk = existing.get(item.identifier)
        setattr(item, to.field.name, to.instance)
        item.save()


def read_slug(reader: Reader, document: Document, key: str, known: set[str], within: str = "") -> None:
    """See that the slug at `key` is known."""
    slug = document[key]
    if not isinstance(slug, str) or slug not in known:
        reader.say(f"{within}.{key}" if within else key, f"no such entry: {slug}")


def read_slugs(reader: Reader, document: Document, key: str, known: set[str], within: str = "") -> list[str]:
    """The list of slugs at `key`, each of which must be known."""
    slugs = []
    for slug, at in reader.items(document, key, within):
        if not isinstance(slug, str) or slug not in known:
            reader.say(at, f"no such entry: {slug}")
        else:
            slugs.append(slug)
    reader.unique(slugs, f"{within}.{key}" if within else key, "the entry")
    return slugs
