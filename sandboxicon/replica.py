"""A read replica, where DATABASE_REPLICA_URL names one: it answers readers as long as it is not behind.

A page for an anonymous reader is made from the replica only if the replica has the revision that the primary had when
the request came; otherwise, and for curators, and for all that is not the public content, the primary answers.
"""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

from django.conf import settings
from django.db import models

ALIAS = "replica"
# A form's answer has to be read back from where it was written.
CONTENT_APPS = {"ladder", "evidence", "primitives", "audits", "nesting"}

_is_reading: ContextVar[bool] = ContextVar("reading from the replica", default=False)


def is_there() -> bool:
    """Whether the settings name a replica."""
    return ALIAS in settings.DATABASES


@contextmanager
def reading() -> Iterator[None]:
    """What is read of the content within comes from the replica."""
    token = _is_reading.set(True)
    try:
        yield
    finally:
        _is_reading.reset(token)


def reading_each(chunks: Iterable[bytes]) -> Iterator[bytes]:
    """The same, each made within `reading`."""
    with reading():
        yield from chunks


class Router:
    """Where Django reads and writes."""

    def db_for_read(self, model: type[models.Model], **hints: Any) -> str | None:
        """The replica for the content within `reading`; else the primary."""
        return ALIAS if _is_reading.get() and model._meta.app_label in CONTENT_APPS else "default"

    def db_for_write(self, model: type[models.Model], **hints: Any) -> str:
        """The primary, always."""
        return "default"

    def allow_relation(self, one: models.Model, other: models.Model, **hints: Any) -> bool:
        """Both hold the same rows."""
        return True

    def allow_migrate(self, db: str, app_label: str, **hints: Any) -> bool:
        """The replica gets its tables from the primary."""
        return db == "default"
