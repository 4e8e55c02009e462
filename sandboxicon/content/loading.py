"""Fixtures into the database, and the database into fixtures."""

from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass, field
from difflib import unified_diff
from pathlib import Path

import pghistory
from django.apps import apps
from django.db import IntegrityError, connection, transaction

from evidence.addresses import withdrawing
from evidence.rules import in_words
from history.tracking import FIRST
from sandboxicon.content.documents import Reader
from sandboxicon.content.entries import KINDS, Known
from sandboxicon.content.files import BadFile, Document, content_digest, digest, dump, parse
from sandboxicon.models import LoadedDocument

# The apps whose tables a load fills.
ROOMS = ["ladder", "primitives", "audits", "nesting", "evidence"]


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
class Changes:
    """What files brought in, or would, by their paths; of what differs also how."""

    created: dict[str, str] = field(default_factory=dict)
    updated: dict[str, str] = field(default_factory=dict)
    unchanged: list[str] = field(default_factory=list)


@dataclass
class _Entry:
    """A file that is to be written into the database, and how: `save` it, then `relate` it to the others."""

    path: str
    folder: str
    document: Document
    pk: int | None
    reader: Reader
    save: Callable[[], None] | None = None
    relate: Callable[[], None] | None = None


# ---- the database as documents ----


def database_documents() -> Iterator[tuple[str, Document]]:
    """Every entry of the database as the path of its file and its document."""
    for folder, kind in KINDS.items():
        for instance in kind.queryset().order_by(kind.key):
            yield f"{folder}/{getattr(instance, kind.key)}.yaml", kind.document(instance)


def database_files() -> dict[str, bytes]:
    """Every entry of the database as a file of `fixtures/`."""
    return {path: dump(document) for path, document in database_documents()}


# ---- documents into the database ----


def load(folder: Path, overwrite: Collection[str] = (), *, overwrite_all: bool = False) -> Report:
    """Bring the database up to the files in `folder`, in one transaction: all of them, or nothing and BadFile.

    An entry that a curator has changed or deleted since it was last loaded is kept, unless its path (as in
    primitives/firecracker.yaml) is in `overwrite`, or `overwrite_all` is set. Loading twice changes nothing.
    The history says of what it writes that a load did; of what the first load writes, that it is the first content.
    """
    report = Report()
    with transaction.atomic():
        with connection.cursor() as cursor:
            # One load at a time, also from two hosts that start at once.
            cursor.execute("SELECT pg_advisory_xact_lock(hashtext('sandboxicon.content.load'))")
        first = {} if LoadedDocument.objects.exists() else {FIRST: True}
        entries, records = _entries_to_write(folder, set(overwrite), overwrite_all, report)
        with pghistory.context(why=f"Content load from {folder.name}: {report}.", **first):
            with withdrawing("It is no longer in the content."):
                _write(entries)
        _remember(records)
    return report


def bring_in(files: dict[str, bytes], *, apply: bool, objections: Callable[[], list[str]] = list) -> Changes:
    """Bring the database up to these files, by their paths, in one transaction: all of them, or nothing and BadFile.

    What a curator has changed is overwritten, and what comes in so is a curator's own work: a later load keeps it.
    Without `apply` nothing stays written, but the database has judged it. `objections` is asked when all is written.
    """
    changes = Changes()
    with transaction.atomic():
        entries, problems = [], []
        for path, content in sorted(files.items()):
            folder, _, name = path.partition("/")
            try:
                document = parse(content, path)
            except BadFile as error:
                problems += error.problems
                continue
            if f"{document.get('slug')}.yaml" != name:
                problems.append(f"{path}: slug: not the file's name")
                continue
            kind = KINDS[folder]
            existing = kind.queryset().filter(slug=document["slug"]).first()
            now = kind.document(existing) if existing else None
            if now and content_digest(now) == content_digest(document):
                changes.unchanged.append(path)
                continue
            (changes.updated if existing else changes.created)[path] = _difference(now, document)
            entries.append(_Entry(path, folder, document, existing.pk if existing else None, Reader(path)))
        if problems:
            raise BadFile(problems)
        _write(entries)
        if objected := objections():
            raise BadFile(objected)
        if not apply:
            transaction.set_rollback(True)
    return changes


def _difference(now: Document | None, wanted: Document) -> str:
    """What differs between two documents, as files, in the form of a diff."""
    before, after = (dump(document).decode().splitlines() if document else [] for document in (now, wanted))
    return "\n".join(list(unified_diff(before, after, lineterm="", n=2))[2:])


def _analyze() -> None:
    """Tell Postgres how much there is now: plans made for empty tables are slow on full ones."""
    tables = [model._meta.db_table for label in ROOMS for model in apps.get_app_config(label).get_models()]
    with connection.cursor() as cursor:
        cursor.execute("ANALYZE " + ", ".join(map(connection.ops.quote_name, tables)))


def _entries_to_write(
    folder: Path, overwrite: set[str], overwrite_all: bool, report: Report
) -> tuple[list[_Entry], list[LoadedDocument]]:
    files = {
        path.relative_to(folder).as_posix(): path
        for subfolder in KINDS
        for path in sorted((folder / subfolder).glob("*.yaml"))
    }
    if not files:
        raise BadFile([f"{folder}: no content files in it"])
    if unknown := overwrite - set(files):
        raise BadFile([f"{path}: asked to be overwritten, but there is no such file" for path in sorted(unknown)])
    loaded = {record.path: record for record in LoadedDocument.objects.all()}
    present = {f"{folder}/{slug}.yaml" for folder, kind in KINDS.items() for slug in kind.slugs()}
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
        kind = KINDS[file.parent.name]
        if document.get(kind.key) != file.stem:
            problems.append(f"{path}: {kind.key}: not the file's name")
            continue
        existing = kind.queryset().filter(**{kind.key: file.stem}).first()
        now = content_digest(kind.document(existing)) if existing else None
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
        entries.append(_Entry(path, file.parent.name, document, existing.pk if existing else None, Reader(path)))
    if problems:
        raise BadFile(problems)
    return entries, records


def _remember(records: list[LoadedDocument]) -> None:
    """Note what these files came to: the database's own document, whatever order and spelling a file has."""
    for folder, kind in KINDS.items():
        of_paths = {record.path: record for record in records if record.path.startswith(f"{folder}/")}
        for instance in kind.queryset().filter(**{f"{kind.key}__in": [Path(path).stem for path in of_paths]}):
            of_paths[f"{folder}/{getattr(instance, kind.key)}.yaml"].content_digest = content_digest(
                kind.document(instance)
            )
    LoadedDocument.objects.bulk_create(
        records,
        update_conflicts=True,
        unique_fields=["path"],
        update_fields=["file_digest", "content_digest", "loaded_at"],
    )


def _write(entries: list[_Entry]) -> None:
    known: Known = {
        folder: kind.slugs() | {entry.document[kind.key] for entry in entries if entry.folder == folder}
        for folder, kind in KINDS.items()
    }
    for entry in entries:
        entry.save, entry.relate = KINDS[entry.folder].read(entry.reader, entry.document, known, entry.pk)
    _raise_problems(entries)
    for step in ("save", "relate"):
        for folder in KINDS:
            actions = [
                (entry, action) for entry in entries if entry.folder == folder and (action := getattr(entry, step))
            ]
            for entry, action in actions:
                _refusals_name_the_file(entry, action)
            # Those of the next folder need these.
            _raise_problems(entries)
            if actions:
                _analyze()


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
        for line in in_words(error).splitlines():
            entry.reader.say("", line)
