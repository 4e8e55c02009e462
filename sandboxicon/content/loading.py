"""Fixtures into the database, and the database into fixtures."""

from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from django.db import IntegrityError, connection, models, transaction

from evidence.models import Claim, Source
from ladder.models import Tier
from primitives.models import Break, BuildsOn, Category, Platform, Primitive, SupportedPlatform
from sandboxicon.content import documents
from sandboxicon.content.documents import Reader
from sandboxicon.content.files import BadFile, Document, content_digest, digest, dump, parse
from sandboxicon.models import LoadedDocument


@dataclass
class Report:
    """What a load did, as paths of files."""

    created: list[str] = field(default_factory=list)
    updated: list[str] = field(default_factory=list)
    unchanged: list[str] = field(default_factory=list)
    kept: list[str] = field(default_factory=list)
    """Changed or deleted by a curator since the last load, so left as they are."""
    without_file: list[str] = field(default_factory=list)
    """Loaded once, in the database still, but no longer in the folder."""

    def __str__(self) -> str:
        counts = [f"{len(getattr(self, name))} {name}" for name in ("created", "updated", "unchanged", "kept")]
        return ", ".join(counts)


@dataclass
class _Entry:
    """A file that is to be written into the database."""

    path: str
    folder: str
    document: Document
    existing: models.Model | None
    reader: Reader
    instance: models.Model | None = None
    save: Callable[[], None] | None = None
    relate: Callable[[], None] | None = None


# ---- the database as documents ----

MODELS: dict[str, type[models.Model]] = {
    "tiers": Tier,
    "categories": Category,
    "platforms": Platform,
    "primitives": Primitive,
}


def _queryset(folder: str) -> models.QuerySet[Any]:
    queryset = MODELS[folder]._default_manager.order_by("slug")
    if folder == "tiers":
        return queryset.prefetch_related("claims__sources")
    if folder == "primitives":
        return queryset.select_related("tier", "category").prefetch_related(
            "platforms", "builds_on", "breaks", "claims__sources"
        )
    return queryset


def _document(folder: str, instance: Any) -> Document:
    match folder:
        case "tiers":
            return documents.tier_document(instance)
        case "categories":
            return documents.fields_document(instance, documents.CATEGORY)
        case "platforms":
            return documents.fields_document(instance, documents.PLATFORM)
        case _:
            return documents.primitive_document(instance)


def database_documents() -> Iterator[tuple[str, Document]]:
    """Every entry of the database as the path of its file and its document."""
    for folder in MODELS:
        for instance in _queryset(folder):
            yield f"{folder}/{instance.slug}.yaml", _document(folder, instance)


def database_files() -> dict[str, bytes]:
    """Every entry of the database as a file of `fixtures/`."""
    return {path: dump(document) for path, document in database_documents()}


# ---- documents into the database ----


def load(folder: Path, overwrite: Collection[str] = (), *, overwrite_all: bool = False) -> Report:
    """Bring the database up to the files in `folder`, in one transaction: all of them, or nothing and BadFile.

    An entry that a curator has changed or deleted since it was last loaded is kept, unless its path (as in
    primitives/firecracker.yaml) is in `overwrite`, or `overwrite_all` is set. Loading twice changes nothing.
    """
    report = Report()
    with transaction.atomic():
        with connection.cursor() as cursor:
            # One load at a time, also from two hosts that start at once.
            cursor.execute("SELECT pg_advisory_xact_lock(hashtext('sandboxicon.content.load'))")
        entries, records = _entries_to_write(folder, set(overwrite), overwrite_all, report)
        _write(entries)
        _remember(records)
    return report


def _entries_to_write(
    folder: Path, overwrite: set[str], overwrite_all: bool, report: Report
) -> tuple[list[_Entry], list[LoadedDocument]]:
    files = {
        path.relative_to(folder).as_posix(): path
        for subfolder in MODELS
        for path in sorted((folder / subfolder).glob("*.yaml"))
    }
    if not files:
        raise BadFile([f"{folder}: no content files in it"])
    if unknown := overwrite - set(files):
        raise BadFile([f"{path}: asked to be overwritten, but there is no such file" for path in sorted(unknown)])
    loaded = {record.path: record for record in LoadedDocument.objects.all()}
    present = {
        f"{name}/{slug}.yaml"
        for name, model in MODELS.items()
        for slug in model._default_manager.values_list("slug", flat=True)
    }
    report.without_file = sorted((set(loaded) & present) - set(files))

    entries, problems, records = [], [], []
    for path, file in files.items():
        content = file.read_bytes()
        record = loaded.get(path)
        force = overwrite_all or path in overwrite
        if record and record.file_digest == digest(content) and not force:
            (report.unchanged if path in present else report.kept).append(path)
            continue
        try:
            document = parse(content, path)
        except BadFile as error:
            problems += error.problems
            continue
        if document.get("slug") != file.stem:
            problems.append(f"{path}: slug: not the file's name")
            continue
        subfolder = file.parent.name
        existing = _queryset(subfolder).filter(slug=file.stem).first()
        now = content_digest(_document(subfolder, existing)) if existing else None
        then = record.content_digest if record else None
        wanted = content_digest(document)
        if now != wanted and now != then and not force:
            report.kept.append(path)
            continue
        records.append(LoadedDocument(path=path, file_digest=digest(content)))
        if now == wanted:
            report.unchanged.append(path)
            continue
        (report.updated if existing else report.created).append(path)
        entries.append(_Entry(path, subfolder, document, existing, Reader(path)))
    if problems:
        raise BadFile(problems)
    return entries, records


def _remember(records: list[LoadedDocument]) -> None:
    """Note what these files came to: the database's own document, whatever order and spelling a file has."""
    for folder in MODELS:
        of_paths = {record.path: record for record in records if record.path.startswith(f"{folder}/")}
        for instance in _queryset(folder).filter(slug__in=[Path(path).stem for path in of_paths]):
            of_paths[f"{folder}/{instance.slug}.yaml"].content_digest = content_digest(_document(folder, instance))
    LoadedDocument.objects.bulk_create(
        records,
        update_conflicts=True,
        unique_fields=["path"],
        update_fields=["file_digest", "content_digest", "loaded_at"],
    )


def _write(entries: list[_Entry]) -> None:
    known = {
        folder: set(model._default_manager.values_list("slug", flat=True))
        | {entry.document["slug"] for entry in entries if entry.folder == folder}
        for folder, model in MODELS.items()
    }
    for entry in entries:
        _READERS[entry.folder](entry, known)
    _raise_problems(entries)
    for step in ("save", "relate"):
        for folder in MODELS:
            for entry in entries:
                if entry.folder == folder and (action := getattr(entry, step)):
                    _refusals_name_the_file(entry, action)
            # Those of the next folder need these.
            _raise_problems(entries)


def _raise_problems(entries: list[_Entry]) -> None:
    if problems := [problem for entry in entries for problem in entry.reader.problems]:
        raise BadFile(problems)


def _refusals_name_the_file(entry: _Entry, action: Callable[[], None]) -> None:
    try:
        with transaction.atomic(), connection.cursor() as cursor:
            action()
            cursor.execute("SET CONSTRAINTS ALL IMMEDIATE")
            cursor.execute("SET CONSTRAINTS ALL DEFERRED")
    except IntegrityError as error:
        entry.reader.say("", _reason(error))


def _reason(error: IntegrityError) -> str:
    """Why Postgres refused, in our own words where the rule has some."""
    diagnosis = getattr(error.__cause__, "diag", None)
    if diagnosis is None:
        return str(error)
    check = _CHECKS.get(diagnosis.constraint_name)
    if check is None:
        return str(diagnosis.message_detail or diagnosis.message_primary)
    has_words = check.violation_error_message != check.default_violation_error_message
    return str(check.violation_error_message if has_words else diagnosis.message_primary)


_WRITTEN: list[type[models.Model]] = [*MODELS.values(), Claim, Source, Break, BuildsOn]
_CHECKS = {
    constraint.name: constraint
    for model in _WRITTEN
    for constraint in model._meta.constraints
    if isinstance(constraint, models.CheckConstraint)
}


def _read_plain(model: type[models.Model], names: list[str]) -> Callable[[_Entry, dict[str, set[str]]], None]:
    def read(entry: _Entry, known: dict[str, set[str]]) -> None:
        if entry.reader.keys(entry.document, names, [], ""):
            instance = model(pk=entry.existing.pk if entry.existing else None)
            entry.reader.fill(instance, entry.document, names, "")
            entry.save = instance.save

    return read


def _read_tier(entry: _Entry, known: dict[str, set[str]]) -> None:
    if not entry.reader.keys(entry.document, [*documents.TIER, "claims"], [], ""):
        return
    tier = Tier(pk=entry.existing.pk if entry.existing else None)
    entry.reader.fill(tier, entry.document, documents.TIER, "")
    claims = documents.read_claims(entry.reader, entry.document)

    def save() -> None:
        tier.save()
        _save_claims(tier, claims)

    entry.save = save


def _read_primitive(entry: _Entry, known: dict[str, set[str]]) -> None:
    reader, document = entry.reader, entry.document
    if not reader.keys(document, [*documents.PRIMITIVE, "claims", "breaks"], [], ""):
        return
    primitive = Primitive(pk=entry.existing.pk if entry.existing else None)
    reader.fill(
        primitive, document, [name for name in documents.PRIMITIVE if name not in documents.PRIMITIVE_RELATIONS], ""
    )
    documents.read_slug(reader, document, "tier", known["tiers"])
    documents.read_slug(reader, document, "category", known["categories"])
    platforms = documents.read_slugs(reader, document, "platforms", known["platforms"])
    parts = documents.read_slugs(reader, document, "builds_on", known["primitives"])
    claims = documents.read_claims(reader, document)
    breaks = documents.read_breaks(reader, document)

    def save() -> None:
        primitive.tier = Tier.objects.get(slug=document["tier"])
        primitive.category = Category.objects.get(slug=document["category"])
        primitive.save()
        _save_claims(primitive, claims)
        existing = {item.identifier: item for item in primitive.breaks.all()}
        primitive.breaks.exclude(identifier__in=[item.identifier for item in breaks]).delete()
        for item in breaks:
            item.pk = existing[item.identifier].pk if item.identifier in existing else None
            item.primitive = primitive
            item.save()
        SupportedPlatform.objects.filter(primitive=primitive).exclude(platform__slug__in=platforms).delete()
        SupportedPlatform.objects.bulk_create(
            [
                SupportedPlatform(primitive=primitive, platform=platform)
                for platform in Platform.objects.filter(slug__in=platforms)
            ],
            ignore_conflicts=True,
        )

    def relate() -> None:
        BuildsOn.objects.filter(primitive=primitive).exclude(part__slug__in=parts).delete()
        BuildsOn.objects.bulk_create(
            [BuildsOn(primitive=primitive, part=part) for part in Primitive.objects.filter(slug__in=parts).only("pk")],
            ignore_conflicts=True,
        )

    entry.save, entry.relate = save, relate


_READERS: dict[str, Callable[[_Entry, dict[str, set[str]]], None]] = {
    "tiers": _read_tier,
    "categories": _read_plain(Category, documents.CATEGORY),
    "platforms": _read_plain(Platform, documents.PLATFORM),
    "primitives": _read_primitive,
}


def _save_claims(subject: Tier | Primitive, claims: list[tuple[Claim, list[Source]]]) -> None:
    """Make these the subject's claims. One that is there already keeps its row, and is written only if it differs."""
    existing = {claim.slug: claim for claim in subject.claims.in_reading_order()}
    subject.claims.exclude(slug__in=[claim.slug for claim, _ in claims]).delete()
    fresh: list[Claim] = []
    sources: list[Source] = []
    for claim, claim_sources in claims:
        setattr(claim, subject._meta.model_name or "", subject)
        old = existing.get(claim.slug)
        if old is None:
            fresh.append(claim)
            sources += claim_sources
            continue
        names = ["position", *documents.CLAIM, *documents.CLAIM_OPTIONAL]
        if documents.fields_document(old, names) != documents.fields_document(claim, names):
            claim.pk = old.pk
            claim.save()
        wanted = [documents.source_document(source) for source in claim_sources]
        if documents.claim_document(old)["sources"] != wanted:
            old.sources.all().delete()
            for source in claim_sources:
                source.claim = old
            sources += claim_sources
    Claim.objects.bulk_create(fresh)
    Source.objects.bulk_create(sources)
